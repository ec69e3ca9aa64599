"""Paired bootstrap of correlations and of system scores, and approximate randomisation."""

from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray
from sacrebleu.metrics import BLEU
from tests.thinning import thinned

from gnomon.core.errors import LengthMismatchError, UnknownNameError, UsageError
from gnomon.stats import (
    BootstrapTest,
    RandomDraws,
    bootstrap_p_value,
    bootstrap_test,
    kendall_b,
    pearson,
    spearman,
    system_bootstrap_test,
)
from gnomon.stats.bootstrap import UnitDraws, multiplicities

NAN = float("nan")
STATISTICS = {"pearson": pearson, "spearman": spearman, "kendall_b": kendall_b}
Array = NDArray[np.float64]


def outcome(
    human: Array, metrics: Array, *, count: int = 1000, seed: int = 0, **how: object
) -> BootstrapTest:
    return bootstrap_test(human, metrics, draws=RandomDraws(count, seed), **how)


def with_holes(seed: int) -> tuple[Array, Array]:
    generator = np.random.default_rng(seed)
    human = generator.normal(size=(5, 12)).round(1)
    metrics = (human + generator.normal(size=(3, 5, 12)) * [[[0.5]], [[1]], [[2]]]).round(1)
    human[1, 2] = metrics[0, 3, 1] = NAN
    metrics[1, :, 7] = NAN
    return human, metrics


def recomputed(human: Array, metric: Array, statistic: partial, draws: UnitDraws) -> Array:
    """One resample after the other."""
    drawn = range(len(draws.places))
    return np.array([statistic(draws.take(k, human), draws.take(k, metric)) for k in drawn])


@pytest.mark.parametrize(
    ("name", "grouping"), thinned(STATISTICS, ["none", "item", "system", "means"])
)
def test_every_way_equals_plain_recomputation(name: str, grouping: str) -> None:
    human, metrics = with_holes(0)
    statistic = (
        STATISTICS[name] if grouping == "means" else partial(STATISTICS[name], grouping=grouping)
    )
    if grouping == "means":
        human, metrics, grouping = np.nanmean(human, axis=1), np.nanmean(metrics, axis=2), "none"
    found = outcome(human, metrics, statistic=name, grouping=grouping, count=40)
    draws = UnitDraws.draw_units(human, count=40, seed=0)
    rows = (lambda side: side[:, None]) if human.ndim == 1 else (lambda side: side)
    for i, j in itertools.combinations(range(3), 2):
        known = ~np.isnan(metrics[i] + metrics[j] + human)
        a, b = (
            recomputed(rows(human), rows(np.where(known, metrics[k], NAN)), statistic, draws)
            for k in (i, j)
        )
        differences = (a - b)[~np.isnan(a - b)]
        assert found.difference_intervals[:, i, j] == pytest.approx(
            np.quantile(differences, [0.025, 0.975]), abs=1e-10
        )
        assert found.p[i, j] == pytest.approx(
            (1 + (differences <= 1e-12).sum()) / (len(differences) + 1)
        )


def test_items_drawn_twice_count_twice() -> None:
    assert multiplicities(np.array([[0, 2, 2], [1, 1, 1]]), 3).tolist() == [[1, 0, 2], [0, 3, 0]]


def test_opposite_pairs_mirror_each_other() -> None:
    human, metrics = with_holes(1)
    found = outcome(human, metrics, count=200)
    assert np.array_equal(found.differences, -found.differences.T)
    assert np.array_equal(
        found.difference_intervals, -found.difference_intervals[::-1].swapaxes(1, 2), equal_nan=True
    )


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    generator = np.random.default_rng(2)
    hits = 0
    for trial in range(200):
        human = generator.normal(size=(1, 80))
        metric = human + generator.normal(size=(1, 1, 80))
        low, high = outcome(human, metric, count=200, seed=trial).intervals[:, 0]
        hits += low <= math.sqrt(0.5) <= high
    assert 178 <= hits <= 199


@pytest.mark.parametrize(
    ("alternative", "expected"), [("greater", 2 / 5), ("less", 4 / 5), ("two-sided", 4 / 5)]
)
def test_signs_of_replicates_give_p_values(alternative: str, expected: float) -> None:
    replicates = [0.3, 0.2, -0.1, 0.4, NAN]
    assert bootstrap_p_value(replicates, 0.2, alternative=alternative) == pytest.approx(expected)
    assert math.isnan(bootstrap_p_value([NAN], 0.1, alternative=alternative))


@pytest.mark.parametrize("shape", [(2, 0), (0, 3), (1, 1), (2, 1), (1, 2)])
@pytest.mark.parametrize("statistic", ["pearson", "spearman"])
def test_small_arrays_do_not_crash(shape: tuple[int, int], statistic: str) -> None:
    generator = np.random.default_rng(0)
    human, metrics = generator.normal(size=shape), generator.normal(size=(2, *shape))
    assert outcome(human, metrics, statistic=statistic, count=5).p.shape == (2, 2)
    if shape[1]:
        systems = outcome(human[:, 0], metrics[:, :, 0], statistic=statistic, count=5)
        assert systems.p.shape == (2, 2)


def test_constant_and_missing_scores_are_undefined() -> None:
    human, metrics = with_holes(3)
    metrics[1], metrics[2] = 1.5, NAN
    found = outcome(human, metrics, count=20)
    assert np.isnan(found.statistics).tolist() == [False, True, True]
    assert np.isnan(found.p).all()
    assert np.isnan(found.intervals).tolist() == [[False, True, True]] * 2


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"grouping": "seg"}, UnknownNameError, "item"),
        ({"confidence": 95}, UsageError, "strictly between"),
        ({"count": 0}, UsageError, "at least one draw"),
    ],
)
def test_unfit_options_are_refused(options: dict, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        outcome(*with_holes(0), **options)


def bleu_statistics(seed: int) -> tuple[Array, partial]:
    """Counts and totals of n-grams, and lengths, of three invented systems; and BLEU of sums."""
    generator = np.random.default_rng(seed)
    words = ["a", "b", "c", "d"]
    references = [generator.choice(words, 12).tolist() for _ in range(40)]
    bleu = BLEU(tokenize="none")
    systems = []
    for noise in (0.1, 0.15, 0.5):
        outputs = [
            " ".join(str(generator.choice(words)) if generator.random() < noise else w for w in r)
            for r in references
        ]
        stats = bleu._extract_corpus_statistics(outputs, [[" ".join(r) for r in references]])
        systems.append(stats)

    def score(sums: Array) -> Array:
        flat = sums.reshape(-1, sums.shape[-1])
        found = [bleu._compute_score_from_stats(row.astype(int).tolist()).score for row in flat]
        return np.array(found).reshape(sums.shape[:-1])

    return np.array(systems, dtype=float), partial(score)


def test_corpus_bleu_is_resampled_through_its_statistics() -> None:
    statistics, score = bleu_statistics(0)
    found = system_bootstrap_test(statistics, aggregate=score, count=50)
    draws = UnitDraws.draw_units(statistics[..., 0], count=50, seed=0).places
    values = np.array(
        [[score(system[draw].sum(axis=0)) for system in statistics] for draw in draws]
    )
    assert found.statistics == pytest.approx(score(statistics.sum(axis=1)))
    assert found.intervals == pytest.approx(np.quantile(values, [0.025, 0.975], axis=0))
    sizes = np.abs(values[:, 0] - values[:, 2])
    above = int((sizes - sizes.mean() > abs(found.differences[0, 2])).sum())
    assert found.p[0, 2] == pytest.approx((1 + above) / 51)


def test_systems_are_compared_on_segments_that_both_have() -> None:
    scores = np.random.default_rng(3).normal(size=(3, 20))
    scores[1, 5:9] = NAN
    found = system_bootstrap_test(scores, count=200)
    common = ~np.isnan(scores[1])
    assert found.statistics == pytest.approx(np.nanmean(scores, axis=1))
    assert found.differences[0, 1] == pytest.approx(
        scores[0, common].mean() - scores[1, common].mean()
    )
    alone = system_bootstrap_test(scores[[0, 2]], count=200)
    assert found.p[0, 2] == alone.p[0, 1]


def test_equal_systems_and_empty_ones() -> None:
    scores = np.random.default_rng(4).normal(size=(1, 20))
    found = system_bootstrap_test(np.concatenate([scores, scores, np.full((1, 20), NAN)]), count=20)
    assert found.p[0, 1] == 1
    assert np.isnan(found.p[2]).all()
    assert math.isnan(found.statistics[2])
    assert system_bootstrap_test(np.empty((2, 0)), count=5).p.shape == (2, 2)


def test_statistics_need_a_function() -> None:
    with pytest.raises(LengthMismatchError, match="without a function"):
        system_bootstrap_test(np.ones((2, 3, 4)))
    with pytest.raises(LengthMismatchError, match="with a function"):
        system_bootstrap_test(np.ones((2, 3)), aggregate=lambda sums: sums[..., 0])


def test_a_system_drawn_twice_makes_no_decision_with_itself() -> None:
    human, metric = np.arange(6.0), np.array([1.0, 0, 3, 2, 5, NAN])
    metrics = np.stack([metric, -human, human])
    found = outcome(human, metrics, statistic="pairwise_accuracy", count=60, seed=3)
    assert found.intervals[:, 1].tolist() == [0, 0]  # each decision is wrong
    assert found.intervals[:, 2].tolist() == [1, 1]
    values = []
    for draw in UnitDraws.draw_units(human, count=60, seed=3).places:
        signs = [
            (human[i] - human[j]) * (metric[i] - metric[j]) > 0
            for i, j in itertools.combinations(draw, 2)
            if i != j and not np.isnan(metric[[i, j]]).any()
        ]
        values.append(np.mean(signs) if signs else NAN)
    expected = np.nanquantile(values, [0.025, 0.975])
    assert found.intervals[:, 0] == pytest.approx(expected)
