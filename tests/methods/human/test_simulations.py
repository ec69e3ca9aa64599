"""What must hold of intervals, savings and plans: shortly here, at length under `verify`."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.methods.human.simulations import campaign_of, decided, frame_of, simulated, stopped
from tests.truth.campaigns import judged

from gnomon.human.estimates import estimates
from gnomon.human.protocols import pilot_of
from gnomon.stats.power import needed_units

_LIKE_WMT24 = {"leniency": 8.0, "together": 5.0, "noise": 14.0}
_CELLS = [
    {"documents": documents, "length": length, "raters": raters, "systems": systems} | variances
    for documents, length, raters, systems in (
        (15, 2, 6, 5),
        (15, (1, 8), 12, 5),
        (30, 1, 12, 5),
        (30, (1, 10), 20, 5),
        (60, 3, 30, 5),
        (60, (1, 6), 60, 12),
    )
    for variances in (
        {"leniency": 0.0, "together": 6.0, "noise": 18.0},
        {"leniency": 3.0, "together": 6.0, "noise": 18.0},
        _LIKE_WMT24,
        {"leniency": 12.0, "together": 6.0, "noise": 12.0},
    )
]


def test_intervals_over_documents_cover_and_those_over_segments_do_not() -> None:
    found = simulated(60, documents=30, length=(2, 10), raters=15, systems=4, **_LIKE_WMT24)
    assert 0.91 <= found.documents <= 0.985
    assert 0.91 <= found.raters <= 0.99
    assert found.segments < 0.88  # what computed over segments would fail here
    assert found.saved >= 0.2


def test_raters_that_do_not_differ_cost_little_unless_they_are_fixed_effects() -> None:
    cell = {"documents": 15, "length": 4, "raters": 12, "leniency": 0.0, "systems": 3}
    assert simulated(60, **cell).saved > -0.05
    assert simulated(60, ridge=0.0, **cell).saved < -0.2


def test_five_analyses_stop_early_where_systems_differ_clearly() -> None:
    stops = stopped(12, 12.0, analyses=5, at=(30, 60, 90, 120, 150))
    assert (stops > 0).all()
    assert (stops / 5).mean() <= 0.7


@pytest.mark.verify
@pytest.mark.parametrize("cell", _CELLS, ids=str)
def test_intervals_cover_and_raters_never_cost_much(cell: dict[str, object]) -> None:
    found = simulated(300, seed=1000, **cell)  # type: ignore[arg-type]
    assert 0.93 <= found.documents <= 0.97
    assert 0.93 <= found.raters <= 0.985
    assert found.saved >= -0.03
    if cell["leniency"] == 8.0 and cell["length"] != 1:
        assert found.saved >= (0.2 if cell["documents"] == 30 else 0.05)


@pytest.mark.verify
def test_five_analyses_call_equal_systems_different_as_often_as_one() -> None:
    stops = stopped(1000, 0.0, analyses=5, at=(30, 60, 90, 120, 150), seed=7)
    assert (stops > 0).mean() <= 0.07


@pytest.mark.verify
@pytest.mark.parametrize("adjust", [False, True])
def test_the_size_that_a_plan_gives_finds_the_difference_as_often_as_it_says(adjust: bool) -> None:
    planted = {"length": (1, 6), **_LIKE_WMT24}
    said = judged([0, 0, 0], documents=2000, raters=300, seed=1, **planted)  # type: ignore[arg-type]
    pilot = pilot_of(campaign_of(said, 3), "pilot")
    length = pilot.length or 1.0
    share = (pilot.adjusted or 0.0) if adjust else 1.0
    size = needed_units(
        3.0, math.sqrt(share * pilot.variance / length), df=lambda n: pilot.evenness * n - 1
    )
    assert size is not None
    raters = round(size * 3 * length / (pilot.each or 1.0))  # each judges as much as in the pilot
    found = []
    for number in range(500):
        said = judged([3, 0, 0], documents=size, raters=raters, seed=number, **planted)  # type: ignore[arg-type]
        campaign = campaign_of(said, 3)
        found.append(decided(estimates(campaign, frame_of(campaign), adjust=adjust)))
    assert np.mean(found) == pytest.approx(0.8, abs=0.04)
