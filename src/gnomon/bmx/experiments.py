"""Basis of the grid search: experiments, explanations computed once, and their grids."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from gnomon.bmx.engine import MAX_CALLS, Effort
from gnomon.bmx.explained_texts import cache_of, calls_of, check_sides, explain_batch
from gnomon.bmx.explainers import find_explainer
from gnomon.bmx.metric import BoundBmx
from gnomon.core.errors import DataError, LengthMismatchError, UnknownNameError, UsageError
from gnomon.core.human import only_kind
from gnomon.core.options import SEED, Positive, Seed
from gnomon.core.verdicts import metric_title
from gnomon.messages import message
from gnomon.messages.audiences import flag
from gnomon.metrics.circularity import counts_edits, has_post_edits
from gnomon.metrics.scoring import bind
from gnomon.metrics.sequences import offsets_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from numpy.typing import NDArray

    from gnomon.bmx.engine import Boost, Progress
    from gnomon.bmx.explained_texts import Sides
    from gnomon.bmx.explainers import BoundExplainer, Explainer
    from gnomon.core.cache import Cache
    from gnomon.core.signature import Signature
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.metrics.base import BoundMetric, Metric

    Floats = NDArray[np.float64]

__all__ = [
    "RANDOM",
    "Experiment",
    "Explained",
    "Factor",
    "Grids",
    "P",
    "W",
    "explained",
    "human_scores",
]


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
    """Labels of one grid.

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
        """True if this is the random explainer, with whatever options."""
        return self.explainer.split("(")[0] == RANDOM

    @property
    def is_of_random_metric(self) -> bool:
        """True if the metric is random numbers: a control of metrics, which is none itself."""
        return self.metric.split("(")[0] == RANDOM

    @property
    def testset(self) -> str:
        """Name of the data and language pair, "wmt17/de-en"."""
        return f"{self.dataset}/{self.language_pair}" if self.language_pair else self.dataset


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
    signature: Signature | None = None
    notices: tuple[Message, ...] = ()

    def __post_init__(self) -> None:
        sizes = {"score": self.score.shape, "human": self.human.shape}
        sizes["offsets less one"] = (len(self.offsets) - 1,)
        if len(set(sizes.values())) > 1:
            said = ", ".join(f"{name} {shape}" for name, shape in sizes.items())
            raise LengthMismatchError(f"{self.experiment}: unequal numbers of segments: {said}")


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
    reasons: dict[int, Message] = field(default_factory=dict)

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
        """Gain of each setting over the metric alone, float64 [E, P, W]."""
        return np.asarray(self.correlations - self.base[:, None, None])

    @property
    def groups(self) -> list[str]:
        """Groups held out together with each experiment: all of its language pair.

        Of the same pair texts may be the same. Where there is one pair alone, all of its test set.
        """
        pairs = [experiment.language_pair for experiment in self.experiments]
        if len(set(pairs)) > 1:
            return pairs
        return [experiment.testset for experiment in self.experiments]

    def take(self, places: Collection[int] | NDArray[np.intp]) -> Grids:
        """Some of the experiments."""
        chosen = [int(index) for index in places]
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
            levels = self.levels(factor)
            for name in names:
                if name not in levels:
                    raise UnknownNameError(f"{factor} of the experiments", name, levels)
        return self.take(
            [
                i
                for i, experiment in enumerate(self.experiments)
                if all(getattr(experiment, factor) in names for factor, names in allowed.items())
            ]
        )

    def levels(self, factor: Factor) -> tuple[str, ...]:
        """The names that occur, in order of occurrence."""
        return tuple(dict.fromkeys(getattr(experiment, factor) for experiment in self.experiments))


# Explaining the segments of a test set that people judged, and no others.


def explained(
    testset: TestSet,
    metric: str | Metric | BoundMetric | Callable[..., float],
    explainer: str | Explainer = "erasure",
    *,
    human: str | None = None,
    sides: Sides = "both",
    scale: float = 1.0,
    sample: Positive | None = None,
    seed: Seed = SEED,
    max_calls: int = MAX_CALLS,
    cache: Cache | None = None,
    progress: Progress | None = None,
    allow_code: bool = False,
) -> Explained:
    """Explanations of the segments that people scored, with their scores, for :func:`tune`."""
    chosen, both = find_explainer(explainer), check_sides(sides)
    scores = human_scores(testset, human)
    wanted = _sample_cells(~np.isnan(scores), sample, seed)
    _, bound = bind(testset, metric, allow_code=allow_code)
    kept, notices = cache_of(bound, cache, chosen)
    ready, batch = chosen.bind(testset, bound), testset.batch()
    blocks = list(_blocks(wanted))
    batches = [batch.select(systems=systems, segments=segments) for systems, segments in blocks]
    inner, before = _unwrap(bound, ready)
    calls = sum(
        calls_of(inner, block, ready, both=both, before=before, cache=None if before else kept)
        for block in batches
    )
    if calls > max_calls:
        raise UsageError(
            f"explaining {bound.name!r} by {chosen.spec} on {int(wanted.sum())} scored segments"
            f" of {testset.name!r} takes up to {calls} metric calls, more than the {max_calls}"
            " that are allowed; allow more (",
            flag("max_calls"),
            "), take a sample of the segments (",
            flag("sample"),
            "), fewer systems, or a cheaper explainer",
        )
    parts = [
        explain_batch(
            bound,
            block,
            ready,
            both=both,
            scale=scale,
            effort=Effort(max_calls, kept, progress),
        ).explanations
        for block in batches
    ]
    name = Experiment(
        testset.name,
        chosen.spec,
        bound.signature.spec,
        testset.language_pair or "",
        "both" if both else "candidate",
    )
    words = [part.both() for part in parts]
    sizes = np.concatenate([np.diff(each.offsets) for each in words])
    return Explained(
        name,
        np.concatenate([part.oriented.ravel() for part in parts]),
        np.concatenate([each.values for each in words]),
        offsets_of(sizes),
        np.concatenate([scores[np.ix_(*block)].ravel() for block in blocks]),
        parts[-1].signature,
        (*notices, *_circular(testset, human, bound, scores)),
    )


def _circular(
    testset: TestSet, human: str | None, bound: BoundMetric, scores: Floats
) -> Iterator[Message]:
    """Why the human scores cannot judge the metric: they, or the references, count edits."""
    kind = only_kind(human, testset.human_kinds("segment"), "human segment scores")
    edits = counts_edits(testset, [kind], list(testset.systems), scores)
    if edits or ("references" in bound.needs and has_post_edits(testset)):
        title = metric_title(bound.signature.spec)
        why = "edits" if edits else "post-edits"
        yield message("metaeval.circular", metrics=[title], left_out=False, why=why)


def _unwrap(bound: BoundMetric, explainer: BoundExplainer) -> tuple[BoundMetric, tuple[Boost, ...]]:
    """A boosted metric that the same explainer explains again: what it is made of, and how."""
    if isinstance(bound, BoundBmx) and bound.explainer.spec == explainer.spec:
        return bound.bound, bound.metric.boosts
    return bound, ()


def human_scores(testset: TestSet, kind: str | None) -> Floats:
    """Human scores [K, N]; NaN for human translations."""
    scores = testset.human_scores(kind, "segment").copy()
    for k, name in enumerate(testset.systems):
        system_info = testset.info.get(name)
        if system_info is not None and system_info.human:
            scores[k] = np.nan
    if np.isnan(scores).all():
        raise DataError(
            f"test set {testset.name!r} has no human segment score of any of its systems; BMX is"
            " tuned on scores of segments"
        )
    return scores


def _sample_cells(wanted: NDArray[np.bool_], sample: int | None, seed: int) -> NDArray[np.bool_]:
    if sample is None:
        return wanted
    there = np.flatnonzero(wanted)
    kept = np.random.default_rng(seed).permutation(there)[:sample]
    chosen = np.zeros(wanted.size, dtype=bool)
    chosen[kept] = True
    return chosen.reshape(wanted.shape)


def _blocks(wanted: NDArray[np.bool_]) -> Iterator[tuple[list[int], list[int]]]:
    """Systems with the same segments together, so that what they share is scored once."""
    alike: dict[bytes, list[int]] = {}
    for k, row in enumerate(wanted):
        if row.any():
            alike.setdefault(row.tobytes(), []).append(k)
    for systems in alike.values():
        yield systems, np.flatnonzero(wanted[systems[0]]).tolist()
