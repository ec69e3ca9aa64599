"""Stability of MuLER of a feature when only a part of the feature is marked."""

from __future__ import annotations

from itertools import product
from statistics import median
from typing import TYPE_CHECKING, Any

from gnomon.core.findings import Finding, Lines, Listing
from gnomon.core.records import FEATURE, METRIC, SYSTEM, Record, column, table
from gnomon.core.slices import slices
from gnomon.core.verdicts import metric_title, titles_of
from gnomon.linguistics import gloss
from gnomon.messages import message
from gnomon.messages.grammar import counted
from gnomon.metrics.means import mean
from gnomon.muler._mask_kinds import MASKS
from gnomon.muler.figures import VARIANT, VARIANTS, feature_scores, figures, presence
from gnomon.muler.validate.initials import (
    Part,
    averaged,
    defined_numbers,
    grouped,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.findings import Cell, View
    from gnomon.messages import Message
    from gnomon.metrics.base import BoundMetric
    from gnomon.muler._setup import Setup
    from gnomon.muler.figures import Figures, Variant
    from gnomon.muler.validate.initials import InitialCut, Initials


# The columns of the frequency experiment, its summary, and their views.


class PartRow(Record):
    """MuLER of a part of a feature, beside that of all of it."""

    system: str = SYSTEM
    metric: str = METRIC
    feature: str = FEATURE
    variant: str = VARIANT
    masks: str = MASKS
    alpha: float = column("alpha", help="share of the feature asked for")
    share: float | None = column("share", digits=3, help="share that the first letters really hold")
    segments: int = column("Segments", help="segments where both sides have what is left")
    muler: float | None = column(
        "MuLER", kind="share", digits=3, better="lower", help="of what is left"
    )
    gain: float | None = column("max - base", help="abl-MuLER")
    muler_change: float | None = column("change of MuLER", digits=3, help="relative to alpha = 1")
    gain_change: float | None = column(
        "change of max - base", digits=3, help="relative to alpha = 1"
    )

    @property
    def steadier(self) -> bool | None:
        """True if MuLER changes less than max - base, where a part of the feature is left."""
        ours, theirs = self.muler_change, self.gain_change
        if ours is None or theirs is None or (self.share or 1) == 1:
            return None
        return abs(ours) < abs(theirs)


_LISTED = "system feature alpha share segments muler gain muler_change gain_change"


def frequency_views(metrics: Sequence[str]) -> Iterator[View]:
    """A list per metric and variant, and MuLER against the share that is left."""
    for metric, variant in product(metrics, VARIANTS):
        where: dict[str, Cell] = {"metric": metric, "variant": variant}
        kind = f"{metric_title(metric, metrics)} ({variant})"
        title = f"Robustness to frequency under {kind}"
        yield Listing("frequency", title, tuple(_LISTED.split()), where)
        yield Lines(
            table="frequency",
            title=f"MuLER of a part of a feature under {kind}",
            x="share",
            y="muler",
            series="system",
            panels="feature",
            where=where,
        )


# Sentences.


def frequency_verdict(finding: Finding) -> Iterator[Message]:
    """Say if MuLER holds still when features get rarer, in the median; nothing is tested."""
    titles, every = titles_of(finding), finding.records(PartRow)
    rows = [row for row in every if row.alpha != 1 and row.variant == every[0].variant]
    for key, group in averaged(rows, "metric", "alpha"):
        ours, theirs = (
            defined_numbers(getattr(row, name) for row in group)
            for name in ("muler_change", "gain_change")
        )
        steadier = defined_numbers(row.steadier for row in group)
        if not steadier:
            continue
        yield message(
            "muler.validate.frequency.steady",
            finding.positions(group),
            alpha=f"{key['alpha']:.0%}",
            metric=titles[key["metric"]],
            ours=f"{median(map(abs, ours)):.0%}",
            theirs=f"{median(map(abs, theirs)):.0%}",
            share=f"{mean(steadier):.0%}",
            pairs=counted(len(steadier), "pair"),
        )


# The experiment.


def frequency_experiment(setup: Setup, split: Sequence[Initials], shares: Sequence[float]) -> Part:
    """MuLER of the words of a feature up to a letter, beside that of all of them."""
    shares = tuple(sorted({*shares, 1.0}))[::-1]
    rows: list[PartRow] = []
    for name, metric in setup.metrics.items():
        for number, initials in enumerate(split):
            rows.extend(_rows(setup, name, metric, initials, shares))
            setup.step(f"scoring {name}", number + 1, len(split))
    note = "A measure of quality should not change when a feature gets rarer."
    return Part(
        table("frequency", "MuLER of a part of a feature", PartRow, rows, note=note),
        tuple(frequency_views(list(setup.metrics))),
        tuple(_notices(rows)),
    )


def _rows(
    setup: Setup, name: str, metric: BoundMetric, initials: Initials, alphas: Sequence[float]
) -> Iterator[PartRow]:
    cuts = [initials.cut(alpha) for alpha in alphas]
    by_cut = _figures(setup, metric, initials, cuts)
    for variant, (system, system_figures) in product(
        VARIANTS, enumerate(zip(*by_cut, strict=True))
    ):
        key = {
            "system": setup.batch.systems[system],
            "metric": name,
            "feature": initials.feature,
            "masks": metric.masks_used,
        }
        whole = system_figures[0]
        for alpha, cut, cut_figures in zip(alphas, cuts, system_figures, strict=True):
            yield _row(key, alpha, cut, cut_figures, whole, variant)


def _figures(
    setup: Setup, metric: BoundMetric, initials: Initials, cuts: Sequence[InitialCut | None]
) -> list[tuple[Figures, ...]]:
    """The figures of every system, cut by cut; those of an impossible cut are empty."""
    kind = initials.feature.partition(":")[0]
    none = initials.letter < 0
    heads = {f"{kind}:{n}": none if cut is None else cut.head for n, cut in enumerate(cuts)}
    plan = setup.oracles(grouped(setup.spans, initials.rows, heads))
    plan = plan.fill_lengths(metric.mask_lengths(setup.batch, plan))
    everything = slices(setup.testset, None)[0].members
    return [
        figures(scores, presence(setup.batch, plan.spans, number), everything)
        for number, scores in enumerate(feature_scores(metric, setup.batch, plan))
    ]


def _row(
    key: Mapping[str, Any],
    alpha: float,
    cut: InitialCut | None,
    cut_figures: Figures,
    whole: Figures,
    variant: Variant,
) -> PartRow:
    muler, of_whole = cut_figures.get_muler(variant), whole.get_muler(variant)
    return PartRow(
        **key,
        variant=variant,
        alpha=alpha,
        share=None if cut is None else cut.share,
        segments=cut_figures.segments,
        muler=muler,
        gain=cut_figures.gain,
        muler_change=_change(muler, of_whole),
        gain_change=_change(cut_figures.gain, whole.gain),
    )


def _change(value: float | None, of_whole: float | None) -> float | None:
    return None if value is None or not of_whole else value / of_whole - 1


def _notices(rows: Sequence[PartRow]) -> Iterator[Message]:
    whole = dict.fromkeys((gloss(row.feature), row.alpha) for row in rows if row.share is None)
    if whole:
        features = [{"kind": kind, "alpha": alpha} for kind, alpha in whole]
        yield message("note.muler.uncut", features=features)
