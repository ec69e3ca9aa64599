"""Reading spec strings: a small tokeniser and a recursive reader; nothing is ever evaluated."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from gnomon.errors import SpecError
from gnomon.metrics._spec import Spec

if TYPE_CHECKING:
    from gnomon.metrics._spec import Literals

__all__ = ["NAME", "read_spec"]

#: how the name of a metric may look
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]*")
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = re.compile(
    r"[+-]?(?:inf(?![A-Za-z0-9_])|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
)
_WHOLE = re.compile(r"[+-]?[0-9]+")
_BARE = re.compile(r"[^,|'\"]*")
_SPACE = re.compile(r"[ \t]*")
_WORDS: dict[str, Literals] = {"True": True, "False": False, "None": None}
_BARE_WORDS: dict[str, Literals] = _WORDS | {"true": True, "false": False}
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'", '"': '"'}
_HEX = {"x": 2, "u": 4, "U": 8}
_LONGEST = 4096
_DEEPEST = 16
_SHOWN = 80


@lru_cache(maxsize=1024)
def read_spec(text: str) -> Spec:
    """Read a spec, its shell-friendly twin, or a signature (up to its first bar).

    Names are not looked up; ``gnomon.metrics.parse`` does that.

    Raises:
        SpecError: with the position of what cannot be read.

    >>> read_spec("chrf:word_order=2") == read_spec("chrf(word_order=2)|refs:1|gnomon:0.1.0")
    True
    """
    if len(text) > _LONGEST:
        raise SpecError(
            f"a metric spec of {len(text)} characters is too long; up to {_LONGEST} are read"
        )
    return _Reader(text).whole()


class _Reader:
    """One pass over a spec; ``at`` is the next character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0

    def whole(self) -> Spec:
        self.skip()
        name = self.name()
        spec = self.twin(name) if self.take(":") else self.rest(name)
        self.skip()
        if self.at < len(self.text) and self.text[self.at] != "|":
            raise self.error("the spec should end here, or go on with '(' or ':'")
        return spec

    def rest(self, name: str) -> Spec:
        """What follows a name: nothing, or arguments in parentheses."""
        self.skip()
        if not self.take("("):
            return Spec(name)
        self.enter()
        first: Spec | str | None = None
        arguments: dict[str, Literals] = {}
        self.skip()
        while not self.take(")"):
            if self.key_follows():
                self.argument(arguments)
            elif first is None and not arguments:
                first = self.first()
            else:
                raise self.error("expected key=value; only the first may go without a name")
            self.skip()
            if not self.take(",") and self.peek() != ")":
                raise self.error("expected ',' or ')'")
            self.skip()
        self.depth -= 1
        return Spec(name, first, tuple(arguments.items()))

    def twin(self, name: str) -> Spec:
        """What follows ``name:``, key=value pairs with values as bare words."""
        arguments: dict[str, Literals] = {}
        while True:
            self.skip()
            self.argument(arguments, bare=True)
            self.skip()
            if not self.take(","):
                return Spec(name, None, tuple(arguments.items()))

    def first(self) -> Spec | str:
        if self.peek() in ("'", '"'):
            return self.string()
        word = NAME.match(self.text, self.at)
        if word is None or word[0] in _WORDS or word[0] in ("inf", "nan"):
            raise self.error("expected a metric, a string in quotes, or key=value")
        return self.rest(self.name())

    def argument(self, arguments: dict[str, Literals], *, bare: bool = False) -> None:
        start = self.at
        key = _KEY.match(self.text, start)
        if key is None:
            raise self.error("expected key=value")
        self.at = key.end()
        self.skip()
        if not self.take("="):
            raise self.error(f"expected '=' after {key[0]!r}")
        self.skip()
        value = self.bare() if bare else self.literal()
        if key[0] in arguments:
            self.at = start
            raise self.error(f"option {key[0]!r} is given twice")
        arguments[key[0]] = value

    def literal(self) -> Literals:
        if self.peek() in ("'", '"'):
            return self.string()
        if self.peek() == "[":
            return self.items()
        number = _NUMBER.match(self.text, self.at)
        if number is not None:
            self.at = number.end()
            return _number(number[0])
        word = _KEY.match(self.text, self.at)
        if word is not None and word[0] in _WORDS:
            self.at = word.end()
            return _WORDS[word[0]]
        hint = f" (a string needs quotes: '{word[0]}')" if word and word[0] != "nan" else ""
        raise self.error(f"expected a string, a number, inf, True, False, None or a list{hint}")

    def bare(self) -> Literals:
        if self.peek() in ("'", '"'):
            return self.string()
        match = _BARE.match(self.text, self.at)
        word = match[0].strip() if match else ""
        if not word or word.lower() in ("nan", "+nan", "-nan"):
            raise self.error("expected a value (a word, a number, true or false)")
        self.at += len(match[0]) if match else 0
        if word in _BARE_WORDS:
            return _BARE_WORDS[word]
        return _number(word) if _NUMBER.fullmatch(word) else word

    def items(self) -> tuple[Literals, ...]:
        self.enter()
        self.at += 1
        values: list[Literals] = []
        self.skip()
        while not self.take("]"):
            values.append(self.literal())
            self.skip()
            if not self.take(",") and self.peek() != "]":
                raise self.error("expected ',' or ']'")
            self.skip()
        self.depth -= 1
        return tuple(values)

    def string(self) -> str:
        start, quote = self.at, self.text[self.at]
        self.at += 1
        characters: list[str] = []
        while self.peek() != quote:
            if not self.peek():
                self.at = start
                raise self.error("this string has no closing quote")
            characters.append(self.escape() if self.peek() == "\\" else self.peek())
            self.at += 1
        self.at += 1
        return "".join(characters)

    def escape(self) -> str:
        """The character that a backslash stands for; leaves ``at`` on its last one."""
        self.at += 1
        letter = self.peek()
        if letter in _HEX:
            digits = self.text[self.at + 1 : self.at + 1 + _HEX[letter]]
            if re.fullmatch(rf"[0-9a-fA-F]{{{_HEX[letter]}}}", digits):
                code = int(digits, 16)
                if code <= 0x10FFFF:
                    self.at += len(digits)
                    return chr(code)
        elif letter in _ESCAPED:
            return _ESCAPED[letter]
        raise self.error(r"unknown escape; there are \\ \' \" \n \r \t \xHH \uHHHH \UHHHHHHHH")

    def name(self) -> str:
        match = NAME.match(self.text, self.at)
        if match is None:
            raise self.error("expected the name of a metric, such as bleu or chrf(word_order=2)")
        self.at = match.end()
        return match[0]

    def key_follows(self) -> bool:
        key = _KEY.match(self.text, self.at)
        return key is not None and self.text[key.end() :].lstrip(" \t").startswith("=")

    def enter(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.error(f"nested too deeply; {_DEEPEST} levels are read")

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def take(self, character: str) -> bool:
        found = self.peek() == character
        self.at += found
        return found

    def skip(self) -> None:
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at

    def error(self, problem: str) -> SpecError:
        shown = self.text if len(self.text) <= _SHOWN else self.text[:_SHOWN] + "..."
        found = f"{self.peek()!r} is there" if self.peek() else "the text ends"
        return SpecError(
            f"metric spec {shown!r} cannot be read: at character {self.at + 1}, where {found}:"
            f" {problem}"
        )


def _number(word: str) -> int | float:
    return int(word) if _WHOLE.fullmatch(word) else float(word)
