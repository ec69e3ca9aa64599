"""Outline of a test set: its names and counts without its texts."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003  # outlines are read from JSON by their types
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gnomon.core.testset import TestSet

__all__ = ["Marked", "Outline", "outline_of", "target_of"]


def target_of(pair: str) -> str:
    """The language of references and outputs, of a pair, or of a language alone.

    >>> target_of("de-en"), target_of("en")
    ('en', 'en')
    """
    return pair.rsplit("-", 1)[-1]


class Marked(NamedTuple):
    """Errors that people marked."""

    kind: str  # which judgements ("word-tags", "mqm")
    side: str  # "candidate" or "source"
    # whether there are some that mark text (others say that something is missing, or that no error
    # was found)
    extent: bool


@dataclass(frozen=True)
class Outline:
    """The outline of a test set."""

    name: str  # what it is called
    language_pair: str | None  # such as "de-en", if known
    segments: int  # how many there are
    systems: tuple[str, ...]  # their names
    references: tuple[str, ...]  # names of the references shared by all systems
    own_references: bool = False  # whether systems have references of their own
    sources: bool = False  # whether there are sources
    # "document", "domain" and names of labels, and whether the segments have them
    slices: Mapping[str, bool] = field(default_factory=dict)
    human: tuple[tuple[str, str], ...] = ()  # kinds of human scores, each with its level
    rankings: tuple[str, ...] = ()  # kinds of relative rankings
    marked: tuple[Marked, ...] = ()  # which errors people marked
    paraphrases: tuple[str, ...] = ()  # methods of the paraphrases among the references
    # the language that the script of the references tells, where no pair is known and spaces do not
    # part its words
    written_in: str | None = None

    @property
    def target_language(self) -> str | None:
        """The language of references and outputs, if the pair or the script says it."""
        return target_of(self.language_pair) if self.language_pair else self.written_in

    @property
    def has_references(self) -> bool:
        """True if there are references of any kind."""
        return bool(self.references) or self.own_references

    def human_kinds(self, level: str | None = None) -> tuple[str, ...]:
        """As :meth:`gnomon.core.testset.TestSet.human_kinds`."""
        levels = {"system": ("system", "segment")}.get(level or "", (level,))
        return tuple(dict.fromkeys(k for k, at in self.human if level is None or at in levels))


def outline_of(testset: TestSet) -> Outline:
    """Outline of a test set."""
    rows = {"document": testset.documents, "domain": testset.domains, **testset.labels}
    marked = [Marked(str(e.kind), e.side, e.end > e.start) for e in testset.errors]
    marked += (Marked(output.kind, "candidate", extent=False) for output in testset.looked_at)
    return Outline(
        name=testset.name,
        language_pair=testset.language_pair,
        segments=testset.segments,
        systems=tuple(testset.systems),
        references=tuple(testset.references),
        own_references=bool(testset.system_references),
        sources=testset.sources is not None,
        slices={name: row is not None for name, row in rows.items()},
        human=tuple(dict.fromkeys((scores.kind, scores.level) for scores in testset.human)),
        rankings=tuple(dict.fromkeys(ranking.kind for ranking in testset.rankings)),
        marked=tuple(dict.fromkeys(marked)),
        paraphrases=tuple(dict.fromkeys(testset.paraphrases.values())),
        written_in=None if testset.language_pair else testset.written_in,
    )
