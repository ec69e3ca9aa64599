"""Second iterations start where the first ones ended; appendix E by one command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.methods.bmx.invented import P, W, flat, invented, judged

import gnomon as gn
from gnomon import bmx
from gnomon.cli import main
from gnomon.core.errors import UsageError
from gnomon.methods.bmx._experiments import Experiment, Grids


def test_second_iterations_are_found_by_their_spec_and_start_where_the_first_ended() -> None:
    first = invented(40)
    grids = bmx.search([first])
    means = bmx.power_means(first.values, first.offsets, [-0.3]).means[0]
    boosted = bmx.combine(first.score, means, 0.6)
    spec = "bmx(bleu, explainer='erasure', p=-0.3, w=0.6)"
    named = Experiment("made up", "erasure", spec, "de-en")
    second = bmx.Explained(named, boosted, first.values[::-1].copy(), first.offsets, first.human)
    rows = bmx.tune([first, second], splits=0, resamples=20).table("iterations").rows
    assert [row["metric"] for row in rows] == [spec]
    assert rows[0]["difference"] < 1e-9
    row, column = np.searchsorted(grids.p, -0.3), np.searchsorted(grids.w, 0.6)
    assert rows[0]["first"] == grids.correlations[0, row, column]


def test_a_second_iteration_without_correlation_is_counted_nowhere() -> None:
    spec = "bmx(chrf, explainer='lime', p=-0.3, w=0.6)"
    names = [Experiment("old", "lime", metric, "de-en") for metric in ("chrf", spec)]
    undefined = np.full((len(P), len(W)), np.nan)
    grids = Grids(tuple(names), P, W, np.array([flat(0.5), undefined]))
    found = bmx.tune(grids, resamples=0)
    (row,) = found.table("iterations").rows
    assert (row["first"], row["again"], row["best"]) == (0.4, None, None)
    assert "Second iterations" not in " ".join(found.notices)


@pytest.fixture(scope="module")
def expected(shared: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((shared / "oracles/bmx/expected.json").read_text())
    return told


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
