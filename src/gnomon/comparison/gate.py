"""A gate for continuous integration: fail where a system is worse than the baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias

from gnomon.comparison.rows import ComparisonRow, is_baseline_best, tested_by
from gnomon.core.data_cautions import doubts, select_messages
from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.core.gates import GateCase, refuse_gate
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
        fail_if_worse: metrics under which no system may be significantly worse than the baseline;
            where one is, the command line ends with exit code 3.
        min_drop: the smallest drop that fails, in the metric's own units.
    """

    fail_if_worse: Annotated[Sequence[str], Metavar("METRIC")] = ()
    min_drop: MinDrop = 0.0


def gate_faults(options: BoundOptions) -> Iterator[Problem]:
    """Check that the options of a comparison leave a gate to go by."""
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


def fail_if_worse(
    finding: Finding, metrics: Sequence[str], *, min_drop: MinDrop = 0.0, strict: bool = False
) -> None:
    """Raise an error where a system is significantly worse than the baseline.

    A system fails under a metric where its verdict is "worse", by ``min_drop`` or more. Slices do
    not count.

    Args:
        finding: what :func:`gnomon.compare` found.
        metrics: names of the metrics that decide, as they were given to it.
        min_drop: smallest drop that matters, in the metric's own units, 0 or more.
        strict: raise one, too, where a drop of this size is neither shown nor ruled out.

    Raises:
        GateError: a system is worse; the message says which, by how much, and p.
        UndecidedGateError: with ``strict``, none is, and one may be.
        DataError: a difference is undefined, so that nothing can be said.
        UnknownNameError: there is no such metric in the finding.
        UsageError: ``min_drop`` is out of range, or the baseline of the comparison was not named,
            and is the best of three systems or more.
    """
    refuse_gate(gate_cases(finding, metrics, min_drop=min_drop), strict=strict)


def gate_cases(
    finding: Finding, metrics: Sequence[str], *, min_drop: float
) -> tuple[GateCase, ...]:
    """Decide if systems are significantly worse than the baseline; as :func:`fail_if_worse`."""
    if is_baseline_best(finding):
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
    return tuple(_case(row, min_drop) for row in judged)


def _check_trusted(row: ComparisonRow, finding: Finding) -> None:
    """Refuse a gate on files or metrics that a caution says not to trust."""
    names = {row.system, row.baseline}
    doubted = doubts(finding.notices)
    unread = select_messages("data.unread", finding.notices)
    reasons = {
        "lines": [one for one in doubted if not names.isdisjoint(one.subjects["systems"])],
        "letters": unread,
    }.get(str(row.caveat))
    if reasons is not None:
        raise DataError(
            f"whether {row.system} is worse than {row.baseline} under {row.metric} cannot"
            f" be decided: {'; '.join(map(noted, reasons))}"
        )


def _case(row: ComparisonRow, min_drop: float) -> GateCase:
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
    if row.verdict == "worse" and -gain >= min_drop:
        return GateCase(row.system, row.metric, "failed", _loss_sentence(row, min_drop))
    if _is_ruled_out(row, min_drop):
        return GateCase(row.system, row.metric)
    return GateCase(row.system, row.metric, "undecided", _doubt_sentence(row, min_drop))


def _is_ruled_out(row: ComparisonRow, min_drop: float) -> bool:
    """True if a drop of this size, or any where it is 0, is not in the interval; else by p."""
    low = row.gain_ends[0]
    if low is None:
        return row.same or row.verdict == "better"
    return low > -min_drop or low == min_drop == 0  # an end of 0 is open


def _loss_sentence(row: ComparisonRow, min_drop: float) -> str:
    low, high = row.gain_ends
    ends = () if low is None or high is None else (-high, -low)
    least = f"; smallest drop that fails {min_drop:g}" * (min_drop > 0)
    return (
        f"{row.system} is worse than {row.baseline} under {row.metric} by"
        f" {amount(-(row.gain or 0.0), *ends, decided=True)} ({tested_by(row)}{least})"
    )


def _doubt_sentence(row: ComparisonRow, min_drop: float) -> str:
    size = f"by {min_drop:g} or more " * (min_drop > 0)
    low, high = row.gain_ends
    gain = amount(row.gain or 0.0, low, high)
    test = f" ({tested_by(row)})" if low is None and row.p is not None else ""
    return (
        f"whether {row.system} is worse than {row.baseline} under {row.metric} {size}is not"
        f" decided: its gain is {gain}{test}; take more segments, or allow a larger drop"
    )
