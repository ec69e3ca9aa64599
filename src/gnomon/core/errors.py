"""The tree of errors.

::

    GnomonError
    ├── DataError (ValueError)              exit 1: the data do not fit
    │   ├── FormatError                     a file is not what it should be: path, line, remedy
    │   ├── LengthMismatchError             two sides have unequal numbers of segments
    │   ├── AnnotationError                 labels do not fit their text
    │   └── MaskingError                    no two masks survive a metric's tokeniser
    ├── MissingFileError (FileNotFoundError)  exit 1
    ├── OutputError (OSError)               exit 1: a result or a cache entry cannot be written
    ├── ScoringError (RuntimeError)         exit 1: a metric failed or returned nonsense
    │   └── ServerFailedError               a language model's server gave no answer
    ├── UsageError (ValueError)             exit 2: the request is wrong
    │   ├── UnknownNameError (LookupError)  no such metric, feature, tagger, system, ...
    │   ├── SpecError                       a metric's spec string cannot be read
    │   └── WrongTypeError (TypeError)      a function was given something that it does not take
    ├── MissingDependencyError (ImportError)  exit 2: a package or a model is not installed
    └── GateError                           exit 3: a condition that was asked for does not hold
        └── UndecidedGateError              exit 4: the data do not show whether it holds

Every message says what happened, what was given, what is allowed and what to do. What command lines
and Python name in their own ways is a part of its own, and written for whoever reads::

    raise UsageError("that is a run; go on with it (", flag("resume"), "), or name another folder")
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from gnomon.messages import Message
from gnomon.messages.audiences import Place, Words, Written, install, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "AnnotationError",
    "DataError",
    "FormatError",
    "GateError",
    "GnomonError",
    "LengthMismatchError",
    "MaskingError",
    "MissingDependencyError",
    "MissingFileError",
    "OutputError",
    "ScoringError",
    "ServerFailedError",
    "SpecError",
    "UndecidedGateError",
    "UnknownNameError",
    "UsageError",
    "WrongTypeError",
]

_SHOWN = 12


class GnomonError(Written, Exception):
    """Base of every error that gnomon raises on purpose.

    Args:
        said: what is wrong and what to do, in parts where some are written for each audience; or a
            message of the catalogue.
        path: the file that is said to be wrong.
    """

    exit_code: ClassVar[int] = 1
    #: the kind of its message
    code: ClassVar[str] = "error.failed"

    def __init_subclass__(cls, *, code: str = "", **more: Any) -> None:
        super().__init_subclass__(**more)
        cls.code = code or cls.code

    def __init__(self, *said: Words, path: object = None) -> None:
        super().__init__(said[0] if len(said) == 1 else said)
        self.said = said
        self.path = None if path is None else str(path)

    @property
    def message(self) -> Message:
        """The error as data."""
        whole = self.said[0] if len(self.said) == 1 else ""
        files = {} if self.path is None else {"files": (self.path,)}
        if isinstance(whole, Message):
            return whole.about(**files)
        return Message(self.code, "error", {**self.facts(), "said": self.said}, subjects=files)

    @property
    def messages(self) -> tuple[Message, ...]:
        """All that is wrong, where that is several things."""
        return (self.message,)

    def facts(self) -> Mapping[str, Any]:
        """Facts of it for programs."""
        return {}

    def parts(self) -> Iterable[Any]:
        """The parts of its message."""
        return self.said

    def __str__(self) -> str:
        return str(written(self.said))

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors come from other processes whole, whatever they are made of."""
        return _restored, (type(self), self.args, vars(self))


def _restored(kind: type[GnomonError], args: tuple[Any, ...], more: dict[str, Any]) -> GnomonError:
    error = kind.__new__(kind, *args)
    error.args = args
    vars(error).update(more)
    return error


class DataError(GnomonError, ValueError, code="error.data"):
    """The data that were given do not fit together or cannot be used."""


class RowNumber(int):
    """The 1-based number of a row of something without lines: Parquet, a data frame, a list."""


class FormatError(DataError, code="error.format"):
    """A file is not what its format asks for.

    Args:
        problem: what is wrong and what is allowed.
        path: the file.
        line: 1-based line number, if the fault sits on one line; a ``RowNumber`` where
            there are no lines.
    """

    def __init__(self, *problem: Words, path: object = None, line: int | None = None) -> None:
        self.line = line
        self.unit: Literal["line", "row"] = "row" if isinstance(line, RowNumber) else "line"
        where = () if path is None else (Place(str(path), line, self.unit),)
        super().__init__(*where, *problem, path=path)

    def facts(self) -> Mapping[str, Any]:
        """The line or row."""
        return {} if self.line is None else {self.unit: self.line}


class LengthMismatchError(DataError, code="error.length_mismatch"):
    """Two sides that must be parallel have unequal numbers of segments.

    Args:
        said: which sides, and what to do.
        counts: the segments of each, where they have names.
    """

    def __init__(self, *said: Words, counts: Mapping[str, int] | None = None) -> None:
        super().__init__(*said)
        self.counts = dict(counts or {})

    def facts(self) -> Mapping[str, Any]:
        """The segments of each side."""
        return {"counts": self.counts}


class AnnotationError(DataError, code="error.annotation"):
    """Labels do not fit the text that they are said to label."""


class MaskingError(DataError, code="error.masking"):
    """A metric cannot tell two masks apart, so that MuLER is undefined under it."""


class MissingFileError(GnomonError, FileNotFoundError, code="error.missing_file"):
    """A file or directory that was named does not exist."""


class OutputError(GnomonError, OSError, code="error.output"):
    """A result, a report or a cache entry cannot be written."""


class ScoringError(GnomonError, RuntimeError, code="error.scoring"):
    """A metric failed, or returned something that is not a score."""


class ServerFailedError(ScoringError):
    """The server of a language model gave no answer; what it said before is kept."""


class UsageError(GnomonError, ValueError, code="error.usage"):
    """The request itself is wrong: an option, an argument, a combination of them."""

    exit_code = 2


class SpecError(UsageError, code="error.spec"):
    """A metric's spec string cannot be read, or names an argument that the metric lacks."""


class WrongTypeError(UsageError, TypeError):
    """A Python function was given something of a type that it does not take."""


class UnknownNameError(UsageError, LookupError, code="error.unknown_name"):
    """A name is not among those that exist.

    Args:
        kind: what was looked for, in the singular ("metric").
        name: what was given.
        known: the names that exist.
        remedy: one more sentence on what to do.
        instead: all that is said, where the name is known to be something else.
        path: the file that holds it, if one does.
    """

    def __init__(
        self,
        kind: Words,
        name: str,
        known: Iterable[str],
        *,
        remedy: Words = "",
        instead: Words = "",
        path: object = None,
    ) -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(known)
        self.near = ""
        if instead:
            super().__init__(instead, path=path)
            return
        self.near = nearest(name, self.known)
        meant = f"; did you mean {self.near!r}?" if self.near else ""
        super().__init__(
            *("unknown ", kind, f" {name!r}{meant}; there ", _are(kind, self.known)),
            *(("; ", remedy) if remedy else ()),
            path=path,
        )

    def facts(self) -> Mapping[str, Any]:
        """The name that was given, the names there are and the nearest."""
        known = {"known": [*self.known], "nearest": self.near}
        return {"kind": self.kind, "name": self.name, **known}


class MissingDependencyError(GnomonError, ImportError, code="error.missing_dependency"):
    """A package or a model that the request needs is not installed."""

    exit_code = 2


class GateError(GnomonError, code="error.gate"):
    """A condition that the user asked for does not hold ("fail if worse")."""

    exit_code = 3


class UndecidedGateError(GateError, code="error.undecided_gate"):
    """The data do not show whether such a condition holds, and the user wants to be certain."""

    exit_code = 4


def not_installed(
    what: str, package: str | Sequence[str], extra: str, *more: Words
) -> MissingDependencyError:
    """The error for packages that something needs, of one of gnomon's extras."""
    names = [package] if isinstance(package, str) else package
    several = len(names) > 1
    said = (
        f"{what} needs the package{'s' * several} {' and '.join(names)}, which"
        f" {'are' if several else 'is'} not installed; install {'them' if several else 'it'} with: "
    )
    return MissingDependencyError(said, install(extra), *more)


def nearest(name: str, known: Iterable[str]) -> str:
    """The name that was most likely meant, whatever its case; "" where none is near.

    >>> nearest("sysa", ["sysC", "sysA"])
    'sysA'
    """
    names = {choice.casefold(): choice for choice in known}
    near = difflib.get_close_matches(name.casefold(), names, n=1, cutoff=0.5)
    return names[near[0]] if near else ""


def plain(error: Exception) -> str:
    """Words of a parser's error; also of numbers with more digits than Python reads."""
    if type(error) is ValueError:  # parsers have kinds of their own for all else
        return "a whole number has more than 4,300 digits"
    return str(error)


def _are(kind: Words, known: tuple[str, ...]) -> Words:
    if not known:
        return "is no ", kind, " at all"
    shown = ", ".join(known[:_SHOWN])
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return f"are: {shown}{more}"
