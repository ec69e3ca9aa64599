"""How the tables of a comparison may be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.findings import Bars, HeatMap, Listing
from gnomon.metaeval._compare_tables import NGRAMS, SEGMENTS, SLICES, SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.findings import Table, View

__all__ = ["views"]

_LISTED = 12
_DIFFERENCE = ("difference", "low", "high")


def views(
    tables: Sequence[Table], metrics: Sequence[str], systems: Sequence[str]
) -> tuple[View, ...]:
    """What text shows, then what a page shows beside the tables.

    Args:
        tables: those of the finding.
        metrics: names of the metrics.
        systems: names of the systems, the baseline first.
    """
    kinds = {table.name: table for table in tables}
    alone = systems[1] if len(systems) == 2 else None
    found: list[View] = [_listing(metric, systems[0], alone) for metric in metrics]
    if SLICES in kinds and alone:
        found += [_slices(metric, alone) for metric in metrics]
    found += map(_bars, metrics)
    if SLICES in kinds:
        found += [_slice_map(kinds[SLICES], metric, prominent=alone is None) for metric in metrics]
    if SEGMENTS in kinds and alone:
        found += [_deciders(metric) for metric in metrics]
    if NGRAMS in kinds and alone:
        there = kinds[NGRAMS].values("side")
        found += [_ngrams(side) for side in (alone, systems[0]) if side in there]
    return tuple(found)


def _listing(metric: str, baseline: str, alone: str | None) -> Listing:
    p = "p" if alone else "p_adjusted"  # of one comparison, both are the same
    counts = ("wins", "ties", "losses")
    return Listing(
        SYSTEMS,
        f"{metric}, compared with {baseline}",
        ("system", "score", *_DIFFERENCE, p, "verdict", *counts),
        {"metric": metric, "slice": None},
    )


def _slices(metric: str, system: str) -> Listing:
    return Listing(
        SYSTEMS,
        f"{metric} of {system} by slice",
        ("slice", "segments", "score", *_DIFFERENCE, "p_adjusted", "verdict"),
        {"metric": metric, "system": system},
    )


def _slice_map(table: Table, metric: str, *, prominent: bool) -> HeatMap:
    gains = (row["gain"] for row in table.rows if row["metric"] == metric)
    reach = max((abs(gain) for gain in gains if isinstance(gain, float)), default=0.0) or None
    return HeatMap(
        SLICES,
        f"{metric}: gain over the baseline by slice",
        rows="slice",
        columns="system",
        value="gain",
        beside="segments",
        where={"metric": metric},
        low=None if reach is None else -reach,
        high=reach,
        faint="undecided",
        prominent=prominent,
    )


def _deciders(metric: str) -> Listing:
    return Listing(
        SEGMENTS,
        f"{metric}: segments that decide",
        ("side", "segment", "difference", "score", "baseline_score", "influence"),
        {"metric": metric},
    )


def _ngrams(side: str) -> Listing:
    return Listing(
        NGRAMS,
        f"n-grams that only {side} gets right",
        ("side", "ngram", "count", "other", "reference"),
        {"side": side},
        most=_LISTED,
    )


def _bars(metric: str) -> Bars:
    return Bars(
        SYSTEMS,
        "Differences from the baseline, and scores",
        category="baseline",
        series="system",
        values=("difference", "score"),
        where={"metric": metric, "slice": None},
    )
