"""What a grid search found, as tables and views."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.findings import Listing
from gnomon.core.records import METRIC, EndColumns, Record, column
from gnomon.core.records import table as table_of
from gnomon.methods.bmx._choices import counts
from gnomon.methods.bmx._outcomes import ALL_RULES
from gnomon.methods.bmx.paper import figures
from gnomon.methods.bmx.tuning_columns import (
    BETTER,
    BETWEEN,
    DATASET,
    EXPLAINER,
    EXPONENT,
    LANGUAGE_PAIR,
    RULE,
    SIDES,
    WEIGHT,
    WORSE,
)
from gnomon.stats.resampling import group_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.findings import Table, View
    from gnomon.methods.bmx._choices import Halves
    from gnomon.methods.bmx._experiments import Experiment, Grids
    from gnomon.methods.bmx._outcomes import RuleOutcome, TuneOptions

__all__ = []


class TunedSetting(Record):
    """A rule, and what its setting gains over the experiments of one explainer."""

    explainer: str = EXPLAINER
    rule: str = RULE
    p: float | None = EXPONENT
    w: float | None = WEIGHT
    mean_gain: float | None = column(
        "Mean gain",
        digits=4,
        better="higher",
        help="in correlation, over the metric alone, averaged over experiments",
        interval=EndColumns(how="over language pairs drawn whole"),
    )
    better: int = BETTER
    between: int = BETWEEN
    worse: int = WORSE
    over_control: float | None = column(
        "Over random",
        digits=4,
        better="higher",
        help="mean gain over the random explainer at the same weight, its p held out too",
        interval=EndColumns("over_low", "over_high", how="over language pairs drawn whole"),
    )
    collapsed: float | None = column(
        "Collapsed", kind="share", digits=3, help="share of segments whose mean collapsed"
    )
    median_p: float | None = column("Median p", help="before it is put on the grid")
    median_w: float | None = column("Median w", help="before it is put on the grid")
    chosen_from: int | None = column("Chosen from", help="experiments that the rule used")
    undefined: int = column("Undefined", help="experiments without a correlation")
    sides: str = SIDES


class ExperimentGain(Record):
    """What one experiment gains under one rule."""

    dataset: str = DATASET
    language_pair: str = LANGUAGE_PAIR
    metric: str = METRIC
    explainer: str = EXPLAINER
    sides: str = SIDES
    rule: str = RULE
    p: float | None = EXPONENT
    w: float | None = WEIGHT
    base: float | None = column(
        "Base", digits=4, help="Pearson's r of the metric alone with human scores"
    )
    boosted: float | None = column("Boosted", digits=4, help="at this p and w")
    gain: float | None = column(
        "Gain",
        digits=4,
        better="higher",
        help="boosted less base",
        interval=EndColumns(how="over segments"),
    )
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

    dataset: str = DATASET
    language_pair: str = LANGUAGE_PAIR
    metric: str = METRIC
    explainer: str = EXPLAINER
    sides: str = SIDES
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


class HeldBackGain(Record):
    """What a setting gains on data that had no part in its choice (figures 9 to 11)."""

    explainer: str = EXPLAINER
    dataset: str = DATASET
    rule: str = RULE
    p: float | None = EXPONENT
    w: float | None = WEIGHT
    improved: int = column("Improved", help="experiments with a gain above 0")
    n: int = column("n", help="experiments with a defined gain")
    mean_gain: float | None = column(
        "Mean gain",
        digits=4,
        better="higher",
        help="over experiments",
        interval=EndColumns(how="over language pairs drawn whole"),
    )
    largest: float | None = column("Largest gain", digits=4, help="of an experiment")
    language_pair: str | None = column("Largest gain at", help="its language pair")
    metric: str | None = column("Metric", help="metric of the largest gain")
    base: float | None = column("Base", digits=4, help="correlation of that metric alone, there")
    boosted: float | None = column("Boosted", digits=4, help="correlation at p and w, there")
    over_control: float | None = column(
        "Over random",
        digits=4,
        better="higher",
        help="mean gain over the random explainer at the same weight, its p chosen as p was",
    )
    sides: str = SIDES


ROWS: Mapping[str, type[Record]] = {
    "settings": TunedSetting,
    "experiments": ExperimentGain,
    "halves": HalvesGain,
    **figures.ROWS,
    "held_back": HeldBackGain,
    "held_back_experiments": ExperimentGain,
    **figures.HELD_BACK_ROWS,
}
_TITLES = {
    "settings": "Settings, by rule",
    "experiments": "Gains of every experiment",
    "halves": "Gains on the other half of an experiment's own segments",
    "held_back": "Gains on data that were held back",
    "held_back_experiments": "Gains of every held-back experiment",
    **figures.TITLES,
    **figures.HELD_BACK_TITLES,
}


def table(name: str, rows: Sequence[Record], note: str = "") -> Table:
    """A table of that name."""
    return table_of(name, _TITLES[name], ROWS[name], rows, note=note)


def setting_rows(
    grids: Grids, outcomes: Sequence[RuleOutcome], options: TuneOptions
) -> Iterator[TunedSetting]:
    """One row per rule for the experiments of one explainer."""
    explainer, sides = grids.experiments[0].explainer, grids.experiments[0].sides
    for rule in ALL_RULES:
        some = [outcome for outcome in outcomes if outcome.rule == rule]
        if not some:
            continue
        groups = [str(getattr(outcome.experiment, options.held_out_by)) for outcome in some]
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
        number = counts(np.array([outcome.gain for outcome in some]))
        points = {outcome.setting for outcome in some}
        setting = next(iter(points)) if len(points) == 1 else None
        yield TunedSetting(
            explainer=explainer,
            rule=rule,
            p=setting and setting.p,
            w=setting and setting.w,
            mean_gain=mean.estimate,
            intervals={
                "mean_gain": (mean.low, mean.high),
                "over_control": (over.low, over.high),
            },
            better=number.better,
            between=number.between,
            worse=number.worse,
            over_control=over.estimate,
            collapsed=_collapsed(grids, some),
            median_p=setting.median_p if setting and "median" in rule else None,
            median_w=setting.median_w if setting and "median" in rule else None,
            chosen_from=setting and setting.experiments,
            undefined=number.undefined,
            sides=sides,
        )


def experiment_rows(grids: Grids, outcomes: Sequence[RuleOutcome]) -> Iterator[ExperimentGain]:
    """One row per experiment and rule."""
    places = {experiment: i for i, experiment in enumerate(grids.experiments)}
    for o in outcomes:
        experiment, index = o.experiment, places[o.experiment]
        yield ExperimentGain(
            **_names(experiment),
            rule=o.rule,
            p=o.setting and o.setting.p,
            w=o.setting and o.setting.w,
            base=o.base,
            boosted=o.boosted,
            gain=o.gain,
            intervals={"gain": (o.low, o.high)},
            over_control=o.over_control,
            control_p=o.control_p,
            used=None if grids.used is None else grids.used[index],
            left_out=None if grids.left_out is None else grids.left_out[index],
            name=str(experiment),
        )


def held_back_rows(
    grids: Grids, outcomes: Sequence[RuleOutcome], options: TuneOptions
) -> Iterator[HeldBackGain]:
    """One row per data set and rule for the held-back experiments of one explainer."""
    explainer, sides = grids.experiments[0].explainer, grids.experiments[0].sides
    for dataset in grids.levels("dataset"):
        for rule in dict.fromkeys(outcome.rule for outcome in outcomes):
            some = [o for o in outcomes if o.rule == rule and o.experiment.dataset == dataset]
            gains = np.array([outcome.gain for outcome in some])
            defined = np.flatnonzero(~np.isnan(gains))
            most = some[int(defined[gains[defined].argmax()])] if len(defined) else None
            mean, over = (
                group_interval(
                    values,
                    [outcome.experiment.language_pair for outcome in some],
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
                n=len(defined),
                mean_gain=mean.estimate,
                intervals={"mean_gain": (mean.low, mean.high)},
                largest=most and most.gain,
                language_pair=most and most.experiment.language_pair,
                metric=most and most.experiment.metric,
                base=most and most.base,
                boosted=most and most.boosted,
                over_control=over.estimate,
                sides=sides,
            )


def halves_row(experiment: Experiment, halves: Halves) -> HalvesGain:
    """Held-out gains within one experiment."""
    defined = halves.gains[~np.isnan(halves.gains)]
    over = halves.over_control[~np.isnan(halves.over_control)]
    return HalvesGain(
        **_names(experiment),
        gain=float(defined.mean()) if len(defined) else None,
        lowest=float(defined.min()) if len(defined) else None,
        highest=float(defined.max()) if len(defined) else None,
        positive=float((defined > 0).mean()) if len(defined) else None,
        over_control=float(over.mean()) if len(over) else None,
        n=len(defined),
    )


def _names(experiment: Experiment) -> dict[str, Any]:
    names = ("dataset", "language_pair", "metric", "explainer", "sides")
    return {name: getattr(experiment, name) for name in names}


def _collapsed(grids: Grids, some: Sequence[RuleOutcome]) -> float | None:
    """Mean share of collapsed segments of some experiments, at the p of each."""
    if grids.collapsed is None:
        return None
    places = {experiment: i for i, experiment in enumerate(grids.experiments)}
    rows = [(places[o.experiment], o.setting.row) for o in some if o.setting]
    shares = np.array([grids.collapsed[index, row] for index, row in rows])
    defined = shares[~np.isnan(shares)]
    return float(defined.mean()) if len(defined) else None


# Views


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
    yield from figures.listings()
    yield Listing("held_back", "Gains on data that were held back", _HELD_BACK)
    yield from figures.pictures(tables)
