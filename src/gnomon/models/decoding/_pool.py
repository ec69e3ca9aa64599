"""Hypotheses that are finished, and how each of them came about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.models.decoding._plan import Found

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.models.decoding._plan import Options, Plan

__all__ = ["Pool"]


class Pool:
    """The best finished hypotheses of each slot.

    Hypotheses are kept as links to the one that they continue; pieces are read off at the end.

    Args:
        slots: how many.
        plan: how to search.
        begun: pieces that all hypotheses begin with.
    """

    def __init__(self, slots: int, plan: Plan, begun: int) -> None:
        self._plan = plan
        self._begun = begun
        size = (slots, plan.beam)
        self._score = np.full(size, -np.inf)
        self._total = np.full(size, -np.inf)
        #: of each step the hypothesis that was continued, and the piece; [slots, beam]
        self._links: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        #: after how many steps a hypothesis was finished, and which one of that step it was
        self._step = np.zeros(size, dtype=np.int64)
        self._parent = np.zeros(size, dtype=np.int64)

    def finish(self, slots: NDArray[np.int64], ended: Options, length: int) -> None:
        """Add hypotheses that ended at a length (``</s>`` counted); the best ones stay."""
        scores = np.concatenate([self._score[slots], self._plan.score(ended.total, length)], axis=1)
        order = np.argsort(-scores, axis=1, kind="stable")[:, : self._plan.beam]
        now = np.full(ended.parent.shape, len(self._links))
        self._score[slots] = np.take_along_axis(scores, order, axis=1)
        for kept, new in (
            (self._total, ended.total),
            (self._step, now),
            (self._parent, ended.parent),
        ):
            both = np.concatenate([kept[slots], new], axis=1)
            kept[slots] = np.take_along_axis(both, order, axis=1)

    def link(self, slots: NDArray[np.int64], kept: Options) -> None:
        """Note which hypotheses were continued, and with what."""
        parent, piece = np.zeros_like(self._parent), np.zeros_like(self._parent)
        parent[slots], piece[slots] = kept.parent, kept.piece
        self._links.append((parent, piece))

    def is_settled(
        self, slots: NDArray[np.int64], best: NDArray[np.float64], limits: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Whether nothing that is unfinished needs to be looked at any more.

        Args:
            slots: which slots.
            best: log-probability of the best unfinished hypothesis of each.
            limits: most pieces of a target of each.
        """
        length = len(self._links) + self._begun
        if self._plan.stopping == "usual":
            bound = self._plan.score(best, length)
            return np.asarray(bound <= self._score[slots, -1])
        longer = self._plan.length_penalty > 0
        reach = limits + 1 if longer else np.full_like(limits, length + 1)
        return np.asarray(self._plan.score(best, reach) <= self._score[slots, self._plan.n - 1])

    def results(self, prefixes: list[tuple[int, ...]]) -> list[list[Found]]:
        """Of each slot its best hypotheses, the best first."""
        n = self._plan.n
        rows = np.arange(len(self._score))[:, None]
        step, at = self._step[:, :n].copy(), self._parent[:, :n].copy()
        pieces = np.zeros((*step.shape, len(self._links)), dtype=np.int64)
        for number in reversed(range(len(self._links))):
            parent, piece = self._links[number]
            inside = step > number
            pieces[..., number] = np.where(inside, piece[rows, at], 0)
            at = np.where(inside, parent[rows, at], at)
        return [
            [
                Found(
                    (*prefix, *pieces[slot, rank, : step[slot, rank]].tolist()),
                    float(self._total[slot, rank]),
                    float(self._score[slot, rank]),
                )
                for rank in range(n)
                if np.isfinite(self._score[slot, rank])
            ]
            for slot, prefix in enumerate(prefixes)
        ]
