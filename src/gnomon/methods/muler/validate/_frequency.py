"""Does MuLER of a feature stay the same when only a part of the feature is marked?"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from gnomon.core.findings import Bars, Finding, Lines, Listing
from gnomon.core.options import SEED, with_fields
from gnomon.core.records import FEATURE, METRIC, SYSTEM, Record, column, columns_of, table
from gnomon.core.registry import method
from gnomon.core.slices import slices
from gnomon.core.testset import TestSet
from gnomon.core.verdicts import Claim, counted, titles_of
from gnomon.linguistics import Features, FeatureSources
from gnomon.methods.muler._figures import VARIANT, VARIANTS, feature_scores, figures, presence
from gnomon.methods.muler._mask_kinds import MASKS, MIXED, masks_note, mixed_masks
from gnomon.methods.muler._setup import (
    MaskOptions,
    Run,
    WordChoice,
    check_masked_shares,
    prepared,
)
from gnomon.methods.muler.validate._initials import (
    AVERAGES_NOTE,
    Shares,
    all_initials,
    averaged,
    defined_numbers,
    grouped,
    means,
    middle,
)
from gnomon.metrics.masking import MaskSeed, masks_used
from gnomon.metrics.protocol import Metrics

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.findings import Cell, Statement, Table, View
    from gnomon.methods.muler._figures import Figures, Variant
    from gnomon.methods.muler._setup import Setup
    from gnomon.methods.muler.validate._initials import Cut, Initials
    from gnomon.metrics.protocol import MaskingMetric


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
    letters: str | None = column("letters", help="first letters of the words that are left")
    segments: int = column("Segments", help="segments where both sides have what is left")
    muler: float | None = column(
        "MuLER", kind="share", digits=3, better="lower", help="of what is left"
    )
    gain: float | None = column("max - base", help="abl-MuLER")
    base: float | None = column("base (I)", help="mean sentence score over I")
    oracle: float | None = column("max", help="mean over I, masked alike on both sides")
    anti_oracle: float | None = column("min", help="mean over I, masked differently on each side")
    muler_change: float | None = column("change of MuLER", digits=3, help="relative to alpha = 1")
    gain_change: float | None = column(
        "change of max - base", digits=3, help="relative to alpha = 1"
    )
    steadier: bool | None = column("steadier", help="MuLER changes less than max - base")


class PartSummaryRow(Record):
    """Averages of changes over systems."""

    metric: str = METRIC
    variant: str = VARIANT
    feature: str | None = column("Feature", help="empty: all of them")
    alpha: float = column("alpha", help="share of the feature asked for")
    systems: int = column("systems", help="systems (and features) averaged over")
    share: float | None = column("share", digits=3, help="mean of the shares that were reached")
    muler_change: float | None = column(
        "|change of MuLER|", digits=3, help="median of absolute values"
    )
    gain_change: float | None = column("|change of max - base|", digits=3, help="likewise")
    steadier: float | None = column(
        "steadier", kind="share", help="share of them with a steadier MuLER"
    )


_LISTED = "system feature alpha share letters segments muler gain muler_change gain_change steadier"


def frequency_tables(rows: Sequence[PartRow]) -> tuple[Table, Table]:
    """The records, and their averages per metric, variant, feature and alpha."""
    note = "A measure of quality should not change when a feature gets rarer." + masks_note(rows)
    averages = _summary(rows)
    return (
        table("frequency", "MuLER of a part of a feature", PartRow, rows, note=note),
        table("summary", "Averages over systems", PartSummaryRow, averages, note=AVERAGES_NOTE),
    )


def frequency_views(metrics: Sequence[str], alphas: Sequence[float]) -> tuple[View, ...]:
    """Lists per metric and variant; changes as bars; MuLER against the share that is left."""
    views: list[View] = []
    averages = tuple(
        c.name for c in columns_of(PartSummaryRow) if c.name not in ("metric", "variant")
    )
    for metric, variant in product(metrics, VARIANTS):
        where: dict[str, Cell] = {"metric": metric, "variant": variant}
        kind = f"{metric} ({variant})"
        title = f"Robustness to frequency under {kind}"
        views.append(Listing("frequency", title, tuple(_LISTED.split()), where))
        views.append(Listing("summary", f"{title}: averages", averages, where))
        views.append(
            Lines(
                table="frequency",
                title=f"MuLER of a part of a feature under {kind}",
                x="share",
                y="muler",
                series="system",
                panels="feature",
                where=where,
            )
        )
        views.extend(_bars(kind, where, alpha) for alpha in alphas if alpha < 1)
    return tuple(views)


def _bars(kind: str, where: Mapping[str, Cell], alpha: float) -> Bars:
    return Bars(
        table="frequency",
        title=f"Relative changes from all of a feature to {alpha:g} of it under {kind}",
        category="feature",
        series="system",
        values=("muler_change", "gain_change"),
        where={**where, "alpha": alpha},
        beside="segments",
    )


def _summary(rows: Sequence[PartRow]) -> Iterator[PartSummaryRow]:
    partial = [row for row in rows if row.alpha != 1]
    for key, group in averaged(partial, "metric", "variant", "feature", "alpha"):
        steadier = defined_numbers(row.steadier for row in group)
        yield PartSummaryRow(
            **key,
            systems=len(steadier),
            share=means(defined_numbers(row.share for row in group)),
            muler_change=middle(list(map(abs, defined_numbers(row.muler_change for row in group)))),
            gain_change=middle(list(map(abs, defined_numbers(row.gain_change for row in group)))),
            steadier=means(steadier),
        )


# What it says, in sentences.

STEADY = Claim(
    "muler.validate.frequency.steady",
    "Where {alpha} of a feature are left, MuLER under {metric} changes by {ours} in the median and"
    " what masking gains by {theirs}; MuLER is the steadier one in {share} of {pairs} of a system"
    " and a feature; not tested",
    "undecided",
    "MuLER of parts of the occurrences of a feature",
)
FREQUENCY_CLAIMS = (STEADY, MIXED)


def frequency_verdict(finding: Finding) -> Iterator[Statement]:
    """Whether MuLER holds still when features get rarer; nothing is tested."""
    titles = titles_of(finding)
    yield from mixed_masks(finding, finding.records(PartRow))
    rows = [row for row in finding.records(PartSummaryRow) if row.feature is None]
    for row in rows:
        ours, theirs, steadier = row.muler_change, row.gain_change, row.steadier
        if row.variant != rows[0].variant or ours is None or theirs is None or steadier is None:
            continue
        yield STEADY.said(
            finding.positions([row]),
            alpha=f"{row.alpha:.0%}",
            metric=titles[row.metric],
            ours=f"{ours:.0%}",
            theirs=f"{theirs:.0%}",
            share=f"{steadier:.0%}",
            pairs=counted(row.systems, "pair"),
        )


# The experiment.


_EXAMPLES = """\
example:
  gnomon muler validate frequency -t newstest2019/de-en --features 'pos:*' --shares .25 .5 .75
"""


@method(
    "muler.validate.frequency",
    answers="whether MuLER stays the same when a feature is rarer",
    title="MuLER: frequency",
    unread=("documents", "domains"),
    examples=_EXAMPLES,
    tables={"": "muler_frequency"},
    rows={"frequency": PartRow, "summary": PartSummaryRow},
    by_system=True,
    tagged=True,
    check=check_masked_shares,
    verdict=frequency_verdict,
    claims=FREQUENCY_CLAIMS,
)
@with_fields(sources=FeatureSources, masks=MaskOptions, run=Run)
def frequency(
    testset: TestSet,
    metrics: Metrics = "bleu",
    features: Features = None,
    *,
    shares: Shares = (0.5,),
    sources: FeatureSources,
    masks: MaskOptions,
    seed: MaskSeed = SEED,
    run: Run,
) -> Finding:
    """Whether MuLER depends on how frequent a feature is (Karidi et al., robustness to frequency).

    A feature is made rarer: only the words whose first letters, in the order of the alphabet, hold
    a share alpha of its occurrences in the references are still taken for it. A system is as good
    at these as at the others, so that a measure of quality should stay where it is. MuLER divides
    by what the feature can move; max - base ("abl-MuLER") does not, and should change more.

    Args:
        testset: references and the outputs of one or more systems.
        shares: how much of a feature is left, in (0, 1]; changes are relative to 1, which is
            always measured.

    Returns:
        A finding whose rows hold ``system, metric, feature, variant, masks, alpha, share, letters,
        segments, muler, gain, base, oracle, anti_oracle, muler_change, gain_change, steadier``;
        scores in the metric's own units, changes relative to alpha = 1, ``steadier`` says whether
        MuLER changes less than max - base. Its second table, "summary", averages over systems and
        features. Undefined figures are ``None``, with a notice.

    Raises:
        UsageError: a share is not in (0, 1]; a metric, a feature or an option is malformed.
        UnknownNameError: a metric, feature, tagger or option does not exist.
        MaskingError: the metric cannot tell two masks apart.
        DataError: the test set has no references or no systems.
    """
    shares = tuple(sorted({*shares, 1.0}))[::-1]
    words, choice = WordChoice.of(sources, features), masks.seeded(seed)
    setup = prepared(testset, metrics, words, choice, run, rehearsed=False)
    split = all_initials(setup.batch, setup.spans)
    rows: list[PartRow] = []
    signatures: dict[str, str] = {}
    for name, metric in setup.metrics.items():
        for number, initials in enumerate(split):
            rows.extend(_rows(setup, name, metric, initials, shares))
            setup.step(f"scoring {name}", number + 1, len(split))
        signatures[name] = setup.signature(
            metric, "muler-validate-frequency", fields={"alpha": ",".join(map(str, shares))}
        )
    return Finding(
        method="muler validate frequency",
        title="MuLER and frequency: does it hold still when a feature gets rarer?",
        tables=frequency_tables(rows),
        signatures=signatures,
        views=frequency_views(list(signatures), shares),
        notices=(*setup.notices, *_notices(rows)),
        facts=setup.facts(),
    )


def _rows(
    setup: Setup, name: str, metric: MaskingMetric, initials: Initials, alphas: Sequence[float]
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
            "masks": masks_used(metric),
        }
        whole = system_figures[0]
        for alpha, cut, cut_figures in zip(alphas, cuts, system_figures, strict=True):
            yield _row(key, alpha, cut, cut_figures, whole, variant)


def _figures(
    setup: Setup, metric: MaskingMetric, initials: Initials, cuts: Sequence[Cut | None]
) -> list[tuple[Figures, ...]]:
    """The figures of every system, cut by cut; those of an impossible cut are empty."""
    kind = initials.feature.partition(":")[0]
    none = initials.letter < 0
    heads = {f"{kind}:{n}": none if cut is None else cut.head for n, cut in enumerate(cuts)}
    plan = setup.oracles(grouped(setup.spans, initials.rows, heads))
    plan = plan.with_lengths(metric.mask_lengths(setup.batch, plan))
    everything = slices(setup.testset, None)[0].members
    return [
        figures(scores, presence(setup.batch, plan.spans, number), everything)
        for number, scores in enumerate(feature_scores(metric, setup.batch, plan))
    ]


def _row(
    key: Mapping[str, Any],
    alpha: float,
    cut: Cut | None,
    cut_figures: Figures,
    whole: Figures,
    variant: Variant,
) -> PartRow:
    muler, of_whole = (
        figures.muler if variant == "ratio" else figures.clipped for figures in (cut_figures, whole)
    )
    muler_change, gain_change = _change(muler, of_whole), _change(cut_figures.gain, whole.gain)
    steadier = None
    if cut is not None and cut.share < 1 and muler_change is not None and gain_change is not None:
        steadier = abs(muler_change) < abs(gain_change)
    return PartRow(
        **key,
        variant=variant,
        alpha=alpha,
        share=None if cut is None else cut.share,
        letters=None if cut is None else cut.letters,
        segments=cut_figures.segments,
        muler=muler,
        gain=cut_figures.gain,
        base=cut_figures.base,
        oracle=cut_figures.oracle,
        anti_oracle=cut_figures.anti_oracle,
        muler_change=muler_change,
        gain_change=gain_change,
        steadier=steadier,
    )


def _change(value: float | None, of_whole: float | None) -> float | None:
    return None if value is None or not of_whole else value / of_whole - 1


def _notices(rows: Sequence[PartRow]) -> Iterator[str]:
    absent = dict.fromkeys(
        f"{row.feature} at {row.alpha} of {row.system}"
        for row in rows
        if row.share is not None and row.segments == 0
    )
    if absent:
        yield f"without segments in which both sides have it: {', '.join(absent)}"
    whole = dict.fromkeys(f"{row.feature} at {row.alpha}" for row in rows if row.share is None)
    if whole:
        yield (
            "cannot be cut: the references lack it, or the letters that reach the share hold all of"
            f" it: {', '.join(whole)}"
        )
