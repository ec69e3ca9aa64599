"""What BERTScore and its relatives have in common once they are bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gnomon.metrics._embedding import compared_rows, model_fields, notices_of, unit_weights
from gnomon.metrics._greedy_gradient import MatchedText, greedy_score
from gnomon.metrics._matcher import Matcher
from gnomon.metrics._of_options import MeanOfSegments
from gnomon.metrics.differentiable import attributions
from gnomon.signature import Signature

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.metrics._baselines import Baseline
    from gnomon.metrics._idf import Idf
    from gnomon.metrics._pairs import PairRows
    from gnomon.metrics.differentiable import Attributions
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.matching import Matches
    from gnomon.metrics.protocol import Need
    from gnomon.models import Encoder, Pieces

__all__ = ["BoundMatched", "MatchedOptions"]


class MatchedOptions(Protocol):
    """What a bound metric reads of its options."""

    @property
    def name(self) -> str: ...
    @property
    def spec(self) -> str: ...
    @property
    def needs(self) -> frozenset[Need]: ...
    @property
    def higher_is_better(self) -> bool: ...
    @property
    def score(self) -> str: ...
    @property
    def special(self) -> str: ...


@dataclass(frozen=True, eq=False)
class BoundMatched(MeanOfSegments):
    """Greedy matching, ready to score; remembers the similarities in the batch seen last.

    Attributes:
        metric: the options.
        encoder: the model; counts what it encodes.
        weights: frozen idf weights, if asked for.
        baseline: frozen baseline, if rescaling is asked for.
    """

    metric: MatchedOptions
    encoder: Encoder
    weights: Idf | None
    baseline: Baseline | None

    @property
    def signature(self) -> Signature:
        """Spec, model with revision or hash, layer, and what was frozen."""
        fields = model_fields(self.encoder)
        if self.weights is not None:
            fields["idf"] = self.weights.identity
        if self.baseline is not None:
            fields["baseline"] = self.baseline.identity
        return Signature(self.metric.spec).adding(fields)

    def parts(self, batch: Batch) -> NDArray[np.float64]:
        """Precision, recall and F, float64 [K, N, 3]; NaN without a text to compare with."""
        return self._parts(self._matcher.matches(batch, self._rows(batch)))

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence scores, float64 [K, N]; NaN without a text to compare with."""
        return self.parts(batch)[..., self._part]

    def matches(self, batch: Batch, plan: MaskPlan | None = None) -> Iterator[Matches]:
        """Best matches of all tokens, as they are or under every variant of a plan."""
        rows = self._rows(batch)
        floor = 0.0 if self.baseline is None else self.baseline.f
        if plan is None:
            yield replace(self._matcher.matches(batch, rows), floor=floor)
        else:
            for found in self._matcher.variants(batch, rows, plan):
                yield replace(found, floor=floor)

    def attributions(self, batch: Batch) -> Attributions:
        """Input times gradient of every token of both sides."""
        rows = self._rows(batch)
        used = np.union1d(rows.candidate, rows.reference)
        pieces = self.encoder.pieces(batch.texts, used.tolist())
        weight, targets = self._weigh(pieces), self._matcher.targets(pieces)
        baseline = (0.0, 0.0, 0.0) if self.baseline is None else self.baseline[:3]

        def matched(text: int, vectors: Any) -> MatchedText:
            own = slice(int(pieces.offsets[text]), int(pieces.offsets[text + 1]))
            like = vectors.detach()
            marked = like.new_tensor(targets[own].astype(float)).bool()
            return MatchedText(vectors, like.new_tensor(weight[own]), marked)

        def score(number: int, candidate: Any, other: Any) -> Any:
            sides = rows.candidate[number], rows.reference[number]
            texts = [matched(int(t), v) for t, v in zip(sides, (candidate, other), strict=True)]
            return greedy_score(texts[0], texts[1], self._part, baseline)

        return attributions(self.encoder, pieces, rows, score)

    def notices(self, batch: Batch) -> tuple[str, ...]:
        """Texts that were cut at the model's limit, or that its tokeniser does not know."""
        seen, _ = self._matcher.seen(batch, self._rows(batch))
        return notices_of(self.metric.spec, self.encoder, seen.pieces)

    def _rows(self, batch: Batch) -> PairRows:
        return compared_rows(batch, self.needs)

    def _parts(self, matches: Matches) -> NDArray[np.float64]:
        best = [matches.best_of(part) for part in matches.parts()]
        found = np.stack(best, axis=-1)
        if self.baseline is None:
            return found
        base = np.array(self.baseline[:3])
        rescaled: NDArray[np.float64] = (found - base) / (1 - base)
        return rescaled

    @cached_property
    def _matcher(self) -> Matcher:
        return Matcher(self.encoder, self._weigh, self.metric.special)

    def _weigh(self, pieces: Pieces) -> NDArray[np.float64]:
        return unit_weights(pieces) if self.weights is None else self.weights.of(pieces)

    @property
    def _part(self) -> int:
        return {"precision": 0, "recall": 1, "f": 2}[self.metric.score]
