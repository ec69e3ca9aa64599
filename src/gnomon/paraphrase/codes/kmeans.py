"""k-means over vectors that do not fit into memory at once."""

from __future__ import annotations

import tempfile
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from gnomon.core.errors import OutputError, UsageError, not_installed
from gnomon.messages.audiences import flag

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from numpy.typing import NDArray

__all__ = ["Clusters", "check_enough", "kmeans", "nearest", "scratch"]


#: rows whose distances to all centroids are in memory at a time
_ROWS = 4096
_BATCH = 4096
#: rows that several starts are tried on, at least 16 per cluster; the best start goes on
_SAMPLE, _STARTS = 16384, 3


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters by k-means."""

    centroids: NDArray[np.float32]
    counts: NDArray[np.int64]
    inertia: float
    passes: int

    @property
    def empty(self) -> int:
        """Clusters without any row."""
        return int((self.counts == 0).sum())


def kmeans(
    vectors: NDArray[np.float32],
    k: int,
    *,
    seed: int = 0,
    weights: NDArray[np.int64] | None = None,
    passes: int = 10,
) -> Clusters:
    """Cluster rows by scikit-learn: mini-batches of a sample, then Lloyd's passes over all rows.

    The rows should come in random order: the first ones are the sample that three starts
    (k-means++) are tried on. Memory is a few chunks of rows and the centroids, however many rows
    there are.
    """
    if passes < 1:
        raise UsageError(f"the number of passes is at least 1; got {passes}")
    try:
        from sklearn.cluster import KMeans, MiniBatchKMeans
        from sklearn.exceptions import ConvergenceWarning
    except ImportError:
        raise not_installed("clustering", "scikit-learn", "training") from None
    counted = np.ones(len(vectors), np.int64) if weights is None else weights
    size = min(len(vectors), max(_SAMPLE, 16 * k))
    start = MiniBatchKMeans(
        k, batch_size=max(_BATCH, 4 * k), init_size=size, n_init=_STARTS, random_state=seed
    )
    # sums of several threads come in any order, and would make other centroids each time
    with threadpool_limits(1, "openmp"), warnings.catch_warnings(), scratch([vectors]) as rows:
        warnings.simplefilter("ignore", ConvergenceWarning)  # empty clusters are counted
        start.fit(np.array(vectors[:size]), sample_weight=counted[:size])
        model = KMeans(k, init=start.cluster_centers_, n_init=1, max_iter=passes, copy_x=False)
        model.fit(rows, sample_weight=counted)
    centroids = np.ascontiguousarray(model.cluster_centers_, dtype=np.float32)
    counts = np.bincount(model.labels_, counted, k).astype(np.int64)
    return Clusters(centroids, counts, float(model.inertia_), model.n_iter_)


def nearest(
    rows: NDArray[np.float32], centroids: NDArray[np.float32]
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The nearest centroid of each row, int32 [rows], and the squared distance, float32 [rows].

    Of several that are equally near it is the first.
    """
    which, distance = np.empty(len(rows), np.int32), np.empty(len(rows), np.float32)
    half = (centroids**2).sum(1) / 2
    for first in range(0, len(rows), _ROWS):
        chunk = rows[first : first + _ROWS]
        best = (half - chunk @ centroids.T).argmin(1)
        which[first : first + _ROWS] = best
        # by expanding the square, a row that equals its centroid would be off by rounding
        distance[first : first + _ROWS] = ((chunk - centroids[best]) ** 2).sum(1)
    return which, distance


# Vectors on disk, so that clustering millions takes the memory of a few thousand.


@contextmanager
def scratch(chunks: Iterable[NDArray[np.float32]]) -> Generator[NDArray[np.float32]]:
    """The rows of some chunks in a scratch file, where they may be changed; it goes with the block.

    Yields:
        float32 [rows, dimensions].
    """
    rows = dimensions = 0
    with tempfile.TemporaryFile() as file:
        for chunk in chunks:
            with _explain_failure():
                file.write(np.ascontiguousarray(chunk, dtype=np.float32).data)
            rows, dimensions = rows + len(chunk), chunk.shape[1]
        with _explain_failure():
            file.flush()
        yield np.memmap(file, np.float32, "r+", shape=(rows, dimensions))


@contextmanager
def _explain_failure() -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"vectors cannot be kept while they are clustered: {error}; name a folder with"
            " more room by the environment variable TMPDIR"
        ) from error


def check_enough(distinct: int, k: int, kind: str) -> None:
    """Refuse fewer sentences than codes."""
    if k < 1:
        raise UsageError(f"k, the number of codes, is at least 1; got {k}")
    if distinct < k:
        what = "different pruned trees" if kind == "syntactic" else "different sentences"
        deeper = ", or take deeper trees (depth, in Python)" if kind == "syntactic" else ""
        raise UsageError(
            f"{distinct} {what} cannot make {k} codes; give more text{deeper}, or ask for fewer"
            f" codes (k={distinct}, ",
            flag("k", distinct),
            ")",
        )
