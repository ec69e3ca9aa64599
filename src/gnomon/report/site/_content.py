"""What a site needs to know of a study: tables, test sets, texts with marks; nothing of stores.

Protocols, not classes: a room of the same floor fills them without importing this one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.findings import Cell, Column

__all__ = ["Content", "Marks", "SegmentContent", "SetContent", "TableContent", "TextContent"]

#: of one layer: its number, ends of the spans (start, end, start, end, ...), a value for each or
#: none at all
Marks: TypeAlias = "tuple[int, Sequence[int], Sequence[float | None]]"


class TableContent(Protocol):
    """Rows of any number, read part by part.

    Attributes:
        name: what the table is called in queries.
        title: for people.
        page: which page shows it: systems, features, words, references, agreement, provenance.
        columns: the columns.
    """

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def page(self) -> str: ...
    @property
    def columns(self) -> Sequence[Column]: ...

    def parts(self, rows: int) -> Iterator[Sequence[Sequence[Cell]]]:
        """The cells column by column, that many rows at a time."""
        ...


class TextContent(Protocol):
    """A text with what is marked in it.

    Attributes:
        text: the text, untouched.
        marks: by layer.
    """

    @property
    def text(self) -> str: ...
    @property
    def marks(self) -> Sequence[Marks]: ...


class SegmentContent(Protocol):
    """A segment with all its texts, each distinct one once.

    Attributes:
        document: its document, if known.
        domain: its domain, if known.
        texts: the distinct texts.
        source: number of the source among the texts, if there is one.
        references: numbers of the references; None where one is missing.
        outputs: numbers of the outputs, system by system; None where it is not shown.
    """

    @property
    def document(self) -> str | None: ...
    @property
    def domain(self) -> str | None: ...
    @property
    def texts(self) -> Sequence[TextContent]: ...
    @property
    def source(self) -> int | None: ...
    @property
    def references(self) -> Sequence[int | None]: ...
    @property
    def outputs(self) -> Sequence[int | None]: ...


class SetContent(Protocol):
    """A test set.

    Attributes:
        name: its name in the tables.
        language_pair: if known.
        segments: their number, N.
        systems: names of the K systems.
        references: names of the references.
        metrics: metrics with segment scores.
        layers: what can be marked in its texts: its kind, "feature" (spans), "difficulty" or
            "importance" (spans with values), its name, and the ends of the scale of its values.
        missing: why texts cannot be shown; empty where they can.
    """

    @property
    def name(self) -> str: ...
    @property
    def language_pair(self) -> str | None: ...
    @property
    def segments(self) -> int: ...
    @property
    def systems(self) -> Sequence[str]: ...
    @property
    def references(self) -> Sequence[str]: ...
    @property
    def metrics(self) -> Sequence[str]: ...
    @property
    def layers(self) -> Sequence[tuple[str, str, float | None, float | None]]: ...
    @property
    def missing(self) -> str: ...

    def scores(self, metric: str) -> NDArray[np.float64]:
        """Segment scores, float64 [K, N]; NaN where there is none."""
        ...

    def read(self) -> Iterator[SegmentContent]:
        """The segments in order; nothing where texts are missing."""
        ...


class Content(Protocol):
    """A study.

    Attributes:
        title: what it is called.
        facts: what was looked at, for the head of the page.
        notices: what a reader should know.
        lower_is_better: metrics that are error rates.
        tables: all tables.
        testsets: all test sets.
    """

    @property
    def title(self) -> str: ...
    @property
    def facts(self) -> Mapping[str, str]: ...
    @property
    def notices(self) -> Sequence[str]: ...
    @property
    def lower_is_better(self) -> Sequence[str]: ...
    @property
    def tables(self) -> Sequence[TableContent]: ...
    @property
    def testsets(self) -> Sequence[SetContent]: ...
