"""Intervals and tests: hand-computed cases, a naive loop over resamples, properties."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnomon as gn
from gnomon.core.errors import UsageError
from gnomon.core.records import columns_of
from gnomon.muler import ratio
from gnomon.muler.differences import DifferenceRow, Differences, differences_table
from gnomon.muler.figures import FeatureScores, Presence, figures
from gnomon.muler.pairs import FeatureRatios, FeatureShares, Units
from gnomon.muler.uncertainty import Bootstrap, frame, resampled
from gnomon.stats import resamples

ANIMAL = {"animal": "cat|dog|horse"}
DRAWS, CONFIDENCE, SEED = 200, 0.9, 7


def _scores(
    seed: int, systems: int, segments: int, *, better: bool = True, missing: float = 0.0
) -> tuple[FeatureScores, Presence]:
    """Made-up scores: long segments score lower, gains are skewed, some are below zero."""
    draw = np.random.default_rng(seed)
    base = draw.beta(2, 3, (systems, segments)) * 60
    gain = draw.exponential(4, base.shape) * (draw.random(base.shape) < 0.6)
    oracle = base + np.where(draw.random(base.shape) < 0.05, -gain, gain)
    anti = oracle - draw.exponential(15, base.shape) - np.abs(oracle - base)
    base[draw.random(base.shape) < missing] = np.nan
    sign = 1 if better else -1
    kind = draw.integers(0, 4, base.shape)  # more, less, equally much, none
    kind[:, draw.random(segments) < 0.2] = 3  # segments without the feature on any side
    judged = np.where(draw.random(segments) < missing, np.nan, 1.0)
    shares = [(kind == k) * judged for k in range(3)]
    both = (kind < 3) & ~np.isnan(judged)
    return (
        FeatureScores("f", sign * base, sign * oracle, sign * anti, better),
        Presence(both, *shares),
    )


def _resampled(scores: FeatureScores, present: Presence, scope: np.ndarray) -> Any:
    options = Bootstrap(DRAWS, CONFIDENCE, SEED)
    counts = options.draw(len(scope))
    return resampled(scores, present, frame(scores.base, scope, counts, CONFIDENCE))


def _drawn(scores: FeatureScores, present: Presence, scope: np.ndarray) -> list[Any]:
    """The figures of every resample, by building each resample and using the plain definition."""
    found = []
    for draw in resamples(len(scope), count=DRAWS, seed=SEED):
        s = FeatureScores(
            "f", scores.base[:, draw], scores.oracle[:, draw], scores.anti_oracle[:, draw],
            scores.higher_is_better,
        )  # fmt: skip
        p = Presence(*(getattr(present, n)[:, draw] for n in ("both", "add", "miss", "hit")))
        found.append(figures(s, p, scope[draw]))
    return found


def _error(scores: FeatureScores, inside: np.ndarray, k: int, draw: np.ndarray) -> float:
    """The linearised standard error of the ratio, as a textbook has it."""
    at = draw[inside[k, draw]]
    at = at[~np.isnan(scores.base[k, at])]
    a = scores.oracle[k, at] - scores.base[k, at]
    b = scores.oracle[k, at] - scores.anti_oracle[k, at]
    theta = a.mean() / b.mean()
    return float(np.sqrt(np.sum((a - theta * b) ** 2)) / abs(b.sum()))


def _error(name: str, scores: FeatureScores, where: np.ndarray) -> float:
    """The standard error of a figure over some segments, as a textbook has it."""
    base, oracle, anti = (
        v[where] for v in (scores.base[0], scores.oracle[0], scores.anti_oracle[0])
    )
    a, b = oracle - base, oracle - anti
    if name == "muler":
        return float(np.sqrt(np.sum((a - a.mean() / b.mean() * b) ** 2)) / abs(b.sum()))
    values = {
        "clipped": np.where((a > 0) & (a <= b), a / b, 0),
        "base": base,
        "base_all": base,
        "oracle": oracle,
        "anti_oracle": anti,
        "spread": b,
        "gain": a,
    }
    return float(np.std(values[name]) / np.sqrt(len(a)))


@pytest.mark.parametrize(
    "name",
    ["muler", "clipped", "base", "base_all", "oracle", "anti_oracle", "spread", "gain"],
)
def test_intervals_are_symmetric_bootstrap_t_intervals(name: str) -> None:
    scores, present = _scores(4, 1, 60)
    scope = np.arange(60) % 5 > 0
    (found,) = _resampled(scores, present, scope)
    inside = scope if name == "base_all" else scope & present.both[0]
    (whole,) = figures(scores, present, scope)
    naive = _drawn(scores, present, scope)
    distances = [
        abs(getattr(one[0], name) - getattr(whole, name)) / _error(name, scores, draw[inside[draw]])
        for one, draw in zip(naive, resamples(60, count=DRAWS, seed=SEED), strict=True)
    ]
    quantile = np.sort(distances)[int(np.ceil(CONFIDENCE * (DRAWS + 1))) - 1]
    half = quantile * _error(name, scores, np.flatnonzero(inside))
    middle = getattr(whole, name)
    assert found[name] == pytest.approx((middle - half, middle + half), abs=1e-12)


def test_what_does_not_vary_has_no_interval() -> None:
    # twelve segments alike: no variation is no evidence of certainty
    flat = np.full((1, 12), 30.0)
    ones, zeros = np.ones((1, 12)), np.zeros((1, 12))
    scores = FeatureScores("f", flat, flat + 10, flat - 10, higher_is_better=True)
    present = Presence(ones > 0, zeros, zeros, ones)
    (ends,) = _resampled(scores, present, ones[0] > 0)
    assert set(ends.values()) == {(None, None)}


def test_a_hand_computed_error_and_interval() -> None:
    # gains 0 and 10 in equal number, spreads 20: theta 1/4, error sqrt(12 * 5^2) / 240
    base = np.array([[40.0, 30.0] * 6])
    ones, zeros = np.ones((1, 12)), np.zeros((1, 12))
    scores = FeatureScores("f", base, zeros + 40, zeros + 20, higher_is_better=True)
    present = Presence(ones > 0, zeros, zeros, ones)
    (ends,) = _resampled(scores, present, ones[0] > 0)
    assert _error("muler", scores, np.arange(12)) == pytest.approx(np.sqrt(300) / 240)
    # a resample with m gains of 10 has theta m / 24 and error sqrt(m (12 - m) / 12) / 24
    m = np.array([(draw % 2).sum() for draw in resamples(12, count=DRAWS, seed=SEED)])
    distances = np.sort(np.abs(m - 6) / np.sqrt(m * (12 - m) / 12))
    half = distances[180] * np.sqrt(300) / 240  # ceil(0.9 * 201) = 181st
    assert ends["muler"] == pytest.approx((0.25 - half, 0.25 + half), abs=1e-12)
    assert ends["spread"] == (None, None)


def test_fewer_than_ten_segments_have_no_interval_and_are_not_tested() -> None:
    words = ["the cat sat", "a horse ran", "red dog home"] * 3
    testset = gn.TestSet.from_lists(
        {"a": [w.replace("cat", "dog") for w in words], "b": words}, words
    )
    found = gn.muler(testset, "bleu", ["re:animal"], pattern=ANIMAL)
    assert {row["muler_low"] for row in found} == {None}
    assert {row["base_low"] for row in found} == {None}
    assert {row["p"] for row in found.table("differences").rows} == {None}
    assert {row["difference"] for row in found.table("differences").rows} != {None}


def _testset(segments: int = 40) -> gn.TestSet:
    draw = np.random.default_rng(5)
    words = ["the", "cat", "dog", "horse", "sat", "ran", "home", "red", "on", "a"]
    references = [" ".join(draw.choice(words, 8)) for _ in range(segments)]

    def noisy(share: float) -> list[str]:
        return [
            " ".join(str(draw.choice(words)) if draw.random() < share else w for w in r.split())
            for r in references
        ]

    systems = {"good": noisy(0.1), "fair": noisy(0.3), "bad": noisy(0.8)}
    return gn.TestSet.from_lists(systems, references)


def _run(testset: gn.TestSet, **more: Any) -> gn.Finding:
    return gn.muler(
        testset,
        "rouge1",
        ["re:animal"],
        pattern=ANIMAL,
        **{"resamples": 300, "examples": 0} | more,
    )


def test_the_same_seed_gives_the_same_figures_and_another_seed_others() -> None:
    testset = _testset()
    first, again, other = _run(testset), _run(testset), _run(testset, seed=1)
    assert first.rows == again.rows
    assert first.table("differences").rows == again.table("differences").rows
    assert [r["base_low"] for r in first] != [r["base_low"] for r in other]
    assert "bs:300|confidence:0.95|seed:12345" in str(first.signatures["rouge1"])


def test_intervals_do_not_change_the_figures() -> None:
    testset = _testset()
    plain = [dict(row) for row in _run(testset, resamples=0)]
    drawn = [dict(row) for row in _run(testset)]
    assert plain == [{k: row[k] for k in plain[0]} for row in drawn]


def test_every_figure_lies_in_its_interval_and_wider_confidence_is_wider() -> None:
    testset = _testset()
    names = ["muler", "base", "base_all", "oracle", "anti_oracle", "spread", "gain"]
    for narrow, wide in zip(_run(testset, confidence=0.5), _run(testset), strict=True):
        for name in names:
            assert wide[f"{name}_low"] <= wide[name] <= wide[f"{name}_high"], name
            assert wide[f"{name}_low"] <= narrow[f"{name}_low"], name
            assert wide[f"{name}_high"] >= narrow[f"{name}_high"], name


def test_differences_are_paired_and_name_the_better_system_by_their_sign() -> None:
    testset = _testset()
    table = _run(testset).table("differences").rows
    rows = {(r["system_a"], r["system_b"]): r for r in table if r["variant"] == "ratio"}
    muler = {r["system"]: r["muler"] for r in _run(testset) if r["variant"] == "ratio"}
    assert list(muler) == ["good", "fair", "bad"]
    assert set(rows) == {("good", "fair"), ("good", "bad"), ("fair", "bad")}
    for (a, b), row in rows.items():
        assert row["difference"] == pytest.approx(muler[a] - muler[b], abs=1e-12)
        assert row["low"] <= row["difference"] <= row["high"]
        assert row["decided"] is (row["p"] <= 0.05) is not (row["low"] < 0 < row["high"])
    assert rows["good", "bad"]["difference"] < 0
    assert rows["good", "bad"]["decided"]


def _ratios(scores: FeatureScores, present: Presence) -> FeatureRatios:
    pairs = len(scores.base) * (len(scores.base) - 1) // 2
    sums = scores.gain(), scores.sign * (scores.oracle - scores.anti_oracle)
    differ = np.ones((pairs, scores.base.shape[1]), dtype=np.bool_)
    return FeatureRatios.select(
        "f", sums, present.both, differ, Units.create(scores.base.shape[1], None)
    )


def test_differences_of_resamples_and_their_errors_equal_a_naive_loop() -> None:
    scores, present = _scores(3, 3, 70)
    options = Bootstrap(DRAWS, CONFIDENCE, SEED)
    counts = options.draw(70)
    assert counts is not None
    first, second = np.array([0, 2]), np.array([1, 0])
    found = _ratios(scores, present)
    differences, errors = found.resampled(first, second, counts)
    whole = resamples(70, count=DRAWS, seed=SEED)
    for pair, (a, b) in enumerate(zip(first, second, strict=True)):
        n = int((present.both[a] | present.both[b]).sum())
        for draw in range(0, DRAWS, 20):
            moves, values = [], []
            for k in (a, b):
                at = whole[draw][present.both[k, whole[draw]]]
                gain = (scores.oracle - scores.base)[k, at]
                spread = (scores.oracle - scores.anti_oracle)[k, at]
                values.append(gain.sum() / spread.sum())
                move = np.zeros(DRAWS + 70)
                np.add.at(move, np.flatnonzero(present.both[k, whole[draw]]),
                          (gain - gain.sum() / spread.sum() * spread) / spread.sum())  # fmt: skip
                moves.append(move)
            assert differences[pair, draw] == pytest.approx(values[0] - values[1], abs=1e-12)
            naive = np.sqrt(((moves[0] - moves[1]) ** 2).sum() * n / (n - 1))
            assert errors[pair, draw] == pytest.approx(naive, rel=0.25)


@pytest.mark.parametrize("references", [1, 3])
def test_shares_of_segments_are_drawn_as_any_ratios(references: int) -> None:
    draw = np.random.default_rng(references)
    values = draw.integers(0, references + 1, (4, 90)) * (draw.random((4, 90)) < 0.3) / references
    values[:, :20] = np.nan
    shares = FeatureShares.average("f", values, Units.create(90, None))
    assert isinstance(shares, FeatureShares)
    counts = Bootstrap(DRAWS, CONFIDENCE, SEED).draw(90)
    pairs = np.triu_indices(4, 1)
    found, expected = (
        shares.resampled(*pairs, counts),
        FeatureRatios.resampled(shares, *pairs, counts),
    )
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("systems", "on_page"), [(20, None), pytest.param(70, 40, marks=pytest.mark.verify)]
)
def test_a_page_holds_few_of_many_differences_the_smallest_p_of_each_feature(
    systems: int, on_page: int | None
) -> None:
    rng = np.random.default_rng(0)
    units = Units.create(100, None)
    found = Differences([f"s{n}" for n in range(systems)], Bootstrap(39))
    for feature in ("pos:NOUN", "pos:VERB"):
        scores, present = _scores(int(rng.integers(100)), systems, 100)
        ratios = _ratios(scores, present)
        found.add(("bleu", "ratio", None), replace(ratios, feature=feature), units)
    table = differences_table(found.rows(), Bootstrap(39))
    assert len(table.rows) == systems * (systems - 1)
    if on_page is None:
        assert table.excerpt is None
        return
    assert table.excerpt is not None
    kept = [table.rows[position] for position in table.excerpt.rows]
    assert len(kept) == on_page
    for feature in ("pos:NOUN", "pos:VERB"):
        every, on_it = (
            sorted(row["p"] or 2.0 for row in some if row["feature"] == feature)
            for some in (table.rows, kept)
        )
        assert on_it == every[:20]
    assert f"{len(kept)} of 4,830 differences" in table.excerpt.note


def test_equal_systems_never_differ() -> None:
    testset = _testset()
    twin = gn.TestSet.from_lists(
        {"a": testset.systems["fair"], "b": testset.systems["fair"]},
        [str(text) for text in testset.references["A"]],
    )
    for row in _run(twin).table("differences").rows:
        assert (row["difference"], row["low"], row["high"], row["p"]) == (0, 0, 0, 1)
        assert not row["decided"]


def test_permuting_systems_permutes_intervals_and_turns_signs() -> None:
    testset = _testset()
    turned = gn.TestSet.from_lists(
        dict(reversed(testset.systems.items())), [str(t) for t in testset.references["A"]]
    )
    one = {(r["system"], r["variant"]): dict(r) for r in _run(testset)}
    two = {(r["system"], r["variant"]): dict(r) for r in _run(turned)}
    assert one == two
    pairs = [
        {
            (r["system_a"], r["system_b"], r["variant"]): (r["difference"], r["p"])
            for r in _run(t).table("differences").rows
        }
        for t in (testset, turned)
    ]
    for (a, b, variant), (difference, p) in pairs[0].items():
        assert pairs[1][b, a, variant] == pytest.approx((-difference, p), abs=1e-12)


def test_families_are_the_features_and_pairs_of_one_variant() -> None:
    testset = _testset()
    pattern = {**ANIMAL, "place": "home|on"}
    asked = {"pattern": pattern, "resamples": 300, "examples": 0}
    found = gn.muler(testset, "rouge1", ["re:*"], **asked)
    for variant in ("ratio", "segment-clipped"):
        rows = [r for r in found.table("differences").rows if r["variant"] == variant]
        assert len(rows) == 2 * 3
        p = [float(r["p"]) for r in rows if r["p"] is not None]
        assert p == sorted(p)
        alone = _run(testset, variants=[variant]).table("differences").rows
        of_animals = {
            (r["system_a"], r["system_b"]): r for r in rows if r["feature"] == "re:animal"
        }
        for row in alone:
            other = of_animals[row["system_a"], row["system_b"]]
            assert other["difference"] == row["difference"]
            if row["p"] is not None:
                assert other["high"] - other["low"] >= row["high"] - row["low"]


def test_slices_are_resampled_with_the_whole() -> None:
    testset = _testset(60)
    parted = gn.TestSet.from_lists(
        testset.systems, [str(t) for t in testset.references["A"]], domains=["x", "y"] * 30
    )
    rows = [r for r in _run(parted, by="domain") if r["variant"] == "ratio"]
    whole = [r for r in _run(testset) if r["variant"] == "ratio"]
    assert [dict(r) for r in rows if r["slice"] is None] == [dict(r) for r in whole]
    assert all(r["base_low"] <= r["base"] <= r["base_high"] for r in rows)
    parts = {r["slice"] for r in _run(parted, by="domain").table("differences").rows}
    assert parts == {None, "x", "y"}


def test_one_system_alone_is_compared_with_nothing() -> None:
    testset = _testset()
    alone = gn.TestSet.from_lists(
        {"fair": testset.systems["fair"]}, [str(t) for t in testset.references["A"]]
    )
    found = _run(alone)
    assert found.table("differences").rows == ()
    own = [dict(r) for r in _run(testset) if r["system"] == "fair"]
    for row, beside_others in zip(found, own, strict=True):
        # corrected over the systems
        counts = ("surplus_low", "surplus_high", "p_counts", "decided")
        assert dict(row) == beside_others | {name: row[name] for name in counts}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"resamples": -1}, "0 or more"),
        ({"resamples": 18}, "at least 19"),
        ({"resamples": 98, "confidence": 0.99}, "at least 99"),
        ({"confidence": 1.0}, "confidence must be a number"),
        ({"seed": -3}, "0 or more"),
    ],
)
def test_wrong_options_are_refused_before_any_work(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        _run(_testset(), **options)


@given(st.integers(0, 10_000), st.integers(10, 40))
def test_ends_are_in_order_and_undefined_together(seed: int, segments: int) -> None:
    scores, present = _scores(seed, 2, segments, missing=0.1)
    for ends in _resampled(scores, present, np.arange(segments) % 3 > 0):
        for low, high in ends.values():
            assert (low is None) == (high is None)
            assert low is None or low <= high


@given(st.integers(0, 10_000))
def test_error_rates_have_the_intervals_of_their_negatives(seed: int) -> None:
    up, present = _scores(seed, 2, 40)
    down, _ = _scores(seed, 2, 40, better=False)
    scope = np.ones(40, dtype=bool)
    for a, b in zip(_resampled(up, present, scope), _resampled(down, present, scope), strict=True):
        for name in ("muler", "clipped", "spread", "gain"):
            assert a[name] == (None, None) or a[name] == pytest.approx(b[name])


def test_the_ratio_of_arrays_is_the_ratio_of_their_numbers() -> None:
    from gnomon.muler.figures import ratios

    base, oracle, anti = [30.0, 30.0, np.nan], [40.0, 40.0, 40.0], [20.0, 40.0, 20.0]
    singly = [ratio(*values) for values in zip(base, oracle, anti, strict=True)]
    assert singly == [0.5, None, None]
    assert np.array_equal(ratios(base, oracle, anti), [0.5, np.nan, np.nan], equal_nan=True)


def test_rows_of_differences_have_the_columns_of_their_class() -> None:
    table = _run(_testset()).table("differences")
    assert table.rows
    names = [column.name for column in columns_of(DifferenceRow)]
    assert [column.name for column in table.columns] == names
    assert all(list(row) == names for row in table.rows)
