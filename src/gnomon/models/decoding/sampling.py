"""Targets that are drawn."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.core.errors import UsageError
from gnomon.models.decoding.beam_search import proposals
from gnomon.models.decoding.requests import FinishedTarget, answers, decode_unique, make_requests
from gnomon.models.decoding.search import Steps, normaliser

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.models.decoding.requests import Hypothesis, Request
    from gnomon.models.seq2seq import Seq2Seq

__all__ = ["sampled"]


#: pieces that are sorted first; where their probability does not suffice, all are
_MOST = 256


class _SamplingOptions(NamedTuple):
    """Options for drawing targets."""

    n: int
    top_p: float
    temperature: float
    seed: int


def sampled(
    model: Seq2Seq,
    texts: Sequence[str],
    *,
    n: int = 1,
    top_p: float = 0.8,
    temperature: float = 1.0,
    seed: int = 0,
    limit: int | None = None,
) -> list[list[Hypothesis]]:
    """Targets drawn piece by piece from the nucleus of the model's distribution.

    The nucleus is the smallest set of most probable pieces that together have a probability of at
    least ``top_p``; their probabilities are renormalised. At the limit targets end.

    Every draw has its own random numbers, which depend on the seed, the text and the number
    of the draw alone: the first three of five draws are those that n=3 gives, and neither
    other texts nor the size of batches matter (but for rounding, where a random number falls
    within it between two pieces).

    Args:
        model: what decodes.
        texts: the sources; equal texts get equal draws.
        n: draws per text; they may repeat.
        top_p: in (0, 1]; 1 draws from the whole distribution.
        temperature: above 0; logits are divided by it before the nucleus is taken.
        seed: any whole number from 0.
        limit: as for :func:`beam`.

    Returns:
        Of each text ``n`` hypotheses in the order of their draws, none of empty texts; their
        log-probabilities are those of the model, neither heated nor cut.

    Raises:
        UsageError: an option is out of its range.
        ScoringError: memory does not suffice for a single text, or the model gives no numbers.

    Source: Holtzman et al. (2020), The Curious Case of Neural Text Degeneration, ICLR, section 3.1.
    """
    if n < 1:
        raise UsageError(f"n={n} is no number of draws; it must be 1 or more")
    if not 0 < top_p <= 1:
        raise UsageError(f"the share of probability (top-p) lies in (0, 1]; got {top_p}")
    if not 0 < temperature < float("inf"):
        raise UsageError(f"temperature={temperature} must be above 0 and finite")
    if seed < 0:
        raise UsageError(f"seed={seed} must be 0 or more")
    options = _SamplingOptions(n, top_p, temperature, seed)
    requests = make_requests(model, texts, limit=limit)
    decode = partial(_draw_pieces, model, options)
    return decode_unique(requests, lambda distinct: answers(model, distinct, decode, rows=n))


def _draw_pieces(
    model: Seq2Seq, options: _SamplingOptions, batch: Sequence[Request]
) -> list[Sequence[Hypothesis]]:
    limits = np.repeat([request.limit for request in batch], options.n)
    numbers = _random_numbers(options, batch, int(limits.max()) + 1)
    steps = Steps(model, [request.source for request in batch])
    logits = steps.logits(np.tile(np.array(model.start), (len(batch), 1)))
    steps.repeat(options.n)
    logits = logits[:, -1].repeat_interleave(options.n, 0)
    pieces = np.full(numbers.shape, model.end)
    total = np.zeros(len(numbers))
    length = np.zeros(len(numbers), dtype=np.int64)
    rows = np.arange(len(numbers))  # those that are not finished
    for at in range(numbers.shape[1]):
        barred = model.silent_at(at)
        chosen, gain = _draw(model, options, logits, numbers[rows, at], limits[rows] <= at, barred)
        total[rows] += gain
        pieces[rows, at] = chosen
        on = chosen != model.end
        length[rows[on]] += 1
        rows = rows[on]
        if not len(rows):
            break
        steps.follow(np.flatnonzero(on), texts_left=not on.all())
        logits = steps.logits(chosen[on][:, None])[:, -1]
    return [_proposed(model, options, pieces, length, total, text) for text in range(len(batch))]


def _proposed(
    model: Seq2Seq,
    options: _SamplingOptions,
    pieces: NDArray[np.int64],
    length: NDArray[np.int64],
    total: NDArray[np.float64],
    text: int,
) -> list[Hypothesis]:
    targets = []
    for row in range(text * options.n, (text + 1) * options.n):
        size = int(length[row])
        target = tuple(pieces[row, :size].tolist())
        score = float(total[row]) / (size + 1)
        targets.append(FinishedTarget(target, float(total[row]), score))
    return proposals(model, targets)


def _random_numbers(
    options: _SamplingOptions, batch: Sequence[Request], count: int
) -> NDArray[np.float64]:
    """Of each draw its random numbers in [0, 1), [texts * n, count]."""
    numbers: list[NDArray[np.float64]] = []
    for request in batch:
        content = repr((request.source, request.prefix)).encode()
        digest = hashlib.blake2b(content, digest_size=16).digest()
        words = np.frombuffer(digest, dtype="<u4").tolist()
        seeds = ([options.seed, number, *words] for number in range(options.n))
        numbers.extend(np.random.default_rng(seed).random(count) for seed in seeds)
    return np.array(numbers)


def _draw(
    model: Seq2Seq,
    options: _SamplingOptions,
    logits: Any,
    numbers: NDArray[np.float64],
    over: NDArray[np.bool_],
    barred: Any,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """A piece per row and the model's log-probability of it."""
    import torch

    norm = normaliser(model, logits)[:, 0].double()
    heated = logits / options.temperature
    heated[:, barred] = -torch.inf
    chosen = _draw_in_nucleus(heated, options.top_p, torch.as_tensor(numbers, device=logits.device))
    chosen[torch.as_tensor(over, device=logits.device)] = model.end
    gain = logits.gather(1, chosen[:, None])[:, 0].double() - norm
    return chosen.cpu().numpy(), gain.cpu().numpy()


def _draw_in_nucleus(heated: Any, top_p: float, numbers: Any) -> Any:
    """The piece at which the cumulated probability of the nucleus passes a random number."""
    import torch

    size = heated.shape[1]
    norm = heated.logsumexp(-1, keepdim=True).double()
    for count in (min(_MOST, size), size):
        best = torch.topk(heated, count)
        each = (best.values.double() - norm).exp()
        passed = each.cumsum(1)
        if count == size or bool((passed[:, -1] >= top_p).all()):
            break
    inside = (passed - each < top_p) & (each > 0)
    mass = (each * inside).sum(1, keepdim=True)
    rank = (passed <= numbers[:, None] * mass).sum(1)
    last = inside.sum(1) - 1
    return best.indices.gather(1, torch.minimum(rank, last)[:, None])[:, 0]
