"""Statistics of resampled systems and items, as far as possible from sums instead of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from gnomon.errors import UnknownNameError
from gnomon.stats._joint import standardised
from gnomon.stats._rows import Rows, arranged, mean_of_known
from gnomon.stats._statistics import ROW_STATISTICS
from gnomon.stats.resampling import resamples

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.stats._statistics import Task

Unit = Literal["inputs", "systems", "both"]
UNITS: tuple[Unit, ...] = ("inputs", "systems", "both")
_VANISHING = 1e-12  # variance, as a share of the mean square, that is rounding


class Drawn(NamedTuple):
    """Resampled rows and columns [draws, systems] and [draws, items]; None: all, once each."""

    systems: NDArray[np.int64] | None
    items: NDArray[np.int64] | None

    @property
    def number(self) -> int:
        """Number of draws."""
        drawn = self.systems if self.items is None else self.items
        return 0 if drawn is None else len(drawn)

    def take(self, draw: int, cells: NDArray[np.float64]) -> NDArray[np.float64]:
        """The drawn rows and columns of [..., systems, items]."""
        if self.systems is not None:
            cells = cells[..., self.systems[draw], :]
        return cells if self.items is None else cells[..., self.items[draw]]


def drawn(unit: Unit, shape: tuple[int, int], *, count: int, seed: int) -> Drawn:
    """Draws with replacement; systems and items have streams of their own."""
    if unit not in UNITS:
        raise UnknownNameError("unit of resampling", str(unit), UNITS)
    systems = resamples(shape[0], count=count, seed=seed) if unit == "systems" else None
    if unit == "both":
        systems = np.random.default_rng([seed, 1]).integers(0, shape[0], size=(count, shape[0]))
    items = None if unit == "systems" else resamples(shape[1], count=count, seed=seed)
    return Drawn(systems, items)


def multiplicities(draws: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """How often each draw holds each of n things [draws, n]."""
    flat = (draws + n * np.arange(len(draws))[:, None]).ravel()
    counts = np.bincount(flat, minlength=n * len(draws)).reshape(len(draws), n)
    return counts.astype(np.float64)


def replicates(
    task: Task,
    human: NDArray[np.float64],
    metrics: NDArray[np.float64],
    cells: NDArray[np.bool_],
    draws: Drawn,
) -> NDArray[np.float64]:
    """The statistic of every draw and metric [draws, metrics], on the given cells."""
    of_systems = task.statistic == "pairwise_accuracy" and human.shape[1] == 1
    if task.level == "system" or (of_systems and draws.items is None):
        return _of_means(task, human, np.where(cells, metrics, np.nan), draws)
    if (task.statistic, task.grouping) == ("pearson", "none"):
        return _of_sums(human, metrics, cells, draws)
    human, metrics = np.where(cells, human, np.nan), np.where(cells, metrics, np.nan)
    groups = _whole_groups(task, draws)
    if groups is not None:
        return _of_groups(task, human, metrics, groups)
    found = np.empty((draws.number, len(metrics)))
    for draw in range(draws.number):
        found[draw] = task.of_draws(draws.take(draw, human), draws.take(draw, metrics))
    return found


def _of_sums(
    human: NDArray[np.float64],
    metrics: NDArray[np.float64],
    cells: NDArray[np.bool_],
    draws: Drawn,
) -> NDArray[np.float64]:
    h = standardised(human[None], cells)[0]
    x = standardised(metrics, cells)
    features = np.stack([cells.astype(np.float64), h, h**2])
    sums = _weighted(np.concatenate([features, x, x**2, x * h]), draws)
    n, of_h, of_hh = (sums[:, [k]] for k in range(3))
    of_x, of_xx, of_xh = np.split(sums[:, 3:], 3, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        varies = [_variance(of_xx, of_x, n), _variance(of_hh, of_h, n)]
        return np.asarray((of_xh - of_x * of_h / n) / np.sqrt(varies[0] * varies[1]))


def _variance(
    squares: NDArray[np.float64], sums: NDArray[np.float64], n: NDArray[np.float64]
) -> NDArray[np.float64]:
    variance = squares - sums**2 / n
    return np.where(variance > _VANISHING * squares, variance, np.nan)


def _weighted(features: NDArray[np.float64], draws: Drawn) -> NDArray[np.float64]:
    # sums of features [features, systems, items] over drawn cells [draws, features]
    f, systems, items = features.shape
    by_system = draws.systems if draws.systems is None else multiplicities(draws.systems, systems)
    by_item = draws.items if draws.items is None else multiplicities(draws.items, items)
    if by_item is None:
        summed = features.sum(axis=2).T
        return np.asarray(summed if by_system is None else by_system @ summed)
    if by_system is None:
        return np.asarray(by_item @ features.sum(axis=1).T)
    summed = (by_item @ features.reshape(f * systems, items).T).reshape(-1, f, systems)
    return np.asarray(np.einsum("bfk,bk->bf", summed, by_system))


def _of_means(
    task: Task, human: NDArray[np.float64], metrics: NDArray[np.float64], draws: Drawn
) -> NDArray[np.float64]:
    m, systems, items = metrics.shape
    means = _means(metrics.reshape(-1, items), draws).reshape(-1, m, systems).swapaxes(0, 1)
    paired = human.shape[1] == items
    people = _means(human, draws) if paired else mean_of_known(human)
    people = np.broadcast_to(people, means.shape[1:])
    if draws.systems is not None:
        means = np.take_along_axis(means, draws.systems[None], axis=2)
        people = np.take_along_axis(people, draws.systems, axis=1)
    values = np.stack([task.of_paired_rows(people, scores) for scores in means], axis=1)
    if task.statistic != "pairwise_accuracy" or draws.systems is None:
        return values
    return _without_copies(values, ~np.isnan(means + people), draws.systems)


def _without_copies(
    accuracies: NDArray[np.float64], known: NDArray[np.bool_], systems: NDArray[np.int64]
) -> NDArray[np.float64]:
    # accuracies [draws, metrics], known [metrics, draws, systems]; a system and its own copy tie
    # on both sides, which is no decision, and such pairs all counted as right
    copies = np.stack([_copies(one, systems) for one in known], axis=1)
    size = known.sum(axis=2).T
    pairs = size * (size - 1) / 2
    left = pairs - copies
    agreeing = np.where(pairs == 0, np.nan, np.round(accuracies * pairs)) - copies
    return np.asarray(agreeing / np.where(left == 0, np.nan, left))


def _copies(known: NDArray[np.bool_], systems: NDArray[np.int64]) -> NDArray[np.float64]:
    # pairs of a drawn system with itself [draws]
    same = (systems[:, :, None] == systems[:, None, :]) & known[:, :, None]
    return np.asarray((same.sum(axis=(1, 2)) - known.sum(axis=1)) / 2)


def _means(scores: NDArray[np.float64], draws: Drawn) -> NDArray[np.float64]:
    # means of rows over their drawn items that have a score [draws, rows]
    if draws.items is None:
        return np.broadcast_to(mean_of_known(scores), (draws.number, len(scores)))
    return _weighted_means(scores, multiplicities(draws.items, scores.shape[1]))


def _weighted_means(
    values: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    # values [rows, things], weights [draws, things] -> [draws, rows]
    known = weights @ (~np.isnan(values)).astype(np.float64).T
    return np.asarray(weights @ np.nan_to_num(values).T / np.where(known == 0, np.nan, known))


def _whole_groups(task: Task, draws: Drawn) -> NDArray[np.int64] | None:
    # drawn groups, where each is drawn whole or not at all
    if task.grouping == "item" and draws.systems is None:
        return draws.items
    if task.grouping == "system" and draws.items is None:
        return draws.systems
    return None


def _of_groups(
    task: Task,
    human: NDArray[np.float64],
    metrics: NDArray[np.float64],
    groups: NDArray[np.int64],
) -> NDArray[np.float64]:
    # each group's statistic is known, and counts as often as the group is drawn
    people = arranged(human, task.grouping)
    each = ROW_STATISTICS[str(task.statistic)]
    values = np.stack([each(Rows(people, arranged(x, task.grouping))) for x in metrics])
    return _weighted_means(values, multiplicities(groups, values.shape[1]))
