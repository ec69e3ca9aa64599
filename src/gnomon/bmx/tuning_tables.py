"""Results of a grid search, as a table of gains and a curve over p."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.core.findings import Lines, Listing
from gnomon.core.records import METRIC, EndColumns, Record, column
from gnomon.stats.holm import step_down
from gnomon.stats.student import mean_test

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.bmx.choices import Halves, Judged, Setting
    from gnomon.bmx.experiments import Experiment, Grids
    from gnomon.core.findings import View
    from gnomon.core.options import DrawOptions
    from gnomon.stats.holm import Stepped
    from gnomon.stats.resampling import Interval

    Floats = NDArray[np.float64]

__all__ = [
    "ALL_SETS",
    "HALVES",
    "HELD_BACK",
    "IN_TURN",
    "LEAST_UNITS",
    "ROUNDING",
    "TunedGain",
    "TuningPoint",
]

#: units that a test needs
LEAST_UNITS = 3
#: gains nearer to 0 are none
ROUNDING = 1e-9

#: data on which p and w were judged
IN_TURN, HELD_BACK, HALVES = "in turn", "held back", "halves"
#: the test sets of the row that speaks of all of an explainer's experiments
ALL_SETS = "all test sets"
METRIC_ALONE = "w = 1, the metric alone"
#: curves show every fifth of p up to 3, and whole numbers beyond
_NEAR = 3
_FINE = 5

_EXPLAINER: Any = column("Explainer", help="what explained, as it was given")
_EXPONENT: Any = column("p", digits=1, help="exponent of the power mean")
_WEIGHT: Any = column("w", digits=1, help="weight of the metric itself")


class TunedGain(Record):
    """Gain of p and w on data that they were not chosen on."""

    explainer: str = _EXPLAINER
    data: str | None = column(
        "Judged on",
        help="in turn: each test set, p and w chosen on those of other language pairs (where there"
        " is one pair, on the other test sets); held back: the test set that had no part in the"
        " choice; halves: the other half of the one test set's segments; empty: nothing",
    )
    dataset: str = column("Test set", help="name of the test set, or all of them together")
    language_pair: str | None = column("Language pair", help="such as de-en")
    metric: str | None = METRIC
    p: float | None = _EXPONENT
    w: float | None = _WEIGHT
    gain: float | None = column(
        "Gain",
        digits=4,
        better="higher",
        help="in correlation, over the metric alone; of all test sets, the mean over units",
        interval=EndColumns(how="over segments; of all test sets Student's, over units"),
    )
    over_control: float | None = column(
        "Over random",
        digits=4,
        better="higher",
        help="gain over the random explainer at the same weight, whose p is chosen as p was",
        interval=EndColumns("over_low", "over_high", how="Student's, over units"),
    )
    base: float | None = column(
        "Base", digits=4, help="Pearson's r of the metric alone with human scores"
    )
    n: int = column("n", help="experiments with a defined gain")
    lowest: float | None = column(
        "Lowest", digits=4, help="gain of all halves; no confidence interval"
    )
    highest: float | None = column("Highest", digits=4, help="gain of all halves")
    collapsed: float | None = column(
        "Collapsed", kind="share", digits=3, help="share of segments whose mean collapsed"
    )
    sides: str = column("Sides", help="whose words were explained")
    units: int | None = column(
        "Units", help="of all test sets: language pairs with a gain; of one pair, test sets"
    )
    p_value: float | None = column(
        "p of gain",
        digits=4,
        help="Student's, that the gain over random (or else the gain) is 0; corrected for the"
        " choice of p and w on the others, and after Holm over explainers",
    )
    decided: bool | None = column("Decided", help="whether p of gain is at most 1 - confidence")


class TuningPoint(Record):
    """A point of the correlation over p."""

    explainer: str = _EXPLAINER
    weight: str = column("Weight", help="w, in words")
    p: float = _EXPONENT
    w: float = _WEIGHT
    value: float | None = column(
        "Pearson's r",
        digits=4,
        help="of w S0 + (1 - w) M_p with human scores, mean over experiments",
    )
    sides: str = column("Sides", help="whose words were explained")


class TunedFamily(NamedTuple):
    """The experiments of one explainer, and what is known of each setting on them.

    - ``grids``: correlations of the experiments that are judged.
    - ``data``: what they are judged on; None for nothing.
    - ``setting``: chosen on all that it may be chosen on; ``None`` where nothing is defined.
    - ``judged``: each experiment at a setting that it had no part in.
    - ``halves``: each experiment's gains on halves of its segments.
    - ``intervals``: of gains over segments, by experiment.
    """

    grids: Grids
    data: str | None
    setting: Setting | None
    judged: Sequence[Judged]
    halves: Sequence[Halves]
    intervals: Mapping[Experiment, Interval]


def gain_rows(families: Sequence[TunedFamily], draws: DrawOptions) -> Iterator[TunedGain]:
    """Of each explainer all test sets together, then one row per experiment."""
    every = [[*_judged_rows(family), *_halves_rows(family)] for family in families]
    units = [family.grids.groups for family in families]
    gains, over = (
        [_unit_means(*one, name) for one in zip(units, every, strict=True)]
        for name in ("gain", "over_control")
    )
    alpha = round(1 - draws.confidence, 12)
    alone = _test_families(families, gains, alpha)
    tested = _test_families(families, [o or g for o, g in zip(over, gains, strict=True)], alpha)
    for place, (family, rows) in enumerate(zip(families, every, strict=True)):
        test, shares = tested[place], [row.collapsed for row in rows]
        own = alone[place] if over[place] else test
        yield _row(
            family,
            family.setting,
            dataset=ALL_SETS,
            gain=_mean(gains[place]),
            over_control=_mean(over[place]),
            intervals={
                "gain": (own.low, own.high),
                "over_control": (test.low, test.high) if over[place] else (None, None),
            },
            n=sum(row.n for row in rows),
            units=len(over[place] or gains[place]),
            p_value=test.p,
            decided=test.decided,
            collapsed=_mean(shares)
            if family.judged
            else _average_collapsed(family.grids, family.setting),
        )
        yield from rows


def _unit_means(units: Sequence[str], rows: Sequence[TunedGain], name: str) -> list[float]:
    """The mean of each unit that has a gain, without what is rounding."""
    values: dict[str, list[float]] = {}
    for unit, row in zip(units, rows, strict=False):  # of some families nothing is judged
        gain = getattr(row, name)
        if gain is not None:
            values.setdefault(unit, []).append(gain)
    means = [float(np.mean(some)) for some in values.values()]
    return [0.0 if abs(mean) < ROUNDING else mean for mean in means]


def _test_families(
    families: Sequence[TunedFamily], values: Sequence[Sequence[float]], alpha: float
) -> list[Stepped]:
    """The tests that means over units are 0, after Holm over what is judged on the same data."""
    data = [family.data for family in families]
    each = zip(values, data, strict=True)
    tests = [_test_of(own, chosen_on_others=name == IN_TURN) for own, name in each]
    return step_down(tests, alpha, data)


def _test_of(
    values: Sequence[float], *, chosen_on_others: bool
) -> Callable[[float], tuple[float, float, float]]:
    """A test for each level, of three units or more."""
    if len(values) < LEAST_UNITS:
        return lambda _: (math.nan,) * 3
    return partial(mean_test, values, chosen_on_others=chosen_on_others)


def _judged_rows(family: TunedFamily) -> Iterator[TunedGain]:
    for one in family.judged:
        interval = family.intervals.get(one.experiment)
        yield _row(
            family,
            one.setting,
            **_experiment(family.grids, one.place),
            base=one.base,
            gain=one.gain,
            over_control=one.gain_over_control,
            intervals={"gain": (interval.low, interval.high)} if interval else None,
            n=int(not math.isnan(one.gain)),
            collapsed=_average_collapsed(family.grids.take([one.place]), one.setting),
        )


def _halves_rows(family: TunedFamily) -> Iterator[TunedGain]:
    for place, halves in enumerate(family.halves):
        gains, over = (values[~np.isnan(values)] for values in halves)
        yield _row(
            family,
            None,
            **_experiment(family.grids, place),
            base=family.grids.base[place],
            gain=_mean(gains.tolist()),
            over_control=_mean(over.tolist()),
            n=int(len(gains) > 0),
            lowest=gains.min() if len(gains) else None,
            highest=gains.max() if len(gains) else None,
        )


_OPTIONAL = (
    "language_pair",
    "metric",
    "gain",
    "over_control",
    "base",
    "lowest",
    "highest",
    "collapsed",
    "units",
    "p_value",
    "decided",
)


def _row(family: TunedFamily, setting: Setting | None, **values: Any) -> TunedGain:
    """A row of a family; what it does not give is undefined."""
    first = family.grids.experiments[0]
    return TunedGain(
        **{
            **dict.fromkeys(_OPTIONAL),
            "explainer": first.explainer,
            "sides": first.sides,
            "data": family.data,
            "p": setting and setting.p,
            "w": setting and setting.w,
            **values,
        }
    )


def _experiment(grids: Grids, place: int) -> dict[str, Any]:
    """The cells that name an experiment."""
    experiment = grids.experiments[place]
    return {
        "dataset": experiment.dataset,
        "language_pair": experiment.language_pair,
        "metric": experiment.metric,
    }


def _average_collapsed(grids: Grids, setting: Setting | None) -> float | None:
    """Mean share of collapsed segments of some experiments at a setting."""
    if grids.collapsed is None or setting is None:
        return None
    return _mean(grids.collapsed[:, setting.row].tolist())


def _mean(values: Iterable[float | None]) -> float | None:
    defined = [value for value in values if value is not None and not math.isnan(value)]
    return float(np.mean(defined)) if defined else None


def curve_points(grids: Grids) -> Iterator[TuningPoint]:
    """Correlation over p for each weight, the mean over the experiments of one explainer."""
    defined = ~np.isnan(grids.base)
    if not defined.any():
        return
    first, means = grids.experiments[0], grids.correlations[defined].mean(axis=0)
    for number in reversed(range(len(grids.w))):
        w = float(grids.w[number])
        for row in _shown(grids.p):
            yield TuningPoint(
                explainer=first.explainer,
                weight=METRIC_ALONE if w == 1 else f"w = {w:g}",
                p=float(grids.p[row]),
                w=w,
                value=float(means[row, number]),
                sides=first.sides,
            )


def _shown(p: Floats) -> list[int]:
    near = (np.abs(p) <= _NEAR) & (np.abs(p * _FINE - np.rint(p * _FINE)) < 1e-9)
    whole = np.abs(p - np.rint(p)) < 1e-9
    ends = np.zeros(len(p), dtype=bool)
    ends[[0, -1]] = True
    return [int(i) for i in np.flatnonzero(near | whole | ends)]


def gain_views(sides: Iterable[str]) -> Iterator[View]:
    """Gains as a table, and a curve for each weight."""
    yield Listing("gains", "Gains where p and w were not chosen", _LISTED, most=_MOST)
    for side in dict.fromkeys(sides):
        title = "Correlation over p, a curve for each w"
        yield Lines(
            "curve",
            title if side == "both" else f"{title} (words of outputs alone)",
            "p",
            "value",
            "weight",
            panels="explainer",
            where={"sides": side},
            ink=METRIC_ALONE,
        )


_LISTED = (
    "explainer",
    "data",
    "dataset",
    "language_pair",
    "metric",
    "p",
    "w",
    "gain",
    "low",
    "high",
    "over_control",
)
#: rows that a terminal shows
_MOST = 24
