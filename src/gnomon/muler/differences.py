"""Differences between systems: tested pair by pair, corrected, listed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np

from gnomon.core.findings import Bars, Excerpt, Listing
from gnomon.core.records import FEATURE, METRIC, SLICE, EndColumns, Record, column, table
from gnomon.core.verdicts import LEAST, amount, metric_title
from gnomon.muler.figures import INTERVAL_SEGMENTS, VARIANT
from gnomon.stats.resampling import shift_distance, shift_p
from gnomon.stats.significance import benjamini_hochberg

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from gnomon.core.findings import Table, View
    from gnomon.muler.uncertainty import Bootstrap

    Floats: TypeAlias = NDArray[np.float64]

__all__ = [
    "DifferenceRow",
    "Differences",
    "OwnWords",
    "PairTests",
    "compared",
    "differences_table",
    "listings",
    "pair_tests",
    "pictures",
]


# Differences of MuLER between systems: intervals, p-values, and corrections for asking often.


_FIELDS = ("difference", "p", "words", "p_words", "p_bh", "segments", "carried", "reliable")
_JOINED = (
    *("first", "second", "difference", "low", "high", "p", "segments", "reliable"),
    *("words", "p_words", "p_same"),
)
_ROUNDING = 1e-12  # 1 - 0.95 is not quite 0.05
_ROUNDING_P = 1e-9  # of a p-value and the smallest one that draws can show
_CELLS = 4_000_000  # float64 differences in memory at once (32 MB)


@dataclass(frozen=True)
class PairTests:
    """Every pair of K systems on one feature, P = K (K - 1) / 2; NaN where undefined."""

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    difference: Floats
    low: Floats
    high: Floats
    p: Floats
    segments: NDArray[np.intp]
    reliable: NDArray[np.bool_]
    resamples: int
    words: NDArray[np.intp]
    p_words: Floats
    p_same: Floats

    @property
    def p_both(self) -> Floats:
        """The larger p, float64 [P]: a difference counts only where the words differ, too."""
        return np.where(np.isnan(self.p_words), np.nan, np.fmax(self.p, self.p_words))


class OwnWords(NamedTuple):
    """What a feature's own words say of the pairs of systems; see :class:`PairTests`."""

    words: NDArray[np.intp]
    everywhere: NDArray[np.bool_]
    p: Floats
    p_same: Floats


def compared(
    estimates: Floats,
    samples: Floats,
    sizes: NDArray[np.intp],
    confidence: float,
    word_tests: OwnWords | None = None,
) -> PairTests:
    """Compare every pair of systems by a paired bootstrap.

    The interval is difference -+ q, q the quantile over resamples of |difference* - difference|,
    and p = (1 + #{|difference* - difference| >= |difference|}) / (B + 1); a pair with fewer than
    ``INTERVAL_SEGMENTS`` segments in either I has neither.
    """
    first, second = np.triu_indices(len(estimates), 1)
    difference = estimates[first] - estimates[second]
    segments = np.minimum(sizes[first], sizes[second])
    wide, p = np.full((2, len(first)), np.nan)
    tested = np.flatnonzero((segments >= INTERVAL_SEGMENTS) & ~np.isnan(difference))
    step = max(1, _CELLS // samples.shape[1])
    for start in range(0, len(tested), step):
        pairs = tested[start : start + step]
        drawn = samples[first[pairs]] - samples[second[pairs]]
        wide[pairs] = shift_distance(difference[pairs], drawn, confidence)
        p[pairs] = shift_p(difference[pairs], drawn)
    return pair_tests(
        estimates,
        sizes,
        (difference - wide, difference + wide),
        p,
        word_tests,
        resamples=samples.shape[1],
    )


def pair_tests(
    estimates: Floats,
    sizes: NDArray[np.intp],
    ends: tuple[Floats, Floats],
    p: Floats,
    word_tests: OwnWords | None,
    *,
    resamples: int = 0,
) -> PairTests:
    """The comparisons of one feature, of the ends of their intervals and their tests."""
    first, second = np.triu_indices(len(estimates), 1)
    segments = np.minimum(sizes[first], sizes[second])
    inside = (estimates >= 0) & (estimates <= 1)
    reliable = inside[first] & inside[second] & (segments >= LEAST)
    words, p_words, p_same = segments, p, np.ones(len(p))
    if word_tests is not None:
        words, p_same = word_tests.words, word_tests.p_same
        where_differing = np.where(word_tests.words < INTERVAL_SEGMENTS, np.nan, word_tests.p)
        p_words = np.where(word_tests.everywhere, p, where_differing)
    return PairTests(
        first,
        second,
        estimates[first] - estimates[second],
        *ends,
        p,
        segments,
        reliable,
        resamples,
        words,
        p_words,
        p_same,
    )


@dataclass
class Differences:
    """Gathers comparisons feature by feature, family by family (metric, variant, slice)."""

    systems: Sequence[str]
    confidence: float
    families: dict[tuple[str, str, str | None], dict[str, PairTests]] = field(default_factory=dict)

    def add(
        self, metric: str, variant: str, slice_name: str | None, feature: str, tests: PairTests
    ) -> None:
        """Note the comparisons of one feature."""
        self.families.setdefault((metric, variant, slice_name), {})[feature] = tests

    def rows(self) -> list[DifferenceRow]:
        """The rows of all comparisons, the most significant of each family first."""
        return [row for key, family in self.families.items() for row in self._family(key, family)]

    def _family(
        self, key: tuple[str, str, str | None], family: dict[str, PairTests]
    ) -> list[DifferenceRow]:
        """The rows of one family; p-values are corrected over its features and pairs."""
        parts = list(family.values())
        joined = {name: np.concatenate([getattr(c, name) for c in parts]) for name in _JOINED}
        p_both = np.concatenate([c.p_both for c in parts])
        level = 1 - self.confidence + _ROUNDING
        # found in all segments and in those with the same words, and not in the others
        carried = np.fmax(benjamini_hochberg(joined["p"]), joined["p_same"]) <= level
        joined["carried"] = carried & ~(joined["p_words"] <= level)
        joined["p_bh"] = benjamini_hochberg(p_both)
        features = [name for name, c in family.items() for _ in range(len(c.p))]
        values: dict[str, list[Any]] = {name: joined[name].tolist() for name in _FIELDS}
        ends = list(zip(joined["low"].tolist(), joined["high"].tolist(), strict=True))
        metric, variant, slice_name = key
        return [
            DifferenceRow(
                metric=metric,
                variant=variant,
                slice=slice_name,
                feature=features[i],
                system_a=self.systems[int(joined["first"][i])],
                system_b=self.systems[int(joined["second"][i])],
                intervals={"difference": ends[i]},
                **{name: values[name][i] for name in _FIELDS},
                resamples=parts[0].resamples or None,
                significant=bool(joined["p_bh"][i] <= 1 - self.confidence + _ROUNDING),
            )
            for i in _order(joined)
        ]


def _order(joined: dict[str, NDArray[Any]]) -> list[int]:
    """Smallest p first; among equals the largest difference."""
    order = np.lexsort((-np.abs(joined["difference"]), joined["p"]))
    return cast("list[int]", order.tolist())


# The table of differences between systems, notices on it, and its views in text.


DIFFERENCES = "differences"
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
    "p_bh",
    "segments",
    "words",
)


class DifferenceRow(Record):
    """Two systems on a feature."""

    metric: str = METRIC
    variant: str = VARIANT
    slice: str | None = SLICE
    feature: str = FEATURE
    system_a: str = column("A", help="the system that comes first in the test set")
    system_b: str = column("B", help="the other one")
    difference: float | None = column(
        "A - B",
        digits=3,
        help="MuLER of A less that of B; below 0: A loses less",
        interval=EndColumns(),
    )
    p: float | None = column("p", digits=4, help="paired test, two-sided")
    words: int = column("differing", help="segments in which the words of the feature differ")
    p_words: float | None = column(
        "p (words)",
        digits=4,
        help=f"of the difference there; of {INTERVAL_SEGMENTS} segments or more",
    )
    p_bh: float | None = column(
        "BH",
        digits=4,
        help="the larger p, corrected over features and pairs after Benjamini and Hochberg",
    )
    segments: int = column("Segments", help="the smaller of the two systems' sizes of I")
    resamples: int | None = column("resamples", help="of the segments; none: by document")
    carried: bool = column(
        "carried over",
        help="a difference that is found where the words of the feature are the same, not where"
        " they differ",
    )
    significant: bool = column("significant", help="BH is at most 1 - confidence")
    reliable: bool = column(
        "reliable",
        help=f"both MuLER lie within 0 and 1, over {LEAST} segments or more; else no finding",
    )

    @property
    def family(self) -> tuple[str, str, str | None]:
        """The differences that are corrected together: metric, variant and slice."""
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
        """Whether it may be read as a finding: significant, of two figures that are reliable."""
        return self.significant and self.reliable

    @property
    def smallest_p(self) -> bool:
        """Whether its p is the smallest that the draws can show."""
        least = 0.0 if not self.resamples else 1 / (self.resamples + 1)
        return self.p is not None and self.p <= least + _ROUNDING_P

    def size(self) -> str:
        """By how much less the better one loses, and the interval of that."""
        difference, (low, high) = self.difference or 0.0, self.ends("difference")
        if difference < 0:
            low, high = (None if end is None else -end for end in (high, low))
        return amount(abs(difference), low, high, share=True)


def differences_table(rows: Sequence[DifferenceRow], options: Bootstrap) -> Table:
    """All comparisons, the most significant of each metric, variant and slice first."""
    how = (
        f"paired bootstrap of {options.resamples} resamples, two-sided, (1 + those at least as far"
        f" from the difference as 0 is) / {options.resamples + 1}"
    )
    if rows and not rows[0].resamples:
        how = "jackknife over documents, two-sided, Student's t"
    note = (
        f"p: {how}. p (words): Student's t of the difference in the segments where the words of the"
        f" feature differ, for {INTERVAL_SEGMENTS} such segments or more. The larger of the two is"
        " corrected over all features and pairs of a metric, variant and slice after Benjamini and"
        f" Hochberg (BH: few false ones among those found). Significant: BH <="
        f" {1 - options.confidence:.4g}."
    )
    title = "Differences between systems"
    return table(DIFFERENCES, title, DifferenceRow, rows, note=note, excerpt=_excerpt(rows))


def _excerpt(rows: Sequence[DifferenceRow]) -> Excerpt | None:
    """Of many differences, those that a page holds: the most significant of each feature."""
    if len(rows) <= _WHOLE:
        return None
    taken: Counter[tuple[str | None, ...]] = Counter()
    kept = []
    for position, row in enumerate(rows):  # the most significant come first
        key = (*row.family, row.feature)
        taken[key] += 1
        if taken[key] <= _PER_FEATURE:
            kept.append(position)
    note = (
        f"This page holds {len(kept):,} of {len(rows):,} differences: of each feature the"
        f" {_PER_FEATURE} with the smallest p, whether significant or not. All of them are in JSON"
        " (-f json), and --tables differences=FILE writes them."
    )
    return Excerpt(tuple(kept), note)


def listings(
    metrics: Sequence[str], variant: str, rows: Sequence[DifferenceRow], options: Bootstrap
) -> tuple[View, ...]:
    """The most significant differences of each metric over all segments, for text."""
    significant = {
        row.metric for row in rows if row.is_finding and (row.variant, row.slice) == (variant, None)
    }
    return tuple(
        Listing(
            table=DIFFERENCES,
            title=f"Differences of MuLER under {metric} that are significant"
            f" ({100 * options.confidence:g} % intervals)",
            columns=_LISTED_COLUMNS,
            where={
                "metric": metric,
                "variant": variant,
                "slice": None,
                "significant": True,
                "reliable": True,
            },
            most=_LISTED,
        )
        for metric in metrics
        if metric in significant
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
            strong="significant",
            ends=(f"{rows[0].system_a} better", f"{rows[0].system_b} better"),
        )
        for metric in metrics
        if (of_metric := [row for row in drawn if row.metric == metric])
    )
