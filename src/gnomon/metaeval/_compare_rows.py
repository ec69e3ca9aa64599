"""The records of a comparison: p-values corrected, verdicts said."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gnomon.stats import benjamini_hochberg, holm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.findings import Cell
    from gnomon.metaeval._compare_figures import Compared, Contest
    from gnomon.metaeval._compare_options import Plan

__all__ = ["rows"]


def rows(
    contest: Contest,
    parts: Sequence[tuple[str | None, Sequence[Compared]]],
    plan: Plan,
) -> list[dict[str, Cell]]:
    """The records of one metric: p-values are corrected over systems, and over systems x slices."""
    whole = [part for part in parts if part[0] is None]
    sliced = [part for part in parts if part[0] is not None]
    return [row for family in (whole, sliced) for row in _family(contest, family, plan)]


def _family(
    contest: Contest, parts: Sequence[tuple[str | None, Sequence[Compared]]], plan: Plan
) -> list[dict[str, Cell]]:
    found = [(name, k, one) for name, compared in parts for k, one in enumerate(compared)]
    adjusted = _corrected([one.p for _, _, one in found], plan)
    return [
        _row(contest, k, name, one, p, plan)
        for (name, k, one), p in zip(found, adjusted, strict=True)
    ]


def _corrected(p: list[float], plan: Plan) -> list[float]:
    values = np.array(p, dtype=np.float64)
    if plan.correction == "none":
        return p
    adjust = holm if plan.correction == "holm" else benjamini_hochberg
    return [float(value) for value in adjust(values)]


def _row(
    contest: Contest, k: int, name: str | None, one: Compared, p: float, plan: Plan
) -> dict[str, Cell]:
    gain = contest.sign * one.difference
    found = {
        "score": one.score,
        "difference": one.difference,
        "low": one.low,
        "high": one.high,
        "p": one.p,
        "p_adjusted": p,
        "gain": gain,
        "score_low": one.score_low,
        "score_high": one.score_high,
    }
    row: dict[str, Cell] = {key: defined(value) for key, value in found.items()}
    counts = {"wins": one.wins, "ties": one.ties, "losses": one.losses}
    verdict = "baseline" if k == 0 else _verdict(gain, p, plan.alpha)
    cells: dict[str, Cell] = {
        "system": contest.systems[k],
        "baseline": contest.systems[0],
        "metric": contest.metric,
        "slice": name,
        "segments": one.segments,
        **(dict.fromkeys(counts) if k == 0 else counts),
        "verdict": verdict,
        **row,
    }
    return cells


def _verdict(gain: float, p: float, alpha: float) -> str | None:
    if math.isnan(p):
        return None
    if p > alpha or gain == 0:
        return "undecided"
    return "better" if gain > 0 else "worse"


def defined(value: float) -> float | None:
    """NaN as the tables have it."""
    return None if math.isnan(value) else value
