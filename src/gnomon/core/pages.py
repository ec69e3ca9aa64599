"""What the pages of a study show: methods, tables, test sets, and texts with marks.

A study fills these (:func:`gnomon.study.pages`), and a report shows them
(:func:`gnomon.report.site.write_site`). What is large is read when it is asked for.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.core.findings import Cell, Column, Statement, View
    from gnomon.core.store_views import Layer, Mark, SystemScoreColumn

__all__ = [
    "PageSection",
    "PageSegment",
    "PageSet",
    "PageTable",
    "PageText",
    "PageVerdict",
    "StudyPages",
    "page_maker",
]

#: pages of other kinds that methods write: what makes each, imported when it is asked for, as
#: methods themselves are (:data:`gnomon.core.registry.BUILT_IN`)
_MAKERS: Mapping[str, str] = {"form": "gnomon.report.sheet:to_form"}


def page_maker(kind: str) -> Callable[..., str]:
    """What makes a page of that kind.

    Args:
        kind: "form": outputs to be compared two at a time, and answers to be saved.
    """
    module, function = _MAKERS[kind].split(":")
    maker: Callable[..., str] = getattr(importlib.import_module(module), function)
    return maker


class PageSection(NamedTuple):
    """The page of a method.

    Attributes:
        id: name of the method.
        title: heading.
        note: what the method answers; empty where that is not known.
    """

    id: str
    title: str
    note: str = ""


@dataclass(frozen=True)
class PageTable:
    """Rows of any number, read part by part.

    Attributes:
        name: what the table is called in queries.
        title: for people.
        section: the page that shows it: "systems", "provenance", or that of a method.
        columns: the columns.
        parts: gives the cells column by column, at most that many rows at a time; best if a part
            is of one test set and metric, so that pages of others need not read it.
        note: a sentence on it.
        views: how it may be looked at.
    """

    name: str
    title: str
    section: str
    columns: Sequence[Column]
    parts: Callable[[int], Iterator[Sequence[Sequence[Cell]]]] = field(repr=False)
    note: str = ""
    views: Sequence[View] = ()


class PageVerdict(NamedTuple):
    """What a method found on a test set.

    Attributes:
        testset: name of the test set.
        section: the page that shows its tables: "systems", or that of a method.
        verdict: what was found.
    """

    testset: str
    section: str
    verdict: Sequence[Statement]


class PageText(NamedTuple):
    """A text, untouched, and what is marked in it."""

    text: str
    marks: Sequence[Mark] = ()


@dataclass(frozen=True)
class PageSegment:
    """A segment with all its texts, each distinct one once.

    Attributes:
        texts: the distinct texts.
        source: number of the source among the texts, if there is one.
        references: numbers of the references; None where one is missing.
        outputs: numbers of the outputs, system by system; None where it is not shown.
        document: its document, if known.
        domain: its domain, if known.
    """

    texts: Sequence[PageText]
    source: int | None
    references: Sequence[int | None]
    outputs: Sequence[int | None]
    document: str | None = None
    domain: str | None = None


@dataclass(frozen=True)
class PageSet:
    """A test set.

    Attributes:
        name: its name in the tables.
        language_pair: if known.
        segments: their number, N.
        systems: names of the K systems.
        references: names of the references.
        metrics: metrics with segment scores.
        scores: gives the segment scores of a metric, float64 [K, N]; NaN where there is none.
        read: gives the segments in order; nothing where texts are missing.
        layers: what can be marked in its texts.
        missing: why texts cannot be shown; empty where they can.
        notices: what cannot be marked, and why.
    """

    name: str
    language_pair: str | None
    segments: int
    systems: Sequence[str]
    references: Sequence[str]
    metrics: Sequence[str]
    scores: Callable[[str], NDArray[np.float64]] = field(repr=False)
    read: Callable[[], Iterator[PageSegment]] = field(repr=False)
    layers: Sequence[Layer] = ()
    missing: str = ""
    notices: Sequence[str] = ()


@dataclass(frozen=True)
class StudyPages:
    """A study.

    Attributes:
        title: what it is called.
        tables: all tables.
        testsets: all test sets.
        facts: what was looked at, for the head of the page.
        notices: what a reader should know.
        lower_is_better: metrics that are error rates.
        standings: columns of tables that say how good systems are.
        sections: the pages of methods, in order.
        verdicts: what was found, test set by test set.
        names: short names of metrics whose specs are long, by spec.
    """

    title: str
    tables: Sequence[PageTable]
    testsets: Sequence[PageSet]
    facts: Mapping[str, str] = field(default_factory=dict)
    notices: Sequence[str] = ()
    lower_is_better: Sequence[str] = ()
    standings: Sequence[SystemScoreColumn] = ()
    sections: Sequence[PageSection] = ()
    verdicts: Sequence[PageVerdict] = ()
    names: Mapping[str, str] = field(default_factory=dict)
