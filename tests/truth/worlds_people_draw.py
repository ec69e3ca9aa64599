"""Worlds of draws for people to judge: many and few documents, one person and several, looks."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.truth.worlds import outputs, planted, world

import gnomon as gn

if TYPE_CHECKING:
    from gnomon.core.findings import Finding

_ALL = "people.draw.*"


def drawn(*metrics: str, systems: int = 3, documents: int | None = 104, **options: Any) -> Finding:
    """What is said of a draw from the example, of two segments a document."""
    texts = [outputs(), outputs("apertium-catalan"), outputs("apertium-galician")]
    names = None if documents is None else [f"d{n * documents // 208}" for n in range(208)]
    testset = planted(
        dict(zip("abc"[:systems], texts, strict=False)), segments=208, documents=names
    )
    with tempfile.TemporaryDirectory() as folder:
        return gn.people.draw(testset, metrics, save=Path(folder) / "c.json", **options)


@world("a random draw for one person", says=["people.draw.random"], silent=[_ALL])
def random_draw() -> Finding:
    return drawn(documents=104, judgements=200)


@world("a draw of everything", says=["people.draw.whole"], silent=[_ALL])
def whole_set() -> Finding:
    return drawn("chrf", judgements=208 * 3, how="pps")


@world("a draw within thirds", says=["people.draw.strata"], silent=[_ALL])
def stratified_draw() -> Finding:
    return drawn("chrf", segments=60, how="strata")


@world("a weighted draw", says=["people.draw.weighted"], silent=[_ALL])
def weighted_draw() -> Finding:
    return drawn("chrf", segments=60, how="pps")


@world(
    "four people, a document each",
    says=["people.draw.random", "people.draw.raters"],
    silent=[_ALL],
)
def together() -> Finding:
    return drawn(judgements=300, raters=4, same_rater=True)


@world(
    "four people, an output each",
    says=["people.draw.random", "people.draw.raters", "people.draw.apart"],
    silent=[_ALL],
)
def apart() -> Finding:
    return drawn(judgements=300, raters=4)


@world(
    "two people, of whom each judges some systems of a document",
    says=["people.draw.random", "people.draw.raters", "people.draw.apart"],
    silent=[_ALL],
)
def half_apart() -> Finding:
    return drawn(judgements=300, raters=2)


@world(
    "four people and one system, which nobody is compared with",
    says=["people.draw.random", "people.draw.raters"],
    silent=[_ALL],
)
def one_system() -> Finding:
    return drawn(systems=1, judgements=100, raters=4)


@world("three planned looks", says=["people.draw.random", "people.draw.looks"], silent=[_ALL])
def looks() -> Finding:
    return drawn(judgements=560, looks=3)


@world("14 documents", says=["people.draw.random", "people.draw.few"], silent=[_ALL])
def few_documents() -> Finding:
    return drawn(judgements=6 * 14)


@world("15 documents", says=["people.draw.random"], silent=[_ALL])
def enough_documents() -> Finding:
    return drawn(judgements=6 * 15)


@world(
    "29 segments without documents",
    says=["people.draw.random", "people.draw.few"],
    silent=[_ALL],
)
def few_segments() -> Finding:
    return drawn(documents=None, segments=29)


@world("30 segments without documents", says=["people.draw.random"], silent=[_ALL])
def enough_segments() -> Finding:
    return drawn(documents=None, segments=30)
