"""Facts of many texts kept as one entry: the same facts, and nothing but the same texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.cache import Cache
from gnomon.linguistics import annotate
from gnomon.linguistics import facts as _facts
from gnomon.linguistics.facts import Mark, pack, unpack

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

marks = st.lists(
    st.tuples(st.integers(0, 9), st.integers(1, 5), st.sampled_from("ABC\u00e9|")), max_size=4
)


@given(st.lists(marks, max_size=6), st.data())
def test_facts_survive_writing_and_selecting(
    texts: list[list[tuple[int, int, str]]], data: st.DataObject
) -> None:
    entries = [pack([Mark(s, s + n, label) for s, n, label in text]) for text in texts]
    facts = unpack("pos", entries)
    again = _facts._facts_of_entry("pos", _facts._entry_of_facts(facts))
    for column in ("text", "start", "end", "label"):
        assert getattr(again, column).tolist() == getattr(facts, column).tolist()
        assert getattr(again, column).dtype == getattr(facts, column).dtype
    assert (again.labels, again.texts) == (facts.labels, facts.texts)
    if texts:
        rows = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=8))
        found, expected = again.select(rows), unpack("pos", [entries[row] for row in rows])
        for column in ("text", "start", "end"):
            assert getattr(found, column).tolist() == getattr(expected, column).tolist()
        assert [found.labels[i] for i in found.label] == [
            expected.labels[i] for i in expected.label
        ]


class Upper:
    """Marks capital letters; counts the texts it is asked about."""

    name = "upper"
    signature = "upper-1"
    layers: Mapping[str, Sequence[str]] = {"ent": ("ent",)}

    def __init__(self) -> None:
        self.asked = 0

    def inventory(self, kind: str) -> Sequence[str]:
        return (f"{kind}:CAPITAL",)

    def annotate(self, texts: Sequence[str], layers: Sequence[str]) -> list[dict[str, list[Mark]]]:
        assert list(layers) == ["ent"]
        self.asked += len(texts)
        return [
            {"ent": [Mark(i, i + 1, "CAPITAL") for i, c in enumerate(text) if c.isupper()]}
            for text in texts
        ]


@pytest.mark.parametrize("count", [10, 1500])
def test_a_second_run_asks_for_nothing_and_finds_the_same(count: int, tmp_path) -> None:
    texts = [f"Text {i} of Many" for i in range(count)]
    annotator, cache = Upper(), Cache(tmp_path)
    first = annotate(texts, ["ent:*"], tagger=annotator, cache=cache)
    second = annotate(texts, ["ent:*"], tagger=annotator, cache=cache)
    assert annotator.asked == count
    assert (first.tagged, second.tagged, second.cached) == (count, 0, count)
    for column in ("text", "start", "end", "feature"):
        left, right = getattr(first.spans, column), getattr(second.spans, column)
        assert left.tolist() == right.tolist()


def test_one_more_text_costs_one_text(tmp_path) -> None:
    texts = [f"Text {i}" for i in range(1500)]
    annotator, cache = Upper(), Cache(tmp_path)
    annotate(texts, ["ent:*"], tagger=annotator, cache=cache)
    more = annotate([*texts, "New One"], ["ent:*"], tagger=annotator, cache=cache)
    assert annotator.asked == 1501
    assert more.spans.counts().sum() == 1502
