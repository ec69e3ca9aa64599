"""Texts to tables of tokens, every distinct text (or word) split once."""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING

import numpy as np

from gnomon.metrics import _compiled
from gnomon.metrics.tokenise._splitting import split_compiled
from gnomon.metrics.tokenise._table import Places, TokenTable, Vocabulary
from gnomon.metrics.tokenise._tokenisers import Aligned, Tokeniser, load_tokeniser, wrap_function

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from gnomon.metrics.tokenise._characters import Tokens

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
    if isinstance(chosen, Aligned) and chosen.rule:
        loops = _compiled.kernels(len(texts))
        if loops is not None:
            return split_compiled(texts, chosen, loops)
    return split_plain(texts, chosen)


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


class _Numbers(dict[str, int]):
    """Numbers strings as they come."""

    def __missing__(self, key: str) -> int:
        number = self[key] = len(self)
        return number


def split_plain(texts: Sequence[str], tokeniser: Tokeniser) -> TokenTable:
    """Split each distinct unit once: words where tokens do not cross white space, else texts."""
    units = _Numbers()
    used, counts = array("i"), array("i")
    for text in texts:
        parts = _parts(text, local=tokeniser.local)
        used.extend(map(units.__getitem__, parts))
        counts.append(len(parts))
    strings = list(units)
    if isinstance(tokeniser, Aligned):
        whole, pieces = None, tokeniser.split_all(strings)
    else:
        whole = [tokeniser(unit) for unit in strings]
        pieces = [unit.strings for unit in whole]
    known = _Numbers()
    ids = array("i")
    for piece in pieces:
        ids.extend(map(known.__getitem__, piece))
    sizes = _array(array("i", map(len, pieces)))
    chosen = _array(used)
    rows, lengths = _rows(sizes, chosen)
    bounds = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return TokenTable(
        tokeniser=tokeniser.name,
        offsets=bounds[np.concatenate([[0], np.cumsum(_array(counts), dtype=np.int64)])],
        ids=_array(ids)[rows],
        vocabulary=Vocabulary.of(list(known)),
        tokenised=len(strings),
        places=lambda: _places(
            texts, tokeniser, whole or [tokeniser(unit) for unit in strings], rows, lengths
        ),
    )


def _places(
    texts: Sequence[str],
    tokeniser: Tokeniser,
    units: Sequence[Tokens],
    rows: NDArray[np.int64],
    lengths: NDArray[np.int64],
) -> Places:
    """Find the tokens of every unit in it, and every unit in its text."""
    starts, ends, shift = array("i"), array("i"), array("i")
    for tokens in units:
        starts.extend(tokens.starts)
        ends.extend(tokens.ends)
    for text in texts:
        shift.extend(_beginnings(text, local=tokeniser.local))
    moved = np.repeat(_array(shift), lengths)
    start, end = _array(starts)[rows], _array(ends)[rows]
    found = start >= 0
    columns = (np.where(found, column + moved, -1) for column in (start, end))
    return Places(*(column.astype(np.int32) for column in columns))


def _rows(
    sizes: NDArray[np.int32], used: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The tokens of units one after the other, as rows of the tokens of all units."""
    lengths = sizes[used].astype(np.int64)
    first = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])[used]
    ends = np.cumsum(lengths)
    return np.repeat(first - (ends - lengths), lengths) + np.arange(int(lengths.sum())), lengths


def _chosen(
    tokeniser: str | Tokeniser | Callable[[str], Sequence[str]], *, lowercase: bool
) -> Tokeniser:
    if isinstance(tokeniser, str):
        return load_tokeniser(tokeniser, lowercase=lowercase)
    if isinstance(tokeniser, Tokeniser):
        return tokeniser
    return wrap_function(tokeniser, lowercase=lowercase)


def _parts(text: str, *, local: bool) -> list[str]:
    # 13a joins words at "-\n", so that a text with a newline is no sequence of words
    return text.split() if local and "\n" not in text else [text]


def _beginnings(text: str, *, local: bool) -> list[int]:
    if local and "\n" not in text:
        return [match.start() for match in _WORD.finditer(text)]
    return [0]


def _array(values: array[int]) -> NDArray[np.int32]:
    return np.frombuffer(values, dtype=np.int32) if values else np.zeros(0, dtype=np.int32)
