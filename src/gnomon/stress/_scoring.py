"""Scores of the texts of minimal pairs, and of random controls."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.signature import Signature
from gnomon.core.testset import TestSet
from gnomon.metrics.scoring import bind, signature_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.core.minimal_pairs import Pair
    from gnomon.messages import Message
    from gnomon.metrics.base import AnyMetric

_RANDOM, _LENGTH, _NEAREST = "random scores", "candidate length", "nearest length"


class PairScores(NamedTuple):
    """Scores of pairs under one metric.

    - ``metric``: its name.
    - ``scores``: of better and worse texts, higher is better, [2, pairs]; NaN where there is none.
    - ``sign``: -1 for error rates, whose scores are turned.
    - ``signature``: how to make them again.
    - ``notices``: what a reader should know.
    - ``reference_free``: whether the metric reads no references.
    """

    metric: str
    scores: NDArray[np.float64]
    sign: int
    signature: Signature
    notices: tuple[Message, ...]
    reference_free: bool = False


def score_pairs(pairs: Sequence[Pair], metric: AnyMetric, *, allow_code: bool) -> PairScores:
    """Score the texts of pairs, each language pair by itself."""
    scores = np.full((2, len(pairs)), np.nan)
    by_language: dict[str | None, list[int]] = {}
    for number, pair in enumerate(pairs):
        by_language.setdefault(pair.language_pair, []).append(number)
    name, sign, signature, reference_free = "", 1, Signature("", gnomon=""), False
    notices: list[Message] = []
    for language_pair, numbers in by_language.items():
        testset = _pair_systems([pairs[n] for n in numbers], language_pair)
        name, bound = bind(testset, metric, allow_code=allow_code)  # type: ignore[arg-type]  # no scores
        batch = testset.batch()
        reference_free = "references" not in bound.needs
        sign = 1 if bound.higher_is_better else -1
        scores[:, numbers] = sign * bound.segments(batch)
        signature = signature_of(bound, batch)
        notices += bound.notices(batch)
    return PairScores(name, scores, sign, signature, tuple(notices), reference_free)


def _pair_systems(pairs: Sequence[Pair], language_pair: str | None) -> TestSet:
    """Better and worse texts as two systems."""
    sources = [pair.source for pair in pairs]
    known = [text for text in sources if text is not None]
    return TestSet.from_lists(
        {"good": [pair.good for pair in pairs], "bad": [pair.bad for pair in pairs]},
        [list(pair.references) for pair in pairs],
        sources=known if len(known) == len(pairs) else None,
        language_pair=language_pair,
    )


def control_scores(
    pairs: Sequence[Pair], seed: int
) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Random scores and lengths, of better and worse texts."""
    draws = np.random.default_rng(seed).random((2, len(pairs)))
    good = np.array([len(pair.good) for pair in pairs], dtype=np.float64)
    bad = np.array([len(pair.bad) for pair in pairs], dtype=np.float64)
    controls = {_RANDOM: (draws[0], draws[1]), _LENGTH: (good, bad)}
    if any(pair.references for pair in pairs):
        reference = np.array(
            [len(pair.references[0]) if pair.references else np.nan for pair in pairs]
        )
        controls[_NEAREST] = (-abs(good - reference), -abs(bad - reference))
    return controls
