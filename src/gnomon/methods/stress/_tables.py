"""Tables of minimal pairs, how they may be looked at, and pairs to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.findings import Bars, HeatMap, Lines, Listing
from gnomon.core.records import table
from gnomon.methods.stress._contrasts import SeenContrastRow, contrast_rows
from gnomon.methods.stress._doses import DoseRow, dose_rows
from gnomon.methods.stress._examples import (
    ExampleRow,
    example_exhibits,
    example_rows,
    unseen_pairs,
)
from gnomon.methods.stress._figures import SeenOverallRow, StressRow, overall_rows, stress_rows
from gnomon.methods.stress._outcomes import FEW_PAIRS
from gnomon.methods.stress._sanity import SanityRow, sanity_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.findings import Exhibit, Table, View
    from gnomon.methods.stress._outcomes import ScoredPairs

_OVERALL = "Over all kinds of errors"
_SANITY = "Texts that are no translation"
_DOSES = "More errors of one kind in a sentence"
_CONTRASTS = "Metrics against each other"
_EXAMPLES = "Pairs that are not seen"


def tables_of_pairs(
    scored: ScoredPairs, title: str, *, wanted: float, examples: int, confidence: float
) -> tuple[tuple[Table, ...], tuple[View, ...], tuple[Exhibit, ...]]:
    """Tables, views and exhibits.

    Args:
        scored: the pairs, of all doses.
        title: of the first table.
        wanted: the share that a metric must see.
        examples: unseen pairs of each kind.
        confidence: of the intervals.
    """
    lowest = scored.with_lowest_doses()
    rows = list(stress_rows(lowest, wanted=wanted, confidence=confidence))
    unseen = list(unseen_pairs(lowest, most=examples))
    tables = [
        table("stress", title, StressRow, rows, confidence=confidence),
        table(
            "overall",
            _OVERALL,
            SeenOverallRow,
            overall_rows(rows, lowest, confidence=confidence),
            confidence=confidence,
        ),
        table(
            "sanity",
            _SANITY,
            SanityRow,
            sanity_rows(lowest, confidence=confidence),
            confidence=confidence,
        ),
        table(
            "doses",
            _DOSES,
            DoseRow,
            dose_rows(scored, confidence=confidence),
            confidence=confidence,
        ),
        table("contrasts", _CONTRASTS, SeenContrastRow, contrast_rows(lowest)),
        table("examples", _EXAMPLES, ExampleRow, example_rows(unseen, lowest)),
    ]
    kept = tuple(of_kind for n, of_kind in enumerate(tables) if n < 2 or of_kind.records)
    views = tuple(view for of_kind in kept for view in _views(of_kind, scored))
    return kept, views, tuple(example_exhibits(unseen, lowest))


#: what the maps of the kinds of changes show, the main one first
_MAPS = (
    ("error", "", "seen"),
    ("crossed", "Errors where the right text is worded otherwise", "seen"),
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
                faint="mostly_ties",
                few=("pairs", FEW_PAIRS),
                exhibits=True,
            )


def _views(of_kind: Table, scored: ScoredPairs) -> Iterator[View]:
    match of_kind.name:
        case "stress":
            yield from _maps(of_kind)
            for metric in scored.metrics:
                yield Bars(
                    of_kind.name,
                    f"{metric}: errors that are seen",
                    category="phenomenon",
                    series="metric",
                    values=("seen",),
                    where={"metric": metric},
                    most=1,
                    beside="pairs",
                    dots=True,
                    hollow="unworded_seen",
                    line="harmless_lowered",
                )
        case "doses":
            for metric in scored.metrics:
                title = f"{metric}: {of_kind.title.lower()}"
                where = {"metric": metric}
                yield Lines(of_kind.name, title, "dose", "drop", "phenomenon", where=where)
        case "overall" | "sanity":
            yield Listing(of_kind.name, of_kind.title, tuple(_filled(of_kind)))
        case _:
            yield Listing(of_kind.name, of_kind.title, tuple(c.name for c in of_kind.columns))


#: columns of counts that stand beside what they are counts of
_COUNTS = frozenset({"critical_sentences", "harmless", "ordered_sentences", "control"})


def _filled(of_kind: Table) -> Iterator[str]:
    """Columns of which something is known, without ends of intervals."""
    ends = {end for column in of_kind.columns for end in column.ends or ()}
    for column in of_kind.columns:
        shown = column.name not in ends and column.name not in _COUNTS
        if shown and any(row[column.name] is not None for row in of_kind.rows):
            yield column.name
