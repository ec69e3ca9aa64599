"""Where a feature occurs, and on which side there is more of it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gnomon import TestSet
from gnomon.core.spans import SpanTable
from gnomon.muler.figures import occurrences, presence, words_of


def _digits(testset: TestSet) -> tuple:
    """Every digit is a span of the feature."""
    batch = testset.batch()
    spans = [{"d": [(i, i + 1) for i, c in enumerate(t) if c.isdigit()]} for t in batch.texts]
    return batch, SpanTable.build(spans, ["d"])


def test_shares_of_a_hand_made_test_set() -> None:
    testset = TestSet.from_lists(
        {"a": ["1 2", "x", "1", "x"], "b": ["x", "x", "1 2", "3"]}, ["1", "2", "3", "y"]
    )
    found = presence(*_digits(testset), 0)
    assert found.both.tolist() == [[True, False, True, False], [False, False, True, False]]
    assert found.add.tolist() == [[1, 0, 0, 0], [0, 0, 1, 1]]
    assert found.miss.tolist() == [[0, 1, 0, 0], [1, 1, 0, 0]]
    assert found.hit.tolist() == [[0, 0, 1, 0], [0, 0, 0, 0]]


def test_several_references_average_the_indicator_and_one_with_the_feature_suffices() -> None:
    testset = TestSet.from_lists({"a": ["1", "1"]}, [["1", "x", "2 3"], ["x", None, "x"]])
    found = presence(*_digits(testset), 0)
    assert found.both.tolist() == [[True, False]]
    assert np.allclose(found.add, [[1 / 3, 1]])
    assert np.allclose(found.miss, [[1 / 3, 0]])
    assert np.allclose(found.hit, [[1 / 3, 0]])


def test_a_segment_without_any_reference_is_missing() -> None:
    testset = TestSet.from_lists({"a": ["1", "1"]}, [["1"], [None]])
    found = presence(*_digits(testset), 0)
    assert np.isnan(found.add[0, 1])
    assert not found.both[0, 1]


def test_references_of_one_system_alone_judge_that_system_only() -> None:
    plain = TestSet.from_lists({"a": ["1"], "b": ["1"]}, ["x"])
    testset = TestSet(
        plain.name, plain.references, plain.systems, system_references={"b": {"own": ["1"]}}
    )
    found = presence(*_digits(testset), 0)
    assert found.both.tolist() == [[False], [True]]
    assert found.hit.tolist() == [[0.0], [0.5]]


def test_entities_count_as_spans_and_all_else_by_words() -> None:
    testset = TestSet.from_lists({"a": ["the big cat"]}, ["the big red cat"])
    batch = testset.batch()
    spans = [
        {n: [(4, 11 if "red" in t else 7)] for n in ("re:big", "ent:BIG")} for t in batch.texts
    ]
    table = SpanTable.build(spans, ["re:big", "ent:BIG"])
    assert presence(batch, table, 0).miss.tolist() == [[1]]
    assert presence(batch, table, 1).hit.tolist() == [[1]]


def test_a_span_is_as_many_words_as_python_splits_it_into() -> None:
    pieces = ["one", " one", "one ", "  ", "two words", "three\u3000more\x1cwords", "-"]
    for some in (pieces, pieces[:1], pieces[1:2], pieces[2:4], pieces[:2]):
        batch = TestSet.from_lists({"a": some}, some).batch()
        every = [{"re:x": [(0, len(text))]} for text in batch.texts]
        found = occurrences(batch, SpanTable.build(every, ["re:x"]), 0)
        assert found.tolist() == [max(1, len(text.split())) for text in batch.texts]


texts = st.text("1x ", max_size=6)


@given(st.lists(st.tuples(texts, texts, texts), min_size=1, max_size=8))
def test_shares_add_up_to_one_where_the_feature_is_on_a_side(
    rows: list[tuple[str, str, str]],
) -> None:
    testset = TestSet.from_lists({"a": [r[0] for r in rows]}, [list(r[1:]) for r in rows])
    found = presence(*_digits(testset), 0)
    shares = found.add + found.miss + found.hit
    assert np.allclose(shares[found.both], 1)
    assert (shares <= 1 + 1e-12).all()


#: ones of the widest and the last white space among them
SIGNS = "a\u00e9\U0001f600 \t\n\u00a0\u2009\u3000\u3001\u0301"
spaced = st.text(st.sampled_from(SIGNS), min_size=1, max_size=12)


@given(st.lists(st.tuples(spaced, st.integers(0, 11), st.integers(1, 12)), max_size=6))
def test_words_are_counted_as_python_parts_them(rows: list[tuple[str, int, int]]) -> None:
    texts = [text for text, _, _ in rows]
    spans = [
        {"lex:x": [(min(a, len(t) - 1), min(max(b, a + 1, 1), len(t)))], "lex:y": [(0, len(t))]}
        for t, a, b in rows
    ]
    table = SpanTable.build(spans, ["lex:x", "lex:y"])
    columns = (table.text.tolist(), table.start.tolist(), table.end.tolist())
    expected = [len(texts[t][a:b].split()) for t, a, b in zip(*columns, strict=True)]
    assert words_of(texts, table, np.arange(len(table.text))).tolist() == expected


def test_a_phrase_without_spaces_has_as_many_words_as_letters() -> None:
    batch = TestSet.from_lists({"a": ["新能源 car", "ที่ดี"]}, ["x", "y"]).batch()
    spans = [{"d": [(0, len(text))]} for text in batch.texts]
    often = occurrences(batch, SpanTable.build(spans, ["d"]), 0)
    assert [often[batch.texts.index(text)] for text in ("新能源 car", "ที่ดี", "x")] == [4, 2, 1]
