"""What the grid search is made on: experiments, explanations computed once, and their grids."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from gnomon.errors import LengthMismatchError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from gnomon.bmx._explanations import Explanations

    Floats = NDArray[np.float64]

__all__ = ["FACTORS", "RANDOM", "Experiment", "Explained", "Factor", "Grids", "P", "W"]

#: the grid of the paper: 600 exponents, 0 exactly among them, and 6 weights
P: Floats = np.arange(-300, 300) / 10
W: Floats = np.arange(6) / 5
P.flags.writeable = W.flags.writeable = False
#: the explainer that is the control
RANDOM = "random"
Factor = Literal["explainer", "metric", "dataset", "language_pair", "sides"]
FACTORS: tuple[Factor, ...] = get_args(Factor)


@dataclass(frozen=True, order=True)
class Experiment:
    """What one grid belongs to.

    Attributes:
        dataset: name of the data ("wmt17").
        explainer: name of the explainer ("lime"); "random" is the control.
        metric: name of the metric.
        language_pair: "de-en".
        sides: whose words were explained: "both" or "candidate".
    """

    dataset: str
    explainer: str
    metric: str
    language_pair: str
    sides: str = "both"

    def __str__(self) -> str:
        """All names in a line; sides only where they are not both."""
        names = [self.dataset, self.language_pair, self.metric, self.explainer]
        return " ".join(names if self.sides == "both" else [*names, f"({self.sides} only)"])

    @property
    def data(self) -> tuple[str, str, str, str]:
        """All but the explainer: what an experiment shares with its control."""
        return self.dataset, self.metric, self.language_pair, self.sides

    @property
    def is_control(self) -> bool:
        """Whether this is the random explainer, with whatever options."""
        return self.explainer.split("(")[0] == RANDOM


@dataclass(frozen=True, eq=False)
class Explained:
    """Explanations of one experiment, computed once, and what people say of the same segments.

    Attributes:
        experiment: what it is called.
        score: float64 [N], S0 beside all references, better is higher; NaN where undefined.
        values: float64 [tokens], importances of the words of both sides of all segments, one
            segment after the other.
        offsets: int64 [N + 1]; segment i has ``values[offsets[i]:offsets[i + 1]]``.
        human: float64 [N], human scores, better is higher; NaN is missing.
        signature: how the explanations were made.
        notices: what a reader should know.

    Raises:
        LengthMismatchError: the sides have different numbers of segments.
    """

    experiment: Experiment
    score: Floats
    values: Floats
    offsets: NDArray[np.int64]
    human: Floats
    signature: str = ""
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        sizes = {"score": self.score.shape, "human": self.human.shape}
        sizes["offsets less one"] = (len(self.offsets) - 1,)
        if len(set(sizes.values())) > 1:
            said = ", ".join(f"{name} {shape}" for name, shape in sizes.items())
            raise LengthMismatchError(f"{self.experiment}: unequal numbers of segments: {said}")

    @classmethod
    def of(
        cls,
        explanations: Explanations,
        human: Floats,
        *,
        dataset: str,
        explainer: str,
        language_pair: str,
    ) -> Explained:
        """Explanations of all systems' segments beside human scores [K, N].

        Raises:
            LengthMismatchError: the human scores have another shape than the explained ones.
        """
        if human.shape != explanations.scores.shape:
            raise LengthMismatchError(
                f"human scores have shape {human.shape}, and the explained scores"
                f" {explanations.scores.shape} [systems, segments]"
            )
        both = explanations.both()
        sides = "both" if len(explanations.sides) > 1 else explanations.sides[0].side
        return cls(
            Experiment(dataset, explainer, explanations.metric, language_pair, sides),
            explanations.oriented.ravel(),
            both.values,
            both.offsets,
            np.asarray(human, dtype=np.float64).ravel(),
            str(explanations.signature),
            explanations.notices,
        )


@dataclass(frozen=True, eq=False)
class Grids:
    """Correlations with human scores of many experiments over all exponents and weights.

    Attributes:
        experiments: the E experiments.
        p: float64 [P], exponents, ascending.
        w: float64 [W], weights of the metric, ascending; the last is 1, the metric alone.
        correlations: float64 [E, P, W]; NaN where undefined.
        used: how many segments each experiment has, if known.
        left_out: how many lacked a score, an explanation or a human score, if known.
        collapsed: float64 [E, P], share of segments whose power mean collapsed, if known.
        reasons: why an experiment is undefined throughout, by its place.

    Raises:
        LengthMismatchError: the shapes do not fit.
        UsageError: the last weight is not 1, or p or w do not rise.
    """

    experiments: tuple[Experiment, ...]
    p: Floats
    w: Floats
    correlations: Floats
    used: tuple[int, ...] | None = None
    left_out: tuple[int, ...] | None = None
    collapsed: Floats | None = None
    reasons: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shape = (len(self.experiments), len(self.p), len(self.w))
        if self.correlations.shape != shape:
            raise LengthMismatchError(
                f"correlations of {shape[0]} experiments, {shape[1]} exponents and {shape[2]}"
                f" weights have shape {shape}; got {self.correlations.shape}"
            )
        rising = all((np.diff(values) > 0).all() for values in (self.p, self.w))
        if not rising or not len(self.p) or not len(self.w) or self.w[-1] != 1:
            raise UsageError(
                "a grid has rising exponents and rising weights, the last of which is 1 (the metric"
                f" alone); got p {self.p[:3]} ..., w {self.w}"
            )

    @property
    def base(self) -> Floats:
        """Correlation of the metric alone, C0, float64 [E]."""
        return np.asarray(self.correlations[:, 0, -1])

    @property
    def gains(self) -> Floats:
        """What each setting adds to the metric alone, float64 [E, P, W]."""
        return np.asarray(self.correlations - self.base[:, None, None])

    def take(self, places: Collection[int] | NDArray[np.intp]) -> Grids:
        """Some of the experiments."""
        chosen = [int(place) for place in places]
        return replace(
            self,
            experiments=tuple(self.experiments[i] for i in chosen),
            correlations=self.correlations[chosen],
            used=None if self.used is None else tuple(self.used[i] for i in chosen),
            left_out=None if self.left_out is None else tuple(self.left_out[i] for i in chosen),
            collapsed=None if self.collapsed is None else self.collapsed[chosen],
            reasons={new: self.reasons[i] for new, i in enumerate(chosen) if i in self.reasons},
        )

    def where(self, **wanted: str | Collection[str]) -> Grids:
        """The experiments whose names are among those wanted: ``where(explainer="lime")``.

        Raises:
            UnknownNameError: no such factor, or no experiment has such a name of it.
        """
        allowed = {f: [v] if isinstance(v, str) else list(v) for f, v in wanted.items()}
        for factor, names in allowed.items():
            if factor not in FACTORS:
                raise UnknownNameError("factor", factor, FACTORS)
            known = self.levels(factor)
            for name in names:
                if name not in known:
                    raise UnknownNameError(f"{factor} of the experiments", name, known)
        return self.take(
            [
                i
                for i, one in enumerate(self.experiments)
                if all(getattr(one, factor) in names for factor, names in allowed.items())
            ]
        )

    def of(self, experiment: Experiment) -> Floats:
        """The grid of one experiment, float64 [P, W].

        Raises:
            UnknownNameError: it is not among these.
        """
        if experiment not in self.experiments:
            raise UnknownNameError(
                "experiment", str(experiment), [str(one) for one in self.experiments]
            )
        return np.asarray(self.correlations[self.experiments.index(experiment)])

    def levels(self, factor: Factor) -> tuple[str, ...]:
        """The names that occur, in order of occurrence."""
        return tuple(dict.fromkeys(getattr(one, factor) for one in self.experiments))
