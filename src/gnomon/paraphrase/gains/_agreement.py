"""How far one metric agrees with people, before and after its references were widened."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon import stats
from gnomon.errors import UnknownNameError
from gnomon.human import only_kind
from gnomon.stats.bootstrap import bootstrap_p_value
from gnomon.stats.jackknife import jackknife, left_out_sums
from gnomon.stats.resampling import percentile_interval, resample_counts, resampled_sums
from gnomon.stats.student import expanded_confidence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.findings import Cell
    from gnomon.human import RankedPairs
    from gnomon.outline import Outline
    from gnomon.scores import Scores
    from gnomon.testset import TestSet

_CHANGES = ("right", "repaired", "broken", "wrong")
_FEW = 3  # systems that a correlation needs


class GainDraws(NamedTuple):
    """How intervals are made."""

    resamples: int
    seed: int
    confidence: float
    over: str
    documents: NDArray[np.int64] | None = None


class Kinds(NamedTuple):
    """The kind of human scores at each level, and of rankings; None: there are none."""

    system: str | None
    segment: str | None
    ranking: str | None


@dataclass(frozen=True)
class HumanJudgements:
    """What people said of a test set."""

    systems: NDArray[np.float64]
    segments: NDArray[np.float64] | None
    ranked: RankedPairs | None


def check_kinds(outlines: Sequence[Outline], kinds: Sequence[str]) -> None:
    """Refuse kinds of judgements that no test set has."""
    there = dict.fromkeys(
        kind
        for one in outlines
        for kind in (*one.human_kinds("system"), *one.human_kinds("segment"), *one.rankings)
    )
    for kind in kinds:
        if kind not in there:
            raise UnknownNameError("kind of human scores", kind, tuple(there))


def kinds_of(outline: Outline, kinds: Sequence[str] = ()) -> Kinds:
    """The kinds of human scores and rankings that judge a test set."""
    return Kinds(
        _kind(outline.human_kinds("system"), kinds, "human system scores"),
        _kind(outline.human_kinds("segment"), kinds, "human segment scores"),
        _kind(outline.rankings, kinds, "rankings"),
    )


def people_of(testset: TestSet, kinds: Sequence[str] = ()) -> HumanJudgements:
    """People's scores and rankings of a test set, in the order of its systems."""
    found = kinds_of(testset.outline, kinds)
    judged = [name for name in testset.systems if not _is_human(testset, name)]
    systems = np.full(len(testset.systems), np.nan)
    if found.system is not None:
        systems = testset.human_scores(found.system, "system")
        systems = np.where([name in judged for name in testset.systems], systems, np.nan)
    segments = None if found.segment is None else testset.human_scores(found.segment, "segment")
    names = list(testset.systems)
    ranked = None if found.ranking is None else testset.ranking(found.ranking).pairs(names)
    return HumanJudgements(systems, segments, ranked)


def system_row(
    people: HumanJudgements, base: Scores, wide: Scores, draws: GainDraws
) -> dict[str, Cell]:
    """Pearson's r of system scores before and after, gain, interval, Williams's p."""
    human = people.systems
    before, after = _oriented(base), _oriented(wide)
    known = ~(np.isnan(human) | np.isnan(before) | np.isnan(after))
    row: dict[str, Cell] = dict.fromkeys(("base", "value", "gain", "low", "high", "p"))
    row |= {
        "systems": int(known.sum()),
        "base_score": _defined(float(np.mean(base.system))),
        "score": _defined(float(np.mean(wide.system))),
    }
    if known.sum() < _FEW:
        return row
    pair = [float(stats.pearson(human[known], one[known])) for one in (before, after)]
    found = stats.williams(human, after, before)
    low, high = _interval(human, known, base, wide, draws)
    return row | {
        "base": _defined(pair[0]),
        "value": _defined(pair[1]),
        "gain": _defined(pair[1] - pair[0]),
        "low": low,
        "high": high,
        "p": _defined(float(found.p)),
    }


def decisions(people: HumanJudgements, base: Scores, wide: Scores) -> dict[str, Cell]:
    """Pairs of systems that people tell apart: which of them the references repair or break."""
    human, before, after = people.systems, _oriented(base), _oriented(wide)
    known = np.flatnonzero(~(np.isnan(human) | np.isnan(before) | np.isnan(after)))
    counts = dict.fromkeys(_CHANGES, 0)
    for a, b in combinations(known.tolist(), 2):
        if human[a] != human[b]:
            i, j = (a, b) if human[a] > human[b] else (b, a)
            was, now = before[i] > before[j], after[i] > after[j]
            counts[("right" if was else "repaired") if now else "broken" if was else "wrong"] += 1
    return _decided("systems", counts)


def segment_decisions(
    people: HumanJudgements, base: Scores, wide: Scores, draws: GainDraws
) -> list[dict[str, Cell]]:
    """Outputs of one segment that people order: which decisions the references repair or break.

    Those that people ranked ("darr", figure 3 of the paper), and all that they scored unlike
    ("pairs"); intervals are over segments.
    """
    before, after = (_sign(one) * np.asarray(one.segments) for one in (base, wide))
    compared: dict[str, stats.OrderedPairs] = {}
    if people.ranked is not None:
        ranked = people.ranked
        compared["darr"] = stats.OrderedPairs(ranked.segment, ranked.better, ranked.worse)
    if people.segments is not None:
        compared["pairs"] = stats.ordered_pairs(people.segments)
    rows = []
    for comparison, pairs in compared.items():
        found = stats.changed_decisions(
            pairs,
            before,
            after,
            resamples=draws.resamples,
            confidence=draws.confidence,
            seed=draws.seed,
        )
        if found.total:
            counts = dict(zip(_CHANGES, found[:4], strict=True))
            ends: dict[str, Cell] = {
                "repaired_low": _defined(found.low[1]),
                "repaired_high": _defined(found.high[1]),
                "broken_low": _defined(found.low[2]),
                "broken_high": _defined(found.high[2]),
            }
            rows.append(_decided(comparison, counts) | ends)
    return rows


def _decided(comparison: str, counts: Mapping[str, int]) -> dict[str, Cell]:
    pairs = sum(counts.values())
    shares = {f"{name}_share": n / pairs if pairs else None for name, n in counts.items()}
    ends = dict.fromkeys(("repaired_low", "repaired_high", "broken_low", "broken_high"))
    return {"comparison": comparison, "pairs": pairs, **counts, **shares, **ends}


def segment_rows(
    people: HumanJudgements, base: Scores, wide: Scores, draws: GainDraws
) -> list[dict[str, Cell]]:
    """Agreement on segments: DaRR where people ranked, Pearson and Kendall where they scored."""
    rows = []
    before, after = (_sign(one) * np.asarray(one.segments) for one in (base, wide))
    if people.ranked is not None:
        rows.append(_darr(people.ranked, before, after, draws))
    if people.segments is not None:
        rows += _of_scores(people.segments, before, after, draws)
    return rows


def _darr(
    ranked: RankedPairs, before: NDArray[np.float64], after: NDArray[np.float64], draws: GainDraws
) -> dict[str, Cell]:
    better, worse = ((side, ranked.segment) for side in (ranked.better, ranked.worse))
    known = ~np.isnan(before[better] + before[worse] + after[better] + after[worse])
    won = [known & (one[better] > one[worse]) for one in (before, after)]
    n = before.shape[1]
    per = [np.bincount(ranked.segment, row, n) for row in (*won, known)]

    def tau(sums: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        some = np.where(sums[2] > 0, sums[2], np.nan)
        return 2 * sums[0] / some - 1, 2 * sums[1] / some - 1

    cells = np.array(per, dtype=np.float64)

    def gain(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        first, second = tau(sums)
        return second - first

    tested = _tested(cells, gain, cells[2], draws)
    first, second = tau(cells.sum(axis=1))
    return _segment_row("darr", float(first), float(second), tested, int(known.sum()))


def _of_scores(
    human: NDArray[np.float64],
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    draws: GainDraws,
) -> list[dict[str, Cell]]:
    known = ~(np.isnan(human) | np.isnan(before) | np.isnan(after))
    three = [np.where(known, one, 0.0) for one in (human, before, after)]
    n = int(known.sum())
    tested = _UNTESTED
    if n >= _FEW:
        products = [a * b for i, a in enumerate(three) for b in three[i:]]
        moments = np.array([part.sum(axis=0) for part in (known, *three, *products)])
        tested = _tested(moments, _gain_of_moments, moments[0], draws)
    flat = [one[known] for one in (human, before, after)]
    rows = []
    for name, measure in (("pearson", stats.pearson), ("kendall", stats.kendall_b)):
        pair = [float(measure(flat[0], one)) if n >= _FEW else np.nan for one in flat[1:]]
        own = tested if name == "pearson" else _UNTESTED
        rows.append(_segment_row(name, pair[0], pair[1], own, n))
    return rows


class _Tested(NamedTuple):
    """An interval of a gain over segments, its p, and what was left out or drawn for both."""

    low: float | None
    high: float | None
    p: float | None
    unit: str
    groups: int


_UNTESTED = _Tested(None, None, None, "", 0)


def _tested(
    moments: NDArray[np.float64],
    gain: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    judged: NDArray[np.float64],
    draws: GainDraws,
) -> _Tested:
    """Interval and test of a gain: documents left out one at a time, or segments drawn."""
    there = judged > 0
    if not draws.resamples or not there.any():
        return _UNTESTED
    if draws.documents is not None:
        of = np.unique(draws.documents[there], return_inverse=True)[1]
        own = moments[:, there]
        without = gain(np.moveaxis(left_out_sums(own.T, of), 0, -1))
        sizes = np.bincount(of, judged[there])
        found = jackknife(gain(own.sum(axis=1)), without, sizes, confidence=draws.confidence)
        low, high, p = (_defined(float(one)) for one in (found.low, found.high, found.p))
        return _Tested(low, high, p, "document", found.documents)
    segments = moments.shape[1]
    counts = resample_counts(segments, count=draws.resamples, seed=draws.seed)
    gains = gain(resampled_sums(moments, counts))
    low, high = _ends(gains, draws, drawn=int(there.sum()))
    p = bootstrap_p_value(gains, float(gain(moments.sum(axis=1))), drawn=int(there.sum()))
    return _Tested(low, high, _defined(p), "segment", int(there.sum()))


def _gain_of_moments(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Differences of two Pearson correlations from sums of h, a, b and of their products."""
    with np.errstate(divide="ignore", invalid="ignore"):
        h, a, b, hh, ha, hb, aa, _, bb = sums[1:] / sums[0]
        spread = hh - h * h
        first = (ha - h * a) / np.sqrt(spread * (aa - a * a))
        second = (hb - h * b) / np.sqrt(spread * (bb - b * b))
        gains = np.asarray(second - first)
    return np.where(np.isfinite(gains), gains, np.nan)


def _segment_row(
    name: str, before: float, after: float, tested: _Tested, n: int
) -> dict[str, Cell]:
    return {
        "statistic": name,
        "base": _defined(before),
        "value": _defined(after),
        "gain": _defined(after - before),
        "low": tested.low,
        "high": tested.high,
        "p": tested.p,
        "judgements": n,
        "unit": tested.unit or None,
        "groups": tested.groups or None,
    }


def _interval(
    human: NDArray[np.float64],
    known: NDArray[np.bool_],
    base: Scores,
    wide: Scores,
    draws: GainDraws,
) -> tuple[float | None, float | None]:
    """The same draws for both, so that what they share cancels."""
    if not draws.resamples:
        return None, None
    if draws.over == "systems":
        sides = [_oriented(one)[known] for one in (base, wide)]
        places = stats.resamples(int(known.sum()), count=draws.resamples, seed=draws.seed)
        wanted, drawn = human[known][places], [side[places] for side in sides]
    else:
        found = [_resampled(one, draws) for one in (base, wide)]
        if found[0] is None or found[1] is None:
            return None, None
        wanted, drawn = (
            human[known][None, :],
            [part[:, known] for part in found if part is not None],
        )
    return _ends(_rows_r(wanted, drawn[1]) - _rows_r(wanted, drawn[0]), draws)


def _resampled(scores: Scores, draws: GainDraws) -> NDArray[np.float64] | None:
    """System scores [draws, K] over resampled segments; None: they are no sums of segments."""
    counts = resample_counts(scores.segments.shape[1], count=draws.resamples, seed=draws.seed)
    if scores.statistics is not None and scores.aggregate is not None:
        systems, segments, columns = scores.statistics.shape
        rows = scores.statistics.transpose(0, 2, 1).reshape(systems * columns, segments)
        sums = resampled_sums(rows, counts).reshape(systems, columns, -1).transpose(2, 0, 1)
        return _sign(scores) * np.asarray(scores.aggregate(sums))
    values = np.asarray(scores.segments)
    present = ~np.isnan(values)
    if not np.allclose(np.nanmean(values, axis=1), scores.system, equal_nan=True):
        return None
    sums = resampled_sums(np.where(present, values, 0.0), counts)
    held = resampled_sums(present.astype(np.float64), counts)
    with np.errstate(invalid="ignore"):
        return np.asarray(_sign(scores) * (sums / held).T)


def _rows_r(human: NDArray[np.float64], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pearson's r of each row."""
    a, b = (one - one.mean(axis=1, keepdims=True) for one in (human, scores))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1)))


def _ends(
    values: NDArray[np.float64], draws: GainDraws, *, drawn: int = 0
) -> tuple[float | None, float | None]:
    """Ends of the interval; expanded where it is known how many things were drawn."""
    held = expanded_confidence(draws.confidence, drawn) if drawn > 1 else draws.confidence
    low, high = percentile_interval(values, held)
    return _defined(float(low)), _defined(float(high))


def _kind(there: tuple[str, ...], wanted: Sequence[str], what: str) -> str | None:
    fitting = tuple(kind for kind in there if kind in wanted) if wanted else there
    return only_kind(None, fitting, what) if fitting else None


def _is_human(testset: TestSet, name: str) -> bool:
    return name in testset.info and testset.info[name].human


def _oriented(scores: Scores) -> NDArray[np.float64]:
    return _sign(scores) * np.asarray(scores.system, dtype=np.float64)


def _sign(scores: Scores) -> float:
    return 1.0 if scores.higher_is_better else -1.0


def _defined(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None
