"""The pooled slope on a metric: least squares with all means taken out."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.stats.covariate import pooled_slope


def _regressed(y: np.ndarray, x: np.ndarray) -> float:
    """The slope of least squares beside an effect of each system and each segment."""
    k, n = y.shape
    system, segment = np.indices((k, n)).reshape(2, -1)
    design = np.zeros((k * n, 1 + k + n))
    design[:, 0] = x.ravel()
    design[np.arange(k * n), 1 + system] = 1
    design[np.arange(k * n), 1 + k + segment] = 1
    return float(np.linalg.lstsq(design, y.ravel(), rcond=None)[0][0])


def test_it_is_the_slope_beside_effects_of_systems_and_segments() -> None:
    draw = np.random.default_rng(1)
    x = draw.normal(size=(4, 30))
    y = 0.7 * x + draw.normal(size=(4, 30)) + draw.normal(size=(4, 1)) + draw.normal(size=30)
    document = np.arange(30) // 3
    found = pooled_slope(y, x, document)
    assert found.slope == pytest.approx(_regressed(y, x), abs=1e-10)
    for number in (0, 4, 9):
        kept = document != number
        assert found.without[number] == pytest.approx(_regressed(y[:, kept], x[:, kept]), abs=1e-10)


def test_a_metric_that_does_not_vary_has_no_slope() -> None:
    y = np.random.default_rng(2).normal(size=(3, 20))
    assert np.isnan(pooled_slope(y, np.ones((3, 20)), np.arange(20)).slope)


def test_weights_count_segments_several_times() -> None:
    draw = np.random.default_rng(3)
    x, y = draw.normal(size=(2, 3, 12))
    weights = np.where(np.arange(12) < 4, 3.0, 1.0)
    again = np.repeat(np.arange(12), weights.astype(int))
    one = pooled_slope(y, x, np.arange(12), weights=weights)
    other = pooled_slope(y[:, again], x[:, again], np.arange(12)[again])
    assert one.slope == pytest.approx(other.slope, abs=1e-10)


def test_for_two_systems_it_is_the_slope_of_prediction_powered_inference() -> None:
    """``_calc_lam_glm`` of ppi_py 0.2.3, run once on these numbers.

    ppi-python is no requirement of the tests: it installs a package "tests", which hides this
    folder, and downloaders of data. Its slope is for the mean over further segments less that over
    judged ones, so that it is less by 1 + judged/further than one for the mean over all, and takes
    the metric's variance over both.
    """
    i = np.arange(60.0)
    x = np.stack([np.sin(i), np.cos(2 * i)])
    noise = np.stack([np.sin(3 * i + 1), np.cos(5 * i + 2)])
    y = 0.6 * x + 0.4 * noise + np.array([[0.3], [0.0]])
    slope = pooled_slope(y, x, i).slope
    judged = x[0] - x[1]
    for further, tuned in (
        (np.tile(judged, 4), 0.4697025649502164),
        (np.cos(7 * np.arange(240.0)) + 0.2, 0.7881002568166979),
    ):
        over_both = np.concatenate([judged, further]).var(ddof=1)
        expected = slope * judged.var() / over_both / (1 + len(judged) / len(further))
        assert expected == pytest.approx(tuned, abs=1e-12)
