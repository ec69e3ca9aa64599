"""Choice of exponent and weight: rules that select one setting from many grids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from gnomon.bmx.aggregation import power_means
from gnomon.bmx.correlations import grid_correlations, usable
from gnomon.bmx.experiments import P, W
from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.core.options import SEED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.bmx.aggregation import Shift
    from gnomon.bmx.experiments import Experiment, Explained, Grids

    Floats = NDArray[np.float64]

__all__ = [
    "Counts",
    "Halves",
    "Judged",
    "Rule",
    "Setting",
    "best_settings",
    "choose",
    "count_gains",
    "gains_at",
    "grid_setting",
    "halves",
    "improving",
    "judge",
    "judge_held_out",
]


Rule = Literal["median", "most-improving", "largest-mean"]
RULES: tuple[Rule, ...] = get_args(Rule)
#: gains above this count as better; those of 0 or less as worse (Leiter et al.)
_BETTER = 1e-5
#: gains and distances that differ by less are equal
_ROUNDING = 1e-9


class Setting(NamedTuple):
    """A point of the grid, and what it was chosen by.

    - ``p``, ``w``: the point.
    - ``row``, ``column``: its place among the exponents and the weights.
    - ``median_p``, ``median_w``: the medians that it is nearest to under the rule that takes
      medians; else the point itself.
    """

    p: float
    w: float
    row: int
    column: int
    median_p: float
    median_w: float


class Counts(NamedTuple):
    """Experiments by what happened to their correlation.

    Better is a gain above 1e-5, worse a gain of 0 or less, between the rest (Leiter et al.).
    """

    better: int
    between: int
    worse: int
    undefined: int

    @property
    def defined(self) -> int:
        """All but the undefined."""
        return self.better + self.between + self.worse


def choose(grids: Grids, rule: Rule = "median") -> Setting:
    """One setting for all experiments.

    - ``median``: medians of the best p and of the best w of all experiments (the published rule);
      the grid point nearest to them, of two the lower. Where nothing beats the metric alone, every
      p ties at w = 1 and the first, the lowest, counts.
    - ``most-improving``: the setting with a gain above 1e-5 in most experiments; of several, the
      one of the largest mean gain.
    - ``largest-mean``: the setting of the largest mean gain.

    The last two choose among settings that use explanations (w < 1), since w = 1 gains 0 whatever
    they say: where every setting loses, they name the one that loses least, and a mean gain that
    is not above 0 says to keep the metric.
    """
    if rule not in RULES:
        raise UnknownNameError("rule", str(rule), RULES)
    defined = np.flatnonzero(~np.isnan(grids.base))
    if not len(defined):
        raise DataError(
            f"rule {rule!r} has no experiment to choose from: of {len(grids.experiments)} none has"
            " a defined correlation"
        )
    chosen = grids.take(defined)
    return _choose_by_medians(chosen) if rule == "median" else _choose_by_gains(chosen, rule)


def best_settings(grids: Grids) -> NDArray[np.intp]:
    """Where each grid is largest, first in order of p, then w: places of p and of w, intp [E, 2].

    -1 for an experiment without a defined correlation.
    """
    filled = np.where(np.isnan(grids.correlations), -np.inf, grids.correlations)
    flat = filled.reshape(len(filled), len(grids.p) * len(grids.w)).argmax(axis=1)
    places = np.stack(np.unravel_index(flat, (len(grids.p), len(grids.w))), axis=1)
    places[np.isnan(grids.base)] = -1
    return places


def improving(grids: Grids) -> NDArray[np.bool_]:
    """Which experiments some setting improves: their best is above the metric alone, bool [E]."""
    rows, columns = best_settings(grids).T
    best = grids.correlations[np.arange(len(rows)), rows, columns]
    return np.asarray((rows >= 0) & (best > grids.base))


def grid_setting(grids: Grids, p: float, w: float) -> Setting:
    """A point of the grid as a setting."""
    rows = np.flatnonzero(np.abs(grids.p - p) <= _ROUNDING)
    columns = np.flatnonzero(np.abs(grids.w - w) <= _ROUNDING)
    if not len(rows) or not len(columns):
        raise UsageError(
            f"the grid has no point p = {p:g}, w = {w:g}: p from {grids.p[0]:g} to {grids.p[-1]:g}"
            f" ({len(grids.p)} values), w of {', '.join(f'{x:g}' for x in grids.w)}"
        )
    row, column = int(rows[0]), int(columns[0])
    return Setting(float(grids.p[row]), float(grids.w[column]), row, column, p, w)


def gains_at(grids: Grids, setting: Setting) -> Floats:
    """The gain of every experiment at a setting, float64 [E]."""
    return np.asarray(grids.correlations[:, setting.row, setting.column] - grids.base)


def count_gains(gains: Floats) -> Counts:
    """Count the gains that are better, worse, between, undefined."""
    better, worse = int((gains > _BETTER).sum()), int((gains <= 0).sum())
    undefined = int(np.isnan(gains).sum())
    return Counts(better, len(gains) - better - worse - undefined, worse, undefined)


def _choose_by_medians(grids: Grids) -> Setting:
    rows, columns = best_settings(grids).T
    p, w = float(np.median(grids.p[rows])), float(np.median(grids.w[columns]))
    row, column = _nearest(grids.p, p), _nearest(grids.w, w)
    return Setting(float(grids.p[row]), float(grids.w[column]), row, column, p, w)


def _choose_by_gains(grids: Grids, rule: Rule) -> Setting:
    gains = grids.gains[:, :, :-1] if len(grids.w) > 1 else grids.gains
    defined = ~np.isnan(gains)
    mean = np.where(defined, gains, 0).sum(axis=0) / len(gains)
    mean[~defined.any(axis=0)] = -np.inf
    if rule == "most-improving":
        number = (gains > _BETTER).sum(axis=0)
        mean = np.where(number == number.max(), mean, -np.inf)
    row, column = map(int, np.unravel_index(int(mean.argmax()), mean.shape))
    p, w = float(grids.p[row]), float(grids.w[column])
    return Setting(p, w, row, column, p, w)


def _nearest(values: Floats, wanted: float) -> int:
    """The place of the nearest value; of two equally near, the lower."""
    far = np.abs(values - wanted)
    return int(np.flatnonzero(far <= far.min() + _ROUNDING)[0])


# Gain of a setting on data that it was not chosen on.


class Judged(NamedTuple):
    """One experiment at a setting that it had no part in.

    - ``experiment``: whose gain it is.
    - ``place``: of the experiment among the grids that are judged.
    - ``setting``: chosen on others; ``None`` where the rule finds none there.
    - ``base``: correlation of the metric alone.
    - ``boosted``: correlation at the setting.
    - ``control``: correlation with the random explainer at the same weight, its exponent chosen on
      the others too; NaN without one.
    """

    experiment: Experiment
    place: int
    setting: Setting | None
    base: float
    boosted: float
    control: float

    @property
    def gain(self) -> float:
        """Gain of the setting over the metric alone."""
        return self.boosted - self.base

    @property
    def gain_over_control(self) -> float:
        """Gain of the explainer over the random one at the same weight."""
        return self.boosted - self.control


def judge_held_out(grids: Grids, controls: Grids, rule: Rule = "largest-mean") -> list[Judged]:
    """Every experiment at the setting that is chosen without its :attr:`Grids.groups`.

    The control is the random explainer on the same data with the same weight; its own p is the one
    of the largest mean gain at this weight on the same other groups. Nothing where one group alone
    has a defined correlation.
    """
    groups, undefined = grids.groups, np.isnan(grids.base)
    defined = {group for group, no in zip(groups, undefined, strict=True) if not no}
    results = []
    for group in dict.fromkeys(groups) if len(defined) > 1 else ():
        members = [i for i, name in enumerate(groups) if name == group]
        others = grids.take([i for i, name in enumerate(groups) if name != group])
        results += [
            judged._replace(place=members[judged.place])
            for judged in judge(grids.take(members), others, controls, rule)
        ]
    return sorted(results, key=lambda judged: judged.place)


def judge(
    grids: Grids, others: Grids, controls: Grids, rule: Rule = "largest-mean"
) -> list[Judged]:
    """Experiments at the setting that is chosen on others; see :func:`held_out`."""
    nan, base = float("nan"), grids.base.tolist()
    try:
        setting = choose(others, rule)
    except DataError:
        return [
            Judged(experiment, i, None, base[i], nan, nan)
            for i, experiment in enumerate(grids.experiments)
        ]
    control_rows = {experiment.data: i for i, experiment in enumerate(controls.experiments)}
    row = _control_row(others, controls, control_rows, setting.column)
    results = []
    for i, experiment in enumerate(grids.experiments):
        boosted = float(grids.correlations[i, setting.row, setting.column])
        number = control_rows.get(experiment.data)
        control = nan
        if number is not None and row is not None:
            control = float(controls.correlations[number, row, setting.column])
        results.append(Judged(experiment, i, setting, base[i], boosted, control))
    return results


def _control_row(
    others: Grids, controls: Grids, beside: dict[tuple[str, str, str, str], int], column: int
) -> int | None:
    """The exponent of the random explainer that gains most on the other groups at this weight."""
    places = [
        beside[experiment.data] for experiment in others.experiments if experiment.data in beside
    ]
    gains = controls.gains[places, :, column]
    defined = ~np.isnan(gains).any(axis=1)
    if not defined.any():
        return None
    return int(gains[defined].mean(axis=0).argmax())


# Held-out gains within one experiment: chosen on half of its segments, measured on the others.


class Halves(NamedTuple):
    """Gains on the halves that settings were not chosen on.

    - ``gains``: float64 [splits * 2], against the metric alone.
    - ``over_control``: likewise against the random explainer at the same weight; NaN without one.
    """

    gains: Floats
    over_control: Floats


def halves(
    explained: Explained,
    control: Explained | None,
    *,
    p: Floats = P,
    w: Floats = W,
    shift: Shift = "paper",
    splits: int = 10,
    seed: int = SEED,
) -> Halves:
    """Choose the best setting on half of the segments, measure its gain on the rest; both ways."""
    kept, reason = usable(explained)
    if control is not None:
        kept &= usable(control).kept
    n = int(kept.sum())
    if reason is not None or n < 6:
        return Halves(np.full(2 * splits, np.nan), np.full(2 * splits, np.nan))
    sides = [
        power_means(side.values, side.offsets, p, shift=shift).means[:, kept]
        for side in (explained, control)
        if side is not None
    ]
    generator = np.random.default_rng(seed)
    gains = []
    for _ in range(splits):
        order = generator.permutation(n)
        first, second = np.sort(order[: n // 2]), np.sort(order[n // 2 :])
        for half, rest in ((first, second), (second, first)):
            gains.append(
                _measure_gain(explained.score[kept], explained.human[kept], sides, w, (half, rest))
            )
    return Halves(*np.array(gains).T)


def _measure_gain(
    score: Floats,
    human: Floats,
    sides: list[Floats],
    w: Floats,
    split: tuple[NDArray[np.intp], NDArray[np.intp]],
) -> tuple[float, float]:
    (seen, unseen), nan = split, float("nan")
    mine, *controls = (
        grid_correlations(score[seen], means[:, seen], human[seen], w) for means in sides
    )
    if np.isnan(mine).all():
        return nan, nan
    row, column = divmod(int(np.nanargmax(mine)), len(w))
    weight = w[[column, -1]]
    boosted, base = grid_correlations(
        score[unseen], sides[0][row : row + 1, unseen], human[unseen], weight
    )[0]
    if not controls or np.isnan(controls[0][:, column]).all():
        return float(boosted - base), nan
    other = int(np.nanargmax(controls[0][:, column]))
    controlled = grid_correlations(
        score[unseen], sides[1][other : other + 1, unseen], human[unseen], weight
    )[0, 0]
    return float(boosted - base), float(boosted - controlled)
