"""Explanations judged by errors that people marked and by curves, beside a control."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gnomon.bmx._mean_intervals import mean_of
from gnomon.findings import Column, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.bmx._errors import ErrorAgreement
    from gnomon.bmx._faithfulness import Faithfulness
    from gnomon.bmx._mean_intervals import Draws
    from gnomon.findings import Cell

__all__ = ["Judged", "curves_table", "errors_table"]


class Judged(NamedTuple):
    """What was judged, and how it and its control did.

    Attributes:
        metric: spec.
        explainer: spec.
        errors: agreement with marked errors, by side; empty if not asked for.
        errors_control: that of the random explainer.
        curves: deletion and insertion; None if not asked for.
        curves_control: those of the random explainer.
    """

    metric: str
    explainer: str
    errors: Sequence[ErrorAgreement] = ()
    errors_control: Sequence[ErrorAgreement] = ()
    curves: Faithfulness | None = None
    curves_control: Faithfulness | None = None


_ENDS = ("low", "high")
_GAIN_ENDS = ("gain_low", "gain_high")


def _columns(*first: Column, value: str, digits: int) -> tuple[Column, ...]:
    return (
        Column("metric", "Metric"),
        Column("explainer", "Explainer"),
        *first,
        Column("value", value, "number", digits, ends=_ENDS),
        Column("low", "Low", "number", digits),
        Column("high", "High", "number", digits),
        Column("random", "Random", "number", digits, help="the random explainer's"),
        Column("gain", "Gain", "number", digits, help="better than random by", ends=_GAIN_ENDS),
        Column("gain_low", "Gain, low", "number", digits),
        Column("gain_high", "Gain, high", "number", digits),
    )


def errors_table(judged: Sequence[Judged], draws: Draws) -> Table:
    """Agreement with the errors that people marked, averaged over sentences."""
    columns = (
        *_columns(Column("side", "Side"), Column("measure", "Measure"), value="Mean", digits=3),
        Column("sentences", "Sentences", "count"),
        Column("untagged", "Untagged", "count", help="left out: no word is tagged"),
        Column("all_tagged", "All tagged", "count", help="left out: every word is tagged"),
        Column("undefined", "Undefined", "count", help="left out: an importance is undefined"),
    )
    rows = [
        {
            "metric": one.metric,
            "explainer": one.explainer,
            "side": own.side,
            "measure": name,
            **_compared(values, control.measures[name], draws),
            "untagged": own.untagged,
            "all_tagged": own.all_tagged,
            "undefined": own.undefined,
        }
        for one in judged
        for own, control in zip(one.errors, one.errors_control, strict=True)
        for name, values in own.measures.items()
    ]
    note = (
        "Low importance stands for an error: where it is negative, the score rises without the"
        f" word. Means over sentences, {draws.confidence:.0%} bootstrap intervals over"
        f" {draws.resamples} resamples of segments; the gain is over the random explainer on the"
        " same sentences."
    )
    return Table("errors", "Explanations against marked errors", columns, tuple(rows), note)


def curves_table(judged: Sequence[Judged], draws: Draws) -> Table:
    """Areas under deletion and insertion curves, averaged over outputs."""
    columns = (
        *_columns(Column("curve", "Curve"), value="Mean area", digits=4),
        Column("sentences", "Sentences", "count"),
    )
    rows = []
    for one in judged:
        if one.curves is None or one.curves_control is None:
            continue
        for name, sign in (("deletion", -1.0), ("insertion", 1.0)):
            own, control = getattr(one.curves, name), getattr(one.curves_control, name)
            compared = _compared(own, control, draws, sign=sign)
            rows.append(
                {"metric": one.metric, "explainer": one.explainer, "curve": name, **compared}
            )
    note = (
        "Words are deleted (inserted) from the most to the least important: a faithful explanation"
        " has a small area under deletion and a large one under insertion. Gains are positive"
        " where it does better than the random explainer."
    )
    return Table("faithfulness", "Deletion and insertion", columns, tuple(rows), note)


def _compared(
    values: NDArray[np.float64], control: NDArray[np.float64], draws: Draws, *, sign: float = 1.0
) -> dict[str, Cell]:
    own, other = mean_of(values, draws), mean_of(control, draws)
    gain = mean_of(sign * (values - control), draws)
    return {
        "value": own.value,
        "low": own.low,
        "high": own.high,
        "random": other.value,
        "gain": gain.value,
        "gain_low": gain.low,
        "gain_high": gain.high,
        "sentences": own.n,
    }
