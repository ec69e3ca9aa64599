"""Tables and views of the cost of features to the systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.findings import Bars, Finding, HeatMap, Listing
from gnomon.core.records import table
from gnomon.core.verdicts import LEAST, metric_title
from gnomon.linguistics import gloss
from gnomon.messages import message
from gnomon.muler._setup import slices_to_draw
from gnomon.muler.differences import differences_table, listings, omissions_table, pictures
from gnomon.muler.discrepancy import (
    COUNTED,
    Unscored,
    decided_counts,
    discrepancy_views,
    stacked_counts,
)
from gnomon.muler.exhibits import NegativeRow, segment_table
from gnomon.muler.figures import MulerRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.findings import Cell, Table, View
    from gnomon.core.slices import Slice
    from gnomon.messages import Message
    from gnomon.muler._score_rows import Scored
    from gnomon.muler._setup import Setup
    from gnomon.muler.figures import Variant

__all__ = ["negative_table", "score_finding"]


_LISTED_SYSTEMS = 2  # listed in text; more are shown in heat maps alone
_LISTED = (
    "feature",
    "segments",
    "muler",
    "muler_low",
    "muler_high",
    "uninformative",
    "base",
    "oracle",
    "anti_oracle",
    "gain",
)


def main_table(rows: Sequence[MulerRow], confidence: float | None = None) -> Table:
    """The main table."""
    if rows and rows[0].metric == Unscored.name:
        unscored = [name for name in MulerRow.__annotations__ if name not in COUNTED]
        note = "Shares of all segments. miss: less in the candidate; add: more; hit: equally much."
        title = "Discrepancy by feature and system"
        return table(
            "muler", title, MulerRow, rows, note=note, confidence=confidence, without=unscored
        )
    note = "Lower MuLER is better: 0 = no loss on these words, 1 = all that the metric could give."
    title = "MuLER by feature and system"
    return table("muler", title, MulerRow, rows, note=note, confidence=confidence)


def negative_table(rows: Sequence[NegativeRow], left_out: int = 0) -> Table:
    """The segments whose base exceeds their oracle, largest excess first within a feature."""
    note = "Masking the feature alike on both sides lowers the score here."
    if left_out:
        note += (
            f" Of each feature and system the largest are listed, and {left_out} are not; column"
            " 'base > max' of the main table counts all."
        )
    title = "Segments scored above their oracle"
    return table("negative", title, NegativeRow, rows, note=note)


def views(
    metrics: Sequence[str],
    variants: Sequence[Variant],
    parts: Sequence[str | None],
    shown: Sequence[str],
    table: Table,
) -> tuple[View, ...]:
    """Heat maps per metric, variant and slice; then bars of one or two systems, groups, shares.

    Systems are shown in the order given. Of one or two, text also lists each with its companions.
    """
    titles = {metric: metric_title(metric, metrics) for metric in metrics}
    all_views: list[View] = [
        _heat_map(metric, titles[metric], variant, slice_name, prominent=variant == variants[0])
        for metric in metrics
        for slice_name in parts
        for variant in variants
    ]
    if len(shown) <= _LISTED_SYSTEMS:
        columns = {column.name for column in table.columns}
        if "muler_low" not in columns:
            columns.discard("uninformative")
        listed = tuple(name for name in _LISTED if name in columns)
        all_views += [
            _listing(metric, titles[metric], variants[0], system, listed)
            for metric in metrics
            for system in shown
        ]
    for metric in metrics:
        all_views.extend(_bars(metric, titles[metric], variants[0], tuple(shown)))
    return tuple(all_views)


def _listing(
    metric: str, title: str, variant: Variant, system: str, columns: tuple[str, ...]
) -> Listing:
    kind = "" if variant == "ratio" else f" ({variant})"
    where: dict[str, Cell] = {
        "metric": metric,
        "variant": variant,
        "slice": None,
        "system": system,
    }
    return Listing("muler", f"{system} under {title}{kind}", columns, where)


def _heat_map(
    metric: str, title: str, variant: Variant, slice_name: str | None, *, prominent: bool
) -> HeatMap:
    slice_label = "" if slice_name is None else f", {slice_name}"
    kind = "" if variant == "ratio" else " (segment-clipped)"
    return HeatMap(
        table="muler",
        title=f"MuLER under {title}{kind}{slice_label}",
        rows="feature",
        columns="system",
        value="muler",
        beside="segments",
        where={"metric": metric, "variant": variant, "slice": slice_name},
        low=0.0,
        high=1.0,
        marks="outside",
        few=("segments", LEAST),
        exhibits=True,
        prominent=prominent,
    )


def _bars(metric: str, title: str, variant: Variant, shown: tuple[str, ...]) -> tuple[View, ...]:
    where: dict[str, Cell] = {"metric": metric, "variant": variant, "slice": None}
    return (
        Bars(
            table="muler",
            title=f"One or two systems under {title}: what each feature costs",
            category="feature",
            series="system",
            values=("muler", "base", "spread"),
            where=where,
            shown=shown[:2],
            most=2,
            beside="segments",
        ),
        stacked_counts(where),
    )


def score_finding(
    setup: Setup,
    parts: Sequence[Slice],
    scored_features: Scored,
    variants: list[Variant],
    confidence: float,
) -> Finding:
    """Tables and views of features under some metrics."""
    gathered = [row for variant in variants for row in scored_features.rows.get(variant, [])]
    rows = decided_counts(gathered, confidence)
    uncertainty, metrics = scored_features.uncertainty, list(setup.metrics)
    places = [slice_.name for slice_ in slices_to_draw(parts)]
    table = main_table(rows, None if uncertainty is None else confidence)
    tables = [table]
    seen = discrepancy_views(setup.testset.outline.systems, places)
    drawn: tuple[View, ...] = ()
    if Unscored.name not in setup.metrics:
        scores = next(iter(scored_features.system.values()))
        ranked = sorted(zip(scores, setup.testset.systems, strict=True), key=lambda pair: -pair[0])
        seen = views(metrics, variants, places, [name for _, name in ranked], table)
        if uncertainty is not None:
            differences = uncertainty.differences.rows()
            tables.append(differences_table(differences, uncertainty.options))
            too_wide = [row for row in rows if row.uninformative and row.slice is None]
            wide = {(row.metric, row.feature) for row in too_wide}
            drawn = pictures(metrics, variants[0], differences, wide)
            seen += listings(metrics, variants[0], differences, uncertainty.options)
        tables.append(negative_table(scored_features.negatives, scored_features.negatives_left_out))
    if scored_features.per_segment:
        tables.append(segment_table(scored_features.segments))
    if uncertainty is not None:
        tables.append(omissions_table(uncertainty.omissions().rows()))
    said = () if uncertainty is None else uncertainty.notices()
    counts = [gloss(feature) for feature in dict.fromkeys(scored_features.by_document)]
    by_document = scored_features.grouping.notices(counts=counts)
    return Finding(
        method="muler",
        title="MuLER: what each kind of word costs the systems",
        tables=tuple(tables),
        signatures=scored_features.signatures,
        views=(*drawn, *seen),
        exhibits=tuple(scored_features.exhibits),
        notices=(*setup.notices, *_slice_notices(parts), *said, *by_document),
        facts=setup.facts(),
    )


def _slice_notices(parts: Sequence[Slice]) -> Iterator[Message]:
    drawn = slices_to_draw(parts)
    if len(drawn) < len(parts):
        yield message("note.muler.slices", slices=len(parts) - 1, drawn=len(drawn) - 1)
