from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from tests.methods.bmx.invented import control_of, invented

from gnomon.bmx.choices import halves
from gnomon.bmx.gain_intervals import gain_interval


def test_intervals_of_gains_are_those_of_a_plain_bootstrap():
    generator = np.random.default_rng(2)
    human = generator.normal(size=40)
    score, mean = human + generator.normal(size=40), human + generator.normal(size=40)
    found = gain_interval(score, mean, human, 0.4, resamples=300, seed=5)
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
    found = gain_interval(score, np.array([0.2, 0.1, 0.8]), human, 0.5, resamples=500)
    assert -2 <= found.low <= found.high <= 2


def test_the_metric_alone_gains_nothing_with_certainty():
    one = invented(30)
    found = gain_interval(one.score, np.full(30, 0.3), one.human, 1.0)
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
