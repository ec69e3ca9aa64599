"""Explainers from within a metric (matches, gradient, its own errors), and random ones."""

from __future__ import annotations

import inspect
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gnomon.bmx.explainers import PairImportances, Unfrozen
from gnomon.bmx.pairs import generator
from gnomon.core.errors import ScoringError, UsageError
from gnomon.core.options import SEED
from gnomon.metrics.functions import code_fields
from gnomon.metrics.spec import Options

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.bmx.explainers import TextPair
    from gnomon.bmx.pairs import TextWords
    from gnomon.core.batch import Batch
    from gnomon.core.spans import ErrorSpan
    from gnomon.core.testset import TestSet
    from gnomon.metrics.base import BoundMetric, Metric
    from gnomon.metrics.differentiable import TokenValues
    from gnomon.metrics.matching import SideMatches, TokenRows

# Matches as explanations: how similar is each word to its best match on the other side?


@dataclass(frozen=True)
class Match(Unfrozen):
    """Match: the similarity of a word to its best match, for metrics that match words.

    The mean over the word's pieces; 0 for a word without any (beyond the model's limit). Costs one
    score.
    """

    name: ClassVar[str] = "match"
    blind: ClassVar[bool] = False

    def bind(self, testset: TestSet, bound: BoundMetric) -> Match:  # noqa: ARG002  # nothing is frozen
        """Itself, if the metric matches words."""
        self.check(bound)
        return self

    def check(self, metric: Metric) -> None:
        """Refuse a metric that will not match words."""
        if "match" not in metric.can:
            raise UsageError(_no_matches(metric.name))

    def look(
        self, bound: BoundMetric, batch: Batch, pairs: Sequence[TextPair]
    ) -> Sequence[PairImportances]:
        """Matched similarities of the words of both sides."""
        (matches,) = bound.matches(batch)
        importances = [_NOTHING] * len(pairs)
        for column, number in zip(matches.cell.tolist(), matches.pair.tolist(), strict=True):
            candidate, other = pairs[column]
            tokens = matches.tokens
            importances[column] = PairImportances(
                _means(candidate, matches.candidate, tokens, number),
                np.zeros(0) if other is None else _means(other, matches.reference, tokens, number),
            )
        return importances


def _no_matches(name: str) -> str:
    return (
        f"explainer 'match' shows the matches of a metric, and {name!r} has none; take bertscore or"
        " xbertscore, or another explainer (erasure, lime, shap)"
    )


_NOTHING = PairImportances(np.zeros(0), np.zeros(0))


def _means(
    words: TextWords, side: SideMatches, tokens: TokenRows, pair: int
) -> NDArray[np.float64]:
    """Mean similarity over the pieces of each word; a piece belongs where it begins."""
    slots = slice(int(side.offsets[pair]), int(side.offsets[pair + 1]))
    rows = side.token[slots]
    plain = ~tokens.special[rows]
    start = tokens.start[rows[plain]]
    total = _sums_by_word(words, start, side.best[slots][plain].astype(np.float64))
    count = _sums_by_word(words, start, np.ones(len(start)))
    return np.divide(total, count, out=np.zeros(len(words)), where=count > 0)


# Gradients as explanations: what would the score lose if a word's vectors shrank?


@dataclass(frozen=True)
class Gradient(Unfrozen):
    """Gradient: input times gradient through the encoder, for differentiable metrics.

    The sum over the word's pieces of the product of the piece's input embedding and the gradient
    of the score in it (Denil et al., 2014; Shrikumar et al., 2016); 0 for a word without any piece
    (beyond the model's limit). Costs one pass forth and one back. For metrics on an encoder:
    bertscore, xbertscore, sbert, comet, cometkiwi, unite, xcomet.
    """

    name: ClassVar[str] = "gradient"
    blind: ClassVar[bool] = False
    of_score: ClassVar[bool] = True

    def bind(self, testset: TestSet, bound: BoundMetric) -> Gradient:  # noqa: ARG002  # nothing is frozen
        """Itself, if the metric can be differentiated."""
        self.check(bound)
        return self

    def check(self, metric: Metric) -> None:
        """Refuse a metric that will not be differentiable."""
        if "gradients" not in metric.can:
            raise UsageError(_not_differentiable(metric.name))

    def look(
        self, bound: BoundMetric, batch: Batch, pairs: Sequence[TextPair]
    ) -> Sequence[PairImportances]:
        """Input times gradient, summed over the pieces of each word of both sides."""
        attributions = bound.attributions(batch)
        sign = 1.0 if bound.higher_is_better else -1.0
        importances = [_NOTHING] * len(pairs)
        for number, column in enumerate(attributions.cell.tolist()):
            candidate, other = pairs[column]
            importances[column] = PairImportances(
                sign * _sums(candidate, attributions.candidate, number),
                np.zeros(0) if other is None else sign * _sums(other, attributions.other, number),
            )
        return importances


def _not_differentiable(name: str) -> str:
    return (
        f"explainer 'gradient' needs a metric that can be differentiated, and {name!r} cannot; take"
        " bertscore, xbertscore, sbert or comet, or another explainer (erasure, lime, shap)"
    )


def _sums(words: TextWords, side: TokenValues, comparison: int) -> NDArray[np.float64]:
    """Sums over the pieces of each word; a piece belongs where it begins."""
    slots = side.slots(comparison)
    plain = ~side.special[slots]
    return _sums_by_word(words, side.start[slots][plain], side.value[slots][plain])


def _sums_by_word(
    words: TextWords, start: NDArray[np.int32], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sums over the pieces of each word, from where they begin and their values."""
    ends = np.array([span.end for span in words.spans])
    word = np.searchsorted(ends, start, side="right")
    inside = word < len(words)
    return np.bincount(word[inside], values[inside], minlength=len(words)).astype(np.float64)


# Marked errors as explanations: which words does the metric itself mark as wrong?


#: penalty of an error, as in MQM and xCOMET, where its marker gives none
_PENALTIES = {"minor": 1.0, "major": 5.0, "critical": 10.0}


@dataclass(frozen=True)
class OwnErrors(Options):
    """Own: what the errors that the metric itself marks cost each word (xCOMET, judges).

    A word's importance is what its errors cost, negated: the penalty that the metric gives, else 1
    for a minor, 5 for a major and 10 for a critical one; of judges that were asked several times,
    times the share of answers that mark it. It is shared among the words of the error by their
    characters. 0 for a word without any error. References are not explained. Costs one score. For
    xcomet, for cometkiwi and unite where the model was trained to mark errors, and for judges that
    quote errors.
    """

    name: ClassVar[str] = "own"
    blind: ClassVar[bool] = False

    def bind(self, testset: TestSet, bound: BoundMetric) -> BoundOwnErrors:  # noqa: ARG002  # nothing is frozen
        """Itself, if the metric marks errors."""
        self.check(bound)
        other = () if "references" in bound.needs else ("source",)
        return BoundOwnErrors(self.spec, frozenset(("candidate", *other)))

    def check(self, metric: Metric) -> None:
        """Refuse a metric that will mark no errors."""
        if "spans" not in metric.can:
            raise UsageError(_marks_nothing(metric.name))


@dataclass(frozen=True)
class BoundOwnErrors:
    """Shows the errors of one metric."""

    spec: str
    sides: frozenset[str]
    blind: ClassVar[bool] = False

    @property
    def fields(self) -> Mapping[str, object]:
        """Nothing beside the spec."""
        return {}

    def look(
        self, bound: BoundMetric, batch: Batch, pairs: Sequence[TextPair]
    ) -> Sequence[PairImportances]:
        """Costs of the errors of each word, negated."""
        unmarked = 0.0 if "source" in self.sides else np.nan
        importances_of_pairs = [
            PairImportances(
                np.zeros(len(pair.candidate)),
                np.full(0 if pair.other is None else len(pair.other), unmarked),
            )
            for pair in pairs
        ]
        for error in bound.error_spans(batch):
            candidate, other = pairs[error.segment]
            words, importances = candidate, importances_of_pairs[error.segment].candidate
            if error.side != "candidate":
                if other is None or "source" not in self.sides:
                    continue
                words, importances = other, importances_of_pairs[error.segment].other
            shared = np.array(
                [max(min(w.end, error.end) - max(w.start, error.start), 0) for w in words.spans]
            )
            if shared.any():
                importances -= _cost(error) * shared / shared.sum()
        return importances_of_pairs


def _cost(error: ErrorSpan) -> float:
    cost = error.score
    if cost is None:
        cost = _PENALTIES.get(error.severity.lower(), 1.0)
    if error.by == "judge" and error.confidence is not None:
        cost *= error.confidence
    return cost


def _marks_nothing(name: str) -> str:
    return (
        f"explainer 'own' shows the errors that a metric marks, and {name!r} marks none; take"
        " xcomet(...), judge('gemba-mqm', ...) or judge('gemba-esa', ...), or another explainer"
        " (gradient, erasure, lime, shap)"
    )


# Random importances: the control for explainers that claim to know something.


@dataclass(frozen=True)
class RandomExplainer(Unfrozen):
    """Random: uniform between 0 and 1, drawn from both texts and a seed."""

    name: ClassVar[str] = "random"
    blind: ClassVar[bool] = True

    seed: int = SEED

    def look(
        self,
        bound: BoundMetric,  # noqa: ARG002  # not needed
        batch: Batch,  # noqa: ARG002  # not needed
        pairs: Sequence[TextPair],
    ) -> Sequence[PairImportances]:
        """Draws for the words of both sides."""
        return [self._draw(pair) for pair in pairs]

    def _draw(self, pair: TextPair) -> PairImportances:
        other = () if pair.other is None else (pair.other.text,)
        draw = generator(self.seed, pair.candidate.text, *other)
        sizes = len(pair.candidate), 0 if pair.other is None else len(pair.other)
        return PairImportances(*(draw.random(size) for size in sizes))


# A user's function of words as an explainer.


def explainer(
    function: Callable[..., Any], *, name: str | None = None, other: bool = True
) -> FunctionExplainer:
    """Make an explainer of a function of words: what :func:`gnomon.metric` is to metrics.

    A function with one required parameter is given the words of one side, a list of strings, and
    returns the importance of each: positive where the word makes the candidate look better. One
    with two is given the words of the candidate and those of the other side (the reference or the
    source; an empty list where the metric takes neither), and returns two lists.

    >>> explainer(lambda words: [len(word) for word in words], name="letters").spec
    'letters'
    """
    function_name = getattr(function, "__name__", type(function).__name__)
    called = name or ("function" if function_name == "<lambda>" else function_name)
    try:
        parameters = inspect.signature(function).parameters.values()
        places = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
        taken = [
            parameter
            for parameter in parameters
            if parameter.default is parameter.empty and parameter.kind in places
        ]
    except (TypeError, ValueError):
        taken = []
    if len(taken) not in (1, 2):
        raise UsageError(
            f"explainer {called!r} takes {len(taken)} required arguments; it must take one (the"
            " words of a side) or two (those of the candidate and of the other side)"
        )
    sides = {"candidate", *(("reference", "source") if other else ())}
    return FunctionExplainer(
        function, called, len(taken), frozenset(sides), code_fields(function, None)
    )


@dataclass(frozen=True)
class FunctionExplainer:
    """A function of words as an explainer; made by :func:`explainer`."""

    function: Callable[..., Any]
    name: str
    arguments: int
    sides: frozenset[str]
    code: tuple[tuple[str, str], ...]
    blind: ClassVar[bool] = True

    @property
    def spec(self) -> str:
        """Its name."""
        return self.name

    @property
    def fields(self) -> Mapping[str, object]:
        """A hash of its source, where nothing else decides what it does."""
        return dict(self.code)

    def bind(self, testset: TestSet, bound: BoundMetric) -> FunctionExplainer:  # noqa: ARG002  # any metric
        """Itself: nothing is frozen."""
        return self

    def look(
        self,
        bound: BoundMetric,  # noqa: ARG002  # not needed
        batch: Batch,  # noqa: ARG002  # the texts are those of the pairs
        pairs: Sequence[TextPair],
    ) -> Sequence[PairImportances]:
        """Importances that the function gives for the words of both sides."""
        return [self._explain_pair(pair) for pair in pairs]

    def _explain_pair(self, pair: TextPair) -> PairImportances:
        words = list(pair.candidate.words)
        beside = [] if pair.other is None else list(pair.other.words)
        explained = len(self.sides) > 1
        if self.arguments == 1:
            given = [self._called(words), self._called(beside) if beside and explained else []]
        elif explained:
            both = self._called(words, beside)
            if not isinstance(both, Collection) or len(both) != 2:
                raise ScoringError(
                    f"explainer {self.name!r} takes two lists of words and returned {both!r:.60};"
                    " it must return two lists of importances"
                )
            given = list(both)
        else:
            given = [self._called(words, beside), []]
        first = self._checked(given[0], words)
        if not explained:
            return PairImportances(first, np.full(len(beside), np.nan))
        return PairImportances(first, self._checked(given[1], beside))

    def _called(self, *words: list[str]) -> Any:
        try:
            return self.function(*words)
        except Exception as error:
            raise ScoringError(
                f"explainer {self.name!r} failed on the words {words[0]!r:.60}:"
                f" {type(error).__name__}: {error}"
            ) from error

    def _checked(self, given: Any, words: list[str]) -> NDArray[np.float64]:
        try:
            importances = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            importances = np.full(1, np.inf)
        if importances.shape != (len(words),) or np.isinf(importances).any():
            raise ScoringError(
                f"explainer {self.name!r} returned {given!r:.60} for {len(words)} words; it must"
                " return one number for each"
            )
        return importances
