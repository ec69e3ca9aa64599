from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import AnnotationError
from gnomon.core.spans import SpanTable
from gnomon.linguistics.facts import Mark, columns, pack, table, unpack

LABELS = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), min_size=1)
MARKS = st.lists(st.builds(Mark, st.integers(0, 99), st.integers(100, 199), LABELS))


@given(st.lists(MARKS))
def test_what_is_packed_is_unpacked(texts: list[list[Mark]]) -> None:
    facts = unpack("ent", [pack(marks) for marks in texts])
    found = [
        (text, Mark(start, end, facts.labels[label]))
        for text, start, end, label in zip(
            facts.text.tolist(),
            facts.start.tolist(),
            facts.end.tolist(),
            facts.label.tolist(),
            strict=True,
        )
    ]
    assert found == [(i, mark) for i, marks in enumerate(texts) for mark in marks]


@given(st.lists(MARKS))
def test_marks_that_were_never_packed_are_the_same_columns(texts: list[list[Mark]]) -> None:
    short, long = columns("ent", texts), unpack("ent", [pack(marks) for marks in texts])
    assert (short.layer, short.texts, short.labels) == (long.layer, long.texts, long.labels)
    for name in ("text", "start", "end", "label"):
        ours, theirs = getattr(short, name), getattr(long, name)
        assert ours.tolist() == theirs.tolist()
        assert ours.dtype == theirs.dtype


@st.composite
def _disjoint(draw: st.DrawFn) -> list[Mark]:
    bounds = sorted(draw(st.sets(st.integers(0, 50), max_size=12)))
    pairs = zip(bounds[::2], bounds[1::2], strict=False)
    return [Mark(a, b, draw(st.sampled_from(["A", "B", "C"]))) for a, b in pairs]


@given(st.lists(_disjoint(), max_size=5), st.permutations(["ent:A", "ent:B", "ent:C"]))
def test_the_table_equals_the_plain_one(texts: list[list[Mark]], names: list[str]) -> None:
    names = names[:2]
    fast = table([unpack("ent", [pack(marks) for marks in texts])], names, len(texts))
    plain = SpanTable.build(
        [
            {name: [m[:2] for m in marks if f"ent:{m.label}" == name] for name in names}
            for marks in texts
        ],
        names,
    )
    assert fast.features == plain.features
    assert fast.texts == plain.texts
    for column in ("text", "feature", "start", "end"):
        assert getattr(fast, column).tolist() == getattr(plain, column).tolist()
        assert getattr(fast, column).dtype == getattr(plain, column).dtype


def test_two_words_of_one_token_give_one_span() -> None:
    marks = [Mark(0, 2, "ADP|Number=Sing"), Mark(0, 2, "DET|Number=Sing")]
    spans = table([unpack("pos", [pack(marks)])], ["morph:Number", "pos:ADP", "pos:DET"], 1)
    assert [spans.spans(0, name) for name in spans.features] == [((0, 2),)] * 3


def test_overlapping_spans_of_one_feature_are_refused() -> None:
    marks = [Mark(0, 4, "A"), Mark(2, 6, "A")]
    with pytest.raises(AnnotationError, match=r"0:4 and 2:6 of ent:A in text 2 overlap"):
        table([unpack("ent", [pack([]), pack(marks)])], ["ent:A"], 2)


def test_reversed_spans_are_refused() -> None:
    with pytest.raises(AnnotationError, match="empty or reversed"):
        table([unpack("ent", [pack([Mark(4, 4, "A")])])], ["ent:A"], 1)


def test_no_text_and_no_layer_give_an_empty_table() -> None:
    assert len(table([], ["pos:X"], 3).text) == 0
    assert len(table([unpack("pos", [])], ["pos:X"], 0).text) == 0
    assert len(table([unpack("pos", [pack([])])], [], 1).text) == 0


def test_rows_that_are_too_far_apart_for_one_number_are_put_in_order_alike() -> None:
    far = 2**31 - 2
    marks = [Mark(far, far + 1, "B"), Mark(5, 7, "A"), Mark(5, 7, "A"), Mark(0, 5, "A")]
    facts = unpack("ent", [pack(())] * 5000 + [pack(marks)])
    found = table([facts], ["ent:B", "ent:A"], 5001)
    assert found.feature.tolist() == [0, 1, 1]
    assert found.start.tolist() == [far, 0, 5]
    assert found.end.tolist() == [far + 1, 5, 7]
    assert found.text.tolist() == [5000] * 3
    assert found.start.flags.c_contiguous
