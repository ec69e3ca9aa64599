"""Worlds of `gnomon metaeval spans`: errors that people and others marked, planted in pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

from tests.truth.worlds import world

import gnomon as gn
from gnomon.core.human import OutputLookedAt
from gnomon.core.spans import ErrorSpan

if TYPE_CHECKING:
    from gnomon.core.findings import Finding

WORDS = 8
FEW: dict[str, Any] = {"examples": 0, "resamples": 200}
#: the words (from 0) of segment n that somebody marks
Marks = Callable[[int], Sequence[int]]


def error_at(n: int) -> list[int]:
    """One word of two segments out of three."""
    return [] if n % 3 == 0 else [n % WORDS]


def missing(share: float, seed: int = 1) -> Marks:
    """As people do, but for a share of the segments, where another word is marked."""

    def marks(n: int) -> list[int]:
        wrong = Random(1000 * seed + n).random() < share
        return [(word + 1) % WORDS if wrong else word for word in error_at(n)]

    return marks


def at_random(seed: int) -> Marks:
    """One word of two segments out of three, whatever people mark."""

    def marks(n: int) -> list[int]:
        draw = Random(1000 * seed + n)
        return [draw.randrange(WORDS)] if draw.random() < 2 / 3 else []

    return marks


def marked(
    others: dict[str, Marks],
    *,
    people: Sequence[Marks] = (error_at,),
    segments: int = 120,
    size: int | None = 3,
) -> Finding:
    """What is found of markers beside people, who looked at every output of one system.

    Args:
        others: kinds of marks that are judged, by name.
        people: of each person.
        segments: how many.
        size: of a document; none for no documents.
    """
    text = " ".join(f"word{k}" for k in range(WORDS))

    def spans(kind: str, rater: str, marks: Marks) -> list[ErrorSpan]:
        return [
            ErrorSpan("a", n, "candidate", 6 * k, 6 * k + 5, "", "major", rater, kind)
            for n in range(segments)
            for k in marks(n)
        ]

    judges = [(f"p{k}", one) for k, one in enumerate(people)]
    every = [("people", rater, one) for rater, one in judges]
    every += [(kind, kind, one) for kind, one in others.items()]
    made = gn.TestSet.from_lists(
        {"a": [text] * segments},
        [text] * segments,
        documents=None if size is None else [f"d{n // size}" for n in range(segments)],
        language_pair="es-en",
    )
    made = replace(
        made,
        errors=tuple(error for one in every for error in spans(*one)),
        looked_at=tuple(
            OutputLookedAt(kind, rater, "a", n) for kind, rater, _ in every for n in range(segments)
        ),
    )
    return gn.metaeval.spans(
        made, human="people", marks=list(others), error_free="spans", thresholds=(), **FEW
    )


@world(
    "a marker that finds what people found",
    says=["metaeval.spans.found", "metaeval.spans.free"],
    silent=["metaeval.spans.*"],
    without=["cannot tell whether"],
)
def finds_errors() -> Finding:
    return marked({"auto": missing(0.2)})


@world(
    "a marker that marks at random",
    says=["metaeval.spans.found", "metaeval.spans.free"],
    silent=["metaeval.spans.*"],
    without=["tells these"],
)
def marks_at_random() -> Finding:
    return marked({"auto": at_random(2)})


@world(
    "a marker that marks nothing",
    says=["metaeval.spans.nothing"],
    silent=["metaeval.spans.found", "metaeval.spans.free", "data.few"],
)
def marks_nothing() -> Finding:
    return marked({"auto": lambda _: []})


@world(
    "a marker that finds more than another",
    says=["metaeval.spans.better"],
    silent=["metaeval.spans.undecided"],
)
def one_is_better() -> Finding:
    return marked({"good": missing(0.1), "poor": missing(0.7, 2)})


@world(
    "two markers that find as much",
    says=["metaeval.spans.undecided"],
    silent=["metaeval.spans.better"],
)
def two_alike() -> Finding:
    return marked({"one": missing(0.3, 1), "two": missing(0.3, 2)})


@world(
    "two people and a marker",
    says=["metaeval.spans.people", "metaeval.spans.found"],
    silent=["metaeval.spans.nothing", "metaeval.spans.better"],
)
def people_and_a_marker() -> Finding:
    return marked({"auto": missing(0.3)}, people=(error_at, missing(0.3, 3)))


@world("two people", says=["metaeval.spans.people"], silent=["metaeval.spans.*"])
def people_alone() -> Finding:
    return marked({}, people=(error_at, missing(0.3, 3)))


@world("ten judgements", says=["data.few"], silent=["metaeval.spans.*"])
def few_judgements() -> Finding:
    return marked({"auto": missing(0.2)}, segments=10)


@world(
    "marks in ten documents",
    says=["data.few"],
    silent=["metaeval.spans.better", "metaeval.spans.undecided"],
    without=["tells these"],
)
def ten_documents() -> Finding:
    return marked({"good": missing(0.1), "poor": missing(0.7, 2)}, size=12)
