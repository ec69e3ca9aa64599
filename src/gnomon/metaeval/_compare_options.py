"""How systems are compared: the test of their differences, and what is shown of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from gnomon.errors import UsageError
from gnomon.faults import Fault
from gnomon.options import SEED
from gnomon.stats.significance import fewest_draws

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.stats.bootstrap import Null
    from gnomon.stats.significance import Alternative

__all__ = ["Correction", "PairedTest", "Plan", "enough", "needed", "plan_faults"]

PairedTest: TypeAlias = Literal["bootstrap", "ar"]
Correction: TypeAlias = Literal["holm", "benjamini-hochberg", "none"]

_FEWEST, _STEP, _MOST = 1000, 1000, 10000  # of resamples where no number is given
_LEAST_SHARE = 1e-12  # below it no number of draws would do
_ALTERNATIVES = ("two-sided", "greater", "less")
_NULLS = ("sign", "centred", "sacrebleu")


def plan_faults(resamples: int, null: str, alternative: str, confidence: float) -> Iterator[Fault]:
    """What no :class:`Plan` can be made of, though each option fits alone."""
    if null == "sacrebleu" and alternative in ("greater", "less"):
        said = (
            "the null hypothesis 'sacrebleu' has one alternative, two-sided; for"
            f" {alternative!r} take 'sign' or 'centred'"
        )
        yield Fault("null", UsageError(said))
    least = fewest_draws(confidence)
    if resamples < least:
        said = (
            f"intervals of a confidence of {confidence} need {least} resamples or more; got"
            f" {resamples}"
        )
        yield Fault("resamples", UsageError(said))


@dataclass(frozen=True)
class Plan:
    """How differences are tested.

    Attributes:
        test: "bootstrap" (paired bootstrap) or "ar" (approximate randomisation); intervals are the
            bootstrap's either way.
        resamples: bootstrap resamples of the segments.
        trials: draws of the randomisation.
        null: how resamples become a p-value, see :func:`gnomon.stats.bootstrap_p_value`.
        alternative: "two-sided", "greater" (the system is better than the baseline) or "less".
        correction: for the number of comparisons: "holm", "benjamini-hochberg" or "none".
        alpha: largest corrected p-value of a difference that is said to be one.
        confidence: of the intervals, in (0, 1).
        seed: of resamples and draws.
    """

    test: PairedTest = "bootstrap"
    resamples: int = 1000
    trials: int = 10000
    null: Null = "sign"
    alternative: Alternative = "two-sided"
    correction: Correction = "holm"
    alpha: float = 0.05
    confidence: float = 0.95
    seed: int = SEED

    def draws(self) -> int:
        """Number of draws behind a p-value."""
        return self.resamples if self.test == "bootstrap" else self.trials

    def fields(self) -> dict[str, object]:
        """What a signature tells of it."""
        drawn: dict[str, object] = {"test": self.test, "bs": self.resamples}
        if self.test == "ar":
            drawn["ar"] = self.trials
        else:
            drawn["null"] = self.null
        return {
            **drawn,
            "alternative": self.alternative,
            "correction": self.correction,
            "confidence": self.confidence,
            "seed": self.seed,
        }


def needed(plan: Plan, comparisons: int) -> int:
    """How many draws the smallest p-value needs to stay significant after Holm's correction."""
    if plan.correction != "holm":
        return 1
    doubled = (plan.test, plan.null, plan.alternative) == ("bootstrap", "sign", "two-sided")
    return math.ceil(comparisons * (1 + doubled) / plan.alpha - 1e-9) - 1


def enough(plan: Plan, comparisons: int) -> Plan:
    """The same plan with twice as many resamples as that takes, if 10000 are enough."""
    least = needed(plan, comparisons)
    if plan.test == "ar" or not _FEWEST < least <= _MOST:
        return plan
    return replace(plan, resamples=min(_MOST, _STEP * math.ceil(2 * least / _STEP)))
