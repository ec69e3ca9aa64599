"""Explainers: the protocol, the registry, and the way from a spec to an explainer.

Packages offer explainers by the entry point ``gnomon.explainers``: a dataclass (best a subclass of
:class:`gnomon.metrics.Options`) whose fields are the options of the spec. They are loaded when they
are named, and cannot take the place of built-in ones.
"""

from __future__ import annotations

from typing import (
    TYPE_CHECKING,
    Annotated,
    NamedTuple,
    Protocol,
    Self,
    TypeAlias,
    cast,
    runtime_checkable,
)

from gnomon.core.errors import UsageError
from gnomon.core.options import Group, Help, Metavar, Needs, Reaches
from gnomon.metrics.catalogue import Catalogue
from gnomon.metrics.requirements import requirements
from gnomon.metrics.spec import Options

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.bmx.pairs import TextWords
    from gnomon.core.batch import Batch
    from gnomon.core.dependencies import Dependency
    from gnomon.core.options import Capability
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.metrics.base import BoundMetric, Metric
    from gnomon.metrics.registry import Description

__all__ = [
    "EXPLAINERS",
    "BoundExplainer",
    "CheckingExplainer",
    "DirectExplainer",
    "Explainer",
    "Explainers",
    "NoticingExplainer",
    "PairImportances",
    "PerturbationPlan",
    "PerturbingExplainer",
    "SidedExplainer",
    "TextPair",
    "check_explainer",
    "describe_explainers",
    "explainer_names",
    "find_explainer",
    "is_blind",
]


# The protocol.


@runtime_checkable
class Explainer(Protocol):
    """An explainer with its options: what :class:`gnomon.metrics.Metric` is to scores.

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
        """Fields of a signature beside the spec."""
        ...


class PerturbationPlan(Protocol):
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

    def plans(self, texts: Sequence[TextWords]) -> Sequence[PerturbationPlan]:
        """A plan for each of some distinct texts; depends on nothing but the text.

        Texts without a word are never asked for.
        """
        ...

    def calls(self, words: int) -> int:
        """Largest number of perturbed texts of a text of so many words."""
        ...


class TextPair(NamedTuple):
    """A candidate, and the text that it is judged by (none where the metric takes none)."""

    candidate: TextWords
    other: TextWords | None


class PairImportances(NamedTuple):
    """Importance of each word of both sides, float64; the other side empty where there is none."""

    candidate: NDArray[np.float64]
    other: NDArray[np.float64]


@runtime_checkable
class DirectExplainer(BoundExplainer, Protocol):
    """Explains by looking into the metric; costs no scores.

    One that also has ``of_score = True`` gives importances in units of the score, which are divided
    by ``scale`` as scores are.

    Attributes:
        blind: looks at nothing, and so explains explained metrics too (further iterations).
    """

    @property
    def blind(self) -> bool:
        """True if it looks at nothing."""
        ...

    def look(
        self, bound: BoundMetric, batch: Batch, pairs: Sequence[TextPair]
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
class SidedExplainer(BoundExplainer, Protocol):
    """Power: tells which sides it explains, where that is not all of them."""

    @property
    def sides(self) -> frozenset[str]:
        """Some of "candidate", "reference" and "source"."""
        ...


@runtime_checkable
class NoticingExplainer(BoundExplainer, Protocol):
    """Power: what a reader of its explanations should know."""

    def notices(self, side: str, texts: Sequence[str]) -> tuple[Message, ...]:
        """Sentences about the explanations of a side; none where all is well.

        Args:
            side: "candidate", "reference" or "source".
            texts: its distinct texts.
        """
        ...


class Unfrozen(Options):
    """An explainer that freezes nothing of a test set."""

    @property
    def fields(self) -> Mapping[str, object]:
        """The seed, where there is one."""
        seed = getattr(self, "seed", None)
        return {} if seed is None else {"seed": seed}

    def bind(self, testset: TestSet, bound: BoundMetric) -> Self:  # noqa: ARG002  # any metric
        """Itself."""
        return self


# The registry, and explainers from specs.


#: built-in ones are loaded when named; the classes are ``gnomon.metrics.Options``
EXPLAINERS = Catalogue(
    kind="explainer",
    group="gnomon.explainers",
    built_in={
        "erasure": "gnomon.bmx.perturbing:Erasure",
        "file": "gnomon.bmx.explanation_files:ExplanationFile",
        "gradient": "gnomon.bmx._direct:Gradient",
        "lime": "gnomon.bmx.perturbing:Lime",
        "marginalisation": "gnomon.bmx.perturbing:Marginalisation",
        "match": "gnomon.bmx._direct:Match",
        "own": "gnomon.bmx._direct:OwnErrors",
        "random": "gnomon.bmx._direct:RandomExplainer",
        "shap": "gnomon.bmx.perturbing:Shap",
    },
    needed=("name", "spec", "bind"),
)


def _needs_of(
    explainers: object, language: str | None, _: Mapping[str, object]
) -> Iterator[Dependency]:
    """Dependencies of the explainers that an option names."""
    for each_explainer in explainers if isinstance(explainers, list | tuple) else [explainers]:
        if isinstance(each_explainer, str):
            yield from requirements(
                find_explainer(each_explainer), language, group=EXPLAINERS.group
            )


def reaches_of_explainer(text: str) -> frozenset[Capability]:
    """Capabilities that the spec of an explainer reaches; nothing that it names is opened."""
    return EXPLAINERS.reaches(text)


#: permissions that specs of explainers need
REACHES_OF_EXPLAINERS = Reaches(of_text="gnomon.bmx.explainers:reaches_of_explainer")
#: one explainer, as a spec or made
ExplainerSpec: TypeAlias = Annotated[
    "str | Explainer", Metavar("SPEC"), Needs(_needs_of), REACHES_OF_EXPLAINERS
]
#: an explainer or several, as specs or made
Explainers: TypeAlias = Annotated[
    "str | Explainer | Sequence[str | Explainer]",
    Metavar("SPEC"),
    Needs(_needs_of),
    REACHES_OF_EXPLAINERS,
    Group("explanations"),
    Help('explainers: "erasure", "lime(samples=50)", "shap" and so on.'),
]


def find_explainer(what: str | Explainer) -> Explainer:
    """The explainer that a spec names (``erasure``, ``lime(samples=100, seed=0)``), or itself.

    Raises:
        SpecError: the spec cannot be read, or an option is unknown or of the wrong type.
        UnknownNameError: there is no such explainer.
        UsageError: the package that offers it is broken, or the object is no explainer.
    """
    if not isinstance(what, str):
        _check_explainer(what)
        return what
    return cast("Explainer", EXPLAINERS.find(what))


def _check_explainer(what: object) -> None:
    if isinstance(what, Explainer) and not isinstance(what, type):
        return
    lacking = [attribute for attribute in ("name", "spec", "bind") if not hasattr(what, attribute)]
    hint = " make one of a function by gnomon.bmx.explainer(function)" if callable(what) else ""
    raise UsageError(
        f"{what!r:.80} is no explainer"
        + (f": it lacks {', '.join(lacking)};" if lacking else ";")
        + (hint or " give a spec such as 'erasure', or an object with name, spec and bind")
    )


def is_blind(explainer: Explainer) -> bool:
    """True if an explainer, not yet bound, says that it neither perturbs nor looks at a metric."""
    return bool(getattr(explainer, "blind", False))


def check_explainer(what: str | Explainer, metric: Metric) -> None:
    """Refuse an explainer that does not exist, or that cannot explain a metric."""
    explainer = find_explainer(what)
    if isinstance(explainer, CheckingExplainer):
        explainer.check(metric)


def describe_explainers() -> tuple[Description, ...]:
    """Every explainer, for ``gnomon list explainers``; packages' are named but not loaded."""
    return EXPLAINERS.describe()


def explainer_names() -> tuple[str, ...]:
    """Names that specs may use: built-in explainers, then what packages offer."""
    return EXPLAINERS.names()
