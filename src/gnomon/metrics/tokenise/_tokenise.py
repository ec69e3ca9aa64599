"""Texts to tables of tokens, every distinct text (or word) split once."""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING

import numpy as np

from gnomon.metrics.tokenise._table import TokenTable
from gnomon.metrics.tokenise._tokenisers import Tokeniser, load_tokeniser, wrap_function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["Tokenised", "tokenise"]

_WORD = re.compile(r"\S+")


def tokenise(
    texts: Sequence[str],
    tokeniser: str | Tokeniser | Callable[[str], Sequence[str]],
    *,
    lowercase: bool = False,
) -> TokenTable:
    """Split texts into tokens, interned to integers, with their places in the original texts.

    Args:
        texts: the texts; equal ones are split once.
        tokeniser: a name (:data:`TOKENISERS`), a :class:`Tokeniser`, or a function from text to
            tokens.
        lowercase: lower-case first; a :class:`Tokeniser` that is given does as it pleases.

    Raises:
        UnknownNameError: there is no such tokeniser.
        MissingDependencyError: the tokeniser needs a package or a model that is not there.

    >>> table = tokenise(["Say &quot;yes&quot;."], "13a")
    >>> table.strings(0), table.spans(0)
    (['Say', '"', 'yes', '"', '.'], [(0, 3), (4, 10), (10, 13), (13, 19), (19, 20)])
    """
    chosen = _chosen(tokeniser, lowercase=lowercase)
    units = _Units(chosen)
    used, shift, counts = array("i"), array("i"), array("i")
    for text in texts:
        before = len(used)
        for start, unit in _parts(text, local=chosen.local):
            used.append(units.number(unit))
            shift.append(start)
        counts.append(len(used) - before)
    return units.assemble(_array(used), _array(shift), _array(counts))


class Tokenised:
    """Tables of tokens for the texts seen last: batches of one test set share theirs.

    Attributes:
        runs: how often texts were tokenised.
    """

    def __init__(self, tokeniser: Tokeniser) -> None:
        self.tokeniser = tokeniser
        self.runs = 0
        self._last: tuple[tuple[str, ...], TokenTable] | None = None

    def of(self, texts: tuple[str, ...]) -> TokenTable:
        """The table of these texts; computed again only for another tuple."""
        if self._last is None or self._last[0] is not texts:
            self._last = texts, tokenise(texts, self.tokeniser)
            self.runs += 1
        return self._last[1]


class _Units:
    """Distinct strings that the tokeniser was run on, and their tokens."""

    def __init__(self, tokeniser: Tokeniser) -> None:
        self._tokeniser = tokeniser
        self._numbers: dict[str, int] = {}
        self._vocabulary: dict[str, int] = {}
        self._counts = array("i")
        self._ids, self._starts, self._ends = array("i"), array("i"), array("i")

    def number(self, unit: str) -> int:
        found = self._numbers.get(unit)
        if found is None:
            found = self._numbers[unit] = len(self._numbers)
            self._add(unit)
        return found

    def _add(self, unit: str) -> None:
        tokens = self._tokeniser(unit)
        known = self._vocabulary
        self._ids.extend([known.setdefault(token, len(known)) for token in tokens.strings])
        self._starts.extend(tokens.starts)
        self._ends.extend(tokens.ends)
        self._counts.append(len(tokens.strings))

    def assemble(
        self, used: NDArray[np.int32], shift: NDArray[np.int32], counts: NDArray[np.int32]
    ) -> TokenTable:
        sizes = _array(self._counts)[used].astype(np.int64)
        first = np.concatenate([[0], np.cumsum(_array(self._counts), dtype=np.int64)])[used]
        ends = np.cumsum(sizes)
        rows = np.repeat(first - (ends - sizes), sizes) + np.arange(int(sizes.sum()))
        moved = np.repeat(shift, sizes)
        start, end = (_array(column)[rows] for column in (self._starts, self._ends))
        found = start >= 0
        units = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        return TokenTable(
            tokeniser=self._tokeniser.name,
            offsets=np.concatenate([[0], ends]).astype(np.int64)[units],
            ids=_array(self._ids)[rows],
            start=np.where(found, start + moved, -1).astype(np.int32),
            end=np.where(found, end + moved, -1).astype(np.int32),
            vocabulary=tuple(self._vocabulary),
            tokenised=len(self._numbers),
        )


def _chosen(
    tokeniser: str | Tokeniser | Callable[[str], Sequence[str]], *, lowercase: bool
) -> Tokeniser:
    if isinstance(tokeniser, str):
        return load_tokeniser(tokeniser, lowercase=lowercase)
    if isinstance(tokeniser, Tokeniser):
        return tokeniser
    return wrap_function(tokeniser, lowercase=lowercase)


def _parts(text: str, *, local: bool) -> Iterator[tuple[int, str]]:
    # 13a joins words at "-\n", so that a text with a newline is no sequence of words
    if local and "\n" not in text:
        return ((match.start(), match.group()) for match in _WORD.finditer(text))
    return iter([(0, text)])


def _array(values: array[int]) -> NDArray[np.int32]:
    return np.frombuffer(values, dtype=np.int32) if values else np.zeros(0, dtype=np.int32)
