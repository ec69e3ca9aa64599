"""The figures of systems beside a baseline under one metric: scores, differences, p-values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.stats import approximate_randomisation, system_bootstrap_test
from gnomon.stats.significance import reverse

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import NDArray

    from gnomon.metaeval._compare_options import Plan
    from gnomon.scores import Scores
    from gnomon.stats import BootstrapTest
    from gnomon.stats.significance import Alternative

    Aggregate: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]

__all__ = ["Compared", "Contest", "figures"]

_SAME = 1e-9  # segment scores that differ by less are equal


class Compared(NamedTuple):
    """One system beside the baseline, in the metric's own units; NaN where undefined.

    Attributes:
        score: of all segments that the system has.
        score_low: lower end of the bootstrap interval of the score.
        score_high: its upper end.
        difference: system less baseline, on the segments that both have.
        low: lower end of the bootstrap interval of the difference.
        high: its upper end.
        p: of the test; not corrected.
        segments: how many segments both have.
        wins: those where the system's segment score is better.
        ties: those where the segment scores are equal.
        losses: those where it is worse.
    """

    score: float
    score_low: float
    score_high: float
    difference: float
    low: float
    high: float
    p: float
    segments: int
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True)
class Contest:
    """What a metric said of the systems that are compared.

    Attributes:
        metric: its name.
        systems: names of the K systems; the first is the baseline.
        segments: float64 [K, N]; NaN where undefined.
        values: what is added up over segments: statistics [K, N, S], else the segment scores.
        aggregate: sums of statistics to scores; ``None`` where segment scores are averaged.
        sign: 1 where higher is better, else -1.
    """

    metric: str
    systems: tuple[str, ...]
    segments: NDArray[np.float64]
    values: NDArray[np.float64]
    aggregate: Aggregate | None
    sign: int

    @classmethod
    def of(cls, scores: Scores, systems: list[str]) -> Contest:
        """The scores of some systems, in this order."""
        rows = [scores.systems.index(name) for name in systems]
        corpus = scores.statistics is not None and scores.aggregate is not None
        values = scores.segments if scores.statistics is None or not corpus else scores.statistics
        return cls(
            scores.metric,
            tuple(systems),
            scores.segments[rows],
            values if rows == [*range(len(values))] else values[rows],
            scores.aggregate if corpus else None,
            1 if scores.higher_is_better else -1,
        )

    def gains(self) -> NDArray[np.float64]:
        """How much better each system is than the baseline in each segment, float64 [K, N]."""
        gains: NDArray[np.float64] = self.sign * (self.segments - self.segments[0])
        return gains


def figures(contest: Contest, members: NDArray[np.bool_], plan: Plan) -> list[Compared]:
    """Each system beside the baseline (the first), on some of the segments.

    Args:
        contest: what the metric said.
        members: bool [N], the segments looked at.
        plan: how differences are tested.
    """
    values = contest.values[:, members]
    boot = system_bootstrap_test(
        values,
        aggregate=contest.aggregate,
        baseline=0,
        alternative=_oriented(plan.alternative, contest.sign),
        null=plan.null,
        confidence=plan.confidence,
        count=plan.resamples,
        seed=plan.seed,
    )
    p = boot.p if plan.test == "bootstrap" else _randomised(contest, values, plan)
    gains = contest.gains()[:, members]
    boot = boot._replace(p=p, differences=_differences(values, contest.aggregate, boot))
    return [_compared(boot, k, _counts(gains[k])) for k in range(len(values))]


def _differences(
    values: NDArray[np.float64], aggregate: Aggregate | None, boot: BootstrapTest
) -> NDArray[np.float64]:
    """Those of the test, and those on one segment alone, of which there is no test."""
    differences = boot.differences.copy()
    cells = np.isnan(values).reshape(*values.shape[:2], -1)
    missing: NDArray[np.bool_] = np.asarray(cells.any(axis=2))
    for k, lacking in enumerate(missing):
        both = np.flatnonzero(~(lacking | missing[0]))
        if len(both) != 1:
            continue
        pair = np.stack([values[k, both[0]], values[0, both[0]]])
        score, baseline = pair if aggregate is None else aggregate(pair)
        differences[k, 0] = score - baseline
    return differences


def _compared(test: BootstrapTest, k: int, counts: tuple[int, int, int, int]) -> Compared:
    score_low, score_high = test.intervals[:, k].tolist()
    low, high = test.difference_intervals[:, k, 0].tolist()
    difference, p = float(test.differences[k, 0]), float(test.p[k, 0])
    if k == 0:  # that the baseline differs by nothing from itself is no finding
        difference = low = high = p = float("nan")
    score = float(test.statistics[k])
    return Compared(score, score_low, score_high, difference, low, high, p, *counts)


def _randomised(contest: Contest, values: NDArray[np.float64], plan: Plan) -> NDArray[np.float64]:
    found = approximate_randomisation(
        values,
        aggregate=contest.aggregate,
        baseline=0,
        alternative=_oriented(plan.alternative, contest.sign),
        count=plan.trials,
        seed=plan.seed,
    )
    return found.p


def _oriented(alternative: Alternative, sign: int) -> Alternative:
    return alternative if sign > 0 else reverse(alternative)


def _counts(gains: NDArray[np.float64]) -> tuple[int, int, int, int]:
    known = gains[~np.isnan(gains)]
    wins, losses = int((known > _SAME).sum()), int((known < -_SAME).sum())
    return len(known), wins, len(known) - wins - losses, losses
