"""Figures 3 to 13 as tables and views: what gains go along with, and how they spread."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.findings import Bars, Boxes, Lines, Listing, Scatter, StackedBars
from gnomon.core.records import Record, column
from gnomon.methods.bmx._choices import best_settings, counts
from gnomon.methods.bmx._experiments import FACTORS
from gnomon.methods.bmx.paper.gain_statistics import (
    densities,
    gain_and_base,
    ridge_coefficients,
    spread,
)
from gnomon.methods.bmx.paper.second_iteration import IterationStart
from gnomon.methods.bmx.tuning_columns import (
    BETTER,
    BETWEEN,
    EXPERIMENTS,
    EXPLAINER,
    EXPONENT,
    RULE,
    WEIGHT,
    WORSE,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.findings import Cell, Table, View
    from gnomon.methods.bmx._experiments import Experiment, Factor, Grids
    from gnomon.methods.bmx._outcomes import RuleOutcome, TuneOptions

    Floats = NDArray[np.float64]

METRIC_ALONE = "w = 1, the metric alone"
#: the rule of densities over the whole grid
ALL_SETTINGS = "all p and w"
#: curves show every fifth of p up to 3, and whole numbers beyond
_NEAR = 3
_FINE = 5

_FACTOR: Any = column("Grouped by", help="which name of the experiments groups them")
_LEVEL: Any = column("Group", help="the experiments of that name")


class GainDensity(Record):
    """A point of the density of gains."""

    factor: str = _FACTOR
    level: str = _LEVEL
    rule: str = RULE
    gain: float = column("Gain", digits=4, help="boosted less base")
    density: float = column("Density", help="of gains, by Gaussian kernels")
    bandwidth: float = column("Bandwidth", digits=5, help="of the kernels")


class GainSpread(Record):
    """The numbers of a box plot of gains."""

    factor: str = _FACTOR
    level: str = _LEVEL
    rule: str = RULE
    low: float = column("Low", digits=4, help="last gain within 1.5 boxes below the box")
    first_quartile: float = column("1st quartile", digits=4, help="lower end of the box")
    median: float = column("Median", digits=4, help="half of the gains lie above")
    third_quartile: float = column("3rd quartile", digits=4, help="upper end of the box")
    high: float = column("High", digits=4, help="last gain within 1.5 boxes above the box")
    mean: float = column("Mean", digits=4, help="of the gains")
    outliers: int = column("Outliers", help="gains beyond low and high")
    n: int = EXPERIMENTS


class GainCounts(Record):
    """How many experiments a rule makes better and worse."""

    factor: str = _FACTOR
    level: str = _LEVEL
    rule: str = RULE
    better: int = BETTER
    between: int = BETWEEN
    worse: int = WORSE
    better_share: float | None = column("Improved", kind="share", help="gain above 0.00001")
    between_share: float | None = column("Between", kind="share", help="neither better nor worse")
    worse_share: float | None = column("Decreased", kind="share", help="gain of 0 or less")
    n: int = EXPERIMENTS


class GainFactor(Record):
    """What a level of a factor adds to the gain."""

    factor: str = _FACTOR
    level: str = _LEVEL
    rule: str = RULE
    coefficient: float = column(
        "Coefficient", digits=5, help="ridge regression of the gain on indicators"
    )
    n: int = EXPERIMENTS


class GainRelation(Record):
    """How the gain goes along with the metric's own correlation."""

    explainer: str = EXPLAINER
    rule: str = RULE
    value: float | None = column(
        "Pearson(C1 - C0, C0)", digits=4, help="do weak metrics gain more?"
    )
    n: int = EXPERIMENTS


class GridCurve(Record):
    """A point of the correlation over p."""

    experiment: str = column("Experiment", help="all its names")
    weight: str = column("Weight", help="w, in words")
    p: float = EXPONENT
    w: float = WEIGHT
    value: float | None = column(
        "Pearson's r", digits=4, help="of w S0 + (1 - w) M_p with human scores"
    )


class BestSpread(Record):
    """The numbers of a box plot of the best p, or w, of every experiment (figure 5)."""

    factor: str = _FACTOR
    level: str = _LEVEL
    parameter: str = column("Parameter", help="p or w")
    low: float = column("Low", help="last value within 1.5 boxes below the box")
    first_quartile: float = column("1st quartile", help="lower end of the box")
    median: float = column("Median", help="half of the values lie above")
    third_quartile: float = column("3rd quartile", help="upper end of the box")
    high: float = column("High", help="last value within 1.5 boxes above the box")
    mean: float = column("Mean", help="of the values")
    outliers: int = column("Outliers", help="values beyond low and high")
    n: int = EXPERIMENTS


#: records and titles of the tables, by their names
ROWS: Mapping[str, type[Record]] = {
    "density": GainDensity,
    "spread": GainSpread,
    "counts": GainCounts,
    "factors": GainFactor,
    "relation": GainRelation,
    "curves": GridCurve,
    "iterations": IterationStart,
    "grid_density": GainDensity,
    "best_spread": BestSpread,
}
TITLES = {
    "density": "Density of the gains",
    "spread": "Spread of the gains",
    "counts": "Experiments improved and decreased",
    "factors": "What goes along with a gain (ridge regression)",
    "relation": "Gain and base correlation",
    "curves": "Correlation over p",
    "iterations": "Second iterations",
    "grid_density": "Density of the gains over all p and w",
    "best_spread": "The best p and w of every experiment",
}
HELD_BACK_ROWS: Mapping[str, type[Record]] = {
    "held_back_density": GainDensity,
    "held_back_counts": GainCounts,
    "held_back_curves": GridCurve,
}
HELD_BACK_TITLES = {
    "held_back_density": "Density of the gains on held-back data",
    "held_back_counts": "Held-back experiments improved and decreased",
    "held_back_curves": "Correlation over p on held-back data",
}


def figure_rows(
    grids: Grids,
    controls: Grids,
    outcomes: Sequence[RuleOutcome],
    iterations: Sequence[IterationStart],
    options: TuneOptions,
) -> dict[str, Sequence[Record]]:
    """Rows of all tables, by their names."""
    return {
        **distribution_rows(outcomes, options),
        "relation": list(relation_rows(outcomes)),
        "curves": list(curve_rows(grids, outcomes, options.curves)),
        "iterations": iterations,
        "grid_density": list(grid_density_rows(grids, controls)),
        "best_spread": list(best_spread_rows(grids)),
    }


def held_back_figure_rows(
    grids: Grids, outcomes: Sequence[RuleOutcome], options: TuneOptions, rule: str
) -> dict[str, Sequence[Record]]:
    """The same of experiments that were held back; curves of the best and worst under a rule."""
    rows = distribution_rows(outcomes, options)
    return {
        "held_back_density": rows["density"],
        "held_back_counts": rows["counts"],
        "held_back_curves": list(curve_rows(grids, outcomes, options.curves, rule=rule)),
    }


def grid_density_rows(grids: Grids, controls: Grids) -> Iterator[GainDensity]:
    """Density of the gains over all p and w, the random explainer's on the same data, too."""
    data = {experiment.data for experiment in grids.experiments}
    beside = controls.take(
        [i for i, experiment in enumerate(controls.experiments) if experiment.data in data]
    )
    for factor in _several_factors(grids.experiments):
        gains = {level: _boosted(grids.where(**{factor: level})) for level in grids.levels(factor)}
        if factor == "explainer":
            gains |= {
                level: _boosted(beside.where(explainer=level))
                for level in beside.levels("explainer")
            }
        yield from _density_rows(gains, {"factor": _in_words(factor), "rule": ALL_SETTINGS})


def _boosted(grids: Grids) -> NDArray[np.float64]:
    """Gains at every p and w but w = 1, the metric alone, which gains nothing."""
    return np.asarray(grids.gains[..., :-1].ravel())


def best_spread_rows(grids: Grids) -> Iterator[BestSpread]:
    """Boxes of the best p and w of all experiments, by every factor with several levels."""
    rows, columns = best_settings(grids).T
    for factor in _several_factors(grids.experiments):
        for parameter, values in (("p", grids.p[rows]), ("w", grids.w[columns])):
            best = np.where(rows < 0, np.nan, values)
            for level in grids.levels(factor):
                mine = [getattr(experiment, factor) == level for experiment in grids.experiments]
                box = spread(best[mine])
                if box is not None:
                    numbers: dict[str, Any] = {**box._asdict(), "outliers": len(box.outliers)}
                    yield BestSpread(
                        factor=_in_words(factor), level=level, parameter=parameter, **numbers
                    )


def _several_factors(experiments: Sequence[Experiment]) -> Sequence[Factor]:
    """The factors with several levels; the first one, the explainer, in any case."""
    several = [
        f for f in FACTORS[1:] if len({getattr(experiment, f) for experiment in experiments}) > 1
    ]
    return [FACTORS[0], *several]


def distribution_rows(
    outcomes: Sequence[RuleOutcome], options: TuneOptions
) -> dict[str, list[Record]]:
    """Rows of density, spread, counts and factors: gains by every factor with several levels."""
    rows: dict[str, list[Record]] = {"density": [], "spread": [], "counts": [], "factors": []}
    factors = [f for f in FACTORS if len({getattr(o.experiment, f) for o in outcomes}) > 1]
    for rule in dict.fromkeys(o.rule for o in outcomes):
        some = [o for o in outcomes if o.rule == rule]
        for factor in factors or FACTORS[:1]:
            levels = dict.fromkeys(str(getattr(o.experiment, factor)) for o in some)
            gains = {
                level: np.array([o.gain for o in some if getattr(o.experiment, factor) == level])
                for level in levels
            }
            named = {"factor": _in_words(factor), "rule": rule}
            rows["density"] += _density_rows(gains, named)
            rows["spread"] += _spread_rows(gains, named)
            rows["counts"] += [_counted(mine, level, named) for level, mine in gains.items()]
        rows["factors"] += _factor_rows(some, factors, options.ridge, rule)
    return rows


def relation_rows(outcomes: Sequence[RuleOutcome]) -> Iterator[GainRelation]:
    """Pearson(C1 - C0, C0), by explainer and over all."""
    names = list(dict.fromkeys(o.experiment.explainer for o in outcomes))
    for rule in dict.fromkeys(o.rule for o in outcomes):
        for name in [*names, *(["all"] if len(names) > 1 else [])]:
            some = [
                o for o in outcomes if o.rule == rule and name in ("all", o.experiment.explainer)
            ]
            gains, base = np.array([(o.gain, o.base) for o in some]).T
            defined = int((~np.isnan(gains) & ~np.isnan(base)).sum())
            yield GainRelation(
                explainer=name, rule=rule, value=gain_and_base(gains, base), n=defined
            )


def curve_rows(
    grids: Grids, outcomes: Sequence[RuleOutcome], most: int, *, rule: str = "median"
) -> Iterator[GridCurve]:
    """Correlation over p for some experiments, from the largest gain to the largest loss."""
    defined = [o for o in outcomes if o.rule == rule and not math.isnan(o.base)]
    ordered = sorted(defined, key=lambda o: -math.inf if math.isnan(o.gain) else -o.gain)
    places = np.unique(np.linspace(0, len(ordered) - 1, min(most, len(ordered))).astype(int))
    for index in places.tolist() if ordered and most > 0 else []:
        experiment = ordered[index].experiment
        grid = grids.of(experiment)
        for number in reversed(range(len(grids.w))):
            w = float(grids.w[number])
            for row in _shown(grids.p):
                yield GridCurve(
                    experiment=str(experiment),
                    weight=METRIC_ALONE if w == 1 else f"w = {w:g}",
                    p=float(grids.p[row]),
                    w=w,
                    value=float(grid[row, number]),
                )


def _in_words(factor: Factor) -> str:
    return factor.replace("_", " ")


def _density_rows(gains: Mapping[str, Floats], named: Mapping[str, Any]) -> Iterator[GainDensity]:
    for level, curve in densities(gains).items():
        for x, y in zip(curve.gain.tolist(), curve.density.tolist(), strict=True):
            yield GainDensity(**named, level=level, gain=x, density=y, bandwidth=curve.bandwidth)


def _spread_rows(gains: Mapping[str, Floats], named: Mapping[str, Any]) -> Iterator[GainSpread]:
    for level, mine in gains.items():
        box = spread(mine)
        if box is not None:
            numbers: dict[str, Any] = {**box._asdict(), "outliers": len(box.outliers)}
            yield GainSpread(**named, level=level, **numbers)


def _counted(gains: Floats, level: str, named: Mapping[str, Any]) -> GainCounts:
    number = counts(gains)
    kinds: dict[str, Any] = {
        "better": number.better,
        "between": number.between,
        "worse": number.worse,
    }
    n = number.defined
    shares: dict[str, Any] = {
        f"{kind}_share": value / n if n else None for kind, value in kinds.items()
    }
    return GainCounts(**named, level=level, **kinds, **shares, n=n)


def _factor_rows(
    some: Sequence[RuleOutcome], factors: Sequence[Factor], ridge: float, rule: str
) -> Iterator[GainFactor]:
    gains = np.array([o.gain for o in some])
    for coefficient in ridge_coefficients(
        [o.experiment for o in some], gains, factors, ridge=ridge
    ):
        yield GainFactor(
            factor=coefficient.factor.replace("_", " "),
            level=coefficient.level,
            rule=rule,
            coefficient=coefficient.value,
            n=coefficient.n,
        )


def _shown(p: Floats) -> list[int]:
    near = (np.abs(p) <= _NEAR) & (np.abs(p * _FINE - np.rint(p * _FINE)) < 1e-9)
    whole = np.abs(p - np.rint(p)) < 1e-9
    ends = np.zeros(len(p), dtype=bool)
    ends[[0, -1]] = True
    return [int(i) for i in np.flatnonzero(near | whole | ends)]


# Views


_FIRST = "median"
_BOX = ("low", "first_quartile", "median", "third_quartile", "high")


def listings() -> Iterator[View]:
    """Tables after those of the settings."""
    yield Listing(
        "relation", "Do weak metrics gain more?", ("explainer", "value", "n"), {"rule": _FIRST}
    )
    yield Listing(
        "iterations",
        "Second iterations: where they start, and what they add",
        ("language_pair", "boosts", "explainer", "base", "first", "second", "again", "best"),
    )


def pictures(tables: Mapping[str, Table]) -> Iterator[View]:
    """Curves, densities, boxes, bars and points."""
    yield _curves("curves", "Correlation over p, a curve for each w")
    yield from _whole_grid(tables)
    yield from _by_factor(tables)
    yield from _held_back(tables)
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


def _whole_grid(tables: Mapping[str, Table]) -> Iterator[View]:
    for factor in _distinct(tables, "grid_density", "factor"):
        title = "Density of gains over all p and w"
        where = {"factor": factor}
        yield Lines("grid_density", title, "gain", "density", "level", where=where)
    for factor in _distinct(tables, "best_spread", "factor"):
        for parameter in ("p", "w"):
            where = {"factor": factor, "parameter": parameter}
            title = "The best p and w of every experiment"
            yield Boxes("best_spread", title, "level", _BOX, where, beside="n")


def _held_back(tables: Mapping[str, Table]) -> Iterator[View]:
    title = "Density of gains on held-back data"
    yield from _densities(tables, "held_back_density", title)
    title = "Held-back experiments improved and decreased"
    yield from _counts(tables, "held_back_counts", title)
    title = "Correlation over p on held-back data, a curve for each w"
    yield _curves("held_back_curves", title)


def _by_factor(tables: Mapping[str, Table]) -> Iterator[View]:
    yield from _densities(tables, "density", "Density of gains")
    for rule in _distinct(tables, "spread", "rule"):
        for factor in _distinct(tables, "spread", "factor"):
            where = {"factor": factor, "rule": rule}
            yield Boxes("spread", "Spread of gains", "level", _BOX, where, beside="n")
    yield from _counts(tables, "counts", "Experiments improved and decreased")
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


def _curves(name: str, title: str) -> Lines:
    return Lines(name, title, "p", "value", "weight", panels="experiment", ink=METRIC_ALONE)


def _densities(tables: Mapping[str, Table], name: str, title: str) -> Iterator[Lines]:
    for rule in _distinct(tables, name, "rule"):
        for factor in _distinct(tables, name, "factor"):
            where = {"factor": factor, "rule": rule}
            yield Lines(name, title, "gain", "density", "level", where=where)


def _counts(tables: Mapping[str, Table], name: str, title: str) -> Iterator[StackedBars]:
    shares = ("worse_share", "between_share", "better_share")
    for factor in _distinct(tables, name, "factor"):
        yield StackedBars(name, title, "level", "rule", shares, where={"factor": factor})


def _distinct(tables: Mapping[str, Table], name: str, column: str) -> list[Cell]:
    """The values of a column that occur, in order; none where there is no such table."""
    return list(dict.fromkeys(tables[name].values(column))) if name in tables else []
