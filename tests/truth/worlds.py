"""Planted worlds: small data in which it is known what is true, and what may be said of it.

Every kind of sentence in the catalogue needs a world in which it must appear and
one in which it must not. A module ``worlds_METHOD.py`` holds those of a method::

    @world("two equal systems", says=["compare.same"], silent=["compare.better"])
    def equal_systems() -> Finding:
        return gn.compare(planted(a=SYSTEM, b=SYSTEM))

Generators take seeds; a world is the same in every process.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

import gnomon as gn
from gnomon import example
from gnomon.core.findings import Finding
from gnomon.messages import Message

Said: TypeAlias = Finding | Iterable[Message]


class World(NamedTuple):
    """A planted world.

    Attributes:
        name: what is planted, in words.
        make: gives a finding, or the statements themselves.
        says: codes of messages that must appear in the verdict.
        silent: codes of messages that must not; ``METHOD.*`` for all of a method, but for
            those of ``says``.
        without: texts that no sentence may hold.
    """

    name: str
    make: Callable[[], Said]
    says: frozenset[str]
    silent: frozenset[str]
    without: tuple[str, ...]


WORLDS: list[World] = []


def world(
    name: str,
    *,
    says: Iterable[str] = (),
    silent: Iterable[str] = (),
    without: Sequence[str] = (),
) -> Callable[[Callable[[], Said]], Callable[[], Said]]:
    """Register a world; see :class:`World`."""

    def registered(make: Callable[[], Said]) -> Callable[[], Said]:
        WORLDS.append(World(name, make, frozenset(says), frozenset(silent), tuple(without)))
        return make

    return registered


# Texts to plant things in


@cache
def bundled() -> gn.TestSet:
    """The example: 209 segments with documents and domains, and five rule-based systems."""
    return gn.TestSet.read(str(example.path()))


def references() -> list[str]:
    """The reference of each segment of the example."""
    (texts,) = bundled().references.values()
    return [str(text) for text in texts]


def outputs(system: str = "apertium-direct") -> list[str]:
    """What a system of the example wrote."""
    return list(bundled().systems[system])


def planted(
    systems: Mapping[str, Sequence[str]],
    *,
    segments: int | None = None,
    documents: Sequence[str] | None = None,
    language: str | None = "es-en",
    against: Sequence[str] | None = None,
) -> gn.TestSet:
    """A test set of planted outputs and the references of the example, or others.

    Args:
        systems: texts by name.
        segments: the first so many; all by default.
        documents: the document of each segment.
        language: the language pair.
        against: references in place of the example's.
    """
    own = list(references() if against is None else against)
    n = len(own) if segments is None else segments
    return gn.TestSet.from_lists(
        {name: list(texts)[:n] for name, texts in systems.items()},
        own[:n],
        language_pair=language,
        documents=None if documents is None else list(documents)[:n],
        name="planted",
    )


def noised(texts: Sequence[str], share: float, seed: int) -> list[str]:
    """Texts in which a share of the words is replaced by a word that occurs in none of them."""
    draw = random.Random(seed)

    def word(one: str) -> str:
        return "zzq" if draw.random() < share else one

    return [" ".join(word(one) for one in text.split(" ")) for text in texts]


def repeated(texts: Sequence[str], times: int) -> list[str]:
    """The texts, so many times over, each copy told apart by a number at its end."""
    return [f"{text} {k}" for k in range(times) for text in texts]
