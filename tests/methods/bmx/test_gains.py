from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.bmx.invented import control_of, invented

from gnomon.core.errors import UsageError
from gnomon.methods.bmx._choices import halves
from gnomon.methods.bmx._experiments import Experiment
from gnomon.methods.bmx._outcomes import (
    bandwidth,
    densities,
    gain_and_base,
    gain_intervals,
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


def test_intervals_of_gains_are_those_of_a_plain_bootstrap():
    generator = np.random.default_rng(2)
    human = generator.normal(size=40)
    score, mean = human + generator.normal(size=40), human + generator.normal(size=40)
    found = gain_intervals(score, mean[None], human, [0.4], resamples=300, seed=5)[0]
    boosted = 0.4 * score + 0.6 * mean
    draws = np.random.default_rng(5)
    theirs = []
    for _ in range(300):
        rows = draws.integers(0, 40, 40)
        r = [scipy.stats.pearsonr(v[rows], human[rows])[0] for v in (boosted, score)]
        theirs.append(r[0] - r[1])
    assert found.low == pytest.approx(np.percentile(theirs, 2.5))
    assert found.high == pytest.approx(np.percentile(theirs, 97.5))


def test_draws_of_equal_segments_have_no_correlation():
    # in one of nine draws of three segments, all are the same
    human, score = np.array([0.1, 0.1, 0.7]), np.array([0.3, 0.2, 0.9])
    found = gain_intervals(score, np.array([[0.2, 0.1, 0.8]]), human, [0.5], resamples=500)[0]
    assert -2 <= found.low <= found.high <= 2


def test_the_metric_alone_gains_nothing_with_certainty():
    one = invented(30)
    found = gain_intervals(one.score, np.full((1, 30), 0.3), one.human, [1.0])[0]
    assert (found.estimate, found.low, found.high) == (0, 0, 0)


def test_halves_tell_explanations_that_know_more_from_noise():
    one, p = invented(200), np.array([-1.0, 0.0, 1.0])
    knows = replace(one, values=one.values / 10 + np.repeat(3 + one.human, np.diff(one.offsets)))
    found = halves(knows, control_of(one), p=p)
    assert len(found.gains) == 20
    assert found.gains.min() > 0.05
    assert found.over_control.min() > 0.05
    assert halves(control_of(one), None, p=p).gains.mean() < 0.01


def test_halves_are_the_same_for_the_same_seed():
    one = invented(60)
    first, again, other = (halves(one, None, splits=3, seed=seed).gains for seed in (1, 1, 2))
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()
    assert np.isnan(halves(one, None, splits=2).over_control).all()


def test_halves_of_a_handful_of_segments_are_undefined():
    assert np.isnan(halves(invented(5), None).gains).all()
