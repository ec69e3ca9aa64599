"""Plans of campaigns: the shared figures, closed forms, refusals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from scipy import stats as scipy_stats
from tests.truth.campaigns import campaign

import gnomon as gn
from gnomon.core.errors import DataError, UsageError
from gnomon.human.campaign import campaigns
from gnomon.human.protocols import PROTOCOLS, pilot_of, pilot_of_protocol
from gnomon.messages.grammar import rounded

if TYPE_CHECKING:
    from pathlib import Path

_SETS = {"wmt24": "esa.csv", "wmt21": None, "wmt17": None}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.verify] * (name == "esa")) for name in PROTOCOLS],
)
def test_protocols_are_the_figures_of_the_sets_that_they_name(shared: Path, name: str) -> None:
    for known in PROTOCOLS[name]:
        place, pair = known.name.lower().split()
        testset = gn.TestSet.read(shared / "data" / place / pair)
        if _SETS[place]:
            testset = testset.with_human(shared / "data" / place / pair / str(_SETS[place]))
        (judged,) = campaigns(testset, [known.human])
        measured = pilot_of(judged, known.name)._asdict()
        if name == "mqm":  # documents are not known there
            measured |= {"design_effect": known.design_effect, "df": known.df}
        for field, value in known._asdict().items():
            wanted = pytest.approx(value, rel=2e-4) if isinstance(value, float) else value
            assert measured[field] == wanted, field


def test_two_points_of_wmt24_take_750_documents(shared: Path) -> None:
    folder = shared / "data/wmt24/en-cs"
    found = gn.human.plan(folder, difference=[2], human=str(folder / "esa.csv"))
    assert str(found.verdict[0]).startswith(
        "To see 2 points of ESA with a power of 80% takes about 750 documents, 2,6"
    )
    (basis,) = found.table("basis").rows
    assert basis["sd"] == pytest.approx(22.632550, abs=1e-6)
    assert basis["design_effect"] == pytest.approx(2.596471, abs=1e-6)
    assert found.table("basis").rows[0]["documents"] == 85


def test_documents_of_a_plan_have_the_power_that_was_asked_for() -> None:
    pilot = pilot_of_protocol("esa")
    found = gn.human.plan(protocol="esa", difference=[3], power=0.9)
    documents = int(str(found.rows[0]["documents"]))
    for n, enough in ((documents, True), (documents - 1, False)):
        df = pilot.evenness * n - 1
        law = scipy_stats.nct(df, 3 / math.sqrt(pilot.variance / (n * (pilot.length or 1))))
        t = scipy_stats.t.ppf(0.975, df)
        assert (law.sf(t) + law.cdf(-t) >= 0.9) == enough


def test_the_interval_is_that_of_the_variance() -> None:
    pilot = pilot_of_protocol("esa")
    low, high = pilot.ends(pilot.variance, 0.95)
    df = pilot.df
    assert low == pytest.approx(pilot.variance * df / scipy_stats.chi2.ppf(0.975, df), rel=2e-3)
    assert high == pytest.approx(pilot.variance * df / scipy_stats.chi2.ppf(0.025, df), rel=2e-3)
    row = gn.human.plan(protocol="esa", difference=[2]).rows[0]
    assert row["documents_low"] < row["documents"] < row["documents_high"]
    assert row["documents_high"] / row["documents"] == pytest.approx(
        high / pilot.variance, rel=0.02
    )


def test_more_systems_and_more_analyses_take_more() -> None:
    def documents(**asked: int) -> int:
        return int(str(gn.human.plan(protocol="esa", difference=[3], **asked).rows[0]["documents"]))

    plain = documents()
    assert documents(systems=6) > 1.5 * plain
    assert plain < documents(interim_analyses=5) < 1.1 * plain
    assert (
        gn.human.plan(protocol="esa", difference=[3], interim_analyses=5).rows[0]["expected"] < 0.85
    )


def test_one_rater_for_all_systems_takes_less() -> None:
    found = gn.human.plan(protocol="esa", difference=[2], same_rater=True)
    sizes = {row["design"]: row["documents"] for row in found}
    assert sizes["one rater for all systems"] < sizes["raters adjusted"] < sizes["as judged"]


@pytest.mark.parametrize("value", [0, -2, "two", float("nan"), float("inf")])
def test_what_is_no_difference_is_refused(value: object) -> None:
    with pytest.raises(UsageError, match="a number, above 0"):
        gn.human.plan(protocol="esa", difference=[value])


def test_a_plan_rests_on_a_campaign_or_a_protocol() -> None:
    with pytest.raises(UsageError, match="name what the plan rests on"):
        gn.human.plan(difference=[2])
    with pytest.raises(UsageError, match="not both"):
        gn.human.plan(campaign({"A": 1, "B": 2}), difference=[2], protocol="esa")
    with pytest.raises(UsageError, match="smallest difference that would matter"):
        gn.human.plan(protocol="esa")


def test_a_pilot_of_few_documents_is_refused() -> None:
    with pytest.raises(DataError, match="14 documents are too few to plan by"):
        gn.human.plan(campaign({"A": 1, "B": 2}, documents=14, length=4), difference=[2])


def test_a_plan_by_a_planted_campaign_finds_its_variances() -> None:
    testset = campaign({"A": 70, "B": 70, "C": 70}, documents=400, raters=60, together=6)
    (basis,) = gn.human.plan(testset, difference=[2]).table("basis").rows
    segments = 2 * (8**2 + 6**2 + 15**2)
    whole = segments + 2 * (4 - 1) * (8**2 + 6**2)
    assert basis["sd"] == pytest.approx(math.sqrt(segments), rel=0.05)
    assert basis["design_effect"] == pytest.approx(whole / segments, rel=0.1)
    left = (2 * 6**2 + 2 * 15**2 / 4) * 4 / whole
    assert basis["saved_same_rater"] == pytest.approx(1 - left, abs=0.07)


def test_rounded_numbers_keep_three_digits() -> None:
    assert [rounded(n) for n in (7, 88.4, 747, 2620.6, 12345)] == [7, 88, 750, 2620, 12300]
