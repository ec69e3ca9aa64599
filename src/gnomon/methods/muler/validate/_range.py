"""Does a feature that is half right score half-way between the oracles?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.core.findings import Finding, HeatMap, Lines, Listing
from gnomon.core.options import SEED, with_fields
from gnomon.core.records import FEATURE, METRIC, SYSTEM, Record, column, columns_of, table
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.core.verdicts import Claim, amount, counted, titles_of
from gnomon.linguistics import Features, FeatureSources
from gnomon.methods.muler._figures import presence, ratio
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
)
from gnomon.metrics.masking import (
    Action,
    MaskPlan,
    MaskSeed,
    masks_used,
)
from gnomon.metrics.protocol import Metrics

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.findings import Cell, Statement, Table, View
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
    letters: str | None = column(
        "letters", help="first letters that are masked alike on both sides"
    )
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
    expected: float | None = column("expected", help="min + share (max - min)")
    deviation: float | None = column("deviation", help="hybrid - expected")
    relative_deviation: float | None = column("relative", digits=3, help="deviation / (max - min)")
    position: float | None = column("position", digits=3, help="(hybrid - min) / (max - min)")
    rises: bool | None = column("rises", help="the hybrid lies no lower than at the share before")


class RangeSummaryRow(Record):
    """Averages of hybrids over systems."""

    metric: str = METRIC
    feature: str | None = column("Feature", help="empty: all of them")
    alpha: float = column("alpha", help="share of the feature asked for")
    systems: int = column("systems", help="systems (and features) averaged over")
    share: float | None = column("share", digits=3, help="mean of the shares that were reached")
    relative_deviation: float | None = column("relative deviation", digits=3, help="mean, signed")
    absolute: float | None = column(
        "|relative deviation|", digits=3, help="mean of absolute values"
    )
    largest: float | None = column("largest", digits=3, help="largest absolute value")
    rising: float | None = column(
        "rising", kind="share", help="share of them in which the hybrid rises"
    )


def range_tables(rows: Sequence[RangeRow]) -> tuple[Table, Table]:
    """The records, and their averages per metric, feature and alpha."""
    note = "An even scale gives position = share; deviation = hybrid - (min + share (max - min))."
    note += masks_note(rows)
    averages = _summary(rows)
    return (
        table("range", "Hybrids between the oracles", RangeRow, rows, note=note),
        table("summary", "Averages over systems", RangeSummaryRow, averages, note=AVERAGES_NOTE),
    )


def range_views(metrics: Sequence[str], alphas: Sequence[float]) -> tuple[View, ...]:
    """Lists per metric; position against share; heat maps of the deviation."""
    shown = tuple(c.name for c in columns_of(RangeRow) if c.name not in ("metric", "position"))
    averages = tuple(c.name for c in columns_of(RangeSummaryRow) if c.name != "metric")
    views: list[View] = []
    for metric in metrics:
        where: dict[str, Cell] = {"metric": metric}
        views.append(Listing("range", f"Range under {metric}", shown, where))
        views.append(Listing("summary", f"Range under {metric}: averages", averages, where))
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


def _summary(rows: Sequence[RangeRow]) -> Iterator[RangeSummaryRow]:
    for key, group in averaged(rows, "metric", "feature", "alpha"):
        deviations = defined_numbers(row.relative_deviation for row in group)
        sizes = [abs(value) for value in deviations]
        yield RangeSummaryRow(
            **key,
            systems=len(deviations),
            share=means(defined_numbers(row.share for row in group)),
            relative_deviation=means(deviations),
            absolute=means(sizes),
            largest=max(sizes, default=None),
            rising=means(defined_numbers(row.rises for row in group)),
        )


# What it says, in sentences.

SCALE = Claim(
    "muler.validate.range.scale",
    "With {alpha} of a feature's words right, {metric} lies {off} of its range away from an even"
    " scale on average, at most {most} ({pairs} of a system and a feature){rises}; not tested",
    "undecided",
    "scores of hybrids between the two masks",
)
RANGE_CLAIMS = (SCALE, MIXED)


def range_verdict(finding: Finding) -> Iterator[Statement]:
    """Whether what is half right scores half-way; nothing is tested."""
    titles = titles_of(finding)
    yield from mixed_masks(finding, finding.records(RangeRow))
    for row in finding.records(RangeSummaryRow):
        if row.feature is not None or row.absolute is None or row.largest is None:
            continue
        rises = (
            "" if row.rising is None else f"; it rises with that share in {row.rising:.0%} of them"
        )
        yield SCALE.said(
            finding.positions([row]),
            alpha=f"{row.alpha:.0%}",
            metric=titles[row.metric],
            off=amount(row.absolute, share=True),
            most=amount(row.largest, share=True),
            pairs=counted(row.systems, "pair"),
            rises=rises,
        )


# Does the score between the two oracles rise in step with how much of a feature is right?


_EXAMPLES = """\
example:
  gnomon muler validate range ref.txt -i sysA.txt sysB.txt -l en --features pos:NOUN
"""


@method(
    "muler.validate.range",
    answers="whether a feature that is half right scores half-way between the oracles",
    title="MuLER: range",
    unread=("documents", "domains"),
    examples=_EXAMPLES,
    tables={"": "muler_range"},
    rows={"range": RangeRow, "summary": RangeSummaryRow},
    by_system=True,
    tagged=True,
    check=check_masked_shares,
    verdict=range_verdict,
    claims=RANGE_CLAIMS,
)
@with_fields(sources=FeatureSources, masks=MaskOptions, run=Run)
def range(  # noqa: A001  # its name as a method
    testset: TestSet,
    metrics: Metrics = "bleu",
    features: Features = None,
    *,
    shares: Shares = (0.3, 0.4, 0.5),
    sources: FeatureSources,
    masks: MaskOptions,
    seed: MaskSeed = SEED,
    run: Run,
) -> Finding:
    """Whether a half-right feature scores half-way (Karidi et al., section 5: range, monotony).

    The words of a feature are parted by their first letter, case-folded, letters in the order of
    the alphabet, until they hold a share alpha of the feature's occurrences in the references.
    These are masked alike on both sides, the others differently (a *hybrid* of oracle and
    anti-oracle). Were MuLER's scale even, the mean hybrid score over I of the whole feature would
    be min + a (max - min), a the share that the letters really hold.

    Args:
        testset: references and the outputs of one or more systems.
        shares: how much of a feature is masked alike on both sides, in (0, 1].

    Returns:
        A finding whose rows hold ``system, metric, feature, masks, alpha, share, letters, segments,
        anti_oracle, oracle, base, muler, hybrid, expected, deviation, relative_deviation, position,
        rises``; scores in the metric's own units; base and MuLER are those of the whole feature.
        ``rises`` says whether the hybrid lies no lower than the one before (min before the first).
        Its second table, "summary", averages over systems and features. Undefined figures are
        ``None``, with a notice: a feature without common segments, or one that cannot be split at
        alpha.

    Raises:
        UsageError: a share is not in (0, 1]; a metric, a feature or an option is malformed.
        UnknownNameError: a metric, feature, tagger or option does not exist.
        MaskingError: the metric cannot tell two masks apart.
        DataError: the test set has no references or no systems.
    """
    shares = tuple(sorted(set(shares)))
    words, choice = WordChoice.of(sources, features), masks.seeded(seed)
    setup = prepared(testset, metrics, words, choice, run, rehearsed=False)
    split = all_initials(setup.batch, setup.spans)
    rows: list[RangeRow] = []
    signatures: dict[str, str] = {}
    for name, metric in setup.metrics.items():
        rows.extend(_rows(setup, name, metric, split, shares))
        signatures[name] = setup.signature(
            metric, "muler-validate-range", fields={"alpha": ",".join(map(str, shares))}
        )
    return Finding(
        method="muler validate range",
        title="MuLER's range: does a half-right feature score half-way?",
        tables=range_tables(rows),
        signatures=signatures,
        views=range_views(list(signatures), shares),
        notices=(*setup.notices, *_notices(rows)),
        facts=setup.facts(),
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
            letters=None if cut is None else cut.letters,
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
    names = ("hybrid", "expected", "deviation", "relative_deviation", "position")
    if share is None:
        return dict.fromkeys(names)
    expected = means.anti_oracle + share * (means.oracle - means.anti_oracle)
    # the place between the ends is one less what MuLER would call it
    left = ratio(hybrid, means.oracle, means.anti_oracle)
    relative, position = (None, None) if left is None else (1 - left - share, 1 - left)
    return dict(zip(names, (hybrid, expected, hybrid - expected, relative, position), strict=True))


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
