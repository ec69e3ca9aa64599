"""Human judgements from files: for test sets, and instead of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import DataError, UsageError
from gnomon.formats import find_scores, read_human
from gnomon.metaeval._score_files import named_files, pair_of
from gnomon.testset import TestSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.metaeval._score_files import Files

__all__ = ["textless", "with_judgements"]

_SPARSE = 1000  # times more segments than are scored: no set, and too many to hold
_TABLE = re.compile(r"(?P<pair>[^.]+)\.(?P<kind>.+)\.(?:sys|seg)\.tsv")


def with_judgements(
    testsets: Sequence[TestSet],
    files: Files,
    *,
    format: str | None = None,  # noqa: A002  # the word that users know from every command
) -> tuple[list[TestSet], tuple[str, ...]]:
    """The test sets with what people said of them in files, and the kinds of these judgements.

    Args:
        testsets: the test sets.
        files: files of any format that :func:`gnomon.formats.read_human` knows; ``KIND=FILE``, or
            a mapping from kinds, says what to call the judgements. Where there are several test
            sets, a file's name (or its folder's) tells the language pair.
        format: the format of all these files, if they do not tell.

    Raises:
        UsageError: it is unclear which test set a file belongs to.
        GnomonError: whatever is wrong in a file.
    """
    found, kinds = list(testsets), dict[str, None]()
    for kind, path in named_files(files):
        for place in _places(path, found):
            named = kind or _kind(path)
            judgements = read_human(path, found[place], format=format, kind=named)
            found[place] = found[place].with_human(judgements)
            kinds |= dict.fromkeys(h.kind for h in judgements.scores)
            kinds |= dict.fromkeys(r.kind for r in judgements.rankings)
    return found, tuple(kinds)


def textless(
    files: Files,
    score_files: Files,
    *,
    format: str | None = None,  # noqa: A002  # likewise
    language_pair: str | None = None,
    column: str = "score",
) -> tuple[list[TestSet], tuple[str, ...]]:
    """Test sets of judged systems without any text, one per language pair of the files.

    Args:
        files: human judgements, as for :func:`with_judgements`.
        score_files: score files; they tell the systems and the number of segments.
        format: the format of the files of judgements, if they do not tell.
        language_pair: the pair of files whose names do not tell it.
        column: the column of the scores, in score files that are TSV or JSONL.

    Returns:
        The test sets, by language pair, and the kinds of the judgements.
    """
    pairs = dict.fromkeys(pair_of(path) or language_pair for _, path in named_files(files))
    if None in pairs and len(pairs) > 1:
        raise UsageError(
            "without test sets, the names of files with human scores must tell their language"
            " pairs, as in de-en.da-z.sys.tsv; or give one file, and its pair with -l"
        )
    return with_judgements(
        [_bare(pair, score_files, column) for pair in pairs], files, format=format
    )


def _bare(pair: str | None, score_files: Files, column: str) -> TestSet:
    places: dict[tuple[str, int | None], None] = {}
    for _, path in named_files(score_files):
        if pair_of(path) not in (None, pair):
            continue
        try:
            scores = find_scores(path, language_pair=pair, test_set=pair or "", column=column)
        except LookupError:
            continue  # the file holds other language pairs
        places |= {place: None for given in scores.values() for place in given}
    numbers = {number for _, number in places if number is not None}
    segments = max(numbers, default=1)
    systems = dict.fromkeys(system for system, _ in places)
    if not systems:
        raise UsageError(
            f"no score file holds scores of {pair or 'the judged systems'}; there are no texts to"
            " score either: name a test set with -t, or score files of the pair"
        )
    if segments > _SPARSE * max(len(numbers), _SPARSE):
        raise DataError(
            f"the score files score segment {segments}, but {len(numbers)} segments in all; without"
            " a test set, segments are numbered from 1: look for a damaged number"
        )
    return TestSet(
        name=pair or "scores",
        references={},
        systems=dict.fromkeys(systems, ("",) * segments),
        sources=("",) * segments,
        language_pair=pair,
    )


def _kind(path: str) -> str | None:
    """KIND of a file called PAIR.KIND.LEVEL.tsv, which must be one kind for all pairs."""
    name = Path(path).name.removesuffix(".gz")
    match = _TABLE.fullmatch(name)
    return match["kind"] if match and pair_of(name) == match["pair"] else None


def _places(path: str, testsets: Sequence[TestSet]) -> list[int]:
    if len(testsets) == 1:
        return [0]
    told = pair_of(path)
    fitting = [k for k, one in enumerate(testsets) if told and one.language_pair == told]
    if not fitting:
        there = ", ".join(one.language_pair or one.name for one in testsets)
        raise UsageError(
            f"{path}: there are {len(testsets)} test sets ({there}), and neither its name nor its"
            " folder tells which one it belongs to; put the language pair into its name"
        )
    return fitting
