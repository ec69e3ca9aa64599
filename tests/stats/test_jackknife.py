"""The jackknife over documents: the shared figures, closed forms, and how often it covers."""

from __future__ import annotations

import csv
import json
import math
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats as scipy_stats

from gnomon.stats.jackknife import (
    Jackknife,
    design_effect,
    effective_documents,
    jackknife,
    jackknife_test,
)
from gnomon.stats.student import upper_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _mean(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(sums[..., 0] / sums[..., 1])


def _of_mean(differences: NDArray[np.float64], documents: NDArray[np.int64]) -> Jackknife:
    return jackknife_test(
        np.stack([differences, np.ones(len(differences))], axis=1), documents, _mean
    )


def _judged(folder: Path, systems: list[str]) -> tuple[NDArray[np.float64], list[str]]:
    """Mean scores of the items that all systems have [systems, items], and the items' documents."""
    cells: dict[tuple[str, str], list[float]] = defaultdict(list)
    with (folder / "documents.tsv").open(encoding="utf-8") as file:
        documents = [line.rstrip("\n").split("\t")[-1] for line in file][1:]  # a heading
    with (folder / "esa.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.reader(file):
            system, line, kind, score = row[1], row[2], row[3], row[6]
            if kind == "TGT" and system in systems:
                cells[system, line].append(float(score))
    lines = {line for _, line in cells}
    items = sorted(line for line in lines if all((name, line) in cells for name in systems))
    scores = [[np.mean(cells[name, line]) for line in items] for name in systems]
    return np.array(scores), [documents[int(line)] for line in items]


@pytest.mark.parametrize("lp", ["en-cs", "en-ja"])
def test_errors_and_design_effects_of_judgements_are_the_known_ones(shared: Path, lp: str) -> None:
    known = json.loads((shared / f"oracles/people/oracle_wmt24.{lp}.json").read_text())
    scores, documents = _judged(shared / f"data/wmt24/{lp}", known["systems"])
    _, which = np.unique(documents, return_inverse=True)
    assert scores.shape[1] == known["items"]
    for names, wanted in known["pairs"].items():
        first, second = (known["systems"].index(name) for name in names.split(" - "))
        differences = scores[first] - scores[second]
        found = _of_mean(differences, which)
        assert float(found.estimate) == pytest.approx(wanted["difference"], rel=1e-6)
        assert float(found.error) == pytest.approx(wanted["se_documents"], rel=1e-6)
        assert design_effect(differences, which) == pytest.approx(wanted["design_effect"], rel=1e-6)


def test_equal_documents_of_one_segment_give_students_test() -> None:
    values = np.random.default_rng(1).normal(0.2, 1, 40)
    found = _of_mean(values, np.arange(40))
    wanted = scipy_stats.ttest_1samp(values, 0.0)
    interval = wanted.confidence_interval(0.95)
    assert found.df == 39
    assert float(found.p) == pytest.approx(wanted.pvalue, rel=1e-9)
    assert (float(found.low), float(found.high)) == pytest.approx(tuple(interval), rel=1e-9)


def test_few_documents_have_no_interval() -> None:
    found = _of_mean(np.random.default_rng(1).normal(size=56), np.arange(56) // 4)
    assert found.documents == 14
    assert np.isfinite(found.error)
    assert np.isnan([found.low, found.high, found.p]).all()


def test_what_does_not_vary_is_certain() -> None:
    found = _of_mean(np.full(60, 2.5), np.arange(60) // 3)
    assert (float(found.low), float(found.high), float(found.p)) == (2.5, 2.5, 0.0)
    assert float(_of_mean(np.zeros(60), np.arange(60) // 3).p) == 1.0


def test_a_statistic_that_is_undefined_without_a_document_has_no_interval() -> None:
    left = np.full(20, 1.0)
    left[3] = np.nan
    found = jackknife(1.0, left, np.ones(20))
    assert np.isnan([found.error, found.low, found.p]).all()


def test_unequal_documents_count_as_fewer() -> None:
    assert effective_documents([10, 1, 1]) == pytest.approx(144 / 102)


def test_independent_segments_have_a_design_effect_of_one() -> None:
    draws = np.random.default_rng(2)
    found = [design_effect(draws.normal(size=200), np.arange(200) // 5) for _ in range(200)]
    assert np.mean(found) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("tries", [250, pytest.param(1000, marks=pytest.mark.verify)])
@pytest.mark.parametrize("documents", [15, 30, 60])
def test_intervals_cover_as_often_as_they_say(documents: int, tries: int) -> None:
    draws, covered = np.random.default_rng(3), 0
    for _ in range(tries):
        sizes = draws.integers(1, 8, documents)
        which = np.repeat(np.arange(documents), sizes)
        values = draws.normal(size=documents)[which] + draws.normal(size=len(which))
        found = _of_mean(values, which)
        covered += bool(found.low <= 0 <= found.high)
    # three deviations, and what the interval may be off itself
    room = 3 * math.sqrt(0.95 * 0.05 / tries) + 0.004
    assert abs(covered / tries - 0.95) <= room


def test_strata_count_what_varies_within_them() -> None:
    draw = np.random.default_rng(5)
    first, second = draw.normal(0, 1, 20), draw.normal(50, 2, 30)
    values = np.concatenate([first, second])
    without = (values.sum() - values) / 49
    strata = np.repeat([0, 1], [20, 30])
    found = jackknife(values.mean(), without, np.ones(50), strata=strata)
    # of a stratified mean: each stratum's sum varies with its own variance
    wanted = sum(len(part) ** 2 * part.var(ddof=1) / len(part) for part in (first, second)) / 50**2
    assert float(found.error) ** 2 == pytest.approx(wanted, rel=0.1)
    assert found.df == 48
    plain = jackknife(values.mean(), without, np.ones(50))
    assert float(found.error) < 0.1 * float(plain.error)


def test_documents_that_nobody_judged_add_no_freedom() -> None:
    values = np.random.default_rng(7).normal(size=14)
    without = np.concatenate([(values.sum() - values) / 13, np.full(30, values.mean())])
    found = jackknife(values.mean(), without, np.repeat([1.0, 0.0], [14, 30]))
    assert (found.documents, found.df) == (14, 13)
    assert np.isnan(found.low)


def test_a_stratum_of_one_document_leaves_the_error_unknown() -> None:
    values = np.random.default_rng(9).normal(3, 1, 21)
    without = (values.sum() - values) / 20
    found = jackknife(values.mean(), without, np.ones(21), strata=[0] * 20 + [1])
    assert np.isnan([found.error, found.low, found.high, found.p]).all()
    assert np.isnan(found.ends(np.array(0.05))).all()
    # a second document that nobody judged says nothing of how much the stratum varies
    left, judged = np.append(without, values.mean()), np.append(np.ones(21), 0)
    assert np.isnan(jackknife(values.mean(), left, judged, strata=[0] * 20 + [1, 1]).p)
    # and a stratum in which nobody judged takes no part
    assert np.isfinite(jackknife(values.mean(), left, judged, strata=[0] * 21 + [1]).p)


@pytest.mark.parametrize("df", [0.0, 0.5])
def test_no_degree_of_freedom_gives_no_interval_of_any_width(df: float) -> None:
    assert math.isnan(upper_quantile(0.025, df))
    found = Jackknife(*(np.array([x]) for x in (1.0, 0.2, 0.9, 1.1, 0.01)), df, 20)
    assert np.isnan(found.ends(np.array([0.05]))).all()


def test_ends_of_each_level_are_students() -> None:
    found = jackknife(2.0, 2.0 + np.tile([0.1, -0.1], 10), np.ones(20))
    # 19/20 of the sum of 20 squares of .1: .19; t of 19 degrees: 2.0930 and 2.8609
    assert float(found.error) == pytest.approx(math.sqrt(0.19))
    low, high = found.ends(np.array([0.05, 0.01]))
    assert (high - 2.0) / math.sqrt(0.19) == pytest.approx([2.0930, 2.8609], abs=1e-4)
    assert low == pytest.approx(4.0 - high)
