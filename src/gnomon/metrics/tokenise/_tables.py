"""Texts to tables of tokens, every distinct text (or word) split once."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar, overload

import numpy as np

from gnomon.metrics import _compiled
from gnomon.metrics.tokenise._tokenisers import (
    OTHER_SPACE,
    Aligned,
    Tokeniser,
    load_tokeniser,
    wrap_function,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import ModuleType

    from numpy.typing import NDArray

    from gnomon.metrics.tokenise._tokenisers import Characters, Tokens


# Tokens of many texts as arrays: what the n-gram metrics and the masks work on.


class TokenPlaces(NamedTuple):
    """Where tokens stand in their texts, int32 [rows] each, as in :class:`TokenTable`."""

    start: NDArray[np.int32]
    end: NDArray[np.int32]


class Spelling(NamedTuple):
    """The characters of tokens, one token after the other.

    Attributes:
        codes: uint32, the code points of all tokens.
        bounds: int64 [V + 1], bounds of each token in ``codes``.
    """

    codes: NDArray[np.uint32]
    bounds: NDArray[np.int64]


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
    def of(cls, tokens: Sequence[str]) -> Vocabulary:
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
        """Whether every token was found in its text, so that the table can be masked."""
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


# The compiled way from texts to tokens: UTF-8 is split and numbered, block by block.


#: texts that are split at a time; bounds memory
_BLOCK = 512
#: bytes that the loops look at together
_TOGETHER = 64
#: what 13a replaces before it splits
_REPLACED = ("&quot;", "&amp;", "&lt;", "&gt;", "<skipped>")
_ENTITIES = tuple(entity.encode() for entity in _REPLACED)
#: the ideographic space; Unicode has no white space beyond it
_LAST_SPACE = 0x3000


def split_compiled(texts: Sequence[str], tokeniser: Aligned, loops: ModuleType) -> TokenTable:
    """What :func:`split_plain` computes, for tokenisers that have a rule."""
    numbers = _Numbered(loops, len(texts))
    bounds = [np.zeros(1, dtype=np.int64)]
    for block in _blocks(texts, tokeniser, loops):
        bounds.append(block.bounds[1:] + bounds[-1][-1])
        numbers.add(block)
    return TokenTable(
        tokeniser=tokeniser.name,
        offsets=np.concatenate(bounds),
        ids=numbers.ids(),
        vocabulary=numbers.vocabulary(),
        tokenised=len(texts),
        places=lambda: _places_compiled(texts, tokeniser, loops),
    )


class _Block(NamedTuple):
    """Some texts as bytes, and their tokens.

    What it holds is overwritten by the next one.

    Attributes:
        codes: uint8, UTF-8 with a newline after each text.
        room: the same, with room behind.
        bounds: int64 [texts + 1], bounds of the tokens of each text.
        begins: int32 [tokens], first byte.
        ends: int32 [tokens], byte after the last one.
        changed: the texts whose characters moved when they were read.
    """

    codes: NDArray[np.uint8]
    room: NDArray[np.uint8]
    bounds: NDArray[np.int64]
    begins: NDArray[np.int32]
    ends: NDArray[np.int32]
    changed: Mapping[int, Characters]


def _blocks(texts: Sequence[str], tokeniser: Aligned, loops: ModuleType) -> Iterator[_Block]:
    rule = {"words": loops.WORDS, "13a": loops.T13A, "chrf": loops.CHRF}[tokeniser.rule or ""]
    codes, begins, ends = (np.empty(0, kind) for kind in ("u1", "i4", "i4"))
    for first in range(0, max(1, len(texts)), _BLOCK):
        some = texts[first : first + _BLOCK]
        read, changed = _read(some, tokeniser)
        size = len(read) - len(read) % _TOGETHER + _TOGETHER
        if size + _TOGETHER > len(codes):  # of which the loops read some bytes
            codes = np.zeros(size + size // 4 + _TOGETHER, np.uint8)
            begins, ends = (np.empty(len(codes), np.int32) for _ in range(2))
        codes[: len(read)] = np.frombuffer(read, dtype=np.uint8)
        codes[len(read) : size] = ord(" ")
        bounds = np.empty(len(some) + 1, dtype=np.int64)
        made = loops.split(codes, size, _spaces(), rule, bounds, begins, ends)
        yield _Block(codes[: len(read)], codes, bounds, begins[:made], ends[:made], changed)


def _read(texts: Sequence[str], tokeniser: Aligned) -> tuple[bytes, Mapping[int, Characters]]:
    """The texts as the tokeniser reads them, and those whose characters move by that."""
    lowered = [text.lower() for text in texts] if tokeniser.lowercase else texts
    read = _encoded(lowered)
    odd: set[int] = set()
    if tokeniser.lowercase:
        pairs = enumerate(zip(texts, lowered, strict=True))
        odd.update(number for number, (text, lower) in pairs if len(text) != len(lower))
    if tokeniser.rule == "13a" and _holds_entity(read):
        some = [i for i, text in enumerate(lowered) if "&" in text or "<" in text]
        odd.update(i for i in some if any(old in lowered[i] for old in _REPLACED))
    if np.count_nonzero(np.frombuffer(read, dtype=np.uint8) == ord("\n")) > len(texts):
        odd.update(number for number, text in enumerate(lowered) if "\n" in text)
    if not odd:
        return read, {}
    changed = {number: tokeniser.read(texts[number]) for number in sorted(odd)}
    lowered = list(lowered)
    for number, characters in changed.items():
        lowered[number] = characters.text.replace("\n", " ")
    return _encoded(lowered), changed


def _encoded(texts: Sequence[str]) -> bytes:
    # lone surrogates are characters like any others here
    return "\n".join([*texts, ""]).encode("utf-8", "surrogatepass")


def _holds_entity(read: bytes) -> bool:
    at = read.find(b"&")
    while at >= 0:
        if read.startswith(_ENTITIES, at):
            return True
        at = read.find(b"&", at + 1)
    return b"<" in read and _ENTITIES[-1] in read


T = TypeVar("T", bound=np.generic)


def _with_room(values: NDArray[T], used: int, room: int) -> NDArray[T]:
    larger = np.empty(room, dtype=values.dtype)
    larger[:used] = values[:used]
    return larger


class _Numbered:
    """Numbers the tokens of blocks as they come.

    Arrays that become too small are copied to larger ones, which costs more than to fill them: the
    tokens of all texts get room for as many as the first block lets expect.
    """

    def __init__(self, loops: ModuleType, texts: int) -> None:
        self._loops = loops
        self._texts = texts
        self._ids = np.empty(0, dtype=np.int32)
        self._made = self._known = 0
        self._bounds = np.zeros(1 << 12, dtype=np.int64)
        self._store = np.empty(1 << 15, dtype=np.uint8)
        self._slots = np.empty(1 << 13, dtype=np.int32)
        self._keys = np.zeros(2 << 13, dtype=np.uint64)

    def add(self, block: _Block) -> None:
        """Number the tokens of a block."""
        done, made = self._made, self._made + len(block.begins)
        if made > len(self._ids):
            blocks = max(1, self._texts / len(block.bounds))
            room = made + int(1.25 * blocks * len(block.begins))
            self._ids = _with_room(self._ids, done, room)
        ids = self._ids[done:made]
        reached = 0
        while True:
            reached, self._known = self._loops.number(
                block.room,
                block.begins,
                block.ends,
                ids,
                reached,
                self._known,
                self._slots,
                self._keys,
                self._bounds,
                self._store,
            )
            if reached == len(ids):
                break
            self._grow(len(block.codes))
        self._made = made

    def ids(self) -> NDArray[np.int32]:
        """The numbers of all tokens."""
        return self._ids[: self._made]

    def _grow(self, wanted: int) -> None:
        """Make what is full larger."""
        if 2 * self._known >= len(self._slots):
            slots = np.empty(2 * len(self._slots), dtype=np.int32)
            keys = np.zeros(2 * len(slots), dtype=np.uint64)
            self._loops.moved(self._slots, self._keys, slots, keys)
            self._slots, self._keys = slots, keys
        if self._known + 2 > len(self._bounds):
            self._bounds = _with_room(self._bounds, self._known + 1, 2 * len(self._bounds))
        used = self._bounds[self._known]
        if used + wanted > len(self._store):
            self._store = _with_room(self._store, used, 2 * len(self._store) + wanted)

    def vocabulary(self) -> Vocabulary:
        """The distinct tokens."""
        return Vocabulary(self._known, self._spell)

    def _spell(self) -> Spelling:
        bounds = self._bounds[: self._known + 1]
        codes = self._store[: bounds[-1]]
        characters = np.concatenate([[0], np.cumsum(_leads(codes))])
        text = codes.tobytes().decode("utf-8", "surrogatepass")
        return Spelling(code_points([text]), characters[bounds])


def _leads(codes: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which bytes of UTF-8 begin a character."""
    leads: NDArray[np.bool_] = (codes & 0xC0) != 0x80  # the highest bits of every other byte
    return leads


def _places_compiled(texts: Sequence[str], tokeniser: Aligned, loops: ModuleType) -> TokenPlaces:
    """The places of the tokens that :func:`split_compiled` finds."""
    parts = []
    for block in _blocks(texts, tokeniser, loops):
        character = np.append(0, np.cumsum(_leads(block.codes))).astype(np.int32)
        texts_begin = np.append(0, np.flatnonzero(block.codes == ord("\n")) + 1)[:-1]
        shift = np.repeat(character[texts_begin], np.diff(block.bounds))
        start, end = character[block.begins] - shift, character[block.ends] - shift
        for text, characters in block.changed.items():
            _put_back(characters, slice(*block.bounds[text : text + 2]), start, end)
        parts.append((start, end))
    return TokenPlaces(*(np.concatenate(side) for side in zip(*parts, strict=True)))


def _put_back(
    characters: Characters, rows: slice, start: NDArray[np.int32], end: NDArray[np.int32]
) -> None:
    starts, ends = np.array(characters.starts), np.array(characters.ends)
    if len(starts):
        start[rows] = starts[start[rows]]
        end[rows] = ends[end[rows] - 1]


@cache
def _spaces() -> NDArray[np.bool_]:
    """Which code points are white space, up to the last one that is."""
    return np.array([chr(code).isspace() for code in range(_LAST_SPACE + 1)])


# Texts to tables of tokens, every distinct text (or word) split once.


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
        parts = text.split() if _word_by_word(text, tokeniser) else [text]
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
    found = start >= 0
    columns = (np.where(found, column + moved, -1) for column in (start, end))
    return TokenPlaces(*(column.astype(np.int32) for column in columns))


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
