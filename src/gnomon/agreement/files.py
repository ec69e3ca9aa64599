"""Files of scores in place of metrics and of people."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

import numpy as np

from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.core.options import FILES, Metavar
from gnomon.core.scores import Scores, check_sums
from gnomon.core.signature import Signature, content_hash
from gnomon.core.testset import SystemInfo, TestSet
from gnomon.data.formats import (
    find_scores,
    is_wmt_scores,
    judged_segments,
    kind_in_name,
    read_bytes,
    read_human,
    split_name,
)
from gnomon.messages.audiences import flag
from gnomon.metrics.score_file import ScoreFile
from gnomon.stats.measures import mean_of_known

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    Given: TypeAlias = dict[tuple[str, int | None], float]

# Score files as metrics: what other tools said of the systems of test sets.


#: a path or several, some as NAME=FILE; or paths by name
Files: TypeAlias = Annotated[
    "str | PathLike[str] | Sequence[str | PathLike[str]] | Mapping[str, str | PathLike[str]]",
    Metavar("FILE"),
    FILES,
]
_PAIR = re.compile(r"(?<![A-Za-z])[a-z]{2,3}(?:_[A-Za-z]+)?-[a-z]{2,3}(?:_[A-Za-z]+)?(?![A-Za-z])")


#: names of files of scores, compressed or not
_SUFFIXES = (".score", ".tsv", ".jsonl", ".ndjson", ".wmt")
_BLOCKS = re.compile(
    r"(?P<metric>.+)-(?P<reference>[^-]+)\.(?P<level>\w+)\.score(?:\.gz)?", re.DOTALL
)


class _ScoreFile(NamedTuple):
    """A file of scores."""

    name: str | None
    path: str
    folder: str | None = None
    column: str = "score"


def metric_scores(
    files: Files,
    testsets: Sequence[TestSet],
    *,
    lower_is_better: Sequence[str] = (),
) -> dict[str, list[Scores | None]]:
    """The metrics of score files, ready to be judged beside others.

    Args:
        files: score files: ours, mt-metrics-eval's, or WMT's ``METRIC LP TESTSET SYSTEM [SEGMENT]
            SCORE``; a folder stands for all of them in it and below, and a relative one that is not
            there is looked up in the folder of each test set. ``NAME=FILE``, or a mapping from
            names, renames the one metric of a file, and ``FILE:COLUMN`` names the column of TSV and
            JSONL files. System and segment scores of one metric
            may stand in different files. Where there are several test sets, a file that does not
            say its language pair line by line must say it in its name or folder.
        testsets: the test sets, in the order in which they are judged.
        lower_is_better: metrics among them that are error rates.

    Returns:
        Metric -> its scores on each test set; None where no file has any.

    Raises:
        FormatError: a line is not what the format asks for, or scores a segment that is not there.
        DataError: a file scores none of the systems of its test set, the sum of a system's scores
            is infinite, or a folder holds no scores of any test set.
        UsageError: a score is given twice, or it is unclear which test set a file belongs to.
        UnknownNameError: ``lower_is_better`` names a metric that no file has.
    """
    every = _name_score_files(files)
    own = {file.path for file in every if _lies_in_sets(file.path, testsets)}
    given = _expand_folders([file for file in every if file.path not in own])
    by_metric: dict[str, list[Scores | None]] = {}
    used: set[str] = set()
    for number, testset in enumerate(testsets):
        beside = [file for path in own for file in _files_of_set(testset, path)]
        for name, from_files in _read([*given, *beside], testset, len(testsets)).items():
            used |= set(from_files.sources)
            options = ScoreFile(
                file=from_files.sources[0],
                column=from_files.column,
                metric=from_files.metric,
                lower_is_better=name in lower_is_better or None,
            )
            scores = _scores(name, from_files, options, testset)
            by_metric.setdefault(name, [None] * len(testsets))[number] = scores
    _check_used(given, used, testsets)
    for name in lower_is_better:
        if name not in by_metric:
            raise UnknownNameError("metric of the score files", name, by_metric)
    return by_metric


def _name_score_files(files: Files) -> list[_ScoreFile]:
    """Score files under the names that they are to have, with their columns."""
    named = []
    for name, path in split_file_names(files):
        file, _, column = path.rpartition(":")
        told = bool(column) and not Path(path).exists() and Path(file).is_file()
        named.append(_ScoreFile(name, file, None, column) if told else _ScoreFile(name, path))
    return named


def _expand_folders(files: Iterable[_ScoreFile]) -> list[_ScoreFile]:
    """Score files, those in folders one by one."""
    expanded: list[_ScoreFile] = []
    for file in files:
        if not Path(file.path).is_dir():
            expanded.append(file)
            continue
        if file.name is not None:
            raise UsageError(
                f"{file.path} cannot be called {file.name}: it is a folder of several metrics"
            )
        expanded += _find_score_files(Path(file.path))
    return expanded


def _find_score_files(folder: Path) -> list[_ScoreFile]:
    """The files of scores in a folder and below; METRIC-REF, where a metric has several REFs."""
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name.removesuffix(".gz").endswith(_SUFFIXES)
    ]
    variants: dict[tuple[Path, str], set[str]] = {}
    matches: list[tuple[Path, re.Match[str] | None]] = []
    for path in files:
        match = _BLOCKS.fullmatch(path.name)
        if match is not None and match["level"] not in ("sys", "seg"):
            continue  # scores of documents or domains
        matches.append((path, match))
        if match is not None:
            variants.setdefault((path.parent, match["metric"]), set()).add(match["reference"])
    inside = []
    for path, match in matches:
        name = None
        if match is not None:
            several = len(variants[path.parent, match["metric"]]) > 1
            name = f"{match['metric']}-{match['reference']}" if several else match["metric"]
        inside.append(_ScoreFile(name, str(path), str(folder)))
    if not inside:
        raise DataError(
            f"{folder} holds no file of scores ({', '.join(_SUFFIXES)}, compressed or not)"
        )
    return inside


def _lies_in_sets(path: str, testsets: Sequence[TestSet]) -> bool:
    """True if a path is of a folder that test sets have in theirs."""
    if Path(path).is_absolute() or Path(path).exists():
        return False
    return any(testset.path and (Path(testset.path) / path).is_dir() for testset in testsets)


def _files_of_set(testset: TestSet, path: str) -> list[_ScoreFile]:
    """The files of scores that lie in a folder of a test set; none where it has no such folder."""
    folder = Path(testset.path or "") / path
    if testset.path is None or not folder.is_dir():
        return []
    inner = folder / (testset.language_pair or "")
    return _find_score_files(inner if inner.is_dir() else folder)


def _check_used(
    files: Sequence[_ScoreFile], used: Collection[str], testsets: Sequence[TestSet]
) -> None:
    useful = {file.folder for file in files if file.path in used}
    for file in files:
        if file.path not in used and (file.folder is None or file.folder not in useful):
            there = ", ".join(testset.language_pair or testset.name for testset in testsets)
            raise DataError(
                f"{file.folder or file.path} holds no scores for any of the test sets ({there});"
                " leave it out, or name the test set that it belongs to"
            )


def split_file_names(files: Files) -> list[tuple[str | None, str]]:
    """Files under the names they are to have; None: their own."""
    if isinstance(files, Mapping):
        return [(name, str(path)) for name, path in files.items()]
    each = [files] if isinstance(files, str | PathLike) else files
    return [split_name(str(file)) for file in each]


def pair_of(path: str | PathLike[str]) -> str | None:
    """The language pair that a file's name, or else its folder's, tells."""
    file = Path(path)
    for name in (file.name, file.parent.name):
        match = _PAIR.search(name)
        if match:
            return match[0]
    return None


class _MetricInFiles(NamedTuple):
    """A metric in files: its scores, the files, and its name among others there."""

    given: Given
    sources: list[str]
    metric: str | None
    column: str


def _read(files: Sequence[_ScoreFile], testset: TestSet, sets: int) -> dict[str, _MetricInFiles]:
    """Metric -> all that the files say of it on a test set."""
    metrics: dict[str, _MetricInFiles] = {}
    for name, path, folder, column in files:
        pair = pair_of(path)
        if folder is not None and pair is not None and pair != testset.language_pair:
            continue
        scores = _read_scores(path, testset, sets, column)
        if name is not None and len(scores) > 1:
            raise UsageError(
                f"{path} cannot be called {name}: it holds several metrics: {', '.join(scores)}"
            )
        for column_name, given in scores.items():
            fresh = _MetricInFiles({}, [], column_name if len(scores) > 1 else None, column)
            cells, sources, *_ = metrics.setdefault(name or column_name or Path(path).stem, fresh)
            twice = next((cell for cell in given if cell in cells), None)
            if twice is not None:
                raise UsageError(
                    f"{path} scores {twice[0]!r} under {name or column_name!r} again; it was scored"
                    f" in {sources[-1]}: give one of the metrics a name of its own, NAME=FILE"
                )
            cells.update(given)
            sources.append(str(path))
    return metrics


def _read_scores(path: str, testset: TestSet, sets: int, column: str) -> Mapping[str, Given]:
    pair = testset.language_pair
    find = partial(
        find_scores, path, test_set=testset.name, column=column, segments=testset.segments
    )
    if is_wmt_scores(path):
        try:
            return find(language_pair=pair)
        except UnknownNameError:
            return {}  # this language pair is not in the file
    of_file = pair_of(path)
    if sets > 1 and of_file is None:
        raise UsageError(
            f"{path}: there are {sets} test sets, and nothing tells which one it belongs to; put"
            f" the language pair into its name, as in {pair or 'de-en'}.{Path(path).name}"
        )
    if sets > 1 and of_file != pair:
        return {}
    return find(language_pair=None)


def _scores(name: str, metric: _MetricInFiles, options: ScoreFile, testset: TestSet) -> Scores:
    given, sources = metric.given, metric.sources
    systems = tuple(dict.fromkeys(system for system, _ in given))
    _check_systems(systems, testset, sources)
    cells = np.full((len(systems), testset.segments), np.nan)
    totals = np.full(len(systems), np.nan)
    index = {system: row for row, system in enumerate(systems)}
    for (system, segment), value in given.items():
        if segment is None:
            totals[index[system]] = value
        else:
            cells[index[system], segment - 1] = value
    check_sums(", ".join(sources), systems, cells)
    means = mean_of_known(cells)
    whole = any(segment is None for _, segment in given)
    hashes = (content_hash(read_bytes(source)) for source in sources)
    return Scores(
        metric=name,
        systems=systems,
        system=totals if whole else means,
        segments=cells,
        higher_is_better=options.higher_is_better,
        signature=Signature(options.label).adding(file="+".join(hashes)),
    )


def _check_systems(systems: Iterable[str], testset: TestSet, sources: Sequence[str]) -> None:
    judged = (n for h in testset.human for n in h.systems)
    ranked = (n for r in testset.rankings for n in r.systems)
    named = dict.fromkeys((*testset.systems, *judged, *ranked))
    first = next(iter(systems))
    if named and not any(system in named for system in systems):
        raise DataError(
            f"{', '.join(sources)}: none of its systems is in test set {testset.name!r};"
            f" {UnknownNameError('system', first, named)}"
        )


# Human judgements from files: for test sets, and instead of them.


_SPARSE = 1000  # times more segments than are scored: no set, and too many to hold


def add_judgements(
    testsets: Sequence[TestSet],
    files: Files,
    *,
    format: str | None = None,  # noqa: A002  # the word that users know from every command
    first_segment: int | None = None,
) -> tuple[list[TestSet], tuple[str, ...]]:
    """The test sets with what people said of them in files, and the kinds of these judgements.

    Args:
        testsets: the test sets.
        files: files of any format that :func:`gnomon.formats.read_human` knows; ``KIND=FILE``, or
            a mapping from kinds, says what to call the judgements. Where there are several test
            sets, a file's name (or its folder's) tells the language pair.
        format: the format of all these files, if they do not tell.
        first_segment: the number of the first segment, 0 or 1, if it is not the format's own.

    Raises:
        UsageError: it is unclear which test set a file belongs to.
        GnomonError: whatever is wrong in a file.
    """
    judged_sets, kinds = list(testsets), dict[str, None]()
    for kind, path in split_file_names(files):
        for number in _places(path, judged_sets):
            named = kind or kind_in_name(path)
            judgements = read_human(
                path, judged_sets[number], format=format, kind=named, first_segment=first_segment
            )
            judged_sets[number] = judged_sets[number].with_human(judgements)
            kinds |= dict.fromkeys(h.kind for h in judgements.scores)
            kinds |= dict.fromkeys(r.kind for r in judgements.rankings)
    return judged_sets, tuple(kinds)


def textless(
    human: Files,
    scores: Files,
    *,
    language_pair: str | None = None,
) -> list[TestSet]:
    """Test sets of judged systems without any text, one per language pair of the files.

    Args:
        human: files of human scores; their names tell the language pairs.
        scores: score files; they tell the systems and, with the human scores, the number of
            segments.
        language_pair: the pair of files whose names do not tell it.

    Raises:
        UsageError: there are no such files, or it is unclear what they are of.
    """
    if not (human and scores):
        raise UsageError(
            "there is nothing to judge: name a test set with human scores (-t DIR), or files of"
            " human scores (",
            flag("human", "FILE"),
            ") and score files (",
            flag("scores", "FILE"),
            ")",
        )
    pairs = dict.fromkeys(pair_of(path) or language_pair for _, path in split_file_names(human))
    if None in pairs and len(pairs) > 1:
        raise UsageError(
            "without test sets, the names of files with human scores must tell their language"
            " pairs, as in de-en.da-z.sys.tsv; or give one file, and its pair with -l"
        )
    return [_bare(pair, human, scores) for pair in pairs]


def _bare(pair: str | None, human: Files, given: Files) -> TestSet:
    places: dict[tuple[str, int | None], None] = {}
    for _, path, _, column in _expand_folders(_name_score_files(given)):
        if pair_of(path) not in (None, pair):
            continue
        try:
            scores = find_scores(path, language_pair=pair, test_set=pair or "", column=column)
        except LookupError:
            continue  # the file holds other language pairs
        places |= {cell: None for given in scores.values() for cell in given}
    numbers = {number for _, number in places if number is not None}
    for _, path in split_file_names(human):
        if pair_of(path) in (None, pair):
            numbers |= judged_segments(path)
    segments = max(numbers, default=1)
    systems = dict.fromkeys(system for system, _ in places)
    if not systems:
        raise UsageError(
            f"no score file holds scores of {pair or 'the judged systems'}; there are no texts to"
            " score either: name a test set with -t, or score files of the pair"
        )
    if segments > _SPARSE * max(len(numbers), _SPARSE):
        raise DataError(
            f"the files score segment {segments}, but {len(numbers)} segments in all; without"
            " a test set, segments are numbered from 1: look for a damaged number"
        )
    return TestSet(
        name=pair or "scores",
        references={},
        systems=dict.fromkeys(systems, ("",) * segments),
        sources=("",) * segments,
        language_pair=pair,
    )


def _places(path: str, testsets: Sequence[TestSet]) -> list[int]:
    if len(testsets) == 1:
        return [0]
    pair = pair_of(path)
    fitting = [k for k, testset in enumerate(testsets) if pair and testset.language_pair == pair]
    if not fitting:
        there = ", ".join(testset.language_pair or testset.name for testset in testsets)
        raise UsageError(
            f"{path}: there are {len(testsets)} test sets ({there}), and neither its name nor its"
            " folder tells which one it belongs to; put the language pair into its name"
        )
    return fitting


# References that people judged, as systems.


def add_reference_systems(
    testsets: Sequence[TestSet], names: Sequence[str]
) -> tuple[list[TestSet], tuple[str, ...]]:
    """The test sets with some references among the systems, and what people call these.

    A reference that is judged as a system is none of the references any more, so that all systems
    are scored with the same ones.
    """
    every = dict.fromkeys(name for given_set in testsets for name in given_set.references)
    changed, judged = list(testsets), dict[str, None]()
    for name in names if testsets else ():
        if name not in every:
            raise UnknownNameError("reference", name, every)
        called = []
        for number, testset in enumerate(changed):
            judged_name = _judged_name(testset, name)
            if judged_name is not None:
                changed[number] = _add_as_system(testset, name, judged_name)
                called.append(judged_name)
        if not called:
            raise DataError(
                f"nobody judged the reference {name!r}, so that it is no system; human scores would"
                f" call it {name}, ref{name} or ref-{name}"
            )
        judged |= dict.fromkeys(called)
    return changed, tuple(judged)


def _judged_name(testset: TestSet, name: str) -> str | None:
    """People's name for a reference of the test set; None: they did not judge it."""
    if name not in testset.references:
        return None
    people = {n for h in testset.human for n in h.systems}
    people |= {n for ranking in testset.rankings for n in ranking.systems}
    called = (name, *(f"{start}{name}" for start in ("ref", "ref-", "ref.", "ref_")))
    return next((system for system in called if system in people), None)


def _add_as_system(testset: TestSet, name: str, called: str) -> TestSet:
    texts = testset.references[name]
    whole = tuple(text for text in texts if text is not None)
    if len(whole) < len(texts):
        raise DataError(
            f"the reference {name!r} lacks {len(texts) - len(whole)} of {len(texts)} segments, so"
            " that it cannot be judged as a system"
        )
    info = testset.info.get(called, SystemInfo())
    return replace(
        testset,
        references={n: column for n, column in testset.references.items() if n != name},
        systems={**testset.systems, called: whole},
        info={**testset.info, called: replace(info, human=True)},
    )
