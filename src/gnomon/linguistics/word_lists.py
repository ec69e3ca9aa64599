"""Word lists, the user's and gnomon's own, and patterns."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from gnomon.core.errors import UnknownNameError, UsageError
from gnomon.core.outline import target_of
from gnomon.core.scripts import base_language, word_pattern
from gnomon.core.signature import content_hash
from gnomon.data.formats import read_lines
from gnomon.linguistics.facts import Mark
from gnomon.linguistics.feature_names import is_wildcard
from gnomon.messages.audiences import flag

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Lists: TypeAlias = Mapping[str, str | PathLike[str] | Sequence[str]]

__all__ = ["Lexicon", "Pattern", "add_built_in_lists", "built_in_lists"]


# Word lists: one entry per line, matched as whole words.


# scripts that write no spaces between words: there an entry may match anywhere


@dataclass(frozen=True)
class Lexicon:
    """A named set of words and multi-word entries.

    Words are compared without regard to case (Unicode case folding) and canonical composition.
    White space inside an entry matches any white space.
    """

    name: str
    entries: Mapping[str, tuple[tuple[str, ...], ...]]
    signature: str

    @classmethod
    def read(cls, name: str, source: str | PathLike[str] | Sequence[str]) -> Lexicon:
        """Take the entries from a file (``#`` begins a comment line) or a list."""
        lines = read_lines(source) if isinstance(source, str | PathLike) else list(source)
        words = {
            tuple(word for _, _, word in _words(line))
            for line in lines
            if not line.lstrip().startswith("#")
        } - {()}
        if not words or not name:
            raise UsageError(
                f"word list {name!r} has no name or no entry; give one entry per line"
                " (lines that begin with '#' are comments)"
            )
        entries: dict[str, list[tuple[str, ...]]] = {}
        for entry in sorted(words, key=lambda e: (-len(e), e)):
            entries.setdefault(entry[0], []).append(entry)
        print_of = content_hash("False", *(" ".join(entry) for entry in sorted(words)))
        frozen = {first: tuple(some) for first, some in entries.items()}
        return cls(name, frozen, f"lex:{name}#{print_of}")

    def marks(self, text: str) -> Iterator[Mark]:
        """Longest matches from left to right, without overlaps."""
        words = list(_words(text))
        position = 0
        while position < len(words):
            length = self._length(words, position)
            if length:
                start, end = words[position][0], words[position + length - 1][1]
                yield Mark(start, end, f"lex:{self.name}")
            position += length or 1

    def _length(self, words: Sequence[tuple[int, int, str]], position: int) -> int:
        for entry in self.entries.get(words[position][2], ()):
            if tuple(word for _, _, word in words[position : position + len(entry)]) == entry:
                return len(entry)
        return 0


def _words(text: str) -> Iterator[tuple[int, int, str]]:
    """Words and signs with their offsets; the third is what is compared."""
    for match in word_pattern().finditer(text):
        yield match.start(), match.end(), unicodedata.normalize("NFC", match[0].casefold())


# Word lists that come with gnomon: ``lex:gender`` needs no file.


_FOLDER = Path(__file__).parent / "lexicons"
_KIND = "lex:"


def built_in_lists() -> dict[str, dict[str, Path]]:
    """The lists that come with gnomon: name -> language -> file."""
    paths: dict[str, dict[str, Path]] = {}
    for path in sorted(_FOLDER.glob("*.txt")):
        name, _, language = path.stem.partition(".")
        paths.setdefault(name, {})[language] = path
    return paths


def add_built_in_lists(
    given: Lists | None, asked: Iterable[str], language: str | None
) -> Lists | None:
    """The user's lists, and those of ours that are asked for by name; the user's go first."""
    wanted = [n.removeprefix(_KIND) for n in asked if n.startswith(_KIND) and not is_wildcard(n)]
    given_names = set(given or ())
    lists = built_in_lists()
    for name in wanted:
        if name not in given_names and name not in lists:
            raise UnknownNameError(
                "feature",
                f"{_KIND}{name}",
                [
                    f"{_KIND}{list_name}"
                    for list_name in dict.fromkeys([*sorted(given_names), *lists])
                ],
                remedy=("give a word list (", flag("lexicon", "NAME=FILE", "{NAME: FILE}"), ")"),
            )
    ours = {n: _fitting(n, lists[n], language) for n in wanted if n not in given_names}
    return {**(given or {}), **ours} or None


def _fitting(name: str, files: Mapping[str, Path], language: str | None) -> Path:
    if language is None:
        return next(iter(files.values()))
    target = base_language(target_of(language))
    if target not in files:
        raise UsageError(
            f"the built-in word list {name!r} is there for {', '.join(files)}, and the texts are"
            f" in {target!r}; give a list of that language with ",
            flag("lexicon", f"{name}=FILE"),
        )
    return files[target]


# Regular expressions as features, under a timeout.


_SECONDS = 2.0  # per text; a sane pattern takes microseconds


@dataclass(frozen=True)
class Pattern:
    """A named regular expression, in the syntax of the ``regex`` package (a superset of ``re``)."""

    name: str
    pattern: str
    compiled: Any

    @classmethod
    def read(cls, name: str, pattern: str) -> Pattern:
        """Make an expression ready."""
        import regex

        try:
            return cls(name, pattern, regex.compile(pattern))
        except regex.error as error:
            where = f" at position {error.pos}" if error.pos is not None else ""
            raise UsageError(
                f"pattern {name!r} is not a regular expression: {error.msg}{where} of {pattern!r};"
                " put a backslash before signs that are meant literally"
            ) from error

    @property
    def signature(self) -> str:
        """``re:NAME#HASH``, the hash of the expression."""
        return f"re:{self.name}#{content_hash(self.pattern)}"

    def marks(self, text: str, *, seconds: float = _SECONDS) -> Iterator[Mark]:
        """The matches from left to right; empty ones are left out."""
        try:
            for match in self.compiled.finditer(text, timeout=seconds):
                if match.end() > match.start():
                    yield Mark(match.start(), match.end(), f"re:{self.name}")
        except TimeoutError as error:
            raise self._too_slow(text, seconds) from error

    def find(self, text: str, *, seconds: float = _SECONDS) -> tuple[int, int] | None:
        """Where the first match stands, which may be empty; None where there is none."""
        try:
            match = self.compiled.search(text, timeout=seconds)
        except TimeoutError as error:
            raise self._too_slow(text, seconds) from error
        return match.span() if match else None

    def _too_slow(self, text: str, seconds: float) -> UsageError:
        return UsageError(
            f"pattern {self.name!r} ({self.pattern!r}) takes more than {seconds:g} s on the"
            f" text {text[:60]!r} ({len(text)} characters): it backtracks without end; avoid"
            " nested repetitions such as (a+)+, or make them possessive: (a++)+"
        )
