"""What an explainer is.

``Explainer`` -> ``explainer.bind(testset, bound)`` -> ``BoundExplainer``, one of two kinds.
*Perturbing* explainers say which texts they want scored in the place of a text, and what the
scores tell of its words; they never see the metric, so that any metric can be explained, an
explained one too. *Direct* explainers look into the metric (its matches, its gradient) or at
nothing at all (random).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.batch import Batch
    from gnomon.bmx._words import Words
    from gnomon.metrics.protocol import BoundMetric, Metric
    from gnomon.testset import TestSet

__all__ = [
    "BoundExplainer",
    "CheckingExplainer",
    "DirectExplainer",
    "Explainer",
    "NoticingExplainer",
    "Pair",
    "PairImportances",
    "PerturbingExplainer",
    "Plan",
]


class Explainer(Protocol):
    """An explainer with its options.

    Attributes:
        name: name in specs ("lime").
        spec: canonical spec ("lime(samples=50)"); reading it again gives an equal explainer.
    """

    @property
    def name(self) -> str:
        """Name in specs."""
        ...

    @property
    def spec(self) -> str:
        """Canonical spec."""
        ...

    def bind(self, testset: TestSet, bound: BoundMetric) -> BoundExplainer:
        """Freeze what depends on the test set, and see whether the metric can be explained so.

        Raises:
            UsageError: the metric lacks what the explainer looks at.
            MissingDependencyError: a package or a model is not there.
        """
        ...


@runtime_checkable
class CheckingExplainer(Protocol):
    """Tells which metrics it cannot explain, before these are bound."""

    def check(self, metric: Metric) -> None:
        """Refuse a metric.

        Raises:
            UsageError: it cannot be explained so.
        """
        ...


class BoundExplainer(Protocol):
    """An explainer, ready to explain.

    Attributes:
        spec: canonical spec.
        fields: what a signature tells beside the spec: the seed, a model and its revision.
    """

    @property
    def spec(self) -> str:
        """Canonical spec."""
        ...

    @property
    def fields(self) -> Mapping[str, object]:
        """What a signature tells beside the spec."""
        ...


class Plan(Protocol):
    """Perturbations of one text, and what their scores say of its words.

    Attributes:
        texts: the V perturbed texts; equal ones are scored once.
    """

    @property
    def texts(self) -> Sequence[str]:
        """The perturbed texts."""
        ...

    def importances(self, score: float, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Importance of each word, float64 [n].

        Args:
            score: of the unperturbed text; better is higher.
            scores: float64 [V], of the perturbed ones, the other side being intact.
        """
        ...


@runtime_checkable
class PerturbingExplainer(BoundExplainer, Protocol):
    """Explains by scoring other texts in the place of one side."""

    def plans(self, texts: Sequence[Words]) -> Sequence[Plan]:
        """A plan for each of some distinct texts; depends on nothing but the text.

        Texts without a word are never asked for.
        """
        ...

    def calls(self, words: int) -> int:
        """How many perturbed texts a text of so many words has at most."""
        ...


class Pair(NamedTuple):
    """A candidate, and the text that it is judged by (none where the metric takes none)."""

    candidate: Words
    other: Words | None


class PairImportances(NamedTuple):
    """Importance of each word of both sides, float64; the other side empty where there is none."""

    candidate: NDArray[np.float64]
    other: NDArray[np.float64]


@runtime_checkable
class DirectExplainer(BoundExplainer, Protocol):
    """Explains by looking into the metric; costs no scores.

    Attributes:
        blind: looks at nothing, and so explains explained metrics too (further iterations).
    """

    @property
    def blind(self) -> bool:
        """Whether it looks at nothing."""
        ...

    def look(
        self, bound: BoundMetric, batch: Batch, pairs: Sequence[Pair]
    ) -> Sequence[PairImportances]:
        """The importances of the words of some pairs.

        Positive where the word makes the candidate look better, for error rates too.

        Args:
            bound: the metric.
            batch: one system (K = 1); pair p stands in column p.
            pairs: the words of both sides of each column.
        """
        ...


@runtime_checkable
class NoticingExplainer(BoundExplainer, Protocol):
    """Power: what a reader of its explanations should know."""

    def notices(self, side: str, texts: Sequence[str]) -> tuple[str, ...]:
        """Sentences about the explanations of a side; none where all is well.

        Args:
            side: "candidate", "reference" or "source".
            texts: its distinct texts.
        """
        ...
