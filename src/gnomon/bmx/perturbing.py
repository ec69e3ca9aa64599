"""Explainers that score perturbed texts: erasure, LIME, SHAP, marginalisation."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np

from gnomon.bmx.explainers import Unfrozen
from gnomon.bmx.pairs import generator
from gnomon.core.errors import SpecError
from gnomon.core.options import MODEL, SEED
from gnomon.messages import message
from gnomon.metrics.spec import Options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.bmx.pairs import TextWords
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.metrics.base import BoundMetric
    from gnomon.models import Filling, MaskedLM

__all__ = [
    "Lime",
    "Shap",
    "antithetic_masks",
    "antithetic_values",
    "exact_masks",
    "exact_values",
    "lime_masks",
    "lime_weights",
]


# Erasure: what does the score lose without a word?


@dataclass(frozen=True)
class Erasure(Unfrozen):
    """Erasure: the score minus the score without the word (Leiter et al., 2022; Li et al., 2016).

    The word goes with the white space after it. Sides of n and m words cost 1 + n + m scores.
    """

    name: ClassVar[str] = "erasure"

    def plans(self, texts: Sequence[TextWords]) -> Sequence[_Without]:
        """Each text without each of its words."""
        return [_Without([text.drop_word(word) for word in range(len(text))]) for text in texts]

    def calls(self, words: int) -> int:
        """One text per word."""
        return words


@dataclass(frozen=True, eq=False)
class _Without:
    texts: Sequence[str]

    def importances(self, score: float, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return score - scores


# LIME: a linear model of the score around a text (Ribeiro et al., 2016).


_WIDTH = 25.0
_ALPHA = 1.0


@dataclass(frozen=True)
class Lime(Unfrozen):
    """LIME: weights of a ridge regression of the score on which words are there.

    Each sample replaces between 1 and all words of one side, as many as not with equal chance, by
    ``UNKWORDZ``. Equal texts get equal samples. Each side costs samples - 1 scores at most.
    """

    name: ClassVar[str] = "lime"

    samples: int = 100
    seed: int = SEED

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.samples < 2:
            raise SpecError(f"lime: samples is 2 or more; got {self.samples}")

    def plans(self, texts: Sequence[TextWords]) -> Sequence[_Regression]:
        """Samples of each text."""
        return [self._plan(text) for text in texts]

    def calls(self, words: int) -> int:  # noqa: ARG002  # the same for any length
        """All samples but the unperturbed one."""
        return self.samples - 1

    def _plan(self, text: TextWords) -> _Regression:
        masks = lime_masks(len(text), self.samples, generator(self.seed, text.text))
        return _Regression([text.masked(kept) for kept in masks[1:].tolist()], masks)


@dataclass(frozen=True, eq=False)
class _Regression:
    texts: Sequence[str]
    masks: NDArray[np.bool_]

    def importances(self, score: float, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return lime_weights(self.masks, np.concatenate([[score], scores]))


def lime_masks(words: int, samples: int, draw: np.random.Generator) -> NDArray[np.bool_]:
    """Which words each sample keeps, bool [samples, words]; the first keeps all.

    How many go is uniform in 1..words, and which, among all choices of so many.
    """
    masks = np.ones((samples, words), dtype=np.bool_)
    sizes = draw.integers(1, words + 1, samples - 1)
    order = draw.random((samples - 1, words)).argsort(axis=1).argsort(axis=1)
    masks[1:] = order >= sizes[:, None]
    return masks


def lime_weights(masks: NDArray[np.bool_], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights of the words, float64 [n]: the package lime's, given its samples.

    Ridge regression (alpha 1, with intercept) of the scores on the masks. A sample's own weight is
    sqrt(exp(-(100 d)^2 / 25^2)), d its cosine distance to the full mask: 1 - sqrt(kept share).
    """
    distance = 100 * (1 - np.sqrt(masks.mean(axis=1)))
    weight = np.sqrt(np.exp(-((distance / _WIDTH) ** 2)))
    share = weight / weight.sum()
    centred = masks - share @ masks
    left = np.sqrt(weight)[:, None] * centred
    right = np.sqrt(weight) * (scores - share @ scores)
    samples, words = masks.shape
    if words <= samples:
        return np.asarray(np.linalg.solve(left.T @ left + _ALPHA * np.eye(words), left.T @ right))
    dual = np.linalg.solve(left @ left.T + _ALPHA * np.eye(samples), right)
    return np.asarray(left.T @ dual)


# SHAP: Shapley values of the words of a side (Lundberg and Lee, 2017).


#: most words whose every coalition is scored
_EXACT = 7


@dataclass(frozen=True)
class Shap(Unfrozen):
    """SHAP: a word's Shapley value, absent words being ``UNKWORDZ``.

    Exact up to 7 words of a side; else from random orders of the words, each walked forth and back
    (antithetic), as many as ``max_evals`` allows: floor(max_evals / (2n + 1)), at least one. The
    values of a side add up to the score minus the score with all words of that side replaced.
    """

    name: ClassVar[str] = "shap"

    max_evals: int = 500
    seed: int = SEED

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_evals < 1:
            raise SpecError(f"shap: max_evals is 1 or more; got {self.max_evals}")

    def plans(self, texts: Sequence[TextWords]) -> Sequence[_Coalitions | _Orders]:
        """Coalitions of the words of each text."""
        return [self._plan(text) for text in texts]

    def calls(self, words: int) -> int:
        """Distinct coalitions that are scored beside the full one, at most."""
        if words <= _EXACT:
            return int(2**words) - 1
        return self._orders(words) * 2 * (words - 1) + 1

    def _plan(self, text: TextWords) -> _Coalitions | _Orders:
        words = len(text)
        if words <= _EXACT:
            masks = exact_masks(words)
            return _Coalitions([text.masked(kept) for kept in masks.tolist()], masks)
        draw = generator(self.seed, text.text)
        orders = np.stack([draw.permutation(words) for _ in range(self._orders(words))])
        kept = antithetic_masks(orders).reshape(-1, words).tolist()
        return _Orders([text.masked(row) for row in kept], orders)

    def _orders(self, words: int) -> int:
        return max(1, self.max_evals // (2 * words + 1))


@dataclass(frozen=True, eq=False)
class _Coalitions:
    texts: Sequence[str]
    masks: NDArray[np.bool_]

    def importances(self, score: float, scores: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002  # the full coalition is among the texts
        return exact_values(self.masks, scores)


@dataclass(frozen=True, eq=False)
class _Orders:
    texts: Sequence[str]
    orders: NDArray[np.int64]

    def importances(self, score: float, scores: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002  # the full coalition is among the texts
        return antithetic_values(self.orders, scores.reshape(len(self.orders), -1))


def exact_masks(words: int) -> NDArray[np.bool_]:
    """All coalitions, bool [2^n, n]: row c keeps the words whose bit is set in c."""
    return (np.arange(2**words)[:, None] >> np.arange(words) & 1).astype(np.bool_)


def exact_values(masks: NDArray[np.bool_], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shapley values, float64 [n], from the scores of all coalitions.

    phi_i = sum over S without i of |S|! (n - |S| - 1)! / n! (S(S and i) - S(S)).
    """
    words = masks.shape[1]
    sizes = masks.sum(axis=1)
    share = np.array([1 / (words * comb(words - 1, size)) for size in range(words)])
    values = np.empty(words)
    for word in range(words):
        without = np.flatnonzero(~masks[:, word])
        gain = scores[without | 1 << word] - scores[without]
        values[word] = share[sizes[without]] @ gain
    return values


def antithetic_masks(orders: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Coalitions along some orders, bool [R, 2n + 1, n].

    Words come one by one until all are there (rows 0 to n), then go in the same order (rows n to
    2n).
    """
    words = orders.shape[1]
    rank = orders.argsort(axis=1)[:, None, :]
    steps = np.arange(words + 1)[None, :, None]
    return np.concatenate([rank < steps, rank >= steps[:, 1:]], axis=1)


def antithetic_values(
    orders: NDArray[np.int64], scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Mean gain of each word where it comes and where it goes, float64 [n]."""
    words = orders.shape[1]
    steps = np.diff(scores, axis=1)
    gains = (steps[:, :words] - steps[:, words:]) / (2 * len(orders))
    total = np.bincount(orders.ravel(), gains.ravel(), minlength=words)
    return total.astype(np.float64)


# Input marginalisation: what is a word worth, compared with words that could replace it?


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
    """

    name: ClassVar[str] = "marginalisation"

    model: Annotated[str, MODEL] = _MODEL
    threshold: float = 0.05
    revision: Annotated[str | None, MODEL] = None
    device: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.threshold < 1:
            raise SpecError(
                f"marginalisation: threshold lies between 0 and 1, without them; got"
                f" {self.threshold}"
            )

    def bind(self, testset: TestSet, bound: BoundMetric) -> BoundMarginalisation:  # noqa: ARG002  # any metric
        """Load the model."""
        from gnomon.models import load_masked_lm

        model = load_masked_lm(self.model, revision=self.revision, device=self.device)
        return BoundMarginalisation(self, model)


@dataclass(frozen=True, eq=False)
class BoundMarginalisation:
    """Input marginalisation with its model."""

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

    def plans(self, texts: Sequence[TextWords]) -> Sequence[_Replaced]:
        """Each text with other words in the place of each of its words."""
        places = [text.spans for text in texts]
        filled = self.model.fill(
            [text.text for text in texts], places, threshold=self.options.threshold
        )
        return [_Replaced.fill(text, words) for text, words in zip(texts, filled, strict=True)]

    def calls(self, words: int) -> int:
        """Each word has fewer than 1 / threshold others, as their probabilities add up to 1."""
        return words * int(np.ceil(1 / self.options.threshold))

    def notices(self, side: str, texts: Sequence[str]) -> tuple[Message, ...]:
        """Notice of a side whose language the model does not know."""
        fluency = self.model.fluency(texts)
        unknown = fluency.unknown > _UNKNOWN
        if not (unknown or (fluency.pieces > _PIECES and fluency.letters < _LETTERS)):
            return ()
        notice = message(
            "note.bmx.unknown_language",
            explainer=self.options.name,
            model=self.options.model,
            side=side,
            why="unknown" if unknown else "pieces",
            unknown=fluency.unknown,
            pieces=fluency.pieces,
            letters=fluency.letters,
        )
        return (notice,)


@dataclass(frozen=True, eq=False)
class _Replaced:
    """A text with other words in it."""

    texts: Sequence[str]
    word: NDArray[np.int64]
    share: NDArray[np.float64]
    count: int

    @classmethod
    def fill(cls, text: TextWords, fillings: Sequence[Sequence[Filling]]) -> _Replaced:
        texts, word, share = [], [], []
        for position, candidates in enumerate(fillings):
            total = sum(filling.probability for filling in candidates)
            for filling in candidates:
                texts.append(_replace_word(text, position, filling.word))
                word.append(position)
                share.append(filling.probability / total)
        return cls(texts, np.array(word, dtype=np.int64), np.array(share), len(text))

    def importances(self, score: float, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        expected = np.bincount(self.word, self.share * scores, minlength=self.count)
        filled = np.bincount(self.word, minlength=self.count) > 0
        return np.where(filled, score - expected, 0.0 if np.isfinite(score) else np.nan)


def _replace_word(text: TextWords, position: int, word: str) -> str:
    by: list[str | None] = [None] * len(text)
    by[position] = word
    return text.replaced(by)
