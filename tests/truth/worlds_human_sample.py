"""Worlds of draws for people to judge: many and few documents, one person and several, analyses."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.truth.worlds import outputs, planted, world

import gnomon as gn

if TYPE_CHECKING:
    from gnomon.core.findings import Finding

_ALL = "human.sample.*"


def drawn(*, systems: int = 3, documents: int | None = 104, **options: Any) -> Finding:
    """What is said of a draw from the example, of two segments a document."""
    texts = [outputs(), outputs("apertium-catalan"), outputs("apertium-galician")]
    names = None if documents is None else [f"d{n * documents // 208}" for n in range(208)]
    testset = planted(
        dict(zip("abc"[:systems], texts, strict=False)), segments=208, documents=names
    )
    domains = ["news" if n < 104 else "talk" for n in range(208)]
    testset = replace(testset, domains=domains)
    with tempfile.TemporaryDirectory() as folder:
        return gn.human.sample(testset, save=Path(folder) / "c.json", **options)


@world("a random draw for one person", says=["human.sample.drawn"], silent=[_ALL])
def random_draw() -> Finding:
    return drawn(documents=104, judgements=200)


@world("a draw of everything", says=["human.sample.drawn"], silent=[_ALL])
def whole_set() -> Finding:
    return drawn(judgements=208 * 3)


@world("a draw within domains", says=["human.sample.drawn"], silent=[_ALL])
def stratified_draw() -> Finding:
    return drawn(segments=60, design="stratified")


@world(
    "four people, a document each",
    says=["human.sample.drawn"],
    silent=[_ALL],
)
def together() -> Finding:
    return drawn(judgements=300, raters=4, same_rater=True)


@world(
    "four people, an output each",
    says=["human.sample.drawn", "human.sample.apart"],
    silent=[_ALL],
)
def apart() -> Finding:
    return drawn(judgements=300, raters=4)


@world(
    "two people, of whom each judges some systems of a document",
    says=["human.sample.drawn", "human.sample.apart"],
    silent=[_ALL],
)
def half_apart() -> Finding:
    return drawn(judgements=300, raters=2)


@world(
    "four people and one system, which nobody is compared with",
    says=["human.sample.drawn"],
    silent=[_ALL],
)
def one_system() -> Finding:
    return drawn(systems=1, judgements=100, raters=4)


@world(
    "three planned analyses", says=["human.sample.drawn", "human.sample.analyses"], silent=[_ALL]
)
def analyses() -> Finding:
    return drawn(judgements=560, interim_analyses=3)


@world("14 documents", says=["human.sample.drawn", "data.few"], silent=[_ALL])
def few_documents() -> Finding:
    return drawn(judgements=6 * 14)


@world("15 documents", says=["human.sample.drawn"], silent=[_ALL])
def enough_documents() -> Finding:
    return drawn(judgements=6 * 15)


@world(
    "29 segments without documents",
    says=["human.sample.drawn", "data.few"],
    silent=[_ALL],
)
def few_segments() -> Finding:
    return drawn(documents=None, segments=29)


@world("30 segments without documents", says=["human.sample.drawn"], silent=[_ALL])
def enough_segments() -> Finding:
    return drawn(documents=None, segments=30)
