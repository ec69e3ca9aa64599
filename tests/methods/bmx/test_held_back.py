"""Settings on data that had no part in their choice; densities and boxes of whole grids."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import gaussian_kde
from tests.methods.bmx.invented import control_of, invented

import gnomon as gn
from gnomon import bmx
from gnomon.cli import main
from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.core.human import HumanScores
from gnomon.methods.bmx._experiments import Experiment, Grids
from gnomon.report import write_html

P, W = np.array([-1.4, -1.0, -0.3, 0.0, 1.0]), np.array([0.0, 0.4, 0.6, 1.0])


def grids_of(cells: dict[tuple[str, str, str], np.ndarray]) -> Grids:
    """Grids by data, explainer and language pair; their metric is chrf."""
    named = [Experiment(data, explainer, "chrf", pair) for data, explainer, pair in cells]
    return Grids(tuple(named), P, W, np.array(list(cells.values())))


def flat(base: float, **points: float) -> np.ndarray:
    """The same correlation everywhere but at some points, ``"row_column"`` -> gain."""
    found = np.full((len(P), len(W)), base - 0.1)
    found[:, -1] = base
    for place, gain in points.items():
        row, column = map(int, place[1:].split("_"))
        found[row, column] = base + gain
    return found


@pytest.fixture
def made() -> Grids:
    return grids_of(
        {
            ("old", "lime", "de-en"): flat(0.5, _2_1=0.02),
            ("old", "lime", "cs-en"): flat(0.4, _2_1=0.04, _0_1=0.01),
            ("new", "lime", "de-en"): flat(0.3, _2_1=0.05, _0_1=-0.01, _3_2=0.2),
            ("new", "lime", "fi-en"): flat(0.2, _2_1=-0.01, _0_1=0.03, _3_2=0.2),
            ("old", "random", "de-en"): flat(0.5, _1_1=0.01),
            ("old", "random", "cs-en"): flat(0.4, _1_1=0.01),
            ("new", "random", "de-en"): flat(0.3, _1_1=0.02),
            ("new", "random", "fi-en"): flat(0.2, _1_1=-0.02),
        }
    )


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


def test_kernels_of_many_gains_are_summed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    from gnomon.methods.bmx import _outcomes

    gains = np.random.default_rng(1).normal(size=1000)
    whole = _outcomes.densities({"x": gains})["x"].density
    monkeypatch.setattr(_outcomes, "_KERNELS", 64)
    parts = _outcomes.densities({"x": gains})["x"].density
    np.testing.assert_allclose(parts, whole, rtol=1e-12)


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


def test_appendix_e_is_one_command(
    shared: Path, expected: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(shared / "oracles/bmx/corr_grid.npz")
    only = ["--only", "dataset=eval4_nlp_21_test", "sides=both", "explainer=erasure"]
    command = ["bmx", "tune", "--grids", file, *only, "--second-iteration", "--resamples", "0"]
    assert main([*command, "-f", "json"]) == 0
    tables = json.loads(capsys.readouterr().out)
    named = tables.get("tables", tables)
    assert len(named["iterations"]) == 8
    found = {(row["boosts"], row["language_pair"]): row for row in named["iterations"]}
    for case in expected["second_iteration"]["values"]:
        row = found[case["metric"], case["lp"]]
        assert row["second"] == pytest.approx(case["iteration2_at_w1"], abs=1e-6)
        assert row["first"] == pytest.approx(case["iteration1_at_p_minus_0_3_w_0_6"], abs=1e-6)
        assert row["difference"] < 1e-6
        assert row["best"] >= row["again"]
    assert not any("bmx(" in row["metric"] for row in named["experiments"])  # set apart


def judged() -> gn.TestSet:
    draw = np.random.default_rng(3)
    words = ["the", "old", "cat", "sat", "on", "mat", "dog", "ran"]
    texts = [[" ".join(draw.choice(words, 4)) for _ in range(10)] for _ in range(3)]
    made = gn.TestSet.from_lists({"a": texts[0], "b": texts[1]}, texts[2], language_pair="de-en")
    people = HumanScores("da", "segment", ("a", "b"), draw.random((2, 10)))
    return replace(made, human=(people,), name="made up")


def test_a_second_iteration_of_a_test_set_starts_where_the_first_ended() -> None:
    options: dict[str, Any] = {"resamples": 0, "splits": 0, "curves": 0}
    found = bmx.tune(judged(), "chrf", ["erasure"], second_iteration=True, **options)
    (row,) = found.table("iterations").rows
    assert row["boosts"] == "chrf"
    assert row["second"] == pytest.approx(row["first"], abs=1e-12)
    assert "Second iterations, at the p and w of the first again" in " ".join(found.notices)
    twice = bmx.Bmx(gn.metrics.parse("chrf"), explainer="erasure", p=(-0.3, -0.3), w=(0.6, 0.6))
    ts = judged()
    scores = gn.score(ts, twice).segments.ravel()
    r = np.corrcoef(scores, ts.human_scores("da").ravel())[0, 1]
    assert row["again"] == pytest.approx(r, abs=1e-9)
    assert {one["metric"] for one in found.table("experiments").rows} == {"chrf"}
    given = bmx.tune(judged(), "chrf", "erasure", second_iteration=True, fixed=(1, 0.8), **options)
    assert "p=1.0, w=0.8" in given.table("iterations").rows[0]["metric"]


def test_a_second_iteration_needs_a_setting_and_is_estimated_before_it_begins() -> None:
    with pytest.raises(UsageError, match="no p and w are published for explainer 'match'"):
        bmx.tune(judged(), "chrf", [_Mine()], second_iteration=True)
    with pytest.raises(UsageError, match=r"takes up to \d+ metric calls, more than the 300"):
        bmx.tune(judged(), "chrf", "erasure", second_iteration=True, max_calls=300)


class _Mine:
    """An explainer whose name is not among the published ones."""

    name = "match"
    spec = "match"
    blind = True

    def bind(self, testset: object, bound: object) -> object:  # noqa: ARG002
        return self


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
