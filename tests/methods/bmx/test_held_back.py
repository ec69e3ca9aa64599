"""Settings on data that had no part in their choice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.methods.bmx.invented import control_of, grids_of_two_data_sets, invented, judged

from gnomon import bmx
from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.methods.bmx._experiments import Experiment, Grids
from gnomon.report import write_html


@pytest.fixture
def made() -> Grids:
    return grids_of_two_data_sets()


def test_held_back_gains_by_hand(made: Grids) -> None:
    found = bmx.tune(made, held_back={"dataset": "new"}, fixed=(0.0, 0.6), resamples=0)
    rows = {row["rule"]: row for row in found.table("held_back").rows}
    chosen = rows["largest-mean"]  # p = -0.3, w = 0.4 on the old data alone
    assert (chosen["p"], chosen["w"]) == (-0.3, 0.4)
    assert (chosen["improved"], chosen["n"]) == (1, 2)
    assert chosen["mean_gain"] == pytest.approx((0.05 - 0.01) / 2)
    assert chosen["largest"] == pytest.approx(0.05)
    assert (chosen["language_pair"], chosen["base"]) == ("de-en", 0.3)
    assert chosen["boosted"] == pytest.approx(0.35)
    # p of the random explainer is -1.0 at w = 0.4 on the old data: .32 and .18 on the new
    assert chosen["over_control"] == pytest.approx(((0.35 - 0.32) + (0.19 - 0.18)) / 2)
    published = rows["published"]
    assert (published["p"], published["w"], published["improved"]) == (-1.4, 0.4, 1)
    assert published["mean_gain"] == pytest.approx((-0.01 + 0.03) / 2)
    fixed = rows["fixed"]
    assert (fixed["p"], fixed["w"], fixed["improved"]) == (0.0, 0.6, 2)
    assert fixed["mean_gain"] == pytest.approx(0.2)
    # nothing of the new data is in the tables of what is chosen on
    assert {row["dataset"] for row in found.table("experiments").rows} == {"old"}
    each = found.table("held_back_experiments").rows
    assert {row["dataset"] for row in each} == {"new"}
    assert len(each) == 2 * len(rows)
    counted = found.table("held_back_counts").rows
    assert {row["rule"] for row in counted} == set(rows)


def test_a_fixed_setting_alone_is_judged_on_all(made: Grids) -> None:
    found = bmx.tune(made, fixed=(-0.3, 0.4), resamples=0)
    rows = [row for row in found.table("held_back").rows if row["rule"] == "fixed"]
    assert [(row["dataset"], row["improved"], row["n"]) for row in rows] == [
        ("old", 2, 2),
        ("new", 1, 2),
    ]
    assert len({row["name"] for row in found.table("experiments").rows}) == 4
    assert "held_back" not in [table.name for table in bmx.tune(made, resamples=0).tables]


def test_what_cannot_be_held_back_or_fixed_is_refused(made: Grids) -> None:
    with pytest.raises(DataError, match="all 4 experiments are held back"):
        bmx.tune(made, held_back={"explainer": "lime"})
    with pytest.raises(UnknownNameError, match="newer"):
        bmx.tune(made, held_back={"dataset": "newer"})
    with pytest.raises(UsageError, match=r"the grid has no point p = 0\.5, w = 0\.4"):
        bmx.tune(made, fixed=(0.5, 0.4))
    for fixed in ((0.5,), (0.5, 1.2), (1, 0.5, 0.5)):
        with pytest.raises(UsageError, match="fixed is p and w"):
            bmx.tune(made, fixed=fixed)


def test_held_back_test_sets_have_intervals_and_a_page(tmp_path: Path) -> None:
    made = []
    for seed, (data, pair) in enumerate(
        (data, pair) for data in ("old", "new") for pair in ("cs-en", "de-en", "fi-en")
    ):
        made.append(invented(40, seed, Experiment(data, "erasure", "chrf", pair)))
        made.append(control_of(made[-1]))
    found = bmx.tune(made, held_back={"dataset": "new"}, splits=0, resamples=50)
    row = found.table("held_back").rows[0]
    assert row["low"] <= row["mean_gain"] <= row["high"]
    assert all(r["low"] is not None for r in found.table("held_back_experiments").rows)
    write_html(tmp_path / "page.html", [found])


def test_the_scale_makes_the_control_count() -> None:
    large, small = (
        bmx.tune(judged(), "chrf", "erasure", resamples=0, splits=0, scale=scale)
        for scale in (1.0, 100.0)
    )
    assert "far larger" in " ".join(large.notices)
    assert "far larger" not in " ".join(small.notices)
    explained = [bmx.explained(judged(), "chrf", "erasure", scale=s) for s in (1.0, 100.0)]
    np.testing.assert_allclose(explained[0].score / 100, explained[1].score)
    np.testing.assert_allclose(explained[0].values / 100, explained[1].values, atol=1e-12)
    random = [bmx.explained(judged(), "chrf", "random", scale=s) for s in (1.0, 100.0)]
    np.testing.assert_array_equal(random[0].values, random[1].values)
