"""The columns of what a grid search found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.findings import Column, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.findings import Cell

    Row = Mapping[str, Cell]

__all__ = ["COLUMNS", "table"]

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
