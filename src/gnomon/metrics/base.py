"""Base classes of metrics, and the powers that only some of them have.

``Metric`` -> ``metric.bind(testset)`` -> ``BoundMetric``. Binding freezes whatever depends on the
test set (language, idf, pool, score table); only a bound metric scores. Perturbing, masking and
resampling never bind again. A metric that freezes nothing is a ``BoundMetric`` at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from gnomon.core.errors import DataError, UsageError
from gnomon.core.options import Help, Metavar, Specs
from gnomon.core.signature import Signature
from gnomon.metrics.means import aggregate_means, mean_statistics

if TYPE_CHECKING:
    from builtins import property as default
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.dependencies import Dependency
    from gnomon.core.outline import Outline
    from gnomon.core.scores import Scores
    from gnomon.core.spans import ErrorSpan
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.metrics.differentiable import Attributions
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.matching import Matches
    from gnomon.metrics.ngrams import NgramCounts
    from gnomon.metrics.tokenise import TokenTable
else:

    class default:  # noqa: N801  # a decorator
        """A default property of metrics; a subclass or a field of a dataclass may override."""

        def __init__(self, answer: Callable[[Any], Any]) -> None:
            self.answer = answer

        def __get__(self, metric: Any, owner: type) -> Any:
            if metric is None:  # for dataclasses: it is no default of a field
                raise AttributeError(self.answer.__name__)
            return self.answer(metric)


__all__ = [
    "POWERS",
    "AnyMetric",
    "BoundMetric",
    "Input",
    "Metric",
    "Metrics",
    "OfOptions",
    "Power",
    "check_needs",
    "list_metrics",
]

#: a spec, a metric, a function of texts, or what a metric said of the test set
AnyMetric: TypeAlias = "str | Metric | BoundMetric | Callable[..., float] | Scores"
#: one or several, as every method takes them
Metrics: TypeAlias = Annotated[
    "AnyMetric | Sequence[AnyMetric]",
    Metavar("METRIC"),
    Specs(),
    Help("specs, metrics or functions of texts; one or several."),
]


def list_metrics(metrics: object) -> list[AnyMetric]:
    """The metrics of a request: one, several, or several by name."""
    if isinstance(metrics, Mapping):
        return list(metrics.values())
    return list(metrics) if isinstance(metrics, list | tuple) else [metrics]  # type: ignore[list-item]  # one


Input: TypeAlias = Literal["references", "sources"]


class Power(NamedTuple):
    """A power that only some metrics have."""

    method: str  # of bound metrics
    does: str
    metrics: str  # those that can


#: by the names that ``can`` has
POWERS: Mapping[str, Power] = MappingProxyType(
    {
        "statistics": Power("statistics", "sums up over segments", "most metrics"),
        "mask": Power("masked", "masks its own tokens", "bleu, chrf, ter, rouge, bertscore, comet"),
        "match": Power("matches", "matches tokens", "bertscore, xbertscore, comet"),
        "ngrams": Power("ngram_scores", "counts n-grams", "bleu, chrf, rouge1, rouge2"),
        "align": Power("alignments", "aligns words", "ter, rougeL, meteor"),
        "spans": Power("error_spans", "marks errors", "xcomet, judge"),
        "prefer": Power("pair_scores", "compares two outputs", "pear, judge"),
        "gradients": Power(
            "attributions", "has gradients", "bertscore, xbertscore, sbert, comet, xcomet"
        ),
    }
)


class Metric:
    """A metric that is not yet bound to a test set.

    Attributes:
        name: short name ("bleu").
        spec: canonical spec string; reading it again gives an equal metric.
        needs: what it scores candidates against; references, unless it says otherwise.
        higher_is_better: False for error rates.
        can: names of what only some metrics can do (:data:`POWERS`), and it can once it is bound;
            where the model decides, what it may be able to do.
        pooled: whether the score of a system may depend on the other systems, or on what people
            said of them; True unless it says otherwise.
        is_limited_to_test_set: whether it knows the scores of the test set's own texts alone.
        is_pairwise: whether it compares two outputs, and scores none.
        masks: kinds of mask that it may have of its own; "": none.
    """

    if TYPE_CHECKING:

        @property
        def name(self) -> str:
            """Short name."""

        @property
        def spec(self) -> str:
            """Canonical spec string."""

    @default
    def needs(self) -> frozenset[Input]:
        """The inputs that candidates are scored against."""
        return frozenset(("references",))

    @default
    def higher_is_better(self) -> bool:
        """False for error rates."""
        return True

    @default
    def can(self) -> frozenset[str]:
        """Its powers; by default corpus scores are means over segments."""
        return frozenset(("statistics",))

    @default
    def pooled(self) -> bool:
        """True if the score of a system may depend on the others."""
        return True

    @default
    def is_limited_to_test_set(self) -> bool:
        """True if it has scores of the test set's own texts alone."""
        return False

    @default
    def is_pairwise(self) -> bool:
        """True if it compares two outputs, and scores none."""
        return False

    @default
    def masks(self) -> frozenset[str]:
        """Which kinds of mask it may have of its own."""
        return frozenset(("tokens" if "mask" in self.can else "",))

    def bind(self, testset: TestSet) -> BoundMetric:
        """Freeze what depends on the test set.

        Raises:
            DataError: the test set lacks what the metric needs.
        """
        raise NotImplementedError

    def requires(self, language: str | None) -> tuple[Dependency, ...]:
        """Dependencies of its numbers beside texts and options: packages, models, files."""
        return ()

    def check_outline(self, outline: Outline | None) -> None:
        """Refuse a test set before any work; None: it is not known yet."""

    def will_see(self, outline: Outline) -> tuple[str, ...]:
        """Kinds of human scores of a test set that will go into the scores."""
        return ()


def check_needs(metric: Metric, outline: Outline) -> None:
    """Refuse a test set without what candidates are scored against."""
    there = {"references": outline.has_references, "sources": outline.sources}
    for need in sorted(metric.needs):
        if not there[need]:
            raise DataError(f"metric {metric.spec!r} needs {need}; {outline.name!r} has none")


class BoundMetric(Metric):
    """A metric that scores; what it cannot do is refused, and stands not in ``can``.

    Attributes:
        signature: spec and everything that binding froze.
        informed_by: kinds of human scores ("da-z") that binding looked at: a metric that has seen
            them cannot be judged by them.
        human: whether people gave the scores.
        depends_on_system: whether equal texts of two systems may score differently.
        max_calls: most scores of texts, or answers, that one request may cost; None: no matter.
        graded: whether scores of pairs say by how much; False for choices, from -1 to 1.
        masks_used: which kind of mask ``masked`` puts, one of
            :data:`gnomon.metrics.masking.MASKS_USED`.
        choice: what a reader should know of the choice of tokens.
        ngram_orders: lengths of the n-grams that count.
        ngram_union: whether n-grams of all references count together (BLEU), or the best one.
        ngram_sums: whether the corpus score comes from summed counts (BLEU), or is a mean.
    """

    choice: tuple[Message, ...] = ()

    @default
    def spec(self) -> str:
        """Its name, where no options are to be told."""
        return self.name

    @default
    def signature(self) -> Signature:
        """Spec and everything that binding froze."""
        return Signature(self.spec)

    @default
    def can(self) -> frozenset[str]:
        """The powers of its class."""
        return _powers(type(self))  # type: ignore[arg-type]  # classes have hashes

    @default
    def informed_by(self) -> tuple[str, ...]:
        """Kinds of human scores that binding looked at; none for most metrics."""
        return ()

    @default
    def human(self) -> bool:
        """True if people gave the scores."""
        return False

    @default
    def depends_on_system(self) -> bool:
        """True if the score depends on the name of the system."""
        return False

    @default
    def max_calls(self) -> int | None:
        """Most that one request may cost."""
        return None

    @default
    def graded(self) -> bool:
        """True if scores of pairs say by how much."""
        return True

    @default
    def masks_used(self) -> str:
        """Which kind of mask it puts."""
        return "tokens"

    def bind(self, testset: TestSet) -> BoundMetric:
        """Itself: nothing is to be frozen.

        Raises:
            DataError: the test set lacks what the metric needs.
        """
        check_needs(self, testset.outline)
        return self

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence scores, float64 [K, N]; NaN where undefined."""
        return self.aggregate(self.statistics(batch))

    def system(self, batch: Batch) -> NDArray[np.float64]:
        """Corpus scores, float64 [K]; NaN where undefined."""
        return self.aggregate(self.statistics(batch).sum(axis=1))

    def statistics(self, batch: Batch) -> NDArray[np.float64]:
        """Statistics that corpus scores of any segments are summed of, float64 [K, N, S].

        By default score and 1, or 0 and 0 where undefined.
        """
        return mean_statistics(self.segments(batch))

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Corpus scores [...] from summed statistics [..., S]; by default means over segments."""
        return aggregate_means(statistics)

    def notices(self, batch: Batch) -> tuple[Message, ...]:
        """Notices for readers of the scores (texts that were cut, unknown words)."""
        return self.choice

    def remarks(self, batch: Batch) -> Mapping[tuple[int, int], Mapping[str, str]]:
        """Why outputs have their scores: words by system and segment, and by what they are."""
        return {}

    def native_signatures(self, batch: Batch) -> Mapping[str, str]:
        """Tool that defines the metric (sacreBLEU) -> its signature for corpus scores."""
        return {}

    def cost(self, batch: Batch) -> int:
        """The largest number of scores of texts, or answers, of a batch, beside its own."""
        return 0

    def forget(self) -> None:
        """Free what is remembered of texts."""

    def memory_of(self, texts: tuple[str, ...]) -> dict[Any, Any]:
        """The memory of the batch seen last; empty for other texts."""
        if self.__dict__.get("_texts") is not texts:
            self.__dict__["_texts"], self.__dict__["_memory"] = texts, {}
        memory: dict[Any, Any] = self.__dict__["_memory"]
        return memory

    # Powers of some metrics.

    def masked(self, batch: Batch, plan: MaskPlan) -> NDArray[np.float64]:
        """Sentence scores of every variant of a plan, float64 [V, K, N]; texts are cut once."""
        raise self._refusal("mask")

    def mask_lengths(self, batch: Batch, plan: MaskPlan) -> tuple[int, ...] | None:
        """Length in characters of a masked token for each group of the plan.

        ``None`` for metrics on words, whose masks have no length. Lengths come from the
        references of the whole batch; put them into the plan before slicing.
        """
        return None

    def mask_tokens(self, batch: Batch) -> TokenTable | None:
        """The tokens that masks are put on; None where it does not tell, or there are none."""
        return None

    def mask_notices(self) -> tuple[Message, ...]:
        """Notices for readers of masked scores."""
        return ()

    def check_cost(self, batch: Batch, plan: MaskPlan) -> None:
        """Refuse a plan of masks that costs more than the metric may, before it begins."""

    def matches(self, batch: Batch, plan: MaskPlan | None = None) -> Iterator[Matches]:
        """Best matches of all tokens of both sides, or one set for every variant of a plan.

        Similarities between tokens stay those of the unmasked texts; where two shared masks meet
        they are 1, with a private mask on either side 0.
        """
        raise self._refusal("match")

    @default
    def ngram_orders(self) -> tuple[int, ...]:
        """Lengths of the n-grams that count."""
        return ()

    @default
    def ngram_union(self) -> bool:
        """True if n-grams of all references count together."""
        return False

    @default
    def ngram_sums(self) -> bool:
        """True if the corpus score comes from summed counts."""
        return False

    def ngram_tokens(self, texts: tuple[str, ...]) -> TokenTable:
        """The tokens of texts."""
        raise self._refusal("ngrams")

    def ngram_scores(self, counts: NgramCounts, *, corpus: bool) -> NDArray[np.float64]:
        """Scores [...] of counts: of segments, or of their sums over a corpus."""
        raise self._refusal("ngrams")

    def alignments(self, batch: Batch) -> Matches:
        """Which words are aligned: ``best`` is what a match is worth, 0 where there is none.

        Tokens are words; ``type`` tells words apart as the metric compares them.
        """
        raise self._refusal("align")

    def aligned_statistics(
        self, batch: Batch, matches: Matches, shares: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Statistics of segment and corpus scores, float64 [K, N, S]; sums add up.

        ``shares``: float64 [P, 2], the aligned share of the candidate (precision) and of the
        reference (recall) in each comparison; plain or weighted. What else the score rests on
        (order, additions) stays as it is.
        """
        raise self._refusal("align")

    def aligned_scores(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores [...] from such statistics, summed or of segments; by default their means."""
        return aggregate_means(statistics)

    def error_spans(self, batch: Batch) -> tuple[ErrorSpan, ...]:
        """The errors of all systems of a batch, by system, segment and start.

        ``segment`` counts the segments of the batch; ``rater`` is the metric's spec, ``by`` says
        what it is.
        """
        raise self._refusal("spans")

    def answered(self, batch: Batch) -> NDArray[np.bool_]:
        """True where the metric answered for an output, bool [K, N].

        Of others, that no error is marked does not mean that they are free of errors.
        """
        return np.ones(batch.shape, dtype=np.bool_)

    def pair_scores(self, batch: Batch) -> NDArray[np.float64]:
        """The outputs of every system against those of every other one, float64 [K, K, N].

        ``[a, b, n]`` is positive where the text of system a is better than that of system b, NaN
        where nothing is said, and the diagonal is 0. What is said of (a, b) need not be the
        negative of (b, a): half the difference is compared.
        """
        raise self._refusal("prefer")

    def pair_notices(self, batch: Batch) -> tuple[Message, ...]:
        """Notices for readers of scores of pairs; by default those of scores."""
        return self.notices(batch)

    def attributions(self, batch: Batch) -> Attributions:
        """Input times gradient of every token, each candidate beside each reference (or source)."""
        raise self._refusal("gradients")

    def _refusal(self, power: str) -> UsageError:
        _, does, metrics = POWERS[power]
        return UsageError(f"{self.name!r} is no metric that {does}; take one of these: {metrics}")


@cache
def _powers(kind: type[BoundMetric]) -> frozenset[str]:
    """The powers of a class of bound metrics: the methods that it has of its own."""
    own = {
        name
        for name, power in POWERS.items()
        if getattr(kind, power.method) is not getattr(BoundMetric, power.method)
    }
    if kind.system is BoundMetric.system:
        own.add("statistics")
    return frozenset(own)


class OfOptions(BoundMetric):
    """A bound metric that is described by its options.

    Attributes:
        metric: the options.
    """

    metric: Metric

    @default
    def can(self) -> frozenset[str]:
        """The powers of its class that its options allow."""
        return _powers(type(self)) & self.metric.can  # type: ignore[arg-type]  # classes have hashes

    @default
    def name(self) -> str:
        """Name of the metric."""
        return self.metric.name

    @default
    def spec(self) -> str:
        """Its spec."""
        return self.metric.spec

    @default
    def needs(self) -> frozenset[Input]:
        """The inputs that candidates are scored against."""
        return self.metric.needs

    @default
    def higher_is_better(self) -> bool:
        """False for error rates."""
        return self.metric.higher_is_better

    @default
    def is_limited_to_test_set(self) -> bool:
        """True if it has scores of the test set's own texts alone."""
        return self.metric.is_limited_to_test_set
