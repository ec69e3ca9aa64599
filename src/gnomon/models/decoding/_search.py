"""Beam search over a batch: hypotheses as arrays, texts that are done leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.models.decoding._plan import Options
from gnomon.models.decoding._pool import Pool
from gnomon.models.decoding._scored import Scored
from gnomon.models.decoding._steps import Steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.models.decoding._allocation import Allocation
    from gnomon.models.decoding._plan import Found, Plan
    from gnomon.models.decoding._requests import Request
    from gnomon.models.seq2seq import Seq2Seq

__all__ = ["search"]


def search(
    model: Seq2Seq, requests: Sequence[Request], plan: Plan, allocation: Allocation | None = None
) -> list[list[Found]]:
    """Search for the best targets of a batch, whose prefixes are of one length.

    A slot is a group of a text; slot s of B texts in G groups belongs to text s // G.

    Returns:
        Of each slot at most ``n`` targets, the best first.
    """
    run = _Run(model, requests, plan, allocation)
    while len(run.slots):
        run.step()
    prefixes = [request.prefix for request in requests for _ in range(plan.groups)]
    return run.pool.results(prefixes)


class _Run:
    """A search under way."""

    def __init__(
        self,
        model: Seq2Seq,
        requests: Sequence[Request],
        plan: Plan,
        allocation: Allocation | None,
    ) -> None:
        count, copies = len(requests) * plan.groups, plan.groups * plan.beam
        self._model, self._plan, self._allocation = model, plan, allocation
        self._steps = Steps(model, [request.source for request in requests])
        self._length = len(requests[0].prefix)
        self._limits = np.repeat([request.limit for request in requests], plan.groups)
        self._done = np.zeros(count, dtype=bool)
        self.slots = np.arange(count)
        self.pool = Pool(count, plan, self._length)
        logits = self._steps.logits(
            np.array([[*model.start, *request.prefix] for request in requests])
        )
        before = self._steps.prefix_scores(logits, [request.prefix for request in requests])
        self._total = np.full((count, plan.beam), -np.inf)
        self._total[:, 0] = np.repeat(before, plan.groups)
        self._state = np.zeros((count, plan.beam), dtype=np.int64)
        if allocation is not None:
            self._state += allocation.begin()[:, None]
        last = logits[:, -1].repeat_interleave(copies, 0)
        self._scored = Scored(model, plan, last, self._total, self._length)
        self._steps.repeat(copies)

    def step(self) -> None:
        """Make each hypothesis one piece longer; slots that are done leave."""
        options = self._options()
        ends = options.piece == self._model.end
        self._finish(options, ends)
        kept = _unfinished(options, ends, self._plan.beam)
        self.pool.link(self.slots, kept)
        self._length += 1
        best = kept.total.max(axis=1)
        settled = self.pool.is_settled(self.slots, best, self._limits[self.slots])
        self._done[self.slots] |= settled | np.isneginf(best)
        self._move(kept)

    def _options(self) -> Options:
        left = self._limits[self.slots] - self._length
        self._scored.end_only(left <= 0)
        parent, piece = self._scored.best(~self._done[self.slots])
        if self._allocation is None:
            total = self._scored.totals(parent, piece)
            return Options(parent, piece, total, np.zeros_like(parent))
        extra = self._allocation.wanted(self._state)
        parent, piece = _joined(parent, piece, [extra, self._scored.best_of_each()])
        total = self._scored.totals(parent, piece)
        state = np.take_along_axis(self._state, parent, axis=1)
        return self._allocation.ordered(
            self.slots, Options(parent, piece, total, state), left, self._plan.beam
        )

    def _finish(self, options: Options, ends: NDArray[np.bool_]) -> None:
        """Ends among the first options of a slot, as many as the beam is wide, are finished."""
        beam = self._plan.beam
        total = np.where(ends, options.total, -np.inf)[:, :beam]
        total[self._done[self.slots]] = -np.inf
        ended = Options(options.parent[:, :beam], options.piece[:, :beam], total, total)
        self.pool.finish(self.slots, ended, self._length + 1)

    def _move(self, kept: Options) -> None:
        """Compute what comes after the hypotheses that were kept, of the texts that are left."""
        groups, beam = self._plan.groups, self._plan.beam
        text_done = self._done[self.slots].reshape(-1, groups).all(axis=1)
        left = np.repeat(~text_done, groups)
        rows = (np.arange(len(self.slots))[:, None] * beam + kept.parent)[left].reshape(-1)
        self.slots = self.slots[left]
        self._total, self._state = kept.total[left], kept.state[left]
        if len(self.slots):
            self._steps.follow(rows, texts_left=bool(text_done.any()))
            logits = self._steps.logits(kept.piece[left].reshape(-1, 1))
            self._scored = Scored(self._model, self._plan, logits[:, -1], self._total, self._length)


def _unfinished(options: Options, ends: NDArray[np.bool_], beam: int) -> Options:
    """The first options that do not end, as many as the beam is wide; -inf where there are less."""
    order = np.argsort(ends, axis=1, kind="stable")[:, :beam]
    kept = options.take(order)
    lost = np.take_along_axis(ends, order, axis=1)
    kept = kept._replace(total=np.where(lost, -np.inf, kept.total))
    return kept.widened(beam)


def _joined(
    parent: NDArray[np.int64], piece: NDArray[np.int64], more: list[NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Options and some pieces more of each hypothesis [S, beam, A], -1 where there is none."""
    extra = np.concatenate(more, axis=2)
    whose = np.broadcast_to(np.arange(extra.shape[1])[:, None], extra.shape)
    flat = (len(extra), -1)
    return (
        np.concatenate([parent, whose.reshape(flat)], axis=1),
        np.concatenate([piece, extra.reshape(flat)], axis=1),
    )
