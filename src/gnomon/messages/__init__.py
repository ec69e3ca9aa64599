"""Sentences as data: what a message is, the catalogue of templates, and how one is rendered.

Whoever finds something makes a message of a code and its parameters; the text is made where people
read it. A template stands once, in ``en.toml``, with what has to hold for it to be true::

    yield message("omissions.rate", finding.positions([row]), system=row.system, rate=rate)

Nothing of gnomon is imported here.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003  # msgspec reads it, in stores
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "Kind",
    "Level",
    "Message",
    "add",
    "catalogue",
    "kind_of",
    "message",
    "phrase",
    "rendered",
]

Level: TypeAlias = Literal["better", "worse", "undecided", "caution"]


@dataclass(frozen=True)
class Kind:
    """A kind of message: an entry of the catalogue.

    Attributes:
        template: the sentence, with the names of its parameters in braces; ``{name!c}`` begins a
            sentence, and gets a capital letter. Cautions get their opening word, all their stop.
        level: of the message; None where it depends on the rows and is told with them.
        rests_on: which figures and which test have to hold for it to be true.
        quotes: whether it holds words of the texts, which not everybody may see who sees results.
    """

    template: str
    level: Level | None
    rests_on: str
    quotes: bool = False


@dataclass(frozen=True)
class Message:
    """What a method says, as data; ``str()`` gives the sentence.

    Attributes:
        code: its kind ("compare.better"), an entry of the catalogue.
        level: "better" or "worse" where something was found: how what the sentence names first
            does beside what it is held against, so that "B is better than A" is "better" whichever
            of them is the baseline; "undecided" where nothing was found, and "caution" for what
            looks like a finding and is none, or what the others are read by.
        params: what stands in the braces of the template. Names stand in it as users gave them:
            whoever shows it escapes them.
        rows: what it rests on: positions of rows, by the name of their table.
        subjects: what it is about, by the kind ("testsets"), where it stands among others.
    """

    code: str
    level: Level
    params: Mapping[str, str | int | float] = field(default_factory=dict)
    rows: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    subjects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __str__(self) -> str:
        return rendered(self)

    def renamed(self, rename: Callable[[str], str]) -> Message:
        """The message of other names: all its words are given to a function."""
        told = {k: rename(v) if isinstance(v, str) else v for k, v in self.params.items()}
        return replace(self, params=told)


def catalogue() -> Mapping[str, Kind]:
    """The kinds of messages that are told here, by their codes."""
    return _catalogue()


@cache
def _catalogue() -> Mapping[str, Kind]:
    import tomllib

    text = (Path(__file__).parent / "en.toml").read_text(encoding="utf-8")
    return dict(_kinds(tomllib.loads(text)))


#: kinds of methods of other packages
_ADDED: dict[str, Kind] = {}


def add(kinds: Mapping[str, Kind]) -> None:
    """Let a method of another package say its own kinds.

    Args:
        kinds: by their codes ("METHOD.NAME", with the name of the method in the registry).

    Raises:
        ValueError: if a code is another kind's.
    """
    for code, kind in kinds.items():
        if (catalogue().get(code) or _ADDED.setdefault(code, kind)) != kind:
            raise ValueError(f"{code} is another kind of message")


def kind_of(code: str) -> Kind:
    """The kind of a code.

    Raises:
        KeyError: if there is none.
    """
    return catalogue().get(code) or _ADDED[code]


def _kinds(entries: Mapping[str, Any], before: str = "") -> list[tuple[str, Kind]]:
    """Entries, which stand in tables of their method."""
    found = []
    for name, entry in entries.items():
        if "template" in entry:
            found.append((before + name, Kind(**{"level": None, **entry})))
        else:
            found += _kinds(entry, f"{before}{name}.")
    return found


def message(
    code: str,
    rows: Mapping[str, Sequence[int]] | None = None,
    /,
    *,
    level: Level | None = None,
    **params: object,
) -> Message:
    """A message of a kind.

    Args:
        code: the kind.
        rows: what it rests on: positions of rows, by the name of their table.
        level: where the kind itself has none.
        params: what stands in the braces of its template.

    >>> str(message("score.disagree"))
    'Caution: the metrics do not agree on which system is best.'
    """
    which = kind_of(code).level or level
    if which is None:
        raise ValueError(f"the message {code} needs a level")
    places = {name: tuple(some) for name, some in (rows or {}).items()}
    return Message(code, which, {name: _plain(value) for name, value in params.items()}, places)


def _plain(value: object) -> str | int | float:
    """A parameter that JSON can hold."""
    if isinstance(value, str | int | float):
        return value
    return value.__index__() if hasattr(value, "__index__") else str(value)


class _Sentences(Formatter):
    """Fills in templates."""

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        if conversion == "c":
            return value[:1].upper() + value[1:]
        return super().convert_field(value, conversion)


def rendered(said: Message, *, opening: bool = True) -> str:
    """The sentence of a message.

    Args:
        said: the message.
        opening: let cautions begin with that word. What is undecided says so itself ("cannot be
            told apart").
    """
    opened = ["Caution"] if opening and said.level == "caution" else []
    text = ": ".join([*said.subjects.get("testsets", ()), *opened, phrase(said)])
    return text if text.endswith((".", "!", "?")) else f"{text}."


def phrase(said: Message) -> str:
    """The words of a message, without opening and stop, for a sentence that holds it."""
    return _Sentences().vformat(kind_of(said.code).template, (), said.params)
