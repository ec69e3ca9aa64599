"""On judgements of WMT, draws are what the page on evidence says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scripts.draw_evidence import SETS, judged, measure

import gnomon as gn

if TYPE_CHECKING:
    from pathlib import Path

DRAWS = 150


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), SETS[:2])
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
