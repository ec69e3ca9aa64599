"""Scores from a file: what another tool said of the systems of a test set, as a metric."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, TypeAlias

import numpy as np

from gnomon.core.errors import DataError, SpecError, UnknownNameError, UsageError
from gnomon.core.human import names_people
from gnomon.core.options import InputFile
from gnomon.core.scores import check_sums, list_names
from gnomon.core.signature import Signature, content_hash
from gnomon.data.formats import find_scores, first_line_of, is_wmt_scores, read_bytes
from gnomon.messages import message
from gnomon.messages.audiences import flag
from gnomon.metrics.base import Metric, OfOptions
from gnomon.metrics.spec import Options

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.core.batch import Batch, Ragged
    from gnomon.core.human import HumanScores
    from gnomon.core.outline import Outline
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.metrics.base import Input

__all__ = ["BoundSegmentScores", "BoundSystemScores", "ScoreFile"]


# Places of the texts of a batch in the test set that a metric was bound to.


def positions(batch: Batch, own: Batch, what: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and columns of a batch in the whole of its test set.

    Returns positions of the systems, int64 [K], and of the segments, int64 [N].
    """
    rows = {name: row for row, name in enumerate(own.systems)}
    strangers = [name for name in batch.systems if name not in rows]
    if strangers:
        raise UsageError(f"{what} cannot score the texts of a system {strangers[0]!r}; {_ONLY}")
    systems = np.array([rows[name] for name in batch.systems], dtype=np.int64)
    segments = batch.segments.astype(np.int64)
    if len(segments) and not 0 <= segments.min() <= segments.max() < len(own.segments):
        raise UsageError(f"{what} has no scores of segment {segments.max() + 1}; {_ONLY}")
    if not _equal(batch, own.select(systems=systems.tolist(), segments=segments.astype(np.int32))):
        raise UsageError(changed_texts(what))
    return systems, segments


def changed_texts(what: str) -> str:
    """Why scores from a file are no scores of changed texts."""
    return f"{what} cannot score changed texts; {_ONLY}"


#: words in the names of metrics that count errors
_ERRORS = frozenset(
    ("ter", "wer", "cer", "mer", "metricx", "perplexity", "ppl", "bits", "bpb", "error", "errors")
) | {"loss", "nll"}
_WORDS = re.compile("[a-z]+")
_ONLY = (
    "scores from a file are known for the texts of their test set alone. For changed texts take a"
    " metric that gnomon computes"
)


def specs_of_logs(testset: TestSet) -> list[str]:
    """Specs of the scores that came with all outputs, in logs of an evaluation."""
    whole = [m for m, scores in testset.logged.items() if set(testset.systems) <= set(scores)]
    return [f"scores(metric={name!r})" for name in whole]


def _equal(batch: Batch, own: Batch) -> bool:
    """True if all texts are the same, whatever their numbers."""
    number = {text: index for index, text in enumerate(own.texts)}
    same = batch.texts is own.texts
    map_ = np.array([index if same else number.get(t, -1) for index, t in enumerate(batch.texts)])
    pairs = [(batch.candidates, own.candidates)]
    if batch.sources is not None and own.sources is not None:
        pairs.append((batch.sources, own.sources))
    alone = batch.system_references or own.system_references
    for k in range(len(batch.systems)) if alone else (0,):
        pairs += _columns(batch.references_of(k), own.references_of(k))
    return all(a.shape == b.shape and np.array_equal(map_[a], b) for a, b in pairs)


def _columns(a: Ragged, b: Ragged) -> list[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    return [(a.indices, b.indices)] if np.array_equal(a.offsets, b.offsets) else [_UNEQUAL]


_UNEQUAL = (np.zeros(0, np.int32), np.zeros(1, np.int32))


_Given: TypeAlias = "dict[tuple[str, int | None], float]"


@dataclass(frozen=True)
class ScoreFile(Options, Metric):
    """Scores from a file: ``scores('comet.tsv')``; the texts themselves are not looked at.

    The file may be of any format that gnomon writes: TSV or JSONL (``system, segment, score``, and
    perhaps ``metric``), mt-metrics-eval's ``METRIC-REF.seg.score`` and ``.sys.score``, or WMT's
    lines ``METRIC LP TESTSET SYSTEM [SEGMENT] SCORE``. It must hold every system and every segment
    of the test set; a score that it calls missing (an empty cell, ``null``, ``None``) is
    undefined. It may hold further systems. Where it has scores of segments alone, the system score
    is their mean; where it has scores of systems, these are taken. Neither can score changed
    texts, and scores of systems cannot be resampled or cut into slices.

    Without a file, ``scores(metric='f1')`` are those that came with the outputs, in the logs of an
    evaluation; of metrics that are called after errors (``ter``, ``word_error_rate``,
    ``bits_per_byte``) lower is better, unless ``lower_is_better=False`` says otherwise.
    """

    name: ClassVar[str] = "scores"
    title: ClassVar[str] = "{}"
    pooled: ClassVar[bool] = False
    positional: ClassVar[str] = "file"
    needs: ClassVar[frozenset[Input]] = frozenset()
    is_limited_to_test_set: ClassVar[bool] = True  # it has no scores of changed texts

    file: Annotated[str, InputFile()] = ""
    column: str = "score"  # the column of the scores, in TSV and JSONL
    metric: str | None = None  # whose scores, where the file holds those of several metrics
    lower_is_better: bool | None = None  # the scores are error rates; None: as a log's names say

    def __post_init__(self) -> None:
        super().__post_init__()
        given: object = self.file  # in a spec, a metric may stand there
        if not isinstance(given, str) or given == "-" or not (given or self.metric):
            shown = getattr(given, "spec", repr(given)) if given else "none"
            raise SpecError(
                "scores takes the name of a score file first, in quotes, as in"
                f" scores('comet.tsv'), or a metric of the log of an evaluation, as in"
                f" scores(metric='f1'); got {shown}"
            )

    @property
    def higher_is_better(self) -> bool:
        """The reverse of ``lower_is_better``, or what the name of a metric in a log says."""
        if self.lower_is_better is not None:
            return not self.lower_is_better
        logged = "" if self.file else self.metric or ""
        return _ERRORS.isdisjoint(_WORDS.findall(logged.lower()))

    @property
    def label(self) -> str:
        """The spec with the file's name alone: equal files give equal signatures anywhere."""
        return replace(self, file=Path(self.file).name).spec

    def check_outline(self, outline: Outline | None) -> None:  # noqa: ARG002  # files may be large: what is in them shows later
        """Refuse a file that is not there."""
        if self.file and not Path(self.file).is_file():
            is_wmt_scores(self.file)  # the reader says why

    def bind(self, testset: TestSet) -> BoundSegmentScores | BoundSystemScores:
        """Read the scores of the test set's systems."""
        if not self.file:
            return _bind_logged(self, testset)
        scores = find_scores(
            self.file,
            language_pair=testset.language_pair,
            test_set=testset.name,
            column=self.column,
            segments=testset.segments,
        )
        name, given = _choose_metric(self, scores)
        _check_systems(self.file, given, testset)
        identity = content_hash(read_bytes(self.file))
        cells = _cells(self.file, given, testset)
        check_sums(self.file, list(testset.systems), cells)
        others = tuple(dict.fromkeys(name for name, _ in given if name not in testset.systems))
        without = [name for name in testset.systems if (name, None) not in given]
        if not without:
            totals = np.array([given[name, None] for name in testset.systems])
            people = _is_of_people(self, name, cells, testset)
            return BoundSystemScores(self, testset.batch(), identity, cells, others, people, totals)
        if len(without) < len(testset.systems):
            raise DataError(
                f"{self.file} scores some systems as a whole, and not {list_names(without)}; give"
                " all systems such a score, or none"
            )
        people = _is_of_people(self, name, cells, testset)
        return BoundSegmentScores(self, testset.batch(), identity, cells, others, people)


@dataclass(frozen=True, eq=False)
class BoundSegmentScores(OfOptions):
    """Scores of segments from a file; those of systems are means."""

    metric: ScoreFile
    own: Batch  # the texts that the scores are of
    identity: str  # a hash of the file
    cells: NDArray[np.float64]  # [K, N]; NaN where the file has none
    others: tuple[str, ...]  # systems of the file that the test set does not have
    human: bool  # whether people gave the scores

    @property
    def signature(self) -> Signature:
        """Spec with the file's name, and a hash of its content."""
        return Signature(self.metric.label).adding(file=self.identity)

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """The file's scores, float64 [K, N]; NaN where it calls them missing."""
        return self.cells[np.ix_(*positions(batch, self.own, self.metric.spec))]

    def notices(self, batch: Batch) -> tuple[Message, ...]:
        """Scores that the file calls missing, where it has any, and those of other systems."""
        scored = ~np.isnan(self.segments(batch))
        label, said = self.metric.label, []
        if scored.any() and not scored.all():
            counts = scored.sum(axis=1).tolist()
            fewer = [
                {"system": name, "n": n}
                for n, name in sorted(zip(counts, batch.systems, strict=True))
                if n < scored.shape[1]
            ]
            missing = message(
                "note.metrics.missing",
                missing=int((~scored).sum()),
                scores=scored.size,
                segments=scored.shape[1],
                fewer=fewer,
                unlike=not (scored == scored.any(axis=0)).all(),
            )
            said.append(missing.about(metrics=[label]))
        if self.others:
            said.append(
                message("note.metrics.others", file=label, does="scores", systems=self.others)
            )
        return tuple(said)


@dataclass(frozen=True, eq=False)
class BoundSystemScores(BoundSegmentScores):
    """Scores of whole systems from a file, and those of segments, if it has any."""

    totals: NDArray[np.float64]  # [K]

    def system(self, batch: Batch) -> NDArray[np.float64]:
        """The file's scores of systems, float64 [K]."""
        systems, segments = positions(batch, self.own, self.metric.spec)
        if sorted(segments.tolist()) != list(range(len(self.own.segments))):
            raise UsageError(
                f"{self.metric.spec} holds scores of whole systems, which say nothing of"
                f" {len(segments)} of {len(self.own.segments)} segments; give a file with scores"
                " of segments alone"
            )
        return self.totals[systems]


def _bind_logged(metric: ScoreFile, testset: TestSet) -> BoundSegmentScores:
    """The scores that came with the outputs."""
    name = str(metric.metric)
    if name not in testset.logged:
        raise UnknownNameError("metric (in the log)", name, testset.logged)
    logged = testset.logged[name]
    for system in testset.systems:
        if system not in logged:
            raise DataError(
                f"the output of {system!r} came without scores of {name!r}; leave it out (",
                flag("systems"),
                ")",
            )
    cells = np.array([logged[system] for system in testset.systems], dtype=np.float64)
    identity = content_hash(cells.tobytes())
    return BoundSegmentScores(metric, testset.batch(), identity, cells, (), human=False)


#: columns that a table of judgements has and one of metrics has not
_JUDGES = {"rater", "annotator", "user_id", "workerid"}


def _is_of_people(
    options: ScoreFile, metric: str, cells: NDArray[np.float64], testset: TestSet
) -> bool:
    """True if people gave the scores: by names and columns, or as the test set holds the same."""
    file = Path(options.file)
    bare = file.name.removesuffix(".gz").rpartition(".")
    in_name = not metric or bare[2] == "score"  # mt-metrics-eval's files are named for the metric
    names = [bare[0] or bare[2] if in_name else metric]
    names += [options.column.removesuffix("_score")] if options.column != "score" else []
    if file.parent.name in ("human", "human-scores") or any(map(names_people, names)):
        return True
    if _JUDGES & first_line_of(options.file).column_names:
        return True
    return any(_are_equal(cells, human, list(testset.systems)) for human in testset.human)


def _are_equal(cells: NDArray[np.float64], human: HumanScores, systems: list[str]) -> bool:
    """True if scores are those that people gave, be it with the other sign."""
    if human.level != "segment":
        return False
    values = human.aligned(systems)
    both = ~np.isnan(cells) & ~np.isnan(values)
    mine, theirs = cells[both], values[both]
    varies = len(mine) > 1 and bool((mine != mine[0]).any())
    return varies and any(np.allclose(mine, sign * theirs, atol=1e-6) for sign in (1, -1))


def _choose_metric(options: ScoreFile, found: dict[str, _Given]) -> tuple[str, _Given]:
    """The one metric that is meant, empty where the file does not name it, and its scores."""
    if options.metric is not None:
        if options.metric not in found:
            raise UnknownNameError(f"metric of {options.file}", options.metric, found)
        return options.metric, found[options.metric]
    if len(found) > 1:
        first = replace(options, metric=next(iter(found))).spec
        raise UsageError(
            f"{options.file} holds the scores of several metrics: {', '.join(found)}; name one, as"
            f" in {first}"
        )
    return next(iter(found.items()))


def _check_systems(file: str, given: _Given, testset: TestSet) -> None:
    scored = dict.fromkeys(system for system, _ in given)
    for name in testset.systems:
        if name not in scored:
            reason = UnknownNameError("system", name, scored)
            raise DataError(
                f"{file} scores no system {name!r} of test set {testset.name!r} ({reason}); leave"
                " it out (",
                flag("systems"),
                "), or give it lines with missing scores",
            )


def _check_segments(file: str, given: _Given, testset: TestSet) -> None:
    for name in testset.systems:
        holes = [n for n in range(1, testset.segments + 1) if (name, n) not in given]
        if holes:
            raise DataError(
                f"{file} lacks {len(holes)} of the {testset.segments} segments of system {name!r},"
                f" the first is segment {holes[0]}; give every segment a line, with nothing (None,"
                " null) for a missing score"
            )


def _cells(file: str, given: _Given, testset: TestSet) -> NDArray[np.float64]:
    """Scores of segments, float64 [K, N]; all NaN where there are none at all."""
    if any(n is not None for _, n in given):
        _check_segments(file, given, testset)
    nothing = float("nan")
    numbers = range(1, testset.segments + 1)
    rows = [[given.get((name, n), nothing) for n in numbers] for name in testset.systems]
    return np.array(rows, dtype=np.float64).reshape(len(rows), testset.segments)
