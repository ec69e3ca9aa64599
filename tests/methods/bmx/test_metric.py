"""``bmx(METRIC)`` as a metric."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.bmx.counting import Counting, overlap
from tests.told import notes

import gnomon as gn
from gnomon.bmx import Bmx, explanations, power_mean
from gnomon.core.batch import Batch
from gnomon.core.errors import ScoringError, SpecError, UnknownNameError, UsageError
from gnomon.core.human import HumanScores
from gnomon.core.spans import SpanTable
from gnomon.metrics import MaskPlan, describe, make_maskable, parse
from gnomon.metrics.base import Metric
from gnomon.muler.figures import feature_scores

if TYPE_CHECKING:
    from gnomon.metrics.base import BoundMetric

SYSTEMS = {
    "a": ["the cat sat on the mat .", "x", "one two one two", "it  rains\xa0today"],
    "b": ["a cat sat", "x", "one two", "today it rains"],
}
REFERENCES = ["the cat sat on a mat .", "x y", "one two three", "it rains today"]


@pytest.fixture
def testset() -> gn.TestSet:
    return gn.TestSet.from_lists(SYSTEMS, REFERENCES, language_pair="en")


class Unbound(Metric):
    """The counting metric before it is bound; counts how often it is."""

    name = spec = "counting"

    def __init__(self, bound: BoundMetric) -> None:
        self.bound = bound
        self.times = 0

    def bind(self, testset: gn.TestSet) -> BoundMetric:  # noqa: ARG002  # nothing is frozen
        self.times += 1
        return self.bound


def _boosted(testset: gn.TestSet, metric: Counting, **options: object) -> np.ndarray:
    made = Bmx(Unbound(metric), **options)  # type: ignore[arg-type]  # options of many types
    return made.bind(testset).segments(testset.batch())


@pytest.mark.parametrize("explainer", ["erasure", "lime", "shap"])
@pytest.mark.parametrize("shift", ["paper", "floor", "exponential"])
def test_scores_are_w_times_the_metric_plus_the_rest_of_the_power_mean(
    testset: gn.TestSet, explainer: str, shift: str
) -> None:
    spec = f"bmx(chrf, explainer='{explainer}', p=0.5, w=0.3, shift='{shift}')"
    found = gn.score(testset, spec)
    explained = explanations(testset, "chrf", explainer)
    values, offsets = explained.both()
    plain = gn.score(testset, "chrf").segments
    for cell, score in enumerate(found.segments.ravel()):
        own = values[offsets[cell] : offsets[cell + 1]]
        aggregate = power_mean(own, 0.5, shift=shift)  # type: ignore[arg-type]  # one of three
        expected = 0.3 * plain.ravel()[cell] + 0.7 * aggregate
        assert score == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(found.system, found.segments.mean(axis=1), rtol=1e-12)


@pytest.mark.parametrize("metric", ["chrf", "bleu", "ter", "rougeL", "random"])
def test_with_all_weight_on_the_metric_it_is_the_metric(testset: gn.TestSet, metric: str) -> None:
    boosted = gn.score(testset, f"bmx({metric}, w=1, explainer='erasure')")
    plain = gn.score(testset, metric)
    np.testing.assert_array_equal(boosted.segments, plain.segments)
    assert boosted.higher_is_better == plain.higher_is_better


def test_with_all_weight_on_the_metric_several_references_count_together() -> None:
    ts = gn.TestSet.from_lists({"a": ["the cat is on the mat"]}, [["the cat is", "on the mat ."]])
    boosted = gn.score(ts, "bmx(bleu, w=[1, 1], explainer='erasure')").segments
    np.testing.assert_allclose(boosted, gn.score(ts, "bleu").segments, rtol=1e-12)


def test_error_rates_are_boosted_as_their_negatives(testset: gn.TestSet) -> None:
    good = _boosted(testset, Counting(), p=2.0, w=0.4)
    rate = Counting(lambda c, r: -overlap(c, r), higher_is_better=False)
    unbound = Unbound(rate)
    unbound.higher_is_better = False  # type: ignore[misc]  # an error rate
    bad = Bmx(unbound, p=2.0, w=0.4).bind(testset).segments(testset.batch())
    np.testing.assert_allclose(bad, -good, rtol=1e-12)


def test_the_published_medians_are_the_defaults(testset: gn.TestSet) -> None:
    for explainer, p, w in [("lime", -1.4, 0.4), ("erasure", -0.3, 0.6), ("shap", -1.0, 0.6)]:
        plain = gn.score(testset, f"bmx(chrf, explainer='{explainer}')")
        given = gn.score(testset, f"bmx(chrf, explainer='{explainer}', p={p}, w={w})")
        np.testing.assert_array_equal(plain.segments, given.segments)
        fields = dict(plain.signature.fields)
        assert (float(fields["p"]), float(fields["w"])) == (p, w)


def test_a_spec_comes_back_as_it_is() -> None:
    spec = "bmx(chrf(word_order=2), explainer='lime(samples=9)', p=[-1.0, 2.0], w=0.5)"
    assert parse(spec).spec == spec
    assert parse("bmx(bmx(chrf), p=inf, w=0)").spec == "bmx(bmx(chrf), p=inf, w=0.0)"


def test_a_metric_that_leaves_the_system_out_is_told_whose_the_words_are(
    testset: gn.TestSet,
) -> None:
    inner = "difficulty(bleu, leave_one_out=True)"
    plain = gn.score(testset, inner).segments
    assert (plain != gn.score(testset, "difficulty(bleu)").segments).any()
    boosted = gn.score(testset, f"bmx({inner}, explainer='erasure', w=1)")
    np.testing.assert_allclose(boosted.segments, plain, rtol=1e-12)
    bound = parse(f"bmx(bmx({inner}, explainer='erasure'), explainer='random', p=1, w=1)")
    nested = bound.bind(testset).segments(testset.batch())
    once = gn.score(testset, f"bmx({inner}, explainer='erasure')").segments
    np.testing.assert_allclose(nested, once, rtol=1e-12)


@pytest.mark.parametrize("explainer", ["erasure", "lime(samples=12)", "shap(max_evals=40)"])
def test_a_second_iteration_that_keeps_the_first_is_the_first(
    testset: gn.TestSet, explainer: str
) -> None:
    once = _boosted(testset, Counting(), explainer=explainer, p=-0.3, w=0.6)
    twice = _boosted(testset, Counting(), explainer=explainer, p=(-0.3, 7.0), w=(0.6, 1.0))
    np.testing.assert_array_equal(once, twice)


@pytest.mark.parametrize("explainer", ["erasure", "lime(samples=6)", "random"])
def test_two_iterations_are_the_boosted_metric_boosted(testset: gn.TestSet, explainer: str) -> None:
    inner = f"bmx(chrf, explainer='{explainer}', p=1, w=0.5)"
    nested = gn.score(testset, f"bmx({inner}, explainer='{explainer}', p=-2, w=0.25)")
    twice = gn.score(testset, f"bmx(chrf, explainer='{explainer}', p=[1, -2], w=[0.5, 0.25])")
    np.testing.assert_allclose(twice.segments, nested.segments, rtol=1e-9)


def test_two_iterations_score_every_distinct_pair_once(testset: gn.TestSet) -> None:
    metric = Counting()
    _boosted(testset, metric, explainer="erasure", w=(0.6, 0.6))
    assert len(metric.scored) == len(set(metric.scored))
    ts = gn.TestSet.from_lists({"a": ["p q r"]}, ["t u v w"])
    metric = Counting()
    _boosted(ts, metric, explainer="erasure", w=(0.6, 0.6))
    # as they are, one word less, two words less on one side, one less on each
    assert len(metric.scored) == 1 + (3 + 4) + (3 + 6) + 3 * 4


def test_a_metric_is_bound_once(testset: gn.TestSet) -> None:
    unbound = Unbound(Counting())
    gn.score(testset, Bmx(unbound, explainer="lime"))
    assert unbound.times == 1


def test_scoring_a_test_set_explains_it_once(testset: gn.TestSet) -> None:
    metric = Counting()
    scores = gn.score(testset, Bmx(Unbound(metric), shift="paper"))
    assert len(metric.scored) == len(set(metric.scored))
    assert any("collapsed" in notice for notice in notes(scores.notices))


@pytest.mark.parametrize("explainer", ["erasure", "lime", "shap"])
def test_without_options_nothing_collapses(testset: gn.TestSet, explainer: str) -> None:
    found = gn.bmx(testset, explainer=explainer)
    assert not any("collapsed" in notice for notice in notes(found.notices))
    assert str(found.rows[0]["metric"]).endswith("shift='floor')")
    (boost,) = Bmx(parse("bleu"), explainer=explainer).boosts
    for options in ({"shift": "paper"}, {"p": boost.p, "w": boost.w}):
        paper = gn.bmx(testset, Bmx(parse("bleu"), explainer=explainer, **options))
        assert "shift" not in str(paper.rows[0]["metric"])
        assert any("collapsed" in notice for notice in notes(paper.notices))


def test_scores_are_scaled_before_importances_are_added(testset: gn.TestSet) -> None:
    made = Bmx(Unbound(Counting()), explainer="random", p=1, w=0.5, scale=100)
    found = gn.score(testset, made).segments
    plain = Counting().segments(testset.batch())
    means = gn.score(testset, Bmx(Unbound(Counting()), explainer="random", p=1, w=0)).segments
    np.testing.assert_allclose(found, 0.5 * plain + 0.5 * 100 * means)
    assert "scale=100.0" in made.spec


@pytest.mark.parametrize("explainer", ["erasure", "lime", "shap(max_evals=40)"])
@pytest.mark.parametrize("iterations", [1, 2])
def test_importances_in_units_of_the_score_are_scaled_with_it(
    testset: gn.TestSet, explainer: str, iterations: int
) -> None:
    few = testset.select(segments=list(range(2)))
    options = {"explainer": explainer, "p": 0.7, "w": (0.5,) * iterations}
    one, scaled = (
        gn.score(few, Bmx(Unbound(Counting()), **options, scale=scale)).segments  # type: ignore[arg-type]
        for scale in (1.0, 50.0)
    )
    np.testing.assert_allclose(one, scaled, rtol=1e-6, atol=1e-6)  # but for the 1e-9 of the shift


def test_a_scale_is_above_zero() -> None:
    with pytest.raises(SpecError, match="scale is 0"):
        Bmx(Unbound(Counting()), scale=0)


def test_texts_without_words_keep_their_score() -> None:
    ts = gn.TestSet.from_lists({"a": ["", " \xa0", "x y"]}, ["", "", "x y"])
    metric = Counting(lambda c, r: 7.0 if not c.strip() else overlap(c, r))
    made = Bmx(Unbound(metric), w=0.5).bind(ts)
    assert made.segments(ts.batch())[0, :2].tolist() == [7.0, 7.0]
    assert any("2 outputs have no word" in notice for notice in notes(made.notices(ts.batch())))


def test_an_empty_candidate_is_judged_by_the_words_of_the_reference() -> None:
    ts = gn.TestSet.from_lists({"a": [""]}, ["x y"])
    assert _boosted(ts, Counting(), explainer="erasure", w=0.5, p=1.0)[0, 0] == pytest.approx(
        0.5 * 0 + 0.5 * 1e-9
    )


def test_what_is_undefined_stays_undefined() -> None:
    ts = gn.TestSet.from_lists({"a": ["p q", "r s"]}, ["p q", "r s"])
    metric = Counting(lambda c, r: math.nan if c == "p" else overlap(c, r))
    made = Bmx(Unbound(metric), explainer="erasure", w=0.5).bind(ts)
    found = made.segments(ts.batch())
    assert np.isnan(found[0]).tolist() == [True, False]
    assert made.system(ts.batch())[0] == found[0, 1]


def test_a_constant_metric_stays_constant(testset: gn.TestSet) -> None:
    found = _boosted(testset, Counting(lambda *_: 5.0), explainer="lime", w=0.5)
    assert found == pytest.approx(2.5, abs=1e-6)


def test_options_that_cannot_be_are_refused(testset: gn.TestSet) -> None:
    with pytest.raises(SpecError, match="w lies between 0 and 1"):
        parse("bmx(chrf, w=1.5)")
    with pytest.raises(SpecError, match="2 values of p and 3 of w"):
        parse("bmx(chrf, p=[1, 2], w=[0.1, 0.2, 0.3])")
    with pytest.raises(SpecError, match="give one value"):
        parse("bmx(chrf, p=[])")
    with pytest.raises(SpecError, match="no p is published for explainer 'random'"):
        parse("bmx(chrf, explainer='random')")
    with pytest.raises(SpecError, match="max_calls is 0; it must be 1 or more"):
        parse("bmx(chrf, max_calls=0)")
    with pytest.raises(UnknownNameError, match="did you mean 'lime'"):
        parse("bmx(chrf, explainer='lima')")
    with pytest.raises(UsageError, match="'chrf' has none"):
        gn.score(testset, "bmx(chrf, explainer='match', p=1, w=0.5)")


def test_without_a_metric_to_explain_the_form_is_told() -> None:
    with pytest.raises(SpecError, match=r"'bmx' wants its metric first: bmx\(METRIC, \.\.\.\)"):
        parse("bmx(p=1)")


def test_the_list_of_metrics_tells_its_options() -> None:
    (described,) = (one for one in describe() if one.name == "bmx")
    assert described.options[:2] == ("metric", "explainer='lime'")


def test_more_calls_than_allowed_are_refused(testset: gn.TestSet) -> None:
    with pytest.raises(UsageError, match="more than the 100 that are allowed"):
        gn.score(testset, "bmx(chrf, max_calls=100)")


def test_a_failing_metric_is_named(testset: gn.TestSet) -> None:
    def fails(candidate: str, reference: str) -> float:
        return math.nan if "UNKWORDZ" in candidate + reference else 1.0

    with pytest.raises(ScoringError, match="'fails' returned nan"):
        gn.score(testset, Bmx(gn.metric(fails)))


def _every_noun(testset: gn.TestSet) -> MaskPlan:
    """Mask every "cat", "mat" and "it"; and every other word, as another feature."""
    features = {"noun": r"\b(cat|mat|it)\b", "other": r"\b(?!cat|mat|it)\w+"}
    found = [
        {name: [m.span() for m in re.finditer(one, text)] for name, one in features.items()}
        for text in testset.batch().texts
    ]
    return MaskPlan.oracles(SpanTable.build(found, list(features)))


def test_muler_masks_it_as_a_black_box(testset: gn.TestSet) -> None:
    bound = parse("bmx(chrf, explainer='erasure', p=1, w=0.9)").bind(testset)
    masked = make_maskable(bound, testset.batch())
    plan = _every_noun(testset)
    oracle, anti_oracle = masked.masked(testset.batch(), plan)[:2]
    assert (oracle >= anti_oracle).all()
    assert (oracle > anti_oracle)[:, 0].all()
    np.testing.assert_array_equal(oracle[:, 1], bound.segments(testset.batch())[:, 1])


def test_masking_many_variants_is_refused_before_it_begins(testset: gn.TestSet) -> None:
    bound = parse("bmx(chrf, explainer='erasure', max_calls=100)").bind(testset)
    batch = testset.batch()
    masked = make_maskable(bound, batch)
    assert bound.cost(batch) <= 100
    with pytest.raises(UsageError, match=r"4 masked variants under 'bmx' take up to \d+ metric"):
        masked.masked(batch, _every_noun(testset))


def test_all_features_of_muler_are_refused_together(testset: gn.TestSet) -> None:
    bound = parse("bmx(chrf, explainer='erasure', max_calls=100)").bind(testset)
    batch = testset.batch()
    scores = feature_scores(make_maskable(bound, batch), batch, _every_noun(testset))
    with pytest.raises(UsageError, match="4 masked variants under 'bmx'"):
        next(scores)


def test_what_masking_leaves_as_it_is_is_not_explained_again(testset: gn.TestSet) -> None:
    metric = Counting()
    bound = Bmx(Unbound(metric), explainer="erasure").bind(testset)
    batch = testset.batch()
    bound.segments(batch)
    before = len(metric.scored)
    bound.segments(batch.select(segments=[2, 0]))
    bound.system(batch.select(systems=[1]))
    assert len(metric.scored) == before


TEXTS = st.lists(st.sampled_from(["a", "b", "the", "cat", "cat"]), max_size=5).map(" ".join)


@settings(max_examples=30)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4), st.floats(-5, 5))
def test_permuting_segments_permutes_scores(pairs: list[tuple[str, str]], p: float) -> None:
    def scores(order: list[tuple[str, str]]) -> list[float]:
        batch = Batch.build(
            systems={"a": [pair[0] for pair in order]}, references=[[pair[1] for pair in order]]
        )
        ts = gn.TestSet.from_lists({"a": [""]}, [""])
        made = Bmx(Unbound(Counting()), explainer="lime(samples=9)", p=p, w=0.5)
        return made.bind(ts).segments(batch)[0].tolist()

    assert scores(pairs[::-1]) == scores(pairs)[::-1]


def test_what_the_metric_was_told_by_people_is_passed_on() -> None:
    plain = gn.TestSet.from_lists({"a": ["the cat"], "b": ["a dog"]}, ["the cat"])
    human = HumanScores("da-z", "system", ("a", "b"), np.array([[1.0], [0.0]]))
    testset = replace(plain, human=(human,))
    spec = "bmx(difficulty(rouge1, pool='top:1'), explainer='erasure')"
    assert gn.score(testset, spec).informed_by == ("da-z",)
    assert gn.score(testset, "bmx(rouge1, explainer='erasure')").informed_by == ()
