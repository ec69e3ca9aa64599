"""Does MuLER of a feature hold still when only a part of the feature is looked at?"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from gnomon.faults import refuse
from gnomon.findings import Finding
from gnomon.muler._figures import feature_scores, figures
from gnomon.muler._presence import presence
from gnomon.muler._requests import check_frequency
from gnomon.muler._setup import DEFAULT_FEATURES, prepared
from gnomon.muler._tables import VARIANTS
from gnomon.muler._validate_frequency_tables import frequency_tables, frequency_views
from gnomon.muler._validate_letters import checked_alphas, grouped, initials
from gnomon.slices import slices

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Unpack

    from gnomon.findings import Cell
    from gnomon.metrics.protocol import MaskingMetric
    from gnomon.muler._figures import Figures
    from gnomon.muler._setup import AnyMetric, Options, Setup
    from gnomon.muler._tables import Variant
    from gnomon.muler._validate_letters import Cut, Initials
    from gnomon.testset import TestSet

__all__ = ["validate_frequency"]


def validate_frequency(
    testset: TestSet,
    metric: AnyMetric | Sequence[AnyMetric] = "bleu",
    features: Sequence[str] = DEFAULT_FEATURES,
    *,
    alphas: Sequence[float] = (0.5, 1.0),
    **options: Unpack[Options],
) -> Finding:
    """Whether MuLER depends on how frequent a feature is (Karidi et al., robustness to frequency).

    A feature is made rarer: only the words whose first letters, in the order of the alphabet, hold
    a share alpha of its occurrences in the references are still taken for it. A system is as good
    at these as at the others, so that a measure of quality should stay where it is. MuLER divides
    by what the feature can move; max - base ("abl-MuLER") does not, and should change more.

    Args:
        testset: references and the outputs of one or more systems.
        metric: spec string, metric or function; or several of them.
        features: names of features, wildcards allowed.
        alphas: shares, in (0, 1]; changes are relative to 1, which is always looked at.
        **options: as of :func:`gnomon.muler.muler`: ``tagger, lexicons, patterns, labels, overlap,
            granularity, allow_code, cache, progress``.

    Returns:
        A finding whose rows hold ``system, metric, feature, variant, alpha, share, letters,
        segments, muler, gain, base, oracle, anti_oracle, muler_change, gain_change, steadier``;
        scores in the metric's own units, changes relative to alpha = 1, ``steadier`` says whether
        MuLER changes less than max - base. Its second table, "summary", averages over systems and
        features. Undefined figures are ``None``, with a notice.

    Raises:
        UsageError: an alpha is not in (0, 1]; a metric, a feature or an option is malformed.
        UnknownNameError: a metric, feature, tagger or option does not exist.
        MaskingError: the metric cannot tell two masks apart.
        DataError: the test set has no references or no systems.
    """
    shares = checked_alphas([*alphas, 1.0] if alphas else alphas)[::-1]
    refuse(check_frequency(testset.outline, metric, features, alphas=alphas, **options))
    setup = prepared(testset, metric, features, options)
    split = [initials(setup.batch, setup.spans, f) for f in range(len(setup.spans.features))]
    rows: list[dict[str, Cell]] = []
    signatures: dict[str, str] = {}
    for name, one in setup.metrics.items():
        for number, part in enumerate(split):
            rows.extend(_rows(setup, name, one, part, shares))
            setup.step(f"scoring {name}", number + 1, len(split))
        signatures[name] = setup.signature(
            one, "muler-validate-frequency", fields={"alpha": ",".join(map(str, shares))}
        )
    return Finding(
        method="muler validate frequency",
        title="MuLER and frequency: does it hold still when a feature gets rarer?",
        tables=frequency_tables(rows),
        signatures=signatures,
        views=frequency_views(list(signatures), shares),
        notices=(*setup.annotation.notices, *_notices(rows)),
        facts=setup.facts(),
    )


def _rows(
    setup: Setup, name: str, metric: MaskingMetric, part: Initials, alphas: Sequence[float]
) -> Iterator[dict[str, Cell]]:
    cuts = [part.cut(alpha) for alpha in alphas]
    found = _figures(setup, metric, part, cuts)
    for variant, (system, own) in product(VARIANTS, enumerate(zip(*found, strict=True))):
        key: dict[str, Cell] = {
            "system": setup.batch.systems[system],
            "metric": name,
            "feature": part.feature,
            "variant": variant,
        }
        whole = own[0]
        for alpha, cut, one in zip(alphas, cuts, own, strict=True):
            yield key | {"alpha": alpha} | _row(cut, one, whole, variant)


def _figures(
    setup: Setup, metric: MaskingMetric, part: Initials, cuts: Sequence[Cut | None]
) -> list[tuple[Figures, ...]]:
    """The figures of every system, cut by cut; those of an impossible cut are empty."""
    kind = part.feature.partition(":")[0]
    none = part.letter < 0
    heads = {f"{kind}:{n}": none if cut is None else cut.head for n, cut in enumerate(cuts)}
    plan = setup.oracles(grouped(setup.spans, part.rows, heads))
    plan = plan.with_lengths(metric.mask_lengths(setup.batch, plan))
    everything = slices(setup.testset, None)[0].members
    return [
        figures(scores, presence(setup.batch, plan.spans, number), everything)
        for number, scores in enumerate(feature_scores(metric, setup.batch, plan))
    ]


def _row(cut: Cut | None, found: Figures, whole: Figures, variant: Variant) -> dict[str, Cell]:
    muler, of_whole = (one.muler if variant == "ratio" else one.clipped for one in (found, whole))
    changes = _change(muler, of_whole), _change(found.gain, whole.gain)
    return {
        "share": None if cut is None else cut.share,
        "letters": None if cut is None else cut.letters,
        "segments": found.segments,
        "muler": muler,
        "gain": found.gain,
        "base": found.base,
        "oracle": found.oracle,
        "anti_oracle": found.anti_oracle,
        "muler_change": changes[0],
        "gain_change": changes[1],
        "steadier": _steadier(*changes) if cut is not None and cut.share < 1 else None,
    }


def _change(value: float | None, of_whole: float | None) -> float | None:
    return None if value is None or not of_whole else value / of_whole - 1


def _steadier(muler: float | None, gain: float | None) -> bool | None:
    return None if muler is None or gain is None else abs(muler) < abs(gain)


def _notices(rows: Sequence[dict[str, Cell]]) -> Iterator[str]:
    absent = dict.fromkeys(
        f"{row['feature']} at {row['alpha']} of {row['system']}"
        for row in rows
        if row["share"] is not None and row["segments"] == 0
    )
    if absent:
        yield f"without segments in which both sides have it: {', '.join(absent)}"
    whole = dict.fromkeys(
        f"{row['feature']} at {row['alpha']}" for row in rows if row["share"] is None
    )
    if whole:
        yield (
            "cannot be cut: the references lack it, or the letters that reach the share hold all of"
            f" it: {', '.join(whole)}"
        )
