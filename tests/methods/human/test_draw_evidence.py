"""On judgements of WMT, draws are what the page on evidence says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scripts.draw_evidence import SETS, judged, measure, measure_slopes, variances

import gnomon as gn

if TYPE_CHECKING:
    from pathlib import Path

DRAWS = 150


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind"), [SETS[0], pytest.param(*SETS[1], marks=pytest.mark.verify)]
)
def test_choosing_by_a_metric_does_not_pay_on_what_people_said(
    name: str, kind: str, shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    testset = judged(shared / "data" / name, kind)
    metric = gn.score(testset, "chrf").segments
    measure(name, testset, testset.human_scores(kind), metric, "segment", 100, DRAWS)
    figures = {}
    for line in capsys.readouterr().out.splitlines():
        _, _, choice, *numbers = (cell.strip() for cell in line.strip("|").split("|"))
        figures[choice] = tuple(map(float, numbers))
    assert figures["at random"][2] >= 93  # of 100 intervals
    for choice in ("thirds by the metric", "weighted by the metric's spread"):
        over_all, _, covers = figures[choice]
        assert 0.93 <= over_all <= 1.1
        assert covers >= 92
    for choice in ("top-k by the metric's spread", "top-k by the metric's worst scores"):
        over_all, worst, covers = figures[choice]
        assert over_all > 1.5
        assert worst > 3
        assert covers < 85


def test_a_fixed_slope_leaves_the_variance_of_judgements_less_metric() -> None:
    human, metric = np.random.default_rng(1).normal(size=(2, 3, 50))
    found = variances(human, metric, np.arange(50), 1.0, np.ones(50))
    left = human - metric
    expected = [(left[a] - left[b]).var(ddof=1) / 50 for a, b in ((0, 1), (0, 2), (1, 2))]
    assert found == pytest.approx(expected, rel=1e-9)


def test_a_slope_of_1_costs_judgements_where_the_pooled_one_saves_some(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    testset = judged(shared / "data/wmt24/en-ja", "esa")
    metric = gn.score(testset, "chrf").segments
    measure_slopes("en-ja", testset, testset.human_scores("esa"), metric)
    rows = [line.strip("|").split("|") for line in capsys.readouterr().out.splitlines()]
    pooled, fixed, _ = ([int(cell.split()[0]) for cell in row[3:]] for row in rows)
    assert max(pooled) < 0
    assert fixed[0] > 5
    assert fixed[1] > 30
