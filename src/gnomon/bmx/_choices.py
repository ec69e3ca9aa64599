"""Which exponent and weight to take: rules that choose one setting from many grids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from gnomon.errors import DataError, UnknownNameError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.bmx._experiments import Grids

    Floats = NDArray[np.float64]

__all__ = [
    "RULES",
    "Counts",
    "Rule",
    "Setting",
    "best_settings",
    "choose",
    "counts",
    "gains_at",
    "improving",
]

Rule = Literal["median", "median-improving", "most-improving", "largest-mean"]
RULES: tuple[Rule, ...] = get_args(Rule)
#: gains above this count as better; those of 0 or less as worse (Leiter et al.)
_BETTER = 1e-5
#: gains and distances that differ by less are equal
_ROUNDING = 1e-9


class Setting(NamedTuple):
    """A point of the grid, and what it was chosen by.

    - ``p``, ``w``: the point.
    - ``row``, ``column``: its place among the exponents and the weights.
    - ``median_p``, ``median_w``: the medians that it is nearest to, under the rules that take
      medians; else the point itself.
    - ``experiments``: how many experiments it was chosen from.
    """

    p: float
    w: float
    row: int
    column: int
    median_p: float
    median_w: float
    experiments: int


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
    - ``median-improving``: the same over the experiments that some setting improves.
    - ``most-improving``: the setting with a gain above 1e-5 in most experiments; of several, the
      one of the largest mean gain.
    - ``largest-mean``: the setting of the largest mean gain.

    The last two choose among settings that use explanations (w < 1), since w = 1 gains 0 whatever
    they say: where every setting loses, they name the one that loses least, and a mean gain that
    is not above 0 says to keep the metric.

    Args:
        grids: the experiments; those without a defined correlation do not count.
        rule: the rule.

    Raises:
        DataError: no experiment is left to choose from.
        UnknownNameError: no such rule.
    """
    if rule not in RULES:
        raise UnknownNameError("rule", str(rule), RULES)
    defined = np.flatnonzero(~np.isnan(grids.base))
    if rule == "median-improving":
        defined = defined[improving(grids)[defined]]
    if not len(defined):
        raise DataError(
            f"rule {rule!r} has no experiment to choose from: of {len(grids.experiments)} none has"
            " a defined correlation" + (" that improves" if "improving" in rule else "")
        )
    chosen = grids.take(defined)
    return _by_medians(chosen) if rule.startswith("median") else _by_gains(chosen, rule)


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


def gains_at(grids: Grids, setting: Setting) -> Floats:
    """The gain of every experiment at a setting, float64 [E]."""
    return np.asarray(grids.correlations[:, setting.row, setting.column] - grids.base)


def counts(gains: Floats) -> Counts:
    """How many gains are better, worse, between, undefined."""
    better, worse = int((gains > _BETTER).sum()), int((gains <= 0).sum())
    undefined = int(np.isnan(gains).sum())
    return Counts(better, len(gains) - better - worse - undefined, worse, undefined)


def _by_medians(grids: Grids) -> Setting:
    rows, columns = best_settings(grids).T
    p, w = float(np.median(grids.p[rows])), float(np.median(grids.w[columns]))
    row, column = _nearest(grids.p, p), _nearest(grids.w, w)
    return Setting(float(grids.p[row]), float(grids.w[column]), row, column, p, w, len(rows))


def _by_gains(grids: Grids, rule: Rule) -> Setting:
    gains = grids.gains[:, :, :-1] if len(grids.w) > 1 else grids.gains
    known = ~np.isnan(gains)
    mean = np.where(known, gains, 0).sum(axis=0) / len(gains)
    if rule == "most-improving":
        number = (gains > _BETTER).sum(axis=0)
        mean = np.where(number == number.max(), mean, -np.inf)
    row, column = map(int, np.unravel_index(int(mean.argmax()), mean.shape))
    p, w = float(grids.p[row]), float(grids.w[column])
    return Setting(p, w, row, column, p, w, len(gains))


def _nearest(values: Floats, wanted: float) -> int:
    """The place of the nearest value; of two equally near, the lower."""
    far = np.abs(values - wanted)
    return int(np.flatnonzero(far <= far.min() + _ROUNDING)[0])
