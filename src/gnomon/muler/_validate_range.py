"""Does the score between the two oracles rise in step with how much of a feature is right?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.faults import refuse
from gnomon.findings import Finding
from gnomon.metrics.masking import Action, MaskPlan
from gnomon.muler._presence import presence
from gnomon.muler._ratio import ratio
from gnomon.muler._requests import check_range
from gnomon.muler._setup import DEFAULT_FEATURES, prepared
from gnomon.muler._validate_letters import checked_alphas, grouped, initials
from gnomon.muler._validate_range_tables import range_tables, range_views

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Unpack

    from numpy.typing import NDArray

    from gnomon.findings import Cell
    from gnomon.metrics.protocol import MaskingMetric
    from gnomon.muler._setup import AnyMetric, Options, Setup
    from gnomon.muler._validate_letters import Cut, Initials
    from gnomon.testset import TestSet

__all__ = ["validate_range"]


def validate_range(
    testset: TestSet,
    metric: AnyMetric | Sequence[AnyMetric] = "bleu",
    features: Sequence[str] = DEFAULT_FEATURES,
    *,
    alphas: Sequence[float] = (0.3, 0.4, 0.5),
    **options: Unpack[Options],
) -> Finding:
    """Whether a half-right feature scores half-way (Karidi et al., section 5: range, monotony).

    The words of a feature are parted by their first letter, case-folded, letters in the order of
    the alphabet, until they hold a share alpha of the feature's occurrences in the references.
    These are masked alike on both sides, the others differently (a *hybrid* of oracle and
    anti-oracle). Were MuLER's scale even, the mean hybrid score over I of the whole feature would
    be min + a (max - min), a the share that the letters really hold.

    Args:
        testset: references and the outputs of one or more systems.
        metric: spec string, metric or function; or several of them.
        features: names of features, wildcards allowed.
        alphas: shares, in (0, 1].
        **options: as of :func:`gnomon.muler.muler`: ``tagger, lexicons, patterns, labels, overlap,
            granularity, allow_code, cache, progress``.

    Returns:
        A finding whose rows hold ``system, metric, feature, alpha, share, letters, segments,
        anti_oracle, oracle, hybrid, expected, deviation, relative_deviation, position, rises``;
        scores in the metric's own units. ``rises`` says whether the hybrid lies no lower than the
        one before (min before the first). Its second table, "summary", averages over systems and
        features. Undefined figures are ``None``, with a notice: a feature without common segments,
        or one that cannot be split at alpha.

    Raises:
        UsageError: an alpha is not in (0, 1]; a metric, a feature or an option is malformed.
        UnknownNameError: a metric, feature, tagger or option does not exist.
        MaskingError: the metric cannot tell two masks apart.
        DataError: the test set has no references or no systems.
    """
    shares = checked_alphas(alphas)
    refuse(check_range(testset.outline, metric, features, alphas=alphas, **options))
    setup = prepared(testset, metric, features, options)
    split = [initials(setup.batch, setup.spans, f) for f in range(len(setup.spans.features))]
    rows: list[dict[str, Cell]] = []
    signatures: dict[str, str] = {}
    for name, one in setup.metrics.items():
        rows.extend(_rows(setup, name, one, split, shares))
        signatures[name] = setup.signature(
            one, "muler-validate-range", fields={"alpha": ",".join(map(str, shares))}
        )
    return Finding(
        method="muler validate range",
        title="MuLER's range: does a half-right feature score half-way?",
        tables=range_tables(rows),
        signatures=signatures,
        views=range_views(list(signatures), shares),
        notices=(*setup.annotation.notices, *_notices(rows)),
        facts=setup.facts(),
    )


class _Means(NamedTuple):
    """Means over I of one system: of both oracles and of the hybrid of every cut."""

    segments: int
    oracle: float
    anti_oracle: float
    hybrids: list[float]


def _rows(
    setup: Setup,
    name: str,
    metric: MaskingMetric,
    split: Sequence[Initials],
    alphas: Sequence[float],
) -> Iterator[dict[str, Cell]]:
    lengths = metric.mask_lengths(setup.batch, setup.oracles(setup.spans))
    sign = 1.0 if metric.higher_is_better else -1.0
    for number, part in enumerate(split):
        cuts = [part.cut(alpha) for alpha in alphas]
        length = None if lengths is None else lengths[number]
        for system, means in enumerate(_means(setup, metric, part, cuts, number, length)):
            key: dict[str, Cell] = {
                "system": setup.batch.systems[system],
                "metric": name,
                "feature": part.feature,
            }
            yield from (key | row for row in _of_system(means, cuts, alphas, sign))
        setup.step(f"scoring {name}", number + 1, len(split))


def _means(
    setup: Setup,
    metric: MaskingMetric,
    part: Initials,
    cuts: Sequence[Cut | None],
    feature: int,
    length: int | None,
) -> Iterator[_Means]:
    inside = presence(setup.batch, setup.spans, feature).both
    scores = metric.masked(setup.batch, _plan(setup, part, cuts, length))
    for system, segments in enumerate(inside):
        oracle, anti_oracle, *hybrids = (_mean(variant[system], segments) for variant in scores)
        yield _Means(int(segments.sum()), oracle, anti_oracle, hybrids)


def _plan(setup: Setup, part: Initials, cuts: Sequence[Cut | None], length: int | None) -> MaskPlan:
    """Oracle, anti-oracle, hybrids: all shared, but private what lies beyond the cut.

    Private wins where groups meet, so that a hybrid that leaves nothing beyond is the oracle.
    """
    every = np.ones(len(part.rows), dtype=np.bool_)
    beyond = {f"beyond {n}": every if cut is None else ~cut.head for n, cut in enumerate(cuts)}
    spans = grouped(setup.spans, part.rows, {"all": every, **beyond})
    actions = np.zeros((2 + len(cuts), 1 + len(cuts)), dtype=np.int8)
    actions[:, 0] = Action.SHARED
    actions[1, 0] = Action.PRIVATE
    hybrids = np.arange(len(cuts))
    actions[2 + hybrids, 1 + hybrids] = Action.PRIVATE
    lengths = None if length is None else (length,) * (1 + len(cuts))
    return MaskPlan(spans, actions, setup.overlap, setup.granularity, lengths)


def _of_system(
    means: _Means, cuts: Sequence[Cut | None], alphas: Sequence[float], sign: float
) -> Iterator[dict[str, Cell]]:
    before = sign * means.anti_oracle
    for alpha, cut, hybrid in zip(alphas, cuts, means.hybrids, strict=True):
        row: dict[str, Cell] = {"alpha": alpha, "share": None, "letters": None}
        row |= {"segments": means.segments}
        row |= {"anti_oracle": _known(means.anti_oracle), "oracle": _known(means.oracle)}
        names = ("hybrid", "expected", "deviation", "relative_deviation", "position", "rises")
        row |= dict.fromkeys(names)
        if cut is not None:
            row |= {"share": cut.share, "letters": cut.letters}
            row |= _placed(means, cut.share, hybrid)
            if not np.isnan(hybrid):
                row["rises"] = bool(sign * hybrid >= before - 1e-12 * abs(before))
                before = sign * hybrid
        yield row


def _placed(means: _Means, share: float, hybrid: float) -> dict[str, Cell]:
    """Where the hybrid lies between min and max, and where it should."""
    spread = means.oracle - means.anti_oracle
    expected = means.anti_oracle + share * spread
    # the place between the ends is one less what MuLER would call it
    left = ratio(hybrid, means.oracle, means.anti_oracle)
    return {
        "hybrid": _known(hybrid),
        "expected": _known(expected),
        "deviation": _known(hybrid - expected),
        "relative_deviation": None if left is None else 1 - left - share,
        "position": None if left is None else 1 - left,
    }


def _mean(scores: NDArray[np.float64], segments: NDArray[np.bool_]) -> float:
    chosen = scores[segments]
    chosen = chosen[~np.isnan(chosen)]
    return float(chosen.mean()) if len(chosen) else float("nan")


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value


def _notices(rows: Sequence[dict[str, Cell]]) -> Iterator[str]:
    absent = dict.fromkeys(
        f"{row['feature']} of {row['system']}" for row in rows if row["segments"] == 0
    )
    if absent:
        yield f"without segments in which both sides have it: {', '.join(absent)}"
    whole = dict.fromkeys(
        f"{row['feature']} at {row['alpha']}"
        for row in rows
        if row["segments"] and not row["share"]
    )
    if whole:
        yield (
            "cannot be split, since the letters that reach the share hold the whole feature in the"
            f" references: {', '.join(whole)}"
        )
