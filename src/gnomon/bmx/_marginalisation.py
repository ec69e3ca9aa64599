"""Input marginalisation: what is a word worth beside the words that could stand in its place?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from gnomon.errors import SpecError
from gnomon.metrics.spec import Options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.bmx._words import Words
    from gnomon.metrics.protocol import BoundMetric
    from gnomon.models import Filling, MaskedLM
    from gnomon.testset import TestSet

__all__ = ["BoundMarginalisation", "Marginalisation"]

_MODEL = "xlm-roberta-base"
#: a language counts as foreign from this share of unknown pieces on, or where words fall into so
#: many pieces of so few letters (bert-base's vocabulary: English 1.1 of 4.5, Estonian 2.8 of 2.4)
_UNKNOWN = 0.05
_PIECES = 1.5
_LETTERS = 3.0


@dataclass(frozen=True)
class Marginalisation(Options):
    """Input marginalisation: the score minus its mean over words that a language model expects.

    phi_i = S - sum of p(t') S(text with t' for word i) over the words t' whose probability exceeds
    the threshold (Kim et al., 2020, "Interpretation of NLP models through input
    marginalization"). A masked language model gives p, every piece of the word being masked.
    Probabilities are divided by their sum; where no word exceeds the threshold the most probable
    one stands alone. Words are replaced by whole words. A word that the model cannot read, or
    finds no whole word for, has importance 0.

    Attributes:
        model: a masked language model: a folder, ``package:NAME/FOLDER`` or a name on the hub. It
            must know the languages of all explained sides.
        threshold: probability that a word must exceed, in (0, 1).
        raw: probabilities as they are, not divided by their sum.
        revision: commit of the model on the hub.
        device: "cpu", "cuda", ...; by default a GPU if there is one.

    Raises:
        SpecError: the threshold is no share.
    """

    name: ClassVar[str] = "marginalisation"

    model: str = _MODEL
    threshold: float = 0.05
    raw: bool = False
    revision: str | None = None
    device: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.threshold < 1:
            raise SpecError(
                f"marginalisation: threshold lies between 0 and 1, without them; got"
                f" {self.threshold}"
            )

    def bind(self, testset: TestSet, bound: BoundMetric) -> BoundMarginalisation:  # noqa: ARG002  # any metric
        """Load the model.

        Raises:
            MissingDependencyError: torch, transformers or the model is not there.
            DataError: it is no masked language model.
        """
        from gnomon.models import load_masked_lm

        model = load_masked_lm(self.model, revision=self.revision, device=self.device)
        return BoundMarginalisation(self, model)


@dataclass(frozen=True, eq=False)
class BoundMarginalisation:
    """Input marginalisation with its model.

    Attributes:
        options: as they were asked for.
        model: the masked language model; counts what it fills.
    """

    options: Marginalisation
    model: MaskedLM

    @property
    def spec(self) -> str:
        """Canonical spec."""
        return self.options.spec

    @property
    def fields(self) -> Mapping[str, object]:
        """The model with its revision or hash."""
        return {"masked_lm": self.model.identity}

    def plans(self, texts: Sequence[Words]) -> Sequence[_Replaced]:
        """Each text with other words in the place of each of its words."""
        places = [text.spans for text in texts]
        found = self.model.fill(
            [text.text for text in texts], places, threshold=self.options.threshold
        )
        return [
            _Replaced.of(text, words, raw=self.options.raw)
            for text, words in zip(texts, found, strict=True)
        ]

    def calls(self, words: int) -> int:
        """Each word has fewer than 1 / threshold others, as their probabilities add up to 1."""
        return words * int(np.ceil(1 / self.options.threshold))

    def notices(self, side: str, texts: Sequence[str]) -> tuple[str, ...]:
        """Whether the model knows the language of a side.

        Args:
            side: "candidate", "reference" or "source".
            texts: its distinct texts.
        """
        fluency = self.model.fluency(texts)
        if fluency.unknown > _UNKNOWN:
            why = f"{fluency.unknown:.0%} of its pieces are unknown to the vocabulary"
        elif fluency.pieces > _PIECES and fluency.letters < _LETTERS:
            why = (
                f"its words fall into {fluency.pieces:.1f} pieces of {fluency.letters:.1f} letters"
            )
        else:
            return ()
        notice = (
            f"{self.options.name}: the masked language model {self.options.model!r} seems not to"
            f" know the language of the {side} side ({why}), so that what it expects there means"
            " little; take a model of that language, a multilingual one, or sides='candidate'"
        )
        return (notice,)


@dataclass(frozen=True, eq=False)
class _Replaced:
    """A text with other words in it.

    Attributes:
        texts: one for each filling.
        word: int64 [V], which word of the text each replaces.
        share: float64 [V], weight of each.
        count: number of words.
    """

    texts: Sequence[str]
    word: NDArray[np.int64]
    share: NDArray[np.float64]
    count: int

    @classmethod
    def of(cls, text: Words, fillings: Sequence[Sequence[Filling]], *, raw: bool) -> _Replaced:
        texts, word, share = [], [], []
        for place, found in enumerate(fillings):
            total = 1.0 if raw else sum(one.probability for one in found)
            for one in found:
                texts.append(_with(text, place, one.word))
                word.append(place)
                share.append(one.probability / total)
        return cls(texts, np.array(word, dtype=np.int64), np.array(share), len(text))

    def importances(self, score: float, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        expected = np.bincount(self.word, self.share * scores, minlength=self.count)
        filled = np.bincount(self.word, minlength=self.count) > 0
        return np.where(filled, score - expected, 0.0 if np.isfinite(score) else np.nan)


def _with(text: Words, place: int, word: str) -> str:
    by: list[str | None] = [None] * len(text)
    by[place] = word
    return text.replaced(by)
