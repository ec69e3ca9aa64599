"""BERTScore: tokens of candidate and reference matched by the vectors of a transformer.

Zhang et al. (2020), "BERTScore: Evaluating Text Generation with BERT". Equal to bert-score 0.3.13.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

import numpy as np

from gnomon.core.data_files import data_beside
from gnomon.core.errors import DataError, MissingDependencyError, SpecError
from gnomon.core.options import MODEL, InputFile
from gnomon.messages import message
from gnomon.metrics.base import check_needs
from gnomon.metrics.baselines import estimate_baseline, find_baseline, read_baseline
from gnomon.metrics.differentiable import MatchedText, attributions, greedy_score
from gnomon.metrics.embeddings import (
    BoundMatching,
    EncoderOptions,
    Matcher,
    compared_rows,
    compared_texts,
    encoder_of,
    first_references,
    idf_of,
)
from gnomon.metrics.requirements import needs_of_options
from gnomon.models import SHORT_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.dependencies import Dependency
    from gnomon.core.outline import Outline
    from gnomon.core.signature import Signature
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.metrics.base import Input
    from gnomon.metrics.baselines import Baseline
    from gnomon.metrics.comparisons import PairRows
    from gnomon.metrics.differentiable import Attributions
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.matching import Matches
    from gnomon.models import Encoder

__all__ = ["BertScore", "BoundBertScore", "XBertScore"]


Part: TypeAlias = Literal["f", "precision", "recall"]


@dataclass(frozen=True)
class BertScore(EncoderOptions):
    """BERTScore: greedy matching of tokens by the cosine of their contextual vectors.

    Precision is the mean over the candidate's tokens of the similarity to their best match in the
    reference, recall the same over the reference's tokens. With several references the best
    counts, for precision, recall and F each. The system score is the mean over segments. An empty
    text on either side scores 0 (before rescaling), as in bert-score.

    Attributes:
        model: a name of ``gnomon list models``, a folder, ``package:NAME/FOLDER`` or a name on the
            model hub; by default bert-score's choice for the target language (roberta-large for
            English).
        layer: whose vectors are compared; known for the usual models.
        score: "f", "precision" or "recall".
        idf: weigh tokens by their inverse document frequency in the test set's references.
        rescale: subtract what unrelated sentences score, (x - b) / (1 - b): True with the
            baseline of the package bert-score; "estimate" with the mean score of the test set's
            references paired at random.
        baseline: file of baselines per layer, in bert-score's format, for ``rescale=True``.
        special: whether the tokens that begin and end a text may be matched ("match", as in
            bert-score) or not ("exclude"). They have no weight of their own either way.

    Raises:
        SpecError: an option has a value that it cannot have.
    """

    name: ClassVar[str] = "bertscore"
    title: ClassVar[str] = "BERTScore"
    opening: ClassVar[str] = "model"
    pooled: ClassVar[bool] = False
    can: ClassVar[frozenset[str]] = frozenset(("statistics", "mask", "match", "gradients"))

    model: Annotated[str | None, MODEL] = None
    layer: int | None = None
    score: Part = "f"
    idf: bool = False
    rescale: bool | Literal["estimate"] = False
    baseline: Annotated[str | None, InputFile()] = None
    special: Literal["match", "exclude"] = "match"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.baseline is not None and self.rescale is not True:
            raise SpecError(f"{self.name}: a baseline is for rescaling; add rescale=True")

    def check_outline(self, outline: Outline | None) -> None:
        """Refuse a model of unknown layers, or without a baseline, before it is loaded."""
        model = self.model
        if outline is not None:
            model = self._model(outline.target_language)
        if model is not None and self.layer is None:
            default_layer(self.name, model)
        if outline is not None and model is not None and self.rescale is True:
            self._baseline_file(model, outline.target_language)

    def requires(self, language: str | None) -> tuple[Dependency, ...]:
        """The model, the one for the language where none is given, and the file of a baseline."""
        return needs_of_options(self, language, model=self._model(language))

    def _model(self, language: str | None) -> str:
        return self.model or default_model(language)

    def bind(self, testset: TestSet) -> BoundBertScore:
        """Load the model, and freeze idf weights and baseline.

        Raises:
            DataError: the test set has no references, or the model cannot be loaded.
            MissingDependencyError: torch, transformers, the model or a baseline is not there.
            SpecError: no best layer is known for the model.
        """
        check_needs(self, testset.outline)
        model = self._model(testset.target_language)
        encoder = self._encoder(model)
        weights = idf_of(encoder, compared_texts(testset, self.needs)) if self.idf else None
        bound = BoundBertScore(metric=self, encoder=encoder, weights=weights, baseline=None)
        return replace(bound, baseline=self._baseline(model, bound, testset))

    def _encoder(self, model: str) -> Encoder:
        layer = default_layer(self.name, model) if self.layer is None else self.layer
        try:
            return encoder_of(self, model, layer)
        except MissingDependencyError as error:
            if self.model is not None or "sources" in self.needs:
                raise
            remedy = f"{self.name}: see what can be used here with: gnomon setup bertscore"
            raise MissingDependencyError(f"{remedy}; {error}") from error

    def _baseline(self, model: str, bound: BoundBertScore, testset: TestSet) -> Baseline | None:
        if self.rescale == "estimate":
            weights = "" if bound.weights is None else bound.weights.identity
            return estimate_baseline(bound.matcher, self._baseline_texts(testset), weights)
        if not self.rescale:
            return None
        path = self._baseline_file(model, testset.target_language)
        return read_baseline(path, bound.encoder.layer)

    def _baseline_texts(self, testset: TestSet) -> list[tuple[str, str]]:
        """Of each segment, what stands for a candidate and what candidates are compared with."""
        return [(text, text) for text in first_references(testset) if text is not None]

    def _baseline_file(self, model: str, language: str | None) -> Path:
        return Path(self.baseline) if self.baseline else find_baseline(model, language)


@dataclass(frozen=True, eq=False)
class BoundBertScore(BoundMatching):
    """Greedy matching, ready to score; remembers the similarities in the batch seen last."""

    metric: BertScore
    baseline: Baseline | None  # frozen baseline, if rescaling is asked for

    @property
    def signature(self) -> Signature:
        """Spec, model with revision or hash, layer, and what was frozen."""
        frozen = {} if self.baseline is None else {"baseline": self.baseline.identity}
        return super().signature.adding(frozen)

    def notices(self, batch: Batch) -> tuple[Message, ...]:
        """Notices of how the model read the texts, and of the baseline that was estimated."""
        notices = super().notices(batch)
        if self.baseline is None or self.metric.rescale != "estimate":
            return notices
        found = message("note.metrics.baseline", value=self.baseline.f)
        return (*notices, found.about(metrics=[self.metric.spec]))

    def score_parts(self, batch: Batch) -> NDArray[np.float64]:
        """Precision, recall and F, float64 [K, N, 3]; NaN without a text to compare with."""
        return self._precision_recall_f(self.matcher.matches(batch, self._rows(batch)))

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence scores, float64 [K, N]; NaN without a text to compare with."""
        return self.score_parts(batch)[..., self._part]

    def matches(self, batch: Batch, plan: MaskPlan | None = None) -> Iterator[Matches]:
        """Best matches of all tokens, as they are or under every variant of a plan."""
        rows = self._rows(batch)
        floor = 0.0 if self.baseline is None else self.baseline.f
        if plan is None:
            yield replace(self.matcher.matches(batch, rows), floor=floor)
        else:
            for matches in self.matcher.variants(batch, rows, plan):
                yield replace(matches, floor=floor)

    def attributions(self, batch: Batch) -> Attributions:
        """Input times gradient of every token of both sides."""
        rows = self._rows(batch)
        used = np.union1d(rows.candidate, rows.reference)
        pieces = self.encoder.pieces(batch.texts, used.tolist())
        weight, targets = self.weigh(pieces), self.matcher.targets(pieces)
        baseline = (0.0, 0.0, 0.0) if self.baseline is None else self.baseline[:3]

        def matched(text: int, vectors: Any) -> MatchedText:
            own_rows = slice(int(pieces.offsets[text]), int(pieces.offsets[text + 1]))
            like = vectors.detach()
            marked = like.new_tensor(targets[own_rows].astype(float)).bool()
            return MatchedText(vectors, like.new_tensor(weight[own_rows]), marked)

        def score(number: int, candidate: Any, other: Any) -> Any:
            sides = rows.candidate[number], rows.reference[number]
            texts = [matched(int(t), v) for t, v in zip(sides, (candidate, other), strict=True)]
            return greedy_score(texts[0], texts[1], self._part, baseline)

        return attributions(self.encoder, pieces, rows, score)

    def masked(self, batch: Batch, plan: MaskPlan) -> NDArray[np.float64]:
        """Sentence scores of every variant, float64 [V, K, N].

        Similarities stay those of the unmasked texts, and their matrix is edited (Karidi et al.,
        appendix C): 1 where two shared masks meet, 0 for private masks. A mask is one per token;
        ``granularity`` changes nothing.
        """
        scores = np.empty((plan.variants, *batch.shape))
        for variant, matches in enumerate(self.matches(batch, plan)):
            scores[variant] = self._precision_recall_f(matches)[..., self._part]
        return scores

    def _rows(self, batch: Batch) -> PairRows:
        return compared_rows(batch, self.needs)

    def _precision_recall_f(self, matches: Matches) -> NDArray[np.float64]:
        best = [matches.best_of(values) for values in matches.compute_parts()]
        scores = np.stack(best, axis=-1)
        if self.baseline is None:
            return scores
        base = np.array(self.baseline[:3])
        rescaled: NDArray[np.float64] = (scores - base) / (1 - base)
        return rescaled

    @cached_property
    def matcher(self) -> Matcher:
        """Compares texts with the encoder, the weights, and special tokens as the options say."""
        return Matcher(self.encoder, self.weigh, self.metric.special)

    @property
    def _part(self) -> int:
        return {"precision": 0, "recall": 1, "f": 2}[self.metric.score]


# Default model and layer of metrics on embeddings.
#
# The models and layers are those of bert-score 0.3.13: per target language, and per model the layer
# that correlated best with people's judgements on WMT16.


LANGUAGES: dict[str, str] = data_beside(__file__)["models"]
MULTILINGUAL = "bert-base-multilingual-cased"

LAYERS: dict[str, int] = data_beside(__file__)["layers"]


def default_model(language: str | None) -> str:
    """The model that bert-score takes for a target language; multilingual BERT where unknown."""
    return LANGUAGES.get((language or "").lower(), MULTILINGUAL)


def default_layer(metric: str, model: str) -> int:
    """The layer that is known to work best."""
    if model in LAYERS:
        return LAYERS[model]
    if SHORT_NAMES.get(model) in LAYERS:
        return LAYERS[SHORT_NAMES[model]]
    raise SpecError(
        f"{metric}: no best layer of model {model!r} is known; say which layer's vectors to"
        " compare: layer=N, 0 for the embeddings up to the number of layers (about five sixths of"
        f" the way up often works best). Layers are known for: {', '.join(LAYERS)}"
    )


# BERTScore of a candidate against its source: no reference is needed.
#
# As in Leiter et al. (2023), "BMX: Boosting Natural Language Generation Metrics with
# Explainability".


_MODEL = "joeddav/xlm-roberta-large-xnli"


@dataclass(frozen=True)
class XBertScore(BertScore):
    """BERTScore against the source, by the vectors of a multilingual transformer.

    Options are those of ``bertscore``; the default model is joeddav/xlm-roberta-large-xnli, layer
    16, and ``idf`` counts the sources.
    """

    name: ClassVar[str] = "xbertscore"
    title: ClassVar[str] = "XBERTScore"
    needs: ClassVar[frozenset[Input]] = frozenset(("sources",))
    can: ClassVar[frozenset[str]] = frozenset(("statistics", "match", "gradients"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rescale is True and self.baseline is None:
            raise SpecError(
                "xbertscore: there are no published baselines; give baseline='FILE', or"
                " rescale='estimate'"
            )

    def _model(self, language: str | None) -> str:  # noqa: ARG002  # one for all languages
        return self.model or _MODEL

    def _baseline_file(self, model: str, language: str | None) -> Path:  # noqa: ARG002  # likewise
        return super()._baseline_file(model, None)

    def _baseline_texts(self, testset: TestSet) -> list[tuple[str, str]]:
        """A reference stands for a candidate: outputs would make scores depend on the systems."""
        if not testset.references:
            raise DataError(
                f"{self.spec}: a baseline is estimated from references and sources of different"
                f" segments; {testset.name!r} has no references: give baseline='FILE'"
            )
        both = zip(first_references(testset), testset.sources or (), strict=True)
        return [(text, source) for text, source in both if text is not None]
