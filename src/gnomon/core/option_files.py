"""Options in TOML files, checked as a whole: all problems are reported together."""

from __future__ import annotations

import datetime as dt
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gnomon.core.errors import (
    DataError,
    FormatError,
    GnomonError,
    UnknownNameError,
    WrongTypeError,
    plain,
)
from gnomon.core.options import InputFile, file_option, fits, misfits
from gnomon.core.validation import Problem
from gnomon.messages.audiences import InFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from gnomon.core.options import Option
    from gnomon.messages import Message
    from gnomon.messages.audiences import Words


def parsed_toml(text: str, file: Path) -> Mapping[str, object]:
    """Parse a text in TOML; errors name its file, and the line."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        # before Python 3.14 the line stands in its words alone; at the end there is none
        number = str(error).partition("(at line ")[2].partition(",")[0]
        line = int(number) if number.isdigit() else text.count("\n") + 1
        raise FormatError(f"is not TOML: {error}", path=str(file), line=line) from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"is not TOML: {plain(error)}", path=str(file)) from error
    for key in _keys_with_nul(content):
        raise FormatError(f"{key} holds a NUL character, which no name has", path=str(file))
    return content


def _keys_with_nul(value: object, key: str = "") -> Iterator[str]:
    """The keys of texts that the operating system would not take."""
    if isinstance(value, str) and "\0" in value:
        yield key
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from _keys_with_nul(member, f"{key}.{name}" if key else name)
    if isinstance(value, list):
        for number, member in enumerate(value):
            yield from _keys_with_nul(member, f"{key}[{number}]")


def described(value: object) -> str:
    """A value of TOML, as it stands there or in words."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.date | dt.time):
        return f"a time, {value}"
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a table"
    return repr(value)


class OptionsError(DataError, code="error.options"):
    """Options in a file are wrong: each problem, with the key that it belongs to."""

    def __init__(self, file: str | Path, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        count = "an error" if len(self.problems) == 1 else f"{len(self.problems)} errors"
        lines = [("\n  ", f"{key}: " if key else "", InFile(error)) for key, error in self.problems]
        super().__init__(f"{file} has {count}:", *lines, path=file)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The problems, each about its key."""
        file = {"files": (str(self.path),)}
        return tuple(
            error.message.about(**file, options=[key] if key else [])
            for key, error in self.problems
        )


@dataclass
class Problems:
    """Errors found so far, each with the key that it belongs to."""

    found: list[Problem] = field(default_factory=list)
    called: dict[str, str] = field(default_factory=dict)

    def add(self, where: str, *said: Words) -> None:
        """Note an error, once."""
        error = said[0] if isinstance(said[0], GnomonError) and not said[1:] else DataError(*said)
        if (where, str(error)) not in [(key, str(other)) for key, other in self.found]:
            self.found.append(Problem(where, error))

    def refuse(self, file: str | Path) -> None:
        """Tell all of them."""
        if self.found:
            raise OptionsError(file, self.found)

    def name(self, where: str, kind: str, given: str, choices: Iterable[str]) -> None:
        """Note an unknown name, with what there is and the nearest of it."""
        self.add(where, UnknownNameError(kind, given, list(choices)))

    def unknown(self, given: Mapping[str, object], allowed: Iterable[str], where: str) -> None:
        """Note unknown keys."""
        for key in given:
            if key not in allowed:
                self.name(f"{where}.{key}" if where else key, "key", key, allowed)

    def strings(self, given: Mapping[str, object], key: str, where: str) -> tuple[str, ...]:
        """A list of strings, or one string."""
        value = given.get(key, [])
        if isinstance(value, str):
            return (value,)
        if isinstance(value, list) and all(isinstance(member, str) for member in value):
            return tuple(value)
        self.add(f"{where}.{key}", f"must be texts; got {described(value)}")
        return ()

    def positive(self, given: Mapping[str, object], key: str, where: str) -> int | None:
        """A count of 1 or more, or nothing."""
        value = given.get(key)
        if value is None or (type(value) is int and value >= 1):
            return value
        self.add(f"{where}.{key}", f"must be a whole number, 1 or more; got {described(value)}")
        return None


def typed_options(
    declared: Mapping[str, Option], given: Mapping[str, object], where: str, problems: Problems
) -> dict[str, object]:
    """The options that are known and of the right type."""
    problems.unknown(given, declared, where)
    typed: dict[str, object] = {}
    for key, value in given.items():
        if key not in declared:
            continue
        option = file_option(declared[key])
        fitting = value
        if option.mark(InputFile) and isinstance(value, str) and not fits(option.kind, value):
            fitting = [value]  # one file of several
        # values of the right type that are not allowed are among what the method refuses
        wrong = [misfit for misfit in misfits(option, fitting) if misfit.error is WrongTypeError]
        for misfit in wrong:
            must = misfit.must.replace("True or False", "true or false")
            place = f"{where}.{key}" if where else key
            problems.add(f"{place}{misfit.where}", f"must be {must}; got {described(misfit.given)}")
        if not wrong:
            typed[key] = fitting
    return typed
