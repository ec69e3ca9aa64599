"""Probabilities of targets that are given, and of sentence codes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.errors import DataError, LengthMismatchError, UsageError
from gnomon.models.decoding.requests import Request, answers, decode_unique
from gnomon.models.decoding.search import Steps, normaliser, padded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.models.seq2seq import Seq2Seq

__all__ = ["code_probabilities", "log_probabilities"]


def log_probabilities(
    model: Seq2Seq, texts: Sequence[str], targets: Sequence[str | Sequence[int]]
) -> NDArray[np.float64]:
    """The model's log-probability of each target given its text, by forced decoding.

    Args:
        model: what scores.
        texts: the sources; empty ones count as texts of ``</s>`` alone.
        targets: as many, as texts or as pieces (without ``</s>``); a target as pieces may begin
            with a sentence code.

    Returns:
        float64 [T], natural logarithms summed over the pieces and ``</s>``: what
        ``Hypothesis.log_probability`` is.

    Raises:
        LengthMismatchError: there are not as many targets as texts.
        UsageError: a target is longer than the model takes, or names a piece that there is not.
        ScoringError: memory does not suffice for a single text, or the model gives no numbers.
    """
    if len(targets) != len(texts):
        raise LengthMismatchError(
            f"{len(targets)} targets were given for {len(texts)} texts; give one per text"
        )
    rows = [model.target_pieces(t) if isinstance(t, str) else list(map(int, t)) for t in targets]
    _check_targets(model, rows)
    requests = [
        Request(tuple(source), target=tuple(row))
        for source, row in zip(model.pieces(texts), rows, strict=True)
    ]
    positions = len(model.start) + max(map(len, rows), default=0)
    decode = partial(_forced, model)
    scores = decode_unique(requests, lambda r: answers(model, r, decode, positions=positions))
    return np.array([score for (score,) in scores], dtype=np.float64)


def _check_targets(model: Seq2Seq, rows: Sequence[Sequence[int]]) -> None:
    for number, row in enumerate(rows, 1):
        if len(row) > model.limit:
            raise UsageError(
                f"target {number} has {len(row)} pieces, and {model.folder.name} takes at most"
                f" {model.limit}; shorten it"
            )
        if row and not 0 <= min(row) <= max(row) < model.size:
            raise UsageError(
                f"target {number} names pieces that {model.folder.name} does not have; they are"
                f" numbers from 0 to {model.size - 1}"
            )


def _forced(model: Seq2Seq, batch: Sequence[Request]) -> list[Sequence[float]]:
    import torch

    given = padded([[*model.start, *request.target] for request in batch], model.pad)
    asked = torch.as_tensor(padded([[*request.target, model.end] for request in batch], -1))
    asked = asked.to(model.device)
    logits = Steps(model, [request.source for request in batch]).logits(given)
    logits = logits[:, len(model.start) - 1 :]
    each = logits.gather(2, asked.clamp(min=0)[..., None]) - normaliser(model, logits)
    each = each[..., 0].masked_fill(asked < 0, 0.0)
    return [[float(score)] for score in each.double().sum(1).cpu()]


def code_probabilities(model: Seq2Seq, texts: Sequence[str]) -> NDArray[np.float64]:
    """Probability of each sentence code as the first piece of a target.

    Args:
        model: a model with codes.
        texts: the sources; each distinct one is read once.

    Returns:
        float64 [T, C] in the order of ``model.codes``, renormalised over the codes: rows sum to 1.

    Raises:
        DataError: the vocabulary of the model has no codes.
        ScoringError: memory does not suffice for a single text, or the model gives no numbers.

    Source: Shu, Nakayama and Cho (2019), Generating Diverse Translations with Sentence Codes, ACL,
    as Bawden et al. (2020) use it for paraphrases.
    """
    if not model.codes:
        raise DataError(
            f"model {model.folder.name!r} has no sentence codes in its vocabulary (pieces such as"
            " <code:0>); train it on targets that begin with them"
        )
    requests = [Request(tuple(source)) for source in model.pieces(texts)]
    decode = partial(_codes, model)
    probabilities = decode_unique(requests, lambda distinct: answers(model, distinct, decode))
    return np.array(probabilities, dtype=np.float64).reshape(len(texts), len(model.codes))


def _codes(model: Seq2Seq, batch: Sequence[Request]) -> list[Sequence[float]]:
    steps = Steps(model, [request.source for request in batch])
    logits = steps.logits(np.tile(np.array(model.start), (len(batch), 1)))[:, -1]
    normaliser(model, logits)  # refuses what is not finite
    chosen = logits[:, list(model.codes.values())].double().softmax(-1)
    return [*chosen.cpu().tolist()]
