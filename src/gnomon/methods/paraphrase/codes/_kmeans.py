"""k-means over vectors that do not fit into memory at once."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gnomon.core.errors import MissingDependencyError, OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray


_CHUNK = 16384
#: rows whose distances to all centroids are in memory at a time
_ROWS = 4096
_BATCH = 4096
#: rows that several starts are tried on, at least 16 per cluster; the best start goes on
_SAMPLE, _STARTS = 16384, 3
#: rows far from all centroids that are kept as new places for empty clusters
_SPARE = 64


@dataclass(frozen=True, eq=False)
class Clusters:
    """What k-means found."""

    centroids: NDArray[np.float32]
    counts: NDArray[np.int64]
    inertia: float
    passes: int

    @property
    def empty(self) -> int:
        """Clusters without any row."""
        return int((self.counts == 0).sum())


def kmeans(
    vectors: Vectors,
    k: int,
    *,
    seed: int = 0,
    weights: NDArray[np.int64] | None = None,
    passes: int = 10,
    tolerance: float = 1e-3,
    progress: Callable[[str, int, int], None] | None = None,
) -> Clusters:
    """Cluster rows: a mini-batch pass of scikit-learn, then exact passes of Lloyd.

    The rows should come in random order: the first ones are the sample that three starts
    (k-means++) are tried on, of which the best goes on. A cluster that has
    become empty moves to a row that is far from all centroids. Memory is a few chunks of rows and
    the centroids, however many rows there are.
    """
    if k < 1 or passes < 1:
        raise UsageError(f"k and the number of passes are at least 1; got k={k}, passes={passes}")
    if vectors.rows < k:
        raise UsageError(f"{vectors.rows} rows cannot make {k} clusters; ask for fewer (k, --k)")
    counted = np.ones(vectors.rows, np.int64) if weights is None else weights
    centroids = _started(vectors, k, seed, counted)
    before = np.inf
    for number in range(1, passes + 1):
        sums, counts, inertia, spare = _pass(vectors, centroids, counted)
        if before - inertia <= tolerance * inertia and counts.all():
            return Clusters(centroids, counts, inertia, number)
        centroids, before = _moved(centroids, sums, counts, spare), inertia
        if progress is not None:
            progress("clustering", number, passes)
    _, counts, inertia, _ = _pass(vectors, centroids, counted)
    return Clusters(centroids, counts, inertia, passes + 1)


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
        score = half - chunk @ centroids.T
        best = score.argmin(1)
        which[first : first + _ROWS] = best
        distances = score[np.arange(len(chunk)), best] * 2 + (chunk**2).sum(1)
        distance[first : first + _ROWS] = np.maximum(distances, 0)
    return which, distance


def _started(
    vectors: Vectors, k: int, seed: int, weights: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Centroids after one mini-batch pass, from the best of some starts on a sample."""
    batch = max(_BATCH, 4 * k)
    size = min(vectors.rows, max(_SAMPLE, 16 * k))
    sample, sample_weights = vectors.read(0, size), weights[:size].astype(np.float32)
    starts = [
        _mini_batch(k, batch, random_state=first, init_size=size).fit(
            sample, sample_weight=sample_weights
        )
        for first in np.random.SeedSequence(seed).generate_state(_STARTS).tolist()
    ]
    best = min(
        starts, key=lambda start: float(nearest(sample, _centroids(start))[1] @ sample_weights)
    )
    for first in range(size, vectors.rows - k, batch):  # scikit-learn takes k rows at least
        rows = vectors.read(first, min(batch, vectors.rows - first))
        best.partial_fit(rows, sample_weight=weights[first : first + len(rows)].astype(np.float32))
    return _centroids(best)


def _centroids(model: Any) -> NDArray[np.float32]:
    centroids: NDArray[np.float32] = np.ascontiguousarray(model.cluster_centers_, dtype=np.float32)
    return centroids


def _mini_batch(k: int, batch: int, **options: Any) -> Any:
    try:
        from sklearn.cluster import MiniBatchKMeans
    except ImportError:
        raise MissingDependencyError(
            "clustering needs the package scikit-learn, which is not installed; install it with:"
            " pip install 'gnomon[training]'"
        ) from None
    return MiniBatchKMeans(k, batch_size=batch, n_init=1, **options)


def _pass(
    vectors: Vectors, centroids: NDArray[np.float32], weights: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64], float, NDArray[np.float32]]:
    """Sums and counts of the clusters, inertia, and the rows farthest from all centroids."""
    k, size = centroids.shape
    sums, counts, inertia = np.zeros((k, size)), np.zeros(k, np.int64), 0.0
    far, spare = np.zeros(0, np.float32), np.zeros((0, size), np.float32)
    for first, rows in vectors.chunks(_CHUNK):
        chunk_weights = weights[first : first + len(rows)]
        which, distance = nearest(rows, centroids)
        inertia += float(distance.astype(np.float64) @ chunk_weights)
        counts += np.bincount(which, chunk_weights, k).astype(np.int64)
        order = np.argsort(which, kind="stable")
        starts = np.flatnonzero(np.diff(which[order], prepend=-1))
        weighted = rows[order] * chunk_weights[order, None].astype(np.float32)
        sums[which[order][starts]] += np.add.reduceat(weighted, starts, axis=0)
        best = np.argsort(-distance, kind="stable")[:_SPARE]
        far, spare = np.append(far, distance[best]), np.concatenate([spare, rows[best]])
        kept = np.argsort(-far, kind="stable")[:_SPARE]
        far, spare = far[kept], spare[kept]
    return sums, counts, inertia, spare[far > 0]


def _moved(
    centroids: NDArray[np.float32],
    sums: NDArray[np.float64],
    counts: NDArray[np.int64],
    spare: NDArray[np.float32],
) -> NDArray[np.float32]:
    """The mean of each cluster; empty ones take rows that are far from all centroids."""
    moved = centroids.copy()
    full = counts > 0
    moved[full] = sums[full] / counts[full, None]
    fresh = np.unique(spare, axis=0) if len(spare) else spare
    empty = np.flatnonzero(~full)[: len(fresh)]
    moved[empty] = fresh[: len(empty)]
    return moved


# Vectors on disk, so that clustering millions takes the memory of a few thousand.


class Vectors:
    """Rows of float32 in a scratch file, read chunk by chunk; the file goes with the block."""

    def __init__(self) -> None:
        self.rows = 0
        self.dimensions = 0

    def __enter__(self) -> Self:
        self._file = tempfile.TemporaryFile()
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def extend(self, chunks: Iterable[NDArray[np.float32]]) -> None:
        """Write the rows of some chunks, float32 [rows, dimensions] each."""
        for chunk in chunks:
            if len(chunk):
                self.dimensions = chunk.shape[1]
            try:
                self._file.write(np.ascontiguousarray(chunk, dtype=np.float32).data)
            except OSError as error:
                raise OutputError(
                    f"vectors cannot be kept while they are clustered: {error}; name a folder with"
                    " more room by the environment variable TMPDIR"
                ) from error
            self.rows += len(chunk)
        self._file.flush()

    def chunks(self, size: int) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """The first row of each chunk, and its rows, float32 [size, dimensions]."""
        for first in range(0, self.rows, size):
            yield first, self.read(first, min(size, self.rows - first))

    def read(self, first: int, count: int) -> NDArray[np.float32]:
        """Some rows that follow each other, float32 [count, dimensions]."""
        self._file.seek(first * self.dimensions * 4)
        data = self._file.read(count * self.dimensions * 4)
        values: NDArray[np.float32] = np.frombuffer(data, dtype=np.float32)
        return values.reshape(count, self.dimensions)


def check_enough(distinct: int, k: int, kind: str) -> None:
    """Refuse fewer sentences than codes."""
    if k < 1:
        raise UsageError(f"k, the number of codes, is at least 1; got {k}")
    if distinct < k:
        what = "different pruned trees" if kind == "syntactic" else "different sentences"
        deeper = ", or deeper trees (depth, --depth)" if kind == "syntactic" else ""
        raise UsageError(
            f"{distinct} {what} cannot make {k} codes; give more text{deeper}, or ask for fewer"
            f" codes (k={distinct}, --k {distinct})"
        )
