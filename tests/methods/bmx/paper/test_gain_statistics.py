import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import UsageError
from gnomon.methods.bmx._experiments import Experiment
from gnomon.methods.bmx.paper import gain_statistics
from gnomon.methods.bmx.paper.gain_statistics import (
    bandwidth,
    densities,
    gain_and_base,
    ridge_coefficients,
    spread,
)

gains = st.lists(st.floats(-1, 1).map(lambda v: round(v, 4)), min_size=1, max_size=40)


def test_a_density_is_scipys_at_its_bandwidth_and_covers_one():
    values = np.random.default_rng(0).normal(0, 0.01, 60)
    found = densities({"one": values})["one"]
    width = bandwidth(values)
    theirs = scipy.stats.gaussian_kde(values, bw_method=width / values.std(ddof=1))
    np.testing.assert_allclose(found.density, theirs(found.gain), rtol=1e-9)
    assert np.trapezoid(found.density, found.gain) == pytest.approx(1, abs=0.03)


def test_densities_of_groups_share_bandwidth_and_stretch():
    generator = np.random.default_rng(0)
    found = densities({k: generator.normal(0, s, 30) for k, s in (("a", 1), ("b", 2), ("c", 9))})
    assert len({one.bandwidth for one in found.values()}) == 1
    assert all((one.gain == found["a"].gain).all() for one in found.values())


def test_few_or_equal_gains_have_no_density():
    assert densities({"few": np.array([0.1, 0.2]), "equal": np.full(9, 0.1)}) == {}
    assert bandwidth(np.array([np.nan, 0.1, 0.3])) is None


def test_the_numbers_of_a_box():
    found = spread(np.array([0.0, 1, 2, 3, 4, 20, np.nan]))
    assert found is not None
    assert (found.first_quartile, found.median, found.third_quartile) == (1.25, 2.5, 3.75)
    assert (found.low, found.high, found.outliers, found.n) == (0, 4, (20.0,), 6)
    assert spread(np.array([np.nan])) is None


@given(gains)
def test_a_box_lies_within_its_whiskers_and_counts_everything(values):
    found = spread(np.array(values))
    assert found is not None
    assert found.first_quartile <= found.median <= found.third_quartile
    assert min(values) <= found.low <= found.high <= max(values)
    assert len(found.outliers) + sum(found.low <= v <= found.high for v in values) == len(values)


def test_ridge_coefficients_minimise_what_they_say():
    generator = np.random.default_rng(1)
    names = [Experiment("d", e, m, "x") for e in ("lime", "shap", "random") for m in ("a", "b")] * 4
    y = generator.normal(size=len(names))
    found = ridge_coefficients(names, y, ("explainer", "metric", "dataset"), ridge=0.7)
    assert [(one.factor, one.level, one.n) for one in found] == [
        ("explainer", "lime", 8),
        ("explainer", "shap", 8),
        ("explainer", "random", 8),
        ("metric", "a", 12),
        ("metric", "b", 12),
    ]
    x = np.array([[getattr(n, one.factor) == one.level for one in found] for n in names], float)
    x, y = x - x.mean(axis=0), y - y.mean()
    b = np.array([one.value for one in found])
    np.testing.assert_allclose(x.T @ (y - x @ b), 0.7 * b, atol=1e-12)
    assert sum(b[:3]) == pytest.approx(0, abs=1e-12)


def test_ridge_leaves_undefined_gains_out_and_refuses_no_penalty():
    names = [Experiment("d", e, "m", "x") for e in ("lime", "shap", "lime")]
    found = ridge_coefficients(names, np.array([1.0, 0.0, np.nan]), ("explainer",))
    assert [one.n for one in found] == [1, 1]
    # two centred points, +-.5: (x'x + ridge) b = x'y with x'x = 1 in the one direction that counts
    assert [one.value for one in found] == pytest.approx([0.25, -0.25])
    assert ridge_coefficients(names[:1], np.array([1.0]), ("explainer",)) == []
    with pytest.raises(UsageError, match="above 0"):
        ridge_coefficients(names, np.zeros(3), ("explainer",), ridge=0)


def test_gain_and_base_need_three_experiments():
    assert gain_and_base(np.array([0.1, 0.0, -0.1]), np.array([0.1, 0.2, 0.3])) == pytest.approx(-1)
    assert np.isnan(gain_and_base(np.array([0.1, np.nan, 0.2]), np.array([0.1, 0.2, 0.3])))


def test_kernels_of_many_gains_are_summed_in_parts(monkeypatch):
    gains = np.random.default_rng(1).normal(size=1000)
    whole = densities({"x": gains})["x"].density
    monkeypatch.setattr(gain_statistics, "_KERNELS", 64)
    parts = densities({"x": gains})["x"].density
    np.testing.assert_allclose(parts, whole, rtol=1e-12)
