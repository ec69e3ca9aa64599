"""People's judgements of the systems of a test set, as single ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, UnknownNameError
from gnomon.core.human import are_of_same_judgements
from gnomon.messages import message
from gnomon.messages.audiences import flag
from gnomon.messages.grammar import counted
from gnomon.stats.jackknife import numbered
from gnomon.stats.leniency import linked_systems

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.testset import TestSet
    from gnomon.messages import Message

__all__ = ["LEAST_SEGMENTS", "Campaign", "campaigns"]

#: of fewer segments no interval covers as often as it says
LEAST_SEGMENTS = 30
#: systems with fewer of the segments than this share of the most are no part of a complete campaign
_NEARLY_ALL = 0.9
#: the least share of the judged segments that all systems must have for these to be taken
_SHARED = 0.2


class _Judgement(NamedTuple):
    system: str
    segment: int  # 0-based
    rater: str
    score: float


_MOSTLY = 0.5  # of the judgements of a system


@dataclass(frozen=True)
class Campaign:
    """Judgements of one kind.

    Attributes:
        kind: "esa", "mqm", ...; of rankings, shares of comparisons that were won.
        systems: the judged systems [K].
        raters: who judged [R]; empty where nobody is named.
        segments: the judged segments, 0-based and ascending [N].
        documents: the document of each, numbers from 0 [N]; None where they are not known.
        system: of each judgement [J].
        item: its segment, a position in ``segments`` [J].
        rater: its rater [J].
        score: what was said [J]; higher is better.
        complete: whether every system was judged in each of the segments.
        ranked: whether the scores are of comparisons, which have no raters of one output.
        left_out: what was not taken.
    """

    kind: str
    systems: tuple[str, ...]
    raters: tuple[str, ...]
    segments: NDArray[np.int64]
    documents: NDArray[np.int64] | None
    system: NDArray[np.int64]
    item: NDArray[np.int64]
    rater: NDArray[np.int64]
    score: NDArray[np.float64]
    complete: bool
    ranked: bool
    left_out: tuple[Message, ...] = ()

    @property
    def cells(self) -> NDArray[np.float64]:
        """The mean judgement of each output, NaN where there is none [K, N]."""
        shape = len(self.systems), len(self.segments)
        where = self.system * shape[1] + self.item
        sizes = np.bincount(where, minlength=shape[0] * shape[1])
        sums = np.bincount(where, self.score, shape[0] * shape[1])
        with np.errstate(invalid="ignore"):
            return np.asarray((sums / np.where(sizes, sizes, np.nan)).reshape(shape))

    @property
    def systems_of_raters(self) -> NDArray[np.int64]:
        """Number of systems that each rater judged [R]."""
        judged = np.zeros((len(self.raters), len(self.systems)), dtype=bool)
        judged[self.rater, self.system] = True
        return np.asarray(judged.sum(axis=1))

    @property
    def is_connected(self) -> bool:
        """True if raters link all systems, so that leniency can be separated from quality."""
        return bool(self.raters) and not self.linked.any()

    @property
    def linked(self) -> NDArray[np.int64]:
        """Numbers of groups of systems that raters link; all one where nobody is named [K]."""
        if not self.raters:
            return np.zeros(len(self.systems), dtype=np.int64)
        return linked_systems(self.system, self.rater)

    def judged_apart(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Pairs of systems of which one was mostly judged by people who did not judge the other."""
        if not self.raters:
            return np.zeros(len(pairs), dtype=bool)
        judged = np.zeros((len(self.raters), len(self.systems)))
        np.add.at(judged, (self.rater, self.system), 1)
        shared = judged.T @ (judged > 0) / judged.sum(axis=0)[:, None]
        a, b = pairs.T
        return np.asarray(np.minimum(shared[a, b], shared[b, a]) < _MOSTLY)

    @property
    def tells_leniency(self) -> bool:
        """True if raters are adjusted for unless somebody says otherwise."""
        if not self.raters:
            return False
        several = self.systems_of_raters > 1
        return bool(2 * several.sum() >= len(several)) and self.is_connected


def campaigns(
    testset: TestSet, kinds: Sequence[str] = (), *, drawn: Collection[int] | None = None
) -> list[Campaign]:
    """The judgements of each kind, of segments; all kinds that are there unless some are named.

    Args:
        testset: with what people said.
        kinds: of judgements; all by default.
        drawn: the segments (0-based) that count; all by default.

    Raises:
        DataError: nobody judged segments of two systems.
        UnknownNameError: there is no such kind.
    """
    scored = tuple(dict.fromkeys(h.kind for h in testset.human if h.level == "segment"))
    ranked = tuple(dict.fromkeys(ranking.kind for ranking in testset.rankings))
    every = tuple(dict.fromkeys((*scored, *ranked)))
    for kind in kinds:
        if kind not in every:
            raise UnknownNameError("kind of judgements of segments", kind, every)
    if not every:
        raise DataError(
            f"nobody judged segments of the test set {testset.name!r}; name a file of human"
            " scores (",
            flag("human", "FILE"),
            "), or a test set that has some: means of systems alone have no interval",
        )
    chosen = list(dict.fromkeys(kinds)) or [
        kind for n, kind in enumerate(every) if not _is_rescaled(kind, every[:n], every)
    ]
    every_judgement = {kind: list(_read_kind(testset, kind)) for kind in chosen}
    if drawn is not None:
        kept = frozenset(drawn)
        every_judgement = {
            kind: [judgement for judgement in judgements if judgement.segment in kept]
            for kind, judgements in every_judgement.items()
        }
    return [
        _campaign(testset, kind, judgements, ranked=kind not in scored)
        for kind, judgements in every_judgement.items()
    ]


def _is_rescaled(kind: str, before: Sequence[str], every: Sequence[str]) -> bool:
    """True if a kind is another one in other units: standardised where raw scores are there."""
    raw = kind.removesuffix("-z") + "-raw"
    return (kind.endswith("-z") and raw in every) or any(
        are_of_same_judgements(kind, other) for other in before if not other.endswith("-z")
    )


def _read_kind(testset: TestSet, kind: str) -> Iterator[_Judgement]:
    """Every single judgement where raters are named, else their means; comparisons of rankings."""
    tables = [h for h in testset.human if (h.kind, h.level) == (kind, "segment")]
    by_rater = [h for h in tables if h.rater is not None]
    for table in by_rater or tables:
        for name, row in zip(table.systems, table.values, strict=True):
            for segment in np.flatnonzero(np.isfinite(row)).tolist():
                yield _Judgement(name, segment, table.rater or "", float(row[segment]))
    for again in testset.repeated:
        if again.kind == kind:
            yield _Judgement(again.system, again.segment, again.rater or "", again.score)
    if tables:
        return
    for ranking in testset.rankings:
        if ranking.kind == kind:
            raters = ranking.raters or ("",) * len(ranking.rows)
            for (segment, better, worse), rater in zip(ranking.rows, raters, strict=True):
                yield _Judgement(better, segment, rater, 1.0)
                yield _Judgement(worse, segment, rater, 0.0)


def _campaign(
    testset: TestSet, kind: str, judgements: Sequence[_Judgement], *, ranked: bool
) -> Campaign:
    human = {name for name, info in testset.info.items() if info.human}
    names = [name for name in testset.systems if name not in human]
    judged: dict[str, set[int]] = {name: set() for name in names}
    for judgement in judgements:
        if judgement.system in judged:
            judged[judgement.system].add(judgement.segment)
    most = max(map(len, judged.values()), default=0)
    enough = [name for name in names if len(judged[name]) >= LEAST_SEGMENTS]
    nearly = [name for name in names if judged[name] and len(judged[name]) >= _NEARLY_ALL * most]
    complete = next((some for some in (nearly, enough) if _share_segments(some, judged)), None)
    systems = complete or enough
    every = set().union(*(judged[name] for name in systems))
    shared = set.intersection(*(judged[name] for name in systems)) if complete else every
    segments = sorted(shared)
    if len(systems) < 2:
        raise DataError(
            f"people ({kind}) judged segments of {counted(len(systems), 'system')} of the test set"
            f" {testset.name!r}, and a comparison takes two or more"
        )
    index = {name: k for k, name in enumerate(systems)}
    place = {segment: k for k, segment in enumerate(segments)}
    kept = [j for j in judgements if j.system in index and j.segment in place]
    raters = tuple(dict.fromkeys(j.rater for j in kept))
    named = any(raters)
    number = {name: k for k, name in enumerate(raters)}
    documents = None
    if testset.documents is not None:
        documents = numbered([testset.documents[segment] for segment in segments])
    return Campaign(
        kind=kind,
        systems=tuple(systems),
        raters=raters if named else (),
        segments=np.array(segments, dtype=np.int64),
        documents=documents,
        system=np.array([index[j.system] for j in kept], dtype=np.int64),
        item=np.array([place[j.segment] for j in kept], dtype=np.int64),
        rater=np.array([number[j.rater] for j in kept], dtype=np.int64),
        score=np.array([j.score for j in kept], dtype=np.float64),
        complete=complete is not None,
        ranked=ranked,
        left_out=_say_left_out(kind, judged, systems, len(segments), len(every)),
    )


def _share_segments(systems: Sequence[str], judged: dict[str, set[int]]) -> bool:
    """True if systems are compared on the segments that all of them have.

    That loses few of all segments, or few of those of the system with the fewest.
    """
    if len(systems) < 2:
        return False
    own = [judged[name] for name in systems]
    shared, every = len(set.intersection(*own)), len(set().union(*own))
    return shared >= max(_SHARED * every, 1) or shared >= _NEARLY_ALL * min(map(len, own))


def _say_left_out(
    kind: str, judged: dict[str, set[int]], systems: Sequence[str], taken: int, every: int
) -> tuple[Message, ...]:
    said = []
    fewer = [
        {"system": name, "n": len(own)}
        for name, own in judged.items()
        if own and name not in systems
    ]
    if fewer:
        said.append(message("note.human.fewer", human=kind, fewer=fewer))
    if taken < every:
        counts: dict[str, Any] = {"judged": every, "taken": taken, "systems": len(systems)}
        said.append(message("note.human.shared", human=kind, **counts))
    return tuple(said)
