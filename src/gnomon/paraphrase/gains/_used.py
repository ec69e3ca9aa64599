"""Which paraphrases a score was made with: a section of other commands' pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.findings import Column, Finding, Listing, Table
from gnomon.paraphrase._lexical import lexical_values, mean
from gnomon.paraphrase.gains._page import exhibits_of

if TYPE_CHECKING:
    from gnomon.findings import Cell
    from gnomon.testset import ParaphraseSet, TestSet

__all__ = ["paraphrases_used"]

_TITLE = "Paraphrased references"
_SHOWN = 20
_COLUMNS = (
    Column("set", "Paraphrases", help="the method that made them"),
    Column("n", "n", "count", help="of each segment, at most"),
    Column("count", "Count", "count"),
    Column("segments", "Segments", "count", help="that have one"),
    Column("diversity", "Diversity", "share", 3, help="lexical, among those of a segment"),
    Column("change", "Change", "share", 3, help="lexical distance from the reference"),
    Column("identity", "Identity", help="hash of their texts, also in signatures"),
)


def paraphrases_used(testset: TestSet, *, segments: int = _SHOWN) -> Finding | None:
    """The paraphrases among the references of a test set, with segments side by side.

    Args:
        testset: a test set after :meth:`gnomon.testset.TestSet.with_paraphrases`.
        segments: how many segments are shown, the first ones that have a paraphrase.

    Returns:
        A finding with rows ``set, n, count, segments, diversity, change, identity``; ``None`` where
        the references hold no paraphrase.
    """
    sets = testset.paraphrase_sets
    if not sets:
        return None
    return Finding(
        method="paraphrases used",
        title=_TITLE,
        tables=(Table("paraphrases", _TITLE, _COLUMNS, tuple(_row(testset, s) for s in sets)),),
        signatures={},
        views=(Listing("paraphrases", _TITLE, tuple(column.name for column in _COLUMNS)),),
        exhibits=exhibits_of(testset, segments=segments),
        facts={"test set": testset.name, "segments": str(testset.segments)},
    )


def _row(testset: TestSet, found: ParaphraseSet) -> dict[str, Cell]:
    names = [name for name, method in testset.paraphrases.items() if method == found.method]
    originals = [
        column for name, column in testset.references.items() if name not in testset.paraphrases
    ]
    groups, pairs = [], []
    for references in (testset.references, *testset.system_references.values()):
        columns = [references[name] for name in names if name in references]
        for i, texts in enumerate(zip(*columns, strict=True)):
            given = [text for text in texts if text is not None]
            groups.append(given)
            pairs += [[a, b[i]] for a in given for b in originals if b[i] is not None]
    return {
        "set": found.method,
        "n": found.n,
        "count": found.count,
        "segments": found.segments,
        "diversity": mean(lexical_values(groups)),
        "change": mean(lexical_values(pairs)),
        "identity": found.identity,
    }
