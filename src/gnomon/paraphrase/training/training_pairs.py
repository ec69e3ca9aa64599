"""Pairs of a sentence and a paraphrase: their files, and the split into trained and held out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, FormatError, LengthMismatchError, UsageError
from gnomon.core.linked_groups import linked
from gnomon.core.options import Limits, Metavar, Positive, check_fields
from gnomon.core.scripts import split_words
from gnomon.paraphrase.codes import NO_CODE, read_codes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

__all__ = ["Filters", "Selected", "SentencePair", "hold_out", "read_pairs", "select"]


class SentencePair(NamedTuple):
    """A sentence, a paraphrase of it, and the sentence code of the paraphrase.

    The code is None where pairs come without codes, and -1 where this one has none.
    """

    source: str
    target: str
    code: int | None = None


def read_pairs(
    paths: Sequence[str | PathLike[str]], *, codes: str | PathLike[str] | None = None
) -> list[SentencePair]:
    """Read lines of source TAB target.

    Args:
        paths: the files (``.gz`` is decompressed).
        codes: a file with one code per pair. Where a line is empty, the pair has no code (-1), and
            :func:`select` drops it.

    Raises:
        FormatError: a line has no two columns, an empty side, or something that is no code; file
            and line are named.
        LengthMismatchError: there are fewer or more codes than pairs.
        MissingFileError: a file is missing.
    """
    from gnomon.data.formats import read_lines

    pairs: list[SentencePair] = []
    for path in paths:
        for number, line in enumerate(read_lines(path), start=1):
            cells = [cell.strip() for cell in line.split("\t")]
            if len(cells) != 2:
                raise FormatError(
                    f"{len(cells)} columns; a line has 2 (source, target), separated by a tab",
                    path=path,
                    line=number,
                )
            for name, text in zip(("source", "target"), cells, strict=True):
                if not text:
                    raise FormatError(
                        f"the {name} is empty; leave out pairs without it", path=path, line=number
                    )
            pairs.append(SentencePair(cells[0], cells[1]))
    if codes is None:
        return pairs
    codes_read = read_codes(codes).tolist()
    if len(codes_read) != len(pairs):
        raise LengthMismatchError(
            f"{codes} holds {len(codes_read)} codes and there are {len(pairs)} pairs; give one code"
            " per pair, in the same order"
        )
    return [pair._replace(code=code) for pair, code in zip(pairs, codes_read, strict=True)]


@dataclass(frozen=True)
class Filters:
    """Which pairs are dropped.

    Attributes:
        keep_duplicates: keep repeated pairs of source and target.
        keep_copies: keep pairs whose two sides are equal, white space apart.
        words: the largest number of words (between spaces) of a side (100 in Bawden et al.).
        first_only: keep only the first paraphrase of each source (as Bawden et al. do).
        chrf: lowest and highest chrF of the source against the target (0 to 100), such as 30 90:
            unrelated pairs are below, near-copies above.

    Raises:
        UsageError: a number is out of its range.
    """

    keep_duplicates: bool = False
    keep_copies: bool = False
    words: Positive = 100
    first_only: bool = False
    chrf: Annotated[Sequence[float] | None, Limits(0, 100), Metavar("X")] = None

    def __post_init__(self) -> None:
        """Refuse values that cannot be."""
        check_fields(self)
        if self.chrf is not None and (len(self.chrf) != 2 or self.chrf[0] > self.chrf[1]):
            raise UsageError(
                "chrf takes two numbers, the least and the greatest; got"
                f" {' '.join(f'{bound:g}' for bound in self.chrf)}"
            )


class Selected(NamedTuple):
    """The pairs that are kept, and how many were dropped for what, in the order of the filters."""

    kept: list[SentencePair]
    dropped: Mapping[str, int]


@dataclass
class _Sieve:
    pairs: list[SentencePair]
    dropped: dict[str, int] = field(default_factory=dict)

    def keep(self, reason: str, fit: Iterable[bool]) -> None:
        kept = [pair for pair, good in zip(self.pairs, fit, strict=True) if good]
        self.dropped[reason] = len(self.pairs) - len(kept)
        self.pairs = kept


def select(pairs: Sequence[SentencePair], filters: Filters | None = None) -> Selected:
    """Apply the filters, one after the other; where there are codes, pairs without one go first."""
    filters = filters or Filters()
    sieve = _Sieve(list(pairs))
    if any(pair.code is not None for pair in pairs):
        sieve.keep("no code", (pair.code != NO_CODE for pair in sieve.pairs))
    if not filters.keep_duplicates:
        sieve.keep("duplicates", _firsts((p.source, p.target) for p in sieve.pairs))
    if not filters.keep_copies:
        sieve.keep("copies", (p.source.split() != p.target.split() for p in sieve.pairs))
    lengths = (max(len(split_words(side)) for side in (p.source, p.target)) for p in sieve.pairs)
    sieve.keep("too long", (length <= filters.words for length in lengths))
    if filters.first_only:
        sieve.keep("further paraphrases", _firsts(p.source for p in sieve.pairs))
    if filters.chrf is not None and sieve.pairs:
        low, high = filters.chrf
        sieve.keep("chrF", [low <= value <= high for value in _chrf(sieve.pairs)])
    return Selected(sieve.pairs, sieve.dropped)


def hold_out(
    pairs: Sequence[SentencePair], count: int, seed: int
) -> tuple[list[SentencePair], list[SentencePair]]:
    """Split off pairs to validate on, none of whose texts occurs in those that are left.

    Pairs that share a text, directly or through others, stay together; a group of more than
    ``count`` pairs is always trained on.
    """
    groups = _groups(pairs)
    order = np.random.default_rng([seed, 1]).permutation(len(groups))
    chosen: set[int] = set()
    for group in order.tolist():
        if len(chosen) >= count:
            break
        if len(groups[group]) <= count:
            chosen.update(groups[group])
    if len(chosen) < count or len(pairs) - len(chosen) < count:
        raise DataError(
            f"{count} pairs cannot be held out of {len(pairs)} that form {len(groups)} groups"
            " without a common text, and leave as many to train on; give more pairs, or a smaller"
            " dev"
        )
    dev = [pairs[i] for i in sorted(chosen)][:count]
    return [pair for i, pair in enumerate(pairs) if i not in chosen], dev


def _groups(pairs: Sequence[SentencePair]) -> list[list[int]]:
    """Numbers of pairs that share texts, in the order of their first pair."""
    root = linked((pair.source, pair.target) for pair in pairs)
    by_root: dict[str, list[int]] = {}
    for number, pair in enumerate(pairs):
        by_root.setdefault(root(pair.source), []).append(number)
    return list(by_root.values())


def _firsts(keys: Iterable[object]) -> list[bool]:
    seen: set[object] = set()
    return [not (key in seen or seen.add(key)) for key in keys]  # type: ignore[func-returns-value]  # add answers None


def _chrf(pairs: Sequence[SentencePair]) -> list[float]:
    from gnomon.core.testset import TestSet
    from gnomon.metrics import score

    testset = TestSet(
        name="pairs",
        references={"target": [pair.target for pair in pairs]},
        systems={"source": [pair.source for pair in pairs]},
    )
    scores: list[float] = np.asarray(score(testset, "chrf").segments[0]).tolist()
    return scores
