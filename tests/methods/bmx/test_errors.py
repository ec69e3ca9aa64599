"""Explanations against human error tags: measures by definition, sentences by count."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.bmx.counting import Counting

import gnomon as gn
from gnomon.bmx import against_errors, explanations
from gnomon.bmx.judging import JudgedExplanations, JudgedRow, errors_table, tag_ranks
from gnomon.core.errors import DataError, UnknownNameError
from gnomon.core.findings import Finding
from gnomon.core.spans import ErrorSpan


def test_measures_by_hand() -> None:
    # from the least important: error, fine, error, fine
    found = tag_ranks(np.array([0.1, 0.4, 0.3, 0.2]), np.array([True, False, True, False]))
    assert found is not None
    assert found.auc == 3 / 4
    assert found.average_precision == (1 / 1 + 2 / 3) / 2
    assert found.recall == 1 / 2


def test_constant_importances_are_chance() -> None:
    found = tag_ranks(np.ones(8), np.arange(8) < 2)
    assert found == (0.5, 0.25, 0.25)


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=7).filter(
        lambda rows: 0 < sum(tag for _, tag in rows) < len(rows)
    )
)
def test_measures_equal_their_definitions(rows: list[tuple[int, bool]]) -> None:
    importance = np.array([float(value) for value, _ in rows])
    tagged = np.array([tag for _, tag in rows])
    found = tag_ranks(importance, tagged)
    assert found is not None
    pairs = list(itertools.product(importance[tagged], importance[~tagged]))
    assert found.auc == pytest.approx(np.mean([(a < b) + (a == b) / 2 for a, b in pairs]))
    thresholds = [importance <= value for value in np.sort(importance[tagged])]
    assert found.average_precision == pytest.approx(np.mean([tagged[t].mean() for t in thresholds]))
    count = int(tagged.sum())
    recalls = []
    for order in itertools.permutations(range(len(rows))):
        ranked = sorted(order, key=lambda word: importance[word])  # stable: ties as permuted
        recalls.append(tagged[ranked[:count]].mean() if count else 0.0)
    assert found.recall == pytest.approx(np.mean(recalls))


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=9, unique=True), st.data())
def test_reversed_importances_mirror_the_area(values: list[float], data: st.DataObject) -> None:
    errors = data.draw(st.integers(1, len(values) - 1))
    tagged = np.arange(len(values)) < errors
    one, other = (tag_ranks(sign * np.array(values), tagged) for sign in (1, -1))
    assert one is not None
    assert other is not None
    assert one.auc + other.auc == pytest.approx(1)


def _span(segment: int, start: int, end: int, side: str = "candidate", **more: str) -> ErrorSpan:
    return ErrorSpan("a", segment, side, start, end, "word", "bad", kind=more.get("kind", "tags"))


@pytest.fixture
def testset() -> gn.TestSet:
    candidates = ["good BAD fine", "x y", "BAD BAD", "good good BAD"]
    plain = gn.TestSet.from_lists({"a": candidates}, candidates, sources=["s t"] * 4)
    errors = (
        _span(0, 5, 8),
        _span(0, 3, 3),  # something missing: no word
        _span(2, 0, 3),
        _span(2, 4, 7),
        _span(3, 11, 12),  # a part of the word
        _span(3, 0, 1, "source"),
    )
    return replace(plain, errors=errors)


def goodness(candidate: str, reference: str) -> float:
    return float(candidate.count("good") - candidate.count("BAD") + 0 * len(reference))


def test_a_word_without_which_the_score_rises_is_taken_for_an_error(testset: gn.TestSet) -> None:
    found = explanations(testset, Counting(goodness), "erasure")
    (agreement,) = against_errors(testset, found)
    assert agreement.side == "candidate"
    np.testing.assert_array_equal(agreement.auc, [[1, np.nan, np.nan, 1]])
    np.testing.assert_array_equal(agreement.recall, [[1, np.nan, np.nan, 1]])


def test_undefined_importances_are_left_out(testset: gn.TestSet) -> None:
    found = explanations(testset, Counting(lambda *_: float("nan")), "erasure")
    (agreement,) = against_errors(testset, found)
    assert np.isnan(agreement.auc).all()


def test_tags_follow_their_segment_through_a_selection(testset: gn.TestSet) -> None:
    found = explanations(testset, Counting(goodness), "erasure", segments=[4, 2])
    (agreement,) = against_errors(testset, found)
    np.testing.assert_array_equal(agreement.auc, [[1, np.nan]])


def test_sources_are_judged_where_they_are_explained(testset: gn.TestSet) -> None:
    metric = Counting(lambda *texts: texts[1].count("t"), frozenset(("sources",)))
    sides = {one.side: one for one in against_errors(testset, explanations(testset, metric))}
    assert sides["source"].auc[0, 3] == 1.0
    assert np.isnan(sides["source"].auc).sum() == 3


def test_several_kinds_of_errors_need_a_name(testset: gn.TestSet) -> None:
    both = replace(testset, errors=(*testset.errors, _span(0, 0, 4, kind="mqm")))
    found = explanations(both, Counting(goodness), "erasure")
    with pytest.raises(DataError, match="tags, mqm"):
        against_errors(both, found)
    (agreement,) = against_errors(both, found, kind="mqm")
    assert agreement.auc[0, 0] == 0.0
    with pytest.raises(UnknownNameError):
        against_errors(both, found, kind="esa")


def test_without_errors_there_is_nothing_to_judge_by(testset: gn.TestSet) -> None:
    bare = replace(testset, errors=())
    with pytest.raises(DataError, match="no marked errors"):
        against_errors(bare, explanations(bare, Counting(goodness), "erasure"))


def test_systems_of_a_segment_and_segments_of_a_document_are_left_out_together() -> None:
    draw = np.random.default_rng(3)
    values, chance = draw.random(20).repeat(2)[None], draw.random((1, 40))

    def row(systems: int, units: np.ndarray) -> JudgedRow:  # type: ignore[type-arg]
        key = ("candidate", "auc")
        control = JudgedExplanations("chrf", "random", {key: chance.repeat(systems, 0)}, {})
        judged = JudgedExplanations(
            "chrf", "erasure", {key: values.repeat(systems, 0)}, {}, control
        )
        table = errors_table([judged], units, 0.95)
        (made,) = Finding("bmx explain", "", (table,), {}).records(JudgedRow, "errors")
        return made

    segments, pairs = np.arange(40), np.arange(40) // 2
    alone, together, of_documents = row(1, segments), row(3, segments), row(1, pairs)
    assert (alone.sentences, together.sentences) == (40, 120)
    assert (alone.segments, together.segments) == (40, 40)
    assert alone.ends("gain") == pytest.approx(together.ends("gain"))
    assert (of_documents.ends("value")[0] or 1) < (alone.ends("value")[0] or 0)
    assert row(1, np.arange(40) // 4).ends("gain") == (None, None)  # ten documents


@pytest.mark.parametrize("pair", ["et-en", "ro-en"])
def test_every_tagged_word_of_the_shared_task_is_found(shared: Path, pair: str) -> None:
    ts = gn.TestSet.read(shared / "data" / "eval4nlp21" / f"{pair}.test.tsv")
    found = explanations(ts, lambda candidate, source: len(candidate) - len(source), "random")
    for agreement in against_errors(ts, found):
        side = next(side for side in found.sides if side.side == agreement.side)
        words = np.diff(side.offsets)
        used = int((~np.isnan(agreement.auc)).sum())
        assert 0 < used < len(words) == 1000
        # 1000 sentences of random numbers: five standard errors of the mean are below .06
        assert np.nanmean(agreement.auc) == pytest.approx(0.5, abs=0.06)
