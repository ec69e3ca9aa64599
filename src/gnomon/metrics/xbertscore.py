"""BERTScore of a candidate against its source: no reference is needed.

As in Leiter et al. (2023), "BMX: Boosting Natural Language Generation Metrics with Explainability".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from gnomon.errors import SpecError
from gnomon.metrics._check import check_needs
from gnomon.metrics._idf import idf_of
from gnomon.metrics._matched import BoundMatched
from gnomon.metrics.bertscore import BertScore

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon.metrics.protocol import Need
    from gnomon.outline import Outline
    from gnomon.testset import TestSet

__all__ = ["XBertScore"]

_MODEL = "joeddav/xlm-roberta-large-xnli"


@dataclass(frozen=True)
class XBertScore(BertScore):
    """BERTScore against the source, by the vectors of a multilingual transformer.

    Options are those of ``bertscore``; the default model is joeddav/xlm-roberta-large-xnli, layer
    16, and ``idf`` counts the sources.

    Raises:
        SpecError: an option has a value that it cannot have.
    """

    name: ClassVar[str] = "xbertscore"
    needs: ClassVar[frozenset[Need]] = frozenset(("sources",))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rescale and self.baseline is None:
            raise SpecError("xbertscore: there are no published baselines; give baseline='FILE'")

    def _standard(self, outline: Outline) -> str:  # noqa: ARG002  # one for all languages
        return _MODEL

    def _baseline_file(self, model: str, language: str | None) -> Path:  # noqa: ARG002  # likewise
        return super()._baseline_file(model, None)

    def bind(self, testset: TestSet) -> BoundMatched:  # type: ignore[override]  # references would be needed to mask it
        """Load the model, and freeze idf weights and baseline.

        Raises:
            DataError: the test set has no sources, or the model cannot be loaded.
            MissingDependencyError: torch, transformers or the model is not there.
            SpecError: no best layer is known for the model.
        """
        check_needs(self, testset.outline)
        model = self.model or _MODEL
        encoder = self._encoder(model)
        return BoundMatched(
            metric=self,
            encoder=encoder,
            weights=idf_of(encoder, list(testset.sources or ())) if self.idf else None,
            baseline=self._baseline(model, encoder.layer, None),
        )
