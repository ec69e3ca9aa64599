"""What is marked in the texts of a report: features, hard words, words that a metric rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from gnomon.errors import GnomonError
from gnomon.study._page_features import FeatureMarks
from gnomon.study._page_words import DifficultyMarks, ImportanceMarks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gnomon.cache import Cache
    from gnomon.study._page_source import PageSource
    from gnomon.study._sources import PlannedSet

#: number of a layer, ends of spans one after the other, their values (or none)
Mark: TypeAlias = "tuple[int, Sequence[int], Sequence[float | None]]"
#: kind, name, ends of the scale
Layer: TypeAlias = "tuple[str, str, float | None, float | None]"


class Text(NamedTuple):
    """A text and its marks."""

    text: str
    marks: Sequence[Mark]


@dataclass(frozen=True)
class Stretch:
    """Some segments in a row, with their texts.

    Attributes:
        first: the first segment, from 0.
        references: texts of the references, segment by segment, each by name.
        outputs: outputs of the systems, segment by segment, each by name.
    """

    first: int
    references: Sequence[dict[str, str]]
    outputs: Sequence[dict[str, str]]


class Marker(Protocol):
    """Marks texts in some layers."""

    @property
    def layers(self) -> Sequence[Layer]:
        """What it marks."""

    def marks(self, stretch: Stretch) -> Iterator[tuple[int, str, Mark]]:
        """Number of the segment (from 0, within the stretch), text, mark in one of its layers."""


@dataclass(frozen=True)
class Markers:
    """Everything that marks the texts of one test set.

    Attributes:
        markers: one for each kind of mark.
        notices: what cannot be marked, and why.
    """

    markers: tuple[Marker, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def layers(self) -> tuple[Layer, ...]:
        """All layers, in order."""
        return tuple(layer for one in self.markers for layer in one.layers)

    def marks(self, stretch: Stretch) -> list[dict[str, list[Mark]]]:
        """The marks of each text, segment by segment; each text once per layer."""
        found: list[dict[str, dict[int, Mark]]] = [{} for _ in stretch.outputs]
        base = 0
        for one in self.markers:
            for i, text, (layer, ends, values) in one.marks(stretch):
                number = base + layer
                found[i].setdefault(text, {}).setdefault(number, (number, ends, values))
            base += len(one.layers)
        return [{text: list(own.values()) for text, own in texts.items()} for texts in found]


def markers(
    source: PageSource,
    planned: PlannedSet,
    *,
    spans: bool,
    cache: Cache | None,
    progress: Callable[[str, int, int], None] | None,
) -> Markers:
    """Whatever can mark the texts of a test set.

    Args:
        source: the store.
        planned: the test set.
        spans: mark features.
        cache: where tags are kept.
        progress: called with a stage, what is done and the total.
    """
    there = {table for table in source.tables if planned.name in source.testsets(table)}
    found: list[Marker] = []
    notices = []
    if spans and "muler" in there:
        try:
            features = FeatureMarks.of(source, planned, cache=cache, progress=progress)
            features.check()
            found.append(features)
        except GnomonError as error:
            notices.append(f"features of {planned.name} are not marked in the texts: {error}")
    if "difficulty_words" in there:
        found.append(DifficultyMarks.of(source, planned.name))
    if "importance" in there:
        found.append(ImportanceMarks.of(source, planned.name))
    return Markers(tuple(found), tuple(notices))
