"""Explaining: what is scored, how often, and what comes out."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.methods.bmx.counting import Counting, overlap
from tests.told import notes

import gnomon as gn
from gnomon.bmx import (
    Explanations,
    describe_explainers,
    explain,
    explanations,
    find_explainer,
)
from gnomon.core.batch import Batch
from gnomon.core.cache import Cache
from gnomon.core.errors import DataError, ScoringError, SpecError, UnknownNameError, UsageError

SYSTEMS = {
    "a": ["the cat sat on the mat .", "x", "", "one two one two", "it  rains\xa0today"],
    "b": ["a cat sat", "x", "y z", "one two", "today it rains"],
}
REFERENCES = ["the cat sat on a mat .", "x y", "y", "one two three", "it rains today"]
PERTURBING = ["erasure", "lime(samples=20)", "shap(max_evals=60)"]


@pytest.fixture
def testset() -> gn.TestSet:
    return gn.TestSet.from_lists(SYSTEMS, REFERENCES, language_pair="en")


def _importances(found: Explanations, side: int, cell: int) -> list[float]:
    own = found.sides[side]
    return own.importance[own.rows(cell)].tolist()


def test_erasure_by_hand(testset: gn.TestSet) -> None:
    found = explanations(testset, Counting(), "erasure")
    candidate, reference = SYSTEMS["a"][0].split(), REFERENCES[0].split()
    whole = overlap(" ".join(candidate), " ".join(reference))

    def lost(words: list[str], word: int) -> str:
        return " ".join(words[:word] + words[word + 1 :])

    assert _importances(found, 0, 0) == [
        whole - overlap(lost(candidate, word), " ".join(reference))
        for word in range(len(candidate))
    ]
    assert _importances(found, 1, 0) == [
        whole - overlap(" ".join(candidate), lost(reference, word))
        for word in range(len(reference))
    ]


def test_rows_say_which_word_of_which_side(testset: gn.TestSet) -> None:
    rows = explanations(testset, Counting(), "erasure").rows()
    assert [row["token"] for row in rows if (row["system"], row["segment"]) == ("a", 5)] == [
        *("it", "rains", "today"),
        *("it", "rains", "today"),
    ]
    last = rows[-1]
    assert (last["system"], last["segment"], last["side"]) == ("b", 5, "reference")
    assert (last["token"], last["position"]) == ("today", 3)


def test_places_are_those_in_the_text(testset: gn.TestSet) -> None:
    found = explanations(testset, Counting(), "erasure")
    for cell, (k, i) in enumerate(itertools.product(range(2), range(5))):
        side = found.sides[0]
        own = side.rows(cell)
        text = SYSTEMS["ab"[k]][i]
        assert found.texts[side.text[cell]] == text
        places = zip(side.start[own], side.end[own], strict=True)
        assert [text[start:end] for start, end in places] == text.split()


@pytest.mark.parametrize("explainer", PERTURBING)
def test_every_distinct_pair_is_scored_once(testset: gn.TestSet, explainer: str) -> None:
    metric = Counting()
    found = explanations(testset, metric, explainer)
    # segments 2 of a and b are the same pair
    assert len(metric.scored) == len(set(metric.scored)) == found.calls
    assert len(metric.batches) == 1


def test_erasure_scores_one_text_per_word_and_the_pair_itself() -> None:
    ts = gn.TestSet.from_lists({"a": ["p q r"], "b": ["p s"]}, ["t u v w"])
    metric = Counting()
    explanations(ts, metric, "erasure")
    assert len(metric.scored) == (1 + 3 + 4) + (1 + 2 + 4)


def test_perturbed_references_are_texts_that_systems_share(testset: gn.TestSet) -> None:
    both, one = Counting(), Counting()
    explanations(testset, both, "lime")
    explanations(testset, one, "lime", systems=["a"])
    per_pair = {reference for _, reference in both.scored}
    assert per_pair == {reference for _, reference in one.scored}


def test_candidate_only_leaves_references_alone(testset: gn.TestSet) -> None:
    metric = Counting()
    found = explanations(testset, metric, "lime", sides="candidate")
    assert [side.side for side in found.sides] == ["candidate"]
    assert {reference for _, reference in metric.scored} == set(REFERENCES)
    both = explanations(testset, Counting(), "lime")
    np.testing.assert_array_equal(both.sides[0].importance, found.sides[0].importance)


@pytest.mark.parametrize("explainer", [*PERTURBING, "random"])
def test_some_systems_and_segments_get_what_they_get_among_all(
    testset: gn.TestSet, explainer: str
) -> None:
    every = explanations(testset, Counting(), explainer)
    some = explanations(testset, Counting(), explainer, systems=["b"], segments=[5, 1])
    assert some.systems == ("b",)
    assert some.segments.tolist() == [5, 1]
    for side in (0, 1):
        assert _importances(some, side, 0) == pytest.approx(_importances(every, side, 9))
        assert _importances(some, side, 1) == pytest.approx(_importances(every, side, 5))


def test_of_several_references_the_best_is_held() -> None:
    references = [["p q", "x y z", "x y"], ["x", "p q"]]
    ts = gn.TestSet.from_lists({"a": ["x y", "p q"]}, references)
    metric = Counting()
    found = explanations(ts, metric, "erasure")
    assert [found.texts[number] for number in found.judged_by[0]] == ["x y", "p q"]
    assert found.held.tolist() == found.scores.tolist() == [[100.0, 100.0]]
    perturbed = {other for _, other in metric.scored} - {"p q", "x y z", "x y", "x"}
    assert perturbed == {"y", "q", "p"}  # and x, which is a reference too


def test_rows_name_the_reference_that_is_held() -> None:
    references = {"A": ("p q", "x", "x"), "B": ("x y", "p q", "x")}
    ts = replace(
        gn.TestSet.from_lists({"a": ["x y", "p q", "x"], "b": ["p q", "p q", "x w"]}, ["r"] * 3),
        references=references,
    )
    own = {"mine": ("p", "p q z", "x w")}
    for made, last in ((ts, "A"), (replace(ts, system_references={"b": own}), "mine")):
        rows = explain(made, Counting(), "erasure").table("words").rows
        named = {(row["system"], row["segment"]): row["reference"] for row in rows}
        expected = {("a", 1): "B", ("a", 2): "B", ("b", 1): "A", ("b", 2): "B"}
        assert named == {**expected, ("a", 3): "A", ("b", 3): last}
        for row in rows:
            if row["side"] == "reference":
                text = {**references, **own}[row["reference"]][row["segment"] - 1]
                assert text.split()[row["position"] - 1] == row["token"]


def test_rows_name_no_reference_where_the_metric_takes_none() -> None:
    ts = gn.TestSet.from_lists({"a": ["x y"]}, ["x y"], sources=["x y"])
    metric = Counting(needs=frozenset(("sources",)))
    rows = explain(ts, metric, "erasure").table("words").rows
    assert {(row["side"], row["reference"]) for row in rows} == {
        ("candidate", None), ("source", None)
    }  # fmt: skip


def test_scores_of_several_references_together_are_the_metrics_own() -> None:
    references = [["the cat sat on the mat", "a cat is on the mat ."]]
    ts = gn.TestSet.from_lists({"a": ["the cat is on the mat"]}, references)
    found = explanations(ts, "bleu", "erasure")
    assert found.scores[0, 0] == pytest.approx(gn.score(ts, "bleu").segments[0, 0])
    assert found.held[0, 0] < found.scores[0, 0]


def test_without_references_the_source_is_the_other_side() -> None:
    ts = gn.TestSet.from_lists({"a": ["x y"]}, ["nothing"], sources=["y z"])
    metric = Counting(needs=frozenset(("sources",)))
    found = explanations(ts, metric, "erasure")
    assert [side.side for side in found.sides] == ["candidate", "source"]
    assert set(metric.scored) == {("x y", "y z"), *[(c, "y z") for c in "xy"]} | {
        ("x y", s) for s in "yz"
    }


def test_the_source_beside_a_reference_is_passed_on_as_it_is() -> None:
    ts = gn.TestSet.from_lists({"a": ["x y"]}, ["y z"], sources=["the source"])
    metric = Counting(needs=frozenset(("references", "sources")))
    explanations(ts, metric, "erasure")
    (batch,) = metric.batches
    assert batch.sources is not None
    assert {batch.texts[number] for number in batch.sources} == {"the source"}


def test_a_metric_of_candidates_alone_has_one_side() -> None:
    ts = gn.TestSet.from_lists({"a": ["x y"]}, ["y z"])
    batch = Batch.build(systems={"a": ["x y z"]}, references=[])
    metric = Counting(lambda c, _: float(len(c)), needs=frozenset())
    from gnomon.bmx.explained_texts import explain_batch

    bound = find_explainer("erasure").bind(ts, metric)
    found = explain_batch(metric, batch, bound, both=True).explanations
    assert [side.side for side in found.sides] == ["candidate"]
    assert found.sides[0].importance.tolist() == [2, 2, 2]


def test_importances_of_error_rates_are_those_of_the_negated_score(testset: gn.TestSet) -> None:
    good = explanations(testset, Counting(), "lime")
    rate = Counting(lambda c, r: -overlap(c, r), higher_is_better=False)
    bad = explanations(testset, rate, "lime")
    np.testing.assert_array_equal(bad.scores, -good.scores)
    for mine, theirs in zip(good.sides, bad.sides, strict=True):
        np.testing.assert_array_equal(mine.importance, theirs.importance)


@pytest.mark.parametrize("explainer", ["shap", "shap(max_evals=60)"])
def test_shapley_values_of_a_side_add_up(testset: gn.TestSet, explainer: str) -> None:
    found = explanations(testset, Counting(), explainer)
    for cell, (system, i) in enumerate(itertools.product("ab", range(5))):
        texts = SYSTEMS[system][i], REFERENCES[i]
        for side in (0, 1):
            gone = list(texts)
            gone[side] = " ".join(["UNKWORDZ"] * len(texts[side].split()))
            expected = overlap(*texts) - overlap(*gone)
            assert sum(_importances(found, side, cell)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("explainer", [*PERTURBING, "random"])
def test_an_empty_side_has_no_words_and_the_other_side_all_the_same(
    testset: gn.TestSet, explainer: str
) -> None:
    found = explanations(testset, Counting(), explainer)
    assert _importances(found, 0, 2) == []
    assert len(_importances(found, 1, 2)) == 1


@pytest.mark.parametrize("explainer", PERTURBING)
def test_a_constant_metric_makes_no_word_important(testset: gn.TestSet, explainer: str) -> None:
    found = explanations(testset, Counting(lambda *_: 0.5), explainer)
    for side in found.sides:
        np.testing.assert_allclose(side.importance, 0, atol=1e-12)


@pytest.mark.parametrize("explainer", PERTURBING)
def test_sides_of_three_hundred_words_are_explained(explainer: str) -> None:
    words = [f"w{number % 200}" for number in range(300)]
    ts = gn.TestSet.from_lists({"a": [" ".join(words)]}, [" ".join(reversed(words))])
    found = explanations(ts, Counting(), explainer)
    assert [len(side.importance) for side in found.sides] == [300, 300]
    assert all(np.isfinite(side.importance).all() for side in found.sides)


def test_repeated_words_are_words_of_their_own() -> None:
    ts = gn.TestSet.from_lists({"a": ["go go go"]}, ["go"])
    metric = Counting(lambda c, r: float(c.count("go") == 3 or r == ""))
    found = explanations(ts, metric, "erasure", sides="candidate")
    assert found.sides[0].importance.tolist() == [1, 1, 1]
    assert len(metric.scored) == 2  # "go go" is one text, whichever word went


def test_undefined_scores_make_undefined_importances_and_a_notice() -> None:
    ts = gn.TestSet.from_lists({"a": ["p q r", "s t"]}, ["p q r", "s t"])
    metric = Counting(lambda c, r: math.nan if c == "q r" else overlap(c, r))
    found = explanations(ts, metric, "erasure")
    own = found.sides[0].importance
    assert np.isnan(own).tolist() == [True, False, False, False, False]
    assert found.rows()[0]["importance"] is None
    assert any(
        "1 of 2 explanations have words of undefined importance" in n for n in notes(found.notices)
    )


def test_infinite_scores_are_undefined() -> None:
    ts = gn.TestSet.from_lists({"a": ["p q"]}, ["p q"])
    found = explanations(ts, Counting(lambda c, _: math.inf if c == "p q" else 0.0), "erasure")
    assert np.isnan(found.scores).all()
    assert np.isnan(found.sides[0].importance).all()


def test_a_segment_without_a_reference_is_undefined_and_costs_nothing() -> None:
    ts = gn.TestSet.from_lists({"a": ["p q", "r s"]}, [["p"], []])
    metric = Counting()
    found = explanations(ts, metric, "erasure")
    assert np.isnan(found.scores[0]).tolist() == [False, True]
    assert np.isnan(_importances(found, 0, 1)).all()
    assert all(candidate != "r s" for candidate, _ in metric.scored)


class _Wrong(Counting):
    """Returns what no metric should."""

    def __init__(self, result: object) -> None:
        super().__init__()
        self.result = result

    def segments(self, batch: Batch) -> np.ndarray:  # noqa: ARG002  # whatever it is
        return self.result  # type: ignore[return-value]  # that is the point


@pytest.mark.parametrize("result", [np.zeros((1, 2)), np.zeros(7), 0.5, [], None])
def test_a_wrong_number_of_scores_is_refused(testset: gn.TestSet, result: object) -> None:
    with pytest.raises(ScoringError, match=r"'counting' returned scores of shape"):
        explanations(testset, _Wrong(result), "erasure")


def test_scores_that_are_no_numbers_are_refused(testset: gn.TestSet) -> None:
    with pytest.raises(ScoringError, match="no numbers"):
        explanations(testset, _Wrong("many"), "erasure")


def test_a_request_above_the_limit_is_refused_before_anything_is_scored(
    testset: gn.TestSet,
) -> None:
    metric = Counting()
    with pytest.raises(UsageError, match=r"up to \d+ metric calls, more than the 100 .*max_calls="):
        explanations(testset, metric, "lime", max_calls=100)
    assert metric.scored == []


@pytest.mark.parametrize("explainer", [*PERTURBING, "random"])
def test_the_estimate_is_an_upper_bound(testset: gn.TestSet, explainer: str) -> None:
    found = explanations(testset, Counting(), explainer)
    with pytest.raises(UsageError, match=r"up to (\d+) metric calls"):
        explanations(testset, Counting(), explainer, max_calls=found.calls - 1)


def test_progress_tells_how_many_outputs_are_done(testset: gn.TestSet) -> None:
    told: list[tuple[str, int, int]] = []
    explanations(testset, Counting(), progress=lambda *now: told.append(now))
    assert told[0] == ("explaining", 0, 9)  # two of the ten are the same
    assert told[-1] == ("explaining", 9, 9)


def test_what_a_cache_knows_is_not_scored_again(testset: gn.TestSet, tmp_path: Path) -> None:
    metric, again = Counting(), Counting()
    with Cache(tmp_path / "cache") as cache:
        first = explanations(testset, metric, "lime", cache=cache)
        second = explanations(testset, again, "lime", cache=cache)
        assert (second.calls, second.known, again.scored) == (0, 9, [])
        explanations(testset, again, "lime(seed=1)", cache=cache)
        assert again.scored
    np.testing.assert_array_equal(first.scores, second.scores)
    np.testing.assert_array_equal(first.judged_by, second.judged_by)
    for mine, theirs in zip(first.sides, second.sides, strict=True):
        np.testing.assert_array_equal(mine.importance, theirs.importance)


def test_groups_of_cells_change_nothing(
    testset: gn.TestSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = explanations(testset, Counting(), "lime")
    monkeypatch.setattr("gnomon.bmx.engine._PAIRS", 1)
    monkeypatch.setattr("gnomon.bmx.pairs._AT_ONCE", 7)
    metric = Counting()
    parts = explanations(testset, metric, "lime")
    assert max(batch.shape[1] for batch in metric.batches) == 7
    assert parts.calls == whole.calls
    for mine, theirs in zip(whole.sides, parts.sides, strict=True):
        np.testing.assert_array_equal(mine.importance, theirs.importance)


def test_names_that_do_not_exist_are_answered_with_those_that_do(testset: gn.TestSet) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'lime'"):
        explanations(testset, "chrf", "limes")
    with pytest.raises(UnknownNameError, match="samples"):
        explanations(testset, "chrf", "lime(sample=3)")
    with pytest.raises(UnknownNameError, match="did you mean 'candidate'"):
        explanations(testset, "chrf", sides="candidates")  # type: ignore[arg-type]  # a slip
    with pytest.raises(UnknownNameError, match="unknown system 'c'"):
        explanations(testset, "chrf", systems=["c"])
    with pytest.raises(SpecError, match="by name only"):
        explanations(testset, "chrf", "lime(chrf)")
    with pytest.raises(UsageError, match="'chrf' has none"):
        explanations(testset, "chrf", "match")


def test_a_metric_that_lacks_what_it_needs_says_so(testset: gn.TestSet) -> None:
    with pytest.raises(DataError, match="needs sources"):
        explanations(
            testset, gn.metric(lambda candidate, source: len(candidate + source), name="m")
        )


def test_random_importances_lie_between_0_and_1_and_depend_on_both_texts(
    testset: gn.TestSet,
) -> None:
    found = explanations(testset, Counting(), "random")
    values = found.both().values
    assert ((values >= 0) & (values < 1)).all()
    assert _importances(found, 1, 0) != _importances(found, 1, 5)
    assert _importances(found, 1, 1) == _importances(found, 1, 6)


def test_both_sides_of_a_cell_stand_together(testset: gn.TestSet) -> None:
    found = explanations(testset, Counting(), "erasure")
    values, offsets = found.both()
    for cell in range(10):
        expected = _importances(found, 0, cell) + _importances(found, 1, cell)
        assert values[offsets[cell] : offsets[cell + 1]].tolist() == expected


def test_the_signature_tells_explainer_seed_and_sides(testset: gn.TestSet) -> None:
    fields = dict(explanations(testset, "chrf", "lime(samples=9)").signature.fields)
    assert fields["explainer"] == "lime(samples=9)"
    assert (fields["seed"], fields["sides"], fields["refs"]) == ("12345", "both", "1")


def test_explainers_describe_themselves() -> None:
    described = {one.name: one for one in describe_explainers() if one.name in {"lime", "shap"}}
    assert described["lime"].options == ("samples=100", "seed=12345")
    assert described["shap"].summary.startswith("SHAP:")


def test_rows_of_words_have_the_columns_that_are_declared(testset: gn.TestSet) -> None:
    found = explain(testset, "chrf", errors=False, faithfulness=True)
    words = found.table("words")
    assert [column.name for column in words.columns] == list(words.rows[0])
    assert all(column.help for table in found.tables for column in table.columns)
    (deletion, _) = found.table("faithfulness").rows
    assert (deletion["low"], deletion["high"], deletion["sentences"] > 0) == (None, None, True)


def test_segments_are_counted_from_1(testset: gn.TestSet) -> None:
    rows = explain(testset, "chrf", segments=[2], examples=1).rows
    assert {row["segment"] for row in rows} == {2}
    with pytest.raises(UsageError, match="segment 99 is not there"):
        explain(testset, "chrf", segments=[99])
    with pytest.raises(UsageError, match="1 or more; got 0"):
        explanations(testset, "chrf", segments=[0])
