"""The figures of BMX from the published grids have the published numbers.

Everything expected is read from oracles/bmx/expected.json, which was computed without gnomon.
"""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

_SCRIPT = Path(__file__).resolve().parents[2] / "papers" / "bmx" / "grid_figures.py"
_THEIRS = {"marginalisation": "input_marginalization"}


@pytest.fixture(scope="module")
def expected(shared: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((shared / "oracles/bmx/expected.json").read_text())
    return told


@pytest.fixture
def rows(shared: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """What a figure prints of the grids in double precision, or of all, in single precision."""

    def ask(figure: str, file: str = "corr_grid_float64.npz") -> list[dict[str, str]]:
        runpy.run_path(str(_SCRIPT))["main"]([figure, str(shared / "oracles/bmx" / file)])
        header, *lines = (
            line.split("\t") for line in capsys.readouterr().out.rstrip("\n").split("\n")
        )
        return [dict(zip(header, line, strict=True)) for line in lines]

    return ask


def test_medians_of_the_best_settings(rows: Any, expected: dict[str, Any]) -> None:
    for row in rows("5"):
        theirs = _THEIRS.get(row["explainer"], row["explainer"])
        best, improving = expected["median_best"], expected["median_best_improving_only"]
        assert (float(row["median w"]), float(row["median p"])) == tuple(best[theirs].values())
        wanted = improving[theirs]
        assert float(row["w where improving"]) == wanted["w"]
        assert float(row["p where improving"]) == wanted["p"]
        assert int(row["not improving"]) == wanted["settings_not_improving"]


def test_better_and_worse_at_the_medians(rows: Any, expected: dict[str, Any]) -> None:
    for row in rows("6"):
        wanted = expected["fixed_at_median"][_THEIRS.get(row["explainer"], row["explainer"])]
        assert [int(row[name]) for name in ("better", "between", "worse")] == [
            wanted["better"],
            wanted["between"],
            wanted["worse_or_equal"],
        ]


def test_gain_and_base(rows: Any, expected: dict[str, Any]) -> None:
    (row,) = rows("relation")
    wanted = expected["pearson_of_gain_and_base"]
    assert float(row["Pearson(C1 - C0, C0)"]) == pytest.approx(wanted["value"], abs=1e-6)
    assert int(row["n"]) == wanted["n"]


@pytest.mark.parametrize("figure", ["9", "10"])
def test_gains_on_what_was_held_back(rows: Any, expected: dict[str, Any], figure: str) -> None:
    found = {(row["dataset"], row["explainer"]): row for row in rows(figure)}
    for theirs, wanted in expected["wmt22"].items():
        ours = {name: one for one, name in _THEIRS.items()}.get(theirs, theirs)
        row = found["wmt_22_test_sets", ours]
        assert (int(row["improved"]), int(row["n"])) == (wanted["improved"], wanted["n"])
        assert float(row["largest gain"]) == pytest.approx(wanted["max_gain"], abs=1e-6)
        assert [row["language pair"], row["metric"]] == wanted["at"]
        assert float(row["base"]) == pytest.approx(wanted["base"], abs=1e-6)
        assert float(row["boosted"]) == pytest.approx(wanted["combined"], abs=1e-6)
    mqm, wanted = found["mqm21", "lime"], expected["mqm21_lime"]
    assert (int(mqm["improved"]), int(mqm["n"])) == (wanted["improved"], wanted["n"])
    assert float(mqm["largest gain"]) == pytest.approx(wanted["max_gain"], abs=1e-6)


def test_second_iterations_start_where_the_first_ended(rows: Any, expected: dict[str, Any]) -> None:
    found = rows("E", "corr_grid.npz")
    assert len(found) == 8
    by_name = {(row["metric"], row["language pair"]): row for row in found}
    for case in expected["second_iteration"]["values"]:
        row = by_name[case["metric"], case["lp"]]
        first = case["iteration1_at_p_minus_0_3_w_0_6"]
        assert float(row["second at w = 1"]) == pytest.approx(case["iteration2_at_w1"], abs=1e-6)
        assert float(row["first"]) == pytest.approx(first, abs=1e-6)
    again = [float(row["second at the same p and w"]) > float(row["first"]) for row in found]
    assert sum(again) == 1


@pytest.mark.parametrize(
    ("figure", "best"), [("3", (2.2, 0.8, -0.0018)), ("11", (-5.2, 0.4, 0.0162))]
)
def test_curves_are_highest_where_the_page_says(
    rows: Any, figure: str, best: tuple[float, float, float]
) -> None:
    (row,) = rows(figure, "corr_grid.npz")
    assert (float(row["p"]), float(row["w"]), round(float(row["gain"]), 4)) == best


def test_coefficients_of_a_factor_add_up_to_nothing(rows: Any) -> None:
    found = rows("8")
    for factor in {row["factor"] for row in found}:
        total = sum(float(row["value"]) for row in found if row["factor"] == factor)
        assert total == pytest.approx(0, abs=1e-6)
