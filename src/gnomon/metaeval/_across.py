"""One measure over several test sets: averages, pooled decisions, gains over a baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon import stats
from gnomon.metaeval._cells import Cells, Value
from gnomon.metaeval._testing import Testing, Verdicts, beats, nothing
from gnomon.metaeval._verdicts import pooled_verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.findings import Cell
    from gnomon.metaeval._judge import Judging, Result
    from gnomon.metaeval._measures import Measure

__all__ = ["AVERAGE", "POOLED", "Joined", "gain_rows", "grouped", "joined"]

AVERAGE = "average"
POOLED = "all"


class Joined(NamedTuple):
    """One measure over several test sets.

    Attributes:
        place: "average" (the mean over test sets) or "all" (decisions pooled).
        measure: what was measured.
        subset: over which systems of each.
        names: the metrics.
        values: one per metric; n counts test sets, or pairs that were pooled.
        verdicts: tests, where decisions were pooled.
        ranks: ranks from 1 [M]; NaN where undefined.
        clusters: clusters from 1 [M].
        controls: names and values of the controls.
    """

    place: str
    measure: Measure
    subset: str
    names: tuple[str, ...]
    values: tuple[Value, ...]
    verdicts: Verdicts
    ranks: NDArray[np.float64]
    clusters: NDArray[np.float64]
    controls: tuple[tuple[str, Value], ...]


def grouped(results: Sequence[Result]) -> dict[tuple[Measure, str], list[Result]]:
    """The results of each measure and subset over test sets, in order."""
    found: dict[tuple[Measure, str], list[Result]] = {}
    for result in results:
        found.setdefault((result.measure, result.subset), []).append(result)
    return found


def joined(results: Sequence[Result], judging: Judging) -> Iterator[Joined]:
    """Averages and pooled decisions of what was measured on several test sets."""
    for parts in grouped(results).values():
        if len(parts) > 1:
            if parts[0].measure.statistic == "pairwise_accuracy":
                yield _pooled(parts, judging)
            yield _average(parts)


def _average(parts: Sequence[Result]) -> Joined:
    names = _names(parts)
    known = [dict(zip(p.cells.names, p.values, strict=True)) for p in parts]
    beside = [dict(p.controls) for p in parts]
    undefined = np.full(len(names), np.nan)
    return Joined(
        AVERAGE,
        parts[0].measure,
        parts[0].subset,
        names,
        tuple(_mean([part.get(name) for part in known]) for name in names),
        nothing(len(names)),
        undefined,
        undefined,
        tuple((n, _mean([p.get(n) for p in beside])) for n in _controls(parts)),
    )


def _mean(values: Sequence[Value | None]) -> Value:
    """The mean over test sets; undefined unless it is defined on every one of them."""
    numbers = np.array([np.nan if v is None else v.value for v in values])
    return Value(float(numbers.mean()), int((~np.isnan(numbers)).sum()))


def _pooled(parts: Sequence[Result], judging: Judging) -> Joined:
    everywhere = [n for n in _names(parts) if all(n in p.cells.names for p in parts)]
    chosen = [_only(part.cells, everywhere) for part in parts]
    values = tuple(_decided(chosen, k) for k in range(len(everywhere)))
    how = judging.testing
    drawn = how.resamples > 0 and how.test in ("auto", "permutation") and len(everywhere) > 0
    found = pooled_verdicts(chosen, how) if drawn else nothing(len(everywhere))
    scores = np.array([v.value for v in values], dtype=np.float64)
    ranked = drawn and how.alternative == "greater"
    undefined = np.full(len(values), np.nan)
    return Joined(
        POOLED,
        parts[0].measure,
        parts[0].subset,
        tuple(everywhere),
        values,
        found,
        stats.ranks(scores, found.p, alpha=how.alpha) if ranked else undefined,
        stats.clusters(scores, found.p, alpha=how.alpha) if ranked else undefined,
        tuple((n, _summed([dict(p.controls).get(n) for p in parts])) for n in _controls(parts)),
    )


def _decided(parts: Sequence[Cells], metric: int) -> Value:
    decisions = [stats.pairwise_decisions(p.human, p.metrics[metric]) for p in parts]
    agreeing, total = (sum(side) for side in zip(*decisions, strict=True))
    return Value(agreeing / total if total else float("nan"), total)


def _summed(values: Sequence[Value | None]) -> Value:
    known = [v for v in values if v is not None and v.n]
    total = sum(v.n for v in known)
    return Value(sum(v.value * v.n for v in known) / total if total else float("nan"), total)


def _only(found: Cells, names: Sequence[str]) -> Cells:
    rows = [found.names.index(name) for name in names]
    return found.having(found.human, found.metrics[rows])


def _names(parts: Sequence[Result]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for part in parts for name in part.cells.names))


def _controls(parts: Sequence[Result]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for part in parts for name, _ in part.controls))


def gain_rows(
    results: Sequence[Result], baseline: str, how: Testing
) -> Iterator[Mapping[str, Cell]]:
    """Each metric's gain over the baseline: mean, smallest and largest over test sets."""
    for (measure, subset), parts in grouped(results).items():
        means = {name: _mean([_of(part, name) for part in parts]).value for name in _names(parts)}
        others = [name for name in means if name != baseline]
        for name in sorted(others, key=lambda n: (np.isnan(means[n]), -means[n], n)):
            shared = [p for p in parts if {name, baseline} <= set(p.cells.names)]
            gains = [_gain(part, name, baseline) for part in shared]
            known = np.array([gain for gain in gains if not np.isnan(gain)])
            yield {
                "level": measure.level,
                "statistic": measure.statistic,
                "grouping": measure.grouping,
                "subset": subset,
                "metric": name,
                "average": None if np.isnan(means[name]) else means[name],
                "gain": float(known.mean()) if len(known) else None,
                "gain_min": float(known.min()) if len(known) else None,
                "gain_max": float(known.max()) if len(known) else None,
                "language_pairs": len(known),
                "better": _won(shared, name, baseline, how),
                "worse": _won(shared, baseline, name, how),
                "kind": _only_kind(parts),
            }


def _only_kind(parts: Sequence[Result]) -> str | None:
    kinds = {part.human for part in parts}
    return kinds.pop() if len(kinds) == 1 else None


def _of(part: Result, name: str) -> Value | None:
    return part.values[part.cells.names.index(name)] if name in part.cells.names else None


def _gain(part: Result, name: str, baseline: str) -> float:
    places = tuple(part.cells.names.index(n) for n in (name, baseline))
    tested = float(part.verdicts.differences[places])
    if not np.isnan(tested):
        return tested  # on what both have scored
    ours, theirs = (_of(part, n) for n in (name, baseline))
    return ours.value - theirs.value if ours and theirs else float("nan")


def _won(parts: Sequence[Result], better: str, worse: str, how: Testing) -> int | None:
    """On how many test sets one metric is significantly better than the other."""
    if not any(part.verdicts.test for part in parts):
        return None
    cells = [(p.cells.names.index(better), p.cells.names.index(worse)) for p in parts]
    won = [beats(part.verdicts, *at, how) for part, at in zip(parts, cells, strict=True)]
    return won.count(True)
