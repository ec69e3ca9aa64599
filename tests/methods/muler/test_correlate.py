"""MuLER over many systems and test sets: correlations by hand, pooling, groups, refusals."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import pearsonr
from tests.told import notes

import gnomon as gn
from gnomon import stats
from gnomon.core.errors import DataError, UsageError
from gnomon.core.findings import HeatMap, Scatter
from gnomon.core.testset import SystemInfo
from gnomon.muler import correlate
from gnomon.muler.correlate_points import year_in
from gnomon.muler.correlations import CorrelationRow, correlation_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ANIMAL = {"animal": r"\b(?:cat|dog|horse)\b"}
WORDS = ["the", "cat", "dog", "horse", "sat", "ran", "home", "red", "on", "a"]


def make(
    name: str = "made", systems: int = 9, seed: int = 1, worst: float = 0.6, **more: Any
) -> gn.TestSet:
    """A test set whose systems change more and more words of the reference."""
    draw = random.Random(seed)
    references = [" ".join(draw.choices(WORDS, k=draw.randint(5, 10))) for _ in range(40)]

    def spoilt(share: float) -> list[str]:
        return [
            " ".join(draw.choice(WORDS) if draw.random() < share else w for w in text.split())
            for text in references
        ]

    outputs = {f"s{k}": spoilt(worst * (k + 1) / systems) for k in range(systems)}
    return gn.TestSet.from_lists(outputs, references, name=name, language_pair="de-en", **more)


def run(testsets: Any, **more: Any) -> gn.Finding:
    return correlate(testsets, features=["re:animal"], pattern=ANIMAL, **more)


def cells(found: gn.Finding, **where: Any) -> dict[tuple[Any, Any], Mapping[str, Any]]:
    """Records of the ratio of means by test set and by what -MuLER goes with."""
    where = {"variant": "ratio", **where}
    rows = [row for row in found.rows if all(row[k] == v for k, v in where.items())]
    return {(row["test_set"], row["against"]): row for row in rows}


def known(testset: gn.TestSet, metric: str = "bleu") -> list[tuple[float, float, float, float]]:
    """-MuLER, corpus score, base over I, max - min of every system, by the public functions."""
    found = gn.muler(testset, metric, ["re:animal"], pattern=ANIMAL, variants=["ratio"])
    score = dict(zip(testset.systems, gn.score(testset, metric).system, strict=True))
    return [
        (-row["muler"], score[row["system"]], row["base"], row["spread"])  # type: ignore[operator,misc,index]  # numbers by construction
        for row in found.rows
    ]


def test_r_is_that_of_minus_muler_with_the_score_the_indices_and_the_spread() -> None:
    testset = make()
    found = cells(run(testset))
    columns = np.array(known(testset)).T
    for what, column in zip(("bleu", "indices", "spread"), columns[1:], strict=True):
        row = found["made", what]
        assert row["r"] == pytest.approx(pearsonr(columns[0], column)[0])
        assert row["n"] == 9
    assert found["made", "bleu"]["r"] > 0.8


def test_several_test_sets_are_pooled_as_they_are_and_after_taking_off_their_means() -> None:
    easy, hard = make("easy", 9, 1, 0.3), make("hard", 6, 2, 0.9)
    found = cells(run([easy, hard]))
    sides = [np.array(known(one)).T[:2] for one in (easy, hard)]
    whole = np.concatenate(sides, axis=1)
    centred = np.concatenate([s - s.mean(axis=1, keepdims=True) for s in sides], axis=1)
    assert found["all systems", "bleu"]["r"] == pytest.approx(pearsonr(*whole)[0])
    assert found["all systems, centred", "bleu"]["r"] == pytest.approx(pearsonr(*centred)[0])
    assert [found[n, "bleu"]["n"] for n in ("easy de-en", "hard de-en", "all systems")] == [
        9,
        6,
        15,
    ]


def test_each_centred_test_set_but_one_costs_a_test_a_pair() -> None:
    sets = [make(str(n), 3, n, 0.3 + n / 10) for n in range(4)]
    row = cells(run(sets))["all systems, centred", "bleu"]
    wanted = stats.correlation_tests([row["r"]], [12 - 3])
    assert row["n"] == 12
    assert (row["p_corrected"], row["low"], row["high"]) == pytest.approx(
        tuple(float(side[0]) for side in wanted)
    )


@pytest.mark.parametrize(("systems", "defined"), [(1, False), (2, False), (3, True)])
def test_r_is_undefined_under_three_systems(systems: int, defined: bool) -> None:
    row = cells(run(make(systems=systems)))["made", "bleu"]
    assert (row["r"] is not None) is defined
    assert row["n"] == systems


def test_a_feature_that_never_occurs_has_no_points() -> None:
    found = correlate(make(), features=["re:never"], pattern={"never": "zzz"})
    assert {(row["r"], row["n"]) for row in found.rows} == {(None, 0)}
    assert {row["occurrences"] for row in found.table("frequency").rows} == {0}
    assert {row["uniqueness"] for row in found.table("frequency").rows} == {None}


def test_error_rates_are_turned_so_that_higher_is_better() -> None:
    testset = make()
    columns = np.array(known(testset, "ter")).T
    found = cells(run(testset, metrics="ter"))
    assert found["made", "ter"]["r"] == pytest.approx(pearsonr(columns[0], -columns[1])[0])
    assert found["made", "ter"]["r"] > 0
    assert found["made", "spread"]["r"] == pytest.approx(pearsonr(columns[0], columns[3])[0])


def test_the_two_variants_never_share_a_column() -> None:
    found = run(make())
    assert [row["variant"] for row in found.rows] == ["ratio"] * 3 + ["segment-clipped"] * 3
    for view in found.views:
        if isinstance(view, HeatMap | Scatter):
            assert "variant" in view.where


def test_human_submissions_are_left_out_and_said() -> None:
    testset = make()
    human = replace(testset, info={"s0": SystemInfo(human=True)})
    found = run(human)
    assert cells(found)["made", "bleu"]["n"] == 8
    assert "s0" not in found.table("systems").values("system")
    assert any("human" in notice and "s0" in notice for notice in notes(found.notices))
    everyone = replace(testset, info={name: SystemInfo(human=True) for name in testset.systems})
    with pytest.raises(DataError, match="human submissions"):
        run(everyone)


def test_systems_are_grouped_by_year_and_architecture() -> None:
    info = {
        f"s{k}": SystemInfo(
            year=2018 if k < 4 else None, architecture="rnn" if k % 2 else "transformer"
        )
        for k in range(9)
    }
    found = run(replace(make("wmt19"), info=info))
    systems, grouped = (
        [row for row in found.table(name).rows if row["variant"] == "ratio"]
        for name in ("systems", "groups")
    )
    losses = {row["system"]: row["muler"] for row in systems}
    groups = {(r["kind"], r["group"]): r for r in grouped}
    assert list(groups) == [
        ("year", "2018"), ("year", "2019"),
        ("architecture", "transformer"), ("architecture", "rnn"),
    ]  # fmt: skip
    early = [losses[f"s{k}"] for k in range(4)]
    assert groups["year", "2018"]["muler"] == pytest.approx(np.mean(early))
    assert (groups["year", "2018"]["low"], groups["year", "2018"]["high"]) == (
        min(early),
        max(early),
    )
    assert groups["year", "2019"]["systems"] == 5
    titles = [view.title for view in found.views]
    assert "Mean MuLER under BLEU, by year" in titles
    assert any(title.endswith("by architecture") for title in titles)


def test_years_of_one_language_pair_stand_beside_those_of_all() -> None:
    pairs = [
        replace(make("wmt18", 4), language_pair="de-en"),
        replace(make("wmt19", 4, 2), language_pair="de-en"),
        replace(make("wmt19", 4, 3), language_pair="fi-en"),
    ]
    rows = [row for row in run(pairs).table("groups").rows if row["variant"] == "ratio"]
    sizes = {(row["language_pair"], row["group"]): row["systems"] for row in rows}
    assert sizes == {
        ("all", "2018"): 4, ("all", "2019"): 8, ("de-en", "2018"): 4, ("de-en", "2019"): 4,
        ("fi-en", "2019"): 4,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "year"),
    [
        ("wmt19 de-en", 2019), ("newstest2018", 2018), ("WMT-21", 2021), ("cnndm", None),
        ("set 12345", None), ("wmt190", None),
    ],
)  # fmt: skip
def test_the_year_is_read_from_the_name_of_a_test_set(name: str, year: int | None) -> None:
    assert year_in(name) == year


def length(sentence: str) -> float:
    return float(len(sentence))


def test_sentence_scorers_are_correlated_by_minus_their_mean_absolute_difference() -> None:
    testset = make()
    found = run(testset, scorers=[length])
    score = gn.score(testset, "bleu").system
    absolute = [
        np.mean(
            [abs(len(a) - len(str(b))) for a, b in zip(texts, testset.references["A"], strict=True)]
        )
        for texts in testset.systems.values()
    ]
    feature = next(
        row["feature"] for row in found.rows if str(row["feature"]).startswith("scorer:")
    )
    row = cells(found, feature=feature)["made", "bleu"]
    assert row["r"] == pytest.approx(pearsonr([-v for v in absolute], score)[0])
    assert row["segments"] == 40
    assert {what for _, what in cells(found, feature=feature)} == {"bleu"}
    assert feature not in found.table("systems").values("feature")
    assert str(feature).removeprefix("scorer:") in found.signatures


def test_frequency_is_counted_in_the_best_output() -> None:
    testset = gn.TestSet.from_lists(
        {"good": ["the cat saw the dog", "a Cat ran"], "bad": ["horse", "horse"]},
        ["the cat saw the dog", "a cat ran"],
    )
    found = correlate(testset, features=["re:animal"], pattern={"animal": "(?i)cat|dog"})
    row = found.table("frequency").rows[0]
    assert row["system"] == "good"
    assert row["occurrences"] == 3
    assert row["per_hundred"] == pytest.approx(100 * 3 / 8)
    assert row["uniqueness"] == 1


def test_the_best_output_of_an_error_rate_has_the_lowest() -> None:
    rows = run(make(), metrics="ter").table("frequency").rows
    assert {row["system"] for row in rows} == {"s0"}


@settings(max_examples=10)
@given(st.permutations(range(6)))
def test_the_order_of_systems_does_not_matter(order: Sequence[int]) -> None:
    testset = make(systems=6)
    names = list(testset.systems)
    turned = testset.select(systems=[names[i] for i in order])
    plain = {key: row["r"] for key, row in cells(run(testset, examples=0)).items()}
    for key, row in cells(run(turned, examples=0)).items():
        assert row["r"] == pytest.approx(plain[key])


def test_equal_test_sets_are_refused_and_pairs_tell_sets_apart() -> None:
    one = make()
    with pytest.raises(UsageError, match="named twice"):
        run([one, one])
    with pytest.raises(UsageError, match="no test set"):
        run([])
    other = replace(make(seed=2), language_pair="fi-en")
    assert {row["test_set"] for row in run([one, other]).rows} >= {"made de-en", "made fi-en"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"examples": -1},
        {"max_score_gap": -1},
    ],
)
def test_options_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        run(make(systems=3), **wrong)


def test_every_view_names_columns_that_exist_and_rows_that_are_there() -> None:
    from gnomon.core.tabular import grid

    testsets = [make("wmt18", 3), make("wmt19", 3, 2)]
    found = run(testsets, metrics=["bleu", "chrf"])
    for view in found.views:
        assert grid(found, view).rows
    assert {"bleu", "chrf"} <= {row["metric"] for row in found.rows}


def test_real_outputs_give_the_r_of_an_independent_program(shared: Any) -> None:
    testset = gn.TestSet.read(shared / "data" / "wmt19" / "lt-en")
    patterns = {"animal": "[0-9]+"}
    found = correlate(testset, features=["re:animal"], pattern=patterns, examples=0)
    rows = gn.muler(testset, "bleu", ["re:animal"], pattern=patterns, variants=["ratio"]).rows
    score = gn.score(testset, "bleu").system
    expected = pearsonr([-float(row["muler"] or 0) for row in rows], score)[0]
    row = cells(found)["wmt19", "bleu"]
    assert row["r"] == pytest.approx(expected)
    assert row["n"] == 11


def test_correlations_are_decided_at_the_confidence_asked_for() -> None:
    names = {"test_set": "t", "metric": "bleu", "variant": "ratio", "against": "bleu"}
    figures: dict[str, Any] = {"r": 0.8, "n": 10, "segments": 100}
    open_: dict[str, Any] = {"p_corrected": None, "decided": None}
    row = CorrelationRow(**names, feature="pos:NOUN", **figures, **open_)
    for confidence in (0.95, 0.999):
        (tested,) = correlation_table([row], confidence=confidence).rows
        assert 0.001 < float(tested["p_corrected"] or 0) < 0.01
        assert tested["decided"] is (confidence < 0.99) is (float(tested["low"] or 0) > 0)
