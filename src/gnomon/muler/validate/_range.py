"""Position of a feature that is half right between the oracles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.core.findings import Finding, Lines, Listing
from gnomon.core.records import FEATURE, METRIC, SYSTEM, Record, column, columns_of, table
from gnomon.core.verdicts import metric_title, titles_of
from gnomon.linguistics import gloss
from gnomon.messages import message
from gnomon.messages.grammar import amount, counted
from gnomon.metrics.masking import (
    Action,
    MaskPlan,
)
from gnomon.metrics.means import mean
from gnomon.muler._mask_kinds import MASKS
from gnomon.muler.figures import presence, ratio
from gnomon.muler.validate.initials import (
    Part,
    averaged,
    grouped,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.findings import Cell, View
    from gnomon.messages import Message
    from gnomon.metrics.base import BoundMetric
    from gnomon.muler._setup import Setup
    from gnomon.muler.validate.initials import InitialCut, Initials


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
    position: float | None = column("position", digits=3, help="(hybrid - min) / (max - min)")

    @property
    def off(self) -> float | None:
        """Distance of the hybrid from an even scale, as a share of max - min."""
        undefined = self.position is None or self.share is None
        return None if undefined else (self.position or 0.0) - (self.share or 0.0)


def range_views(metrics: Sequence[str]) -> Iterator[View]:
    """A list per metric, and position against share."""
    shown = tuple(c.name for c in columns_of(RangeRow) if c.name != "metric")
    for metric in metrics:
        where: dict[str, Cell] = {"metric": metric}
        name = metric_title(metric, metrics)
        yield Listing("range", f"Range under {name}", shown, where)
        yield Lines(
            table="range",
            title=f"Where hybrids lie between min and max under {name}",
            x="share",
            y="position",
            series="system",
            panels="feature",
            where=where,
            identity=True,
        )


# Sentences.


def range_verdict(finding: Finding) -> Iterator[Message]:
    """Say if what is half right scores half-way, over systems and features; without a test."""
    titles, rows = titles_of(finding), finding.records(RangeRow)
    for key, group in averaged(rows, "metric", "alpha"):
        some = [row for row in group if row.off is not None]
        sizes = [abs(row.off or 0.0) for row in some]
        if not sizes:
            continue
        yield message(
            "muler.validate.range.scale",
            finding.positions(some),
            alpha=f"{key['alpha']:.0%}",
            metric=titles[key["metric"]],
            off=amount(mean(sizes) or 0.0, share=True),
            most=amount(max(sizes), share=True),
            pairs=counted(len(some), "pair"),
        )


# Scores between the two oracles, by the share of a feature that is right.


def range_experiment(setup: Setup, split: Sequence[Initials], shares: Sequence[float]) -> Part:
    """Hybrids of oracle and anti-oracle, whose nouns (say) up to a letter are masked alike."""
    shares = tuple(sorted(set(shares)))
    rows: list[RangeRow] = []
    for name, metric in setup.metrics.items():
        rows.extend(_rows(setup, name, metric, split, shares))
    note = "An even scale gives position = share."
    return Part(
        table("range", "Hybrids between the oracles", RangeRow, rows, note=note),
        tuple(range_views(list(setup.metrics))),
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
    metric: BoundMetric,
    split: Sequence[Initials],
    alphas: Sequence[float],
) -> Iterator[RangeRow]:
    lengths = metric.mask_lengths(setup.batch, setup.oracles(setup.spans))
    for number, initials in enumerate(split):
        cuts = [initials.cut(alpha) for alpha in alphas]
        length = None if lengths is None else lengths[number]
        all_means = _means(setup, metric, initials, cuts, number, length)
        for system, system_means in enumerate(all_means):
            key = {
                "system": setup.batch.systems[system],
                "metric": name,
                "feature": initials.feature,
                "masks": metric.masks_used,
            }
            yield from _system_rows(key, system_means, cuts, alphas)
        setup.step(f"scoring {name}", number + 1, len(split))


def _means(
    setup: Setup,
    metric: BoundMetric,
    initials: Initials,
    cuts: Sequence[InitialCut | None],
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
    setup: Setup, initials: Initials, cuts: Sequence[InitialCut | None], length: int | None
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


def _system_rows(
    key: Mapping[str, Any],
    means: _Means,
    cuts: Sequence[InitialCut | None],
    alphas: Sequence[float],
) -> Iterator[RangeRow]:
    for alpha, cut, hybrid in zip(alphas, cuts, means.hybrids, strict=True):
        # the place between the ends is 1 - the hybrid's MuLER
        left = None if cut is None else ratio(hybrid, means.oracle, means.anti_oracle)
        yield RangeRow(
            **key,
            alpha=alpha,
            share=None if cut is None else cut.share,
            segments=means.segments,
            anti_oracle=means.anti_oracle,
            oracle=means.oracle,
            base=means.base,
            muler=ratio(means.base, means.oracle, means.anti_oracle),
            hybrid=None if cut is None else hybrid,
            position=None if left is None else 1 - left,
        )


def _mean(scores: NDArray[np.float64], segments: NDArray[np.bool_]) -> float:
    chosen = scores[segments]
    chosen = chosen[~np.isnan(chosen)]
    return float(chosen.mean()) if len(chosen) else float("nan")


def _notices(rows: Sequence[RangeRow]) -> Iterator[Message]:
    whole = dict.fromkeys(
        (gloss(row.feature), row.alpha) for row in rows if row.segments and not row.share
    )
    if whole:
        features = [{"kind": kind, "alpha": alpha} for kind, alpha in whole]
        yield message("note.muler.unsplit", features=features)
