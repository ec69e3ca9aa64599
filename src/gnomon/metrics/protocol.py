"""What a metric is, and the optional powers that methods ask for by protocol.

``Metric`` -> ``metric.bind(testset)`` -> ``BoundMetric``. Binding freezes whatever depends on the
test set (language, idf, pool, score table); only a bound metric scores. Perturbing, masking and
resampling never bind again. Metrics that freeze nothing return themselves, bound to a language.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal, Protocol, TypeAlias, runtime_checkable

from gnomon.core.options import Help, Metavar, Specs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.scores import Scores
    from gnomon.core.signature import Signature
    from gnomon.core.spans import ErrorSpan
    from gnomon.core.summary import Outline
    from gnomon.core.testset import TestSet
    from gnomon.metrics.masking import MaskPlan
    from gnomon.metrics.tokenise import TokenTable

__all__ = [
    "AnyMetric",
    "BoundMetric",
    "Checking",
    "Choosing",
    "CostChecking",
    "Costly",
    "ErrorMarking",
    "Informed",
    "Input",
    "MaskNoticing",
    "MaskTokens",
    "Masking",
    "MaskingMetric",
    "Metric",
    "Metrics",
    "NativeSignature",
    "Noticing",
    "OfPeople",
    "PairNoticing",
    "PairScoring",
    "Partial",
    "Statistics",
    "Withholding",
    "each_metric",
    "may_prefer",
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


def each_metric(metrics: object) -> list[AnyMetric]:
    """The metrics of a request: one, several, or several by name."""
    if isinstance(metrics, Mapping):
        return list(metrics.values())
    return list(metrics) if isinstance(metrics, list | tuple) else [metrics]  # type: ignore[list-item]  # one


Input: TypeAlias = Literal["references", "sources"]


class Metric(Protocol):
    """A metric that is not yet bound to a test set.

    Attributes:
        name: short name ("bleu").
        spec: canonical spec string; reading it again gives an equal metric.
        needs: what it scores candidates against.
        higher_is_better: False for error rates.
    """

    @property
    def name(self) -> str:
        """Short name."""
        ...

    @property
    def spec(self) -> str:
        """Canonical spec string."""
        ...

    @property
    def needs(self) -> frozenset[Input]:
        """What candidates are scored against."""
        ...

    @property
    def higher_is_better(self) -> bool:
        """False for error rates."""
        ...

    def bind(self, testset: TestSet) -> BoundMetric:
        """Freeze what depends on the test set.

        Raises:
            DataError: the test set lacks what the metric needs.
        """
        ...


@runtime_checkable
class BoundMetric(Protocol):
    """A metric that scores.

    Attributes:
        name: short name.
        needs: what it scores candidates against.
        higher_is_better: False for error rates.
        signature: spec and everything that binding froze.
    """

    @property
    def name(self) -> str:
        """Short name."""
        ...

    @property
    def needs(self) -> frozenset[Input]:
        """What candidates are scored against."""
        ...

    @property
    def higher_is_better(self) -> bool:
        """False for error rates."""
        ...

    @property
    def signature(self) -> Signature:
        """Spec and everything that binding froze."""
        ...

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Sentence-level scores, float64 [K, N]; NaN where undefined."""
        ...

    def system(self, batch: Batch) -> NDArray[np.float64]:
        """Corpus-level scores, float64 [K]; NaN where undefined."""
        ...


@runtime_checkable
class Statistics(Protocol):
    """Power: corpus scores of any subset or resample without scoring again."""

    def statistics(self, batch: Batch) -> NDArray[np.float64]:
        """Sufficient statistics per system and segment, float64 [K, N, S]; they add up."""
        ...

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Corpus scores [...] from summed statistics [..., S]."""
        ...


@runtime_checkable
class Masking(Protocol):
    """Power: scores of masked variants of the texts, one tokenisation for all of them."""

    def mask_lengths(self, batch: Batch, plan: MaskPlan) -> tuple[int, ...] | None:
        """Length in characters of a masked token for each group of the plan.

        ``None`` for metrics on words, whose masks have no length. Lengths come from the
        references of the whole batch; put them into the plan before slicing.
        """
        ...

    def masked(self, batch: Batch, plan: MaskPlan) -> NDArray[np.float64]:
        """Sentence-level scores of every variant of the plan, float64 [V, K, N]."""
        ...


@runtime_checkable
class MaskTokens(Protocol):
    """Power of what masks: tells on which tokens masks are put."""

    def mask_tokens(self, batch: Batch) -> TokenTable | None:
        """The tokens of the texts of a batch; None where masks are not put on tokens."""
        ...


@runtime_checkable
class MaskNoticing(Protocol):
    """Power of what masks: what a reader of masked scores should know."""

    def mask_notices(self) -> tuple[str, ...]:
        """Sentences about its masks; none where all is well."""
        ...


class MaskingMetric(BoundMetric, Masking, Protocol):
    """A bound metric that has the power of masking."""


@runtime_checkable
class NativeSignature(Protocol):
    """Power: the exact signature of the tool that defines the metric (sacreBLEU's)."""

    def native_signatures(self, batch: Batch) -> Mapping[str, str]:
        """Tool -> its signature for corpus scores of this batch."""
        ...


@runtime_checkable
class Noticing(Protocol):
    """Power: what a reader of the scores should know (texts that were cut, unknown words)."""

    def notices(self, batch: Batch) -> tuple[str, ...]:
        """Sentences about the scores of this batch; none where all is well."""
        ...


@runtime_checkable
class Remarking(Protocol):
    """Power: tells in words why outputs have their scores."""

    def remarks(self, batch: Batch) -> Mapping[tuple[int, int], Mapping[str, str]]:
        """Words on outputs, by the numbers of system and segment, and by what they are."""
        ...


@runtime_checkable
class Informed(Protocol):
    """Power: tells which judgements of people went into the scores.

    A metric that has seen them cannot be judged by them.
    """

    @property
    def informed_by(self) -> tuple[str, ...]:
        """Kinds of human scores ("da-z") that binding looked at; none for most metrics."""
        ...


@runtime_checkable
class OfPeople(Protocol):
    """Power: tells whether people gave the scores.

    What one person judged at one time is not independent, so that documents are their unit.
    """

    @property
    def from_people(self) -> bool:
        """Whether they did; False for all metrics."""
        ...


@runtime_checkable
class Costly(Protocol):
    """Power: tells what a request will cost, for metrics that score many texts for each.

    What repeats requests (masking of many variants) adds up and refuses before it begins.
    """

    @property
    def max_calls(self) -> int:
        """Most scores of texts that one request may cost."""
        ...

    def calls(self, batch: Batch) -> int:
        """How many scores of texts a batch takes at most."""
        ...


@runtime_checkable
class ErrorMarking(Protocol):
    """Power: marks what it holds for errors (xCOMET, judges), as people do."""

    def error_spans(self, batch: Batch) -> tuple[ErrorSpan, ...]:
        """The errors of all systems of a batch, by system, segment and start.

        ``segment`` counts the segments of the batch; ``rater`` is the metric's spec, ``by`` says
        what it is.
        """
        ...


@runtime_checkable
class PairScoring(Protocol):
    """Power: says of two outputs for a source which one is better (PEAR, judges of pairs)."""

    @property
    def graded(self) -> bool:
        """Whether it says by how much; False for choices, from -1 to 1."""
        ...

    def pair_scores(self, batch: Batch) -> NDArray[np.float64]:
        """The outputs of every system against those of every other one, float64 [K, K, N].

        ``[a, b, n]`` is positive where the text of system a is better than that of system b, NaN
        where nothing is said, and the diagonal is 0. What is said of (a, b) need not be the
        negative of (b, a): half the difference is compared.
        """
        ...


@runtime_checkable
class PairNoticing(Protocol):
    """Power: what a reader of scores of pairs should know (inputs that were cut)."""

    def pair_notices(self, batch: Batch) -> tuple[str, ...]:
        """Sentences about the pairs of outputs of this batch; none where all is well."""
        ...


@runtime_checkable
class Withholding(Protocol):
    """Power: tells of which outputs it says nothing (a judge whose answers cannot be read).

    That such an output has no marked error does not mean that it is free of errors.
    """

    def answered(self, batch: Batch) -> NDArray[np.bool_]:
        """Whether anything is said of each output, bool [K, N]."""
        ...


@runtime_checkable
class Partial(Protocol):
    """Power: tells whether equal texts of two systems may score differently.

    What scores texts apart from their batch then has to say whose they are.
    """

    @property
    def by_system(self) -> bool:
        """Whether the score depends on the name of the system."""
        ...


@runtime_checkable
class CostChecking(Protocol):
    """Power: refuses a plan of masks that costs more than the metric may, before it begins."""

    def check_cost(self, batch: Batch, plan: MaskPlan) -> None:
        """Refuse the plan."""
        ...


@runtime_checkable
class Choosing(Protocol):
    """Power of a metric that is not yet bound: tells which judgements of people it will look at."""

    def will_see(self, outline: Outline) -> tuple[str, ...]:
        """Kinds of human scores of a test set that will go into the scores."""
        ...


@runtime_checkable
class Checking(Protocol):
    """Power of a metric that is not yet bound: tells what it will refuse, before any work."""

    def check_outline(self, outline: Outline | None) -> None:
        """Refuse a test set.

        ``outline``: what the test set holds; None: it is not known yet.
        """
        ...


# What a metric will be able to do once it is bound, without binding it.


def lacks(metric: Metric, *powers: type) -> bool:
    """Whether a metric is known to have none of some powers; binding may load a model.

    What a metric can do stands in its classes of bound metrics, which its ``bind`` names; where
    that cannot be read (metrics of other packages), nothing is known to be lacking.
    """
    classes = _bound_classes(metric)
    return bool(classes) and not any(_has(class_, power) for class_ in classes for power in powers)


def may_prefer(metric: Metric) -> bool:
    """Whether a metric is known to read two outputs at once, perhaps, once it is bound."""
    scores = getattr(metric, "of_pairs", None) is False
    return not scores and any(_has(class_, PairScoring) for class_ in _bound_classes(metric))


def own_masks(metric: Metric) -> set[str]:
    """Which kinds of mask a metric may have of its own once it is bound; "": none."""
    kinds = {
        str(getattr(class_, "masks_used", "tokens")) if _has(class_, Masking) else ""
        for class_ in _bound_classes(metric)
    }
    if not kinds:  # of another package
        return {"", "tokens"}
    return kinds - {""} if "tokens" in kinds else kinds  # what weighs matches mostly masks them


def _bound_classes(metric: Metric) -> tuple[type, ...]:
    """The classes that ``bind`` says to return; empty where that is unknown."""
    bind = type(metric).bind
    annotation = getattr(bind, "__annotations__", {}).get("return")
    home = sys.modules.get(getattr(bind, "__module__", ""))
    if not isinstance(annotation, str) or home is None:
        return ()
    named = [getattr(home, name.strip(), None) for name in annotation.split("|")]
    classes = tuple(class_ for class_ in named if isinstance(class_, type))
    return classes if len(classes) == len(named) else ()


def _has(kind: type, power: type) -> bool:
    # isinstance looks for attributes too, and issubclass refuses protocols with properties
    return all(hasattr(kind, name) for name in vars(power) if not name.startswith("_"))
