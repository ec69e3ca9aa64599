"""What lies behind the figures: wins, points, curves over the best systems, single decisions."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

from gnomon import stats
from gnomon.metaeval._across import Joined
from gnomon.metaeval._cells import value
from gnomon.metaeval._judge import ALL
from gnomon.metaeval._testing import beats

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.findings import Cell
    from gnomon.metaeval._contest import Contest, Entry
    from gnomon.metaeval._judge import Result
    from gnomon.metaeval._testing import Testing

    Row = Mapping[str, Cell]

__all__ = ["curve_rows", "decision_pair_rows", "decision_rows", "point_rows", "win_rows"]

_LEAST = 3  # systems that a curve starts with


def win_rows(place: str, result: Result | Joined, how: Testing) -> Iterator[Row]:
    """Every ordered pair of metrics, best first: difference, p, and whether the first one wins.

    Each metric stands against itself, too, without p: so that the rows make a square.
    """
    names = result.names if isinstance(result, Joined) else result.cells.names
    found, measure = result.verdicts, result.measure
    values = [v.value for v in result.values]
    order = sorted(range(len(names)), key=lambda k: (np.isnan(values[k]), -values[k], names[k]))
    for i, j in product(order, order) if found.test and len(names) > 1 else ():
        p = found.p[i, j]
        yield {
            "place": place,
            "level": measure.level,
            "statistic": measure.statistic,
            "grouping": measure.grouping,
            "subset": result.subset,
            "metric": names[i],
            "against": names[j],
            "difference": _defined(found.differences[i, j]),
            "p": _defined(p) if i != j else None,
            "wins": beats(found, i, j, how),
            "kind": None if isinstance(result, Joined) else result.human,
        }


def point_rows(place: str, contest: Contest) -> Iterator[Row]:
    """What people and each metric gave to every system."""
    outliers = stats.outliers(contest.system)
    for entry in contest.entries:
        for k, system in enumerate(contest.systems):
            human, score = _defined(contest.system[k]), _defined(entry.system[k])
            if human is not None and score is not None:
                yield {
                    "place": place,
                    "system": system,
                    "metric": entry.metric,
                    "score": score,
                    "human": human,
                    "outlier": bool(outliers[k]),
                    "segments": int((~np.isnan(entry.segments[k])).sum()) or None,
                    "kind": contest.kinds.get("system"),
                }


def curve_rows(place: str, results: Sequence[Result]) -> Iterator[Row]:
    """Statistics of system scores over the K best systems, for every K."""
    for result in results:
        measure = result.measure
        if measure.level != "system" or result.subset != ALL or not measure.is_row_statistic:
            continue
        order = stats.top(result.cells.human, max(len(result.cells.human), 1))
        for k in range(_LEAST, len(order) + 1):
            kept = np.zeros(len(result.cells.human), dtype=bool)
            kept[order[:k]] = True
            part = result.cells.only(kept)
            for m, metric in enumerate(part.names):
                found = value(part, m)
                yield {
                    "place": place,
                    "statistic": measure.statistic,
                    "metric": metric,
                    "k": k,
                    "value": _defined(found.value),
                    "n": found.n,
                    "kind": result.human,
                }


def decision_rows(place: str, contest: Contest, baseline: str) -> Iterator[Row]:
    """How many pairs of systems each metric orders rightly where the baseline does not, ..."""
    base = _entry(contest, baseline)
    for entry in contest.entries:
        if base is None or entry is base:
            continue
        kinds = [change for *_, change in _changes(contest, entry, base)]
        counts = {k: kinds.count(k) for k in ("right", "repaired", "broken", "wrong")}
        shares = {f"{k}_share": c / len(kinds) if kinds else None for k, c in counts.items()}
        yield {
            "place": place,
            "metric": entry.metric,
            "pairs": len(kinds),
            **counts,
            **shares,
            "kind": contest.kinds.get("system"),
        }


def decision_pair_rows(place: str, contest: Contest, baseline: str) -> Iterator[Row]:
    """The pairs of systems that a metric orders otherwise than the baseline."""
    base = _entry(contest, baseline)
    for entry in contest.entries:
        if base is None or entry is base:
            continue
        for i, j, change in _changes(contest, entry, base):
            if change in ("repaired", "broken"):
                yield {
                    "place": place,
                    "metric": entry.metric,
                    "change": change,
                    "better": contest.systems[i],
                    "worse": contest.systems[j],
                    "human": float(contest.system[i] - contest.system[j]),
                    "baseline": float(base.system[i] - base.system[j]),
                    "score": float(entry.system[i] - entry.system[j]),
                    "kind": contest.kinds.get("system"),
                }


def _entry(contest: Contest, name: str) -> Entry | None:
    return next((entry for entry in contest.entries if entry.metric == name), None)


def _changes(contest: Contest, entry: Entry, base: Entry) -> Iterator[tuple[int, int, str]]:
    """Pairs (better, worse) of systems that people tell apart, and what a metric changes."""
    human, ours, theirs = contest.system, entry.system, base.system
    known = np.flatnonzero(~(np.isnan(human) | np.isnan(ours) | np.isnan(theirs)))
    for a, b in combinations(known.tolist(), 2):
        if human[a] == human[b]:
            continue
        i, j = (a, b) if human[a] > human[b] else (b, a)
        now, before = ours[i] > ours[j], theirs[i] > theirs[j]
        change = "right" if before else "repaired"
        yield i, j, change if now else "broken" if before else "wrong"


def _defined(number: float) -> float | None:
    return None if np.isnan(number) else float(number)
