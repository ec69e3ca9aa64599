"""How often chance is called agreement, and one of two equally good metrics the better one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.noise import is_mostly_undecided
from tests.told import notes
from tests.truth.worlds_metaeval import judged, metric, near, people
from tests.truth.worlds_spans import marked, missing

import gnomon as gn
from gnomon import stats

DRAWS = [20, pytest.param(1000, marks=pytest.mark.verify)]
ONE: dict[str, Any] = {"resamples": 200}
POOLED: dict[str, Any] = {"statistics": ["pearson"], "groupings": ["none"], "levels": ["segment"]}


def claims(human: np.ndarray, made: Any, documents: int | None = None, **options: Any) -> set[str]:
    said = gn.metaeval(judged(human, documents=documents), made, **{**ONE, **options}).verdict
    return {str(one.code).removeprefix("metaeval.") for one in said}


def by_document(draw: np.random.Generator, systems: int, documents: int, size: int) -> np.ndarray:
    """Scores of documents judged whole, whose segments move together."""
    shared = draw.normal(size=(systems, documents, 1))
    return np.asarray((shared + draw.normal(size=(systems, documents, size))).reshape(systems, -1))


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize(
    "segments", [3, 40, *(pytest.param(n, marks=pytest.mark.verify) for n in (20, 100))]
)
def test_human_scores_drawn_at_random_are_seldom_agreed_with(segments: int, draws: int) -> None:
    found = 0
    for seed in range(draws):
        human, made = (people(5, segments, seed=2 * seed + k, spread=0.0) for k in (0, 1))
        found += not {"agrees", "against"} & claims(human, metric(made, "m"), **POOLED)
    assert is_mostly_undecided(found, draws)


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize("systems", [3, pytest.param(5, marks=pytest.mark.verify), 10])
@pytest.mark.parametrize(
    "statistic",
    [
        "pearson",
        pytest.param("spearman", marks=pytest.mark.verify),
        pytest.param("kendall_b", marks=pytest.mark.verify),
    ],
)
def test_systems_in_random_order_are_seldom_agreed_with(
    statistic: str, systems: int, draws: int
) -> None:
    found = 0
    for seed in range(draws):
        human, made = (people(systems, 10, seed=2 * seed + k) for k in (0, 1))
        said = claims(human, metric(made, "m"), levels=["system"], statistics=[statistic])
        found += not {"agrees", "against"} & said
    assert is_mostly_undecided(found, draws)


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize("documents", [15, 40])
def test_documents_that_were_judged_whole_are_seldom_agreed_with(
    documents: int, draws: int
) -> None:
    # by segments, up to 40 of 100 of these are: both sides move together within a document
    found = 0
    for seed in range(draws):
        draw = np.random.default_rng(seed)
        human, made = (by_document(draw, 3, documents, 5) for _ in range(2))
        found += not {"agrees", "against"} & claims(human, metric(made, "m"), 5, **POOLED)
    assert is_mostly_undecided(found, draws)


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize(
    ("systems", "documents"),
    [
        (12, None),
        pytest.param(20, 3, marks=pytest.mark.verify),
        pytest.param(20, None, marks=pytest.mark.verify),
        pytest.param(12, 3, marks=pytest.mark.verify),
    ],
)
def test_one_of_two_equally_good_metrics_is_seldom_called_better_under_acc_eq(
    systems: int, documents: int | None, draws: int
) -> None:
    found = 0
    for seed in range(draws):
        human = np.round(1.5 * people(systems, 60, seed=seed))
        made = [metric(near(human, 1.0, 7000 + 2 * seed + k), f"m{k}") for k in (0, 1)]
        found += "better" not in claims(human, made, documents, statistics=["acc_eq"])
    assert is_mostly_undecided(found, draws)


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize(
    ("statistic", "grouping"), [("pearson", "none"), ("pearson", "item"), ("kendall_b", "item")]
)
def test_one_of_two_metrics_that_err_on_segments_alike_is_seldom_called_better(
    statistic: str, grouping: str, draws: int
) -> None:
    # what a metric is off by on a segment, it is off by for all systems
    found = 0
    for seed in range(draws):
        human = people(8, 60, seed=seed)
        draw = np.random.default_rng([seed, 5])
        made = [
            metric(near(human, 1.0, 2 * seed + k) + draw.normal(size=(1, 60)), f"m{k}")
            for k in (0, 1)
        ]
        measured = {"statistics": [statistic], "groupings": [grouping], "levels": ["segment"]}
        found += "better" not in claims(human, made, **measured)
    assert is_mostly_undecided(found, draws)


@pytest.mark.parametrize("draws", DRAWS)
def test_one_of_two_markers_that_find_as_much_is_seldom_called_better(draws: int) -> None:
    found = 0
    for seed in range(draws):
        others = {name: missing(0.3, 2 * seed + k) for k, name in enumerate(("one", "two"))}
        said = {one.code for one in marked(others, segments=60).verdict}
        found += "metaeval.spans.better" not in said
    assert is_mostly_undecided(found, draws)


def test_values_of_acc_eq_are_those_of_the_calibration() -> None:
    human = np.round(1.5 * people(12, 60, seed=3))
    made = metric(near(human, 1.0, 1), "m")
    found = gn.metaeval(judged(human), made, statistics=["acc_eq"], resamples=0)
    assert found.rows[0]["value"] == stats.calibrate_ties(human, made.segments).accuracy


def test_intervals_over_documents_are_those_of_the_jackknife() -> None:
    human = people(6, 60, seed=3)
    made = metric(near(human, 1.0, 1), "m")
    found = gn.metaeval(judged(human, documents=3), made, **{**ONE, **POOLED})
    row, documents = found.rows[0], np.arange(60) // 3
    without = [
        stats.pearson(human[:, documents != k], made.segments[:, documents != k]) for k in range(20)
    ]
    whole = stats.pearson(human, made.segments)
    plain = stats.jackknife(whole, without, np.full(20, 18))
    assert (row["interval"], row["drawn"]) == ("documents", 20)
    assert [row["low"], row["high"]] == pytest.approx([float(plain.low), float(plain.high)])
    by_segment = gn.metaeval(
        judged(human, documents=3), made, unit="segment", **{**ONE, **POOLED}
    ).rows[0]
    assert (by_segment["interval"], by_segment["drawn"]) == ("segments", 60)
    assert any("segments as independent, as was asked" in n for n in _notices(human, made))


def _notices(human: np.ndarray, made: gn.Scores) -> tuple[str, ...]:
    return notes(gn.metaeval(judged(human), made, unit="segment", **{**ONE, **POOLED}).notices)
