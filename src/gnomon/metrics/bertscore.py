"""BERTScore: tokens of candidate and reference matched by the vectors of a transformer.

Zhang et al. (2020), "BERTScore: Evaluating Text Generation with BERT". Equal to bert-score 0.3.13.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

import numpy as np

from gnomon.errors import DataError, SpecError
from gnomon.metrics._baselines import Baseline, find_baseline, read_baseline
from gnomon.metrics._default_models import default_layer, default_model
from gnomon.metrics._embedding import model_fields, notices_of, unit_weights
from gnomon.metrics._idf import Idf, idf_of
from gnomon.metrics._matcher import Matcher
from gnomon.metrics._means import aggregate_means, mean_over_segments, mean_statistics
from gnomon.metrics._pairs import pair_rows
from gnomon.metrics._spec import Options
from gnomon.signature import Signature

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.metrics._pairs import PairRows
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.matching import Matches
    from gnomon.metrics.protocol import Need
    from gnomon.models import Encoder, Pieces, Precision
    from gnomon.testset import TestSet

__all__ = ["BertScore", "BoundBertScore"]

Part: TypeAlias = Literal["f", "precision", "recall"]


@dataclass(frozen=True)
class BertScore(Options):
    """BERTScore: greedy matching of tokens by the cosine of their contextual vectors.

    Precision is the mean over the candidate's tokens of the similarity to their best match in the
    reference, recall the same over the reference's tokens. With several references the best
    counts, for precision, recall and F each. The system score is the mean over segments. An empty
    text on either side scores 0 (before rescaling), as in bert-score.

    Attributes:
        model: a folder, ``package:NAME/FOLDER`` or a name on the model hub; by default
            bert-score's choice for the target language (roberta-large for English).
        layer: whose vectors are compared; known for the usual models.
        score: "f", "precision" or "recall".
        idf: weigh tokens by their inverse document frequency in the test set's references.
        rescale: subtract what unrelated sentences score: (x - b) / (1 - b).
        baseline: file of baselines per layer, in bert-score's format; by default the one that the
            package bert-score carries.
        special: whether the tokens that begin and end a text may be matched ("match", as in
            bert-score) or not ("exclude"). They have no weight of their own either way.
        revision: commit of the model on the hub.
        device: "cpu", "cuda", ...; by default a GPU if there is one.
        precision: "fp32", or mixed precision with "bf16" or "fp16".

    Raises:
        SpecError: an option has a value that it cannot have.
    """

    name: ClassVar[str] = "bertscore"
    needs: ClassVar[frozenset[Need]] = frozenset(("references",))
    higher_is_better: ClassVar[bool] = True

    model: str | None = None
    layer: int | None = None
    score: Part = "f"
    idf: bool = False
    rescale: bool = False
    baseline: str | None = None
    special: Literal["match", "exclude"] = "match"
    revision: str | None = None
    device: str | None = None
    precision: Literal["fp32", "bf16", "fp16"] = "fp32"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.baseline is not None and not self.rescale:
            raise SpecError(f"{self.name}: a baseline is for rescaling; add rescale=True")

    def bind(self, testset: TestSet) -> BoundBertScore:
        """Load the model, and freeze idf weights and baseline.

        Raises:
            DataError: the test set has no references, or the model cannot be loaded.
            MissingDependencyError: torch, transformers, the model or a baseline is not there.
            SpecError: no best layer is known for the model.
        """
        if not testset.references and not testset.system_references:
            raise DataError(f"metric {self.spec!r} needs references; {testset.name!r} has none")
        model = self.model or default_model(_target(testset))
        layer = default_layer(self.name, model) if self.layer is None else self.layer
        encoder = _loaded(model, layer, self.revision, self.device, self.precision)
        references = [r for column in testset.references.values() for r in column if r is not None]
        return BoundBertScore(
            metric=self,
            encoder=encoder,
            weights=idf_of(encoder, references) if self.idf else None,
            baseline=self._baseline(model, layer, _target(testset)),
        )

    def _baseline(self, model: str, layer: int, language: str | None) -> Baseline | None:
        if not self.rescale:
            return None
        path = Path(self.baseline) if self.baseline else find_baseline(model, language)
        return read_baseline(path, layer)


@dataclass(frozen=True, eq=False)
class BoundBertScore:
    """BERTScore, ready to score; remembers the similarities in the batch that it saw last.

    Attributes:
        metric: the options.
        encoder: the model; counts what it encodes.
        weights: frozen idf weights, if asked for.
        baseline: frozen baseline, if rescaling is asked for.
    """

    metric: BertScore
    encoder: Encoder
    weights: Idf | None
    baseline: Baseline | None

    @property
    def name(self) -> str:
        """Name of the metric."""
        return self.metric.name

    @property
    def needs(self) -> frozenset[Need]:
        """References."""
        return self.metric.needs

    @property
    def higher_is_better(self) -> bool:
        """True."""
        return self.metric.higher_is_better

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
        """Precision, recall and F of every candidate, float64 [K, N, 3]; NaN without reference."""
        return self._parts(self._matcher.matches(batch, self._rows(batch)))

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence scores, float64 [K, N]; NaN for segments without a reference."""
        return self.parts(batch)[..., self._part]

    def system(self, batch: Batch) -> NDArray[np.float64]:
        """Means over segments, float64 [K]."""
        return mean_over_segments(self.segments(batch))

    def statistics(self, batch: Batch) -> NDArray[np.float64]:
        """Score and 1, or 0 and 0 where undefined: float64 [K, N, 2]."""
        return mean_statistics(self.segments(batch))

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Means [...] from summed statistics [..., 2]."""
        return aggregate_means(statistics)

    def matches(self, batch: Batch, plan: MaskPlan | None = None) -> Iterator[Matches]:
        """Best matches of all tokens, as they are or under every variant of a plan."""
        rows = self._rows(batch)
        if plan is None:
            yield self._matcher.matches(batch, rows)
        else:
            yield from self._matcher.variants(batch, rows, plan)

    def mask_lengths(self, batch: Batch, plan: MaskPlan) -> None:
        """Similarities have no length."""

    def masked(self, batch: Batch, plan: MaskPlan) -> NDArray[np.float64]:
        """Sentence scores of every variant, float64 [V, K, N].

        Similarities stay those of the unmasked texts, and their matrix is edited (Karidi et al.,
        appendix C): 1 where two shared masks meet, 0 for private masks. A mask is one per token;
        ``granularity`` changes nothing.
        """
        scores = np.empty((plan.variants, *batch.shape))
        for variant, matches in enumerate(self.matches(batch, plan)):
            scores[variant] = self._parts(matches)[..., self._part]
        return scores

    def notices(self, batch: Batch) -> tuple[str, ...]:
        """Texts that were cut at the model's limit, or that its tokeniser does not know."""
        seen, _ = self._matcher.seen(batch, self._rows(batch))
        return notices_of(self.metric.spec, self.encoder, seen.pieces)

    def _rows(self, batch: Batch) -> PairRows:
        return pair_rows(batch)

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


def _target(testset: TestSet) -> str | None:
    pair = testset.language_pair
    return pair.split("-")[-1] if pair else None


def _loaded(
    model: str, layer: int, revision: str | None, device: str | None, precision: Precision
) -> Encoder:
    from gnomon.models import load_encoder

    return load_encoder(model, layer=layer, revision=revision, device=device, precision=precision)
