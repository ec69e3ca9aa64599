"""Leniency of raters: closed forms, and variances that were planted."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.truth.campaigns import judged

from gnomon.stats.leniency import adjusted_means, linked_systems, rater_ridge


def test_means_are_those_of_least_squares_with_a_ridge_on_raters() -> None:
    said = judged([0, 2, 4], documents=20, raters=5, seed=2)
    ridge = 3.0
    effects = adjusted_means(
        said.system, said.rater, said.document, said.score[:, None], ridge=ridge
    )
    n = len(said.score)
    design = np.zeros((n, 8))
    design[np.arange(n), said.system] = 1
    design[np.arange(n), 3 + said.rater] = 1
    penalty = np.diag([0.0] * 3 + [ridge] * 5)
    wanted = np.linalg.solve(design.T @ design + penalty, design.T @ said.score)
    assert effects.systems[:, 0] == pytest.approx(wanted[:3], abs=1e-9)
    assert effects.raters[:, 0] == pytest.approx(wanted[3:], abs=1e-9)


def test_without_a_ridge_means_differ_as_in_statsmodels_least_squares() -> None:
    linear = pytest.importorskip(
        "statsmodels.regression.linear_model", reason="the independent computation"
    )
    said = judged([0, 2, 4], documents=20, raters=5, seed=2)
    design = np.column_stack(
        [said.system[:, None] == np.arange(3), said.rater[:, None] == np.arange(1, 5)]
    )
    fitted = linear.OLS(said.score, design.astype(float)).fit().params
    found = adjusted_means(said.system, said.rater, said.document, said.score[:, None], ridge=0)
    assert np.diff(found.systems[:, 0]) == pytest.approx(np.diff(fitted[:3]), abs=1e-5)
    assert np.diff(found.raters[:, 0]) == pytest.approx(np.diff([0, *fitted[3:]]), abs=1e-5)


def test_with_a_ridge_raters_are_the_best_linear_predictors() -> None:
    said = judged([0, 2, 4], documents=20, raters=5, seed=2)
    within, between = 225.0, 64.0
    systems, raters = (
        (numbers[:, None] == np.arange(size)).astype(float)
        for numbers, size in ((said.system, 3), (said.rater, 5))
    )
    # generalised least squares under the covariance of the random effects, without a ridge
    inverse = np.linalg.inv(between * raters @ raters.T + within * np.eye(len(said.score)))
    means = np.linalg.solve(systems.T @ inverse @ systems, systems.T @ inverse @ said.score)
    effects = between * raters.T @ inverse @ (said.score - systems @ means)
    found = adjusted_means(
        said.system, said.rater, said.document, said.score[:, None], ridge=within / between
    )
    assert found.systems[:, 0] == pytest.approx(means, abs=1e-8)
    assert found.raters[:, 0] == pytest.approx(effects, abs=1e-8)


def test_each_document_is_left_out_as_if_it_had_never_been_judged() -> None:
    said = judged([0, 2, 4], documents=20, raters=5, seed=3)
    whole = adjusted_means(said.system, said.rater, said.document, said.score[:, None])
    for document in (0, 7, 19):
        kept = said.document != document
        rest = adjusted_means(
            said.system[kept], said.rater[kept], said.document[kept], said.score[kept, None]
        )
        assert whole.without[document] == pytest.approx(rest.systems, abs=1e-8)


def test_a_weight_of_two_is_two_judgements() -> None:
    said = judged([0, 2], documents=10, raters=4, seed=4)
    twice = np.concatenate([np.arange(len(said.score)), np.flatnonzero(said.document < 5)])
    weights = np.where(said.document < 5, 2.0, 1.0)
    one, other = (
        adjusted_means(s[0], s[1], s[2], s[3][:, None], weights=w, ridge=2.0)
        for s, w in (
            (said[:1] + said[2:], weights),
            (tuple(part[twice] for part in said[:1] + said[2:]), None),
        )
    )
    assert one.systems == pytest.approx(other.systems, abs=1e-9)


def test_an_endless_ridge_leaves_plain_means() -> None:
    said = judged([0, 2], documents=10, raters=4, seed=5)
    found = adjusted_means(said.system, said.rater, said.document, said.score[:, None], ridge=1e9)
    plain = [said.score[said.system == k].mean() for k in range(2)]
    assert found.systems[:, 0] == pytest.approx(plain, abs=1e-5)


def test_planted_variances_are_found() -> None:
    found = [
        rater_ridge(said.system, said.rater, said.document, said.score)
        for said in (
            judged(
                [0, 1, 2, 3], documents=80, raters=30, leniency=8, together=6, noise=12, seed=seed
            )
            for seed in range(30)
        )
    ]
    # a block of four segments: what they have in common, their noise, and how hard they are
    within = 6**2 + (12**2 + 5**2) / 4
    assert np.mean([one.within for one in found]) == pytest.approx(within, rel=0.05)
    assert np.mean([one.between for one in found]) == pytest.approx(8**2, rel=0.12)
    # the variance between raters counts a little less, as it is not known for sure
    quotient = found[0].within / found[0].between * 4
    assert quotient < found[0].ridge < 1.2 * quotient


def test_raters_who_do_not_differ_are_ignored() -> None:
    said = judged([0, 1], documents=40, raters=8, leniency=0, seed=8)
    found = rater_ridge(said.system, said.rater, said.document, said.score)
    assert found.between >= 0
    assert found.ridge > 40


def test_one_block_for_each_rater_tells_nothing_of_leniency() -> None:
    n = 6
    found = rater_ridge([0, 1] * 3, np.arange(n), np.arange(n), np.arange(n, dtype=float))
    assert math.isnan(found.ridge)


def test_raters_link_systems_in_steps() -> None:
    assert linked_systems([0, 1, 1, 2, 2, 3], [0, 0, 1, 1, 2, 2]).tolist() == [0, 0, 0, 0]
    assert linked_systems([0, 1, 2, 3], [0, 0, 1, 1]).tolist() == [0, 0, 2, 2]
    assert linked_systems([0, 0], [0, 1]).tolist() == [0]
