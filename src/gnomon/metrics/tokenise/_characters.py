"""What a tokeniser reads, character by character, and where each character comes from.

A tokeniser may lower-case, unescape and delete before it splits. Each of these steps is done here
on :class:`Characters`, which remember the place in the original text, so that tokens can be found
there again.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Characters", "Tokens", "folded", "locate", "lowered", "plain", "replaced", "unescaped"]

#: what 13a replaces before it splits, in this order ("&amp;lt;" is unescaped twice)
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))


class Characters(NamedTuple):
    """A text as a tokeniser reads it; character i is ``starts[i]:ends[i]`` of the original."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


class Tokens(NamedTuple):
    """The tokens of one text; token i stands at ``starts[i]:ends[i]`` (-1 where not found)."""

    strings: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]


def plain(text: str) -> Characters:
    """The text as it is."""
    return Characters(text, range(len(text)), range(1, len(text) + 1))


def lowered(text: str) -> Characters:
    """The lower-cased text; a character may become several (İ)."""
    lower = text.lower()
    if len(lower) == len(text):
        return plain(lower)
    origin = [i for i, character in enumerate(text) for _ in character.lower()]
    return Characters(lower, origin, [i + 1 for i in origin])


def unescaped(characters: Characters) -> Characters:
    """What 13a reads: without ``<skipped>`` and end-of-line hyphens, XML entities replaced."""
    for old in ("<skipped>", "-\n"):
        characters = replaced(characters, old, "")
    for old, new in _ENTITIES:
        characters = replaced(characters, old, new)
    return characters


def folded(characters: Characters) -> Characters:
    """Compatibility-composed (NFKC), as SentencePiece's models read text."""
    pieces: list[tuple[str, int, int]] = []
    for first, last in _clusters(characters.text):
        piece = unicodedata.normalize("NFKC", characters.text[first:last])
        start, end = characters.starts[first], characters.ends[last - 1]
        pieces.extend((character, start, end) for character in piece)
    return Characters(
        "".join(piece[0] for piece in pieces),
        [piece[1] for piece in pieces],
        [piece[2] for piece in pieces],
    )


def replaced(characters: Characters, old: str, new: str) -> Characters:
    """``str.replace``; what is put in comes from all that it replaces."""
    if old not in characters.text:
        return characters
    parts = characters.text.split(old)
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for number, part in enumerate(parts):
        if number:
            starts += [characters.starts[at]] * len(new)
            ends += [characters.ends[at + len(old) - 1]] * len(new)
            at += len(old)
        starts += characters.starts[at : at + len(part)]
        ends += characters.ends[at : at + len(part)]
        at += len(part)
    return Characters(new.join(parts), starts, ends)


def locate(tokens: Sequence[str], characters: Characters, *, marker: str = "") -> Tokens:
    """Find tokens that together hold the characters of a text, white space left out.

    Args:
        tokens: the tokens in order.
        characters: what the tokeniser read.
        marker: a character that the tokeniser puts in for white space.

    Returns:
        The tokens with their places; all places are -1 if tokens and characters do not agree.
    """
    bare = [token.replace(marker, "") for token in tokens] if marker else tokens
    keep = [i for i, character in enumerate(characters.text) if not character.isspace()]
    if "".join(bare) != "".join(map(characters.text.__getitem__, keep)):
        nowhere = [-1] * len(tokens)
        return Tokens(tokens, nowhere, nowhere)
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for length in map(len, bare):
        starts.append(_place(characters, keep, at))
        at += length
        ends.append(characters.ends[keep[at - 1]] if length else starts[-1])
    return Tokens(tokens, starts, ends)


def _place(characters: Characters, keep: Sequence[int], at: int) -> int:
    if at < len(keep):
        return characters.starts[keep[at]]
    return characters.ends[keep[-1]] if keep else 0


def _clusters(text: str) -> Iterable[tuple[int, int]]:
    first = 0
    for i in range(1, len(text)):
        if not unicodedata.combining(text[i]):
            yield first, i
            first = i
    if text:
        yield first, len(text)
