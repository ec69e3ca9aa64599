"""Metrics of which it is known what they see: what is said of them is true."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gnomon.core.minimal_pairs import Pair
from gnomon.stress.detection import stress_pairs
from gnomon.stress.figures import StressRow, stress_rows
from gnomon.stress.outcomes import Outcomes, PairGroups, ScoredPairs

KINDS = 8
WANTED = 0.8


def planted(pairs: int, documents: int = 0) -> list[Pair]:
    """Pairs of eight kinds of errors, of as many sentences each."""
    return [
        Pair(
            good=f"good {kind} {n}",
            bad=f"bad {kind} {n}",
            phenomenon=f"kind {kind}",
            references=("reference",),
            document=f"{n * documents // pairs}" if documents else "",
        )
        for kind in range(KINDS)
        for n in range(pairs)
    ]


def rows_of(metric: object, pairs: int = 200) -> list[StressRow]:
    rows = stress_pairs(planted(pairs), metric).records(StressRow)  # type: ignore[arg-type]  # a function
    return [row for row in rows if not row.control]


def test_a_constant_metric_is_blind_everywhere() -> None:
    rows = rows_of(lambda _candidate, _reference: 1.0)
    assert [(row.status, row.detected, row.ties) for row in rows] == [("blind", 0, 1)] * KINDS


def test_random_numbers_see_nothing() -> None:
    def chance(candidate: str, _reference: str) -> float:
        return random.Random(candidate).random()

    assert {row.status for row in rows_of(chance)} == {"misses"}
    assert "detects" not in {row.status for row in rows_of(chance, 30)}


def test_a_metric_that_knows_the_better_text_sees_all() -> None:
    rows = rows_of(lambda candidate, _reference: float(candidate.startswith("good")))
    assert [(row.status, row.detected) for row in rows] == [("detects", 1)] * KINDS


def noisy(
    draw: np.random.Generator, pairs: int, share: float, documents: int, alike: float
) -> tuple[ScoredPairs, float]:
    """A metric that sees a share of all pairs, which differs from document to document."""
    groups = PairGroups.from_pairs(planted(pairs, documents))
    chance = np.full(len(groups.pairs), share)
    if documents:
        spread = 1 / alike - 1
        of_document = draw.beta(share * spread, (1 - share) * spread, documents)
        chance = of_document[groups.clusters]
    drops = np.where(draw.random(len(chance)) < chance, 1.0, -1.0)
    outcome = Outcomes(drops, np.zeros(len(drops)), 1e-6)
    return ScoredPairs(groups, {"noisy": outcome}, (), {"noisy": 1}), share


def simulated(
    runs: int, pairs: int, share: float = WANTED, documents: int = 0, alike: float = 0.05
) -> tuple[float, float]:
    """How often intervals cover, and how often any row of a run says something false."""
    draw = np.random.default_rng(pairs + documents)
    covered, false = 0, 0
    for _ in range(runs):
        scored, truth = noisy(draw, pairs, share, documents, alike)
        rows = list(stress_rows(scored, wanted=WANTED, confidence=0.95))
        ends = [row.ends("detected") for row in rows]
        covered += sum((low or 0.0) <= truth <= (high or 1.0) for low, high in ends)
        # a share that is the one asked for is neither too small nor to be told from it
        false += any(row.status in ("detects", "misses", "blind") for row in rows)
    return covered / (runs * KINDS), false / runs


@pytest.mark.parametrize("documents", [pytest.param(0, marks=pytest.mark.verify), 40])
def test_noise_of_a_known_size_is_covered(documents: int) -> None:
    covered, false = simulated(60, 120, documents=documents)
    assert covered >= 0.97  # intervals are at the level of a row among all
    assert false <= 0.12  # of 60 runs: 5 in 100 are seven at most in 99 of 100 cases


@pytest.mark.verify
@pytest.mark.parametrize(
    ("pairs", "documents"), [(60, 0), (200, 0), (500, 0), (200, 20), (400, 40)]
)
def test_noise_is_covered_and_seldom_decided(pairs: int, documents: int) -> None:
    covered, false = simulated(2000, pairs, documents=documents)
    assert covered >= 0.97
    assert false <= 0.05 + 0.01  # what 2,000 runs can tell
