"""Common variants of a language, from a user's list: ``U.S. / United States``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from gnomon.errors import DataError, FormatError
from gnomon.formats import Paraphrase, read_lines
from gnomon.paraphrase._constraints import Constraint
from gnomon.paraphrase._grams import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    from gnomon.paraphrase._grams import Words
    from gnomon.testset import TestSet

__all__ = ["read_variants", "variant_constraints", "variant_paraphrases"]

_SEPARATOR = re.compile(r"\s+/\s+|\t")


class _Found(NamedTuple):
    segment: int
    reference: str
    start: int
    end: int
    other: str


def read_variants(path: str | PathLike[str]) -> tuple[tuple[str, ...], ...]:
    """Read a list of variants: a line holds two or more, separated by ``' / '`` or tabs.

    Empty lines, and lines that begin with ``#``, are left out.

    Raises:
        MissingFileError: there is no such file.
        FormatError: a line holds a single variant, or one twice.
        DataError: the file holds none.
    """
    found = []
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = tuple(part.strip() for part in _SEPARATOR.split(line.strip()) if part.strip())
        if len(parts) < 2 or len(set(parts)) < len(parts):
            raise FormatError(
                f"{line[:60]!r}: two different variants or more are expected, with ' / ' or a tab"
                " between them",
                path=path,
                line=number,
            )
        found.append(parts)
    if not found:
        raise DataError(f"{path} holds no variants; write lines such as 'U.S. / United States'")
    return tuple(found)


def variant_constraints(
    testset: TestSet, variants: Sequence[Sequence[str]], *, tokenizer: str = "13a"
) -> tuple[Constraint, ...]:
    """Constraints that ask for the variants of what the references hold.

    A variant counts as held where its tokens stand in a reference; each other variant of its line
    that no reference of the segment holds becomes a constraint.

    Args:
        testset: references.
        variants: lines of variants; see :func:`read_variants`.
        tokenizer: a tokeniser of BLEU; case counts.
    """
    made: dict[tuple[int, str], tuple[Constraint, str]] = {}
    tokens = words_of([text for line in variants for text in line], tokenizer)
    for found in _found(testset, variants, tokenizer):
        held = found.reference[found.start : found.end]
        constraint = Constraint(found.segment, tokens[found.other].tokens, found.other)
        made.setdefault((found.segment, found.other), (constraint, held))
    return tuple(
        Constraint(c.segment, c.tokens, c.text, replaces=held) for c, held in made.values()
    )


def variant_paraphrases(
    testset: TestSet, variants: Sequence[Sequence[str]], *, tokenizer: str = "13a"
) -> tuple[Paraphrase, ...]:
    """The references with one variant put in the place of another; nothing else is changed."""
    made = []
    for found in _found(testset, variants, tokenizer):
        text = found.reference[: found.start] + found.other + found.reference[found.end :]
        made.append(Paraphrase(found.segment, text, "variants"))
    return tuple(dict.fromkeys(made))


def _found(testset: TestSet, variants: Sequence[Sequence[str]], tokenizer: str) -> Iterator[_Found]:
    columns = list(testset.references.values())
    texts = [text for column in columns for text in column if text]
    words = words_of([*texts, *(text for line in variants for text in line)], tokenizer)
    lines = _by_first(variants, words)
    for i in range(testset.segments):
        references = [column[i] or "" for column in columns]
        for reference in filter(None, references):
            for line, start, end in _places(reference, lines, words):
                for other in line:
                    if not any(_holds(words[r], words[other]) for r in references if r):
                        yield _Found(i + 1, reference, start, end, other)


def _by_first(
    variants: Sequence[Sequence[str]], words: Mapping[str, Words]
) -> dict[str, list[tuple[str, Sequence[str]]]]:
    """Variants and their lines by first token."""
    found: dict[str, list[tuple[str, Sequence[str]]]] = {}
    for line in variants:
        for text in line:
            for first in words[text].tokens[:1]:
                found.setdefault(first, []).append((text, line))
    return found


def _places(
    reference: str,
    lines: Mapping[str, Sequence[tuple[str, Sequence[str]]]],
    words: Mapping[str, Words],
) -> Iterator[tuple[Sequence[str], int, int]]:
    """The lines whose variants stand in a reference, and the characters where they stand."""
    tokens, spans = words[reference]
    for place, token in enumerate(tokens):
        for text, line in lines.get(token, ()):
            end = place + len(words[text].tokens)
            if tokens[place:end] != words[text].tokens:
                continue
            if not _inside_longer(words[reference], place, line, text, words):
                yield line, spans[place][0], spans[end - 1][1]


def _holds(words: Words, part: Words) -> bool:
    size = len(part.tokens)
    places = range(len(words.tokens) - size + 1)
    return any(words.tokens[i : i + size] == part.tokens for i in places)


def _inside_longer(
    words: Words, place: int, line: Sequence[str], text: str, known: Mapping[str, Words]
) -> bool:
    """Whether a longer variant of the line stands here, which this one is part of."""
    size = len(known[text].tokens)
    for other in line:
        tokens = known[other].tokens
        if len(tokens) <= size:
            continue
        for start in range(max(0, place + size - len(tokens)), place + 1):
            if words.tokens[start : start + len(tokens)] == tokens:
                return True
    return False
