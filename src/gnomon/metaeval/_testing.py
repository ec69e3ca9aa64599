"""How differences between metrics are tested, and what tests say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.errors import UnknownNameError, UsageError
from gnomon.faults import Fault, faults, refuse
from gnomon.metaeval._choices import TESTS
from gnomon.stats.significance import check_alternative, fewest_draws

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gnomon.metaeval._choices import Test
    from gnomon.stats import EarlyStopping
    from gnomon.stats.significance import Alternative

__all__ = ["Testing", "Verdicts", "beats", "check_testing", "nothing", "testing_faults"]


@dataclass(frozen=True)
class Testing:
    """How differences are tested.

    Attributes:
        test: "williams" (Pearson of system scores alone), "permutation", "bootstrap", or "auto":
            Williams's where it applies, permutation elsewhere, bootstrap where no permutation
            exists (DaRR, soft pairwise accuracy).
        alternative: what is said of (row, column).
        resamples: draws; 0 for neither intervals nor tests that draw.
        seed: seed of all draws.
        confidence: share of draws inside an interval.
        alpha: largest p that is significant.
        plus_one: p = (r + 1)/(B + 1), else r/B.
        early_stopping: of permutation tests.
        williams: whether "auto" means Williams's test for Pearson of system scores.
    """

    test: Test = "auto"
    alternative: Alternative = "greater"
    resamples: int = 1000
    seed: int = 0
    confidence: float = 0.95
    alpha: float = 0.05
    plus_one: bool = True
    early_stopping: EarlyStopping | None = None
    williams: bool = True


class Verdicts(NamedTuple):
    """What intervals and tests say of M metrics; NaN is undefined.

    Attributes:
        low: lower ends of the intervals [M].
        high: upper ends [M].
        differences: row less column, on what both have [M, M].
        p: p-values of the alternative said of (row, column) [M, M].
        test: which test it is; empty if there is none.
        interval: what was resampled for the intervals; empty if there are none.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    differences: NDArray[np.float64]
    p: NDArray[np.float64]
    test: str = ""
    interval: str = ""


def nothing(metrics: int) -> Verdicts:
    """Verdicts of which all is undefined."""
    low, high = np.full((2, metrics), np.nan)
    differences, p = np.full((2, metrics, metrics), np.nan)
    return Verdicts(low, high, differences, p)


def beats(found: Verdicts, row: int, column: int, how: Testing) -> bool | None:
    """Whether one metric is significantly better than another; None where that was not tested.

    p says the alternative of (row, column): of the reverse pair, "less" says the same as "greater".
    """
    at = (column, row) if how.alternative == "less" else (row, column)
    if row == column or np.isnan(found.p[at]):
        return None
    significant = bool(found.p[at] <= how.alpha)
    if how.alternative == "two-sided":
        return significant and bool(found.differences[at] > 0)
    return significant


def check_testing(how: Testing) -> None:
    """Refuse tests and options that do not exist.

    Raises:
        UnknownNameError: there is no such test or alternative.
        UsageError: a number is out of its range.
    """
    refuse(
        testing_faults(
            how.test, how.alternative, how.resamples, how.seed, how.confidence, how.alpha
        )
    )


def testing_faults(
    test: str, alternative: str, resamples: int, seed: int, confidence: float, alpha: float
) -> Iterator[Fault]:
    """What :class:`Testing` cannot be made of."""
    if test not in TESTS:
        yield Fault("test", UnknownNameError("test", str(test), TESTS))
    yield from faults("alternative", check_alternative, alternative)
    for name, number in (("resamples", resamples), ("seed", seed)):
        if number < 0:
            yield Fault(name, UsageError(f"resamples and seed are 0 or more; got {number}"))
    for name, share in (("confidence", confidence), ("alpha", alpha)):
        if not 0 < share < 1:
            said = f"confidence and alpha lie strictly between 0 and 1; got {share}"
            yield Fault(name, UsageError(said))
    if 0 < confidence < 1 and 0 < resamples < fewest_draws(confidence):
        said = (
            f"intervals of a confidence of {confidence} need {fewest_draws(confidence)} resamples"
            f" or more, or 0 for none; got {resamples}"
        )
        yield Fault("resamples", UsageError(said))
