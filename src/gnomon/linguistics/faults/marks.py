r"""Marks that an output has to keep: placeholders, tags, addresses, emoji, brackets.

Each kind compares the marks of an output with those of its source, as multisets.
"""

from __future__ import annotations

import re
from collections import Counter
from html import unescape
from typing import TYPE_CHECKING

from gnomon.linguistics.faults.kinds import Fault, Hit, fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gnomon.linguistics.faults.texts import Texts

PLACEHOLDER = re.compile(
    r"%\(\w+\)[sdif]|%\d+\$[sdif@]|%(?:\.\d+)?[sdif@](?!\w)|\$?\{\{?[\w.:-]*\}?\}|\$\{[\w.:-]+\}"
    r"|__[A-Z][A-Z0-9_]*__|\[\[[\w.:-]+\]\]|⟦[^⟦⟧]*⟧"
)
TAG = re.compile(r"</?[A-Za-z][\w:-]*(?:\s+[\w:-]+(?:=(?:\"[^\"]*\"|'[^']*'|[^\s>\"']+))?)*\s*/?>")
ENTITY = re.compile(r"&(?:[A-Za-z]{2,8}|#\d{2,6}|#x[0-9A-Fa-f]{2,6});")
ADDRESS = re.compile(
    r"(?:https?://|www\.)[!-~]*[\w/]|[\w.+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}",
    re.ASCII,
)
EMOJI = re.compile(
    r"(?:[\U0001F1E6-\U0001F1FF]{2}|[\u2600-\u27bf\u2b50\u2b55\U0001F300-\U0001FAFF])"
)
_BRACKETS = str.maketrans("（）［］｛｝【】", "()[]{}[]")
_BRACKET = re.compile(r"[()\[\]{}]")
_OPENS = {")": "(", "]": "[", "}": "{"}
_ESCAPED = 0.02  # of the texts of a reference: all is written so
_NO_BRACKET = re.compile(r"[:;=8xX]['^]?-?[()\[\]{}]+|(?<![()\[\]{}])[()\[\]{}]+-?['^]?[:;=](?!\w)")
_NUMBER_OF_LIST = re.compile(r"(?<!\w)\w{1,3}\)$")


def _kind(name: str, find: Callable[[str], Iterator[re.Match[str]]], about: str) -> Fault:
    """A kind that compares the marks of output and source."""

    def rule(texts: Texts) -> Iterator[Hit]:
        marks: dict[str, Counter[str]] = {}
        for column, segment, text, source in texts.outputs():
            beside, kept = texts.codes_of(column, segment)
            whole = source + kept
            if whole not in marks:
                marks[whole] = Counter(found.group() for found in find(whole))
            own = Counter(found.group() for found in find(text + beside))
            wanted = marks[whole]
            if own == wanted:
                continue
            lacks, adds = [*(wanted - own).elements()], [*(own - wanted).elements()]
            place, of_source = _place(find, text, adds), _place(find, source, lacks)
            # codes beside a text have no place in it
            expected = lacks if of_source[0] < 0 else []
            yield Hit(column, segment, *place, *of_source, {"expected": expected})

    rule.__doc__ = about
    return fault(name, group="kept", needs=["source"], marks=find)(rule)


def _place(
    find: Callable[[str], Iterator[re.Match[str]]], text: str, some: list[str]
) -> tuple[int, int]:
    """Where the first of some marks stands."""
    return next((found.span() for found in find(text) if found.group() in some), (-1, -1))


placeholder = _kind("placeholder", PLACEHOLDER.finditer, "Placeholders other than the source's.")
tag = _kind("tag", TAG.finditer, "Tags other than the source's.")
address = _kind("address", ADDRESS.finditer, "Addresses of pages or mail other than the source's.")
emoji = _kind("emoji", EMOJI.finditer, "Emoji other than the source's.")


def _blank(found: re.Match[str]) -> str:
    return " " * len(found.group())


@fault(
    "bracket",
    group="kept",
    needs=["source"],
    marks=lambda text: _BRACKET.finditer(text.translate(_BRACKETS)),
)
def bracket(texts: Texts) -> Iterator[Hit]:
    """A bracket that opens and does not close, or the other way round, and in the source does."""
    for column, segment, text, source in texts.outputs():
        at = _alone(text)
        if at >= 0 and _alone(source) < 0:
            yield Hit(column, segment, at, at + 1)


def _alone(text: str) -> int:
    """Where a bracket stands without its other one; -1 where all have it.

    Smileys and the numbers of lists are no brackets.
    """
    if not _BRACKET.search(text.translate(_BRACKETS)):
        return -1
    plain = ADDRESS.sub(_blank, text.translate(_BRACKETS))
    waiting: list[tuple[str, int]] = []
    plain = _NO_BRACKET.sub(_blank, plain)
    for found in _BRACKET.finditer(plain):
        if found.group() in "([{":
            waiting.append((found.group(), found.start()))
        elif waiting and waiting[-1][0] == _OPENS[found.group()]:
            waiting.pop()
        elif not _NUMBER_OF_LIST.search(plain, 0, found.end()):
            return found.start()
    return waiting[0][1] if waiting else -1


@fault("entity", group="kept", cheap=True, needs=["source"], marks=ENTITY.finditer)
def entity(texts: Texts) -> Iterator[Hit]:
    """A character that is written as in HTML (``&quot;``), and in the source is not."""
    found = [*_entities(texts)]
    of_references = sum(hit.column in texts.references for hit in found)
    if of_references <= _ESCAPED * texts.segments * len(texts.references):
        yield from found


def _entities(texts: Texts) -> Iterator[Hit]:
    for column, segment, text, source in texts.outputs():
        if "&" in text:
            for found in ENTITY.finditer(text):
                if unescape(found.group()) != found.group() and found.group() not in source:
                    yield Hit(column, segment, *found.span())
                    break
