"""Densities and boxes of whole grids; figures 9 to 11 by one command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import gaussian_kde
from tests.methods.bmx.invented import P, W, grids_of_two_data_sets

from gnomon import bmx
from gnomon.cli import main

if TYPE_CHECKING:
    from gnomon.methods.bmx._experiments import Grids


@pytest.fixture
def made() -> Grids:
    return grids_of_two_data_sets()


def test_densities_over_the_whole_grid_hold_all_points_and_the_control(made: Grids) -> None:
    scattered = np.random.default_rng(1).normal(0, 0.02, made.correlations.shape) * (W < 1)
    made = replace(made, correlations=made.correlations + scattered)
    rows = bmx.tune(made, resamples=0).table("grid_density").rows
    assert {row["level"] for row in rows if row["factor"] == "explainer"} == {"lime", "random"}
    for level in ("lime", "random"):
        mine = [r for r in rows if (r["factor"], r["level"]) == ("explainer", level)]
        gains = made.where(explainer=level).gains[..., :-1].ravel()  # w = 1 is the metric alone
        assert len(gains) == 4 * len(P) * (len(W) - 1)
        width = mine[0]["bandwidth"]
        kernel = gaussian_kde(gains, bw_method=width / gains.std(ddof=1))
        expected = kernel([row["gain"] for row in mine])
        np.testing.assert_allclose([row["density"] for row in mine], expected, rtol=1e-9)


def test_boxes_of_the_best_p_and_w_are_those_of_every_experiments_own_best(made: Grids) -> None:
    found = bmx.tune(made, resamples=0)
    best = [r for r in found.table("experiments").rows if r["rule"] == "best"]
    rows = {r["parameter"]: r for r in found.table("best_spread").rows if r["level"] == "lime"}
    for name in ("p", "w"):
        values = [row[name] for row in best]
        assert rows[name]["median"] == pytest.approx(np.median(values))
        low, high = np.percentile(values, [25, 75])
        assert (rows[name]["first_quartile"], rows[name]["third_quartile"]) == (low, high)
        assert rows[name]["n"] == 4


@pytest.fixture(scope="module")
def expected(shared: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((shared / "oracles/bmx/expected.json").read_text())
    return told


@pytest.mark.verify
def test_the_headline_is_one_command(
    shared: Path, expected: dict[str, Any], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Figures 9 to 11: settings of other data on WMT22 (5, 15, 11, 6 of 18) and MQM (4 of 4)."""
    file = str(shared / "oracles/bmx/corr_grid_float64.npz")
    command = ["bmx", "tune", "--grids", file, "--held-back", "dataset=wmt_22_test_sets,mqm21"]
    page = tmp_path / "page.html"
    assert main([*command, "--resamples", "0", "-f", "json", "--html", str(page)]) == 0
    tables = json.loads(capsys.readouterr().out)
    rows = tables["tables"]["held_back"] if "tables" in tables else tables["held_back"]
    ours = {"input_marginalization": "marginalisation"}
    for theirs, wanted in expected["wmt22"].items():
        named = (ours.get(theirs, theirs), "wmt_22_test_sets")
        by_rule = {r["rule"]: r for r in rows if (r["explainer"], r["dataset"]) == named}
        for rule in ("median", "published"):
            row = by_rule[rule]
            assert (row["improved"], row["n"]) == (wanted["improved"], wanted["n"])
            assert row["largest"] == pytest.approx(wanted["max_gain"], abs=1e-6)
            assert [row["language_pair"], row["metric"]] == wanted["at"]
            assert row["base"] == pytest.approx(wanted["base"], abs=1e-6)
            assert row["boosted"] == pytest.approx(wanted["combined"], abs=1e-6)
    (mqm,) = [r for r in rows if r["dataset"] == "mqm21" and r["rule"] == "median"]
    assert (mqm["improved"], mqm["n"]) == (4, 4)
    assert mqm["largest"] == pytest.approx(expected["mqm21_lime"]["max_gain"], abs=1e-6)
    shown = page.read_text(encoding="utf-8")
    for title in (
        "Density of gains over all p and w",
        "The best p and w of every experiment",
        "Density of gains on held-back data",
        "Held-back experiments improved and decreased",
        "Correlation over p on held-back data",
    ):
        assert title in shown
