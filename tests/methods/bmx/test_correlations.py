import numpy as np
import pytest
import scipy.stats
from tests.methods.bmx.invented import NAMED, invented

from gnomon.bmx.aggregation import combine, power_means
from gnomon.bmx.correlations import grid_correlations, search, usable
from gnomon.bmx.experiments import Explained, Grids, P, W
from gnomon.core.errors import LengthMismatchError, UsageError


def scipys(score, means, human, w=W):
    """One call of scipy for every point."""
    return np.array(
        [[scipy.stats.pearsonr(combine(score, m, x), human)[0] for x in w] for m in means]
    )


def test_every_correlation_of_the_grid_is_scipys():
    one = invented()
    means = power_means(one.values, one.offsets, P[::7]).means
    found = search([one], p=P[::7]).correlations[0]
    np.testing.assert_allclose(found, scipys(one.score, means, one.human), rtol=0, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-120, 1e-9, 1.0, 1e9, 1e120])
def test_scales_of_scores_do_not_matter_to_precision(scale):
    one = invented()
    means = power_means(one.values, one.offsets, P[::60]).means
    score, means, human = one.score * scale, means * scale, one.human / scale
    plain = grid_correlations(score / scale, means / scale, human * scale)
    np.testing.assert_allclose(grid_correlations(score, means, human), plain, rtol=0, atol=1e-9)


def test_a_sum_that_nearly_cancels_is_as_exact_as_scipys():
    generator = np.random.default_rng(1)
    score, human = generator.normal(size=200), generator.normal(size=200)
    rest = 1e-6 * generator.normal(size=200)
    means = np.stack([-score + rest, -4 * score + rest, -score / 4 + rest])
    found = grid_correlations(score, means, human, np.array([0.2, 0.5, 0.8, 1.0]))
    wanted = scipys(score, means, human, [0.2, 0.5, 0.8, 1.0])
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)


def test_large_means_with_small_variation_keep_their_correlation():
    generator = np.random.default_rng(2)
    score, human = 1e6 + generator.normal(size=50), 1e5 + generator.normal(size=50)
    means = 1e6 + generator.normal(size=(4, 50))
    found = grid_correlations(score, means, human)
    np.testing.assert_allclose(found, scipys(score, means, human), rtol=0, atol=1e-9)


def test_the_weight_of_one_does_not_depend_on_the_exponent():
    column = search([invented()]).correlations[0, :, -1]
    assert (column == column[0]).all()


def test_segments_that_lack_something_are_left_out_and_counted():
    one, whole = invented(20), invented(20)
    values, score, human = one.values.copy(), one.score.copy(), one.human.copy()
    values[one.offsets[3] + 1] = np.nan
    score[5] = np.nan
    human[[7, 8]] = np.nan
    offsets = np.concatenate([one.offsets[:11], one.offsets[11:] - one.offsets[11]])
    offsets[11:] += one.offsets[10]
    values = np.delete(values, np.arange(one.offsets[10], one.offsets[11]))
    grids = search([Explained(NAMED, score, values, offsets, human)], p=P[::50])
    assert (grids.used, grids.left_out, grids.reasons) == ((15,), (5,), {})
    kept = np.setdiff1d(np.arange(20), [3, 5, 7, 8, 10])
    means = power_means(whole.values, whole.offsets, P[::50]).means[:, kept]
    wanted = scipys(whole.score[kept], means, whole.human[kept])
    np.testing.assert_allclose(grids.correlations[0], wanted, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("human", "said"),
    [
        (np.full(20, 0.1), "all human scores are equal"),
        (np.full(20, np.nan), "0 of 20 segments"),
        (np.array([1.0, 2.0, *[np.nan] * 18]), "2 of 20 segments"),
    ],
)
def test_without_variation_or_segments_the_grid_is_undefined_and_says_why(human, said):
    one = invented(20)
    grids = search([Explained(NAMED, one.score, one.values, one.offsets, human)])
    assert np.isnan(grids.correlations).all()
    assert said in str(grids.reasons[0])


def test_a_constant_metric_has_no_correlation_alone_but_its_explanations_may():
    one = invented(30)
    still = Explained(NAMED, np.full(30, 0.3), one.values, one.offsets, one.human)
    grids = search([still], p=P[::100])
    assert np.isnan(grids.base).all()
    assert not np.isnan(grids.correlations[0, :, :-1]).any()
    assert usable(still).reason is None


def test_constant_explanations_leave_the_metric_and_are_undefined_alone():
    one = invented(30)
    grids = search([Explained(NAMED, one.score, np.full(30, 0.2), np.arange(31), one.human)])
    assert np.isnan(grids.correlations[0, :, 0]).all()
    np.testing.assert_allclose(grids.gains[0, :, 1:], 0, atol=1e-9)


def test_the_share_of_collapsed_segments_comes_with_the_grid():
    grids = search([invented()])
    assert grids.collapsed is not None
    assert grids.collapsed[0, 0] > 0.9
    assert grids.collapsed[0, -1] == 0
    assert search([invented()], shift="floor").collapsed.max() == 0


def test_shapes_that_do_not_fit_are_refused():
    one = invented(10)
    with pytest.raises(LengthMismatchError, match="human"):
        Explained(NAMED, one.score, one.values, one.offsets, one.human[:-1])
    with pytest.raises(LengthMismatchError, match="shape"):
        Grids((NAMED,), P, W, np.zeros((2, 600, 6)))
    with pytest.raises(UsageError, match="the last of which is 1"):
        Grids((NAMED,), P, W[:-1], np.zeros((1, 600, 5)))
