"""The common base of metrics on embeddings: encoders, weights, similarities, best matches.

What was found for the last batch is kept with the encoder: metrics that differ in weights, baseline
or part of the score do not encode it again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Protocol

import numpy as np

from gnomon.core.options import FILES, MODEL
from gnomon.core.signature import Signature, content_hash
from gnomon.messages import message
from gnomon.metrics.base import Metric, OfOptions
from gnomon.metrics.comparisons import PairRows, pair_rows
from gnomon.metrics.large_arrays import large_array
from gnomon.metrics.masking import Action
from gnomon.metrics.matching import Matches, SideMatches, TokenRows
from gnomon.metrics.sequences import TokenMasks, has_marked, offsets_of, ranges
from gnomon.metrics.spec import Options
from gnomon.metrics.tokenise import TokenPlaces, TokenTable, Vocabulary
from gnomon.models import length_batches

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.metrics.masking import MaskPlan
    from gnomon.models import Embedded, Encoder, Pieces

__all__ = [
    "BoundMatching",
    "EncodedTexts",
    "EncoderOptions",
    "Matcher",
    "TextEncoder",
    "compared_rows",
    "compared_texts",
    "encoder_of",
    "first_references",
    "idf_of",
    "model_fields",
    "notices_of",
    "piece_table",
    "unit_weights",
]


# Common parts: encoders, weights, fields of signatures, notices.


#: share of unknown pieces from which on a language counts as foreign to the model
_FOREIGN = 0.05


@dataclass(frozen=True, kw_only=True)
class EncoderOptions(Options, Metric):
    """Options of metrics on embeddings that say how their model is run.

    Attributes:
        revision: commit of the model on the hub.
        device: "cpu", "cuda", ...; by default a GPU if there is one.
        precision: "fp32"; mixed precision with "bf16" or "fp16".
        long: texts beyond the model's limit are cut ("truncate") or read in overlapping windows
            ("window").
        embeddings: folder where vectors are kept for later runs; specs do not show it.
    """

    revision: Annotated[str | None, MODEL] = None
    device: str | None = None
    precision: Literal["fp32", "bf16", "fp16"] = "fp32"
    long: Literal["truncate", "window"] = "truncate"
    embeddings: Annotated[str | None, FILES] = field(default=None, compare=False)


def encoder_of(
    options: EncoderOptions, model: str, layer: int | None, limit: int | None = None
) -> Encoder:
    """The encoder that a metric's options ask for."""
    from gnomon.models import load_encoder

    return load_encoder(
        model,
        layer=layer,
        revision=options.revision,
        device=options.device,
        precision=options.precision,
        long=options.long,
        embeddings=options.embeddings,
        limit=limit,
    )


def compared_texts(testset: TestSet, needs: Collection[str]) -> list[str]:
    """All references that all systems share, or the sources where these are needed."""
    if "sources" in needs:
        return list(testset.sources or ())
    return [text for column in testset.references.values() for text in column if text is not None]


def first_references(testset: TestSet) -> list[str | None]:
    """The first reference of each segment; None where it has none."""
    columns = zip(*testset.references.values(), strict=True)
    return [next((text for text in row if text is not None), None) for row in columns]


def compared_rows(batch: Batch, needs: Collection[str]) -> PairRows:
    """Every candidate beside its references, or beside its source where these are needed."""
    if "sources" not in needs:
        return pair_rows(batch)
    systems, segments = batch.shape
    sources = np.zeros(segments) if batch.sources is None else batch.sources
    return PairRows(
        shape=batch.shape,
        cell=np.arange(systems * segments),
        candidate=batch.candidates.astype(np.int64).ravel(),
        reference=np.tile(sources.astype(np.int64), systems),
    )


def unit_weights(pieces: Pieces) -> NDArray[np.float64]:
    """1 for every piece, 0 for special ones, float64 [rows]."""
    return (~pieces.special).astype(np.float64)


def model_fields(encoder: Encoder) -> dict[str, object]:
    """Fields of the model in a signature."""
    return {"model": encoder.identity, "layer": encoder.layer}


def notices_of(spec: str, encoder: Encoder, pieces: Pieces) -> tuple[Message, ...]:
    """Notices of how a model read the texts."""
    notices: list[Message] = []
    cut, windowed = int(pieces.truncated.sum()), encoder.windowed(pieces)
    texts: dict[str, Any] = {"texts": int((pieces.lengths > 0).sum()), "limit": encoder.limit}
    if cut:
        longer = message("score.cut", cut=cut, what="texts", of="", remedy="window", **texts)
        notices.append(longer.about(metrics=[spec]))
    elif windowed:
        read = message("note.windows", windowed=windowed, **texts)
        notices.append(read.about(metrics=[spec]))
    plain = int((~pieces.special).sum())
    if plain and pieces.unknown > _FOREIGN * plain:
        unknown = message("note.unknown_pieces", share=pieces.unknown / plain)
        notices.append(unknown.about(metrics=[spec]))
    return tuple(notices)


# Inverse document frequencies of a model's pieces, frozen from some texts.


@dataclass(frozen=True, eq=False)
class Idf:
    """Weights of pieces: log((M + 1) / (df + 1)) over M texts (Zhang et al. 2020, section 3)."""

    documents: int  # number of texts, M
    types: NDArray[np.int32]  # the pieces that occur, ascending
    frequencies: NDArray[np.int64]  # number of texts that have each, df

    @property
    def identity(self) -> str:
        """Number of texts and a hash of the frequencies: of logarithms processors differ."""
        return f"{self.documents}#{content_hash(self.types.tobytes(), self.frequencies.tobytes())}"

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """The weight of each piece."""
        weights: NDArray[np.float64] = np.log((self.documents + 1) / (self.frequencies + 1))
        return weights

    def weigh(self, pieces: Pieces) -> NDArray[np.float64]:
        """The weight of every piece, float64 [rows]; special pieces have none."""
        weights = np.full(len(pieces.ids), math.log(self.documents + 1))
        if len(self.types):
            index = np.minimum(np.searchsorted(self.types, pieces.ids), len(self.types) - 1)
            occurs = self.types[index] == pieces.ids
            weights[occurs] = self.weights[index[occurs]]
        weights[pieces.special] = 0.0
        return weights


def idf_of(encoder: Encoder, texts: Sequence[str]) -> Idf:
    """The frequencies of a model's pieces in some texts; equal texts count each."""
    numbers: dict[str, int] = {}
    for text in texts:
        numbers[text] = numbers.get(text, 0) + 1
    pieces = encoder.pieces(tuple(numbers))
    times = np.array(list(numbers.values()), dtype=np.int64)
    pairs = np.unique(np.stack([pieces.text_of, pieces.ids.astype(np.int64)], axis=-1), axis=0)
    types, back = np.unique(pairs[:, 1], return_inverse=True)
    frequencies = np.bincount(back.reshape(-1), times[pairs[:, 0]], minlength=len(types))
    return Idf(len(texts), types.astype(np.int32), frequencies.astype(np.int64))


# Similarities of the tokens of pairs of texts, every text encoded once, memory bounded.
#
# Pairs are taken segment by segment, as many at a time as their vectors fit a budget; vectors of a
# text that later pairs need again are kept until the last of them. The result is the matrix of
# similarities of each pair: from a size on it lies in a temporary file.


#: bytes of vectors in memory at once, on a CPU and on a GPU
_VECTORS = {"cpu": 1 << 26, "cuda": 1 << 30}
#: float32 values of the two padded sides of a batch of pairs, on a CPU and on a GPU
_PADDED = {"cpu": 1 << 22, "cuda": 1 << 27}
#: bytes of matrices kept in memory
_MATRICES = 1 << 24


@dataclass(frozen=True, eq=False)
class Best:
    """Best matches on one side of the pairs: similarity, and place within the other text."""

    value: NDArray[np.float32]  # [slots]
    # [slots], position of the match within the other text; -1 where there is none
    place: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Similarities:
    """Cosines between all tokens of the two texts of D pairs."""

    # [D + 1]; the matrix of pair d, candidate by other, row by row, is
    # ``values[offsets[d]:offsets[d + 1]]``
    offsets: NDArray[np.int64]
    values: NDArray[np.float32]  # in memory or in a temporary file
    candidate: Best  # best matches of the candidates' tokens, pair after pair
    other: Best  # best matches of the other texts' tokens, pair after pair


def similarities(
    encoder: TextEncoder,
    pieces: Pieces,
    pairs: NDArray[np.int64],  # [D, 2], (candidate, other), numbers of texts
    order: NDArray[np.int64],
    targets: NDArray[np.bool_],  # [rows of ``pieces``], which pieces may be matched
) -> Similarities:
    """Encode the texts of some pairs and compare their tokens.

    ``order``: int64 [D], in which order to take the pairs: those with texts in common together.
    """
    sizes = pieces.lengths[pairs]
    matrix = offsets_of(sizes[:, 0] * sizes[:, 1])
    slots = [offsets_of(sizes[:, side]) for side in (0, 1)]
    values, release = large_array((int(matrix[-1]),), np.float32, _MATRICES)
    cosines = Similarities(matrix, values, *(_no_matches(int(side[-1])) for side in slots))
    for chosen, vectors in _vectors(encoder, pieces, pairs, order):
        size = encoder.dimensions * sizes[chosen].max(axis=1)
        for group in length_batches(size, _PADDED[_kind(encoder)]):
            _compare(cosines, slots, pieces, pairs, chosen[group], vectors, targets)
        del vectors  # before the next ones are made
        release()
    return cosines


def _kind(encoder: TextEncoder) -> str:
    return "cpu" if encoder.device == "cpu" else "cuda"


def _no_matches(size: int) -> Best:
    return Best(np.zeros(size, dtype=np.float32), np.full(size, -1, dtype=np.int32))


@dataclass(eq=False)
class _TextVectors:
    """Vectors of the texts at hand: where each text begins in one tensor."""

    start: dict[int, int]
    vectors: Any  # a torch tensor [rows, d]


def _vectors(
    encoder: TextEncoder, pieces: Pieces, pairs: NDArray[np.int64], order: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], _TextVectors]]:
    """Groups of pairs with the vectors of their texts; each text is encoded once."""
    import torch

    most = _VECTORS[_kind(encoder)] // (4 * encoder.dimensions)
    groups = _groups(pieces, pairs, order, most)
    last = np.full(len(pieces), -1, dtype=np.int64)
    for number, group in enumerate(groups):
        last[pairs[group].ravel()] = number
    cache = _TextVectors({}, torch.empty(0, encoder.dimensions, device=encoder.device))
    for number, group in enumerate(groups):
        wanted = np.unique(pairs[group])
        new = np.array([t for t in wanted.tolist() if t not in cache.start], dtype=np.int64)
        cache = _add_vectors(cache, encoder, pieces, new)
        yield group, cache
        cache = _keep_vectors(cache, pieces, [t for t in cache.start if last[t] > number])


def _groups(
    pieces: Pieces, pairs: NDArray[np.int64], order: NDArray[np.int64], most: int
) -> list[NDArray[np.int64]]:
    """Pairs in their order, cut where the pieces of their texts exceed a number."""
    lengths = pieces.lengths
    groups: list[list[int]] = [[]]
    seen: set[int] = set()
    size = 0
    for pair, (a, b) in zip(order.tolist(), pairs[order].tolist(), strict=True):
        new = {a, b} - seen
        more = int(sum(lengths[t] for t in new))
        if size + more > most and groups[-1]:
            groups.append([])
            seen, size = set(), 0
            new = {a, b}
            more = int(sum(lengths[t] for t in new))
        groups[-1].append(pair)
        seen |= new
        size += more
    return [np.array(group, dtype=np.int64) for group in groups if group]


def _add_vectors(
    cache: _TextVectors, encoder: TextEncoder, pieces: Pieces, new: NDArray[np.int64]
) -> _TextVectors:
    import torch

    if not len(new):
        return cache
    embedded = encoder.embed(pieces, new)
    base = len(cache.vectors)
    starts = (base + embedded.offsets[:-1]).tolist()
    vectors = torch.cat([cache.vectors, embedded.vectors]) if base else embedded.vectors
    return _TextVectors(cache.start | dict(zip(new.tolist(), starts, strict=True)), vectors)


def _keep_vectors(cache: _TextVectors, pieces: Pieces, kept: list[int]) -> _TextVectors:
    import torch

    start: dict[int, int] = {}
    parts, base = [cache.vectors[:0]], 0
    for text in kept:
        size = int(pieces.lengths[text])
        start[text] = base
        parts.append(cache.vectors[cache.start[text] : cache.start[text] + size])
        base += size
    return _TextVectors(start, torch.cat(parts))


def _compare(
    found: Similarities,
    slots: list[NDArray[np.int64]],
    pieces: Pieces,
    pairs: NDArray[np.int64],
    group: NDArray[np.int64],
    cache: _TextVectors,
    targets: NDArray[np.bool_],
) -> None:
    """Matrices and best matches of a group of pairs, written to their places."""
    import torch

    device = cache.vectors.device
    sides, kept, allowed = [], [], []
    for side in (0, 1):
        texts = pairs[group, side]
        lengths = pieces.lengths[texts]
        within = np.arange(int(lengths.max(initial=0)))
        mask = within < lengths[:, None]
        start = np.array([cache.start[t] for t in texts.tolist()])[:, None]
        rows = np.where(mask, start + within, 0)
        piece_rows = np.where(mask, pieces.offsets[texts][:, None] + within, 0)
        sides.append(cache.vectors[torch.as_tensor(rows, device=device)])
        kept.append(mask)
        allowed.append(mask & targets[piece_rows])
    matrix = torch.bmm(sides[0], sides[1].transpose(1, 2))
    full = torch.as_tensor(kept[0][:, :, None] & kept[1][:, None, :], device=device)
    _write_rows(found.values, found.offsets, group, matrix[full])
    for side, best in ((0, found.candidate), (1, found.other)):
        barred = torch.as_tensor(~allowed[1 - side], device=device)
        seen = matrix.masked_fill(
            barred[:, None, :] if side == 0 else barred[:, :, None], -torch.inf
        )
        value, position = seen.max(dim=2 - side)
        none = torch.isneginf(value)
        filled = torch.as_tensor(kept[side], device=device)
        _write_rows(best.value, slots[side], group, value.masked_fill(none, 0.0)[filled])
        _write_rows(best.place, slots[side], group, position.masked_fill(none, -1)[filled])


def _write_rows(
    into: NDArray[Any], offsets: NDArray[np.int64], group: NDArray[np.int64], values: Any
) -> None:
    sizes = offsets[group + 1] - offsets[group]
    into[ranges(offsets[group], sizes)] = values.cpu().numpy()


# From the texts of a batch to best matches, masked or not.


class _Memory(NamedTuple):
    texts: tuple[str, ...]
    keys: NDArray[np.int64]  # pairs as numbers, ascending
    encoded: EncodedTexts

    def holds(self, texts: tuple[str, ...], keys: NDArray[np.int64]) -> bool:
        """True if these pairs of these texts are known."""
        same = self.texts is texts or self.texts == texts
        return same and bool(np.isin(keys, self.keys).all())


@dataclass(frozen=True, eq=False)
class EncodedTexts:
    """The encodings of D distinct pairs of the texts of a batch."""

    texts: NDArray[np.int64]
    pieces: Pieces
    similarities: Similarities
    candidate: SideMatches
    reference: SideMatches


class TextEncoder(Protocol):
    """An encoder that cuts texts into pieces and gives each of these a vector.

    Attributes:
        memory: what was found last, by name.
    """

    memory: dict[str, Any]

    @property
    def identity(self) -> str:
        """Of its files."""
        ...

    @property
    def layer(self) -> int | str:
        """Whose states are the vectors."""
        ...

    @property
    def precision(self) -> str:
        """In which precision it computes."""
        ...

    @property
    def device(self) -> str:
        """Where it runs: "cpu", "cuda"."""
        ...

    @property
    def dimensions(self) -> int:
        """Size of a vector."""
        ...

    @property
    def limit(self) -> int | None:
        """Most pieces of a text."""
        ...

    @property
    def long(self) -> str:
        """The treatment of longer texts, in words."""
        ...

    def pieces(self, texts: Sequence[str], wanted: Iterable[int]) -> Pieces:
        """Some of the texts in pieces."""
        ...

    def embed(self, pieces: Pieces, texts: NDArray[np.int64]) -> Embedded:
        """Unit vectors of the pieces of some texts."""
        ...


class Matcher:
    """Matches the pieces of candidates with those of other texts.

    Args:
        encoder: texts to vectors.
        weigh: from pieces to the weight of each.
        special: whether special pieces may be matched ("match") or not ("exclude").
    """

    def __init__(
        self, encoder: TextEncoder, weigh: Callable[[Pieces], NDArray[np.float64]], special: str
    ) -> None:
        self.encoder = encoder
        self.special = special
        self._weigh = weigh
        self._tokens: tuple[Pieces, TokenRows] | None = None

    def encode(self, batch: Batch, rows: PairRows) -> tuple[EncodedTexts, NDArray[np.int64]]:
        """Encode the pairs of some rows; with the pair of each row, int64 [P]."""
        keys = rows.candidate << 32 | rows.reference
        name = f"similarities, special {self.special}"
        last: _Memory | None = self.encoder.memory.get(name)
        if last is None or not last.holds(batch.texts, keys):
            last = _Memory(batch.texts, *self._compare_texts(batch, rows, keys))
            self.encoder.memory[name] = last
        return last.encoded, np.searchsorted(last.keys, keys)

    def tokens(self, pieces: Pieces) -> TokenRows:
        """The pieces with their weights."""
        if self._tokens is None or self._tokens[0] is not pieces:
            rows = TokenRows(
                offsets=pieces.offsets,
                type=pieces.ids,
                word=pieces.word,
                start=pieces.start,
                end=pieces.end,
                special=pieces.special,
                weight=self._weigh(pieces),
            )
            self._tokens = pieces, rows
        return self._tokens[1]

    def matches(self, batch: Batch, rows: PairRows) -> Matches:
        """Best matches of the texts as they are."""
        encoded, pair = self.encode(batch, rows)
        tokens = self.tokens(encoded.pieces)
        return Matches(
            rows.shape, rows.cell, pair, encoded.texts, tokens, encoded.candidate, encoded.reference
        )

    def variants(self, batch: Batch, rows: PairRows, plan: MaskPlan) -> Iterator[Matches]:
        """Best matches of every variant of a plan (Karidi et al., appendix C)."""
        base = self.matches(batch, rows)
        encoded, _ = self.encode(batch, rows)
        masks = TokenMasks.locate(piece_table(encoded.pieces, self.encoder.identity), plan)
        for variant in range(plan.variants):
            chosen = masks.masks(variant)
            action = np.zeros(len(encoded.pieces.ids), dtype=np.int8)
            action[chosen.token] = chosen.action
            yield replace(
                base,
                candidate=_mask_side(encoded, action, self.targets(encoded.pieces), 0),
                reference=_mask_side(encoded, action, self.targets(encoded.pieces), 1),
            )

    def targets(self, pieces: Pieces) -> NDArray[np.bool_]:
        """Which pieces may be matched, bool [rows]."""
        return ~pieces.special if self.special == "exclude" else np.ones_like(pieces.special)

    def _compare_texts(
        self, batch: Batch, rows: PairRows, keys: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], EncodedTexts]:
        distinct, first = np.unique(keys, return_index=True)
        texts = np.stack([distinct >> 32, distinct & _LOW], axis=-1)
        pieces = self.encoder.pieces(batch.texts, np.unique(texts).tolist())
        segment = rows.cell[first] % max(rows.shape[1], 1)
        order = np.argsort(segment, kind="stable")
        cosines = similarities(self.encoder, pieces, texts, order, self.targets(pieces))
        sides = [
            _side(pieces, texts, number, best)
            for number, best in enumerate((cosines.candidate, cosines.other))
        ]
        return distinct, EncodedTexts(texts, pieces, cosines, *sides)


_LOW = (1 << 32) - 1


def _side(pieces: Pieces, texts: NDArray[np.int64], side: int, best: Best) -> SideMatches:
    sizes = pieces.lengths[texts]
    offsets = offsets_of(sizes[:, side])
    token = ranges(pieces.offsets[texts[:, side]], sizes[:, side])
    other = np.repeat(pieces.offsets[texts[:, 1 - side]], sizes[:, side])
    at = np.where(best.place >= 0, other + best.place, -1)
    return SideMatches(offsets, token, best.value, at)


def _mask_side(
    encoded: EncodedTexts, action: NDArray[np.int8], targets: NDArray[np.bool_], number: int
) -> SideMatches:
    """One side's best matches under a variant.

    A private mask matches nothing. A shared mask matches a shared mask on the other side fully.
    All else keeps its best match among the tokens that are not privately masked.
    """
    side = encoded.reference if number else encoded.candidate
    own_actions, other = action[side.token], encoded.texts[:, 1 - number]
    offsets = encoded.pieces.offsets
    shared = has_marked(offsets, action == Action.SHARED)[other][side.pair]
    private = has_marked(offsets, action == Action.PRIVATE)[other][side.pair]
    lost = (side.at >= 0) & (action[side.at] == Action.PRIVATE)
    best, at = side.best.copy(), side.at.copy()
    full = (own_actions == Action.SHARED) & shared
    again = np.flatnonzero(lost & ~full & (own_actions != Action.PRIVATE))
    best[again] = _best_open(encoded, again, targets & (action != Action.PRIVATE), number)
    at[again] = -1
    np.maximum(best, 0, out=best, where=private)
    best[full], at[full] = 1.0, -1
    gone = own_actions == Action.PRIVATE
    best[gone], at[gone] = 0.0, -1
    return replace(side, best=best, at=at)


def _best_open(
    encoded: EncodedTexts, slots: NDArray[np.int64], open_: NDArray[np.bool_], number: int
) -> NDArray[np.float32]:
    """The best similarity of some slots to open tokens of the other side; 0 where none is."""
    if not len(slots):
        return np.zeros(0, dtype=np.float32)
    side = encoded.reference if number else encoded.candidate
    pair = side.pair[slots]
    position = slots - side.offsets[pair]
    sizes = encoded.pieces.lengths[encoded.texts[pair]]
    width, start = sizes[:, 1], encoded.similarities.offsets[pair]
    counts = sizes[:, 1 - number]
    step = np.repeat(np.where(number == 0, 1, width), counts)
    first = np.repeat(start + position * (width if number == 0 else 1), counts)
    within = ranges(np.zeros_like(counts), counts)
    values = np.asarray(encoded.similarities.values[first + step * within])
    target = ranges(encoded.pieces.offsets[encoded.texts[pair, 1 - number]], counts)
    values[~open_[target]] = 0.0
    bounds = np.cumsum(counts) - counts
    return np.maximum.reduceat(values, bounds)


def piece_table(pieces: Pieces, name: str) -> TokenTable:
    """The pieces as a table that spans can be laid over."""
    return TokenTable(
        tokeniser=name,
        offsets=pieces.offsets,
        ids=pieces.ids,
        vocabulary=Vocabulary.build([]),
        tokenised=len(pieces),
        places=lambda: TokenPlaces(pieces.start, pieces.end),
    )


# Metrics that compare the vectors of pieces, ready to score.


@dataclass(frozen=True, eq=False)
class BoundMatching(OfOptions):
    """A metric on the similarities of pieces; remembers those of the batch seen last."""

    metric: Metric
    encoder: Encoder  # counts what it encodes
    weights: Idf | None  # frozen idf weights, if asked for

    @property
    def signature(self) -> Signature:
        """Spec, model with revision or hash, layer, idf."""
        fields = model_fields(self.encoder)
        if self.weights is not None:
            fields["idf"] = self.weights.identity
        return Signature(self.metric.spec).adding(fields)

    def notices(self, batch: Batch) -> tuple[Message, ...]:
        """Texts that were cut at the model's limit, or that its tokeniser does not know."""
        encoded, _ = self.encode(batch, compared_rows(batch, self.needs))
        return notices_of(self.metric.spec, self.encoder, encoded.pieces)

    def encode(self, batch: Batch, rows: PairRows) -> tuple[EncodedTexts, NDArray[np.int64]]:
        """Encode the pairs of some rows; with the pair of each row, int64 [P]."""
        return self.matcher.encode(batch, rows)

    @cached_property
    def matcher(self) -> Matcher:
        """Compares texts with the encoder and the weights; special pieces may be matched."""
        return Matcher(self.encoder, self.weigh, "match")

    def weigh(self, pieces: Pieces) -> NDArray[np.float64]:
        """The weight of every piece, float64 [rows]: 1 or idf; special ones have none."""
        return unit_weights(pieces) if self.weights is None else self.weights.weigh(pieces)
