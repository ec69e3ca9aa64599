"""PEAR: the better of two translations of a source, and by how much.

"PEAR: Pairwise Evaluation for Automatic Relative Scoring in Machine Translation" (2026). The head
is antisymmetric, the encoder is not: (a, b) and the negative of (b, a) differ somewhat.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import combinations, product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, UsageError
from gnomon.core.signature import content_hash
from gnomon.learned.heads import FeedForward
from gnomon.learned.metric import BoundLearned, InputRows, LearnedOptions, Triple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.outline import Outline
    from gnomon.core.signature import Signature
    from gnomon.core.testset import TestSet
    from gnomon.learned.encoder import Remembered, States
    from gnomon.messages import Message
    from gnomon.metrics.base import Input

__all__ = ["BoundPear", "OutputPair", "Pear"]

#: ``<s>``, two times ``</s></s>``, and ``</s>``
_SPECIAL = 6
#: pairs that are looked at together; their texts are split into pieces meanwhile
_BLOCK = 2048
_EPSILON = 1e-5


@dataclass(frozen=True)
class Pear(LearnedOptions):
    """PEAR: how much better a candidate is than another translation of its source.

    Source and two translations are one sequence; the score is positive where the first one is
    better. As a metric of one candidate, the other translation is the reference
    (``anchor='reference'``; with several, the score is the mean over them), so that it depends on
    nothing but the texts of its segment; or, without references, the outputs of all other systems
    (``anchor='systems'``), frozen when the metric is bound. ``gnomon compare`` holds the systems
    against each other. The system score is the mean over segments.

    Attributes:
        model: folder of a converted model, or its name; see ``gnomon setup model``.
        device: "cpu", "cuda", ...; by default a GPU if there is one.
        precision: "fp32"; mixed precision with "bf16" or "fp16".
        batch: most pairs that are read at a time; specs do not show it.
        embeddings: folder where scores of pairs are kept for later runs; specs do not show it.
        anchor: what candidates are compared with, "reference" or "systems".
        both: read each pair in both orders and take half the difference, which is antisymmetric:
            equal texts score 0. Twice the work.

    Raises:
        SpecError: an option has a value that it cannot have, or the model is of another metric.
    """

    name: ClassVar[str] = "pear"
    title: ClassVar[str] = "PEAR"
    can: ClassVar[frozenset[str]] = frozenset(("statistics", "prefer"))

    anchor: Literal["reference", "systems"] = "reference"
    both: bool = False

    @property
    def pooled(self) -> bool:  # type: ignore[override]  # of most metrics it is known beforehand
        """True if other systems are what candidates are compared with."""
        return self.anchor == "systems"

    @property
    def needs(self) -> frozenset[Input]:
        """Sources, and references where these are the anchor."""
        return frozenset(("sources",) if self.pooled else ("references", "sources"))

    def check_outline(self, outline: Outline | None) -> None:
        """Refuse a model that is not here, and a single system where others are the anchor.

        Raises:
            DataError: there are fewer than two systems.
        """
        super().check_outline(outline)
        if self.pooled and outline is not None and len(outline.systems) < 2:
            raise DataError(
                f"{self.spec} holds each system against the others, and test set {outline.name!r}"
                f" has {len(outline.systems)}; give two systems or more, or anchor='reference'"
            )

    def bind(self, testset: TestSet) -> BoundPear:
        """Load the model; freeze the outputs of all systems where these are the anchor.

        Raises:
            DataError: the test set lacks what the metric needs, or the model cannot be loaded.
            MissingDependencyError: torch, transformers, tokenizers or the model is not there.
        """
        self.check_outline(testset.outline)
        pool = {name: tuple(texts) for name, texts in testset.systems.items()}
        return BoundPear(self, self.loaded(testset), pool if self.pooled else {})


class OutputPair(NamedTuple):
    """Two translations of a source."""

    source: str
    first: str
    second: str


@dataclass(frozen=True, eq=False)
class BoundPear(BoundLearned):
    """PEAR, ready to score; each distinct pair is read once."""

    metric: Pear
    # name of a system -> its outputs; empty unless other systems are the anchor
    pool: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def depends_on_system(self) -> bool:
        """True if a text is compared with all systems but its own."""
        return bool(self.pool)

    @property
    def signature(self) -> Signature:
        """As of all learned metrics, and the outputs that are the anchor."""
        signature = super().signature
        if not self.pool:
            return signature
        texts = (text for name, texts in self.pool.items() for text in (name, *texts))
        return signature.adding(pool=f"{len(self.pool)}#{content_hash(*texts)}")

    @property
    def limit(self) -> int:
        """Most pieces of a pair with its source, special ones included."""
        return self.model.encoder.positions

    def score_triples(self, triples: Sequence[Triple]) -> NDArray[np.float64]:
        """Candidates against what stands for the reference, float64 [P, 1]."""
        pairs = [
            OutputPair(source or "", candidate, other or "") for candidate, source, other in triples
        ]
        forward = self.scores(pairs)
        if self.metric.both:
            back = self.scores([OutputPair(pair.source, pair.second, pair.first) for pair in pairs])
            forward = (forward - back) / 2
        return forward[:, None]

    def score_parts(self, batch: Batch) -> NDArray[np.float64]:
        """Scores of all segments, float64 [K, N, 1]; means over references, or other systems."""
        if not self.pool:
            return super().score_parts(batch)
        cells, triples = self._against_pool(batch)
        distinct = list(dict.fromkeys(triples))
        values = dict(zip(distinct, self.score_triples(distinct), strict=True))
        rows = InputRows(batch.shape, np.array(cells, dtype=np.int64), np.zeros((0, 3), np.int64))
        return rows.means(np.array([values[triple] for triple in triples]).reshape(-1, 1))

    def _against_pool(self, batch: Batch) -> tuple[list[int], list[Triple]]:
        """Every output with each of the other systems', and the cell of each."""
        cells, triples = [], []
        segments = batch.segments.tolist()
        frozen = len(next(iter(self.pool.values())))
        if max(segments, default=-1) >= frozen:
            raise UsageError(
                f"{self.metric.spec} was bound to {frozen} segments, and segment"
                f" {max(segments) + 1} is to be scored; bind it to that test set"
            )
        for (row, system), (column, segment) in product(
            enumerate(batch.systems), enumerate(segments)
        ):
            for other, texts in self.pool.items():
                if other != system:
                    cells.append(row * len(segments) + column)
                    candidate = batch.texts[batch.candidates[row, column]]
                    triples.append(Triple(candidate, self._source(batch, column), texts[segment]))
        return cells, triples

    def pair_scores(self, batch: Batch) -> NDArray[np.float64]:
        """The outputs of every system against those of every other one, float64 [K, K, N].

        ``[a, b, n]`` is positive where the text of system a is better than that of system b. All
        ordered pairs are read, as with the original's mode "full".
        """
        systems, segments = batch.shape
        scores = np.zeros((systems, systems, segments))
        wanted = ~np.eye(systems, dtype=np.bool_)
        places = np.argwhere(wanted)
        if not len(places):
            return scores
        for at in range(0, segments * len(places), _BLOCK):
            rows = np.arange(at, min(at + _BLOCK, segments * len(places)))
            column, (first, second) = rows // len(places), places[rows % len(places)].T
            texts = batch.candidates[first, column], batch.candidates[second, column]
            pairs = [
                OutputPair(self._source(batch, n), batch.texts[a], batch.texts[b])
                for n, a, b in zip(column.tolist(), *texts, strict=True)
            ]
            scores[first, second, column] = self.scores(pairs)
        return scores

    def scores(self, pairs: Sequence[OutputPair]) -> NDArray[np.float64]:
        """Scores by the model of some pairs, each in the order given, float64 [P]."""
        scores = np.empty(len(pairs))
        for at in range(0, len(pairs), _BLOCK):
            some = pairs[at : at + _BLOCK]
            distinct = list(dict.fromkeys(some))
            results = self.stored_scores.scores(distinct, 1, partial(self._read_pairs, distinct))
            values = dict(zip(distinct, results[:, 0].tolist(), strict=True))
            scores[at : at + _BLOCK] = [values[pair] for pair in some]
        return scores

    def _read_pairs(self, pairs: Sequence[OutputPair], chosen: list[int]) -> NDArray[np.float64]:
        results = self._pair_memory.look_up([pairs[number] for number in chosen])
        return np.array([result.item() for result in results]).reshape(-1, 1)

    def look_up_parts(self, triples: Sequence[Triple]) -> NDArray[np.float64]:
        """Scores of some inputs, float64 [P, 1]; what is kept are those of pairs."""
        return self.score_triples(triples)

    def cut_texts(self, triples: Sequence[Triple]) -> tuple[int, int]:
        """Numbers of some sources with two outputs each that are cut, and of all."""
        encoder = self.model.encoder
        texts = list(dict.fromkeys(text or "" for triple in triples for text in triple))
        lengths = [len(pieces.ids) for pieces in encoder.pieces(texts)]
        length = dict(zip(texts, lengths, strict=True))
        whole = [sum(length[text or ""] for text in triple) for triple in triples]
        return sum(size > encoder.positions - _SPECIAL for size in whole), len(triples)

    def notices(self, batch: Batch) -> tuple[Message, ...]:
        """Notices of inputs that were cut: a source, an output and what that is compared with."""
        if not self.pool:
            return super().notices(batch)
        return self._cut_pairs(dict.fromkeys(self._against_pool(batch)[1]))

    def pair_notices(self, batch: Batch) -> tuple[Message, ...]:
        """Notices of inputs of :meth:`pair_scores` that were cut."""
        inputs: dict[Triple, None] = {}
        for column, numbers in enumerate(batch.candidates.T.tolist()):
            source = self._source(batch, column)
            for first, second in combinations(numbers, 2):
                inputs[Triple(batch.texts[first], source, batch.texts[second])] = None
        return self._cut_pairs(inputs)

    def _cut_pairs(self, triples: Iterable[Triple]) -> tuple[Message, ...]:
        return self.cut_notices(list(triples), "inputs (a source and two outputs)")

    def _source(self, batch: Batch, column: int) -> str:
        return "" if batch.sources is None else batch.texts[batch.sources[column]]

    @cached_property
    def _pair_memory(self) -> Remembered[OutputPair]:
        """The score of each pair, [1, 1]."""
        return self.remembered("pairs", "pair", 1, self._sequences, self._read)

    def _sequences(self, pairs: Sequence[OutputPair]) -> list[tuple[NDArray[np.int32], int]]:
        return [(ids, 1) for ids in self.joint_ids(pairs)]

    def joint_ids(self, pairs: Sequence[OutputPair]) -> list[NDArray[np.int32]]:
        """``<s> source </s></s> first </s></s> second </s>``, cut where it is too long."""
        encoder = self.model.encoder
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        pieces = {
            text: text_pieces.ids
            for text, text_pieces in zip(texts, encoder.pieces(texts), strict=True)
        }
        joint = []
        for pair in pairs:
            parts = [pieces[text][: encoder.positions - 2] for text in pair]
            kept = shares([len(part) for part in parts], encoder.positions - _SPECIAL)
            joint.append(encoder.joint([part[:n] for part, n in zip(parts, kept, strict=True)]))
        return joint

    def _read(self, states: States, _rows: NDArray[np.int64]) -> list[NDArray[np.float32]]:
        """The scores of a batch of pairs, from the last layer."""
        import torch

        last, head = states.layers[-1], self.model.head
        spans = torch.as_tensor(spans_of(states.ids, self.model.encoder.end), device=last.device)
        sums = torch.einsum("sbw,bwd->sbd", spans.float(), last)
        source, *outputs = sums / spans.sum(dim=2).clamp_min(1)[:, :, None]
        first, second = (
            self._pair_head(self._normalised(torch.cat((h, h * source, (h - source).abs()), dim=1)))
            for h in outputs
        )
        scale = (
            torch.nn.functional.softplus(head["_alpha_raw"]) + 1e-6
            if self._setting("learn_score_scale")
            else float(self._setting("score_alpha"))
        )
        scores: NDArray[np.float32] = (scale * (first - second)).cpu().numpy()
        return [score.reshape(1, 1) for score in scores]

    def _normalised(self, features: Any) -> Any:
        """The projection of the features of an output, and the layer norm after it."""
        from torch.nn import functional

        head = self.model.head
        name = "pre_head_norm" if self._setting("layer_norm_before_head") else "span_proj.2"
        weight, bias = head["span_proj.0.weight"], head["span_proj.0.bias"]
        projected = functional.gelu(functional.linear(features, weight, bias))
        norm = head[f"{name}.weight"], head[f"{name}.bias"]
        return functional.layer_norm(projected, projected.shape[-1:], *norm, _EPSILON)

    @cached_property
    def _pair_head(self) -> Callable[[Any], Any]:
        return FeedForward.from_head(self.model.head, self.model.model.settings, "pair_head.ff")

    def _setting(self, name: str) -> Any:
        return self.model.model.settings[name]


def shares(lengths: Sequence[int], most: int) -> list[int]:
    """Numbers of pieces kept of each text: a third of the limit each, and what others leave.

    >>> shares([3, 10, 10], 12), shares([9, 9, 9], 10), shares([1, 2, 3], 12)
    ([3, 5, 4], [4, 3, 3], [1, 2, 3])
    """
    kept = [min(length, most // len(lengths)) for length in lengths]
    left = most - sum(kept)
    while left > 0 and any(n < length for n, length in zip(kept, lengths, strict=True)):
        for number, length in enumerate(lengths):
            if left > 0 and kept[number] < length:
                kept[number] += 1
                left -= 1
    return kept


def spans_of(ids: NDArray[np.int64], end: int) -> NDArray[np.bool_]:
    """Where source, first and second translation stand in joint sequences, bool [3, B, W].

    ``ids``: int64 [B, W].
    """
    number = np.cumsum(ids == end, axis=1)  # of the ends up to each place
    inside = (ids != end) & (np.arange(ids.shape[1]) > 0)
    return np.stack([inside & (number == closed) for closed in (0, 2, 4)])
