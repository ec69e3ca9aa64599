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
