"""Designs of samples: documents or segments, analyses, and raters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from gnomon.core.errors import DataError
from gnomon.stats import proportional_allocation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.core.testset import TestSet
    from gnomon.data.formats import SampledSegment

DesignName: TypeAlias = Literal["random", "stratified"]
#: units that are drawn whole
Unit: TypeAlias = Literal["document", "segment"]


class SamplingUnit(NamedTuple):
    """Unit that is drawn as a whole: a document, or a segment.

    Attributes:
        document: empty where the test set does not tell.
        segments: 0-based.
    """

    document: str
    segments: tuple[int, ...]


@dataclass(frozen=True)
class Design:
    """Design of a draw.

    Attributes:
        name: of all, or of each stratum.
        units: documents or segments, in the order of the test set.
        strata: of each unit; empty where there are none.
        inclusion: the probability of each unit to be drawn [units].
    """

    name: DesignName
    units: tuple[SamplingUnit, ...]
    strata: tuple[str, ...]
    inclusion: NDArray[np.float64]

    def draw(self, rng: np.random.Generator) -> NDArray[np.intp]:
        """The units of one draw, ascending."""
        strata = np.array(self.strata)
        chosen = []
        for stratum in dict.fromkeys(self.strata):
            members = np.flatnonzero(strata == stratum)
            count = round(float(self.inclusion[members].sum()))
            chosen.append(rng.choice(members, count, replace=False))
        return np.sort(np.concatenate(chosen))


def units_of(testset: TestSet, unit: Unit) -> tuple[SamplingUnit, ...]:
    """The documents, or the segments, of a test set in its order."""
    documents = testset.documents or [""] * testset.segments
    if unit == "segment":
        return tuple(SamplingUnit(name, (segment,)) for segment, name in enumerate(documents))
    segments: dict[str, list[int]] = {}
    for segment, name in enumerate(documents):
        segments.setdefault(name, []).append(segment)
    return tuple(SamplingUnit(name, tuple(members)) for name, members in segments.items())


def design_of(
    units: Sequence[SamplingUnit],
    name: DesignName,
    count: int,
    testset: TestSet,
) -> Design:
    """A draw of so many units.

    Args:
        units: of which is drawn.
        name: at random, or within strata.
        count: how many units are drawn.
        testset: whose domains are the strata.

    Raises:
        DataError: there are fewer units to draw than strata.
    """
    if name == "random":
        strata: Sequence[str] = [""] * len(units)
        inclusion = np.full(len(units), count / len(units))
    else:
        domains = testset.domains or ()
        strata = [domains[unit.segments[0]] for unit in units]
        names, members = np.unique(strata, return_inverse=True)
        if count < len(names):
            raise DataError(
                f"there are {len(names)} strata, and {count} units cannot be drawn from each of"
                " them; draw more, or draw at random"
            )
        sizes = np.bincount(members)
        inclusion = (proportional_allocation(sizes, count) / sizes)[members]
    return Design(name, tuple(units), tuple(strata), inclusion)


def analysis_of_units(
    units: Sequence[SamplingUnit], analyses: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """The analysis, from 1, in which each drawn unit is judged: equally many documents in each."""
    number: dict[str | int, int] = {}
    groups = [number.setdefault(unit.document or unit.segments[0], len(number)) for unit in units]
    analysis = np.empty(len(number), dtype=np.intp)
    for which, members in enumerate(
        np.array_split(rng.permutation(len(number)), analyses), start=1
    ):
        analysis[members] = which
    return analysis[groups]


class Block(NamedTuple):
    """Block for one person: a document, or its drawn segments, of some systems.

    Attributes:
        analysis: from 1.
        document: empty where the test set does not tell.
        segments: 0-based.
        systems: in the order in which they are shown.
        rater: from 0.
    """

    analysis: int
    document: str
    segments: tuple[int, ...]
    systems: tuple[str, ...]
    rater: int


def blocks_of(
    rows: Sequence[SampledSegment],
    systems: Sequence[str],
    raters: int,
    *,
    same_rater: bool,
    rng: np.random.Generator,
) -> list[Block]:
    """Who judges what, in the order in which each person sees it.

    Every person judges about equally much in each analysis, and of equally many systems. Where
    systems of a document go to different people, nobody judges two of them as long as there are
    enough.
    """
    documents: dict[tuple[int, str | int], list[int]] = {}
    for row in rows:
        documents.setdefault((row.analysis, row.document or row.segment), []).append(row.segment)
    names = {row.segment: row.document for row in rows}
    loads = np.zeros(raters)
    judged = np.zeros((raters, len(systems)))
    blocks = []
    shuffled = [list(documents)[n] for n in rng.permutation(len(documents))]
    # long documents first, so that short ones level the loads
    for analysis, key in sorted(shuffled, key=lambda place: (place[0], -len(documents[place]))):
        segments = tuple(documents[analysis, key])
        here = np.zeros(raters)
        order = rng.permutation(len(systems)).tolist()
        for shown in [order] if same_rater else [[number] for number in order]:
            burden = judged[:, shown].sum(axis=1)
            rater = int(np.lexsort((rng.random(raters), burden, loads, here))[0])
            here[rater] += 1
            loads[rater] += len(segments) * len(shown)
            judged[rater, shown] += len(segments)
            shown_systems = tuple(systems[number] for number in shown)
            blocks.append(Block(analysis, names[segments[0]], segments, shown_systems, rater))
    mixed = [blocks[n] for n in rng.permutation(len(blocks))]
    return sorted(mixed, key=lambda block: (block.analysis, block.rater))
