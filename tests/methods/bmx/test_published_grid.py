"""Our analyses of the published result grids give the published numbers.

Everything expected is read from oracles/bmx/expected.json, which was computed without gnomon.
"""

import json
from typing import Any

import numpy as np
import pytest

from gnomon.bmx import (
    Experiment,
    Grids,
    choose,
    count_gains,
    gains_at,
    grid_setting,
    improving,
    read_grids,
)
from gnomon.bmx.choices import Counts, Setting
from gnomon.stats import pearson

OURS = {
    "erasure": "erasure",
    "lime": "lime",
    "shap": "shap",
    "input_marginalization": "marginalisation",
}
CHOSEN_ON = ("wmt17", "eval4_nlp_21_test", "wmt_22_expl_train")
explainers = pytest.mark.parametrize("theirs", OURS)


@pytest.fixture(scope="module")
def expected(shared) -> dict[str, Any]:
    return json.loads((shared / "oracles/bmx/expected.json").read_text())


@pytest.fixture(scope="module")
def full(shared) -> Grids:
    return read_grids(shared / "oracles/bmx/corr_grid_float64.npz")


@pytest.fixture(scope="module")
def single(shared) -> Grids:
    """All grids in single precision."""
    return read_grids(shared / "oracles/bmx/corr_grid.npz")


def settings_of(grids: Grids, expected: dict[str, Any], theirs: str, *datasets: str) -> Grids:
    """The grids that the published numbers are about, in the paper's order."""
    wanted = [
        Experiment(dataset, OURS[theirs], metric, pair)
        for dataset in datasets
        for pair in expected["settings"][dataset][0]
        for metric in expected["settings"][dataset][1]
    ]
    return grids.take([grids.experiments.index(one) for one in wanted])


def as_published(setting: Setting) -> dict[str, float]:
    return {"w": pytest.approx(setting.median_w), "p": pytest.approx(setting.median_p)}


def as_counted(found: Counts) -> dict[str, int]:
    return {
        "better": found.better,
        "worse_or_equal": found.worse,
        "between": found.between,
        "n": found.defined,
    }


@explainers
def test_medians_of_the_best_settings(full, expected, theirs):
    grids = settings_of(full, expected, theirs, *CHOSEN_ON)
    assert len(grids.experiments) == 68
    assert expected["median_best"][theirs] == as_published(choose(grids, "median"))


@explainers
def test_medians_over_improving_settings_alone(full, expected, theirs):
    grids = settings_of(full, expected, theirs, *CHOSEN_ON)
    wanted = dict(expected["median_best_improving_only"][theirs])
    improved = improving(grids)
    assert int((~improved).sum()) == wanted.pop("settings_not_improving")
    assert wanted == as_published(choose(grids.take(np.flatnonzero(improved))))


@explainers
def test_better_and_worse_at_the_medians(full, expected, theirs):
    grids = settings_of(full, expected, theirs, *CHOSEN_ON)
    found = count_gains(gains_at(grids, choose(grids)))
    assert as_counted(found) == expected["fixed_at_median"][theirs]


def test_the_median_of_shap_lies_between_two_exponents_and_the_lower_is_taken(full, expected):
    setting = choose(settings_of(full, expected, "shap", *CHOSEN_ON))
    assert (setting.median_p, setting.p) == (pytest.approx(-0.95), -1.0)


@explainers
def test_gains_on_wmt22_at_the_medians(full, expected, theirs):
    setting = choose(settings_of(full, expected, theirs, *CHOSEN_ON))
    unseen = settings_of(full, expected, theirs, "wmt_22_test_sets")
    gains, wanted = gains_at(unseen, setting), expected["wmt22"][theirs]
    most = int(gains.argmax())
    one = unseen.experiments[most]
    assert (int((gains > 0).sum()), len(gains)) == (wanted["improved"], wanted["n"])
    assert gains[most] == pytest.approx(wanted["max_gain"], abs=1e-6)
    assert [one.language_pair, one.metric] == wanted["at"]
    assert unseen.base[most] == pytest.approx(wanted["base"], abs=1e-6)


def test_lime_improves_all_settings_of_mqm(full, expected):
    setting = choose(settings_of(full, expected, "lime", *CHOSEN_ON))
    unseen = settings_of(full, expected, "lime", "mqm21")
    gains, wanted = gains_at(unseen, setting), expected["mqm21_lime"]
    assert (int((gains > 0).sum()), len(gains)) == (wanted["improved"], wanted["n"])
    assert gains.max() == pytest.approx(wanted["max_gain"], abs=1e-6)
    for row in wanted["values"]:
        place = unseen.experiments.index(Experiment("mqm21", "lime", row["metric"], row["lp"]))
        assert unseen.base[place] == pytest.approx(row["base"], abs=1e-6)
        assert unseen.base[place] + gains[place] == pytest.approx(row["combined"], abs=1e-6)


def test_correlation_of_gain_and_base(full, expected):
    gains, base = [], []
    for theirs in OURS:
        grids = settings_of(full, expected, theirs, *CHOSEN_ON)
        gains.append(gains_at(grids, choose(grids)))
        base.append(grids.base)
    wanted = expected["pearson_of_gain_and_base"]
    assert sum(map(len, gains)) == wanted["n"]
    assert pearson(np.concatenate(gains), np.concatenate(base)) == pytest.approx(
        wanted["value"], abs=1e-6
    )


def test_mean_gain_of_lime_by_data_set(full, expected):
    setting = choose(settings_of(full, expected, "lime", *CHOSEN_ON))
    for dataset, wanted in expected["lime_mean_gain_by_dataset"].items():
        grids = settings_of(full, expected, "lime", dataset)
        assert gains_at(grids, setting).mean() == pytest.approx(wanted, abs=1e-6)


def test_second_iterations_start_where_first_ones_ended(single, expected):
    cases = expected["second_iteration"]["values"]
    assert len(cases) == 8
    names = {
        "BERTSCORE_REF_FREE_XNLI": "Second_Iteration_Erasure",
        "XLMRSBERT": "Second_Iteration_Erasure_Lime",
    }
    data = ("eval4_nlp_21_test", "erasure")
    places = single.experiments.index
    first, second = (
        single.take([places(Experiment(*data, name(case["metric"]), case["lp"])) for case in cases])
        for name in (str, names.__getitem__)
    )
    ended = first.base + gains_at(first, grid_setting(first, -0.3, 0.6))
    assert np.abs(second.correlations[:, :, -1] - ended[:, None]).max() < 1e-6
    np.testing.assert_allclose(second.base, [case["iteration2_at_w1"] for case in cases], atol=1e-6)


def test_points_of_figure_3b(full, expected):
    wanted = expected["figure_3b_lime_xbertscore_et-en"]
    dataset, _, metric, pair = wanted["grid"].split("__")
    grid = full.correlations[full.experiments.index(Experiment(dataset, "lime", metric, pair))]
    for point in wanted["points"]:
        row, column = np.searchsorted(full.p, point["p"]), np.searchsorted(full.w, point["w"])
        assert grid[row, column] == pytest.approx(point["corr"], abs=1e-6)


def test_what_single_precision_flips(single, full, expected):
    """Rounding makes ties for the largest correlation, and turns gains below 1e-7 into 0."""
    flipped = expected["differences_with_float32_grid"]
    for theirs in OURS:
        grids = settings_of(single, expected, theirs, *CHOSEN_ON)
        setting = choose(grids)
        wanted = flipped["median_best"].get(theirs) or expected["median_best"][theirs]
        assert wanted == as_published(setting)
        published = choose(settings_of(full, expected, theirs, *CHOSEN_ON))
        wanted = flipped["fixed_at_median"].get(theirs) or expected["fixed_at_median"][theirs]
        assert as_counted(count_gains(gains_at(grids, published))) == wanted


@pytest.mark.parametrize(
    ("theirs", "flipped"),
    [
        ("erasure", []),
        ("lime", []),
        ("shap", ["wmt17 zh-en SentenceBLEU_REF_BASED shap"]),
        (
            "input_marginalization",
            [
                "wmt17 zh-en XMoverScore_No_Mapping marginalisation",
                "eval4_nlp_21_test et-en XMoverScore_No_Mapping marginalisation",
            ],
        ),
    ],
)
def test_gains_below_a_ten_millionth_become_ties_in_single_precision(
    single, full, expected, theirs, flipped
):
    grids = settings_of(full, expected, theirs, *CHOSEN_ON)
    setting = choose(grids)
    gains = gains_at(grids, setting)
    rounded = gains_at(settings_of(single, expected, theirs, *CHOSEN_ON), setting)
    tied = (gains > 0) & (rounded <= 0)
    assert [str(grids.experiments[i]) for i in np.flatnonzero(tied)] == flipped
    assert gains[tied].max(initial=0) < 1e-7
    assert not ((gains <= 0) & (rounded > 0)).any()


def test_the_exponents_are_tenths_and_zero_is_exact(full):
    assert full.p.tolist() == [k / 10 for k in range(-300, 300)]
    assert full.w.tolist() == [0, 0.2, 0.4, 0.6, 0.8, 1]
