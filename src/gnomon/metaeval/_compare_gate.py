"""A gate for continuous integration: fail where a system is worse than the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.errors import DataError, GateError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.findings import Cell, Finding

__all__ = ["fail_if_worse"]


def fail_if_worse(
    finding: Finding, metrics: Sequence[str], *, alpha: float = 0.05, min_drop: float = 0.0
) -> None:
    """Raise an error where a system is significantly worse than the baseline.

    A system fails under a metric where its score is worse by ``min_drop`` or more, and the
    corrected p-value of the difference is at most ``alpha``. Slices do not count.

    Args:
        finding: what :func:`gnomon.compare` found.
        metrics: names of the metrics that decide, as they were given to it.
        alpha: largest p-value that is significant.
        min_drop: smallest drop that matters, in the metric's own units, 0 or more.

    Raises:
        GateError: a system is worse; the message says which, by how much, and p.
        DataError: a difference is undefined, so that nothing can be said.
        UnknownNameError: there is no such metric in the finding.
        UsageError: ``alpha`` or ``min_drop`` is out of range, or the comparison tested whether
            systems are better (``alternative="greater"``): its p-values say nothing of worse ones.
    """
    worse = failures(finding, metrics, alpha=alpha, min_drop=min_drop)
    if worse:
        raise GateError(worse)


def failures(finding: Finding, metrics: Sequence[str], *, alpha: float, min_drop: float) -> str:
    """Which systems are significantly worse than the baseline; as :func:`fail_if_worse`."""
    if not 0 < alpha < 1:
        raise UsageError(f"alpha lies strictly between 0 and 1; got {alpha}")
    if not min_drop >= 0:
        raise UsageError(f"a drop is a number, 0 or more; got {min_drop}")
    if any("alternative:greater" in s.split("|") for s in finding.signatures.values()):
        raise UsageError(
            "the comparison tested whether systems are better than the baseline, not whether they"
            " are worse; take another alternative: two-sided, or less"
        )
    rows = [row for row in finding.rows if row["slice"] is None]
    known = list(dict.fromkeys(str(row["metric"]) for row in rows))
    for metric in metrics:
        if metric not in known:
            raise UnknownNameError("metric to fail on", metric, known)
    judged = [row for row in rows if row["metric"] in metrics and row["system"] != row["baseline"]]
    worse = [row for row in judged if _is_worse(row, alpha, min_drop)]
    if not worse:
        return ""
    told = "; ".join(_told(row) for row in worse)
    return f"{told} (alpha {alpha:g}, smallest drop that fails {min_drop:g})"


def _is_worse(row: Mapping[str, Cell], alpha: float, min_drop: float) -> bool:
    gain, p = row["gain"], row["p_adjusted"]
    if not isinstance(gain, float) or not isinstance(p, float):
        raise DataError(
            f"whether {row['system']} is worse than {row['baseline']} under {row['metric']} cannot"
            f" be told: the two have scores for {row['segments']} segments in common; give two or"
            " more"
        )
    return gain < 0 and -gain >= min_drop and p <= alpha


def _told(row: Mapping[str, Cell]) -> str:
    p = "p" if row["p"] == row["p_adjusted"] else "corrected p"
    return (
        f"{row['system']} is worse than {row['baseline']} under {row['metric']}:"
        f" {row['score']:.4g}, {abs(float(str(row['difference']))):.4g} worse,"
        f" {p} = {row['p_adjusted']:.4g}"
    )
