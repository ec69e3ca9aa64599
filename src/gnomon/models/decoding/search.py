"""Beam search over a batch: hypotheses as arrays, texts that are done leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DataError, ScoringError
from gnomon.models._cache_names import cache_argument, output_cache
from gnomon.models.decoding.requests import Continuations, FinishedTarget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.models.decoding.constrained_search import Allocation
    from gnomon.models.decoding.requests import Request, SearchPlan
    from gnomon.models.seq2seq import Seq2Seq

__all__ = ["Steps", "best_entries", "normaliser", "padded", "search"]


# Hypotheses that are finished, and how each of them came about.


class FinishedTargets:
    """The best finished hypotheses of each slot.

    Hypotheses are kept as links to the one that they continue; pieces are read off at the end.
    """

    def __init__(self, slots: int, plan: SearchPlan, begun: int) -> None:
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

    def finish(self, slots: NDArray[np.int64], ended: Continuations, length: int) -> None:
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

    def link(self, slots: NDArray[np.int64], kept: Continuations) -> None:
        """Note which hypotheses were continued, and with what."""
        parent, piece = np.zeros_like(self._parent), np.zeros_like(self._parent)
        parent[slots], piece[slots] = kept.parent, kept.piece
        self._links.append((parent, piece))

    def is_settled(
        self, slots: NDArray[np.int64], best: NDArray[np.float64], limits: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """True where no unfinished hypothesis can change the results."""
        length = len(self._links) + self._begun
        longer = self._plan.length_penalty > 0
        reach = limits + 1 if longer else np.full_like(limits, length + 1)
        return np.asarray(self._plan.score(best, reach) <= self._score[slots, self._plan.n - 1])

    def results(self, prefixes: list[tuple[int, ...]]) -> list[list[FinishedTarget]]:
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
                FinishedTarget(
                    (*prefix, *pieces[slot, rank, : step[slot, rank]].tolist()),
                    float(self._total[slot, rank]),
                    float(self._score[slot, rank]),
                )
                for rank in range(n)
                if np.isfinite(self._score[slot, rank])
            ]
            for slot, prefix in enumerate(prefixes)
        ]


# The best continuations of many hypotheses.


#: entries of a block, of which the best one is compared first
_BLOCK = 64


def best_entries(scores: Any, count: int) -> tuple[Any, Any]:
    """The highest entries of each row, highest first; as ``torch.topk``, faster in long rows.

    The ``count`` highest entries of a row lie in the ``count`` blocks whose maxima are highest, so
    that only these are sorted. Equal entries come in an order that torch leaves open.
    """
    import torch

    size = scores.shape[1]
    count = min(count, size)
    blocks = size // _BLOCK
    if blocks < 2 * count:
        top = torch.topk(scores, count)
        return top.values, top.indices
    whole = blocks * _BLOCK
    table = scores[:, :whole].view(-1, _BLOCK, blocks)
    columns = torch.topk(table.amax(dim=1), count).indices
    inner = torch.gather(table, 2, columns[:, None, :].expand(-1, _BLOCK, -1)).flatten(1)
    firsts = torch.arange(_BLOCK, device=scores.device)[None, :, None] * blocks
    places = (columns[:, None, :] + firsts).flatten(1)
    rest = torch.arange(whole, size, device=scores.device).expand(len(scores), -1)
    some = torch.topk(torch.cat([inner, scores[:, whole:]], dim=1), count)
    return some.values, torch.cat([places, rest], dim=1).gather(1, some.indices)


# The forward pass of a model, piece after piece, with its keys and values kept.


#: what helps a model that breaks down in a precision
_HELP = {"fp16": "take precision fp32 or bf16", "bf16": "take precision fp32"}


def padded(rows: Sequence[Sequence[int]], fill: int) -> NDArray[np.int64]:
    """Rows of unequal length as a matrix, filled up at their ends.

    >>> padded([[1], [2, 3]], 0).tolist()
    [[1, 0], [2, 3]]
    """
    matrix = np.full((len(rows), max(map(len, rows), default=0)), fill, dtype=np.int64)
    for number, row in enumerate(rows):
        matrix[number, : len(row)] = row
    return matrix


def normaliser(model: Seq2Seq, logits: Any) -> Any:
    """Normaliser that turns logits into log-probabilities when taken from them [..., 1]."""
    normalisers = logits.logsumexp(-1, keepdim=True)
    if not bool(normalisers.isfinite().all()):
        raise ScoringError(
            f"the model {model.folder.name!r} in {model.precision} gives no probabilities: some of"
            " its numbers are infinite or undefined;"
            f" {_HELP.get(model.precision, 'its weights are damaged, take another copy of it')}"
        )
    return normalisers


class Steps:
    """The decoder's state for the rows of a batch: one row per hypothesis.

    The encoder runs once per text. Keys and values of the target's own pieces follow the
    hypotheses; those of the source are the same for all hypotheses of a text, and move only when
    texts leave the batch.
    """

    def __init__(self, model: Seq2Seq, sources: Sequence[Sequence[int]]) -> None:
        import torch

        self._model = model
        ids = torch.as_tensor(padded(sources, model.pad), device=model.device)
        lengths = torch.tensor([[len(row)] for row in sources], device=model.device)
        mask = (torch.arange(ids.shape[1], device=model.device) < lengths).long()
        self._encoded = model.model.get_encoder()(input_ids=ids, attention_mask=mask)
        self._mask: Any = mask
        self._cache: Any = None
        model.encoded += len(sources)

    def logits(self, pieces: NDArray[np.int64]) -> Any:
        """Logits after some pieces, which are added to the rows."""
        import torch

        output = self._model.model(
            encoder_outputs=self._encoded,
            attention_mask=self._mask,
            decoder_input_ids=torch.as_tensor(pieces, device=self._model.device),
            **cache_argument(self._model.model, self._cache),
        )
        self._cache = output_cache(output)
        if not hasattr(self._cache, "cross_attention_cache"):
            raise DataError(
                f"model {self._model.folder.name!r} keeps no keys and values of source and target"
                " apart, as encoder-decoder models of transformers 5 do (Marian, BART, T5, ...)"
            )
        self._model.steps += 1
        return output.logits.float()

    def prefix_scores(self, logits: Any, prefixes: Sequence[Sequence[int]]) -> NDArray[np.float64]:
        """Log-probabilities of prefixes [rows], from the logits of the decoder's start and them."""
        import torch

        asked = torch.tensor(prefixes, dtype=torch.long, device=logits.device)
        given = logits[:, len(self._model.start) - 1 : -1]
        each = given.gather(2, asked[..., None]) - normaliser(self._model, given)
        scores: NDArray[np.float64] = each.double().sum((1, 2)).cpu().numpy()
        return scores

    def repeat(self, times: int) -> None:
        """Give every row so many copies, side by side."""
        count = int(self._mask.shape[0])
        self._select_all(np.repeat(np.arange(count), times))

    def follow(self, rows: NDArray[np.int64], *, texts_left: bool) -> None:
        """Take other rows, in this order."""
        if texts_left:
            self._select_all(rows)
        elif not np.array_equal(rows, np.arange(len(rows))):
            _select(self._cache.self_attention_cache, self._index(rows))

    def _select_all(self, rows: NDArray[np.int64]) -> None:
        index = self._index(rows)
        self._mask = self._mask.index_select(0, index)
        hidden = self._encoded.last_hidden_state
        self._encoded.last_hidden_state = hidden.index_select(0, index)
        _select(self._cache.self_attention_cache, index)
        _select(self._cache.cross_attention_cache, index)

    def _index(self, rows: NDArray[np.int64]) -> Any:
        import torch

        return torch.as_tensor(rows, device=self._model.device)


def _select(cache: Any, index: Any) -> None:
    for layer in cache.layers:
        layer.keys = layer.keys.index_select(0, index)
        layer.values = layer.values.index_select(0, index)


# The continuations of all hypotheses, with their probabilities.


class ScoredContinuations:
    """Log-probabilities of all continuations of some hypotheses."""

    def __init__(
        self,
        model: Seq2Seq,
        plan: SearchPlan,
        logits: Any,
        total: NDArray[np.float64],
        position: int,
    ) -> None:
        import torch

        self._plan, self._end = plan, model.end
        self._logits, self._before = logits, total
        self._norm = normaliser(model, logits)
        before = torch.as_tensor(total.reshape(-1, 1), device=logits.device).float()
        self._scores = logits + (before - self._norm)
        self._scores[:, model.silent_at(position)] = -torch.inf

    def end_only(self, slots: NDArray[np.bool_]) -> None:
        """Let the hypotheses of some slots only end."""
        import torch

        if not slots.any():
            return
        rows = torch.as_tensor(np.repeat(slots, self._plan.beam), device=self._scores.device)
        end = self._scores[rows, self._end]
        self._scores[rows] = -torch.inf
        self._scores[rows, self._end] = end

    def best(self, going_on: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The best continuations of each slot, twice as many as the beam is wide."""
        beam, size = self._plan.beam, self._scores.shape[1]
        if self._plan.groups > 1:
            places = self._group_by_group(going_on)
        else:
            places = best_entries(self._scores.view(-1, beam * size), 2 * beam)[1]
        flat = places.cpu().numpy()
        return flat // size, flat % size

    def best_of_each(self) -> NDArray[np.int64]:
        """The best continuation of each hypothesis [S, beam, 1]."""
        best: NDArray[np.int64] = self._scores.argmax(-1).cpu().numpy()
        return best.reshape(-1, self._plan.beam, 1)

    def totals(self, parent: NDArray[np.int64], piece: NDArray[np.int64]) -> NDArray[np.float64]:
        """Log-probabilities [S, M] summed in double precision; -inf for what is not allowed."""
        import torch

        first = np.arange(len(parent))[:, None] * self._plan.beam
        rows = torch.as_tensor(first + parent, device=self._scores.device)
        columns = torch.as_tensor(np.maximum(piece, 0), device=self._scores.device)
        step = self._logits[rows, columns].double() - self._norm[rows, 0].double()
        step[self._scores[rows, columns].isneginf()] = -torch.inf
        steps: NDArray[np.float64] = step.cpu().numpy()
        steps[piece < 0] = -np.inf
        return steps + np.take_along_axis(self._before, parent, axis=1)

    def _group_by_group(self, going_on: NDArray[np.bool_]) -> Any:
        """Of each slot the best, where a group pays for the pieces that earlier groups took."""
        import torch

        groups, beam, size = self._plan.groups, self._plan.beam, self._scores.shape[1]
        table = self._scores.view(-1, groups, beam, size)
        taken = torch.zeros((len(table), size), device=table.device)
        counts = torch.as_tensor(going_on.reshape(-1, groups), device=table.device)
        chosen = []
        for group in range(groups):
            priced = table[:, group] - self._plan.strength * taken[:, None]
            values, places = best_entries(priced.flatten(1), 2 * beam)
            chosen.append(places)
            pieces = places % size
            kept = (pieces != self._end) & values.isfinite()
            kept &= (kept.cumsum(1) <= beam) & counts[:, group, None]
            taken.scatter_add_(1, pieces, kept.float())
        return torch.stack(chosen, dim=1).flatten(0, 1)


def search(
    model: Seq2Seq,
    requests: Sequence[Request],
    plan: SearchPlan,
    allocation: Allocation | None = None,
) -> list[list[FinishedTarget]]:
    """Search for the best targets of a batch, whose prefixes are of one length.

    A slot is a group of a text; slot s of B texts in G groups belongs to text s // G.
    """
    run = _BatchSearch(model, requests, plan, allocation)
    while len(run.slots):
        run.step()
    prefixes = [request.prefix for request in requests for _ in range(plan.groups)]
    return run.pool.results(prefixes)


class _BatchSearch:
    """A search under way."""

    def __init__(
        self,
        model: Seq2Seq,
        requests: Sequence[Request],
        plan: SearchPlan,
        allocation: Allocation | None,
    ) -> None:
        count, copies = len(requests) * plan.groups, plan.groups * plan.beam
        self._model, self._plan, self._allocation = model, plan, allocation
        self._steps = Steps(model, [request.source for request in requests])
        self._length = len(requests[0].prefix)
        self._limits = np.repeat([request.limit for request in requests], plan.groups)
        self._done = np.zeros(count, dtype=bool)
        self.slots = np.arange(count)
        self.pool = FinishedTargets(count, plan, self._length)
        logits = self._steps.logits(
            np.array([[*model.start, *request.prefix] for request in requests])
        )
        before = self._steps.prefix_scores(logits, [request.prefix for request in requests])
        self._total = np.full((count, plan.beam), -np.inf)
        self._total[:, 0] = np.repeat(before, plan.groups)
        self._state = np.zeros((count, plan.beam), dtype=np.int64)
        if allocation is not None:
            self._state += allocation.first[:, None]
        last = logits[:, -1].repeat_interleave(copies, 0)
        self._scored = ScoredContinuations(model, plan, last, self._total, self._length)
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

    def _options(self) -> Continuations:
        left = self._limits[self.slots] - self._length
        self._scored.end_only(left <= 0)
        parent, piece = self._scored.best(~self._done[self.slots])
        if self._allocation is None:
            total = self._scored.totals(parent, piece)
            return Continuations(parent, piece, total, np.zeros_like(parent))
        extra = self._allocation.wanted(self._state)
        parent, piece = _joined(parent, piece, [extra, self._scored.best_of_each()])
        total = self._scored.totals(parent, piece)
        state = np.take_along_axis(self._state, parent, axis=1)
        return self._allocation.ordered(
            self.slots, Continuations(parent, piece, total, state), left, self._plan.beam
        )

    def _finish(self, options: Continuations, ends: NDArray[np.bool_]) -> None:
        """Ends among the first options of a slot, as many as the beam is wide, are finished."""
        beam = self._plan.beam
        total = np.where(ends, options.total, -np.inf)[:, :beam]
        total[self._done[self.slots]] = -np.inf
        ended = Continuations(options.parent[:, :beam], options.piece[:, :beam], total, total)
        self.pool.finish(self.slots, ended, self._length + 1)

    def _move(self, kept: Continuations) -> None:
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
            self._scored = ScoredContinuations(
                self._model, self._plan, logits[:, -1], self._total, self._length
            )


def _unfinished(options: Continuations, ends: NDArray[np.bool_], beam: int) -> Continuations:
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
