"""BERTScore: tokens of candidate and reference matched by the vectors of a transformer.

Zhang et al. (2020), "BERTScore: Evaluating Text Generation with BERT". Equal to bert-score 0.3.13.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

import numpy as np

from gnomon.errors import SpecError
from gnomon.metrics._baselines import Baseline, find_baseline, read_baseline
from gnomon.metrics._check import check_needs
from gnomon.metrics._default_models import default_layer, default_model
from gnomon.metrics._embedding import encoder_of, reference_texts, target_language
from gnomon.metrics._idf import idf_of
from gnomon.metrics._matched import BoundMatched
from gnomon.metrics._spec import Options

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.protocol import Need
    from gnomon.models import Encoder
    from gnomon.outline import Outline
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
        precision: "fp32"; mixed precision with "bf16" or "fp16"; approximate scores by integers of
            8 bits with "int8" (backend "onnx").
        backend: "torch", or "onnx" for ONNX Runtime on the CPU.
        long: texts beyond the model's limit are cut ("truncate") or read in overlapping windows
            ("window").
        embeddings: folder where vectors are kept for later runs; specs do not show it.

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
    precision: Literal["fp32", "bf16", "fp16", "int8"] = "fp32"
    backend: Literal["torch", "onnx"] = "torch"
    long: Literal["truncate", "window"] = "truncate"
    embeddings: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.baseline is not None and not self.rescale:
            raise SpecError(f"{self.name}: a baseline is for rescaling; add rescale=True")

    def check_outline(self, outline: Outline | None) -> None:
        """Refuse a model of unknown layers, or without a baseline, before it is loaded."""
        model = self.model or (None if outline is None else self._standard(outline))
        if model is not None and self.layer is None:
            default_layer(self.name, model)
        if outline is not None and model is not None and self.rescale:
            self._baseline_file(model, outline.target_language)

    def _standard(self, outline: Outline) -> str:
        return default_model(outline.target_language)

    def bind(self, testset: TestSet) -> BoundBertScore:
        """Load the model, and freeze idf weights and baseline.

        Raises:
            DataError: the test set has no references, or the model cannot be loaded.
            MissingDependencyError: torch, transformers, the model or a baseline is not there.
            SpecError: no best layer is known for the model.
        """
        check_needs(self, testset.outline)
        model = self.model or default_model(target_language(testset))
        encoder = self._encoder(model)
        return BoundBertScore(
            metric=self,
            encoder=encoder,
            weights=idf_of(encoder, reference_texts(testset)) if self.idf else None,
            baseline=self._baseline(model, encoder.layer, target_language(testset)),
        )

    def _encoder(self, model: str) -> Encoder:
        layer = default_layer(self.name, model) if self.layer is None else self.layer
        return encoder_of(self, model, layer)

    def _baseline(self, model: str, layer: int, language: str | None) -> Baseline | None:
        if not self.rescale:
            return None
        return read_baseline(self._baseline_file(model, language), layer)

    def _baseline_file(self, model: str, language: str | None) -> Path:
        return Path(self.baseline) if self.baseline else find_baseline(model, language)


@dataclass(frozen=True, eq=False)
class BoundBertScore(BoundMatched):
    """BERTScore, ready to score; remembers the similarities in the batch that it saw last."""

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
