"""Data of the pages of a study: methods, tables, test sets, and texts with marks.

A study fills these (:func:`gnomon.study.pages`), and a report shows them
(:func:`gnomon.report.site.write_site`). What is large is read when it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.core.findings import Cell, Column, View
    from gnomon.core.store_views import Layer, Mark, SystemScoreColumn
    from gnomon.messages import Message

__all__ = [
    "PageSection",
    "PageSegment",
    "PageSet",
    "PageTable",
    "PageText",
    "PageVerdict",
    "StudyPages",
]


class PageSection(NamedTuple):
    """The page of a method."""

    id: str  # name of the method
    title: str
    note: str = ""  # what the method answers; empty where that is not known


@dataclass(frozen=True)
class PageTable:
    """Rows of any number, read part by part."""

    name: str  # what the table is called in queries
    title: str  # for people
    section: str  # the page that shows it: "systems", "provenance", or that of a method
    columns: Sequence[Column]  # the columns
    # gives the cells column by column, at most that many rows at a time; best if a part is of one
    # test set and metric, so that pages of others need not read it
    parts: Callable[[int], Iterator[Sequence[Sequence[Cell]]]] = field(repr=False)
    note: str = ""  # a sentence on it
    views: Sequence[View] = ()  # how it may be looked at


class PageVerdict(NamedTuple):
    """A method's verdict on a test set."""

    testset: str  # name of the test set
    section: str  # the page that shows its tables: "systems", or that of a method
    verdict: Sequence[Message]  # what was found


class PageText(NamedTuple):
    """A text, untouched, and what is marked in it."""

    text: str
    marks: Sequence[Mark] = ()


@dataclass(frozen=True)
class PageSegment:
    """A segment with all its texts, each distinct one once."""

    texts: Sequence[PageText]  # the distinct texts
    source: int | None  # number of the source among the texts, if there is one
    references: Sequence[int | None]  # numbers of the references; None where one is missing
    # numbers of the outputs, system by system; None where it is not shown
    outputs: Sequence[int | None]
    document: str | None = None  # its document, if known
    domain: str | None = None  # its domain, if known


@dataclass(frozen=True)
class PageSet:
    """A test set."""

    name: str  # its name in the tables
    language_pair: str | None  # if known
    segments: int  # their number, N
    systems: Sequence[str]  # names of the K systems
    references: Sequence[str]  # names of the references
    metrics: Sequence[str]  # metrics with segment scores
    # gives the segment scores of a metric, float64 [K, N]; NaN where there is none
    scores: Callable[[str], NDArray[np.float64]] = field(repr=False)
    # gives the segments in order; nothing where texts are missing
    read: Callable[[], Iterator[PageSegment]] = field(repr=False)
    layers: Sequence[Layer] = ()  # what can be marked in its texts
    missing: Message | None = None  # why texts cannot be shown; None where they can
    notices: Sequence[Message] = ()  # what cannot be marked, and why


@dataclass(frozen=True)
class StudyPages:
    """A study."""

    title: str  # what it is called
    tables: Sequence[PageTable]  # all tables
    testsets: Sequence[PageSet]  # all test sets
    # what was looked at, for the head of the page
    facts: Mapping[str, str] = field(default_factory=dict)
    notices: Sequence[Message] = ()  # what a reader should know
    lower_is_better: Sequence[str] = ()  # metrics that are error rates
    standings: Sequence[SystemScoreColumn] = ()  # columns of tables that say how good systems are
    sections: Sequence[PageSection] = ()  # the pages of methods, in order
    verdicts: Sequence[PageVerdict] = ()  # what was found, test set by test set
    # short names of metrics whose specs are long, by spec
    names: Mapping[str, str] = field(default_factory=dict)
