"""k-means from a scratch file, and what codes tell."""

from __future__ import annotations

import numpy as np
import pytest
from tests.told import notes

from gnomon.core.errors import UsageError
from gnomon.paraphrase import codes
from gnomon.paraphrase.codes.clustering import Placed
from gnomon.paraphrase.codes.kmeans import Clusters, kmeans, nearest, scratch


def _around(rows: int, centres: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    middles = rng.standard_normal((centres, 8)).astype(np.float32) * 5
    noise = rng.standard_normal((rows, 8)).astype(np.float32)
    return middles[rng.integers(centres, size=rows)] + noise


def _found(rows: np.ndarray, k: int, **options: object) -> Clusters:
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'gnomon[training]'")
    with scratch(rows[first : first + 100] for first in range(0, len(rows), 100)) as vectors:
        return kmeans(vectors, k, **options)


def test_vectors_are_no_further_from_centroids_than_those_of_scikit_learn() -> None:
    cluster = pytest.importorskip("sklearn.cluster", reason="needs scikit-learn")
    rows = _around(3000, 60)
    ours, theirs = [], []
    for seed in range(5):
        ours.append(_found(rows, 30, seed=seed).inertia)
        peer = cluster.MiniBatchKMeans(30, random_state=seed, n_init="auto").fit(rows)
        theirs.append(float(nearest(rows, peer.cluster_centers_)[1].sum()))
    assert np.mean(ours) <= np.mean(theirs)  # a single start of either may be lucky


def test_the_inertia_and_the_counts_are_those_of_the_centroids() -> None:
    rows = _around(500, 10)
    found = _found(rows, 12)
    which, distances = nearest(rows, found.centroids)
    exact = ((rows[:, None] - found.centroids) ** 2).sum(2)
    assert np.allclose(distances, exact.min(1), atol=1e-3)
    assert found.inertia == pytest.approx(exact.min(1).sum(), rel=1e-4)
    assert found.counts.tolist() == np.bincount(which, minlength=12).tolist()


def test_a_row_that_counts_twice_is_two_rows() -> None:
    rows = _around(200, 4)
    weights = np.ones(200, np.int64)
    weights[:50] = 2
    found = _found(rows, 4, weights=weights, passes=20)
    which, _ = nearest(rows, found.centroids)
    for code in range(4):
        own = which == code
        mean = np.average(rows[own], axis=0, weights=weights[own])
        assert np.allclose(found.centroids[code], mean, atol=1e-2)
    assert found.counts.sum() == 250


def test_equal_rows_leave_clusters_empty_and_that_is_counted() -> None:
    found = _found(np.ones((20, 8), np.float32), 3)
    assert found.empty == 2
    assert np.isfinite(found.centroids).all()


def test_the_same_seed_gives_the_same_clusters() -> None:
    rows = _around(400, 9)
    one, two, other = _found(rows, 9), _found(rows, 9), _found(rows, 9, seed=3)
    assert (one.centroids == two.centroids).all()
    assert not (one.centroids == other.centroids).all()


def test_clusters_need_a_pass_over_the_rows() -> None:
    with pytest.raises(UsageError, match="at least 1"):
        kmeans(np.ones((2, 3), np.float32), 2, passes=0)


def test_a_scratch_file_gives_back_its_rows() -> None:
    rows = _around(25, 2)
    with scratch([rows[:10], rows[10:10], rows[10:]]) as vectors:
        assert (vectors == rows).all()


def test_the_finding_says_sizes_spread_and_what_is_nearest() -> None:
    random = codes.fit(["a", "b", "c", ""], encoder="random", k=2, seed=0)
    placed = Placed(np.array([0, 0, 1, -1], np.int32), np.array([2, 1, 0, np.inf], np.float32))
    found = codes.quality(random, {"f": placed})
    (row,) = found.rows
    assert (row["sentences"], row["coded"], row["used"]) == (4, 3, 2)
    assert row["perplexity"] == pytest.approx(2**0.9183, abs=1e-4)  # entropy of 2 and 1
    assert row["distance"] is None
    assert [size["count"] for size in found.table("sizes").rows] == [2, 1]
    assert notes(found.notices) == (
        "1 line that was empty or had no tree took no part when the codes were made",
    )
