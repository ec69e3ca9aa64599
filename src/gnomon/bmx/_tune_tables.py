"""The columns of what a grid search found."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gnomon.bmx._choices import counts
from gnomon.bmx._experiments import FACTORS
from gnomon.bmx._outcomes import ALL_RULES, densities, gain_and_base, ridge_coefficients, spread
from gnomon.findings import Bars, Boxes, Column, Lines, Listing, Scatter, StackedBars, Table
from gnomon.stats.resampling import group_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.bmx._choices import Counts, Halves
    from gnomon.bmx._experiments import Experiment, Factor, Grids
    from gnomon.bmx._outcomes import Asked, Outcome
    from gnomon.findings import Cell, View

    Row = Mapping[str, Cell]
    Floats = NDArray[np.float64]


_EXPLAINER = Column("explainer", "Explainer")
_SIDES = Column("sides", "Sides", help="whose words were explained")
_RULE = Column(
    "rule",
    "Rule",
    help="how p and w were chosen; held-out: without the language pair that they are judged on;"
    " best: each experiment's own best; all but held-out are chosen on what they are judged on;"
    " most-improving and largest-mean never take w = 1: a gain of 0 or less says keep the metric",
)
_P = Column("p", "p", "number", 1, help="exponent of the power mean")
_W = Column("w", "w", "number", 1, help="weight of the metric itself")
_FACTOR = Column("factor", "Grouped by")
_LEVEL = Column("level", "Group")
_DATA = (
    Column("dataset", "Data"),
    Column("language_pair", "Language pair"),
    Column("metric", "Metric"),
)
_N = Column("n", "n", "count", help="experiments")
_COUNTS = (
    Column("better", "Better", "count", help="experiments with a gain above 0.00001"),
    Column("between", "Between", "count", help="neither better nor worse"),
    Column("worse", "Worse", "count", help="gain of 0 or less"),
)


def _number(name: str, title: str, told: str = "", digits: int = 4) -> Column:
    return Column(name, title, "number", digits, help=told)


_GAIN = Column(
    "gain", "Gain", "number", 4, better="higher", help="boosted less base", ends=("low", "high")
)

COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "settings": (
        _EXPLAINER,
        _RULE,
        _P,
        _W,
        Column(
            "mean_gain",
            "Mean gain",
            "number",
            4,
            better="higher",
            help="in correlation, over the metric alone, averaged over experiments",
            ends=("low", "high"),
        ),
        _number("low", "Low", "lower end of its interval over language pairs drawn whole"),
        _number("high", "High", "upper end"),
        *_COUNTS,
        Column(
            "over_control",
            "Over random",
            "number",
            4,
            better="higher",
            help="mean gain over the random explainer at the same weight, its p held out too",
            ends=("over_low", "over_high"),
        ),
        _number("over_low", "Low (random)", "lower end of its interval"),
        _number("over_high", "High (random)", "upper end"),
        Column("collapsed", "Collapsed", "share", 3, help="share of segments whose mean collapsed"),
        Column("median_p", "Median p", "number", 2, help="before it is put on the grid"),
        Column("median_w", "Median w", "number", 2, help="before it is put on the grid"),
        Column("chosen_from", "Chosen from", "count", help="experiments the rule looked at"),
        Column("undefined", "Undefined", "count", help="experiments without a correlation"),
        _SIDES,
    ),
    "experiments": (
        *_DATA,
        _EXPLAINER,
        _SIDES,
        _RULE,
        _P,
        _W,
        _number("base", "Base", "Pearson's r of the metric alone with human scores"),
        _number("boosted", "Boosted", "at this p and w"),
        _GAIN,
        _number("low", "Low", "lower end of the gain's interval over segments"),
        _number("high", "High", "upper end"),
        _number("over_control", "Over random", "gain over the random explainer"),
        Column("control_p", "p of random", "number", 1, help="chosen without this group, as p was"),
        Column("used", "Segments", "count", help="with a score, an explanation, a human score"),
        Column("left_out", "Left out", "count", help="segments that lack one of these"),
        Column("name", "Experiment"),
    ),
    "halves": (
        *_DATA,
        _EXPLAINER,
        _SIDES,
        _number("gain", "Gain", "mean over the halves that p and w were not chosen on"),
        _number("lowest", "Lowest", "of all halves; no confidence interval"),
        _number("highest", "Highest", "of all halves"),
        Column("positive", "Positive", "share", help="share of the halves with a gain"),
        _number("over_control", "Over random", "mean over the random explainer, same weight"),
        Column("n", "Halves", "count", help="on which it is defined"),
    ),
    "density": (
        _FACTOR,
        _LEVEL,
        _RULE,
        _number("gain", "Gain"),
        _number("density", "Density", "of gains, by Gaussian kernels", 2),
        _number("bandwidth", "Bandwidth", "of the kernels", 5),
    ),
    "spread": (
        _FACTOR,
        _LEVEL,
        _RULE,
        _number("low", "Low", "last gain within 1.5 boxes below the box"),
        _number("first_quartile", "1st quartile"),
        _number("median", "Median"),
        _number("third_quartile", "3rd quartile"),
        _number("high", "High", "last gain within 1.5 boxes above the box"),
        _number("mean", "Mean"),
        Column("outliers", "Outliers", "count", help="gains beyond low and high"),
        _N,
    ),
    "counts": (
        _FACTOR,
        _LEVEL,
        _RULE,
        *_COUNTS,
        Column("better_share", "Improved", "share", help="gain above 0.00001"),
        Column("between_share", "Between", "share"),
        Column("worse_share", "Decreased", "share", help="gain of 0 or less"),
        _N,
    ),
    "factors": (
        _FACTOR,
        _LEVEL,
        _RULE,
        _number("coefficient", "Coefficient", "ridge regression of the gain on indicators", 5),
        _N,
    ),
    "relation": (
        _EXPLAINER,
        _RULE,
        _number("value", "Pearson(C1 - C0, C0)", "do weak metrics gain more?"),
        _N,
    ),
    "curves": (
        Column("experiment", "Experiment"),
        Column("weight", "Weight"),
        _P,
        _W,
        _number("value", "Pearson's r", "of w S0 + (1 - w) M_p with human scores"),
    ),
    "iterations": (
        *_DATA,
        _EXPLAINER,
        _number("first", "First iteration", "correlation at its p and w", 6),
        _number("second", "Second at w = 1", "what it starts from", 6),
        Column("difference", "Difference", "number", 9, help="0 but for rounding"),
    ),
}
_TITLES = {
    "settings": "Settings, by rule",
    "experiments": "Gains of every experiment",
    "halves": "Gains on the other half of an experiment's own segments",
    "density": "Density of the gains",
    "spread": "Spread of the gains",
    "counts": "Experiments improved and decreased",
    "factors": "What goes along with a gain (ridge regression)",
    "relation": "Gain and base correlation",
    "curves": "Correlation over p",
    "iterations": "Where second iterations start",
}


def table(name: str, rows: Sequence[Row], note: str = "") -> Table:
    """A table of that name."""
    return Table(name, _TITLES[name], COLUMNS[name], tuple(rows), note)


# Rows of the tables of a grid search.


METRIC_ALONE = "w = 1, the metric alone"
#: curves show every fifth of p up to 3, and every whole one beyond
_NEAR, _FINE = 3, 5


def setting_rows(grids: Grids, found: Sequence[Outcome], asked: Asked) -> Iterator[Row]:
    """One row per rule for the experiments of one explainer."""
    explainer, sides = grids.experiments[0].explainer, grids.experiments[0].sides
    for rule in ALL_RULES:
        some = [one for one in found if one.rule == rule]
        if not some:
            continue
        groups = [str(getattr(one.experiment, asked.held_out_by)) for one in some]
        drawn = {"count": asked.count, "seed": asked.seed}
        mean, over = (
            group_interval(values, groups, confidence=asked.confidence, **drawn)
            for values in ([o.gain for o in some], [o.over_control for o in some])
        )
        number = counts(np.array([one.gain for one in some]))
        points = {one.setting for one in some}
        setting = next(iter(points)) if len(points) == 1 else None
        yield {
            "explainer": explainer,
            "rule": rule,
            "p": setting and setting.p,
            "w": setting and setting.w,
            "mean_gain": _known(mean.estimate),
            "low": _known(mean.low),
            "high": _known(mean.high),
            "better": number.better,
            "between": number.between,
            "worse": number.worse,
            "over_control": _known(over.estimate),
            "over_low": _known(over.low),
            "over_high": _known(over.high),
            "collapsed": _collapsed(grids, some),
            "median_p": setting.median_p if setting and "median" in rule else None,
            "median_w": setting.median_w if setting and "median" in rule else None,
            "chosen_from": setting and setting.experiments,
            "undefined": number.undefined,
            "sides": sides,
        }


def experiment_rows(grids: Grids, found: Sequence[Outcome]) -> Iterator[Row]:
    """One row per experiment and rule."""
    places = {one: i for i, one in enumerate(grids.experiments)}
    for o in found:
        one, place = o.experiment, places[o.experiment]
        yield {
            **_names(one),
            "rule": o.rule,
            "p": o.setting and o.setting.p,
            "w": o.setting and o.setting.w,
            "base": _known(o.base),
            "boosted": _known(o.boosted),
            "gain": _known(o.gain),
            "low": _known(o.low),
            "high": _known(o.high),
            "over_control": _known(o.over_control),
            "control_p": _known(o.control_p),
            "used": None if grids.used is None else grids.used[place],
            "left_out": None if grids.left_out is None else grids.left_out[place],
            "name": str(one),
        }


def halves_row(one: Experiment, found: Halves) -> Row:
    """Held-out gains within one experiment."""
    known = found.gains[~np.isnan(found.gains)]
    over = found.over_control[~np.isnan(found.over_control)]
    return {
        **_names(one),
        "gain": float(known.mean()) if len(known) else None,
        "lowest": float(known.min()) if len(known) else None,
        "highest": float(known.max()) if len(known) else None,
        "positive": float((known > 0).mean()) if len(known) else None,
        "over_control": float(over.mean()) if len(over) else None,
        "n": len(known),
    }


def distribution_rows(
    found: Sequence[Outcome], asked: Asked
) -> tuple[list[Row], list[Row], list[Row], list[Row]]:
    """Rows of density, spread, counts and factors: gains by every factor with several levels."""
    tables: tuple[list[Row], list[Row], list[Row], list[Row]] = ([], [], [], [])
    factors = [f for f in FACTORS if len({getattr(o.experiment, f) for o in found}) > 1]
    for rule in dict.fromkeys(o.rule for o in found):
        some = [o for o in found if o.rule == rule]
        for factor in factors or FACTORS[:1]:
            named = {"factor": _said(factor), "rule": rule}
            for rows, more in zip(tables, _of_factor(some, factor), strict=False):
                rows += [{**named, **row} for row in more]
        tables[3].extend(_factor_rows(some, factors, asked.alpha, rule))
    return tables


def relation_rows(found: Sequence[Outcome]) -> Iterator[Row]:
    """Pearson(C1 - C0, C0), by explainer and over all."""
    names = list(dict.fromkeys(o.experiment.explainer for o in found))
    for rule in dict.fromkeys(o.rule for o in found):
        for name in [*names, *(["all"] if len(names) > 1 else [])]:
            some = [o for o in found if o.rule == rule and name in ("all", o.experiment.explainer)]
            gains, base = np.array([(o.gain, o.base) for o in some]).T
            known = int((~np.isnan(gains) & ~np.isnan(base)).sum())
            value = _known(gain_and_base(gains, base))
            yield {"explainer": name, "rule": rule, "value": value, "n": known}


def curve_rows(grids: Grids, found: Sequence[Outcome], most: int) -> Iterator[Row]:
    """Correlation over p for some experiments, from the largest gain to the largest loss."""
    defined = [o for o in found if o.rule == "median" and not math.isnan(o.base)]
    ordered = sorted(defined, key=lambda o: -math.inf if math.isnan(o.gain) else -o.gain)
    places = np.unique(np.linspace(0, len(ordered) - 1, min(most, len(ordered))).astype(int))
    for place in places.tolist() if ordered and most > 0 else []:
        one = ordered[place].experiment
        grid = grids.of(one)
        for column in reversed(range(len(grids.w))):
            w = float(grids.w[column])
            for row in _shown(grids.p):
                yield {
                    "experiment": str(one),
                    "weight": METRIC_ALONE if w == 1 else f"w = {w:g}",
                    "p": float(grids.p[row]),
                    "w": w,
                    "value": _known(float(grid[row, column])),
                }


def _names(one: Experiment) -> dict[str, Cell]:
    names = ("dataset", "language_pair", "metric", "explainer", "sides")
    return {name: getattr(one, name) for name in names}


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _said(factor: Factor) -> str:
    return factor.replace("_", " ")


def _collapsed(grids: Grids, some: Sequence[Outcome]) -> float | None:
    """Mean share of collapsed segments of some experiments, at the p of each."""
    if grids.collapsed is None:
        return None
    places = {one: i for i, one in enumerate(grids.experiments)}
    rows = [(places[o.experiment], o.setting.row) for o in some if o.setting]
    shares = np.array([grids.collapsed[place, row] for place, row in rows])
    known = shares[~np.isnan(shares)]
    return float(known.mean()) if len(known) else None


def _of_factor(some: Sequence[Outcome], factor: Factor) -> tuple[list[Row], list[Row], list[Row]]:
    """Rows of density, spread and counts, level by level."""
    levels = dict.fromkeys(str(getattr(o.experiment, factor)) for o in some)
    gains = {
        level: np.array([o.gain for o in some if getattr(o.experiment, factor) == level])
        for level in levels
    }
    curves: list[Row] = [
        {"level": level, "gain": x, "density": y, "bandwidth": curve.bandwidth}
        for level, curve in densities(gains).items()
        for x, y in zip(curve.gain.tolist(), curve.density.tolist(), strict=True)
    ]
    boxes: list[Row] = [
        {"level": level, **box._asdict(), "outliers": len(box.outliers)}
        for level, mine in gains.items()
        if (box := spread(mine)) is not None
    ]
    return curves, boxes, [_counted(level, counts(mine)) for level, mine in gains.items()]


def _counted(level: str, number: Counts) -> Row:
    kinds = {"better": number.better, "between": number.between, "worse": number.worse}
    n = number.defined
    shares = {f"{kind}_share": value / n if n else None for kind, value in kinds.items()}
    return {"level": level, **kinds, **shares, "n": n}


def _factor_rows(
    some: Sequence[Outcome], factors: Sequence[Factor], alpha: float, rule: str
) -> Iterator[Row]:
    gains = np.array([o.gain for o in some])
    for one in ridge_coefficients([o.experiment for o in some], gains, factors, alpha=alpha):
        yield {
            "factor": one.factor.replace("_", " "),
            "level": one.level,
            "rule": rule,
            "coefficient": one.value,
            "n": one.n,
        }


def _shown(p: Floats) -> list[int]:
    near = (np.abs(p) <= _NEAR) & (np.abs(p * _FINE - np.rint(p * _FINE)) < 1e-9)
    whole = np.abs(p - np.rint(p)) < 1e-9
    ends = np.zeros(len(p), dtype=bool)
    ends[[0, -1]] = True
    return [int(i) for i in np.flatnonzero(near | whole | ends)]


# How what a grid search found may be looked at.


_FIRST = "median"
_SETTINGS = (
    "explainer",
    "rule",
    "p",
    "w",
    "mean_gain",
    "low",
    "high",
    "better",
    "worse",
    "over_control",
)
_BOX = ("low", "first_quartile", "median", "third_quartile", "high")
_HALVES = (
    "dataset",
    "language_pair",
    "metric",
    "explainer",
    "gain",
    "lowest",
    "highest",
    "positive",
    "over_control",
)
_FEW = 4


def views(tables: Mapping[str, Table]) -> tuple[View, ...]:
    """The views of the tables that have rows."""
    return tuple(view for view in _all(tables) if view.table in tables)


def _all(tables: Mapping[str, Table]) -> Iterator[View]:
    shown = [
        name
        for name in _SETTINGS
        if any(value is not None for value in tables["settings"].values(name))
    ]
    yield Listing("settings", "Settings by rule", tuple(shown))
    experiments = dict.fromkeys(tables["experiments"].values("name"))
    if len(experiments) <= _FEW:
        yield Listing(
            "experiments",
            "Every experiment",
            ("name", "rule", "p", "w", "base", "boosted", "gain", "low", "high"),
        )
    yield Listing(
        "halves",
        "Chosen on one half, measured on the other",
        _HALVES,
        most=_FEW,
    )
    yield Listing(
        "relation", "Do weak metrics gain more?", ("explainer", "value", "n"), {"rule": _FIRST}
    )
    yield Listing(
        "iterations",
        "Where second iterations start",
        ("language_pair", "metric", "first", "second", "difference"),
    )
    yield Lines(
        "curves",
        "Correlation over p, a curve for each w",
        "p",
        "value",
        "weight",
        panels="experiment",
        ink=METRIC_ALONE,
    )
    yield from _by_factor(tables)
    for rule in _distinct(tables, "experiments", "rule"):
        yield Scatter(
            "experiments",
            "Gain over the metric's own correlation",
            "base",
            "gain",
            "name",
            "explainer",
            where={"rule": rule},
        )


def _by_factor(tables: Mapping[str, Table]) -> Iterator[View]:
    for rule in _distinct(tables, "density", "rule"):
        for factor in _distinct(tables, "density", "factor"):
            where = {"factor": factor, "rule": rule}
            yield Lines("density", "Density of gains", "gain", "density", "level", where=where)
    for rule in _distinct(tables, "spread", "rule"):
        for factor in _distinct(tables, "spread", "factor"):
            where = {"factor": factor, "rule": rule}
            yield Boxes("spread", "Spread of gains", "level", _BOX, where, beside="n")
    for factor in _distinct(tables, "counts", "factor"):
        yield StackedBars(
            "counts",
            "Experiments improved and decreased",
            "level",
            "rule",
            ("worse_share", "between_share", "better_share"),
            where={"factor": factor},
        )
    for factor in _distinct(tables, "factors", "factor"):
        yield Bars(
            "factors",
            "What goes along with a gain: ridge coefficients",
            "level",
            "rule",
            ("coefficient",),
            where={"factor": factor},
            shown=(_FIRST,),
            most=2,
        )


def _distinct(tables: Mapping[str, Table], name: str, column: str) -> list[Cell]:
    """The values of a column that occur, in order; none where there is no such table."""
    return list(dict.fromkeys(tables[name].values(column))) if name in tables else []
