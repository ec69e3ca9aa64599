"""Rows of the tables of a grid search."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gnomon.bmx._choices import counts
from gnomon.bmx._experiments import FACTORS
from gnomon.bmx._gains import densities, gain_and_base, ridge_coefficients, spread
from gnomon.bmx._outcomes import ALL_RULES
from gnomon.stats.resampling import group_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.bmx._choices import Counts
    from gnomon.bmx._experiments import Experiment, Factor, Grids
    from gnomon.bmx._halves import Halves
    from gnomon.bmx._outcomes import Asked, Outcome
    from gnomon.findings import Cell

    Floats = NDArray[np.float64]
    Row = Mapping[str, Cell]

__all__ = [
    "METRIC_ALONE",
    "curve_rows",
    "distribution_rows",
    "experiment_rows",
    "halves_row",
    "relation_rows",
    "setting_rows",
]

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
