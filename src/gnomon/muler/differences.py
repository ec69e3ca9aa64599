"""Differences of MuLER between systems: decided together, listed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from gnomon.core.findings import Bars, Excerpt, Listing
from gnomon.core.records import FEATURE, METRIC, SLICE, EndColumns, Record, column, table
from gnomon.core.verdicts import LEAST, metric_title
from gnomon.muler.figures import VARIANT
from gnomon.muler.pairs import FEWEST_DIFFERING, compared
from gnomon.stats.studentised import FEWEST_DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from gnomon.core.findings import Table, View
    from gnomon.muler.pairs import FeatureRatios, Units
    from gnomon.muler.uncertainty import Bootstrap

__all__ = [
    "DifferenceRow",
    "Differences",
    "OmissionRow",
    "differences_table",
    "listings",
    "omissions_table",
    "pictures",
]


# Comparisons are gathered family by family, and decided together.


_FamilyKey: TypeAlias = tuple[str, str, str | None]
_ROUNDING = 1e-12  # 1 - 0.95 is not quite 0.05


@dataclass
class Differences:
    """Gathers comparisons feature by feature, family by family (metric, variant, slice)."""

    systems: Sequence[str]
    options: Bootstrap
    families: dict[_FamilyKey, list[FeatureRatios]] = field(default_factory=dict)
    units: dict[_FamilyKey, Units] = field(default_factory=dict)

    def add(self, family: _FamilyKey, of_feature: FeatureRatios, units: Units) -> None:
        """Note what systems have of one feature."""
        self.families.setdefault(family, []).append(of_feature)
        self.units[family] = units

    def rows(self) -> list[DifferenceRow]:
        """The rows of all comparisons, the smallest p of each family first."""
        return [row for key, family in self.families.items() for row in self._family(key, family)]

    def _family(self, key: _FamilyKey, features: Sequence[FeatureRatios]) -> list[DifferenceRow]:
        """The rows of one family, the smallest p first; among equals the largest difference."""
        found = compared(features, self.units[key], self.options, LEAST)
        first, second = (side.tolist() for side in np.triu_indices(len(self.systems), 1))
        words = np.concatenate([one.words for one in features])
        p_words = np.concatenate([one.p_words for one in features])
        spill_over = np.concatenate([one.spill_over for one in features])
        sizes = np.stack([one.segments for one in features])
        segments = np.minimum(sizes[:, first], sizes[:, second]).ravel()
        holds = p_words <= 1 - self.options.confidence + _ROUNDING
        metric, variant, slice_name = key
        low, high, p, decided, _ = found.family
        return [
            DifferenceRow(
                metric=metric,
                variant=variant,
                slice=slice_name,
                feature=features[i // len(first)].feature,
                system_a=self.systems[first[i % len(first)]],
                system_b=self.systems[second[i % len(first)]],
                difference=float(found.difference[i]),
                intervals={"difference": (float(low[i]), float(high[i]))},
                p=float(p[i]),
                decided=decided[i],
                words=int(words[i]),
                effective=int(found.effective[i]),
                p_words=float(p_words[i]) if words[i] >= FEWEST_DIFFERING else None,
                spill_over=float(spill_over[i]),
                carried=bool(decided[i]) and not holds[i],
                segments=int(segments[i]),
                resamples=found.draws,
                reliable=bool(found.reliable[i]),
            )
            for i in np.lexsort((-np.abs(found.difference), p)).tolist()
        ]


# The table of differences between systems, notices on it, and its views in text.


DIFFERENCES = "differences"
_WHOLE = 2000  # differences that a page holds without choosing among them
_PER_FEATURE = 20  # else those of each feature, metric, variant and slice
_LISTED = 20  # differences that text shows per metric

_LISTED_COLUMNS = (
    "feature",
    "system_a",
    "system_b",
    "difference",
    "low",
    "high",
    "p",
    "segments",
    "words",
)


_A = column("A", help="the system that comes first in the test set")
_B = column("B", help="the other one")
_P = column("p", digits=4, help="two-sided, adjusted over the features and pairs of the family")
_DECIDED = column(
    "decided",
    help="whether the interval leaves 0 out, and p is at most 1 - confidence; empty where"
    " there is no interval",
)


class DifferenceRow(Record):
    """Two systems on a feature."""

    metric: str = METRIC
    variant: str = VARIANT
    slice: str | None = SLICE
    feature: str = FEATURE
    system_a: str = _A
    system_b: str = _B
    difference: float | None = column(
        "A - B",
        digits=3,
        help="MuLER of A less that of B; below 0: A loses less",
        interval=EndColumns(),
    )
    p: float | None = _P
    decided: bool | None = _DECIDED
    words: int = column("differing", help="segments in which the words of the feature differ")
    effective: int = column(
        "effective",
        help="segments of one size that would vary as much: few where a few segments make the"
        f" difference; of fewer than {FEWEST_DIFFERENT}, or fewer than {FEWEST_DIFFERING}"
        " differing, there is no interval",
    )
    p_words: float | None = column(
        "p (words)",
        digits=4,
        help=f"of the difference there; of {FEWEST_DIFFERING} segments or more",
    )
    spill_over: float | None = column(
        "spill-over",
        digits=3,
        help="how much of A - B comes from segments where the words of the feature are equal: what"
        " would be missing if both systems had the mean of their figures there",
    )
    segments: int = column("Segments", help="the smaller of the two systems' sizes of I")
    resamples: int = column("resamples", help="of the segments, or of the documents")
    carried: bool = column(
        "spill-over alone",
        help="decided, but not found where the words of the feature differ: it may come from the"
        " words around them",
    )
    reliable: bool = column(
        "reliable",
        help=f"both MuLER lie within 0 and 1, over {LEAST} segments or more; else not compared",
    )

    @property
    def family(self) -> tuple[str, str, str | None]:
        """The differences that are decided together: metric, variant and slice."""
        return self.metric, self.variant, self.slice

    @property
    def better(self) -> str:
        """The system that loses less of the feature."""
        return self.system_b if (self.difference or 0.0) > 0 else self.system_a

    @property
    def worse(self) -> str:
        """The other one."""
        return self.system_a if (self.difference or 0.0) > 0 else self.system_b

    @property
    def is_finding(self) -> bool:
        """True if it is decided, and not carried over from other words."""
        return bool(self.decided) and not self.carried


class OmissionRow(Record):
    """Two systems, and how many segments have too few of a feature."""

    slice: str | None = SLICE
    feature: str = FEATURE
    system_a: str = _A
    system_b: str = _B
    difference: float | None = column(
        "A - B",
        digits=3,
        help="share of the segments with too few of it (miss) of A less that of B",
        interval=EndColumns(),
    )
    p: float | None = _P
    decided: bool | None = _DECIDED
    words: int = column("differing", help="segments where one of the two alone has too few")


def omissions_table(rows: Sequence[DifferenceRow]) -> Table:
    """Table of features that systems have too few of, pair by pair."""
    kept = [OmissionRow.derive(row) for row in rows]
    return table("omissions", "Differences in what systems leave out", OmissionRow, kept)


def differences_table(rows: Sequence[DifferenceRow], options: Bootstrap) -> Table:
    """All comparisons, the smallest p of each metric, variant and slice first."""
    note = (
        f"Intervals ({100 * options.confidence:g} %) and p hold for all features and pairs of a"
        " metric, variant and slice together (largest studentised distance of a resample, in"
        " steps); an end that is 0 is open. p (words): Student's t of the difference in the"
        " segments where the words of the feature differ."
    )
    title = "Differences between systems"
    return table(DIFFERENCES, title, DifferenceRow, rows, note=note, excerpt=_excerpt(rows))


def _excerpt(rows: Sequence[DifferenceRow]) -> Excerpt | None:
    """Of many differences, those that a page holds: the most significant of each feature."""
    if len(rows) <= _WHOLE:
        return None
    taken: Counter[tuple[str | None, ...]] = Counter()
    kept = []
    for position, row in enumerate(rows):  # the smallest p come first
        key = (*row.family, row.feature)
        taken[key] += 1
        if taken[key] <= _PER_FEATURE:
            kept.append(position)
    note = (
        f"This page holds {len(kept):,} of {len(rows):,} differences: of each feature the"
        f" {_PER_FEATURE} with the smallest p, whether decided or not. All of them are in JSON"
        " (-f json), and --tables differences=FILE writes them."
    )
    return Excerpt(tuple(kept), note)


def listings(
    metrics: Sequence[str], variant: str, rows: Sequence[DifferenceRow], options: Bootstrap
) -> tuple[View, ...]:
    """The differences of each metric over all segments that are decided, for text."""
    found = {
        row.metric for row in rows if row.is_finding and (row.variant, row.slice) == (variant, None)
    }
    return tuple(
        Listing(
            table=DIFFERENCES,
            title=f"Differences of MuLER under {metric_title(metric, metrics)}"
            f" ({100 * options.confidence:g} % intervals over all features and pairs)",
            columns=_LISTED_COLUMNS,
            where={
                "metric": metric,
                "variant": variant,
                "slice": None,
                "decided": True,
                "carried": False,
            },
            most=_LISTED,
        )
        for metric in metrics
        if metric in found
    )


def pictures(
    metrics: Sequence[str],
    variant: str,
    every: Sequence[DifferenceRow],
    wide: Collection[tuple[str, str]] = (),
) -> tuple[View, ...]:
    """Of two systems, what lies between them feature by feature; of more, none."""
    rows = [row for row in every if (row.variant, row.slice) == (variant, None)]
    if len({(row.system_a, row.system_b) for row in rows}) != 1:
        return ()
    drawn = [row for row in rows if row.reliable and (row.metric, row.feature) not in wide]
    return tuple(
        Bars(
            table=DIFFERENCES,
            title=f"Differences of MuLER under {metric_title(metric, metrics)}",
            category="metric",
            series="feature",
            values=("difference",),
            where={"metric": metric, "variant": variant, "slice": None, "reliable": True},
            shown=tuple(row.feature for row in of_metric),
            ordered=True,
            strong="decided",
            ends=(f"{rows[0].system_a} better", f"{rows[0].system_b} better"),
        )
        for metric in metrics
        if (of_metric := [row for row in drawn if row.metric == metric])
    )
