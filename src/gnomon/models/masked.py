"""Masked language models: what could stand in the place of a word, and how probably."""

from __future__ import annotations

import heapq
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError
from gnomon.models._folder import (
    find_model,
    piece_limit,
    read_masked_lm,
    read_tokenizer,
    usable_device,
)
from gnomon.models.word_pieces import cut, length_batches, padded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.spans import Span
    from gnomon.models._folder import ModelFolder
    from gnomon.models.word_pieces import Pieces

__all__ = ["Filling", "Fluency", "MaskedLM", "load_masked_lm"]


# Probabilities of pieces under masks, computed for the masks alone.


def masked_probabilities(
    model: Any,
    ids: NDArray[np.int64],
    kept: NDArray[np.bool_],
    masked: NDArray[np.bool_],
    allowed: NDArray[np.bool_],
    most: int,
) -> Iterator[tuple[list[int], list[float]]]:
    """The most probable of the allowed pieces of each of M masks, row by row.

    Ids, what is no padding and masks are [B, W], allowed pieces [M, V]; probabilities are those
    among all V, falling, and 0 for pieces that are not allowed.
    """
    import torch

    device = model.device
    at = torch.as_tensor(masked, device=device)
    with torch.inference_mode(), _only(model, at) as narrowed:
        logits = model(
            input_ids=torch.as_tensor(ids, device=device),
            attention_mask=torch.as_tensor(kept, device=device).long(),
        ).logits
        shares = torch.softmax((logits if narrowed else logits[at]).double(), dim=-1)
        shares *= torch.as_tensor(allowed, device=device)
        top = shares.topk(min(most, shares.shape[-1]), dim=-1)
    yield from zip(top.indices.tolist(), top.values.tolist(), strict=True)


@contextmanager
def _only(model: Any, at: Any) -> Iterator[bool]:
    """Let the model's last layer, which is as wide as its vocabulary, see some rows alone."""
    last = model.get_output_embeddings()
    if last is None:
        yield False
        return
    handle = last.register_forward_pre_hook(lambda _, given: (given[0][at], *given[1:]))
    try:
        yield True
    finally:
        handle.remove()


# From the probable pieces of some masks to probable whole words.


#: combinations of pieces that are tried until one is a whole word
_TRIES = 256


class Piece(NamedTuple):
    """A piece, by its number in the vocabulary, and its probability under a mask."""

    number: int
    probability: float


@dataclass(frozen=True)
class Speller:
    """Knows which pieces are words, and which words pieces make."""

    tokenizer: Any
    size: int  # pieces that the model can predict

    def read(self, numbers: tuple[int, ...]) -> str | None:
        """The whole word that pieces make: cut again, it gives them. None if they make none."""
        made = "".join(self.tokenizer.decode(list(numbers)).split())
        if not made:
            return None
        again = self.tokenizer(made, add_special_tokens=False)["input_ids"]
        return made if again == list(numbers) else None

    def allowed(self, hidden: Sequence[int]) -> list[NDArray[np.bool_]]:
        """The pieces that may replace each piece of a word, bool [size].

        A word of one piece gives way to any other. In a word of several, pieces that are words
        give way to such, loose parts of words to loose parts, and marks to marks.
        """
        words, marks, usable = self._kinds
        if len(hidden) == 1:
            return [words]
        unknown = self.tokenizer.unk_token_id
        return [
            (usable if position else words)
            if number == unknown
            else usable & (words == words[number]) & (marks == marks[number])
            for position, number in enumerate(hidden)
        ]

    @cached_property
    def _kinds(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Which pieces are words by themselves, have no letter or digit, are not special."""
        count = min(len(self.tokenizer), self.size)
        backend = self.tokenizer.backend_tokenizer
        texts = backend.decode_batch([[n] for n in range(count)], skip_special_tokens=False)
        made = ["".join(text.split()) for text in texts]
        again = backend.encode_batch(made, add_special_tokens=False)
        usable = np.zeros(self.size, dtype=np.bool_)
        usable[:count] = [bool(text) for text in made]
        usable[[n for n in self.tokenizer.all_special_ids if n < self.size]] = False
        words, marks = np.zeros_like(usable), np.zeros_like(usable)
        words[:count] = [encoding.ids == [number] for number, encoding in enumerate(again)]
        marks[:count] = [not any(map(str.isalnum, text)) for text in made]
        return words & usable, marks, usable


def best_words(
    options: Sequence[Sequence[Piece]],
    read: Callable[[tuple[int, ...]], str | None],
    threshold: float,
) -> list[tuple[str, float]]:
    """Whole words whose probability exceeds a threshold; if none does, the most probable one.

    The options are the most probable pieces of each mask, the most probable first, and so are the
    words; none where no combination within reach is a word. Combinations that read alike are one
    word, their probabilities added up.
    """
    words: dict[str, float] = {}
    for tries, (numbers, probability) in enumerate(_combinations(options)):
        within = probability > threshold
        if not within and (words or tries >= _TRIES):
            break
        word = read(numbers)
        if word is not None:
            words[word] = words.get(word, 0.0) + probability
    return sorted(words.items(), key=lambda item: -item[1])


def _combinations(
    options: Sequence[Sequence[Piece]],
) -> Iterator[tuple[tuple[int, ...], float]]:
    """Combinations of one piece per mask, by falling probability."""
    if not all(options):
        return
    first = (0,) * len(options)
    heap = [(-_product(options, first), first)]
    seen = {first}
    while heap:
        negative, places = heapq.heappop(heap)
        yield tuple(row[at].number for row, at in zip(options, places, strict=True)), -negative
        for mask, at in enumerate(places):
            after = (*places[:mask], at + 1, *places[mask + 1 :])
            if at + 1 < len(options[mask]) and after not in seen:
                seen.add(after)
                heapq.heappush(heap, (-_product(options, after), after))


def _product(options: Sequence[Sequence[Piece]], places: Sequence[int]) -> float:
    product = 1.0
    for row, at in zip(options, places, strict=True):
        product *= row[at].probability
    return product


#: logits in memory at once, a bound where vocabularies are large
_LOGITS = 1 << 25
#: pieces that are tried per mask, at least
_FEWEST_PIECES = 64


class Filling(NamedTuple):
    """A word that could stand in a place, and its probability there."""

    word: str
    probability: float


class Fluency(NamedTuple):
    """Figures of how the model's vocabulary takes some texts.

    Attributes:
        unknown: share of their pieces that the vocabulary does not know.
        letters: mean number of letters of a piece, in scripts that have upper and lower case; NaN
            without such a piece.
        pieces: mean number of such pieces of a whitespace word that has any; in a language that
            the model knows they are few and long.
    """

    unknown: float
    letters: float
    pieces: float


class _Gap(NamedTuple):
    """A word under masks."""

    text: int
    place: int
    rows: NDArray[np.int64]
    masked: NDArray[np.bool_]


def load_masked_lm(
    name: str, *, revision: str | None = None, device: str | None = None
) -> MaskedLM:
    """Load a masked language model; the same request gives the same object.

    Args:
        name: a folder, ``package:NAME/FOLDER``, or a name on the hub; see :func:`find_model`.
        revision: commit, tag or branch on the hub.
        device: "cpu", "cuda", ...; by default a GPU if there is one.

    Raises:
        MissingDependencyError: torch, transformers or the model is not installed.
        DataError: the folder is no masked language model that can be loaded.
        UsageError: the machine has no such device.
    """
    folder = find_model(name, revision)
    return _load(folder, folder.identity, usable_device(device, "a masked language model"))


@lru_cache(maxsize=2)
def _load(folder: ModelFolder, _identity: str, device: str) -> MaskedLM:
    tokenizer, config = read_tokenizer(folder)
    if tokenizer.mask_token_id is None:
        raise DataError(
            f"model {folder.name!r} has no mask token, so that it is no masked language model; take"
            " one such as xlm-roberta-base or bert-base-cased"
        )
    model = read_masked_lm(folder, config).to(device)
    return MaskedLM(folder, piece_limit(tokenizer, config), device, tokenizer, model)


@dataclass(eq=False)
class MaskedLM:
    """A masked language model; made by :func:`load_masked_lm`.

    Attributes:
        folder: the model.
        limit: most pieces that it reads at once, special ones included; None for any number.
        device: "cpu", "cuda", ...
    """

    folder: ModelFolder
    limit: int | None
    device: str
    tokenizer: Any = field(repr=False)
    model: Any = field(repr=False)

    @property
    def identity(self) -> str:
        """Model and revision or hash."""
        return self.folder.identity

    @property
    def budget(self) -> int:
        """Padded pieces per batch."""
        return 1024 if self.device == "cpu" else 32768

    def fill(
        self, texts: Sequence[str], places: Sequence[Sequence[Span]], *, threshold: float = 0.05
    ) -> list[list[tuple[Filling, ...]]]:
        """Words that could stand in some places of some texts, the most probable first.

        Every piece of the word that stands there gets a mask, and the model sees the rest of the
        text (of long texts the part around the word). The probability of a word of several pieces
        is the product of theirs. Words are whole: cut into pieces again, a word gives the pieces
        that were predicted, which leaves out loose parts of words and special pieces; and in a word
        of several pieces marks stay marks ("mat." will not be "matter").

        Args:
            texts: the texts.
            places: of each text, the words to fill, half-open, in code points.
            threshold: which probability a word must exceed; where none does, the most probable one
                stands alone.

        Returns:
            Of each text and place the fillings; none where the model has no piece for the word, or
            finds no whole word. A filling that is made of the very pieces of the word that stands
            there is that word, as it is written there.
        """
        pieces = cut(self.tokenizer, texts, range(len(texts)), None)
        gaps = list(_gaps(pieces, places, self.limit))
        fillings: list[list[tuple[Filling, ...]]] = [[()] * len(spans) for spans in places]
        for batch in self._batches(gaps):
            for gap, options in zip(batch, self._options(pieces, batch, threshold), strict=True):
                span = places[gap.text][gap.place]
                word = texts[gap.text][span.start : span.end]
                read = partial(self._read, _pieces_of_gap(pieces, gap), word)
                chosen = best_words(options, read, threshold)
                fillings[gap.text][gap.place] = tuple(Filling(*filling) for filling in chosen)
        return fillings

    def fluency(self, texts: Sequence[str]) -> Fluency:
        """Measure how the vocabulary takes some texts: a hint at an unknown language."""
        pieces = cut(self.tokenizer, texts, range(len(texts)), None)
        rows = zip(pieces.text_of.tolist(), pieces.start.tolist(), pieces.end.tolist(), strict=True)
        cased = [sum(map(_is_cased, texts[text][start:end])) for text, start, end in rows]
        letters = [count for count in cased if count]
        words = sum(any(map(_is_cased, word)) for text in texts for word in text.split())
        plain = int((~pieces.special).sum())
        return Fluency(
            unknown=pieces.unknown / max(plain, 1),
            letters=float(np.mean(letters)) if letters else float("nan"),
            pieces=len(letters) / words if words else float("nan"),
        )

    @cached_property
    def _speller(self) -> Speller:
        return Speller(self.tokenizer, int(self.model.config.vocab_size))

    def _read(self, hidden: tuple[int, ...], word: str, numbers: tuple[int, ...]) -> str | None:
        return word if numbers == hidden else self._speller.read(numbers)

    def _batches(self, gaps: list[_Gap]) -> Iterator[list[_Gap]]:
        """Gaps of like length, with as many masks at a time as their logits allow."""
        rows = max(1, _LOGITS // int(self.model.config.vocab_size))
        for group in length_batches(np.array([len(gap.rows) for gap in gaps]), self.budget):
            batch: list[_Gap] = []
            masks = 0
            for gap in (gaps[number] for number in group.tolist()):
                more = int(gap.masked.sum())
                if batch and masks + more > rows:
                    yield batch
                    batch, masks = [], 0
                batch.append(gap)
                masks += more
            if batch:
                yield batch

    def _options(
        self, pieces: Pieces, batch: Sequence[_Gap], threshold: float
    ) -> Iterator[list[list[Piece]]]:
        """Of each gap the most probable pieces of each of its masks."""
        fill = self.tokenizer.pad_token_id or 0
        ids, kept = padded([pieces.ids[gap.rows] for gap in batch], fill)
        masked = np.zeros_like(kept)
        masked[kept] = np.concatenate([gap.masked for gap in batch])
        ids[masked] = self.tokenizer.mask_token_id
        allowed = np.stack(
            [row for gap in batch for row in self._speller.allowed(_pieces_of_gap(pieces, gap))]
        )
        most = max(_FEWEST_PIECES, int(1 / threshold) + 1)
        pairs = masked_probabilities(self.model, ids, kept, masked, allowed, most)
        rows = [
            [Piece(*option) for option in zip(*row, strict=True) if option[1] > 0] for row in pairs
        ]
        ends = np.cumsum([int(gap.masked.sum()) for gap in batch]).tolist()
        for start, end in zip([0, *ends], ends, strict=False):
            yield rows[start:end]


def _pieces_of_gap(pieces: Pieces, gap: _Gap) -> tuple[int, ...]:
    """The pieces that the masks of a gap hide."""
    return tuple(pieces.ids[gap.rows[gap.masked]].tolist())


def _is_cased(letter: str) -> bool:
    return letter.islower() or letter.isupper()


def _gaps(pieces: Pieces, places: Sequence[Sequence[Span]], limit: int | None) -> Iterator[_Gap]:
    for text, spans in enumerate(places):
        rows = np.arange(pieces.offsets[text], pieces.offsets[text + 1])
        plain = rows[~pieces.special[rows]]
        ends = np.array([span.end for span in spans])
        word = np.searchsorted(ends, pieces.start[plain], side="right")
        for number in range(len(spans)):
            masked = plain[word == number]
            if len(masked):
                around = _around(rows, plain, masked, limit)
                yield _Gap(text, number, around, np.isin(around, masked))


def _around(
    rows: NDArray[np.int64], plain: NDArray[np.int64], masked: NDArray[np.int64], limit: int | None
) -> NDArray[np.int64]:
    """The rows of a text, or as many around a word as the model takes, with both ends."""
    if limit is None or len(rows) <= limit:
        return rows
    before, after = rows[rows < plain[0]], rows[rows > plain[-1]]
    size = max(limit - len(before) - len(after), 1)
    middle = int(np.searchsorted(plain, masked[0])) + len(masked) // 2
    start = min(max(middle - size // 2, 0), max(len(plain) - size, 0))
    return np.concatenate([before, plain[start : start + size], after])
