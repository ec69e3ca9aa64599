"""Texts to tables of tokens, every distinct text (or word) split once."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol, overload, runtime_checkable

import numpy as np

from gnomon.metrics.tokenise.tokenisers import (
    OTHER_SPACE,
    Aligned,
    Tokeniser,
    load_tokeniser,
    wrap_function,
)
from gnomon.native import text as loops

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gnomon.metrics.tokenise.tokenisers import Characters, Rule, Tokens

__all__ = [
    "TokenPlaces",
    "TokenTable",
    "Tokenised",
    "Vocabulary",
    "code_points",
    "split_plain",
    "tokenise",
]


# Tokens of many texts as arrays, for n-gram metrics and masks.


class TokenPlaces(NamedTuple):
    """Where tokens stand in their texts, int32 [rows] each, as in :class:`TokenTable`."""

    start: NDArray[np.int32]
    end: NDArray[np.int32]


class Spelling(NamedTuple):
    """The characters of tokens, one token after the other."""

    codes: NDArray[np.uint32]  # the code points of all tokens
    bounds: NDArray[np.int64]  # [V + 1], bounds of each token in ``codes``


class Vocabulary(Sequence[str]):
    """Distinct tokens, made into code points or strings when asked for.

    Args:
        size: how many there are.
        spell: gives their characters; called once, when first needed.
    """

    def __init__(self, size: int, spell: Callable[[], Spelling]) -> None:
        self._size = size
        self._spell = spell

    @classmethod
    def build(cls, tokens: Sequence[str]) -> Vocabulary:
        """The vocabulary that holds these tokens in this order."""

        def spell() -> Spelling:
            sizes = np.fromiter(map(len, tokens), dtype=np.int64, count=len(tokens))
            return Spelling(code_points(tokens), np.concatenate([[0], np.cumsum(sizes)]))

        return cls(len(tokens), spell)

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        return self._strings[index]

    @property
    def codes(self) -> NDArray[np.uint32]:
        """Code points of all tokens, one token after the other."""
        return self._spelling.codes

    @property
    def bounds(self) -> NDArray[np.int64]:
        """Bounds of each token in ``codes``, int64 [V + 1]."""
        return self._spelling.bounds

    @cached_property
    def _spelling(self) -> Spelling:
        return self._spell()

    @cached_property
    def _strings(self) -> list[str]:
        text = self.codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
        bounds = self.bounds.tolist()
        return [text[low:high] for low, high in pairwise(bounds)]


@dataclass(frozen=True, eq=False)
class TokenTable:
    """The tokens of T texts, one after the other (compressed sparse rows).

    Attributes:
        tokeniser: name of the tokeniser, as signatures show it.
        offsets: int64 [T + 1]; the tokens of text t are rows ``offsets[t]:offsets[t + 1]``.
        ids: int32 [rows], index of each token into ``vocabulary``.
        vocabulary: the distinct tokens as the metric compares them (unescaped, lower-cased).
        tokenised: how many distinct strings the tokeniser was run on: texts, or whitespace words
            where the tokens of a text are those of its words.
        places: finds the tokens in the texts; called once, when first needed.
    """

    tokeniser: str
    offsets: NDArray[np.int64]
    ids: NDArray[np.int32]
    vocabulary: Vocabulary
    tokenised: int
    places: Callable[[], TokenPlaces]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def start(self) -> NDArray[np.int32]:
        """First code point of each token in the original text, int32 [rows].

        -1 where the tokeniser changed the text so much that the token cannot be found in it.
        Starts and ends never decrease within a text.
        """
        return self._places.start

    @property
    def end(self) -> NDArray[np.int32]:
        """Code point after the last one of each token (or -1), int32 [rows]."""
        return self._places.end

    @cached_property
    def _places(self) -> TokenPlaces:
        return self.places()

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of tokens of each text, int64 [T]."""
        lengths: NDArray[np.int64] = np.diff(self.offsets)
        return lengths

    @property
    def located(self) -> bool:
        """True if every token was found in its text, so that the table can be masked."""
        return not bool((self.start < 0).any())

    @cached_property
    def text_of(self) -> NDArray[np.int64]:
        """The text of each row, int64 [rows]."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def strings(self, text: int) -> list[str]:
        """The tokens of one text."""
        return [self.vocabulary[i] for i in self.ids[self.rows(text)]]

    def spans(self, text: int) -> list[tuple[int, int]]:
        """Where the tokens of one text stand in it."""
        rows = self.rows(text)
        return list(zip(self.start[rows].tolist(), self.end[rows].tolist(), strict=True))

    def rows(self, text: int) -> slice:
        """The rows of one text."""
        return slice(int(self.offsets[text]), int(self.offsets[text + 1]))


def code_points(texts: Sequence[str]) -> NDArray[np.uint32]:
    """The code points of texts, one after the other, uint32."""
    # lone surrogates are characters like any others here
    joined = "".join(texts).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(joined, dtype="<u4").astype(np.uint32, copy=False)


# Texts to tables of tokens by compiled loops, for tokenisers that have a rule.


_RULES = {"words": loops.WORDS, "13a": loops.T13A, "chrf": loops.CHRF}


def split_by_rule(texts: Sequence[str], tokeniser: Aligned, rule: Rule) -> TokenTable:
    """Compute the tables of :func:`split_plain`, for a tokeniser that has a rule."""
    texts = tuple(texts)
    offsets, ids, store, bounds = loops.tokens_of(
        texts,
        _RULES[rule],
        tokeniser.lowercase,
        lambda number: _unbroken(tokeniser.read(texts[number])),
    )

    def spell() -> Spelling:
        leads = (store & 0xC0) != 0x80  # the highest bits of every byte within a character
        characters = np.concatenate([[0], np.cumsum(leads)])
        return Spelling(
            code_points([store.tobytes().decode("utf-8", "surrogatepass")]), characters[bounds]
        )

    def find_places() -> TokenPlaces:
        changed: dict[int, Characters] = {}

        def reread(number: int) -> str:
            changed[number] = tokeniser.read(texts[number])
            return _unbroken(changed[number])

        start, end = loops.places_of(texts, _RULES[rule], tokeniser.lowercase, reread)
        for number, characters in changed.items():
            rows = slice(*offsets[number : number + 2])
            starts, ends = np.array(characters.starts), np.array(characters.ends)
            if len(starts):
                start[rows] = starts[start[rows]]
                end[rows] = ends[end[rows] - 1]
        return TokenPlaces(start, end)

    vocabulary = Vocabulary(len(bounds) - 1, spell)
    return TokenTable(tokeniser.name, offsets, ids, vocabulary, len(texts), find_places)


def _unbroken(characters: Characters) -> str:
    return characters.text.replace("\n", " ")


# Texts to tables of tokens, every distinct text (or word) split once.


_WORD = re.compile(r"\S+")


@runtime_checkable
class SplitsTexts(Protocol):
    """A tokeniser that splits many texts faster than one after the other."""

    def table(self, texts: Sequence[str]) -> TokenTable:
        """The tokens of texts."""
        ...


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
    chosen = _choose_tokeniser(tokeniser, lowercase=lowercase)
    if isinstance(chosen, SplitsTexts):
        return chosen.table(texts)
    if isinstance(chosen, Aligned) and chosen.rule:
        return split_by_rule(texts, chosen, chosen.rule)
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

    def forget(self) -> None:
        """Let go of the texts."""
        self._last = None

    def tokenise(self, texts: tuple[str, ...]) -> TokenTable:
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
        parts = text.split() if _word_by_word(text, tokeniser) else [text]
        used.extend(map(units.__getitem__, parts))
        counts.append(len(parts))
    strings = list(units)
    if isinstance(tokeniser, Aligned):
        whole, pieces = None, tokeniser.split_all(strings)
    else:
        whole = [tokeniser(unit) for unit in strings]
        pieces = [unit.strings for unit in whole]
    numbers = _Numbers()
    ids = array("i")
    for piece in pieces:
        ids.extend(map(numbers.__getitem__, piece))
    sizes = _array(array("i", map(len, pieces)))
    chosen = _array(used)
    rows, lengths = _rows(sizes, chosen)
    bounds = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return TokenTable(
        tokeniser=tokeniser.name,
        offsets=bounds[np.concatenate([[0], np.cumsum(_array(counts), dtype=np.int64)])],
        ids=_array(ids)[rows],
        vocabulary=Vocabulary.build(list(numbers)),
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
) -> TokenPlaces:
    """Find the tokens of every unit in it, and every unit in its text."""
    starts, ends, shift = array("i"), array("i"), array("i")
    for tokens in units:
        starts.extend(tokens.starts)
        ends.extend(tokens.ends)
    for text in texts:
        shift.extend(_beginnings(text, tokeniser))
    moved = np.repeat(_array(shift), lengths)
    start, end = _array(starts)[rows], _array(ends)[rows]
    located = start >= 0
    columns = (np.where(located, column + moved, -1) for column in (start, end))
    return TokenPlaces(*(column.astype(np.int32) for column in columns))


def _rows(
    sizes: NDArray[np.int32], used: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The tokens of units one after the other, as rows of the tokens of all units."""
    lengths = sizes[used].astype(np.int64)
    first = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])[used]
    ends = np.cumsum(lengths)
    return np.repeat(first - (ends - lengths), lengths) + np.arange(int(lengths.sum())), lengths


def _choose_tokeniser(
    tokeniser: str | Tokeniser | Callable[[str], Sequence[str]], *, lowercase: bool
) -> Tokeniser:
    if isinstance(tokeniser, str):
        return load_tokeniser(tokeniser, lowercase=lowercase)
    if isinstance(tokeniser, Tokeniser):
        return tokeniser
    return wrap_function(tokeniser, lowercase=lowercase)


def _word_by_word(text: str, tokeniser: Tokeniser) -> bool:
    # 13a joins words at "-\n", so that a text with a newline is no sequence of words
    if not tokeniser.local or "\n" in text:
        return False
    blanks = isinstance(tokeniser, Aligned) and tokeniser.blanks
    return not (blanks and OTHER_SPACE.search(text))


def _beginnings(text: str, tokeniser: Tokeniser) -> list[int]:
    if _word_by_word(text, tokeniser):
        return [match.start() for match in _WORD.finditer(text)]
    return [0]


def _array(values: array[int]) -> NDArray[np.int32]:
    return np.frombuffer(values, dtype=np.int32) if values else np.zeros(0, dtype=np.int32)
