"""Hits that count: those that neither the reference nor half of the other systems share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gnomon.linguistics.faults.kinds import find_faults
from gnomon.linguistics.faults.texts import Texts
from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.testset import TestSet
    from gnomon.linguistics.faults.kinds import Fault, Hit
    from gnomon.messages import Message

__all__ = ["FoundFaults", "look", "lost_segments", "untranslated"]

_UNTRANSLATED = "untranslated"
_POOL = 4  # other systems, fewer than which say nothing of what can be meant
#: an output that is no translation for several reasons counts for the first of these
_FIRST = ("empty", "copied", "not-a-translation", "half-copied", "script", "language", "loop")
_SEGMENTS = 200  # spread over a test set, that are looked at in haste
_MANY = 0.01  # of the outputs
_TOLD = "empty"  # by what is said of outputs without text
#: and for none of these
_SHAPE = ("other-segment", "too-short", "too-long")


@dataclass(frozen=True)
class FoundFaults:
    """The faults of texts.

    Attributes:
        texts: that were looked at.
        faults: the kinds that were looked for.
        lacking: what the others need that is not there, by kind.
        raw: whether each text is hit by a kind, bool [columns, segments].
        counted: likewise, where the hit counts.
        at_stake: which segments a kind may hit, bool [segments].
    """

    texts: Texts
    faults: Sequence[Fault]
    lacking: Mapping[str, str]
    raw: Mapping[str, NDArray[np.bool_]]
    counted: Mapping[str, NDArray[np.bool_]]
    at_stake: Mapping[str, NDArray[np.bool_]]
    _hits: Mapping[str, Sequence[Hit]]

    def hits(self) -> Iterator[tuple[Fault, Hit]]:
        """The hits that count, by kind."""
        rows = {name: row for row, name in enumerate(self.texts.columns)}
        for fault in self.faults:
            counted = self.counted[fault.name]
            for hit in self._hits[fault.name]:
                if counted[rows[hit.column], hit.segment]:
                    yield fault, hit

    def union(self, group: str) -> NDArray[np.bool_]:
        """Texts that are hit by any kind of a group, bool [columns, segments]."""
        some = [self.counted[one.name] for one in self.faults if one.group == group]
        nothing = np.zeros((len(self.texts.columns), self.texts.segments), dtype=bool)
        return np.asarray(np.logical_or.reduce([nothing, *some]))


def look(texts: Texts, faults: Iterable[Fault]) -> FoundFaults:
    """Look for kinds of faults.

    A hit of a system counts where no reference is hit, too, and fewer than half of the other
    systems are, of which there have to be four; a hit of a reference where fewer than half of the
    systems are. An output that is no translation counts for one kind.
    """
    found: list[Fault] = []
    lacking, raw, counted, at_stake, hits = {}, {}, {}, {}, {}
    for fault in faults:
        need = fault.lacks(texts)
        if need:
            lacking[fault.name] = need
            continue
        found.append(fault)
        hits[fault.name] = list(fault.rule(texts))
        raw[fault.name] = hit = _hit(texts, hits[fault.name])
        counted[fault.name] = hit & ~_usual(texts, hit) if fault.floor else hit
        everywhere = np.ones(texts.segments, dtype=bool)
        at_stake[fault.name] = everywhere if fault.at_stake is None else fault.at_stake(texts)
    taken = np.zeros((len(texts.columns), texts.segments), dtype=bool)
    for name in (*_FIRST, *_SHAPE):
        if name in counted:
            counted[name] = counted[name] & ~taken
            taken |= counted[name]
    return FoundFaults(texts, found, lacking, raw, counted, at_stake, hits)


def _hit(texts: Texts, hits: Iterable[Hit]) -> NDArray[np.bool_]:
    rows = {name: row for row, name in enumerate(texts.columns)}
    hit = np.zeros((len(rows), texts.segments), dtype=bool)
    for one in hits:
        hit[rows[one.column], one.segment] = True
    return hit


def _usual(texts: Texts, hit: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Texts whose reference is hit, too, or half of the other systems [columns, segments]."""
    systems = len(texts.systems)
    usual = np.zeros_like(hit)
    usual[:systems] = hit[systems:].any(axis=0)
    others = np.full(len(hit), systems)
    others[:systems] -= 1
    of_others = hit[:systems].sum(axis=0) - np.where(np.arange(len(hit))[:, None] < systems, hit, 0)
    enough = (others >= np.where(np.arange(len(hit)) < systems, _POOL, 1))[:, None]
    return np.asarray(usual | (enough & (2 * of_others >= others[:, None])))


def lost_segments(testset: TestSet) -> NDArray[np.bool_]:
    """Segments that some system does not translate, bool [segments]."""
    lost = look(Texts(testset), find_faults([_UNTRANSLATED])).union(_UNTRANSLATED)
    return np.asarray(lost[: len(testset.systems)].any(axis=0))


def untranslated(testset: TestSet) -> tuple[Message, ...]:
    """Cautions of systems with many outputs that are copies, answers or in another script.

    Kinds that take long are left out, and of large test sets some segments are looked at.
    """
    cheap = [one for one in find_faults([_UNTRANSLATED]) if one.cheap]
    sampled = testset.segments > _SEGMENTS
    if sampled:
        some = np.linspace(0, testset.segments - 1, _SEGMENTS).astype(int).tolist()
        testset = testset.select(segments=some)
    found = look(Texts(testset), cheap)
    said = []
    for row, system in enumerate(testset.systems):
        kinds = {one.name: int(found.counted[one.name][row].sum()) for one in found.faults}
        kinds.pop(_TOLD, None)
        hits = sum(kinds.values())
        if hits > _MANY * testset.segments:
            listed = sorted(kinds.items(), key=lambda kind: -kind[1])
            told = message(
                "data.untranslated",
                system=system,
                hits=hits,
                segments=testset.segments,
                sampled=sampled,
                kinds=[{"kind": name, "hits": count} for name, count in listed if count],
            )
            said.append(told.about(systems=[system]))
    return tuple(sorted(said, key=lambda one: -int(str(one.params["hits"]))))
