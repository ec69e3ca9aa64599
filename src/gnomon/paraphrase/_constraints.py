"""N-grams on which many systems agree and that the reference lacks."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

from gnomon.core.errors import DataError, FormatError, UsageError
from gnomon.core.options import Help, Limits, Metavar, Positive, Share
from gnomon.core.scripts import split_words
from gnomon.data.formats import Paraphrase, atomic_write, read_lines, read_records
from gnomon.metrics.tokenise import fitting_tokeniser, tokenise

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    from gnomon.core.testset import TestSet
    from gnomon.data.formats import FileRecord

# N-grams of texts, with their places.


#: the tokens of an n-gram
Gram: TypeAlias = tuple[str, ...]

#: most tokens of an n-gram; every text has as many n-grams of each length as tokens
Longest: TypeAlias = Annotated[int, Limits(1, 100), Metavar("N"), Help("most tokens of an n-gram.")]

Tokeniser: TypeAlias = Annotated[
    str | None,
    Metavar("NAME"),
    Help("a tokeniser of BLEU; case counts; by default that of the target language."),
]


class TokenSpans(NamedTuple):
    """The tokens of a text, and where each starts and ends in it."""

    tokens: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]

    def surface(self, text: str, place: int, length: int) -> str:
        """The characters of an n-gram."""
        return text[self.spans[place][0] : self.spans[place + length - 1][1]]


def words_of(texts: Sequence[str], tokenizer: str) -> dict[str, TokenSpans]:
    """The tokens of each distinct text, by a tokeniser of BLEU."""
    distinct = list(dict.fromkeys(texts))
    table = tokenise(distinct, tokenizer)
    return {
        text: TokenSpans(tuple(table.strings(i)), tuple(table.spans(i)))
        for i, text in enumerate(distinct)
    }


def grams(tokens: Sequence[str], longest: int) -> Counter[Gram]:
    """Count each n-gram of 1 to ``longest`` tokens, in order of appearance."""
    counts: Counter[Gram] = Counter()
    for size in range(1, longest + 1):
        counts.update(tuple(tokens[i : i + size]) for i in range(len(tokens) - size + 1))
    return counts


def contains(outer: Gram, inner: Gram) -> bool:
    """True if an n-gram is a part of another one (or equals it).

    >>> contains(("a", "b", "c"), ("b", "c")), contains(("a", "b", "c"), ("a", "c"))
    (True, False)
    """
    size = len(inner)
    return any(outer[i : i + size] == inner for i in range(len(outer) - size + 1))


def check_share(share: float) -> None:
    """Refuse a share of no system."""
    if not 0 < share <= 1:
        raise UsageError(f"the share of systems is in (0, 1]; got {share}")


@dataclass(frozen=True)
class Constraint:
    """An n-gram that a paraphrase of a segment's reference should hold.

    Attributes:
        segment: 1-based segment.
        tokens: the n-gram.
        text: its characters, as they stand in an output (or in the file of variants).
        systems: how many systems have it.
        share: their share among all systems; ``None`` for variants.
        replaces: the part of the reference that it is a variant of, where that is known.
    """

    segment: int
    tokens: Gram
    text: str
    systems: int = 0
    share: float | None = None
    replaces: str | None = None


def output_constraints(
    testset: TestSet,
    *,
    systems: Sequence[str] | None = None,
    share: Share = 0.75,
    longest: Longest = 4,
    most: Positive | None = None,
    tokenizer: str | None = None,
) -> tuple[Constraint, ...]:
    """The n-grams that many systems have and no reference has (Bawden et al., 2020, section 3.4).

    Of 1 to ``longest`` tokens, found in at least ``share`` of the systems and absent from all
    references of the segment; the longest first (then those of more systems), and none that is
    part of one kept before; of each segment the first ``most``.
    """
    check_share(share)
    chosen = testset if systems is None else testset.select(systems=systems)
    if not chosen.systems:
        raise DataError("constraints come from the outputs of systems, and the test set has none")
    texts_read = [
        text for texts in chosen.references.values() for text in texts if text is not None
    ]
    texts_read += [text for texts in chosen.systems.values() for text in texts]
    words = words_of(texts_read, fitting_tokeniser(testset, tokenizer).name)
    least = math.ceil(share * len(chosen.systems) - 1e-9)
    constraints: list[Constraint] = []
    for i in range(chosen.segments):
        outputs = [texts[i] for texts in chosen.systems.values()]
        references = [texts[i] for texts in chosen.references.values()]
        absent = {
            gram for text in references if text for gram in grams(words[text].tokens, longest)
        }
        kept = _longest_common([words[text] for text in outputs], absent, least, longest)
        for gram, count in kept[:most]:
            text = _surface(gram, outputs, words)
            constraints.append(Constraint(i + 1, gram, text, count, count / len(outputs)))
    return tuple(constraints)


def _longest_common(
    outputs: Sequence[TokenSpans], absent: set[Gram], least: int, longest: int
) -> list[tuple[Gram, int]]:
    counts: Counter[Gram] = Counter()
    for words in outputs:
        counts.update(list(grams(words.tokens, longest)))  # each once per output
    common = [(g, c) for g, c in counts.items() if c >= least and g not in absent]
    common.sort(key=lambda pair: (-len(pair[0]), -pair[1]))
    kept: list[tuple[Gram, int]] = []
    for gram, count in common:
        if not any(contains(other, gram) for other, _ in kept):
            kept.append((gram, count))
    return kept


def _surface(gram: Gram, outputs: Sequence[str], words: dict[str, TokenSpans]) -> str:
    size = len(gram)
    for text in outputs:
        tokens = words[text].tokens
        for start in range(len(tokens) - size + 1):
            if tokens[start : start + size] == gram:
                return words[text].surface(text, start, size)
    return " ".join(gram)


# Constraints as a file.


def write_constraints(path: str | PathLike[str], found: Sequence[Constraint]) -> None:
    """Write constraints as JSONL: ``segment, text, tokens, systems, share, replaces``."""
    keys = ("segment", "text", "tokens", "systems", "share", "replaces")
    rows = [{key: getattr(constraint, key) for key in keys} for constraint in found]
    with atomic_write(path) as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def read_constraints(path: str | PathLike[str]) -> tuple[Constraint, ...]:
    """Read constraints of :func:`write_constraints`, or your own: ``segment`` and ``text``."""
    constraints = tuple(_parse_record(record) for record in read_records(path, "jsonl"))
    if not constraints:
        raise DataError(
            f"{path} holds no constraints; 'gnomon paraphrase coverage --missing-per-segment FILE'"
            " finds some"
        )
    return constraints


def _parse_record(record: FileRecord) -> Constraint:
    values = record.values
    segment, text = record.value("segment"), record.text("text")
    if type(segment) is not int or segment < 1:
        raise record.error(f"segment is {segment!r:.40}; a number from 1 is expected")
    if not text.strip():
        raise record.error("text is empty; the words that a paraphrase is to hold are expected")
    tokens = values.get("tokens")
    if not (isinstance(tokens, list) and all(isinstance(token, str) for token in tokens)):
        tokens = split_words(text)
    systems, share, replaces = (values.get(key) for key in ("systems", "share", "replaces"))
    return Constraint(
        segment=segment,
        tokens=tuple(tokens),
        text=text,
        systems=systems if type(systems) is int else 0,
        share=share if isinstance(share, float) else None,
        replaces=replaces if isinstance(replaces, str) else None,
    )


# Common variants of a language, from a user's list: ``U.S. / United States``.


_SEPARATOR = re.compile(r"\s+/\s+|\t")
#: no part of a word, and perhaps what is left of a tab that was damaged
_CONTROL = re.compile("[\x01-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")


class _Replacement(NamedTuple):
    segment: int
    reference: str
    start: int
    end: int
    other: str


def read_variants(path: str | PathLike[str]) -> tuple[tuple[str, ...], ...]:
    """Read a list of variants: a line holds two or more, separated by ``' / '`` or tabs.

    Empty lines, and lines that begin with ``#``, are left out.

    Raises:
        FormatError: a line holds a control character, or fewer than two different variants.
        DataError: there is no line of variants.
    """
    variants = []
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        if control := _CONTROL.search(line):
            raise FormatError(
                f"{line[:60]!r} holds the control character {control[0]!r}; delete it, or write"
                " ' / ' or a tab in its place if it is to part two variants",
                path=path,
                line=number,
            )
        parts = tuple(text.strip() for text in _SEPARATOR.split(line.strip()) if text.strip())
        if len(parts) < 2 or len(set(parts)) < len(parts):
            raise FormatError(
                f"{line[:60]!r}: two different variants or more are expected, with ' / ' or a tab"
                " between them",
                path=path,
                line=number,
            )
        variants.append(parts)
    if not variants:
        raise DataError(f"{path} holds no variants; write lines such as 'U.S. / United States'")
    return tuple(variants)


def variant_constraints(
    testset: TestSet, variants: Sequence[Sequence[str]], *, tokenizer: str | None = None
) -> tuple[Constraint, ...]:
    """Constraints that ask for the variants of what the references hold.

    A variant counts as held where its tokens stand in a reference; each other variant of its line
    that no reference of the segment holds becomes a constraint.
    """
    made: dict[tuple[int, str], tuple[Constraint, str]] = {}
    tokeniser = fitting_tokeniser(testset, tokenizer).name
    tokens = words_of([text for line in variants for text in line], tokeniser)
    for variant in _variant_places(testset, variants, tokeniser):
        replaced = variant.reference[variant.start : variant.end]
        constraint = Constraint(variant.segment, tokens[variant.other].tokens, variant.other)
        made.setdefault((variant.segment, variant.other), (constraint, replaced))
    return tuple(
        Constraint(c.segment, c.tokens, c.text, replaces=replaced) for c, replaced in made.values()
    )


def variant_paraphrases(
    testset: TestSet, variants: Sequence[Sequence[str]], *, tokenizer: str | None = None
) -> tuple[Paraphrase, ...]:
    """The references with one variant put in the place of another; nothing else is changed."""
    made = []
    tokeniser = fitting_tokeniser(testset, tokenizer).name
    for variant in _variant_places(testset, variants, tokeniser):
        text = variant.reference[: variant.start] + variant.other + variant.reference[variant.end :]
        made.append(Paraphrase(variant.segment, text, "variants"))
    return tuple(dict.fromkeys(made))


def _variant_places(
    testset: TestSet, variants: Sequence[Sequence[str]], tokenizer: str
) -> Iterator[_Replacement]:
    columns = list(testset.references.values())
    texts = [text for column in columns for text in column if text]
    words = words_of([*texts, *(text for line in variants for text in line)], tokenizer)
    lines = _group_by_first(variants, words)
    for i in range(testset.segments):
        references = [column[i] or "" for column in columns]
        for reference in filter(None, references):
            for line, start, end in _places(reference, lines, words):
                for other in line:
                    part = words[other].tokens
                    if not any(contains(words[r].tokens, part) for r in references if r):
                        yield _Replacement(i + 1, reference, start, end, other)


def _group_by_first(
    variants: Sequence[Sequence[str]], words: Mapping[str, TokenSpans]
) -> dict[str, list[tuple[str, Sequence[str]]]]:
    """Variants and their lines by first token."""
    by_first: dict[str, list[tuple[str, Sequence[str]]]] = {}
    for line in variants:
        for text in line:
            for first in words[text].tokens[:1]:
                by_first.setdefault(first, []).append((text, line))
    return by_first


def _places(
    reference: str,
    lines: Mapping[str, Sequence[tuple[str, Sequence[str]]]],
    words: Mapping[str, TokenSpans],
) -> Iterator[tuple[Sequence[str], int, int]]:
    """The lines whose variants stand in a reference, and the characters where they stand."""
    tokens, spans = words[reference]
    for start, token in enumerate(tokens):
        for text, line in lines.get(token, ()):
            end = start + len(words[text].tokens)
            if tokens[start:end] != words[text].tokens:
                continue
            if not _inside_longer(words[reference], start, line, text, words):
                yield line, spans[start][0], spans[end - 1][1]


def _inside_longer(
    words: TokenSpans, place: int, line: Sequence[str], text: str, known: Mapping[str, TokenSpans]
) -> bool:
    """True if a longer variant of the line stands here, which this one is part of."""
    size = len(known[text].tokens)
    for other in line:
        tokens = known[other].tokens
        if len(tokens) <= size:
            continue
        for start in range(max(0, place + size - len(tokens)), place + 1):
            if words.tokens[start : start + len(tokens)] == tokens:
                return True
    return False
