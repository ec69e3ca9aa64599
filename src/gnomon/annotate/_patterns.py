"""Regular expressions as features, under a timeout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gnomon.annotate._facts import Mark
from gnomon.errors import UsageError
from gnomon.signature import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Pattern"]

_SECONDS = 2.0  # per text; a sane pattern takes microseconds


@dataclass(frozen=True)
class Pattern:
    """A named regular expression, in the syntax of the ``regex`` package (a superset of ``re``).

    Attributes:
        name: the feature is ``re:NAME``.
        pattern: the expression.
        compiled: the expression made ready.
    """

    name: str
    pattern: str
    compiled: Any

    @classmethod
    def read(cls, name: str, pattern: str) -> Pattern:
        """Make an expression ready.

        Raises:
            UsageError: it is not a regular expression.
        """
        import regex

        try:
            return cls(name, pattern, regex.compile(pattern))
        except regex.error as error:
            place = f" at position {error.pos}" if error.pos is not None else ""
            raise UsageError(
                f"pattern {name!r} is not a regular expression: {error.msg}{place} of {pattern!r};"
                " put a backslash before signs that are meant literally"
            ) from error

    @property
    def signature(self) -> str:
        """``re:NAME#HASH``, the hash of the expression."""
        return f"re:{self.name}#{content_hash(self.pattern)}"

    def marks(self, text: str, *, seconds: float = _SECONDS) -> Iterator[Mark]:
        """The matches from left to right; empty ones are left out.

        Raises:
            UsageError: the search takes longer than the time allowed.
        """
        try:
            for match in self.compiled.finditer(text, timeout=seconds):
                if match.end() > match.start():
                    yield Mark(match.start(), match.end(), f"re:{self.name}")
        except TimeoutError as error:
            raise UsageError(
                f"pattern {self.name!r} ({self.pattern!r}) takes more than {seconds:g} s on the"
                f" text {text[:60]!r} ({len(text)} characters): it backtracks without end; avoid"
                " nested repetitions such as (a+)+, or make them possessive: (a++)+"
            ) from error
