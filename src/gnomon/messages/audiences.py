"""Audiences, and words written for each: options, remedies, places in files.

A sentence that is to be read at a command line and in Python holds such parts beside its words::

    said = ("that is a run; go on with it (", flag("resume"), "), or name another folder")
    written(said, "shell")  # that is a run; go on with it (--resume), ...
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = [
    "Advice",
    "Audience",
    "InFile",
    "Named",
    "OptionName",
    "Place",
    "Words",
    "Written",
    "add_language",
    "flag",
    "install",
    "parameter",
    "remedies",
    "written",
    "written_for",
]

#: who reads: at a command line, in Python, in a browser, at a command line of a file of options
Audience: TypeAlias = Literal["shell", "python", "page", "file"]


class Written:
    """Words written for each audience."""

    def parts(self) -> Iterable[Any]:
        """The words that it is made of."""
        return ()

    def written(self, audience: Audience) -> str:
        """Its text for an audience: that of its parts."""
        return str(written(tuple(self.parts()), audience))


@dataclass(frozen=True)
class Named(Written):
    """Advice that command lines and Python name in their own ways."""

    shell: str
    python: str

    def written(self, audience: Audience) -> str:
        """Its name; pages have that of Python."""
        return self.shell if audience in ("shell", "file") else self.python


@dataclass(frozen=True)
class OptionName(Named):
    """An option, which files call as Python does."""

    def written(self, audience: Audience) -> str:
        """Its name."""
        return self.shell if audience == "shell" else self.python


@dataclass(frozen=True)
class Advice(Written):
    """Advice, in words and for programs.

    Attributes:
        said: the words.
        kind: what is done.
        arguments: with what, by name.
    """

    said: Words
    kind: Literal["install", "add_option", "use_format"]
    arguments: Mapping[str, str]

    def parts(self) -> Iterable[Any]:
        """The words."""
        return (self.said,)


@dataclass(frozen=True)
class InFile(Written):
    """Words on a file of options, at a command line, too."""

    said: Written

    def parts(self) -> Iterable[Any]:
        """The words."""
        return (self.said,)

    def written(self, audience: Audience) -> str:
        """The words."""
        return self.said.written("file" if audience == "shell" else audience)


@dataclass(frozen=True)
class Place(Written):
    """A place in a file, at which what is wrong there begins.

    Attributes:
        path: of the file, as it is named.
        line: 1-based.
        unit: "line" or "row".
    """

    path: str
    line: int | None = None
    unit: Literal["line", "row"] = "line"

    def written(self, audience: Audience) -> str:
        """The place, before what is said; people at a page know the file by its name alone."""
        path = PurePath(self.path).name if audience == "page" else self.path
        at = f", row {self.line}" if self.unit == "row" else f":{self.line}"
        return f"{path}{at if self.line else ''}: "


#: words that hold what is written for each audience
Words: TypeAlias = "str | Written | tuple[Words, ...]"


def flag(name: str, value: object = "", given: object = None) -> Advice:
    """To add an option, which is a parameter in Python; with a value where one is proposed.

    Args:
        name: of the parameter.
        value: as a command line takes it.
        given: as Python takes it, if that is another.

    >>> flag("lexicon", "NAME=FILE", "{NAME: FILE}").said
    OptionName(shell='--lexicon NAME=FILE', python='lexicon={NAME: FILE}')
    """
    shell = f"--{name.replace('_', '-')} {value}".rstrip()
    said = OptionName(shell, f"{name}={value if given is None else given}")
    return Advice(said, "add_option", {"option": name, "value": str(value)})


def parameter(name: str) -> OptionName:
    """A parameter, as what a sentence is about."""
    return OptionName(f"--{name.replace('_', '-')}", name)


def add_language() -> Advice:
    """To name the language, which command lines take as the end of a pair."""
    said = Named("-l en", "language='en'")
    return Advice(said, "add_option", {"option": "language_pair", "value": "en"})


def install(extra: str) -> Advice:
    """To install a package; by pip, with an extra of gnomon."""
    package = f"gnomon[{extra}]"
    return Advice(f"pip install '{package}'", "install", {"package": package})


def remedies(words: Any) -> Iterator[Advice]:
    """Yield all the advice that words hold."""
    if isinstance(words, Advice):
        yield words
    elif isinstance(words, Written | tuple):
        for part in words.parts() if isinstance(words, Written) else words:
            yield from remedies(part)


#: whoever this process writes for
_reader: Audience = "python"


@contextmanager
def written_for(audience: Audience) -> Iterator[None]:
    """Within it, what names no audience is written for this one."""
    global _reader  # noqa: PLW0603  # of the process: one command line at a time
    before, _reader = _reader, audience
    try:
        yield
    finally:
        _reader = before


def written(words: Any, audience: Audience | None = None) -> Any:
    """Words for an audience; what is no words stays, for templates that say how to write it."""
    if isinstance(words, tuple):
        return "".join(str(written(one, audience)) for one in words)
    if isinstance(words, Written):
        return words.written(audience or _reader)
    return words
