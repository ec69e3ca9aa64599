"""Averages over tasks, as shared tasks take them and as a user weighs them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from tests.methods.metaeval.contests import contest as make
from tests.methods.metaeval.contests import drawn, noisy, scores
from tests.told import notes

import gnomon as gn
from gnomon import stats

NAMES = ("good", "poor")


@pytest.fixture
def three():
    """Three language pairs, people's scores of each, and two metrics."""
    people = [drawn(k, digits=1) for k in range(3)]
    sets = [make(h, pair=f"{x}-en") for h, x in zip(people, ("aa", "bb", "cc"), strict=True)]
    cells = {
        name: [noisy(h, 10 + k, noise) for k, h in enumerate(people)]
        for name, noise in zip(NAMES, (0.8, 3.0), strict=True)
    }
    return people, sets, cells


def overall(found) -> dict[str, float]:
    return {row["metric"]: row["average"] for row in found.table("overall").rows}


def test_wmt23_averages_ten_tasks_with_accuracy_counted_once_per_language_pair(three) -> None:
    people, sets, cells = three
    metrics = {name: [scores(m) for m in own] for name, own in cells.items()}
    found = gn.metaeval(sets, metrics, preset="wmt23", resamples=0)
    for name in NAMES:
        agreeing, pairs, rest = 0, 0, []
        for h, m in zip(people, cells[name], strict=True):
            a, b = h.mean(axis=1), m.mean(axis=1)
            upper = np.triu_indices(len(a), 1)
            signs = [np.sign(one[:, None] - one)[upper] for one in (a, b)]
            agreeing += int((signs[0] == signs[1]).sum())
            pairs += len(upper[0])
            rest.append((scipy.stats.pearsonr(a, b)[0] + 1) / 2)
            rest.append((scipy.stats.pearsonr(h.ravel(), m.ravel())[0] + 1) / 2)
            rest.append(stats.calibrate_ties(h, m, grouping="item").accuracy)
        expected = (3 * agreeing / pairs + sum(rest)) / 12
        assert overall(found)[name] == pytest.approx(expected)
    (row, _) = found.table("overall").rows
    assert (row["metric"], row["place"], row["tasks"]) == ("good", 1, 10)
    (said,) = [n for n in notes(found.notices) if n.startswith("average over tasks")]
    assert "pairwise accuracy, system level (0.250)" in said
    assert "Pearson, segment level, bb-en (0.083)" in said


def test_wmt24_averages_six_tasks_plainly(three) -> None:
    people, sets, cells = three
    metrics = {name: [scores(m) for m in own] for name, own in cells.items()}
    found = gn.metaeval(sets, metrics, preset="wmt24", resamples=0)
    for name in NAMES:
        parts = [
            value
            for h, m in zip(people, cells[name], strict=True)
            for value in (
                stats.spa(h, m, seed=4),
                stats.calibrate_ties(h, m, grouping="item").accuracy,
            )
        ]
        assert overall(found)[name] == pytest.approx(np.mean(parts))


def test_metrics_that_lack_a_task_have_no_average(three) -> None:
    _, sets, cells = three
    metrics = {
        "good": [scores(m) for m in cells["good"]],
        "few": [scores(cells["poor"][0]), None, None],
    }
    found = gn.metaeval(sets, metrics, preset="wmt24", resamples=0)
    assert list(overall(found)) == ["good"]


def test_each_kind_of_judgements_has_an_average_of_its_own(three) -> None:
    people, sets, cells = three
    (da,) = sets[0].human
    both = replace(sets[0], human=(da, replace(da, kind="mqm", values=people[1])))
    found = gn.metaeval(both, {"m": scores(cells["good"][0])}, preset="wmt24", resamples=0)
    rows = {row["human"]: row["average"] for row in found.table("overall").rows}
    assert list(rows) == ["da", "mqm"]
    alone = gn.metaeval(
        both, {"m": scores(cells["good"][0])}, preset="wmt24", resamples=0, human="mqm"
    )
    assert rows["mqm"] == overall(alone)["m"]


def test_no_average_is_made_unless_a_task_asks_for_one(three) -> None:
    _, sets, cells = three
    for options in ({}, {"preset": "wmt19"}, {"preset": "wmt22"}):
        found = gn.metaeval(sets[0], {"m": scores(cells["good"][0])}, resamples=0, **options)
        assert found.table("overall").rows == ()
