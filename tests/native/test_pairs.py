"""Counts of pairs, each beside plain functions that look at one pair after the other."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from gnomon.native import pairs as loops
from gnomon.stats import acc_eq, calibrate_ties, darr, kendall_b

NAN, INFINITE = float("nan"), float("inf")
#: few values, so that many are tied; infinite and missing ones; any numbers
_values = (
    st.sampled_from([0.0, -0.0, 1.0, 1.5, 2.0, 3.0])
    | st.sampled_from([NAN, INFINITE, -INFINITE])
    | st.floats(-1e6, 1e6)
)
_sizes = st.integers(0, 6) | st.sampled_from([7, 63, 64, 65])


@st.composite
def _groups(draw: st.DrawFn, sides: int = 2) -> list[np.ndarray]:
    """Scores [groups, members] of several sides, a member missing on all of them or on none."""
    groups, size = draw(st.integers(0, 3)), draw(_sizes)
    values = draw(st.lists(_values, min_size=1, max_size=12))
    chance = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    found = chance.choice(np.array(values), (sides, groups, size))
    missing = np.isnan(found).any(axis=0)
    return [np.where(missing, NAN, side) for side in found]


def _sign(one: float, other: float, epsilon: float = 0.0) -> int:
    if epsilon:
        return int(one - other > epsilon) - int(other - one > epsilon)
    return int(one > other) - int(other > one)


def _known(*sides: np.ndarray) -> list[tuple[float, ...]]:
    rows = zip(*(side.tolist() for side in sides), strict=True)  # whose infinities warn of nothing
    return [row for row in rows if not any(map(math.isnan, row))]


@given(_groups(), st.sampled_from([0.0, 0.25, 0.5, 3.0]))
@example([np.empty((0, 4)), np.empty((0, 4))], 0.0)
@example([np.empty((2, 0)), np.empty((2, 0))], 0.0)
def test_each_pair_is_of_one_kind(sides: list[np.ndarray], epsilon: float) -> None:
    found = loops.count_pairs(*sides, epsilon)
    assert found.shape == (len(sides[0]), 5)
    for row, group in zip(found.tolist(), zip(*sides, strict=True), strict=True):
        expected = [0] * 5
        for (hi, mi), (hj, mj) in combinations(_known(*group), 2):
            human, metric = _sign(hi, hj), _sign(mi, mj, epsilon)
            kind = (0 if human == metric else 1) if human and metric else 2
            expected[kind + (not human and metric == 0) * 2 + (metric == 0 and human != 0)] += 1
        assert row == expected


@given(_groups(), st.sampled_from([5e-324, 0.5, 1.0, 25.0]), st.sampled_from([0.0, 0.25, 0.5, 3.0]))
def test_sorting_counts_what_looking_at_each_pair_does(
    sides: list[np.ndarray], least: float, epsilon: float
) -> None:
    for group in zip(*sides, strict=True):
        members = _known(*group)
        human, metric = np.array(members).reshape(-1, 2).T
        expected = [0] * 4
        for (hi, mi), (hj, mj) in combinations(members, 2):
            far = (hi - hj >= least) - (hj - hi >= least)
            order = (mi - mj > epsilon) - (mj - mi > epsilon)
            for kind, holds in enumerate((far * order > 0, far * order < 0, far, order)):
                expected[kind] += bool(holds)
        assert list(loops.count_sorted(human, metric, least, epsilon)) == expected


@pytest.mark.parametrize("n", [0, 1, 2, 255, 256, 3000])
@pytest.mark.parametrize("values", [3, 100, 1 << 40])
def test_tau_b_of_one_long_row_is_scipys(n: int, values: int) -> None:
    x, y = np.random.default_rng(n).integers(0, values, (2, n)).astype(float)
    expected = scipy_stats.kendalltau(x, x // 2 + y).statistic if n > 1 else NAN
    assert kendall_b(x, x // 2 + y) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(_groups(3), st.sampled_from([0.0, 0.25, 3.0]), st.sampled_from([0.0, 0.5]))
def test_sole_successes_are_those_of_each_pair(
    sides: list[np.ndarray], epsilon: float, other: float
) -> None:
    found = loops.count_sole_successes(*sides, epsilon, other)
    for row, group in zip(found.tolist(), zip(*sides, strict=True), strict=True):
        expected = [0, 0, 0]
        for (hi, ai, bi), (hj, aj, bj) in combinations(_known(*group), 2):
            first = _sign(hi, hj) == _sign(ai, aj, epsilon)
            second = _sign(hi, hj) == _sign(bi, bj, other)
            for kind, holds in enumerate((first and not second, second and not first, True)):
                expected[kind] += holds
        assert row == expected


@given(_groups(), st.sampled_from([0.0, 0.5, 1.0, 25.0]))
def test_far_pairs_are_those_of_each_pair(sides: list[np.ndarray], threshold: float) -> None:
    concordant = total = 0
    for group in zip(*sides, strict=True):
        for (hi, mi), (hj, mj) in combinations(_known(*group), 2):
            far = abs(hi - hj) >= threshold
            total += far
            concordant += far and _sign(hi, hj) * _sign(mi, mj) > 0
    assert loops.count_far_pairs(*sides, threshold).tolist() == [concordant, total]


@pytest.mark.parametrize("threshold", [0.0, 25.0, 90.0])
def test_clear_judgements_of_a_long_row_are_those_of_its_pairs(threshold: float) -> None:
    human, metric = np.random.default_rng(3).integers(0, 101, (2, 300)).astype(float)
    concordant, total = loops.count_far_pairs([human], [metric], threshold).tolist()
    assert darr(human, metric, threshold=threshold, grouping="none") == pytest.approx(
        (2 * concordant - total) / total
    )


@given(_groups(), st.sampled_from([1.0, 2.5]), st.integers(1, 7))
def test_pairs_stand_in_the_bins_of_their_differences(
    sides: list[np.ndarray], widest: float, bins: int
) -> None:
    expected = np.zeros((3, bins), dtype=int)
    pairs = []
    for number, group in enumerate(zip(*sides, strict=True)):
        for (hj, mj), (hi, mi) in combinations(_known(*group), 2):
            gap = 0.0 if mi == mj else abs(mi - mj)
            place = bins - 1 if gap >= widest else min(int(gap * (bins / widest)), bins - 1)
            agree = _sign(hi, hj) * _sign(mi, mj) > 0
            kind = 0 if hi == hj else 1 if agree else 2
            expected[kind, place] += 1
            pairs.append((gap, kind, place, number))
    found = loops.tie_bins(*sides, widest, bins)
    assert found.tolist() == expected.tolist()
    wanted = np.arange(bins) % 2 == 0
    weights = np.arange(1.0, len(sides[0]) + 1)
    chosen = [
        (gap, weights[number] * (1 - 2 * kind), place)
        for gap, kind, place, number in pairs
        if kind < 2 and wanted[place]
    ]
    some = loops.pairs_of_bins(*sides, weights, widest, wanted, len(chosen))
    assert sorted(zip(*(column.tolist() for column in some), strict=True)) == sorted(chosen)
    if chosen:
        with pytest.raises(ValueError, match="more than"):
            loops.pairs_of_bins(*sides, weights, widest, wanted, len(chosen) - 1)


def test_two_infinite_scores_are_no_obstacle_to_calibration() -> None:
    human = np.array([[1.0, 2, 3, 3]])
    metric = np.array([[0.0, INFINITE, INFINITE, 1]])
    tied = calibrate_ties(human.T, metric.T)
    assert tied.epsilon >= 0
    assert tied.accuracy == acc_eq(human.T, metric.T, epsilon=tied.epsilon)


def _agreement(human: np.ndarray, metric: np.ndarray) -> tuple[int, int, int]:
    """Pairs concordant, tied by the metric, and those of them that people do not tie."""
    found = [0, 0, 0]
    for (hi, mi), (hj, mj) in combinations(_known(human, metric), 2):
        human_sign, sign = _sign(hi, hj), _sign(mi, mj)
        found[0] += human_sign * sign > 0
        found[1] += sign == 0
        found[2] += sign == 0 and human_sign != 0
    return found[0], found[1], found[2]


@given(_groups(3), st.integers(0, 1 << 32))
def test_every_draw_counts_the_pairs_of_its_exchanged_scores(
    sides: list[np.ndarray], seed: int
) -> None:
    words = np.random.default_rng(seed).integers(
        0, 1 << 64, sides[0].shape, dtype=np.uint64, endpoint=False
    )
    counts, known = loops.exchanged_pairs(*sides, words)
    for group, (human, first, second) in enumerate(zip(*sides, strict=True)):
        size = len(_known(human))
        untied = sum(hi != hj for (hi,), (hj,) in combinations(_known(human), 2))
        assert known[group].tolist() == [size * (size - 1) // 2, untied]
        for draw in (0, 1, 31, 63):
            swap = (words[group] >> np.uint64(draw)) & np.uint64(1) == 1
            one, other = np.where(swap, second, first), np.where(swap, first, second)
            for order, metric in enumerate((one, other)):
                assert tuple(counts[order, :, group, draw]) == _agreement(human, metric)


@given(_groups(3), st.integers(0, 1 << 32), st.booleans())
def test_differences_are_sums_of_leanings(sides: list[np.ndarray], seed: int, alike: bool) -> None:
    found, ties = loops.leanings(*sides, alike)
    chance = np.random.default_rng(seed)
    for group, (human, first, second) in enumerate(zip(*sides, strict=True)):
        swap = chance.random(len(human)) < 0.5
        metrics = np.where(swap, second, first), np.where(swap, first, second)
        values = []
        for metric in metrics:
            signs = [
                (_sign(hi, hj), _sign(mi, mj))
                for (hi, mi), (hj, mj) in combinations(_known(human, metric), 2)
            ]
            values.append(sum(h == m if alike else h * m for h, m in signs))
        kept = np.where(swap, -1, 1) @ found[group].astype(int)
        assert kept == 2 * (values[0] - values[1])
        crossed = [
            _sign(*pair) == 0
            for i, j in combinations(np.flatnonzero(~np.isnan(human)), 2)
            for pair in (
                (first[i], first[j]),
                (second[i], second[j]),
                (first[i], second[j]),
                (second[i], first[j]),
            )
        ]
        assert ties[group] == any(crossed)


@given(
    st.tuples(st.integers(1, 3), st.integers(0, 3), st.integers(0, 4), st.integers(0, 67)),
    st.sampled_from([0, 1e-13, 1e-6, 1]),
    st.sampled_from([1e-200, 1e-35, 1e-3, 1.0, 1e35, 1e200]),
    st.booleans(),
    st.integers(0, 1 << 32),
)
def test_flips_are_counted_in_double_precision(
    shape: tuple[int, int, int, int], rounding: float, scale: float, close: bool, seed: int
) -> None:
    metrics, draws, systems, flips = shape
    chance = np.random.default_rng(seed)
    scores = scale * chance.normal(size=(metrics, systems, 9))
    if close:  # nearer to each other than single precision tells
        scores = scale * (1 + chance.integers(0, 3, scores.shape) * 1e-12)
    signs = 1.0 - 2 * chance.integers(0, 2, (9, flips))
    swaps = chance.integers(0, 2, (draws, systems, 9))

    def ahead(values: np.ndarray) -> np.ndarray:
        return values @ signs - values.sum(axis=-1, keepdims=True)

    gone = swaps * scores[:, None]
    sums = ahead(scores), ahead(gone), np.abs(scores).sum(2), np.abs(gone).sum(3)
    found = loops.exchanged_flips(*sums, 0, metrics - 1, rounding)
    pairs = list(combinations(range(systems), 2))
    assert found.shape == (2, draws, 2, len(pairs))
    for order, (a, b) in enumerate([(0, metrics - 1), (metrics - 1, 0)]):
        for draw in range(draws):
            now = sums[0][a] + (sums[1][b, draw] - sums[1][a, draw])
            size = sums[2][a] - sums[3][a, draw] + sums[3][b, draw]
            for pair, (s, t) in enumerate(pairs):
                slack, excess = rounding * (size[s] + size[t]), now[s] - now[t]
                expected = [(excess >= -slack).sum(), (excess > slack).sum()]
                assert found[order, draw, :, pair].tolist() == expected


def test_arrays_of_any_layout_and_kind_are_read() -> None:
    human, metric = np.random.default_rng(0).integers(0, 5, (2, 6, 4))
    wide = np.zeros((6, 8))
    wide[:, ::2] = metric
    expected = loops.count_pairs(human.astype(float), metric.astype(float), 0.0).tolist()
    assert loops.count_pairs(human, wide[:, ::2], 0.0).tolist() == expected
    assert loops.count_pairs(human.tolist(), np.asfortranarray(metric), 0.0).tolist() == expected
    frozen = human.astype(float)
    frozen.flags.writeable = False
    assert loops.count_pairs(frozen, metric, 0.0).tolist() == expected


_HUMAN, _WIDE = np.zeros((2, 3)), np.zeros((2, 256))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: loops.count_pairs(_HUMAN, np.zeros((2, 2)), 0.0), "one shape"),
        (lambda: loops.count_pairs(_HUMAN[0], _HUMAN[0], 0.0), "2 dimensions"),
        (lambda: loops.count_sole_successes(_HUMAN, _HUMAN, _HUMAN[:1], 0.0, 0.0), "one shape"),
        (lambda: loops.count_sorted(np.zeros(3), np.zeros(2), 1.0, 0.0), "3 and 2 scores"),
        (lambda: loops.count_sorted(np.zeros(3), np.zeros(3), 0.0, 0.0), "least difference 0"),
        (lambda: loops.tie_bins(_HUMAN, _HUMAN, 0.0, 3), "above 0"),
        (lambda: loops.tie_bins(_HUMAN, _HUMAN, NAN, 3), "above 0"),
        (lambda: loops.tie_bins(_HUMAN, _HUMAN, 1.0, 0), "above 0"),
        (lambda: loops.pairs_of_bins(_HUMAN, _HUMAN, [1.0], 1.0, np.ones(2, bool), 0), "weights"),
        (lambda: loops.exchanged_pairs(*[_HUMAN] * 3, np.zeros((2, 2), np.uint64)), "words"),
        (lambda: loops.exchanged_pairs(*[_WIDE] * 3, np.zeros((2, 256), np.uint64)), "at most 255"),
        (lambda: loops.leanings(*[_WIDE] * 3, False), "at most 255"),
        (
            lambda: loops.exchanged_flips(
                np.zeros((2, 3, 4)), np.zeros((2, 1, 3, 5)), _HUMAN, np.zeros((2, 1, 3)), 0, 1, 0.0
            ),
            "the others need",
        ),
        (
            lambda: loops.exchanged_flips(
                np.zeros((2, 3, 4)), np.zeros((2, 1, 3, 4)), _HUMAN, np.zeros((2, 1, 3)), 0, 2, 0.0
            ),
            "metrics 0 and 2 of 2",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def test_bins_narrower_than_numbers_go_are_bins() -> None:
    human, metric, least = [[1.0, 2.0, 2.0]], [[0.0, 0.0, 5e-324]], 5e-324
    found = loops.tie_bins(human, metric, least, 4)
    assert found.tolist() == [[0, 0, 0, 1], [0, 0, 0, 1], [1, 0, 0, 0]]
    differences, gains, places = loops.pairs_of_bins(
        human, metric, [1.0], least, np.ones(4, dtype=bool), 2
    )
    assert [side.tolist() for side in (differences, gains, places)] == [
        [least, least],
        [-1.0, 1.0],
        [3, 3],
    ]
