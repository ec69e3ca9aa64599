"""Tables and views of minimal pairs, and pairs to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.findings import Bars, HeatMap, Listing
from gnomon.core.records import table
from gnomon.core.verdicts import metric_title
from gnomon.stress.examples import (
    StressExampleRow,
    choose_examples,
    example_exhibits,
    example_rows,
)
from gnomon.stress.figures import (
    StressOverallRow,
    StressRow,
    overall_rows,
    stress_rows,
)
from gnomon.stress.outcomes import FEW_PAIRS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.findings import Exhibit, Table, View
    from gnomon.stress.outcomes import Detection, ScoredPairs


def tables_of_pairs(
    scored: ScoredPairs, title: str, how: Detection
) -> tuple[tuple[Table, ...], tuple[View, ...], tuple[Exhibit, ...]]:
    """Tables, the first of that title, views and exhibits."""
    confidence = how.confidence
    rows = list(stress_rows(scored, wanted=how.detection_rate, confidence=confidence))
    overall = overall_rows(rows, scored, confidence=confidence)
    chosen = choose_examples(scored, most=how.examples, seed=how.seed)
    tables = [
        table("stress", title, StressRow, rows, confidence=confidence),
        table(
            "overall", "Over all kinds of errors", StressOverallRow, overall, confidence=confidence
        ),
    ]
    views = [*_maps(tables[0]), *_bars(scored), _listing(tables[1])]
    if chosen:
        tables.append(
            table("examples", "Pairs to read", StressExampleRow, example_rows(chosen, scored))
        )
        views.append(_listing(tables[2]))
    return tuple(tables), tuple(views), tuple(example_exhibits(chosen, scored))


#: maps of the kinds of changes, the main one first
_MAPS = (
    ("error", "", "detected"),
    ("crossed", "Errors where the right text is worded otherwise", "detected"),
    ("harmless", "Harmless changes that are scored lower", "lowered"),
)


def _maps(of_kind: Table) -> Iterator[View]:
    """A map per kind of change: phenomenon by metric."""
    there = {row["kind"] for row in of_kind.rows}
    for kind, title, value in _MAPS:
        if kind in there:
            yield HeatMap(
                of_kind.name,
                title or of_kind.title,
                "phenomenon",
                "metric",
                value,
                where={"kind": kind},
                beside="pairs",
                low=0,
                high=1,
                few=("pairs", FEW_PAIRS),
                exhibits=True,
            )


def _bars(scored: ScoredPairs) -> Iterator[View]:
    """A picture per metric: dots for the shares, hollow where the reference words it otherwise."""
    for metric in scored.metrics:
        yield Bars(
            "stress",
            f"{metric_title(metric, scored.metrics)}: errors that are detected",
            category="phenomenon",
            series="metric",
            values=("detected",),
            where={"metric": metric, "kind": "error"},
            most=1,
            beside="pairs",
            dots=True,
            hollow="detected_unworded",
        )


def _listing(of_kind: Table) -> Listing:
    """Columns of which something is known, without ends of intervals."""
    ends = {end for column in of_kind.columns for end in column.ends or ()} | {"control"}
    known = [
        column.name
        for column in of_kind.columns
        if column.name not in ends and any(row[column.name] is not None for row in of_kind.rows)
    ]
    return Listing(of_kind.name, of_kind.title, tuple(known))
