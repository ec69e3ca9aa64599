"""Human judgements of outputs: scores, rankings, marked errors."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, UnknownNameError
from gnomon.messages.audiences import flag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.spans import ErrorSpan
    from gnomon.core.testset import TestSet

__all__ = [
    "HumanScores",
    "Judgements",
    "OutputLookedAt",
    "RankedPairs",
    "Ranking",
    "RepeatedScore",
    "are_of_same_judgements",
]

LEVELS = ("system", "segment", "document", "domain")

_MOST = 1e6  # of any scale: far beyond them all, and its sums are numbers
_SCALES = {
    "da": (-100.0, 100.0),  # raw or standardised: its name does not tell
    "da-raw": (0.0, 100.0),
    "wmt-raw": (0.0, 100.0),
    "esa": (0.0, 100.0),
    "sqm": (0.0, 100.0),
    "psqm": (0.0, 100.0),
    "mqm": (-10_000.0, 10_000.0),  # sums of penalties, whose sign some files turn
    "hter": (-1000.0, 1000.0),  # edits per word: over 1 where an output is longer than its edit
    "litepyramid": (0.0, 1.0),
}


@dataclass(frozen=True, eq=False)
class HumanScores:
    """Scores that people gave.

    Attributes:
        kind: "da-z", "mqm", "litepyramid", ...; higher is better.
        level: "system", "segment", "document" or "domain".
        systems: names of the scored systems; some may have no text in the test set.
        values: float64 [systems, items], NaN where missing. One item at system level, the segments
            at segment level, the documents or domains (in order of ``items``) at the other two.
        items: names of the documents or domains; empty at the other levels.
        rater: who scored; None: no one in particular, or all raters together (their mean).
    """

    kind: str
    level: str
    systems: tuple[str, ...]
    values: NDArray[np.float64]
    items: tuple[str, ...] = ()
    rater: str | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HumanScores):
            return NotImplemented
        mine, theirs = ((h.kind, h.level, h.systems, h.items, h.rater) for h in (self, other))
        return mine == theirs and np.array_equal(self.values, other.values, equal_nan=True)

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash

    def system_scores(self, system: str) -> NDArray[np.float64]:
        """The scores of one system, float64 [items]; all NaN if it was not scored."""
        if system in self.systems:
            row: NDArray[np.float64] = self.values[self.systems.index(system)]
            return row
        return np.full(self.values.shape[1], np.nan)

    def aligned(self, systems: Sequence[str]) -> NDArray[np.float64]:
        """The scores of some systems in their order, float64 [systems, items]; NaN if unscored."""
        rows = [self.system_scores(system) for system in systems]
        return np.array(rows, dtype=np.float64).reshape(len(rows), self.values.shape[1])


class RankedPairs(NamedTuple):
    """Rankings as indices, one element per judgement.

    Attributes:
        segment: int64 [P], 0-based segment.
        better: int64 [P], index of the better system.
        worse: int64 [P], index of the worse system.
        left_out: judgements of systems that were not asked for.
    """

    segment: NDArray[np.int64]
    better: NDArray[np.int64]
    worse: NDArray[np.int64]
    left_out: int


@dataclass(frozen=True)
class Ranking:
    """Relative rankings: in a segment people found one system better than another.

    Attributes:
        kind: "darr", "rr", ...
        rows: (0-based segment, better system, worse system), repeated and contradictory judgements
            included; ties are not among them.
        raters: who ranked, one name per row; empty if the file does not say.
    """

    kind: str
    rows: tuple[tuple[int, str, str], ...]
    raters: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.raters and len(self.raters) != len(self.rows):
            raise DataError(
                f"the ranking {self.kind!r} has {len(self.rows)} judgements, but"
                f" {len(self.raters)} raters; give one rater for each, or none"
            )

    @property
    def systems(self) -> tuple[str, ...]:
        """The ranked systems, in order of appearance."""
        return tuple(dict.fromkeys(name for _, *pair in self.rows for name in pair))

    def pairs(self, systems: Sequence[str]) -> RankedPairs:
        """The judgements among some systems, as indices into ``systems``."""
        index = {name: i for i, name in enumerate(systems)}
        decided = [
            (segment, index[better], index[worse])
            for segment, better, worse in self.rows
            if better in index and worse in index
        ]
        columns = np.array(decided, dtype=np.int64).reshape(-1, 3).T
        return RankedPairs(columns[0], columns[1], columns[2], len(self.rows) - len(decided))


class OutputLookedAt(NamedTuple):
    """An output that somebody looked at for errors, be there one or none.

    Attributes:
        kind: of the judgements.
        rater: who looked; None where nobody is named.
        system: whose output.
        segment: 0-based.
    """

    kind: str
    rater: str | None
    system: str
    segment: int


class RepeatedScore(NamedTuple):
    """A score that is not among those of :class:`HumanScores`, and a judgement all the same.

    Of an output that the same person scored again later, or in a document that was shown again or
    in part: published scores leave these out, intervals of what people say need not.

    Attributes:
        kind: of the judgements.
        rater: who scored; None where nobody is named.
        system: whose output.
        segment: 0-based.
        score: higher is better.
    """

    kind: str
    rater: str | None
    system: str
    segment: int
    score: float


@dataclass(frozen=True)
class Judgements:
    """All that a file, or several, says of a test set.

    Attributes:
        scores: of systems, segments, documents or domains.
        rankings: which outputs are better than others.
        errors: that were marked.
        looked_at: which outputs somebody looked at for errors, where the file says so whether there
            are any or not.
        repeated: scores of outputs beyond those that ``scores`` hold.
    """

    scores: tuple[HumanScores, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    errors: tuple[ErrorSpan, ...] = ()
    looked_at: tuple[OutputLookedAt, ...] = ()
    repeated: tuple[RepeatedScore, ...] = ()

    def __add__(self, other: Judgements) -> Judgements:
        return Judgements(
            self.scores + other.scores,
            self.rankings + other.rankings,
            self.errors + other.errors,
            self.looked_at + other.looked_at,
            self.repeated + other.repeated,
        )


def marked_kinds(said: Judgements | TestSet) -> tuple[str, ...]:
    """The kinds of judgements that mark errors, or for which outputs were looked at for some."""
    kinds = [*(error.kind for error in said.errors), *(output.kind for output in said.looked_at)]
    return tuple(dict.fromkeys(kinds))


def clean_outputs(said: Judgements | TestSet, kind: str) -> tuple[OutputLookedAt, ...]:
    """The outputs that somebody looked at without marking an error, of a kind; each once."""
    marked = {(e.rater, e.system, e.segment) for e in said.errors if e.kind == kind}
    return tuple(
        output
        for output in dict.fromkeys(said.looked_at)
        if output.kind == kind and output[1:] not in marked
    )


#: words beside the kind in names of files: who, of what, in which form
_BESIDE = {"human", "people", "scores", "score", "seg", "sys", "segment", "raw", "z", "wmt", "mean"}


def names_people(name: str) -> bool:
    """True if a name says that people gave the scores, and nothing else.

    >>> [names_people(one) for one in ("esa", "en-de.mqm.seg", "da-z", "gemba-esa", "comet")]
    [True, True, True, False, False]
    """
    bare = re.sub(r"^[a-z]{2,3}-[a-z]{2,3}(?=[._])", "", name.lower())
    words = {word for word in re.split(r"[._ -]", bare) if word}
    kinds = words & {*_SCALES, "human"}
    return bool(kinds) and words <= {*_SCALES, *_BESIDE}


def scale_of(kind: str) -> tuple[float, float]:
    """The lowest and the highest score of a kind that a human score can be.

    Standardised scores, and kinds that nothing is known of, are free up to a million.

    >>> scale_of("esa"), scale_of("en-cs.esa"), scale_of("esa-z")
    ((0.0, 100.0), (0.0, 100.0), (-1000000.0, 1000000.0))
    """
    words = re.split(r"[._]", kind.lower())
    return next((_SCALES[word] for word in reversed(words) if word in _SCALES), (-_MOST, _MOST))


def segment_scores(
    human: Sequence[HumanScores], kind: str | None, rater: str | None
) -> HumanScores | None:
    """The segment scores of a kind, of one rater or averaged over all; None if there are none."""
    return _find_scores(human, kind, "segment", rater)


def system_scores(
    human: Sequence[HumanScores], kind: str | None, rater: str | None
) -> HumanScores | None:
    """The system scores of a kind; the mean over the scored segments where no file has them."""
    given = _find_scores(human, kind, "system", rater)
    if given is not None:
        return given
    by_segment = _find_scores(human, kind, "segment", rater)
    if by_segment is None:
        return None
    values = mean(by_segment.values, axis=1).reshape(-1, 1)
    return HumanScores(by_segment.kind, "system", by_segment.systems, values, (), rater)


def select_segments(judgements: Judgements, segments: Sequence[int]) -> Judgements:
    """Judgements of some segments (0-based), renumbered; other levels stay as they are."""
    number = {old: new for new, old in enumerate(segments)}
    scores = tuple(
        replace(h, values=h.values[:, list(segments)]) if h.level == "segment" else h
        for h in judgements.scores
    )
    rankings = tuple(_select_segments(ranking, number) for ranking in judgements.rankings)
    errors = (e for e in judgements.errors if e.segment in number)
    errors = (replace(e, segment=number[e.segment]) for e in errors)
    looked_at = (
        output._replace(segment=number[output.segment])
        for output in judgements.looked_at
        if output.segment in number
    )
    repeated = (
        score._replace(segment=number[score.segment])
        for score in judgements.repeated
        if score.segment in number
    )
    return Judgements(scores, rankings, tuple(errors), tuple(looked_at), tuple(repeated))


def _select_segments(ranking: Ranking, place: Mapping[int, int]) -> Ranking:
    kept = [i for i, (segment, *_) in enumerate(ranking.rows) if segment in place]
    rows = tuple((place[s], b, w) for s, b, w in (ranking.rows[i] for i in kept))
    return Ranking(ranking.kind, rows, tuple(ranking.raters[i] for i in kept if ranking.raters))


def kinds(human: Sequence[HumanScores], level: str | None) -> tuple[str, ...]:
    """The kinds of scores that are there at a level (system level counts segment scores too)."""
    fitting = {"system": ("system", "segment"), None: LEVELS}.get(level, (level,))
    return tuple(dict.fromkeys(h.kind for h in human if h.level in fitting))


def only_kind(kind: str | None, there: Sequence[str], what: str) -> str:
    """The named kind, or the only one."""
    if kind is not None:
        if kind not in there:
            raise UnknownNameError(f"kind of {what}", kind, there)
        return kind
    if len(there) != 1:
        raise DataError(
            f"the test set has several kinds of {what}; name one: {', '.join(there)}"
            if there
            else (
                (
                    f"the test set has no {what}; attach some: a file human/KIND.LEVEL.tsv in its"
                    " folder, "
                ),
                flag("human", "FILE"),
                " where a command takes files, or TestSet.with_human(FILE)",
            )
        )
    return there[0]


def are_of_same_judgements(kind: str, other: str) -> bool:
    """True if two kinds of human scores are one set of judgements, raw or standardised.

    >>> are_of_same_judgements("da-z", "da-raw"), are_of_same_judgements("da", "mqm")
    (True, False)
    """
    first, second = (re.sub("-(z|raw)$", "", name) for name in (kind, other))
    return first == second


def mean(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """The mean of what is there; NaN where nothing is."""
    there = np.isfinite(values)
    count = there.sum(axis=axis)
    total = np.where(there, values, 0.0).sum(axis=axis)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _find_scores(
    human: Sequence[HumanScores], kind: str | None, level: str, rater: str | None
) -> HumanScores | None:
    fitting = {h.rater: h for h in human if h.kind == kind and h.level == level}
    if not fitting:
        return None
    if rater is not None and rater not in fitting:
        raise UnknownNameError(f"rater of {kind!r}", rater, [r for r in fitting if r is not None])
    if rater in fitting:
        return fitting[rater]
    systems = tuple(dict.fromkeys(name for h in fitting.values() for name in h.systems))
    stacked = np.stack([h.aligned(systems) for h in fitting.values()])
    return HumanScores(str(kind), level, systems, mean(stacked, axis=0))
