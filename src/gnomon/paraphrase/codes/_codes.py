"""Codes of sentences: clusters of their meanings, of their structures, or none but chance."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from gnomon.errors import DataError, UsageError
from gnomon.paraphrase.codes._kmeans import kmeans, nearest
from gnomon.paraphrase.codes._vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence
    from os import PathLike
    from pathlib import Path

    from numpy.typing import NDArray

    from gnomon.cache import Cache
    from gnomon.formats import Tree
    from gnomon.paraphrase.codes._space import Space

__all__ = ["NO_CODE", "Codes", "Fitted", "Kind", "Placed", "clustered", "random_codes"]

Kind: TypeAlias = Literal["semantic", "syntactic", "random"]
#: what a sentence gets that has none: an empty line, or one without a tree
NO_CODE = -1
_CHUNK = 16384


@dataclass(frozen=True)
class Fitted:
    """What codes were made from.

    Attributes:
        sentences: with a vector, repeated ones each time.
        distinct: different ones among them (different pruned trees, for syntactic codes).
        skipped: empty lines, and lines without a tree.
        empty: codes that no sentence got.
        inertia: sum over sentences of the squared distance to the centroid of their code.
    """

    sentences: int
    distinct: int
    skipped: int
    empty: int
    inertia: float


@dataclass(frozen=True, eq=False)
class Placed:
    """Sentences among codes.

    Attributes:
        codes: int32 [T], from 0; -1 where a sentence has none.
        distances: float32 [T], squared distance to the centroid; 0 for random codes, infinite
            where there is no code.
    """

    codes: NDArray[np.int32]
    distances: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Codes:
    """Clusters of sentences, numbered from 0.

    Attributes:
        kind: "semantic", "syntactic" or "random".
        seed: of the clustering; of the drawing, for random codes.
        centroids: float32 [k, dimensions]; without dimensions for random codes.
        counts: int64 [k], sentences of each code where the codes were made.
        fitted: what they were made from.
        space: how sentences become vectors; None for random codes.
        known: code and squared distance of what they were made from, in the process that made
            them, so that nothing is encoded twice.
    """

    kind: Kind
    seed: int
    centroids: NDArray[np.float32]
    counts: NDArray[np.int64]
    fitted: Fitted
    space: Space | None = None
    known: Mapping[Hashable, tuple[int, float]] = field(default_factory=dict, repr=False)

    @property
    def k(self) -> int:
        """How many codes there are."""
        return len(self.centroids)

    @property
    def needs_trees(self) -> bool:
        """Whether sentences have codes by trees alone, since nobody said what parses them."""
        from gnomon.paraphrase.codes._syntactic import Syntactic

        return isinstance(self.space, Syntactic) and self.space.needs_trees

    @property
    def identity(self) -> str:
        """A hash of what decides the code of a sentence; 16 hexadecimal digits."""
        digest = hashlib.blake2b(digest_size=8)
        name = self.space.identity if self.space else f"seed:{self.seed}"
        digest.update(f"{self.kind}|{self.k}|{name}|".encode())
        digest.update(np.ascontiguousarray(self.centroids).tobytes())
        return digest.hexdigest()

    def assign(
        self,
        texts: Sequence[str | None],
        *,
        trees: Sequence[Tree | None] | None = None,
        cache: Cache | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> NDArray[np.int32]:
        """The code of each sentence, int32 [T]; -1 for empty ones and those without a tree.

        Args:
            texts: the sentences; equal ones are read once.
            trees: their constituency trees, for syntactic codes; by default they are parsed.
            cache: where trees are kept between runs.
            progress: called with a stage, what is done, and the total.

        Raises:
            DataError: trees are not parallel to the texts.
            UsageError: trees were given to codes that read none.
            MissingDependencyError: the parser is not installed.
        """
        return self.place(texts, trees=trees, cache=cache, progress=progress).codes

    def save(self, folder: str | PathLike[str]) -> Path:
        """Write the codes into a folder, for :func:`load`.

        Raises:
            OutputError: it cannot be written.
        """
        from gnomon.paraphrase.codes._folder import save

        return save(self, folder)

    def place(
        self,
        texts: Sequence[str | None],
        *,
        trees: Sequence[Tree | None] | None = None,
        cache: Cache | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Placed:
        """Likewise, with distances to the centroids."""
        if self.space is None:
            _refuse_trees(self.kind, trees)
            return self._drawn(texts)
        items = items_of(self.space, texts, trees, cache, progress)
        which, rows = _distinct(items)
        # one more entry at the end for items without a code: their row is -1
        codes = np.full(len(rows) + 1, NO_CODE, np.int32)
        distances = np.full(len(rows) + 1, np.inf, np.float32)
        new = [row for row, item in enumerate(rows) if item not in self.known]
        old = [row for row, item in enumerate(rows) if item in self.known]
        for row in old:
            codes[row], distances[row] = self.known[rows[row]]
        done = 0
        for chunk in self.space.vectors([rows[row] for row in new]):
            own = new[done : done + len(chunk)]
            codes[own], distances[own] = nearest(chunk, self.centroids)
            done += len(chunk)
            if progress is not None:
                progress("coding", done, len(new))
        return Placed(codes[which], distances[which])

    def _drawn(self, texts: Sequence[str | None]) -> Placed:
        found = [_draw(text, self.k, self.seed) if _said(text) else NO_CODE for text in texts]
        codes = np.array(found, np.int32)
        return Placed(codes, np.where(codes < 0, np.inf, 0).astype(np.float32))


def clustered(
    space: Space,
    texts: Sequence[str | None],
    *,
    k: int,
    seed: int,
    trees: Sequence[Tree | None] | None = None,
    passes: int = 10,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Codes:
    """Codes of a space; see :func:`fit`."""
    items = items_of(space, texts, trees, cache, progress)
    which, rows = _distinct(items)
    check_enough(len(rows), k, space.kind)
    weights = np.bincount(which[which >= 0], minlength=len(rows))
    order = np.random.default_rng(seed).permutation(len(rows))  # any part is a sample of the whole
    with Vectors() as vectors:
        for chunk in space.vectors([rows[i] for i in order]):
            vectors.extend([chunk])
            if progress is not None:
                progress("encoding", vectors.rows, len(rows))
        found = kmeans(
            vectors, k, seed=seed, weights=weights[order], passes=passes, progress=progress
        )
        known = _known(vectors, found.centroids, [rows[i] for i in order])
    read = int(weights.sum())
    fitted = Fitted(read, len(rows), len(items) - read, found.empty, found.inertia)
    kind: Kind = "semantic" if space.kind == "semantic" else "syntactic"
    return Codes(kind, seed, found.centroids, found.counts, fitted, space, known)


def _known(
    vectors: Vectors, centroids: NDArray[np.float32], items: Sequence[Hashable]
) -> dict[Hashable, tuple[int, float]]:
    found: dict[Hashable, tuple[int, float]] = {}
    for first, chunk in vectors.chunks(_CHUNK):
        codes, distances = nearest(chunk, centroids)
        own = items[first : first + len(chunk)]
        found |= zip(own, zip(codes.tolist(), distances.tolist(), strict=True), strict=True)
    return found


def random_codes(texts: Sequence[str | None], *, k: int, seed: int) -> Codes:
    """Codes drawn by a hash of seed and sentence: the control that means nothing."""
    if k < 1:
        raise UsageError(f"k, the number of codes, is at least 1; got {k}")
    bare = Codes("random", seed, np.zeros((k, 0), np.float32), np.zeros(k, np.int64), _NONE)
    codes = bare.assign(texts)
    counts = np.bincount(codes[codes >= 0], minlength=k)
    distinct = len({text for text in texts if _said(text)})
    read = int(counts.sum())
    fitted = Fitted(read, distinct, len(codes) - read, int((counts == 0).sum()), 0.0)
    return Codes("random", seed, bare.centroids, counts, fitted)


_NONE = Fitted(0, 0, 0, 0, 0.0)


def items_of(
    space: Space,
    texts: Sequence[str | None],
    trees: Sequence[Tree | None] | None,
    cache: Cache | None,
    progress: Callable[[str, int, int], None] | None,
) -> Sequence[Hashable | None]:
    """What a space reads of each sentence: its text, or its pruned tree; None where there is none.

    Raises:
        DataError: trees are not parallel to the texts.
        UsageError: trees were given to a space of texts.
    """
    from gnomon.paraphrase.codes._syntactic import Syntactic

    if isinstance(space, Syntactic):
        check_parallel(texts, trees)
        return space.pruned(texts, trees, cache=cache, progress=progress)
    _refuse_trees(space.kind, trees)
    return [text if _said(text) else None for text in texts]


def check_parallel(texts: Sequence[str | None], trees: Sequence[Tree | None] | None) -> None:
    """Refuse trees that are not one per text.

    Raises:
        DataError: their numbers differ.
    """
    if trees is not None and texts and len(trees) != len(texts):
        raise DataError(
            f"{len(trees)} trees for {len(texts)} sentences: trees must be parallel to the text,"
            " one per line; write (()) where a sentence has none"
        )


def check_enough(distinct: int, k: int, kind: str) -> None:
    """Refuse fewer sentences than codes.

    Raises:
        UsageError: there are too few, or k is below 1.
    """
    if k < 1:
        raise UsageError(f"k, the number of codes, is at least 1; got {k}")
    if distinct < k:
        what = "different pruned trees" if kind == "syntactic" else "different sentences"
        deeper = ", or deeper trees (depth, --depth)" if kind == "syntactic" else ""
        raise UsageError(
            f"{distinct} {what} cannot make {k} codes; give more text{deeper}, or ask for fewer"
            f" codes (k={distinct}, --k {distinct})"
        )


def _refuse_trees(kind: str, trees: Sequence[Tree | None] | None) -> None:
    if trees is not None:
        raise UsageError(f"{kind} codes read no trees; leave them out, or take syntactic codes")


def _distinct(items: Sequence[Hashable | None]) -> tuple[NDArray[np.int64], list[Hashable]]:
    """For each item its row among the different ones, -1 for None; and these, in order."""
    rows: dict[Hashable, int] = {}
    which = [-1 if item is None else rows.setdefault(item, len(rows)) for item in items]
    return np.array(which, np.int64), list(rows)


def _said(text: str | None) -> bool:
    return bool(text and text.strip())


def _draw(text: str | None, k: int, seed: int) -> int:
    data = f"{seed}|{text}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big") % k
