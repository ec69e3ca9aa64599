"""k-means of vectors that do not fit into memory: what it takes, and how good it is.

``python benchmarks/codes.py [ROWS]`` prints the tables and writes them to ``benchmarks/codes.md``.
Vectors are drawn around 1000 centres in 384 dimensions and written chunk by chunk to the scratch
file that ``gnomon.paraphrase.codes`` uses; each size is a process of its own, one core, so that its
peak memory is known. The peer is scikit-learn's MiniBatchKMeans, fitted at once on 50,000 of them.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")

import subprocess
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
from _measure import keep, memory

from gnomon.paraphrase.codes.kmeans import kmeans, nearest, scratch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

K, DIMENSIONS, CENTRES, CHUNK = 256, 384, 1000, 10_000
BESIDE = 50_000


def drawn(rows: int) -> Iterator[NDArray[np.float32]]:
    """Vectors around centres, chunk by chunk."""
    rng = np.random.default_rng(7)
    centres = rng.standard_normal((CENTRES, DIMENSIONS), dtype=np.float32)
    for _ in range(0, rows, CHUNK):
        owner = rng.integers(CENTRES, size=CHUNK)
        yield centres[owner] + rng.standard_normal((CHUNK, DIMENSIONS), dtype=np.float32)


def one(rows: int) -> str:
    """A row of the table: this process clusters so many vectors and does nothing else."""
    with scratch(drawn(rows)) as vectors:
        begun = time.process_time()
        clusters = kmeans(vectors, K, seed=0)
        seconds = time.process_time() - begun
    raw = rows * DIMENSIONS * 4 / 1e6
    cost = 1e6 * seconds / rows / (clusters.passes + 1)
    return (
        f"| {rows:,} | {raw:,.0f} MB | {memory():,.0f} MB | {clusters.passes} | {cost:.0f} |"
        f" {clusters.empty} |"
    )


def beside() -> str:
    """Inertia of ours and of scikit-learn on the same vectors, over five seeds."""
    from sklearn.cluster import MiniBatchKMeans

    ratios = []
    with scratch(drawn(BESIDE)) as vectors:
        whole = np.array(vectors)
        for seed in range(5):
            ours = kmeans(vectors, K, seed=seed)
            peer = MiniBatchKMeans(K, random_state=seed, n_init="auto").fit(whole)
            _, distances = nearest(whole, peer.cluster_centers_.astype(np.float32))
            ratios.append(ours.inertia / float(distances.sum(dtype=np.float64)))
    shown = ", ".join(f"{ratio:.4f}" for ratio in ratios)
    return f"Inertia over that of MiniBatchKMeans, {BESIDE:,} vectors, seeds 0 to 4: {shown}."


def main(most: int) -> None:
    """Measure and write."""
    lines = [
        "| vectors | on disk | peak memory | passes | microseconds per vector and pass | empty |",
        "|---|---|---|---|---|---|",
    ]
    for rows in (most // 4, most // 2, most):
        answer = subprocess.run(
            [sys.executable, __file__, "--one", str(rows)],
            check=True,
            capture_output=True,
            text=True,
        )
        lines.append(answer.stdout.strip())
    keep("codes", [*lines, "", beside()])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(one(int(sys.argv[2])))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
