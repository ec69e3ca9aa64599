from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import AnnotationError
from gnomon.core.spans import Span, SpanTable

FEATURES = ["pos:NOUN", "pos:VERB", "never"]


@st.composite
def annotations(draw: st.DrawFn) -> list[dict[str, list[tuple[int, int]]]]:
    """Spans of some features that do not overlap, in any order of writing."""
    result = []
    for _ in range(draw(st.integers(0, 4))):
        spans: dict[str, list[tuple[int, int]]] = {}
        for feature in draw(st.lists(st.sampled_from([*FEATURES[:2], "other"]), unique=True)):
            edges = sorted(draw(st.lists(st.integers(0, 30), unique=True, max_size=8)))
            pairs = list(zip(edges[::2], edges[1::2], strict=False))
            spans[feature] = draw(st.permutations(pairs))
        result.append(spans)
    return result


@given(annotations())
def test_a_table_holds_the_spans_that_were_given(
    given_: list[dict[str, list[tuple[int, int]]]],
) -> None:
    table = SpanTable.build(given_, FEATURES)
    assert table.texts == len(given_)
    for number, spans in enumerate(given_):
        for feature in FEATURES:
            expected = tuple(Span(*pair) for pair in sorted(spans.get(feature, [])))
            assert table.spans(number, feature) == expected
            assert table.counts()[FEATURES.index(feature), number] == len(expected)


@given(annotations())
def test_rows_are_ordered_by_text_feature_and_start(
    given_: list[dict[str, list[tuple[int, int]]]],
) -> None:
    table = SpanTable.build(given_, FEATURES)
    rows = list(zip(table.text, table.feature, table.start, strict=True))
    assert rows == sorted(rows)


@given(annotations(), st.permutations(FEATURES), st.integers(0, 3))
def test_selecting_features_equals_building_with_them(
    given_: list[dict[str, list[tuple[int, int]]]], order: list[str], kept: int
) -> None:
    selected = SpanTable.build(given_, FEATURES).select(order[:kept])
    built = SpanTable.build(given_, order[:kept])
    assert (selected.features, selected.texts) == (built.features, built.texts)
    for column in ("text", "feature", "start", "end"):
        np.testing.assert_array_equal(getattr(selected, column), getattr(built, column))
        assert getattr(built, column).dtype == np.int32


def test_spans_of_different_features_may_overlap() -> None:
    table = SpanTable.build([{"a": [(0, 3)], "b": [(1, 2)]}], ["a", "b"])
    assert table.counts().tolist() == [[1], [1]]


def test_spans_may_touch() -> None:
    assert SpanTable.build([{"a": [(3, 5), (0, 3)]}], ["a"]).spans(0, "a") == ((0, 3), (3, 5))


@pytest.mark.parametrize("span", [(2, 2), (3, 1), (-1, 2)])
def test_empty_and_reversed_spans_are_refused(span: tuple[int, int]) -> None:
    with pytest.raises(AnnotationError, match=r"of a in text 2 is empty or reversed"):
        SpanTable.build([{}, {"a": [span]}], ["a"])


def test_overlapping_spans_of_one_feature_are_refused() -> None:
    with pytest.raises(AnnotationError, match="spans 0:3 and 2:4 of a in text 1 overlap"):
        SpanTable.build([{"a": [(2, 4), (0, 3)]}], ["a"])


def test_a_table_of_nothing_has_no_rows() -> None:
    table = SpanTable.build([], ["a"])
    assert table.counts().shape == (1, 0)
    assert table.text.size == 0
