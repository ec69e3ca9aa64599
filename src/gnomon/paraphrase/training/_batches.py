"""Pairs as pieces, and batches of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.paraphrase.training._vocabulary import PAD, code_token

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.paraphrase.training._pairs import Pair

__all__ = ["Encoded", "batches", "encode", "padded"]


class Encoded(NamedTuple):
    """A pair as ids of pieces, each side with ``</s>``; a code is the first of the target."""

    source: list[int]
    target: list[int]


def encode(tokenizer: Any, pairs: Sequence[Pair]) -> list[Encoded]:
    """The pieces of both sides of each pair."""
    sources = tokenizer.encode_batch([pair.source for pair in pairs])
    targets = tokenizer.encode_batch([pair.target for pair in pairs])
    return [
        Encoded(
            source.ids,
            [*_code(tokenizer, pair), *target.ids],
        )
        for pair, source, target in zip(pairs, sources, targets, strict=True)
    ]


def batches(
    pairs: Sequence[Encoded], tokens: int, seed: Sequence[int] | None = None
) -> list[list[int]]:
    """Group pairs of about the same length.

    Args:
        pairs: the pairs.
        tokens: most pieces of a batch on either side, padding counted; a pair that is longer is a
            batch of its own.
        seed: of the order of batches, and of pairs of one length; None: by length.

    Returns:
        The numbers of the pairs of each batch.
    """
    lengths = np.array([(len(one.target), len(one.source)) for one in pairs]).reshape(-1, 2)
    rng = None if seed is None else np.random.default_rng(seed)
    ties = np.arange(len(pairs)) if rng is None else rng.permutation(len(pairs))
    found: list[list[int]] = []
    width = 0
    for number in np.lexsort((ties, lengths[:, 1], lengths[:, 0])).tolist():
        longest = int(lengths[number].max())
        width = max(width, longest)
        if not found or width * (len(found[-1]) + 1) > tokens:
            found.append([])
            width = longest
        found[-1].append(number)
    return found if rng is None else [found[i] for i in rng.permutation(len(found)).tolist()]


def padded(rows: Sequence[Sequence[int]], device: str) -> Any:
    """Rows of ids as one int64 tensor, filled with ``<pad>``."""
    import torch

    width = max(map(len, rows))
    filled = np.full((len(rows), width), PAD, dtype=np.int64)
    for number, row in enumerate(rows):
        filled[number, : len(row)] = row
    return torch.from_numpy(filled).to(device)


def _code(tokenizer: Any, pair: Pair) -> list[int]:
    return [] if pair.code is None else [tokenizer.token_to_id(code_token(pair.code))]
