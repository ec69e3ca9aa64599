"""How often what is said of judges calls noise a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.noise import is_mostly_undecided

import gnomon as gn
from gnomon.core.errors import DataError
from gnomon.core.findings import Finding
from gnomon.core.records import table
from gnomon.core.scores import Preferences
from gnomon.core.signature import Signature
from gnomon.judges import fit_calibration, predict_left_out
from gnomon.judges.agreement import JudgeAgreement
from gnomon.judges.calibration_rows import CalibrationRow
from gnomon.judges.calibration_verdict import calibration_verdict
from gnomon.judges.human_scale import CalibrationSample, calibration_rows
from gnomon.judges.injections import INJECTIONS
from gnomon.judges.reliability_rows import ReliabilityRow, injection_rows
from gnomon.judges.reliability_verdict import reliability_summary

if TYPE_CHECKING:
    from gnomon.messages import Message

DRAWS = [20, pytest.param(1000, marks=pytest.mark.verify)]


def is_undecided(told: list[Message]) -> bool:
    return not any(one.level == "finding" for one in told)


@pytest.mark.parametrize("draws", DRAWS)
def test_noise_of_a_judge_is_no_preference(draws: int) -> None:
    """A judge of 60 pairs, of which a third are ties, answers at random."""
    undecided = 0
    for seed in range(draws):
        choices = np.random.default_rng(seed).choice(["first", "second", "tie"], (60, 2, 1))
        worth = {"first": 1.0, "tie": 0.5, "second": 0.0}
        gains = [worth[one] - worth[two] for one, two in choices[:, :, 0].tolist()]
        values = np.zeros((2, 2, 60))
        values[0, 1], values[1, 0] = gains, np.negative(gains)
        texts = [f"text {n}" for n in range(60)]
        judged = gn.Scores(
            "judge",
            ("a", "b"),
            values[:, ::-1].mean(axis=(1, 2)),
            values.sum(axis=1),
            True,
            Signature("judge"),
            preferences=Preferences(values, graded=False),
        )
        testset = gn.TestSet.from_lists({"a": texts, "b": texts}, texts)
        found = gn.compare(testset, judged, examples=0, ngrams=0)
        undecided += is_undecided([*found.verdict])
    assert is_mostly_undecided(undecided, draws)


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize("items", [10, 30])
def test_noise_of_a_judge_is_not_flattery(items: int, draws: int) -> None:
    """Scores of 0 to 100 in steps of 5, whatever stands behind the candidates."""
    undecided = 0
    for seed in range(draws):
        draw = np.random.default_rng(seed)
        scores = 5.0 * draw.binomial(20, 0.8, (2 + len(INJECTIONS), items))
        rows = [*injection_rows("judge", scores, 0.95)]
        made = table("reliability", "", ReliabilityRow, rows)
        found = Finding("judges reliability", "", (made,), {"judge": "judge"})
        undecided += is_undecided([*reliability_summary(found)])
    assert is_mostly_undecided(undecided, draws)


@pytest.mark.parametrize("draws", DRAWS)
def test_judges_with_equal_noise_stand_on_one_level(draws: int) -> None:
    """Three judges of 40 segments of two systems, who see one truth; some say nothing of some."""
    levels = 0
    for seed in range(draws):
        draw = np.random.default_rng(seed)
        scores = draw.normal(50, 10, (2, 40)) + draw.normal(0, 8, (3, 2, 40))
        scores[draw.random(scores.shape) < 0.02] = np.nan
        made = JudgeAgreement(scores, 0.95)
        levels += any(level.decided for *_, level in made.pairs())
    assert is_mostly_undecided(draws - levels, draws)


def calibrated(seed: int, documents: np.ndarray | None) -> list[Message]:
    """A judge and people who know nothing of each other; people judge documents whole."""
    draw = np.random.default_rng(seed)
    of = np.arange(60) // 3
    x, y = (draw.normal(50, 20, 20)[of] + draw.normal(0, 10, 60) for _ in range(2))
    left_out = predict_left_out(x, y)
    try:
        fitted = fit_calibration(x, y)
    except DataError:  # people's scores fall as the judge's rise
        fitted = None
    sample = CalibrationSample("judge", "esa", x, y, left_out, fitted, documents)
    made = list(calibration_rows([sample], 0.95))
    rows = table("calibration", "", CalibrationRow, made, confidence=0.95)
    return [*calibration_verdict(Finding("judges calibrate", "", (rows,), {}))]


@pytest.mark.parametrize("draws", DRAWS)
def test_noise_of_people_is_not_nearer_on_their_scale(draws: int) -> None:
    documents = np.array([f"d{n // 3}" for n in range(60)])
    better = sum(
        any(one.params.get("way") == "nearer" for one in found if one.level == "finding")
        for found in (calibrated(seed, documents) for seed in range(draws))
    )
    assert is_mostly_undecided(draws - better, draws)
