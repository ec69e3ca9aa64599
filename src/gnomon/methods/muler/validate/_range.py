"""Does a feature that is half right score half-way between the oracles?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.core.findings import Finding, HeatMap, Lines, Listing
from gnomon.core.records import FEATURE, METRIC, SYSTEM, Record, column, columns_of, table
from gnomon.core.verdicts import Claim, amount, counted, titles_of
from gnomon.methods.muler._figures import presence, ratio
from gnomon.methods.muler._mask_kinds import MASKS, masks_note
from gnomon.methods.muler.validate._initials import (
    Part,
    averaged,
    defined_numbers,
    grouped,
    means,
)
from gnomon.metrics.masking import (
    Action,
    MaskPlan,
    masks_used,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.findings import Cell, Statement, View
    from gnomon.methods.muler._setup import Setup
    from gnomon.methods.muler.validate._initials import Cut, Initials
    from gnomon.metrics.protocol import MaskingMetric


# The columns of the range experiment, its summary, and their views.


class RangeRow(Record):
    """A hybrid of oracle and anti-oracle of one system and feature."""

    system: str = SYSTEM
    metric: str = METRIC
    feature: str = FEATURE
    masks: str = MASKS
    alpha: float = column("alpha", help="share of the feature asked for")
    share: float | None = column("share", digits=3, help="share that the first letters really hold")
    segments: int = column("Segments", help="segments where both sides have the whole feature")
    anti_oracle: float | None = column("min", help="mean over I, masked differently on each side")
    oracle: float | None = column("max", help="mean over I, masked alike on both sides")
    base: float | None = column("base (I)", help="mean over I of the texts as they are")
    muler: float | None = column(
        "MuLER", kind="share", digits=3, better="lower", help="(max - base) / (max - min)"
    )
    hybrid: float | None = column(
        "hybrid", help="the first letters masked alike, others differently"
    )
    relative_deviation: float | None = column("relative", digits=3, help="position - share")
    position: float | None = column("position", digits=3, help="(hybrid - min) / (max - min)")
    rises: bool | None = column("rises", help="the hybrid lies no lower than at the share before")


def range_views(metrics: Sequence[str], alphas: Sequence[float]) -> tuple[View, ...]:
    """Lists per metric; position against share; heat maps of the deviation."""
    shown = tuple(c.name for c in columns_of(RangeRow) if c.name not in ("metric", "position"))
    views: list[View] = []
    for metric in metrics:
        where: dict[str, Cell] = {"metric": metric}
        views.append(Listing("range", f"Range under {metric}", shown, where))
        views.append(
            Lines(
                table="range",
                title=f"Where hybrids lie between min and max under {metric}",
                x="share",
                y="position",
                series="system",
                panels="feature",
                where=where,
                identity=True,
            )
        )
    return (*views, *(_heat_map(metric, alpha) for metric in metrics for alpha in alphas))


def _heat_map(metric: str, alpha: float) -> HeatMap:
    return HeatMap(
        table="range",
        title=f"Relative deviation from an even scale under {metric}, alpha {alpha:g}",
        rows="feature",
        columns="system",
        value="relative_deviation",
        beside="segments",
        where={"metric": metric, "alpha": alpha},
        low=-0.5,
        high=0.5,
        prominent=False,
    )


# What it says, in sentences.

SCALE = Claim(
    "muler.validate.range.scale",
    "With {alpha} of a feature's words right, {metric} lies {off} of its range away from an even"
    " scale on average, at most {most} ({pairs} of a system and a feature){rises}; not tested",
    "undecided",
    "scores of hybrids between the two masks",
)


def range_verdict(finding: Finding) -> Iterator[Statement]:
    """Whether what is half right scores half-way, over systems and features; nothing is tested."""
    titles, rows = titles_of(finding), finding.records(RangeRow)
    for key, group in averaged(rows, "metric", "alpha"):
        some = [row for row in group if row.relative_deviation is not None]
        sizes = [abs(row.relative_deviation or 0.0) for row in some]
        rising = defined_numbers(row.rises for row in group)
        if not sizes:
            continue
        rises = f"; it rises with that share in {means(rising):.0%} of them" if rising else ""
        yield SCALE.said(
            finding.positions(some),
            alpha=f"{key['alpha']:.0%}",
            metric=titles[key["metric"]],
            off=amount(means(sizes) or 0.0, share=True),
            most=amount(max(sizes), share=True),
            pairs=counted(len(some), "pair"),
            rises=rises,
        )


# Does the score between the two oracles rise in step with how much of a feature is right?


def range_experiment(setup: Setup, split: Sequence[Initials], shares: Sequence[float]) -> Part:
    """Hybrids of oracle and anti-oracle, whose nouns (say) up to a letter are masked alike."""
    shares = tuple(sorted(set(shares)))
    rows: list[RangeRow] = []
    for name, metric in setup.metrics.items():
        rows.extend(_rows(setup, name, metric, split, shares))
    note = "An even scale gives position = share." + masks_note(rows)
    return Part(
        table("range", "Hybrids between the oracles", RangeRow, rows, note=note),
        range_views(list(setup.metrics), shares),
        tuple(_notices(rows)),
    )


class _Means(NamedTuple):
    """Means over I of one system: of its texts, both oracles and the hybrid of every cut."""

    segments: int
    base: float
    oracle: float
    anti_oracle: float
    hybrids: list[float]


def _rows(
    setup: Setup,
    name: str,
    metric: MaskingMetric,
    split: Sequence[Initials],
    alphas: Sequence[float],
) -> Iterator[RangeRow]:
    lengths = metric.mask_lengths(setup.batch, setup.oracles(setup.spans))
    sign = 1.0 if metric.higher_is_better else -1.0
    for number, initials in enumerate(split):
        cuts = [initials.cut(alpha) for alpha in alphas]
        length = None if lengths is None else lengths[number]
        all_means = _means(setup, metric, initials, cuts, number, length)
        for system, system_means in enumerate(all_means):
            key = {
                "system": setup.batch.systems[system],
                "metric": name,
                "feature": initials.feature,
                "masks": masks_used(metric),
            }
            yield from _of_system(key, system_means, cuts, alphas, sign)
        setup.step(f"scoring {name}", number + 1, len(split))


def _means(
    setup: Setup,
    metric: MaskingMetric,
    initials: Initials,
    cuts: Sequence[Cut | None],
    feature: int,
    length: int | None,
) -> Iterator[_Means]:
    inside = presence(setup.batch, setup.spans, feature).both
    scores = metric.masked(setup.batch, _plan(setup, initials, cuts, length))
    plain = metric.segments(setup.batch)
    for system, segments in enumerate(inside):
        base = _mean(plain[system], segments)
        oracle, anti_oracle, *hybrids = (_mean(variant[system], segments) for variant in scores)
        yield _Means(int(segments.sum()), base, oracle, anti_oracle, hybrids)


def _plan(
    setup: Setup, initials: Initials, cuts: Sequence[Cut | None], length: int | None
) -> MaskPlan:
    """Oracle, anti-oracle, hybrids: all shared, but private what lies beyond the cut.

    Private wins where groups meet, so that a hybrid that leaves nothing beyond is the oracle.
    """
    every = np.ones(len(initials.rows), dtype=np.bool_)
    beyond = {f"beyond {n}": every if cut is None else ~cut.head for n, cut in enumerate(cuts)}
    spans = grouped(setup.spans, initials.rows, {"all": every, **beyond})
    actions = np.zeros((2 + len(cuts), 1 + len(cuts)), dtype=np.int8)
    actions[:, 0] = Action.SHARED
    actions[1, 0] = Action.PRIVATE
    hybrids = np.arange(len(cuts))
    actions[2 + hybrids, 1 + hybrids] = Action.PRIVATE
    lengths = None if length is None else (length,) * (1 + len(cuts))
    return MaskPlan(spans, actions, setup.masks.overlap, setup.masks.granularity, lengths)


def _of_system(
    key: Mapping[str, Any],
    means: _Means,
    cuts: Sequence[Cut | None],
    alphas: Sequence[float],
    sign: float,
) -> Iterator[RangeRow]:
    before = sign * means.anti_oracle
    for alpha, cut, hybrid in zip(alphas, cuts, means.hybrids, strict=True):
        rises = None
        if cut is not None and not np.isnan(hybrid):
            rises = bool(sign * hybrid >= before - 1e-12 * abs(before))
            before = sign * hybrid
        yield RangeRow(
            **key,
            alpha=alpha,
            share=None if cut is None else cut.share,
            segments=means.segments,
            anti_oracle=means.anti_oracle,
            oracle=means.oracle,
            base=means.base,
            muler=ratio(means.base, means.oracle, means.anti_oracle),
            **_of_hybrid(means, None if cut is None else cut.share, hybrid),
            rises=rises,
        )


def _of_hybrid(means: _Means, share: float | None, hybrid: float) -> dict[str, Any]:
    """Where the hybrid lies between min and max, and where it should."""
    names = ("hybrid", "relative_deviation", "position")
    if share is None:
        return dict.fromkeys(names)
    means.anti_oracle + share * (means.oracle - means.anti_oracle)
    # the place between the ends is one less what MuLER would call it
    left = ratio(hybrid, means.oracle, means.anti_oracle)
    relative, position = (None, None) if left is None else (1 - left - share, 1 - left)
    return dict(zip(names, (hybrid, relative, position), strict=True))


def _mean(scores: NDArray[np.float64], segments: NDArray[np.bool_]) -> float:
    chosen = scores[segments]
    chosen = chosen[~np.isnan(chosen)]
    return float(chosen.mean()) if len(chosen) else float("nan")


def _notices(rows: Sequence[RangeRow]) -> Iterator[str]:
    absent = dict.fromkeys(f"{row.feature} of {row.system}" for row in rows if row.segments == 0)
    if absent:
        yield f"without segments in which both sides have it: {', '.join(absent)}"
    whole = dict.fromkeys(
        f"{row.feature} at {row.alpha}" for row in rows if row.segments and not row.share
    )
    if whole:
        yield (
            "cannot be split, since the letters that reach the share hold the whole feature in the"
            f" references: {', '.join(whole)}"
        )
