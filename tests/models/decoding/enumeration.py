"""Every target of a tiny model with its log-probability: what a search must find."""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gnomon.models.decoding import log_probabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.models import Seq2Seq


@lru_cache(maxsize=64)
def every_target(model: Seq2Seq, text: str, limit: int) -> dict[tuple[int, ...], float]:
    """All targets of at most so many pieces that the model may produce, with log-probabilities.

    A sentence code stands at the beginning or not at all.
    """
    firsts = [int(piece) for piece in np.flatnonzero(~model.silent) if piece != model.end]
    others = [piece for piece in firsts if piece not in model.codes.values()]
    targets: list[tuple[int, ...]] = [()]
    for length in range(limit):
        targets += itertools.product(firsts, *[others] * length)
    found = log_probabilities(model, [text] * len(targets), targets)
    return dict(zip(targets, found.tolist(), strict=True))


def occurrences(phrase: Sequence[int], target: Sequence[int]) -> int:
    """At how many places of a target a phrase begins."""
    size = len(phrase)
    return sum(list(target[at : at + size]) == list(phrase) for at in range(len(target) - size + 1))


def holds(target: Sequence[int], phrases: Sequence[Sequence[int]]) -> bool:
    """Whether a target holds all phrases, each as often as it is asked for."""
    asked = [tuple(phrase) for phrase in phrases]
    return all(occurrences(phrase, target) >= asked.count(phrase) for phrase in asked)
