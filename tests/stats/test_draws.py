"""One way from draws to scores of systems, to Pearson's r, and to intervals."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon import stats
from gnomon.stats.correlation import pearson_of_sums
from gnomon.stats.draws import DocumentDraws, SegmentDraws
from gnomon.stats.resampling import percentile_interval, resample_counts
from gnomon.stats.student import expanded_confidence

RNG = np.random.default_rng(5)


def test_resampled_scores_are_those_of_the_segments_drawn() -> None:
    statistics = RNG.random((4, 30, 2)) + 0.1
    draws, counts = stats.resamples(30, count=7, seed=3), resample_counts(30, count=7, seed=3)

    def ratio(sums: np.ndarray) -> np.ndarray:
        return np.asarray(sums[..., 0] / sums[..., 1])

    expected = [ratio(statistics[:, draw].sum(axis=1)) for draw in draws]
    assert stats.resampled_scores(statistics, counts, ratio) == pytest.approx(np.array(expected))


def test_resampled_means_leave_missing_segments_out() -> None:
    segments = RNG.random((3, 20))
    segments[0, :5] = np.nan
    draws, counts = stats.resamples(20, count=7, seed=3), resample_counts(20, count=7, seed=3)
    expected = np.array([np.nanmean(segments[:, draw], axis=1) for draw in draws])
    assert stats.resampled_scores(segments, counts) == pytest.approx(expected)


def test_pearson_of_sums_is_pearson() -> None:
    x, y = RNG.normal(size=(2, 40))
    sums = np.array([np.full(40, 1.0), x, y, x * x, y * y, x * y]).sum(axis=1)
    assert pearson_of_sums(sums) == pytest.approx(stats.pearson(x, y))
    flat = np.array([np.full(40, 1.0), x * 0 + 0.1, y, x * 0 + 0.01, y * y, y * 0.1]).sum(axis=1)
    assert np.isnan(pearson_of_sums(flat))


def test_intervals_of_few_things_are_expanded_where_their_number_is_said() -> None:
    samples = RNG.normal(size=1000)
    plain, few = percentile_interval(samples, 0.9), percentile_interval(samples, 0.9, 12)
    assert few == percentile_interval(samples, expanded_confidence(0.9, 12))
    assert few[0] < plain[0] < plain[1] < few[1]
    assert percentile_interval(samples, 0.9, 1) == plain


DOCUMENTS = [f"d{k}" for k in np.repeat(np.arange(20), 15)]  # more than one block of weights holds


@pytest.mark.parametrize(
    "draws",
    [
        SegmentDraws.draw(300, count=450, seed=3, confidence=0.9),
        DocumentDraws.leave_out(DOCUMENTS, np.ones(300), 0.9),
    ],
)
def test_sums_of_draws_are_weighted_sums_of_segments(draws: SegmentDraws | DocumentDraws) -> None:
    values, rows = RNG.random((3, 300)), np.arange(40, 300, 2)
    some = draws.select(rows, np.ones(len(rows), dtype=np.intp))
    weights = np.concatenate(list(some.weights()), axis=1)
    assert some.sums(values[:, rows]) == pytest.approx(values[:, rows] @ weights)


def test_documents_without_judgements_are_not_left_out() -> None:
    judged = np.where(np.arange(300) < 240, 2, 0)
    values = np.where(judged > 0, RNG.normal(1, 1, 300), 0.0)[None]
    draws = DocumentDraws.leave_out(DOCUMENTS, judged, 0.9)
    samples = draws.sums(values)[0] / 240
    expected = stats.jackknife(values.sum() / 240, samples[:16], [30] * 16, confidence=0.9)
    assert draws.test(float(values.sum()) / 240, samples) == pytest.approx(
        (float(expected.low), float(expected.high), float(expected.p))
    )
    rows = np.arange(240)
    again = draws.select(rows, judged[rows])
    ends = again.ends(values.sum(axis=1) / 240, again.sums(values[:, rows]) / 240)
    assert np.ravel(ends) == pytest.approx([float(expected.low), float(expected.high)])
