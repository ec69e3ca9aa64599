"""Bracketed trees as the Penn Treebank writes them, one per line (format ``ptb``)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from gnomon.core.errors import FormatError
from gnomon.data.formats._files import LOGGER
from gnomon.data.formats._lines import read_lines, shown
from gnomon.data.formats._registry import Format

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike


_TOKEN = re.compile(r"[()]|[^\s()]+")
_OUTER = ("", "ROOT", "TOP", "S1", "VROOT")
#: deeper ones are no parses of sentences, and Python's own recursion would fail on them
_DEEPEST = 300
_ESCAPED = {"(": "-LRB-", ")": "-RRB-"}


@dataclass(frozen=True)
class Tree:
    """A constituent: a label over constituents and words.

    Attributes:
        label: "NP"; empty where several sentences stand side by side.
        children: constituents and words (strings), in order; at least one.
    """

    label: str
    children: tuple[Child, ...]

    def __str__(self) -> str:
        """The tree in brackets, without an outer pair."""
        inner = (_escape(child) if isinstance(child, str) else str(child) for child in self)
        return f"({' '.join([self.label, *inner])})"

    def __iter__(self) -> Iterator[Child]:
        return iter(self.children)

    @property
    def category(self) -> str:
        """The label without functions and indices: NP of NP-SBJ-1; -LRB- is a label as it is."""
        return re.split("[-=]", self.label)[0] or self.label

    @property
    def words(self) -> tuple[str, ...]:
        """Its words, from left to right."""
        words: list[str] = []
        for child in self.children:
            words += [child] if isinstance(child, str) else child.words
        return tuple(words)


Child: TypeAlias = Tree | str


@dataclass(frozen=True)
class Trees:
    """The trees of a file.

    Attributes:
        path: the file.
        trees: one per line; ``None`` where the line holds no tree: the parser gave up, ``(())`` or
            nothing at all, or the line is damaged.
        damaged: 1-based lines that cannot be read: brackets do not balance, a word stands outside,
            or constituents are nested deeper than 300.
    """

    path: str
    trees: tuple[Tree | None, ...]
    damaged: tuple[int, ...] = ()


def read_trees(path: str | PathLike[str]) -> Trees:
    """Read a file of one bracketed tree per line.

    The outer bracket without a label (or ``ROOT``, ``TOP``, ``S1``, ``VROOT``) is stripped. A line
    may hold several trees, which then stand side by side under a constituent without a label.
    Brackets that hold one word and nothing else are a word in parentheses. Lines without a tree,
    and lines that cannot be read, are left out and counted.

    Args:
        path: the file; ``.gz`` is decompressed, ``-`` is standard input.

    Raises:
        MissingFileError: there is no such file.
        FormatError: the file is not UTF-8 or is binary.
    """
    trees: list[Tree | None] = []
    damaged = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            tree = parse_tree(line)
        except FormatError:
            tree = None
            damaged.append(number)
        trees.append(tree)
    name = shown(path)
    if damaged:
        LOGGER.warning(
            "%s: %d line(s) are no bracketed trees and are skipped, the first is line %d",
            name,
            len(damaged),
            damaged[0],
        )
    return Trees(name, tuple(trees), tuple(damaged))


def parse_tree(text: str) -> Tree | None:
    """Read a bracketed tree.

    Returns:
        The tree without its outer bracket; ``None`` for ``(())`` and for an empty text.

    Raises:
        FormatError: brackets do not balance, a word stands outside of all brackets, or
            constituents are nested deeper than 300.

    >>> str(parse_tree("( (S (NP (PRP It)) (VP (VBZ is))) )"))
    '(S (NP (PRP It)) (VP (VBZ is)))'
    """
    stack: list[list[Child]] = [[]]
    for token in _TOKEN.findall(text):
        if token == "(":  # noqa: S105  # a bracket, no password
            stack.append([])
        elif token == ")":  # noqa: S105  # likewise
            if len(stack) == 1:
                raise FormatError(f"a bracket is closed that was not opened: {text[:60]!r}")
            stack[-2].extend(_close(stack.pop()))
        else:
            stack[-1].append(token)
        if len(stack) > _DEEPEST:
            raise FormatError(f"constituents are nested deeper than {_DEEPEST}: {text[:60]!r}")
    if len(stack) > 1:
        raise FormatError(f"{len(stack) - 1} bracket(s) are not closed: {text[:60]!r}")
    outside = [child for child in stack[0] if isinstance(child, str)]
    if outside:
        raise FormatError(f"{outside[0]!r} stands outside of all brackets: {text[:60]!r}")
    inner = [child for tree in stack[0] for child in _inner(tree)]
    if len(inner) == 1 and isinstance(inner[0], Tree):
        return inner[0]
    return Tree("", tuple(inner)) if inner else None


def _close(parts: list[Child]) -> list[Child]:
    """Children in a pair of brackets: one constituent, a word in parentheses, or none."""
    label = parts[0] if parts and isinstance(parts[0], str) else None
    children = tuple(parts if label is None else parts[1:])
    if label is not None and not children:
        return [f"({label})"]  # some parsers do not escape parentheses: (CD (76))
    return [Tree(label or "", children)] if children else []


def _inner(tree: Child) -> Sequence[Child]:
    """A tree without its outer bracket, where it has one."""
    if isinstance(tree, str) or tree.label not in _OUTER:
        return [tree]
    return [tree] if any(isinstance(child, str) for child in tree) else tree.children


def _escape(word: str) -> str:
    return "".join(_ESCAPED.get(c, "_" if c.isspace() else c) for c in word) or "_"


FORMATS = (
    Format(
        name="ptb",
        title="a constituency tree in brackets per line; (()) where there is none",
        holds="trees",
        read=read_trees,
    ),
)
