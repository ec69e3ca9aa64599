"""Small test sets with human scores, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gnomon import Scores, TestSet
from gnomon.core.human import HumanScores, Ranking
from gnomon.core.signature import Signature

SYSTEMS = ("a", "b", "c", "d", "e", "f")


def contest(
    human: np.ndarray,
    systems: Sequence[str] = SYSTEMS,
    *,
    pair: str | None = "de-en",
    texts: Sequence[str] | None = None,
    rows: Sequence[tuple[int, str, str]] = (),
    level: str = "segment",
    name: str = "set",
) -> TestSet:
    """A test set of human scores [K, N] of the systems; outputs of some length."""
    count = human.shape[1] if level == "segment" else 20
    outputs = {
        one: ["w " * (1 + (i * 7 + k) % 5) for i in range(count)]
        for k, one in enumerate(texts if texts is not None else systems)
    }
    made = TestSet.from_lists(
        outputs, [f"r {i % 4} {i}" for i in range(count)], language_pair=pair, name=name
    )
    judged = HumanScores("da", level, tuple(systems), human)
    rankings = (Ranking("darr", tuple(rows)),) if rows else ()
    return replace(made, human=(judged,), rankings=rankings)


def scores(
    segments: np.ndarray,
    systems: Sequence[str] = SYSTEMS,
    name: str = "m",
    *,
    higher_is_better: bool = True,
    system: np.ndarray | None = None,
) -> Scores:
    """Scores [K, N] of the systems; system scores are their means unless given."""
    means = np.nanmean(segments, axis=1) if system is None else system
    return Scores(name, tuple(systems), means, segments, higher_is_better, Signature(name))


def drawn(seed: int, shape: tuple[int, int] = (6, 20), digits: int | None = None) -> np.ndarray:
    """Human scores, better from system to system."""
    values = np.random.default_rng(seed).normal(size=shape) + np.linspace(1, 0, shape[0])[:, None]
    return values if digits is None else np.round(values, digits)


def noisy(human: np.ndarray, seed: int, noise: float = 1.0) -> np.ndarray:
    """A metric: what people said, and noise."""
    return human + noise * np.random.default_rng([seed, 1]).normal(size=human.shape)
