"""What a grid search found, as tables and views."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.findings import Bars, Boxes, Lines, Listing, Scatter, StackedBars
from gnomon.core.records import METRIC, Record, column
from gnomon.core.records import table as table_of
from gnomon.methods.bmx._choices import best_settings, counts
from gnomon.methods.bmx._experiments import FACTORS
from gnomon.methods.bmx._outcomes import (
    ALL_RULES,
    densities,
    gain_and_base,
    ridge_coefficients,
    spread,
)
from gnomon.stats.resampling import group_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.findings import Cell, Table, View
    from gnomon.methods.bmx._choices import Halves
    from gnomon.methods.bmx._experiments import Experiment, Factor, Grids
    from gnomon.methods.bmx._outcomes import Iteration, RuleOutcome, TuneOptions

    Floats = NDArray[np.float64]

__all__ = []


METRIC_ALONE = "w = 1, the metric alone"
#: the rule of densities that look at the whole grid
ALL_SETTINGS = "all p and w"
#: curves show every fifth of p up to 3, and every whole one beyond
_NEAR, _FINE = 3, 5

_EXPLAINER: Any = column("Explainer", help="what explained, as it was given")
_SIDES: Any = column("Sides", help="whose words were explained")
_RULE: Any = column(
    "Rule",
    help="how p and w were chosen; held-out: without the language pair that they are judged on;"
    " best: each experiment's own best; published: the paper's; fixed: as given; all but held-out,"
    " published and fixed are chosen on what they are judged on;"
    " most-improving and largest-mean never take w = 1: a gain of 0 or less says keep the metric",
)
_P: Any = column("p", digits=1, help="exponent of the power mean")
_W: Any = column("w", digits=1, help="weight of the metric itself")
_FACTOR: Any = column("Grouped by", help="which name of the experiments groups them")
_LEVEL: Any = column("Group", help="the experiments of that name")
_DATASET: Any = column("Data", help="name of the test set")
_LANGUAGE_PAIR: Any = column("Language pair", help="such as de-en")
_N: Any = column("n", help="experiments")
_BETTER: Any = column("Better", help="experiments with a gain above 0.00001")
_BETWEEN: Any = column("Between", help="neither better nor worse")
_WORSE: Any = column("Worse", help="gain of 0 or less")


class TunedSetting(Record):
    """A rule, and what its setting gains over the experiments of one explainer."""

    explainer: str = _EXPLAINER
    rule: str = _RULE
    p: float | None = _P
    w: float | None = _W
    mean_gain: float | None = column(
        "Mean gain",
        digits=4,
        better="higher",
        help="in correlation, over the metric alone, averaged over experiments",
        ends=("low", "high"),
    )
    low: float | None = column(
        "Low", digits=4, help="lower end of its interval over language pairs drawn whole"
    )
    high: float | None = column("High", digits=4, help="upper end")
    better: int = _BETTER
    between: int = _BETWEEN
    worse: int = _WORSE
    over_control: float | None = column(
        "Over random",
        digits=4,
        better="higher",
        help="mean gain over the random explainer at the same weight, its p held out too",
        ends=("over_low", "over_high"),
    )
    over_low: float | None = column("Low (random)", digits=4, help="lower end of its interval")
    over_high: float | None = column("High (random)", digits=4, help="upper end")
    collapsed: float | None = column(
        "Collapsed", kind="share", digits=3, help="share of segments whose mean collapsed"
    )
    median_p: float | None = column("Median p", help="before it is put on the grid")
    median_w: float | None = column("Median w", help="before it is put on the grid")
    chosen_from: int | None = column("Chosen from", help="experiments that the rule used")
    undefined: int = column("Undefined", help="experiments without a correlation")
    sides: str = _SIDES


class ExperimentGain(Record):
    """What one experiment gains under one rule."""

    dataset: str = _DATASET
    language_pair: str = _LANGUAGE_PAIR
    metric: str = METRIC
    explainer: str = _EXPLAINER
    sides: str = _SIDES
    rule: str = _RULE
    p: float | None = _P
    w: float | None = _W
    base: float | None = column(
        "Base", digits=4, help="Pearson's r of the metric alone with human scores"
    )
    boosted: float | None = column("Boosted", digits=4, help="at this p and w")
    gain: float | None = column(
        "Gain", digits=4, better="higher", help="boosted less base", ends=("low", "high")
    )
    low: float | None = column(
        "Low", digits=4, help="lower end of the gain's interval over segments"
    )
    high: float | None = column("High", digits=4, help="upper end")
    over_control: float | None = column(
        "Over random", digits=4, help="gain over the random explainer"
    )
    control_p: float | None = column(
        "p of random", digits=1, help="chosen without this group, as p was"
    )
    used: int | None = column("Segments", help="with a score, an explanation, a human score")
    left_out: int | None = column("Left out", help="segments that lack one of these")
    name: str = column("Experiment", help="all its names")


class HalvesGain(Record):
    """Gains on the halves of an experiment's segments that settings were not chosen on."""

    dataset: str = _DATASET
    language_pair: str = _LANGUAGE_PAIR
    metric: str = METRIC
    explainer: str = _EXPLAINER
    sides: str = _SIDES
    gain: float | None = column(
        "Gain", digits=4, help="mean over the halves that p and w were not chosen on"
    )
    lowest: float | None = column("Lowest", digits=4, help="of all halves; no confidence interval")
    highest: float | None = column("Highest", digits=4, help="of all halves")
    positive: float | None = column(
        "Positive", kind="share", help="share of the halves with a gain"
    )
    over_control: float | None = column(
        "Over random", digits=4, help="mean over the random explainer, same weight"
    )
    n: int = column("Halves", help="on which it is defined")


class GainDensity(Record):
    """A point of the density of gains."""

    factor: str = _FACTOR
    level: str = _LEVEL
    rule: str = _RULE
    gain: float = column("Gain", digits=4, help="boosted less base")
    density: float = column("Density", help="of gains, by Gaussian kernels")
    bandwidth: float = column("Bandwidth", digits=5, help="of the kernels")


class GainSpread(Record):
    """The numbers of a box plot of gains."""

    factor: str = _FACTOR
    level: str = _LEVEL
    rule: str = _RULE
    low: float = column("Low", digits=4, help="last gain within 1.5 boxes below the box")
    first_quartile: float = column("1st quartile", digits=4, help="lower end of the box")
    median: float = column("Median", digits=4, help="half of the gains lie above")
    third_quartile: float = column("3rd quartile", digits=4, help="upper end of the box")
    high: float = column("High", digits=4, help="last gain within 1.5 boxes above the box")
    mean: float = column("Mean", digits=4, help="of the gains")
    outliers: int = column("Outliers", help="gains beyond low and high")
    n: int = _N


class GainCounts(Record):
    """How many experiments a rule makes better and worse."""

    factor: str = _FACTOR
    level: str = _LEVEL
    rule: str = _RULE
    better: int = _BETTER
    between: int = _BETWEEN
    worse: int = _WORSE
    better_share: float | None = column("Improved", kind="share", help="gain above 0.00001")
    between_share: float | None = column("Between", kind="share", help="neither better nor worse")
    worse_share: float | None = column("Decreased", kind="share", help="gain of 0 or less")
    n: int = _N


class GainFactor(Record):
    """What a level of a factor adds to the gain."""

    factor: str = _FACTOR
    level: str = _LEVEL
    rule: str = _RULE
    coefficient: float = column(
        "Coefficient", digits=5, help="ridge regression of the gain on indicators"
    )
    n: int = _N


class GainRelation(Record):
    """How the gain goes along with the metric's own correlation."""

    explainer: str = _EXPLAINER
    rule: str = _RULE
    value: float | None = column(
        "Pearson(C1 - C0, C0)", digits=4, help="do weak metrics gain more?"
    )
    n: int = _N


class GridCurve(Record):
    """A point of the correlation over p."""

    experiment: str = column("Experiment", help="all its names")
    weight: str = column("Weight", help="w, in words")
    p: float = _P
    w: float = _W
    value: float | None = column(
        "Pearson's r", digits=4, help="of w S0 + (1 - w) M_p with human scores"
    )


class HeldBackGain(Record):
    """What a setting gains on data that had no part in its choice (figures 9 to 11)."""

    explainer: str = _EXPLAINER
    dataset: str = _DATASET
    rule: str = _RULE
    p: float | None = _P
    w: float | None = _W
    improved: int = column("Improved", help="experiments with a gain above 0")
    n: int = column("n", help="experiments with a defined gain")
    mean_gain: float | None = column(
        "Mean gain", digits=4, better="higher", help="over experiments", ends=("low", "high")
    )
    low: float | None = column(
        "Low", digits=4, help="lower end of its interval over language pairs drawn whole"
    )
    high: float | None = column("High", digits=4, help="upper end")
    largest: float | None = column("Largest gain", digits=4, help="of an experiment")
    language_pair: str | None = column("At", help="language pair of the largest gain")
    metric: str | None = column("Metric", help="metric of the largest gain")
    base: float | None = column("Base", digits=4, help="correlation of that metric alone, there")
    boosted: float | None = column("Boosted", digits=4, help="correlation at p and w, there")
    over_control: float | None = column(
        "Over random",
        digits=4,
        better="higher",
        help="mean gain over the random explainer at the same weight, its p chosen as p was",
    )
    sides: str = _SIDES


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
    n: int = _N


class IterationStart(Record):
    """Where a second iteration starts, where the first one ended, and what it adds."""

    dataset: str = _DATASET
    language_pair: str = _LANGUAGE_PAIR
    metric: str = METRIC
    explainer: str = _EXPLAINER
    first: float | None = column("First iteration", digits=6, help="correlation at its p and w")
    second: float | None = column("Second at w = 1", digits=6, help="what it starts from")
    difference: float | None = column("Difference", digits=9, help="0 but for rounding")
    boosts: str = column("Boosts", help="the metric that the first iteration boosts")
    base: float | None = column("Base", digits=6, help="correlation of that metric alone")
    again: float | None = column(
        "Second iteration", digits=6, help="correlation at the p and w of the first"
    )
    best: float | None = column(
        "Best of the second", digits=6, help="its largest correlation, p and w chosen in hindsight"
    )
    best_p: float | None = column("Best p", digits=1, help="of the second iteration")
    best_w: float | None = column("Best w", digits=1, help="of the second iteration")


ROWS: Mapping[str, type[Record]] = {
    "settings": TunedSetting,
    "experiments": ExperimentGain,
    "halves": HalvesGain,
    "density": GainDensity,
    "spread": GainSpread,
    "counts": GainCounts,
    "factors": GainFactor,
    "relation": GainRelation,
    "curves": GridCurve,
    "iterations": IterationStart,
    "grid_density": GainDensity,
    "best_spread": BestSpread,
    "held_back": HeldBackGain,
    "held_back_experiments": ExperimentGain,
    "held_back_density": GainDensity,
    "held_back_counts": GainCounts,
    "held_back_curves": GridCurve,
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
    "iterations": "Second iterations",
    "grid_density": "Density of the gains over all p and w",
    "best_spread": "The best p and w of every experiment",
    "held_back": "Gains on data that were held back",
    "held_back_experiments": "Gains of every held-back experiment",
    "held_back_density": "Density of the gains on held-back data",
    "held_back_counts": "Held-back experiments improved and decreased",
    "held_back_curves": "Correlation over p on held-back data",
}


def table(name: str, rows: Sequence[Record], note: str = "") -> Table:
    """A table of that name."""
    return table_of(name, _TITLES[name], ROWS[name], rows, note=note)


def setting_rows(
    grids: Grids, found: Sequence[RuleOutcome], options: TuneOptions
) -> Iterator[TunedSetting]:
    """One row per rule for the experiments of one explainer."""
    explainer, sides = grids.experiments[0].explainer, grids.experiments[0].sides
    for rule in ALL_RULES:
        some = [one for one in found if one.rule == rule]
        if not some:
            continue
        groups = [str(getattr(one.experiment, options.held_out_by)) for one in some]
        mean, over = (
            group_interval(
                values,
                groups,
                count=options.resamples,
                seed=options.seed,
                confidence=options.confidence,
            )
            for values in ([o.gain for o in some], [o.over_control for o in some])
        )
        number = counts(np.array([one.gain for one in some]))
        points = {one.setting for one in some}
        setting = next(iter(points)) if len(points) == 1 else None
        yield TunedSetting(
            explainer=explainer,
            rule=rule,
            p=setting and setting.p,
            w=setting and setting.w,
            mean_gain=mean.estimate,
            low=mean.low,
            high=mean.high,
            better=number.better,
            between=number.between,
            worse=number.worse,
            over_control=over.estimate,
            over_low=over.low,
            over_high=over.high,
            collapsed=_collapsed(grids, some),
            median_p=setting.median_p if setting and "median" in rule else None,
            median_w=setting.median_w if setting and "median" in rule else None,
            chosen_from=setting and setting.experiments,
            undefined=number.undefined,
            sides=sides,
        )


def experiment_rows(grids: Grids, found: Sequence[RuleOutcome]) -> Iterator[ExperimentGain]:
    """One row per experiment and rule."""
    places = {one: i for i, one in enumerate(grids.experiments)}
    for o in found:
        one, place = o.experiment, places[o.experiment]
        yield ExperimentGain(
            **_names(one),
            rule=o.rule,
            p=o.setting and o.setting.p,
            w=o.setting and o.setting.w,
            base=o.base,
            boosted=o.boosted,
            gain=o.gain,
            low=o.low,
            high=o.high,
            over_control=o.over_control,
            control_p=o.control_p,
            used=None if grids.used is None else grids.used[place],
            left_out=None if grids.left_out is None else grids.left_out[place],
            name=str(one),
        )


def held_back_rows(
    grids: Grids, found: Sequence[RuleOutcome], options: TuneOptions
) -> Iterator[HeldBackGain]:
    """One row per data set and rule for the held-back experiments of one explainer."""
    explainer, sides = grids.experiments[0].explainer, grids.experiments[0].sides
    for dataset in grids.levels("dataset"):
        for rule in dict.fromkeys(one.rule for one in found):
            some = [o for o in found if o.rule == rule and o.experiment.dataset == dataset]
            gains = np.array([one.gain for one in some])
            known = np.flatnonzero(~np.isnan(gains))
            most = some[int(known[gains[known].argmax()])] if len(known) else None
            mean, over = (
                group_interval(
                    values,
                    [one.experiment.language_pair for one in some],
                    count=options.resamples,
                    seed=options.seed,
                    confidence=options.confidence,
                )
                for values in ([o.gain for o in some], [o.over_control for o in some])
            )
            setting = some[0].setting
            yield HeldBackGain(
                explainer=explainer,
                dataset=dataset,
                rule=rule,
                p=setting and setting.p,
                w=setting and setting.w,
                improved=int((gains > 0).sum()),
                n=len(known),
                mean_gain=mean.estimate,
                low=mean.low,
                high=mean.high,
                largest=most and most.gain,
                language_pair=most and most.experiment.language_pair,
                metric=most and most.experiment.metric,
                base=most and most.base,
                boosted=most and most.boosted,
                over_control=over.estimate,
                sides=sides,
            )


def grid_density_rows(grids: Grids, controls: Grids) -> Iterator[GainDensity]:
    """Density of the gains over all p and w, the random explainer's on the same data, too."""
    data = {one.data for one in grids.experiments}
    beside = controls.take([i for i, one in enumerate(controls.experiments) if one.data in data])
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
                mine = [getattr(one, factor) == level for one in grids.experiments]
                box = spread(best[mine])
                if box is not None:
                    numbers: dict[str, Any] = {**box._asdict(), "outliers": len(box.outliers)}
                    yield BestSpread(
                        factor=_in_words(factor), level=level, parameter=parameter, **numbers
                    )


def _several_factors(experiments: Sequence[Experiment]) -> Sequence[Factor]:
    """The factors with several levels; the first one, the explainer, in any case."""
    several = [f for f in FACTORS[1:] if len({getattr(one, f) for one in experiments}) > 1]
    return [FACTORS[0], *several]


def halves_row(one: Experiment, found: Halves) -> HalvesGain:
    """Held-out gains within one experiment."""
    known = found.gains[~np.isnan(found.gains)]
    over = found.over_control[~np.isnan(found.over_control)]
    return HalvesGain(
        **_names(one),
        gain=float(known.mean()) if len(known) else None,
        lowest=float(known.min()) if len(known) else None,
        highest=float(known.max()) if len(known) else None,
        positive=float((known > 0).mean()) if len(known) else None,
        over_control=float(over.mean()) if len(over) else None,
        n=len(known),
    )


def distribution_rows(
    found: Sequence[RuleOutcome], options: TuneOptions
) -> dict[str, list[Record]]:
    """Rows of density, spread, counts and factors: gains by every factor with several levels."""
    rows: dict[str, list[Record]] = {"density": [], "spread": [], "counts": [], "factors": []}
    factors = [f for f in FACTORS if len({getattr(o.experiment, f) for o in found}) > 1]
    for rule in dict.fromkeys(o.rule for o in found):
        some = [o for o in found if o.rule == rule]
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


def relation_rows(found: Sequence[RuleOutcome]) -> Iterator[GainRelation]:
    """Pearson(C1 - C0, C0), by explainer and over all."""
    names = list(dict.fromkeys(o.experiment.explainer for o in found))
    for rule in dict.fromkeys(o.rule for o in found):
        for name in [*names, *(["all"] if len(names) > 1 else [])]:
            some = [o for o in found if o.rule == rule and name in ("all", o.experiment.explainer)]
            gains, base = np.array([(o.gain, o.base) for o in some]).T
            known = int((~np.isnan(gains) & ~np.isnan(base)).sum())
            yield GainRelation(explainer=name, rule=rule, value=gain_and_base(gains, base), n=known)


def curve_rows(
    grids: Grids, found: Sequence[RuleOutcome], most: int, *, rule: str = "median"
) -> Iterator[GridCurve]:
    """Correlation over p for some experiments, from the largest gain to the largest loss."""
    defined = [o for o in found if o.rule == rule and not math.isnan(o.base)]
    ordered = sorted(defined, key=lambda o: -math.inf if math.isnan(o.gain) else -o.gain)
    places = np.unique(np.linspace(0, len(ordered) - 1, min(most, len(ordered))).astype(int))
    for place in places.tolist() if ordered and most > 0 else []:
        one = ordered[place].experiment
        grid = grids.of(one)
        for number in reversed(range(len(grids.w))):
            w = float(grids.w[number])
            for row in _shown(grids.p):
                yield GridCurve(
                    experiment=str(one),
                    weight=METRIC_ALONE if w == 1 else f"w = {w:g}",
                    p=float(grids.p[row]),
                    w=w,
                    value=float(grid[row, number]),
                )


def iteration_rows(grids: Grids, iterations: Sequence[Iteration]) -> Iterator[IterationStart]:
    """Where every second iteration starts and ends, and the largest difference over p."""
    for one in iterations:
        row = int(np.abs(grids.p - one.p).argmin())
        number = int(np.abs(grids.w - one.w).argmin())
        first = float(grids.of(one.first)[row, number])
        grid = grids.of(one.second)
        starts = grid[:, -1]
        most = divmod(int(np.where(np.isnan(grid), -np.inf, grid).argmax()), len(grids.w))
        yield IterationStart(
            dataset=one.second.dataset,
            language_pair=one.second.language_pair,
            metric=one.second.metric,
            explainer=one.second.explainer,
            first=first,
            second=float(starts[0]),
            difference=float(np.abs(starts - first).max()),
            boosts=one.first.metric,
            base=float(grids.of(one.first)[0, -1]),
            again=float(grid[row, number]),
            best=float(grid[most]),
            best_p=float(grids.p[most[0]]),
            best_w=float(grids.w[most[1]]),
        )


def _names(one: Experiment) -> dict[str, Any]:
    names = ("dataset", "language_pair", "metric", "explainer", "sides")
    return {name: getattr(one, name) for name in names}


def _in_words(factor: Factor) -> str:
    return factor.replace("_", " ")


def _collapsed(grids: Grids, some: Sequence[RuleOutcome]) -> float | None:
    """Mean share of collapsed segments of some experiments, at the p of each."""
    if grids.collapsed is None:
        return None
    places = {one: i for i, one in enumerate(grids.experiments)}
    rows = [(places[o.experiment], o.setting.row) for o in some if o.setting]
    shares = np.array([grids.collapsed[place, row] for place, row in rows])
    known = shares[~np.isnan(shares)]
    return float(known.mean()) if len(known) else None


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
    for one in ridge_coefficients([o.experiment for o in some], gains, factors, ridge=ridge):
        yield GainFactor(
            factor=one.factor.replace("_", " "),
            level=one.level,
            rule=rule,
            coefficient=one.value,
            n=one.n,
        )


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
_HELD_BACK = (
    "explainer",
    "dataset",
    "rule",
    "p",
    "w",
    "improved",
    "n",
    "largest",
    "mean_gain",
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
        "Second iterations: where they start, and what they add",
        ("language_pair", "boosts", "explainer", "base", "first", "second", "again", "best"),
    )
    yield Listing("held_back", "Gains on data that were held back", _HELD_BACK)
    yield Lines(
        "curves",
        "Correlation over p, a curve for each w",
        "p",
        "value",
        "weight",
        panels="experiment",
        ink=METRIC_ALONE,
    )
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
    for rule in _distinct(tables, "held_back_density", "rule"):
        for factor in _distinct(tables, "held_back_density", "factor"):
            where = {"factor": factor, "rule": rule}
            title = "Density of gains on held-back data"
            yield Lines("held_back_density", title, "gain", "density", "level", where=where)
    for factor in _distinct(tables, "held_back_counts", "factor"):
        yield StackedBars(
            "held_back_counts",
            "Held-back experiments improved and decreased",
            "level",
            "rule",
            ("worse_share", "between_share", "better_share"),
            where={"factor": factor},
        )
    yield Lines(
        "held_back_curves",
        "Correlation over p on held-back data, a curve for each w",
        "p",
        "value",
        "weight",
        panels="experiment",
        ink=METRIC_ALONE,
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
