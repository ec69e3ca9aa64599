"""Meta-evaluation: values equal the definitions, nothing depends on order, bad input is told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.metaeval.contests import SYSTEMS, drawn, noisy, scores
from tests.methods.metaeval.contests import contest as make
from tests.told import notes

import gnomon as gn
from gnomon import metaeval, stats
from gnomon.agreement.significance import accuracy_within
from gnomon.core.errors import DataError, LengthMismatchError, UnknownNameError, UsageError
from gnomon.core.findings import Bars
from gnomon.metaeval import PRESETS, STATISTICS
from gnomon.stats.student import expanded_confidence

FEW_DRAWS = {"resamples": 50}


def rows(found, **wanted):
    return [row for row in found if all(row[key] == value for key, value in wanted.items())]


def one(found, **wanted):
    (row,) = rows(found, **wanted)
    return row


@pytest.fixture
def human() -> np.ndarray:
    return drawn(1, digits=0)


@pytest.fixture
def pair(human: np.ndarray):
    return {"good": scores(noisy(human, 2, 0.5)), "poor": scores(noisy(human, 3, 3.0))}


def test_the_room_is_callable_as_the_contract_says(human) -> None:
    found = gn.metaeval(make(human), [scores(noisy(human, 2))], **FEW_DRAWS)
    fields = ["language_pair", "level", "statistic", "grouping", "metric", "value", "n", "p"]
    assert list(found.rows[0])[:8] == fields
    assert found.method == "metaeval"
    assert found.to_dict()["metric"][0] == "m"


def test_values_are_those_of_the_statistics(human, pair) -> None:
    found = gn.metaeval(
        make(human), pair, statistics=list(STATISTICS), darr_threshold=1.0, resamples=0, seed=0
    )
    m, system = pair["good"].segments, human.mean(axis=1)
    means = pair["good"].system
    expected = {
        ("pearson", "system", "none"): stats.pearson(system, means),
        ("spearman", "system", "none"): stats.spearman(system, means),
        ("kendall_b", "system", "none"): stats.kendall_b(system, means),
        ("pairwise_accuracy", "system", "none"): stats.pairwise_accuracy(system, means),
        ("spa", "system", "none"): stats.spa(human, m),
        ("pearson", "segment", "none"): stats.pearson(human, m),
        ("pearson", "segment", "item"): stats.pearson(human, m, grouping="item"),
        ("spearman", "segment", "item"): stats.spearman(human, m, grouping="item"),
        ("kendall_b", "segment", "item"): stats.kendall_b(human, m, grouping="item"),
        ("kendall_c", "segment", "item"): stats.kendall_c(human, m, grouping="item"),
        ("acc_eq", "segment", "item"): stats.calibrate_ties(human, m).accuracy,
        ("acc_eq_held_out", "segment", "item"): stats.acc_eq_held_out(human, m),
        ("pairwise_difference_pearson", "segment", "item"): stats.pairwise_difference_pearson(
            human, m
        ),
        ("darr", "segment", "item"): stats.darr(human, m, threshold=1.0),
    }
    for (statistic, level, grouping), value in expected.items():
        row = one(found, statistic=statistic, level=level, grouping=grouping, metric="good")
        assert row["value"] == pytest.approx(value, abs=1e-12), statistic
    epsilon = one(found, statistic="acc_eq", metric="good")["epsilon"]
    assert epsilon == stats.calibrate_ties(human, m).epsilon


def test_n_counts_systems_scores_or_pairs_and_says_which(human, pair) -> None:
    found = gn.metaeval(make(human), pair, resamples=0)
    counted = {
        (row["statistic"], row["level"]): (row["n"], row["unit"])
        for row in rows(found, metric="good")
    }
    assert counted["pearson", "system"] == (6, "systems")
    assert counted["pearson", "segment"] == (120, "scores")
    assert counted["pairwise_accuracy", "system"] == (15, "pairs")
    assert counted["acc_eq", "segment"] == (15 * 20, "pairs")
    assert counted["spa", "system"] == (15, "pairs")


def test_p_values_are_those_of_the_tests_that_are_named(human, pair) -> None:
    ts, system = make(human), human.mean(axis=1)
    found = gn.metaeval(ts, pair, baseline="poor", resamples=200, seed=7)
    good, poor = pair["good"], pair["poor"]
    row = one(found, statistic="pearson", level="system", metric="good")
    assert row["p"] == stats.williams(system, good.system, poor.system).p
    assert row["test"] == "Williams's test"
    both = np.stack([good.segments, poor.segments])
    draws = stats.RandomDraws(200, seed=7)
    tested = stats.permutation_test(human, both, grouping="item", swap="inputs", draws=draws)
    row = one(found, statistic="pearson", grouping="item", metric="good")
    assert row["p"] == tested.p[0, 1]
    assert one(found, statistic="pearson", grouping="item", metric="poor")["p"] is None
    epsilons = [stats.calibrate_ties(human, m).epsilon for m in both]
    row = one(found, statistic="acc_eq", metric="good")
    assert row["p"] == stats.input_swap_test(human, both, epsilons=epsilons, draws=draws).p[0, 1]
    boot = stats.bootstrap_test(human, both, grouping="item", expanded=True, draws=draws)
    row = one(found, statistic="pearson", grouping="item", metric="good")
    assert [row["low"], row["high"]] == boot.intervals[:, 0].tolist()


def test_bootstrap_of_soft_accuracy_and_darr_is_that_of_plain_loops() -> None:
    human = drawn(4, (5, 12))
    a, b = noisy(human, 5), noisy(human, 6)
    ts = make(human, SYSTEMS[:5])
    metrics = {"a": scores(a, SYSTEMS[:5]), "b": scores(b, SYSTEMS[:5])}
    found = gn.metaeval(
        ts, metrics, statistics=["spa", "darr"], darr_threshold=0.7, baseline="b",
        resamples=40, seed=3,
    )  # fmt: skip
    plain = {"spa": _spa_draws(human, (a, b), 40, 3), "darr": _darr_draws(human, (a, b), 40, 3)}
    for statistic, draws in plain.items():
        row = one(found, statistic=statistic, metric="a")
        units = human.shape[1] if statistic == "darr" else None
        tail = 50 * (1 - (0.95 if units is None else expanded_confidence(0.95, units)))
        low, high = np.nanpercentile(draws[0], [tail, 100 - tail])
        assert row["low"] == pytest.approx(low, abs=1e-12)
        assert row["high"] == pytest.approx(high, abs=1e-12)
        observed = row["value"] - one(found, statistic=statistic, metric="b")["value"]
        p = stats.bootstrap_p_value(
            draws[0] - draws[1], observed, alternative="greater", drawn=units
        )
        assert row["p"] == p


def _resampled(n: int, count: int, seed: int):
    generator = np.random.default_rng(seed)
    return [generator.integers(0, n, size=n) for _ in range(count)]


def _spa_draws(human, metrics, count, seed):
    of_human = stats.system_p_values(human, seed=seed)
    found = []
    for scores_ in metrics:
        gaps = np.abs(of_human - stats.system_p_values(scores_, seed=seed))
        values = []
        for draw in _resampled(len(human), count, seed):
            pairs = [
                gaps[min(i, j), max(i, j)]
                for k, i in enumerate(draw)
                for j in draw[k + 1 :]
                if i != j
            ]
            values.append(1 - np.mean(pairs) if pairs else np.nan)
        found.append(np.array(values))
    return found


def _darr_draws(human, metrics, count, seed):
    return [
        np.array(
            [
                stats.darr(human[:, draw], scores_[:, draw], threshold=0.7)
                for draw in _resampled(human.shape[1], count, seed)
            ]
        )
        for scores_ in metrics
    ]


def test_named_tests_leave_alone_what_they_do_not_cover(human, pair) -> None:
    found = gn.metaeval(make(human), pair, baseline="poor", test="williams", **FEW_DRAWS)
    tests = {(row["statistic"], row["level"]): row["test"] for row in rows(found, metric="good")}
    assert tests.pop(("pearson", "system")) == "Williams's test"
    assert set(tests.values()) == {None}
    found = gn.metaeval(make(human), pair, test="bootstrap", **FEW_DRAWS)
    row = one(found, statistic="pearson", level="system", metric="good")
    assert row["test"] == "bootstrap over systems"


def test_ranks_and_clusters_are_drawn_from_the_wins_matrix(human, pair) -> None:
    found = gn.metaeval(make(human), pair, statistics=["pearson"], groupings=["none"])
    wins = {
        (r["metric"], r["against"]): r for r in found.table("wins").rows if r["level"] == "segment"
    }
    assert wins["good", "poor"]["decided"] is True
    assert wins["poor", "good"]["decided"] is False
    assert wins["good", "good"]["p"] is None
    ranks = {r["metric"]: (r["rank"], r["cluster"]) for r in rows(found, level="segment")}
    assert ranks == {"good": (1, 1), "poor": (2, 2)}


@pytest.mark.parametrize("statistic", ["pearson", "acc_eq", "darr"])
def test_only_the_better_metric_wins(human, pair, statistic) -> None:
    options = {"statistics": [statistic], "levels": ["segment"], "darr_threshold": 0.5}
    found = gn.metaeval(make(human), pair, baseline="poor", **options)
    wins = {(r["metric"], r["against"]): r["decided"] for r in found.table("wins").rows}
    assert wins["good", "poor"] is True
    assert wins["poor", "good"] is False
    assert wins["good", "good"] is None


def test_metrics_are_ranked_by_agreement_in_one_picture(human, pair) -> None:
    views = [
        view for view in gn.metaeval(make(human), pair, **FEW_DRAWS).views if type(view) is Bars
    ]
    first = views[0]
    assert first.title == "Pearson, system level: agreement of 2 metrics"
    assert (first.series, first.values, first.dots) == ("metric", ("value",), True)
    assert first.where["control"] is False


@settings(max_examples=5)
@given(st.permutations(range(6)), st.integers(0, 3))
def test_nothing_depends_on_the_order_of_systems(order: list[int], seed: int) -> None:
    human = drawn(seed, (6, 8), digits=0)
    metric = np.round(noisy(human, seed), 0)  # with ties, on which SPA might depend
    options = {"resamples": 20, "seed": seed, "baseline": "m", "top": [4]}
    metrics = {"m": scores(metric), "r": scores(noisy(human, seed + 9))}
    names = [SYSTEMS[k] for k in order]
    shuffled = make(human[order], names)
    base = make(human)
    # texts are made from the place of a system: give each its own again
    shuffled = replace(shuffled, systems={n: base.systems[n] for n in names})
    moved = {n: scores(s.segments[order], names) for n, s in metrics.items()}
    before = gn.metaeval(base, metrics, **options)
    after = gn.metaeval(shuffled, moved, **options)
    assert before.rows == after.rows
    assert before.table("wins").rows == after.table("wins").rows
    assert before.table("systems").rows == after.table("systems").rows


def test_seeds_decide_draws(human, pair) -> None:
    runs = [gn.metaeval(make(human), pair, seed=seed, **FEW_DRAWS).rows for seed in (1, 1, 2)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_error_rates_are_turned_and_negative_agreement_is_said(human) -> None:
    metric = noisy(human, 2, 0.3)
    turned = scores(-metric, higher_is_better=False)
    found = gn.metaeval(make(human), {"error": turned, "score": scores(metric)}, resamples=0)
    for row in rows(found, metric="score"):
        twin = {key: row[key] for key in ("level", "statistic", "grouping")}
        assert one(found, metric="error", **twin)["value"] == row["value"]
    assert not any("negative" in notice for notice in notes(found.notices))
    wrong = gn.metaeval(make(human), {"wrong": scores(-metric)}, resamples=0)
    assert one(wrong, statistic="pearson", level="system", metric="wrong")["value"] < 0
    assert any("negative for wrong" in n and "--lower-is-better" in n for n in notes(wrong.notices))


def test_controls_stand_beside_figures_that_judge_ties_and_only_there(human, pair) -> None:
    found = gn.metaeval(make(human), pair, resamples=0)
    beside = {row["statistic"] for row in found if row["control"]}
    assert beside == {"pairwise_accuracy", "spa", "acc_eq"}
    names = {row["metric"] for row in rows(found, statistic="acc_eq", control=True)}
    assert names == {
        "control: constant",
        "control: random",
        "control: candidate length",
        "control: reference length",
    }
    constant = one(found, statistic="acc_eq", metric="control: constant")
    assert constant["value"] == stats.acc_eq(human, np.zeros(human.shape))
    assert constant["rank"] is None


def test_a_control_of_lengths_counts_characters(human) -> None:
    ts = make(human)
    found = gn.metaeval(ts, [scores(human)], statistics=["acc_eq"], resamples=0)
    lengths = np.array([[len(text) for text in ts.systems[s]] for s in SYSTEMS], dtype=float)
    row = one(found, metric="control: candidate length")
    assert row["value"] == stats.calibrate_ties(human, lengths).accuracy


def test_what_nobody_judged_is_not_resampled(human, pair) -> None:
    before = gn.metaeval(make(human), pair, baseline="poor", **FEW_DRAWS)
    holes = np.full((8, 25), np.nan)
    holes[:6, :20] = human
    names = (*SYSTEMS, "x", "y")
    wider = {}
    for name, found in pair.items():
        cells = np.zeros((8, 25))
        cells[:6, :20] = found.segments
        system = np.append(found.system, [0.0, 0.0])
        wider[name] = scores(cells, names, system=system)
    after = gn.metaeval(make(holes, names), wider, baseline="poor", **FEW_DRAWS)
    metrics = [r for r in before if not r["control"]]
    assert metrics == [r for r in after if not r["control"]]
    assert len(metrics) == 18


# several test sets


@pytest.fixture
def three():
    humans = [drawn(seed, (6, 20), digits=0) for seed in (1, 2, 3)]
    sets = [make(h, pair=p) for h, p in zip(humans, ("de-en", "cs-en", "fi-en"), strict=True)]
    good = [scores(noisy(h, 5, 0.5)) for h in humans]
    poor = [scores(noisy(h, 6, 2.0)) for h in humans]
    return humans, sets, good, poor


def test_several_test_sets_give_averages_pooled_decisions_and_gains(three) -> None:
    humans, sets, good, poor = three
    found = gn.metaeval(sets, {"good": good, "poor": poor}, baseline="poor", resamples=0)
    each = [
        one(found, statistic="pearson", level="system", metric="good", language_pair=p)["value"]
        for p in ("de-en", "cs-en", "fi-en")
    ]
    average = one(
        found, statistic="pearson", level="system", metric="good", language_pair="average"
    )
    assert average["value"] == pytest.approx(np.mean(each))
    assert (average["n"], average["unit"], average["test_set"]) == (3, "test sets", "average")
    pooled = one(found, statistic="pairwise_accuracy", metric="good", language_pair="all")
    people, metric = (np.concatenate(x) for x in zip(*_means(humans, good), strict=True))
    groups = np.repeat([0, 1, 2], 6)
    assert pooled["value"] == stats.pairwise_accuracy(people, metric, groups=groups)
    assert pooled["n"] == 45
    (gain,) = [
        row
        for row in found.table("averages").rows
        if (row["statistic"], row["level"]) == ("pearson", "system")
    ]
    base = [
        one(found, statistic="pearson", level="system", metric="poor", language_pair=p)["value"]
        for p in ("de-en", "cs-en", "fi-en")
    ]
    gains = np.array(each) - base
    assert [gain["gain"], gain["gain_min"], gain["gain_max"]] == pytest.approx(
        [gains.mean(), gains.min(), gains.max()]
    )
    percent = [100 * g / b for g, b in zip(gains, base, strict=True) if b > 0]
    assert gain["percent"] == pytest.approx(np.mean(percent))


def _means(humans, metrics):
    return [(h.mean(axis=1), m.system) for h, m in zip(humans, metrics, strict=True)]


def test_pooled_decisions_are_tested_over_all_pairs(three) -> None:
    _, sets, good, poor = three
    found = gn.metaeval(
        sets, {"good": good, "poor": poor}, statistics=["pairwise_accuracy"], baseline="poor"
    )
    row = one(found, metric="good", language_pair="all")
    assert 0 < row["p"] < 0.5
    assert row["test"] == "permutation of system scores"


@given(st.integers(0, 20))
def test_pooled_decisions_in_draws_are_those_of_the_statistic(seed: int) -> None:
    draw = np.random.default_rng(seed)
    sizes = draw.integers(1, 6, size=3)
    human, metric = draw.integers(0, 3, size=(2, sizes.sum())).astype(float)
    human[draw.random(len(human)) < 0.2] = np.nan
    metric[np.isnan(human)] = np.nan
    groups = np.repeat(np.arange(3), sizes)
    expected = stats.pairwise_accuracy(human, metric, groups=groups)
    found = accuracy_within(sizes.tolist())(human[:, None], metric[:, None])
    assert found == expected or (np.isnan(found) and np.isnan(expected))


def test_a_metric_that_lacks_a_test_set_has_no_average(three) -> None:
    _, sets, good, poor = three
    found = gn.metaeval(sets, {"good": good, "poor": [poor[0], None, poor[2]]}, resamples=0)
    row = one(found, statistic="spa", metric="poor", language_pair="average")
    assert (row["value"], row["n"]) == (None, 2)
    assert rows(found, metric="poor", language_pair="cs-en") == []


def test_test_sets_of_one_language_pair_are_told_apart_by_name(human) -> None:
    sets = [make(human, name="wmt18"), make(human, name="wmt19")]
    found = gn.metaeval(sets, {"m": [scores(human), scores(human)]}, resamples=0)
    assert {row["test_set"] for row in found} == {"wmt18 de-en", "wmt19 de-en", "average", "all"}


def test_scores_of_one_test_set_do_not_serve_for_several(three) -> None:
    _, sets, good, _ = three
    with pytest.raises(UsageError, match="give a list with the scores of each test set"):
        gn.metaeval(sets, [good[0]])
    with pytest.raises(UsageError, match="list of 2 Scores, and there are 3"):
        gn.metaeval(sets, [good[:2]])


# presets


@pytest.mark.parametrize("preset", list(PRESETS))
def test_presets_measure_what_their_task_measured_and_say_so(human, pair, preset) -> None:
    ts = make(human, rows=[(0, "a", "f"), (1, "b", "e")])
    found = gn.metaeval(ts, pair, preset=preset, baseline="poor", **FEW_DRAWS)
    assert any(one.startswith(f"preset {preset}: ") for one in notes(found.notices))
    measured = {(row["statistic"], row["level"]) for row in found}
    assert measured == {(m.statistic, m.level) for m in PRESETS[preset].measures}
    assert any("p = r/B" in notice for notice in notes(found.notices))
    tests = {row["test"] for row in rows(found, statistic="pearson", control=False)}
    expected = {
        "wmt19": {"Williams's test"},
        "wmt22": {"permutation of system scores"},
        "wmt23": {"permutation of system scores", "permutation of scores (PERM-BOTH)"},
        "wmt24": set(),
    }
    assert tests == expected[preset]


def test_the_wmt24_preset_draws_the_sign_flips_of_the_task(human, pair) -> None:
    found = gn.metaeval(make(human), pair, preset="wmt24", resamples=0)
    value = stats.spa(human, pair["good"].segments, seed=4)
    assert one(found, statistic="spa", metric="good")["value"] == value


def test_a_preset_can_be_had_at_one_level(human, pair) -> None:
    found = gn.metaeval(make(human), pair, preset="wmt24", levels=["segment"], resamples=0)
    assert {row["statistic"] for row in found} == {"acc_eq"}


def test_a_preset_brings_its_own_statistics(human, pair) -> None:
    with pytest.raises(UsageError, match="leave them out"):
        gn.metaeval(make(human), pair, preset="wmt24", statistics=["pearson"])
    with pytest.raises(UnknownNameError, match="unknown preset 'wmt2'"):
        gn.metaeval(make(human), pair, preset="wmt2")


@pytest.mark.parametrize("preset", ["wmt25", "wmt26"])
def test_a_task_without_published_formulas_is_refused_with_what_is_published(human, preset) -> None:
    with pytest.raises(UnknownNameError) as refused:
        gn.metaeval(make(human), "chrf", preset=preset)
    said = str(refused.value)
    assert said.startswith(
        f"there is no preset '{preset}': the task judges metrics by correlations"
    )
    assert "preset='wmt24'" in said
    assert "did you mean" not in said


# decisions


def test_decisions_are_repaired_and_broken_against_the_baseline() -> None:
    human = np.array([[3.0], [2.0], [1.0]])
    names = ("x", "y", "z")
    ts = make(human, names, level="system")
    cells = np.full((3, 20), np.nan)
    metrics = {
        "base": scores(cells, names, system=np.array([2.0, 3.0, 1.0])),  # wrong on x y
        "new": scores(cells, names, system=np.array([3.0, 1.0, 2.0])),  # wrong on y z
    }
    found = gn.metaeval(ts, metrics, baseline="base", resamples=0)
    (row,) = found.table("decisions").rows
    assert {k: row[k] for k in ("right", "repaired", "broken", "wrong", "pairs")} == {
        "right": 1, "repaired": 1, "broken": 1, "wrong": 0, "pairs": 3,
    }  # fmt: skip


def test_every_table_names_the_kind_of_judgements_it_is_of(human, pair) -> None:
    ts = make(human)
    (da,) = ts.human
    both = replace(ts, human=(da, replace(da, kind="mqm", values=-human)))
    for kind in ("da", "mqm"):
        found = gn.metaeval(both, pair, human=kind, baseline="poor", top=[4], **FEW_DRAWS)
        for name in ("systems", "top_k", "wins", "gains", "decisions"):
            assert {row["human"] for row in found.table(name).rows} <= {kind}, name
        assert {row["human"] for row in found} == {kind}
        assert found.table("systems").rows[0]["human"] == kind


def test_gains_over_test_sets_of_several_kinds_name_none(human, pair) -> None:
    ts = make(human)
    (da,) = ts.human
    other = replace(ts, name="other", human=(replace(da, kind="mqm"),))
    both = {name: [one, one] for name, one in pair.items()}
    found = gn.metaeval([ts, other], both, baseline="poor", **FEW_DRAWS)
    assert {row["human"] for row in found.table("averages").rows} == {None}
    assert {row["human"] for row in found.table("gains").rows} == {"da", "mqm"}
    assert {row["human"] for row in found.table("systems").rows} == {"da", "mqm"}
    wins = found.table("wins").rows
    assert {row["human"] for row in wins if row["test_set"] == "all"} <= {None}


# bad input: each defined and said


def test_systems_without_text_or_without_scores_are_left_out_and_said(human) -> None:
    ts = make(human, texts=("a", "b", "c", "d", "e", "extra"))  # people judged f, not extra
    found = gn.metaeval(
        ts, [lambda candidate: float(len(candidate))], levels=["system"], resamples=0
    )
    assert one(found, statistic="pearson")["n"] == 5
    assert any("without human system scores, left out: extra" in n for n in notes(found.notices))
    assert any("did not score" in n and "f" in n for n in notes(found.notices))


def test_scores_of_systems_without_text_are_judged(human) -> None:
    ts = make(human, texts=("a", "b"))
    found = gn.metaeval(ts, [scores(human)], levels=["system"], resamples=0)
    assert one(found, statistic="pearson")["n"] == 6


def test_holes_that_differ_between_metrics_are_left_out_and_said(human) -> None:
    first, second = noisy(human, 2), noisy(human, 3)
    first[0, 0] = second[1, 3] = second[1, 4] = np.nan
    metrics = {"first": scores(first), "second": scores(second)}
    found = gn.metaeval(make(human), metrics, baseline="first", **FEW_DRAWS)
    counts = {r["metric"]: r["n"] for r in rows(found, statistic="pearson", grouping="item")}
    assert counts == {"first": 119, "second": 118}
    row = one(found, statistic="pearson", grouping="item", metric="second")
    both = np.stack([second, first])
    draws = stats.RandomDraws(50, seed=12345)
    tested = stats.permutation_test(human, both, grouping="item", swap="inputs", draws=draws)
    assert row["p"] == tested.p[0, 1]
    assert any("first lacks 1 of 120 segment scores" in n for n in notes(found.notices))


def test_constant_scores_are_undefined_and_the_reason_is_said(human) -> None:
    flat = scores(np.ones(human.shape))
    found = gn.metaeval(make(human), {"flat": flat, "m": scores(noisy(human, 1))}, **FEW_DRAWS)
    row = one(found, statistic="pearson", level="system", metric="flat")
    assert (row["value"], row["rank"], row["low"], row["n"]) == (None, None, None, 6)
    assert any("flat is undefined: all its scores are equal" in n for n in notes(found.notices))
    assert one(found, statistic="acc_eq", metric="flat")["value"] is not None


def test_people_who_tie_everything_leave_correlations_undefined() -> None:
    human = np.ones((6, 20))
    found = gn.metaeval(make(human), [scores(drawn(1))], **FEW_DRAWS)
    assert one(found, statistic="pearson", level="system")["value"] is None
    assert any("all human scores are equal" in notice for notice in notes(found.notices))
    acc = one(found, statistic="acc_eq", metric="m")
    assert acc["value"] == 1.0  # with a threshold that ties everything


@pytest.mark.parametrize("judged", [("a", "b"), ("a", "b", "c", "d")])
def test_two_systems_are_a_line(judged: tuple[str, ...]) -> None:
    human = drawn(1, (len(judged), 20))
    found = gn.metaeval(make(human, judged), [scores(human[:2], ("a", "b"))], **FEW_DRAWS)
    for row in (row for row in found if row["level"] == "system"):
        assert row["few"]
        undefined = ("low", "high", "p", "rank", "cluster", "test", "interval")
        assert [row[name] for name in undefined] == [None] * 7
    row = one(found, statistic="pearson", level="system")
    assert (abs(row["value"]), row["n"]) == (1.0, 2)


def test_one_system_is_judged_over_its_segments() -> None:
    alone = drawn(1, (1, 20))
    metric = noisy(alone, 2)
    found = gn.metaeval(make(alone, ("a",)), [scores(metric, ("a",))], **FEW_DRAWS)
    values = {(row["statistic"], row["level"], row["grouping"]): row["value"] for row in found}
    assert values == {
        ("pearson", "segment", "none"): stats.pearson(alone, metric),
        ("spearman", "segment", "none"): stats.spearman(alone, metric),
        ("kendall_b", "segment", "none"): stats.kendall_b(alone, metric),
    }
    assert any("people judged one system" in notice for notice in notes(found.notices))
    named = gn.metaeval(
        make(alone, ("a",)), [scores(metric, ("a",))], statistics=["pearson"], **FEW_DRAWS
    )
    assert one(named, level="system")["value"] is None


def test_controls_stand_for_the_systems_that_metrics_scored(human) -> None:
    metric = scores(human[:4], SYSTEMS[:4])
    found = gn.metaeval(make(human), [metric], statistics=["pairwise_accuracy"], resamples=0)
    assert {row["n"] for row in found} == {6}


def test_what_people_did_not_judge_is_left_out_and_said(human) -> None:
    ts = make(human.mean(axis=1)[:, None], level="system")
    found = gn.metaeval(ts, [scores(human)], resamples=0)
    assert {row["level"] for row in found} == {"system"}
    assert any("no human scores at segment level" in n for n in notes(found.notices))
    found = gn.metaeval(ts, [scores(human)], statistics=["pearson", "darr"], resamples=0)
    assert any(
        "no human scores for: 'Pearson, segment level'" in n and "DaRR needs rankings" in n
        for n in notes(found.notices)
    )
    with pytest.raises(DataError, match="human scores are: set de-en: da \\(system\\)"):
        gn.metaeval(ts, [scores(human)], levels=["segment"])


def test_without_human_scores_there_is_nothing_to_judge(human) -> None:
    ts = replace(make(human), human=())
    with pytest.raises(
        DataError, match=r"nobody has judged set de-en: .* add it \(TestSet.with_human"
    ):
        gn.metaeval(ts, [scores(human)])


def _uncorrected(rows):
    corrected = ("p_adjusted", "decided")
    return [{name: row[name] for name in row if name not in corrected} for row in rows]


def test_several_kinds_of_human_scores_are_blocks_of_one_table(human, pair) -> None:
    ts = make(human, rows=[(0, "a", "f"), (1, "b", "e")])
    other = replace(ts.human[0], kind="mqm", values=-ts.human[0].values)
    both = replace(ts, human=(*ts.human, other))
    found = gn.metaeval(both, pair, baseline="poor", **FEW_DRAWS)
    assert list(dict.fromkeys(row["human"] for row in found)) == ["da", "mqm", "darr"]
    for kind in ("da", "mqm", "darr"):
        alone = gn.metaeval(both, pair, human=kind, baseline="poor", **FEW_DRAWS)
        assert rows(found, human=kind) == list(alone)
        for name in ("wins", "systems", "top_k", "gains", "decisions"):
            own = [row for row in found.table(name).rows if row["human"] == kind]
            # gains are corrected for all kinds together
            assert _uncorrected(own) == _uncorrected(alone.table(name).rows), name
    text = gn.metaeval(both, pair, human=["da", "mqm"], resamples=0)
    assert list(dict.fromkeys(row["human"] for row in text)) == ["da", "mqm"]


def test_a_kind_of_human_scores_can_be_named(human) -> None:
    ts = make(human)
    other = replace(ts.human[0], kind="mqm", values=-ts.human[0].values)
    ts = replace(ts, human=(*ts.human, other))
    found = gn.metaeval(ts, [scores(human)], human="mqm", resamples=0)
    assert one(found, statistic="pearson", level="system")["value"] == pytest.approx(-1)
    assert {row["human"] for row in found} == {"mqm"}
    with pytest.raises(UnknownNameError, match="unknown kind of human scores 'dax'"):
        gn.metaeval(ts, [scores(human)], human="dax")


def test_each_level_takes_the_kind_that_is_there_for_it(human) -> None:
    ts = make(human)
    means = replace(ts.human[0], kind="z", level="system", values=human.mean(axis=1)[:, None])
    found = gn.metaeval(replace(ts, human=(*ts.human, means)), [scores(human)], resamples=0)
    kinds = {(row["statistic"], row["level"], row["human"]) for row in found}
    assert {kind for *what, kind in kinds if what == ["pearson", "system"]} == {"da", "z"}
    assert {kind for *what, kind in kinds if what == ["pearson", "segment"]} == {"da"}
    assert {kind for *what, kind in kinds if what == ["spa", "system"]} == {"da"}


def test_rankings_that_repeat_and_contradict_count_as_they_stand(human) -> None:
    pairs = [(0, "a", "b"), (0, "a", "b"), (0, "b", "a"), (3, "c", "f")]
    found = gn.metaeval(make(human, rows=pairs), [scores(human)], statistics=["darr"])
    m = human
    right = [m[0, 0] > m[1, 0]] * 2 + [m[1, 0] > m[0, 0], m[2, 3] > m[5, 3]]
    row = one(found, metric="m")
    assert row["value"] == (2 * sum(right) - 4) / 4
    assert (row["n"], row["human"]) == (4, "darr")
    assert any("repeats 1 judgement and contradicts itself on 1" in n for n in notes(found.notices))


def test_scores_that_lie_too_close_for_darr_leave_it_undefined_and_that_is_said(human) -> None:
    options = {"statistics": ["darr"], "darr_threshold": 1000.0, "baseline": "m"}
    metrics = {"m": scores(human), "r": scores(-human)}
    found = gn.metaeval(make(human), metrics, **options)
    row = one(found, metric="r")
    assert (row["value"], row["n"], row["p"], row["low"]) == (None, 0, None, None)
    assert any("differ by at least 1000 (--darr-threshold" in n for n in notes(found.notices))


def test_a_gain_is_taken_over_the_systems_that_both_scored(human, pair) -> None:
    own = noisy(human[:4], 3)
    metrics = {"few": scores(own, SYSTEMS[:4]), "poor": pair["poor"]}
    options = {"statistics": ["pearson"], "levels": ["system"], "resamples": 0}
    found = gn.metaeval(make(human), metrics, baseline="poor", **options)
    people = human[:4].mean(axis=1)
    expected = stats.pearson(people, own.mean(axis=1)) - stats.pearson(
        people, pair["poor"].system[:4]
    )
    (row,) = found.table("gains").rows
    assert row["gain"] == pytest.approx(expected)
    assert row["gain"] != pytest.approx(
        one(found, metric="few")["value"] - one(found, metric="poor")["value"]
    )


def test_human_translations_are_left_out_unless_wanted(human) -> None:
    from gnomon.core.testset import SystemInfo

    ts = replace(make(human), info={"a": SystemInfo(human=True)})
    options = {"statistics": ["pearson"], "levels": ["system"], "resamples": 0}
    found = gn.metaeval(ts, [scores(human)], **options)
    assert one(found)["n"] == 5
    assert any("human translations are left out: a" in n for n in notes(found.notices))
    assert one(gn.metaeval(ts, [scores(human)], human_systems=True, **options))["n"] == 6


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"baseline": "nobody"}, UnknownNameError, "unknown metric .as baseline. 'nobody'"),
        ({"statistics": ["person"]}, UnknownNameError, "did you mean 'pearson'"),
        ({"levels": ["word"]}, UnknownNameError, "unknown levels 'word'"),
        ({"groupings": ["row"]}, UnknownNameError, "unknown groupings 'row'"),
        ({"test": "t"}, UnknownNameError, "unknown test 't'"),
        ({"resamples": -1}, UsageError, "0 or more; got -1"),
        ({"resamples": 1}, UsageError, "need 19 resamples or more, or 0 for none; got 1"),
        ({"resamples": 98, "confidence": 0.99}, UsageError, "need 99 resamples or more"),
        ({"top": [1]}, UsageError, "top takes a number of systems from 2 on, or a share"),
        ({"darr_threshold": -1.0}, UsageError, "darr_threshold must be a number, 0 or more"),
        (
            {"statistics": ["spa"], "levels": ["segment"]},
            UsageError,
            "none exists at level segment",
        ),
    ],
)
def test_wrong_options_are_answered_with_what_there_is(human, options, error, said) -> None:
    with pytest.raises(error, match=said):
        gn.metaeval(make(human), [scores(human)], **options)


def test_metrics_need_names_of_their_own(human) -> None:
    with pytest.raises(UsageError, match="two metrics are called m; give them names"):
        gn.metaeval(make(human), [scores(human), scores(human)])
    with pytest.raises(UsageError, match="no metric to judge"):
        gn.metaeval(make(human), [])
    with pytest.raises(UsageError, match="there is nothing to judge"):
        gn.metaeval([], ["bleu"])
    with pytest.raises(LengthMismatchError, match="shape"):
        gn.metaeval(make(human), [scores(human[:, :3])])


def test_top_beyond_the_judged_systems_is_all_of_them(human) -> None:
    found = gn.metaeval(make(human), [scores(human)], top=[9], levels=["system"], resamples=0)
    assert one(found, statistic="pearson", subset="top 9")["n"] == 6


def test_no_draws_give_no_intervals_but_williams(human, pair) -> None:
    found = gn.metaeval(make(human), pair, baseline="poor", resamples=0)
    assert all(row["low"] is None for row in found)
    tests = {row["test"] for row in found if row["p"] is not None}
    assert tests == {"Williams's test"}


def test_public_names_are_all_there() -> None:
    assert set(metaeval.__all__) <= set(dir(metaeval))
    for name in metaeval.__all__:
        assert getattr(metaeval, name) is not None


def test_people_do_not_judge_a_metric_that_their_scores_went_into(human) -> None:
    seen = replace(scores(noisy(human, 2)), informed_by=("da",))
    with pytest.raises(UsageError, match=r"m was made with human scores \(da\).*allow_circular="):
        metaeval.metaeval(make(human), [seen], **FEW_DRAWS)
    raw = replace(seen, informed_by=("da-raw",))  # the same judgements
    with pytest.raises(UsageError, match="allow_circular="):
        metaeval.metaeval(make(human), [raw], **FEW_DRAWS)
    found = metaeval.metaeval(make(human), [seen], allow_circular=True, **FEW_DRAWS)
    assert any(notice.startswith("CIRCULAR, as was allowed") for notice in notes(found.notices))


def test_other_judgements_may_judge_it_with_a_notice(human) -> None:
    seen = replace(scores(noisy(human, 2)), informed_by=("mqm",))
    found = metaeval.metaeval(make(human), [seen], **FEW_DRAWS)
    assert any(
        "fair only if these are other judgements" in notice for notice in notes(found.notices)
    )


def test_a_pool_chosen_by_people_is_refused_when_they_judge_it(human) -> None:
    testset = make(human)
    with pytest.raises(UsageError, match=r"difficulty\(bleu, pool='top:3'\) was made with"):
        metaeval.metaeval(testset, ["difficulty(bleu, pool='top:3')"], resamples=0)
    found = metaeval.metaeval(testset, ["difficulty(bleu)"], resamples=0)
    assert not any("was made with" in notice for notice in notes(found.notices))


def test_every_column_says_what_it_means_and_holds_what_it_says(human, pair) -> None:
    found = metaeval.metaeval(make(human), pair, baseline="poor", top=[4], **FEW_DRAWS)
    kinds = {"text": str, "count": int, "number": float, "share": float, "truth": bool}
    for table in found.tables:
        for column in table.columns:
            assert column.help, (table.name, column.name)
            cells = [cell for cell in table.values(column.name) if cell is not None]
            assert all(type(cell) is kinds[column.kind] for cell in cells), column.name
        assert all(list(row) == [one.name for one in table.columns] for row in table.rows)


def test_the_names_of_statistics_and_presets_are_those_of_their_options() -> None:
    options = metaeval.metaeval.method.options
    assert options["statistics"].choices == tuple(STATISTICS)
    assert options["preset"].choices == (*PRESETS, "outliers")


def test_soft_accuracy_goes_by_permutation_where_that_is_named(human, pair) -> None:
    options = {"statistics": ["spa"], "baseline": "poor", **FEW_DRAWS}
    usual = gn.metaeval(make(human), pair, **options)
    assert one(usual, metric="good", control=False)["test"] == "bootstrap over systems"
    found = gn.metaeval(make(human), pair, test="permutation", **options)
    row = one(found, metric="good", control=False)
    assert (row["test"], row["interval"]) == ("permutation of scores (PERM-BOTH)", "systems")
    metrics = np.array([pair[name].segments for name in ("good", "poor")])
    soft = stats.SoftPairwiseAccuracy(seed=12345)
    draws = stats.RandomDraws(50, seed=12345)
    tested = stats.permutation_test(human, metrics, statistic=soft, swap="cells", draws=draws)
    assert row["p"] == tested.p[0, 1]


@pytest.mark.parametrize("top", ["0", "1", "x", "-3", "101%", "3.5"])
def test_the_best_systems_are_a_number_or_a_share(human, top) -> None:
    with pytest.raises(UsageError, match="a number of systems from 2 on, or a share"):
        gn.metaeval(make(human), [scores(human)], top=[top])


def test_a_share_of_the_systems_is_rounded_down(human) -> None:
    options = {"statistics": ["pearson"], "levels": ["system"], "resamples": 0}
    found = gn.metaeval(make(human), [scores(noisy(human, 2))], top=["3", "60%", "40%"], **options)
    values = {row["subset"]: (row["value"], row["n"]) for row in found}
    assert list(values) == ["all", "top 3", "top 60%"]
    assert values["top 60%"] == values["top 3"]
