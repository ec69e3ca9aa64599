"""Score files as metrics: what other tools said of the systems of test sets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from gnomon.errors import DataError, FormatError, UnknownNameError, UsageError
from gnomon.formats import read_lines, read_scores
from gnomon.scores import Scores
from gnomon.signature import Signature, content_hash

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from gnomon.testset import TestSet

    #: paths, some as NAME=FILE; or paths by name
    Files: TypeAlias = Sequence[str | PathLike[str]] | Mapping[str, str | PathLike[str]]
    Given: TypeAlias = dict[tuple[str, int | None], float]

__all__ = ["file_scores", "metric_scores", "named_files", "pair_of", "split_name"]

_WMT = (5, 6)
_PAIR = re.compile(r"(?<![A-Za-z])[a-z]{2,3}(?:_[A-Za-z]+)?-[a-z]{2,3}(?:_[A-Za-z]+)?(?![A-Za-z])")


def metric_scores(
    files: Files,
    testsets: Sequence[TestSet],
    *,
    lower_is_better: Sequence[str] = (),
) -> dict[str, list[Scores | None]]:
    """The metrics of score files, ready to be judged beside others.

    Args:
        files: score files: ours, mt-metrics-eval's, or WMT's ``METRIC LP TESTSET SYSTEM [SEGMENT]
            SCORE``. ``NAME=FILE``, or a mapping from names, renames the one metric of a file.
            System and segment scores of one metric may stand in different files. Where there are
            several test sets, a file that does not say its language pair line by line must say it
            in its name or folder.
        testsets: the test sets, in the order in which they are judged.
        lower_is_better: metrics among them that are error rates.

    Returns:
        Metric -> its scores on each test set; None where no file has any.

    Raises:
        FormatError: a line is not what the format asks for.
        DataError: a file scores none of the systems of its test set, or a segment that is not
            there.
        UsageError: a score is given twice, or it is unclear which test set a file belongs to.
        UnknownNameError: ``lower_is_better`` names a metric that no file has.
    """
    found: dict[str, list[Scores | None]] = {}
    used: set[str] = set()
    for place, testset in enumerate(testsets):
        for name, (given, sources) in _read(files, testset, len(testsets)).items():
            used |= set(sources)
            scores = _scores(name, given, sources, testset)
            if name in lower_is_better:
                scores = replace(scores, higher_is_better=False)
            found.setdefault(name, [None] * len(testsets))[place] = scores
    _check_used(files, used, testsets)
    for name in lower_is_better:
        if name not in found:
            raise UnknownNameError("metric of the score files", name, found)
    return found


def _check_used(files: Files, used: Collection[str], testsets: Sequence[TestSet]) -> None:
    for _, path in named_files(files):
        if path not in used:
            there = ", ".join(one.language_pair or one.name for one in testsets)
            raise DataError(
                f"{path} holds no scores for any of the test sets ({there}); leave it out, or name"
                " the test set that it belongs to"
            )


def file_scores(
    path: str | PathLike[str], language_pair: str | None, test_set: str
) -> Mapping[str, Given]:
    """The scores of a file for one language pair: metric -> (system, segment or None) -> score.

    The file's lines tell WMT's format from others, whatever it is called.
    """
    form = "wmt" if _is_wmt(path) else None
    try:
        return read_scores(path, format=form, language_pair=language_pair)
    except UnknownNameError:
        raise
    except DataError as error:
        if form is None or isinstance(error, FormatError):
            raise
        try:  # several test sets in one file: ours may be among them
            return read_scores(path, format=form, language_pair=language_pair, test_set=test_set)
        except UnknownNameError:
            raise error from None


def named_files(files: Files) -> list[tuple[str | None, str]]:
    """Files under the names they are to have; None: their own."""
    if isinstance(files, Mapping):
        return [(name, str(path)) for name, path in files.items()]
    return [split_name(str(file)) for file in files]


def split_name(text: str) -> tuple[str | None, str]:
    """``NAME=FILE`` in its parts; a file of that very name comes first."""
    name, equals, path = text.partition("=")
    return (name, path) if equals and name and not Path(text).exists() else (None, text)


def pair_of(path: str | PathLike[str]) -> str | None:
    """The language pair that a file's name, or else its folder's, tells."""
    file = Path(path)
    for part in (file.name, file.parent.name):
        match = _PAIR.search(part)
        if match:
            return match[0]
    return None


def _is_wmt(path: str | PathLike[str]) -> bool:
    first = next((line for line in read_lines(path) if line.strip()), "")
    fields = first.split("\t") if first.count("\t") in (4, 5) else first.split()
    if first.startswith("{") or len(fields) not in _WMT:
        return False
    return not {"system", "score"} & {field.lower() for field in fields}


def _read(files: Files, testset: TestSet, sets: int) -> dict[str, tuple[Given, list[str]]]:
    """Metric -> all that the files say of it on a test set, and which files these are."""
    found: dict[str, tuple[Given, list[str]]] = {}
    for name, path in named_files(files):
        scores = _of(path, testset, sets)
        if name is not None and len(scores) > 1:
            raise UsageError(
                f"{path} cannot be called {name}: it holds several metrics: {', '.join(scores)}"
            )
        for own, given in scores.items():
            known, sources = found.setdefault(name or own or Path(path).stem, ({}, []))
            twice = next((place for place in given if place in known), None)
            if twice is not None:
                raise UsageError(
                    f"{path} scores {twice[0]!r} under {name or own!r} again; it was scored in"
                    f" {sources[-1]}: give one of the metrics a name of its own, NAME=FILE"
                )
            known.update(given)
            sources.append(str(path))
    return found


def _of(path: str, testset: TestSet, sets: int) -> Mapping[str, Given]:
    pair = testset.language_pair
    if _is_wmt(path):
        try:
            return file_scores(path, pair, testset.name)
        except UnknownNameError:
            return {}  # this language pair is not in the file
    told = pair_of(path)
    if sets > 1 and told is None:
        raise UsageError(
            f"{path}: there are {sets} test sets, and nothing tells which one it belongs to; put"
            f" the language pair into its name, as in {pair or 'de-en'}.{Path(path).name}"
        )
    if sets > 1 and told != pair:
        return {}
    return file_scores(path, None, testset.name)


def _scores(name: str, given: Given, sources: Sequence[str], testset: TestSet) -> Scores:
    systems = tuple(dict.fromkeys(system for system, _ in given))
    _check_systems(systems, testset, sources)
    cells = np.full((len(systems), testset.segments), np.nan)
    totals = np.full(len(systems), np.nan)
    index = {system: row for row, system in enumerate(systems)}
    for (system, segment), value in given.items():
        if segment is None:
            totals[index[system]] = value
        elif segment <= testset.segments:
            cells[index[system], segment - 1] = value
        else:
            raise DataError(
                f"{', '.join(sources)}: there is a score of segment {segment}, and test set"
                f" {testset.name!r} has {testset.segments} segments"
            )
    means = _means(cells)
    whole = any(segment is None for _, segment in given)
    hashes = (content_hash(Path(source).read_bytes()) for source in sources)
    spec = f"scores({Path(sources[0]).name!r})"
    return Scores(
        metric=name,
        systems=systems,
        system=totals if whole else means,
        segments=cells,
        higher_is_better=True,
        signature=Signature(spec).adding(file="+".join(hashes)),
    )


def _check_systems(systems: Iterable[str], testset: TestSet, sources: Sequence[str]) -> None:
    judged = (n for h in testset.human for n in h.systems)
    ranked = (n for r in testset.rankings for n in r.systems)
    known = dict.fromkeys((*testset.systems, *judged, *ranked))
    first = next(iter(systems))
    if known and not any(system in known for system in systems):
        raise DataError(
            f"{', '.join(sources)}: none of its systems is in test set {testset.name!r};"
            f" {UnknownNameError('system', first, known)}"
        )


def _means(cells: NDArray[np.float64]) -> NDArray[np.float64]:
    known = (~np.isnan(cells)).sum(axis=1)
    return np.asarray(np.nansum(cells, axis=1) / np.where(known == 0, np.nan, known))
