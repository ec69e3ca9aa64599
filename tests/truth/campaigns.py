"""Planted campaigns: what people say of systems whose quality is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import gnomon as gn
from gnomon.core.human import HumanScores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


class Judged(NamedTuple):
    """Single judgements, as numbers from 0."""

    system: NDArray[np.int64]
    segment: NDArray[np.int64]
    rater: NDArray[np.int64]
    document: NDArray[np.int64]
    score: NDArray[np.float64]


def judged(
    quality: Sequence[float],
    *,
    documents: int = 40,
    length: int | tuple[int, int] = 4,
    raters: int = 12,
    leniency: float = 8.0,
    together: float = 8.0,
    noise: float = 15.0,
    same_rater: bool = False,
    seed: int = 1,
) -> Judged:
    """A campaign like WMT24's: one rater judges all segments of a document of one system.

    Args:
        quality: of each system.
        documents: how many.
        length: segments of a document, or the least and the most.
        raters: how many; each judges a document of a system drawn at random.
        leniency: standard deviation of raters.
        together: that of what a document of a system has in common.
        noise: that of single segments.
        same_rater: one rater judges a document of all systems.
        seed: of all draws.
    """
    draw = np.random.default_rng(seed)
    low, high = (length, length) if isinstance(length, int) else length
    sizes = draw.integers(low, high + 1, documents)
    document = np.repeat(np.arange(documents), sizes)
    k, n = len(quality), len(document)
    people = draw.normal(0, leniency, raters) if leniency else np.zeros(raters)
    columns = 1 if same_rater else k
    # every rater gets about as many documents as the others
    seats = np.resize(np.arange(raters), documents * columns)
    assigned = np.broadcast_to(draw.permutation(seats).reshape(documents, columns), (documents, k))
    block = draw.normal(0, together, (documents, k))
    hardness = draw.normal(0, 5, n)
    rater = assigned[document].T
    score = (
        np.asarray(quality)[:, None]
        + people[rater]
        + block[document].T
        + hardness
        + draw.normal(0, noise, (k, n))
    )
    system, segment = np.indices((k, n))
    every = (system, segment, rater, np.broadcast_to(document, (k, n)), score)
    return Judged(*(np.ascontiguousarray(part).ravel() for part in every))


def campaign(
    quality: Mapping[str, float],
    *,
    named_raters: bool = True,
    named_documents: bool = True,
    kind: str = "quality",
    without: NDArray[np.bool_] | None = None,
    **planted: object,
) -> gn.TestSet:
    """A test set with the judgements of such a campaign."""
    said = judged(list(quality.values()), **planted)  # type: ignore[arg-type]  # of judged()
    return with_judgements(
        list(quality),
        said,
        named_raters=named_raters,
        named_documents=named_documents,
        kind=kind,
        without=without,
    )


def with_judgements(
    names: Sequence[str],
    said: Judged,
    *,
    named_raters: bool = True,
    named_documents: bool = True,
    kind: str = "quality",
    without: NDArray[np.bool_] | None = None,
    further: Sequence[str] = (),
) -> gn.TestSet:
    """A test set with single judgements; texts say nothing.

    Args:
        names: of the systems.
        said: what people said.
        named_raters: whether it is known who judged.
        named_documents: whether documents are known.
        kind: of the judgements.
        without: which judgements are missing.
        further: documents that nobody judged, one segment each.
    """
    n = int(said.segment.max()) + 1 + len(further)
    kept = np.ones(len(said.score), dtype=bool) if without is None else ~without
    tables = {r: np.full((len(names), n), np.nan) for r in np.unique(said.rater).tolist()}
    together = np.full((len(names), n), np.nan)
    for system, segment, rater, _, score in zip(*(part[kept] for part in said), strict=True):
        tables[int(rater)][system, segment] = together[system, segment] = score
    human = [HumanScores(kind, "segment", tuple(names), together)]
    if named_raters:
        human += [
            HumanScores(kind, "segment", tuple(names), values, rater=f"rater{r:02}")
            for r, values in tables.items()
        ]
    documents = np.zeros(n - len(further), dtype=np.int64)
    documents[said.segment] = said.document
    texts = [f"segment {number} of the set" for number in range(n)]
    return gn.TestSet(
        name="planted",
        references={"A": texts},
        systems={name: [f"{text} by {name}" for text in texts] for name in names},
        language_pair="de-en",
        documents=[*(f"d{number}" for number in documents), *further] if named_documents else None,
        human=tuple(human),
    )
