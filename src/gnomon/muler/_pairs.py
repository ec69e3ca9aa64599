"""From a test set to a blind sheet: does MuLER see what people see?"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np

from gnomon.errors import DataError, UsageError
from gnomon.findings import Finding, Listing
from gnomon.muler._pairs_contrasts import Thresholds, contrast_table, contrasts, near_pairs
from gnomon.muler._pairs_draw import draw
from gnomon.muler._pairs_items import exhibit, key_row, study_name
from gnomon.muler._setup import DEFAULT_FEATURES, prepared
from gnomon.muler._sheet import Key, Sheet
from gnomon.signature import content_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.metrics.protocol import MaskingMetric
    from gnomon.muler._pairs_contrasts import Contrast
    from gnomon.muler._pairs_draw import Draw
    from gnomon.muler._setup import AnyMetric, Options, Setup
    from gnomon.testset import TestSet

__all__ = ["PairStudy", "pairs"]

_SHOWN = ("feature", "system", "other", "muler", "other_muler", "drawn")


@dataclass(frozen=True)
class PairStudy:
    """What is needed to compare systems by hand.

    Attributes:
        finding: the pairs of systems, most distant first.
        sheet: what annotators see.
        key: what they must not see.
    """

    finding: Finding
    sheet: Sheet
    key: Key


def pairs(
    testset: TestSet,
    metric: AnyMetric = "bleu",
    features: Sequence[str] = DEFAULT_FEATURES,
    *,
    near: float = 1.0,
    apart: float = 0.1,
    least: int = 20,
    items: int = 100,
    seed: int = 0,
    highlight: bool = False,
    **options: Unpack[Options],
) -> PairStudy:
    """Segments on which people can check MuLER: of systems alike in score and apart in MuLER.

    Karidi et al., table 10. A pair of systems is compared on a feature where their scores differ
    by at most ``near``, their MuLER by at least ``apart``, and both have at least ``least``
    segments with the feature. Of such pairs, segments are drawn that have the feature in the
    reference and both outputs, and that cost the two systems unequally much: evenly over features,
    then pairs, no segment twice for a feature. Their order, and which output comes first, is
    random.

    Args:
        testset: references and the outputs of two or more systems.
        metric: spec string, metric or function.
        features: names and wildcards, as for :func:`gnomon.muler.muler`.
        near: largest difference of scores, in the metric's units.
        apart: smallest difference of MuLER.
        least: smallest |I|, for both systems.
        items: segments drawn, at most.
        seed: seed of the draw; the texts take part in it, so that another test set has another
            order of sides under the same seed.
        highlight: mark the words of the feature in references and outputs.
        **options: tagger, lexicons, patterns, labels, overlap, granularity, allow_code, cache,
            progress; as for :func:`gnomon.muler.muler`.

    Returns:
        The pairs found, the sheet, and its key.

    Raises:
        DataError: fewer than two systems, or no pair of systems fits; the message says how near
            the closest one came.
        UsageError: an option is out of range.
        MaskingError: the metric cannot tell two masks apart.
        UnknownNameError: a metric, feature or tagger does not exist.
    """
    limits = Thresholds(near, apart, least)
    _check(testset, limits, items, seed)
    setup = prepared(testset, metric, features, options)
    ((name, bound),) = setup.metrics.items()
    scores = bound.system(setup.batch)
    found = _fitting(setup, bound, scores, limits)
    rng = np.random.default_rng([seed, int(content_hash(*setup.batch.texts), 16)])
    drawn = draw(found, items=items, rng=rng)
    fields = {**asdict(limits), "items": items, "seed": seed}
    signature = setup.signature(bound, "muler-pairs", fields=fields)
    exhibits = [exhibit(setup, found[one.contrast], one, highlight=highlight) for one in drawn]
    study = study_name(exhibits)
    names = [f"{study}-{number:03d}" for number in range(1, len(drawn) + 1)]
    rows = [
        key_row(setup, item, found[one.contrast], one, scores)
        for item, one in zip(names, drawn, strict=True)
    ]
    return PairStudy(
        _finding(setup, name, signature, scores, found, drawn, limits),
        Sheet(study, dict(zip(names, exhibits, strict=True))),
        Key(study, {row.item: row for row in rows}, name, signature),
    )


def _check(testset: TestSet, limits: Thresholds, items: int, seed: int) -> None:
    if len(testset.systems) < 2:
        raise DataError(
            f"pairs need at least two systems; test set {testset.name!r} has"
            f" {len(testset.systems)}: name more with -i, or choose another test set"
        )
    for name, value, low in (
        ("near", limits.near, 0),
        ("apart", limits.apart, 0),
        ("least", limits.least, 1),
        ("items", items, 1),
        ("seed", seed, 0),
    ):
        if not low <= value < float("inf"):
            raise UsageError(f"{name} is a number, {low} or more; got {value}")


def _fitting(
    setup: Setup, metric: MaskingMetric, scores: NDArray[np.float64], limits: Thresholds
) -> list[Contrast]:
    """The pairs that fit, most distant first."""
    near = near_pairs(scores, limits.near)
    if not near:
        gaps = np.abs(np.diff(np.sort(scores[~np.isnan(scores)])))
        raise DataError(
            f"no two of {len(scores)} systems are within {limits.near:g} of each other; the closest"
            f" two are {gaps.min(initial=np.inf):.4g} apart: raise near (--near)"
        )
    found: list[Contrast] = []
    widest = 0.0
    for one in contrasts(setup, metric, near):
        if min(figures.segments for figures in one.figures) >= limits.least:
            widest = max(widest, one.gap)
            if one.gap >= limits.apart and len(one.segments):
                found.append(one)
    if not found:
        raise DataError(
            f"{len(near)} pairs of systems are within {limits.near:g} of each other, but none is"
            f" {limits.apart:g} apart in MuLER on a feature with |I| >= {limits.least}; the widest"
            f" gap is {widest:.3f}: lower apart or least (--apart, --least), or raise near (--near)"
        )
    names = setup.batch.systems
    return sorted(found, key=lambda c: (-c.gap, c.feature, names[c.better], names[c.worse]))


def _finding(
    setup: Setup,
    metric: str,
    signature: str,
    scores: NDArray[np.float64],
    found: Sequence[Contrast],
    drawn: Sequence[Draw],
    limits: Thresholds,
) -> Finding:
    counts = Counter(one.contrast for one in drawn)
    table = contrast_table(found, setup.batch.systems, metric, scores, counts)
    return Finding(
        method="muler pairs",
        title=table.title,
        tables=(table,),
        signatures={metric: signature},
        views=(Listing("pairs", table.title, _SHOWN),),
        notices=_notices(setup, scores, limits),
        facts=setup.facts() | {"pairs": str(len(found)), "items drawn": str(len(drawn))},
    )


def _notices(setup: Setup, scores: NDArray[np.float64], limits: Thresholds) -> tuple[str, ...]:
    notices = list(setup.annotation.notices)
    reach = float(np.nanmax(scores) - np.nanmin(scores))
    if len(scores) > 2 and reach <= limits.near:
        notices.append(
            f"all systems are within {limits.near:g} of each other (they span {reach:.3g}), so that"
            " near-equal scores select nothing here; --near is in the metric's own units"
        )
    return tuple(notices)
