"""A gate for continuous integration: fail where a system is worse than the baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias

from gnomon.comparison.tables import ComparisonRow, chosen_by_score, tested_by
from gnomon.core.doubts import doubts, said_of
from gnomon.core.errors import DataError, GateError, UnknownNameError, UsageError
from gnomon.core.options import Limits, Metavar
from gnomon.core.validation import Problem
from gnomon.messages import noted
from gnomon.messages.audiences import Words, parameter
from gnomon.messages.grammar import amount
from gnomon.stats.jackknife import LEAST_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.findings import Finding
    from gnomon.core.options import BoundOptions

#: of a system's score that matters, in the metric's own units
MinDrop: TypeAlias = Annotated[float, Limits(0), Metavar("UNITS")]


@dataclass(frozen=True)
class Gate:
    """When a comparison fails.

    Attributes:
        fail_if_worse: metrics by which no system may be significantly worse than the baseline;
            the finding's ``failure`` says where one is, and the command line ends with exit code 3.
        min_drop: smallest drop that fails, in the metric's own units.
    """

    fail_if_worse: Sequence[str] = ()
    min_drop: MinDrop = 0.0


def gate_faults(options: BoundOptions) -> Iterator[Problem]:
    """What the options of a comparison leave no gate to go by."""
    metrics, gate = options.metrics, options.fail_if_worse
    if options.min_drop and not gate:
        lacks: Words = (
            " goes with ",
            parameter("fail_if_worse"),
            ", which names metrics and is not given",
        )
        yield Problem("min_drop", UsageError(parameter("min_drop"), lacks))
    if gate and options.resamples == 0:
        lacks = " goes by p, and there is none without resamples; take 1000"
        yield Problem("fail_if_worse", UsageError(parameter("fail_if_worse"), lacks))
    specs = [metrics] if isinstance(metrics, str) else metrics
    if isinstance(specs, list | tuple) and all(isinstance(spec, str) for spec in specs):
        for name in gate:
            if name not in specs:
                unknown = UnknownNameError(
                    "metric to fail on", name, specs, remedy="name it with -m"
                )
                yield Problem("fail_if_worse", unknown)


def fail_if_worse(finding: Finding, metrics: Sequence[str], *, min_drop: MinDrop = 0.0) -> None:
    """Raise an error where a system is significantly worse than the baseline.

    A system fails under a metric where its verdict is "worse", by ``min_drop`` or more. Slices do
    not count.

    Args:
        finding: what :func:`gnomon.compare` found.
        metrics: names of the metrics that decide, as they were given to it.
        min_drop: smallest drop that matters, in the metric's own units, 0 or more.

    Raises:
        GateError: a system is worse; the message says which, by how much, and p.
        DataError: a difference is undefined, so that nothing can be said.
        UnknownNameError: there is no such metric in the finding.
        UsageError: ``min_drop`` is out of range, or the baseline of the comparison was not named,
            and is the best of three systems or more.
    """
    worse = failures(finding, metrics, min_drop=min_drop)
    if worse:
        raise GateError(worse)


def failures(finding: Finding, metrics: Sequence[str], *, min_drop: float) -> str:
    """Which systems are significantly worse than the baseline; as :func:`fail_if_worse`."""
    if chosen_by_score(finding):
        raise UsageError(
            "the comparison was with the system that has the best score, of which any other may be"
            " worse; name the baseline of the gate"
        )
    rows = [row for row in finding.records(ComparisonRow) if row.slice is None]
    names = list(dict.fromkeys(row.metric for row in rows))
    for metric in metrics:
        if metric not in names:
            raise UnknownNameError("metric to fail on", metric, names)
    judged = [row for row in rows if row.metric in metrics and row.system != row.baseline]
    for row in judged:
        _check_trusted(row, finding)
    worse = [row for row in judged if _is_worse(row, min_drop)]
    if not worse:
        return ""
    losses = "; ".join(_loss_sentence(row) for row in worse)
    return f"{losses} (smallest drop that fails {min_drop:g})"


def _check_trusted(row: ComparisonRow, finding: Finding) -> None:
    """Refuse a gate on files or metrics that a caution says not to trust."""
    names = {row.system, row.baseline}
    doubted = doubts(finding.notices)
    unread = said_of("data.unread", finding.notices)
    reasons = {
        "lines": [one for one in doubted if not names.isdisjoint(one.subjects["systems"])],
        "letters": unread,
    }.get(str(row.caveat))
    if reasons is not None:
        raise DataError(
            f"whether {row.system} is worse than {row.baseline} under {row.metric} cannot"
            f" be decided: {'; '.join(map(noted, reasons))}"
        )


def _is_worse(row: ComparisonRow, min_drop: float) -> bool:
    gain = row.gain
    if gain is not None and row.caveat == "documents":
        raise DataError(
            f"whether {row.system} is worse than {row.baseline} under {row.metric} cannot"
            f" be decided by document: the two have {row.documents} in common; give"
            f" {LEAST_DOCUMENTS} or more"
        )
    if gain is None or (row.p is None and row.decided is None):
        raise DataError(
            f"whether {row.system} is worse than {row.baseline} under {row.metric} cannot"
            f" be decided: the two have scores for {row.segments} segments in common; give two"
            " or more"
        )
    return row.verdict == "worse" and -gain >= min_drop


def _loss_sentence(row: ComparisonRow) -> str:
    low, high = row.gain_ends
    ends = () if low is None or high is None else (-high, -low)
    return (
        f"{row.system} is worse than {row.baseline} under {row.metric} by"
        f" {amount(-(row.gain or 0.0), *ends, decided=True)} ({tested_by(row)})"
    )
