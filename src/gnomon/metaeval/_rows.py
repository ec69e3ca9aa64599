"""Records of results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon import stats
from gnomon.metaeval._across import Joined
from gnomon.metaeval._tables import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.findings import Cell
    from gnomon.metaeval._cells import Value
    from gnomon.metaeval._choices import Correction
    from gnomon.metaeval._judge import Result
    from gnomon.metaeval._testing import Testing, Verdicts

    Row = Mapping[str, Cell]

__all__ = ["FEW", "agreement_rows"]

FEW = 4  # correlations over fewer systems say next to nothing


def agreement_rows(
    result: Result | Joined,
    place: str,
    how: Testing,
    baseline: str | None,
    correction: Correction | None,
) -> Iterator[Row]:
    """One row per metric, best first (equal ones by name), then the controls."""
    names = result.names if isinstance(result, Joined) else result.cells.names
    common = _common(result, place)
    p = _against(names, result.verdicts, baseline)
    corrected = _corrected(p, correction)
    values = [v.value for v in result.values]
    order = sorted(range(len(names)), key=lambda k: (np.isnan(values[k]), -values[k], names[k]))
    for k in order:
        yield (
            common
            | _measured(names[k], result.values[k], result, control=False)
            | {
                "p": _defined(p[k]),
                "low": _defined(result.verdicts.low[k]),
                "high": _defined(result.verdicts.high[k]),
                "rank": _whole(result.ranks[k]),
                "cluster": _whole(result.clusters[k]),
                "p_corrected": _defined(corrected[k]),
                "alternative": None if np.isnan(p[k]) else how.alternative,
                "test": result.verdicts.test or None,
                "interval": result.verdicts.interval or None,
            }
        )
    for name, found in result.controls:
        yield common | _measured(name, found, result, control=True)


def _common(result: Result | Joined, place: str) -> dict[str, Cell]:
    measure = result.measure
    row: dict[str, Cell] = dict.fromkeys(column.name for column in COLUMNS["metaeval"])
    row |= {
        "language_pair": place,
        "place": place,
        "measure": measure.title,
        "level": measure.level,
        "statistic": measure.statistic,
        "grouping": measure.grouping,
        "subset": result.subset,
        "unit": measure.unit,
    }
    if isinstance(result, Joined):
        unit = "test sets" if result.place == "average" else measure.unit
        return row | {"unit": unit}
    own: dict[str, Cell] = {
        "language_pair": result.contest.pair,
        "test_set": result.contest.name,
        "human": result.human,
    }
    return row | own


def _measured(
    name: str, found: Value, result: Result | Joined, *, control: bool
) -> dict[str, Cell]:
    measure = result.measure
    alone = not isinstance(result, Joined)
    least = FEW * (FEW - 1) // 2 if measure.unit == "pairs" else FEW
    return {
        "metric": name,
        "value": _defined(found.value),
        "n": found.n,
        "few": alone and measure.level == "system" and found.n < least,
        "epsilon": None if found.epsilon is None else _defined(found.epsilon),
        "control": control,
    }


def _against(names: Sequence[str], found: Verdicts, baseline: str | None) -> list[float]:
    if baseline not in names:
        return [float("nan")] * len(names)
    return [float(p) for p in found.p[:, names.index(str(baseline))]]


def _corrected(p: Sequence[float], correction: Correction | None) -> list[float]:
    if correction is None:
        return [float("nan")] * len(p)
    correct = stats.holm if correction == "holm" else stats.benjamini_hochberg
    return [float(q) for q in correct(p)]


def _defined(number: float) -> float | None:
    return None if np.isnan(number) else float(number)


def _whole(number: float) -> int | None:
    return None if np.isnan(number) else int(number)
