"""The table of differences between systems, what is said of it, and how text shows it."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from gnomon.findings import Column, Excerpt, Listing, Table
from gnomon.muler._significance import LEAST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.findings import Cell, View
    from gnomon.muler._significance import Bootstrap
    from gnomon.muler._significance_pairs import Differences

__all__ = ["differences_table", "listings", "significance_notices"]

_WHOLE = 2000  # differences that a page holds without choosing among them
_PER_FEATURE = 20  # else those of each feature, metric, variant and slice
_LISTED = 20  # significant differences that text shows per metric

_LISTED_COLUMNS = (
    "feature",
    "system_a",
    "system_b",
    "difference",
    "low",
    "high",
    "p",
    "p_holm",
    "p_bh",
    "p_max",
    "segments",
)

_COLUMNS = (
    Column("metric", "Metric"),
    Column("variant", "Variant"),
    Column("slice", "Slice", help="the segments looked at; empty for all of them"),
    Column("feature", "Feature"),
    Column("system_a", "A", help="the system that comes first in the test set"),
    Column("system_b", "B"),
    Column(
        "difference",
        "A - B",
        "number",
        digits=3,
        help="MuLER of A less that of B; below 0: A leaves less unearned",
        ends=("low", "high"),
    ),
    Column("low", "low", "number", digits=3, help="of the interval of the difference"),
    Column("high", "high", "number", digits=3, help="of the interval of the difference"),
    Column("p", "p", "number", digits=4, help="paired bootstrap, two-sided"),
    Column(
        "p_holm", "Holm", "number", digits=4, help="p corrected over features and pairs, after Holm"
    ),
    Column("p_bh", "BH", "number", digits=4, help="likewise, after Benjamini and Hochberg"),
    Column(
        "p_max", "max-T", "number", digits=4, help="likewise, by the largest of all differences"
    ),
    Column("segments", "|I|", "count", help="the smaller of the two systems' sizes of I"),
    Column("significant", "significant", "truth", help="BH is at most 1 - confidence"),
)


def differences_table(found: Differences, options: Bootstrap) -> Table:
    """All comparisons, the most significant of each metric, variant and slice first."""
    note = (
        f"p: paired bootstrap of {options.resamples} resamples, two-sided, (1 + those at least as"
        f" far from the difference as 0 is) / {options.resamples + 1}. Corrected over all features"
        " and pairs of a metric, variant and slice: Holm and max-T (no false finding at all),"
        " Benjamini-Hochberg (BH: few among those found). Significant: BH <="
        f" {1 - options.confidence:.4g}."
    )
    rows = tuple(found.rows())
    title = "Differences between systems"
    return Table("differences", title, _COLUMNS, rows, note, _excerpt(rows))


def _excerpt(rows: Sequence[Mapping[str, Cell]]) -> Excerpt | None:
    """Of many differences, those that a page holds: the most significant of each feature."""
    if len(rows) <= _WHOLE:
        return None
    taken: Counter[tuple[Cell, ...]] = Counter()
    kept = []
    for position, row in enumerate(rows):  # the most significant come first
        place = tuple(row[name] for name in ("metric", "variant", "slice", "feature"))
        taken[place] += 1
        if taken[place] <= _PER_FEATURE:
            kept.append(position)
    note = (
        f"This page holds {len(kept):,} of {len(rows):,} differences: of each feature the"
        f" {_PER_FEATURE} with the smallest p, whether significant or not. All of them are in JSON"
        " (-f json) and in the file of --differences."
    )
    return Excerpt(tuple(kept), note)


def listings(
    metrics: Sequence[str], variant: str, table: Table, options: Bootstrap
) -> tuple[View, ...]:
    """The most significant differences of each metric over all segments, for text."""
    found = {row["metric"] for row in table.rows if _is_listed(row, variant)}
    return tuple(
        Listing(
            table=table.name,
            title=f"Differences of MuLER under {metric} that are significant"
            f" ({100 * options.confidence:g} % intervals)",
            columns=_LISTED_COLUMNS,
            where={"metric": metric, "variant": variant, "slice": None, "significant": True},
            most=_LISTED,
        )
        for metric in metrics
        if metric in found
    )


def significance_notices(
    options: Bootstrap, found: Differences, table: Table, sparse: int
) -> tuple[str, ...]:
    """What a reader should know of the intervals and the tests."""
    intervals = (
        f"{100 * options.confidence:g} % intervals: {options.resamples} resamples of the segments"
        f" (bootstrap-t, shares: percentiles), for figures over at least {LEAST} segments"
    )
    tests = _of_tests(table), _of_holm(options, found.largest_family())
    return tuple(filter(None, (intervals, _of_sparse(sparse), *tests)))


def _of_sparse(sparse: int) -> str:
    if not sparse:
        return ""
    return (
        f"{sparse} intervals of MuLER rest on fewer than 95 % of the resamples: in the others it is"
        " undefined"
    )


def _of_tests(table: Table) -> str:
    if not table.rows or any(row["significant"] for row in table.rows):
        return ""
    return "no difference between two systems is significant"


def _of_holm(options: Bootstrap, tests: int) -> str:
    alpha = 1 - options.confidence
    if tests <= alpha * (options.resamples + 1) + 1e-9:
        return ""
    needed = math.ceil(tests / alpha - 1e-9)
    return (
        f"Holm multiplies the smallest of {tests} p-values by {tests}, and {options.resamples}"
        f" resamples give none below 1/{options.resamples + 1}: no difference can be significant"
        f" after Holm; it takes --bootstrap {needed}, or fewer features or systems; read max-T,"
        " which answers the same question without that limit"
    )


def _is_listed(row: Mapping[str, Cell], variant: str) -> bool:
    return bool(row["significant"]) and row["variant"] == variant and row["slice"] is None
