"""Minimal pairs to take away, and perturbations to be looked at (``gnomon stress pairs|check``)."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from gnomon.core.cache import Cache
from gnomon.core.errors import UsageError
from gnomon.core.findings import Exhibit, ExhibitText, Finding, Listing
from gnomon.core.options import SEED, Metavar, Outcome, Positive, Seed, with_fields
from gnomon.core.records import Record, column, columns_of, table
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem
from gnomon.core.verdicts import Claim, counted, listed
from gnomon.data.formats import write_pairs
from gnomon.linguistics import FeatureSources
from gnomon.methods.stress._examples import differing_words
from gnomon.methods.stress._making import try_sites
from gnomon.methods.stress._own_texts import (
    TextChoice,
    check_perturbations,
    own_pairs,
    prepared_outputs,
    segment_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gnomon.core.findings import Statement
    from gnomon.core.options import BoundOptions
    from gnomon.core.pairs import Pair
    from gnomon.core.summary import Outline

    Progress = Callable[[str, int, int], None] | None


class WrittenPairsRow(Record):
    """How many pairs of one kind were written."""

    phenomenon: str = column("Phenomenon", help="in what the two texts of a pair differ")
    kind: str = column("Kind", help="error, harmless, crossed or sanity (no translation at all)")
    severity: str = column("Severity", help="of errors")
    pairs: int = column("Pairs", help="over all doses")
    sentences: int = column("Sentences", help="that were changed")


_WRITTEN = Claim(
    "stress.written",
    "{pairs} of {phenomena} were written to {file}: score columns good-translation and"
    " incorrect-translation, add METRIC-good and METRIC-bad, and read the file with --pairs",
    "undecided",
    "counts",
)


def _texts_of_command(inputs: Any, _: dict[str, Any]) -> tuple[TestSet]:
    return (inputs.one().testset(),)


def check_pairs(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`pairs` refuses of options that fit each alone."""
    yield from check_perturbations(outline, options)
    if not os.fspath(options.save).endswith((".tsv", ".tsv.gz")):
        said = f"save must be a file name in .tsv; got {os.fspath(options.save)}"
        yield Problem("save", UsageError(said))


def written_verdict(finding: Finding) -> Iterator[Statement]:
    """What was written."""
    rows = finding.records(WrittenPairsRow)
    yield _WRITTEN.said(
        finding.positions(rows),
        pairs=counted(sum(row.pairs for row in rows), "pair"),
        phenomena=counted(len(rows), "kind"),
        file=finding.facts["file"],
    )


@method(
    "stress.pairs",
    answers="how to get minimal pairs of one's own texts, for a metric that runs elsewhere",
    title="Minimal pairs",
    given=_texts_of_command,
    unread=("domains",),
    examples="""\
examples:
  gnomon stress pairs ref.txt -i sys.txt -s src.txt -l en --save pairs.tsv
""",
    rows={"pairs": WrittenPairsRow},
    metrics="none",
    systems=False,
    check=check_pairs,
    verdict=written_verdict,
    claims=(_WRITTEN,),
)
@with_fields(texts=TextChoice, sources=FeatureSources)
def pairs(
    testset: TestSet,
    *,
    texts: TextChoice,
    save: Annotated[str | os.PathLike[str], Outcome(), Metavar("FILE")],
    sources: FeatureSources,
    seed: Seed = SEED,
    cache: Cache | None = None,
    progress: Progress = None,
) -> Finding:
    """Write the minimal pairs that :func:`gnomon.stress` would score.

    The table has ACES's columns and ``severity``, ``kind``, ``feature``, ``dose``, ``origin`` and
    ``document``. A metric that runs elsewhere adds its scores in columns ``METRIC-good`` and
    ``METRIC-bad``, and the file is read with ``--pairs``.

    Args:
        testset: outputs, references or sources.
        save: the table to write: .tsv.

    Returns:
        A finding with the number of pairs of each kind.

    Raises:
        DataError: nothing could be changed, or a text holds what a line of a table cannot.
    """
    made = own_pairs(testset, texts, sources, seed=seed, cache=cache, progress=progress)
    write_pairs(save, made.pairs)
    return Finding(
        method="stress pairs",
        title="Minimal pairs",
        tables=(table("pairs", "Minimal pairs", WrittenPairsRow, list(_counted(made.pairs))),),
        signatures={},
        views=(Listing("pairs", "Minimal pairs", _names(WrittenPairsRow)),),
        facts={**made.facts, "file": os.fspath(save)},
        notices=made.notices,
    )


def _names(row: type[Record]) -> tuple[str, ...]:
    return tuple(column.name for column in columns_of(row))


def _counted(every: Sequence[Pair]) -> Iterator[WrittenPairsRow]:
    for phenomenon in dict.fromkeys(pair.phenomenon for pair in every):
        some = [pair for pair in every if pair.phenomenon == phenomenon]
        yield WrittenPairsRow(
            phenomenon=phenomenon,
            kind=some[0].kind,
            severity=some[0].severity,
            pairs=len(some),
            sentences=len({pair.origin for pair in some}),
        )


class CheckedRow(Record):
    """What a perturbation does to texts."""

    perturbation: str = column("Perturbation", help="its name")
    phenomenon: str = column("Phenomenon", help="what the changed texts have")
    kind: str = column("Kind", help="error, harmless, crossed or sanity (no translation at all)")
    texts: int = column("Texts", help="that were tried")
    changed: float | None = column("Changed", kind="share", help="share of the texts")
    places: int = column("Places", help="that the rule named, in all texts")
    equal: float | None = column(
        "Equal", kind="share", help="share of the places where the change leaves the text as it is"
    )
    overlapping: float | None = column(
        "Overlapping", kind="share", help="share of the places that meet another place"
    )


class CheckedPairRow(Record):
    """A pair to be read."""

    perturbation: str = column("Perturbation", help="that made it")
    segment: int = column("Segment", help="that it was made of")
    good: str = column("Better text", help="as it was; of crossed pairs, worded otherwise")
    bad: str = column("Worse text", help="changed")


_CHANGES = Claim(
    "stress.changes",
    "{perturbation} changes {changed} of {texts}; read {pairs} of them: is each of them what it is"
    " said to be, and as bad as that?",
    "undecided",
    "counts",
)
_CHANGES_NOTHING = Claim(
    "stress.changes_nothing",
    "{perturbations} change none of {texts}",
    "caution",
    "counts",
)


def check_verdict(finding: Finding) -> Iterator[Statement]:
    """How many texts are changed."""
    shown = Counter(row.perturbation for row in finding.records(CheckedPairRow))
    rows = finding.records(CheckedRow)
    for row in rows:
        if row.changed:
            yield _CHANGES.said(
                finding.positions([row]),
                perturbation=f"'{row.perturbation}'",
                changed=f"{round(row.changed * row.texts):,}",
                texts=counted(row.texts, "text"),
                pairs=f"{shown[row.perturbation]:,}",
            )
    idle = [row for row in rows if not row.changed]
    if idle:
        yield _CHANGES_NOTHING.said(
            finding.positions(idle),
            perturbations=listed([f"'{row.perturbation}'" for row in idle]),
            texts=counted(idle[0].texts, "text"),
        )


@method(
    "stress.check",
    answers="what perturbations do to one's own texts: pairs to read, before they are trusted",
    title="What perturbations do",
    given=_texts_of_command,
    unread=("documents", "domains"),
    examples="""\
examples:
  gnomon stress check ref.txt -i sys.txt -l en --perturb number --html number.html
  gnomon stress check ref.txt -i sys.txt -l en --perturb 'delete pos:VERB' --shown 20
""",
    rows={"checked": CheckedRow, "pairs": CheckedPairRow},
    metrics="none",
    systems=False,
    check=check_perturbations,
    verdict=check_verdict,
    claims=(_CHANGES, _CHANGES_NOTHING),
)
@with_fields(texts=TextChoice, sources=FeatureSources)
def check(
    testset: TestSet,
    *,
    texts: TextChoice,
    shown: Positive = 50,
    sources: FeatureSources,
    seed: Seed = SEED,
    cache: Cache | None = None,
    progress: Progress = None,
) -> Finding:
    """Look at what perturbations make of texts.

    Args:
        testset: outputs, references or sources.
        shown: pairs that are shown of each perturbation, drawn by the seed.

    Returns:
        A finding with a row per perturbation (shares of texts that change, of places that leave
        the text as it is, of places that overlap) and pairs, with the words that differ marked.

    Raises:
        DataError: there are no texts.
    """
    prepared = prepared_outputs(testset, texts, sources, cache=cache, progress=progress)
    rows, to_read, exhibits = [], [], []
    for perturbation in prepared.perturbations:
        counts = Counter[str]()
        for output in prepared.outputs:
            counts += try_sites(perturbation, output, prepared.pool, seed=seed)
        made = prepared.pairs(perturbation, texts, seed=seed)
        drawn = np.random.default_rng(seed).permutation(len(made))[:shown]
        chosen = [made[number] for number in sorted(drawn.tolist())]
        places = counts["places"]
        rows.append(
            CheckedRow(
                perturbation=perturbation.name,
                phenomenon=perturbation.phenomenon,
                kind=perturbation.kind,
                texts=counts["texts"],
                changed=counts["changed"] / counts["texts"],
                places=places,
                equal=counts["equal"] / places if places else None,
                overlapping=counts["overlapping"] / places if places else None,
            )
        )
        for pair in chosen:
            segment = segment_of(pair) + 1
            to_read.append(
                CheckedPairRow(
                    perturbation=perturbation.name, segment=segment, good=pair.good, bad=pair.bad
                )
            )
            exhibits.append(_exhibit(perturbation.name, segment, pair))
    tables = [table("checked", "What perturbations do", CheckedRow, rows)]
    views = [Listing("checked", "What perturbations do", _names(CheckedRow))]
    if to_read:
        tables.append(table("pairs", "Pairs to read", CheckedPairRow, to_read))
        views.append(Listing("pairs", "Pairs to read", _names(CheckedPairRow)))
    return Finding(
        method="stress check",
        title="What perturbations do",
        tables=tuple(tables),
        signatures={},
        views=tuple(views),
        exhibits=tuple(exhibits),
        facts=prepared.facts,
        notices=prepared.notices,
    )


def _exhibit(name: str, segment: int, pair: Pair) -> Exhibit:
    good, bad = differing_words(pair.good, pair.bad)
    texts = (
        ExhibitText("candidate", "better", pair.good, good, {}),
        ExhibitText("candidate", "worse", pair.bad, bad, {}),
    )
    return Exhibit(group=name, kind="pair", segment=segment, texts=texts)
