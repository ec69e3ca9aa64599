"""``bmx(METRIC)``: a metric boosted by its own explanations, and its scores beside the metric's."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

import numpy as np

from gnomon.bmx.aggregation import combine, power_means
from gnomon.bmx.engine import MAX_CALLS, Boost, Effort, Memory, Progress
from gnomon.bmx.explained_texts import Sides, cache_of, calls_of, explain_batch
from gnomon.bmx.explainers import (
    EXPLAINERS,
    REACHES_OF_EXPLAINERS,
    DirectExplainer,
    Explainer,
    check_explainer,
    find_explainer,
    is_blind,
)
from gnomon.core.errors import SpecError, UsageError
from gnomon.core.options import Specs
from gnomon.core.signature import Signature
from gnomon.messages import message
from gnomon.metrics import Options, resolve
from gnomon.metrics.base import Metric, OfOptions
from gnomon.metrics.registry import check_metric
from gnomon.metrics.requirements import requirements

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.bmx.explained_texts import ExplainedBatch
    from gnomon.bmx.explainers import BoundExplainer
    from gnomon.core.batch import Batch
    from gnomon.core.cache import Cache
    from gnomon.core.dependencies import Dependency
    from gnomon.core.outline import Outline
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.metrics.base import BoundMetric, Input

__all__ = ["Bmx", "BoundBmx"]


# The published settings: medians over the experiments of the paper.


class PublishedSetting(NamedTuple):
    """Weight of the metric's own score, and exponent of the power mean."""

    w: float
    p: float


#: explainer -> median of the best (w, p) over all experiments (Leiter et al., 2022); SHAP's -0.95
#: is taken as -1.0, as there
PUBLISHED = {
    "erasure": PublishedSetting(0.6, -0.3),
    "lime": PublishedSetting(0.4, -1.4),
    "shap": PublishedSetting(0.6, -1.0),
    "marginalisation": PublishedSetting(0.8, -13.1),
}


@dataclass(frozen=True)
class Bmx(Options, Metric):
    """BMX: w times the metric plus 1 - w times the power mean of the importances of the words.

    S1 = w S0 + (1 - w) M_p(phi) (Leiter et al., 2022), phi the importances of the words of both
    sides; see :func:`gnomon.bmx.explain` and :func:`gnomon.bmx.power_mean`. With several
    iterations S1 is explained in turn, and so on. Error rates are negated, boosted, and negated
    again. The system score is the mean over segments. A segment without a word keeps its score.

    Attributes:
        metric: the metric that is explained.
        explainer: spec of an explainer, or an explainer.
        p: exponent of the power mean, or a list of one for each iteration; by default the
            published median for the explainer (lime -1.4, erasure -0.3, shap -1.0, marginalisation
            -13.1).
        w: weight of the metric's own score in [0, 1], or likewise a list; by default the
            published median for the explainer (lime .4, erasure .6, shap .6, marginalisation .8).
        shift: how importances are made positive: "paper", or "floor" or "exponential", which do
            not collapse for p < 0.
        sides: explain "both" sides or the "candidate" alone.
        scale: what the metric's scores, and importances in their units, are divided by before both
            are added, and the sum multiplied by; 100 for metrics on 0 to 100, beside importances
            that lie in [0, 1] whatever the metric (random, match, a file).
        max_calls: most pairs of texts that the metric may have to score for one batch.

    Raises:
        SpecError: an option has a value that it cannot have.
        UnknownNameError: there is no such explainer.
    """

    name: ClassVar[str] = "bmx"
    title: ClassVar[str] = "BMX of {}"
    positional: ClassVar[str | None] = "metric"
    bounds = MappingProxyType({"scale": (1e-9, 1e9)})

    metric: Annotated[Metric, Specs()]
    explainer: Annotated[str | Explainer, REACHES_OF_EXPLAINERS] = "lime"
    p: float | tuple[float, ...] | None = None
    w: float | tuple[float, ...] | None = None
    shift: Literal["paper", "floor", "exponential"] = "paper"
    sides: Sides = "both"
    scale: float = 1.0
    max_calls: int = MAX_CALLS

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "metric", resolve(self.metric))
        if self.max_calls < 1:
            raise SpecError(f"bmx: max_calls is {self.max_calls}; it must be 1 or more")
        for boost in self.boosts:
            if not 0 <= boost.w <= 1:
                raise SpecError(f"bmx: w lies between 0 and 1; got {boost.w}")

    @property
    def needs(self) -> frozenset[Input]:
        """Inputs that the explained metric needs."""
        return self.metric.needs

    @property
    def pooled(self) -> bool:
        """As the explained metric."""
        return self.metric.pooled

    def requires(self, language: str | None) -> tuple[Dependency, ...]:
        """Dependencies of the metric and the explainer."""
        requirements_of_metric, explainer = (
            super().requires(language),
            find_explainer(self.explainer),
        )
        return tuple(
            dict.fromkeys(
                (
                    *requirements_of_metric,
                    *requirements(explainer, language, group=EXPLAINERS.group),
                )
            )
        )

    @property
    def higher_is_better(self) -> bool:
        """As the explained metric."""
        return self.metric.higher_is_better

    @property
    def boosts(self) -> tuple[Boost, ...]:
        """p, w and shift of every iteration.

        Raises:
            SpecError: lists of unequal lengths, or no value given and none published.
            UnknownNameError: there is no such explainer.
        """
        p, w = self._values("p", self.p), self._values("w", self.w)
        count = max(len(p), len(w))
        if {len(p), len(w)} - {1, count} or not (p and w):
            raise SpecError(
                f"bmx: {len(p)} values of p and {len(w)} of w; give one value, or one for each"
                " iteration"
            )
        return tuple(Boost(p[t % len(p)], w[t % len(w)], self.shift) for t in range(count))

    def bind(self, testset: TestSet) -> BoundBmx:
        """Bind the metric, once, and the explainer.

        Raises:
            UsageError: the metric cannot be explained so, or not more than once.
            GnomonError: whatever binding the metric raises.
        """
        bound = self.metric.bind(testset)
        explainer = find_explainer(self.explainer).bind(testset, bound)
        self._check_iterations(explainer)
        return BoundBmx(self, bound, explainer)

    def check_outline(self, outline: Outline | None) -> None:
        """Refuse a metric that cannot be explained so, before it is bound.

        Raises:
            UsageError: likewise, or not more than once.
            GnomonError: whatever the metric refuses.
        """
        explainer = find_explainer(self.explainer)
        check_metric(self.metric, outline, changed=not is_blind(explainer))
        check_explainer(explainer, self.metric)
        self._check_iterations(explainer)

    def will_see(self, outline: Outline) -> tuple[str, ...]:
        """Texts that the metric will see."""
        return self.metric.will_see(outline)

    @property
    def is_limited_to_test_set(self) -> bool:
        """True if the metric or the explainer knows the texts of the test set alone."""
        parts = self.metric, find_explainer(self.explainer)
        return any(bool(getattr(each, "is_limited_to_test_set", False)) for each in parts)

    def _check_iterations(self, explainer: Explainer | BoundExplainer) -> None:
        if isinstance(explainer, DirectExplainer) and not explainer.blind and len(self.boosts) > 1:
            raise UsageError(
                f"explainer {explainer.spec!r} looks into the metric itself, so that it explains"
                " no second iteration; give one p and one w, or take erasure, lime or shap"
            )

    def _values(self, option: str, given: float | tuple[float, ...] | None) -> tuple[float, ...]:
        if given is not None:
            return given if isinstance(given, tuple) else (given,)
        name = find_explainer(self.explainer).name
        if name not in PUBLISHED:
            raise SpecError(
                f"bmx: no {option} is published for explainer {name!r}; give {option}= (there are"
                f" values for {', '.join(PUBLISHED)})"
            )
        return (getattr(PUBLISHED[name], option),)


class _Boosted(NamedTuple):
    """Results of a batch."""

    found: ExplainedBatch
    scores: NDArray[np.float64]
    collapsed: float
    wordless: int
    raised: int


@dataclass(frozen=True, eq=False)
class BoundBmx(OfOptions):
    """A boosted metric, ready to score; remembers the explanations that it made."""

    metric: Bmx
    bound: BoundMetric  # the explained metric, bound once
    explainer: BoundExplainer  # the explainer, bound to the same test set
    cache: Cache | None = None  # remembers explanations between runs; none by default
    progress: Progress | None = None  # called with a stage, how much is done and how much there is

    def __post_init__(self) -> None:
        self.__dict__["_last"] = None
        self.__dict__["_memory"] = Memory(cache_of(self.bound, self.cache, self.explainer)[0])

    @property
    def signature(self) -> Signature:
        """Spec, p and w of every iteration, what the explainer adds, what the metric froze."""
        boosts = self.metric.boosts
        return Signature(self.metric.spec).adding(
            {
                "p": ",".join(str(boost.p) for boost in boosts),
                "w": ",".join(str(boost.w) for boost in boosts),
                **self.explainer.fields,
                **self.bound.signature,
            }
        )

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Boosted scores, float64 [K, N]; NaN where the metric or an importance is undefined."""
        return self._boosted(batch).scores.copy()

    def cost(self, batch: Batch) -> int:
        """Largest number of scores of the explained metric that a batch takes."""
        *before, _ = self.metric.boosts
        return calls_of(
            self.bound,
            batch,
            self.explainer,
            both=self.metric.sides == "both",
            before=tuple(before),
        )

    @property
    def max_calls(self) -> int:
        """Largest number of calls that are allowed for one request."""
        return self.metric.max_calls

    @property
    def depends_on_system(self) -> bool:
        """True if the explained metric looks at the name of the system."""
        return self.bound.depends_on_system

    @property
    def informed_by(self) -> tuple[str, ...]:
        """Kinds of human scores that the explained metric has seen."""
        return self.bound.informed_by

    def notices(self, batch: Batch) -> tuple[Message, ...]:
        """Notices of the metric, and of segments that collapsed or could not be explained."""
        boosted = self._boosted(batch)
        said = list(self.bound.notices(batch)) + list(boosted.found.explanations.notices)
        if boosted.collapsed:
            collapsed = message("bmx.score.collapsed", share=boosted.collapsed)
            said.append(collapsed.about(metrics=[self.metric.spec]))
        if boosted.raised:
            raised = message("note.bmx.raised", segments=boosted.raised, shift=self.metric.shift)
            said.append(raised.about(metrics=[self.metric.spec]))
        if boosted.wordless:
            wordless = message("note.bmx.wordless", outputs=boosted.wordless)
            said.append(wordless.about(metrics=[self.metric.spec]))
        return tuple(said)

    def _raised(self, values: NDArray[np.float64], offsets: NDArray[np.int64], boost: Boost) -> int:
        """Segments with importances below 0 of an explainer whose zero means something."""
        if not getattr(self.explainer, "absolute", False) or boost.shift == "exponential":
            return 0
        below = np.concatenate([[0], np.cumsum(values < 0)])
        return 0 if boost.w == 1 else int((np.diff(below[offsets]) > 0).sum())

    def _boosted(self, batch: Batch) -> _Boosted:
        last: tuple[Batch, _Boosted] | None = self.__dict__["_last"]
        if last is None or last[0] is not batch:
            last = batch, self._boost(batch)
            self.__dict__["_last"] = last
        return last[1]

    def _boost(self, batch: Batch) -> _Boosted:
        *before, final = self.metric.boosts
        explained = explain_batch(
            self.bound,
            batch,
            self.explainer,
            both=self.metric.sides == "both",
            before=tuple(before),
            scale=self.metric.scale,
            effort=Effort(self.metric.max_calls, self.__dict__["_memory"], self.progress),
        )
        explanations = explained.explanations
        values, offsets = explanations.both()
        aggregates = power_means(values, offsets, [final.p], shift=final.shift)
        sign = 1.0 if self.bound.higher_is_better else -1.0
        base = sign * explanations.scores
        if before:
            # the contribution of the other references to the score keeps its weight
            of_other_references = base - sign * explanations.held
            base = explained.base + of_other_references * float(
                np.prod([boost.w for boost in before])
            )
        wordless = (np.diff(offsets) == 0).reshape(batch.shape)
        means = np.where(wordless, base, aggregates.means[0].reshape(batch.shape))
        return _Boosted(
            found=explained,
            scores=sign * combine(base, means, final.w) * self.metric.scale,
            collapsed=0.0 if final.w == 1 else float(np.nan_to_num(aggregates.share_collapsed[0])),
            wordless=int(wordless.sum()),
            raised=self._raised(values, offsets, final),
        )


# Sentences on boosted scores.
