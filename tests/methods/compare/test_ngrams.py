"""The n-grams that only one system gets right, against a plain count."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.told import notes

import gnomon
from gnomon import example
from gnomon.comparison.ngrams import only_here, reference_matches
from gnomon.core.testset import TestSet
from gnomon.metrics.tokenise import tokenise


@pytest.fixture
def es_en() -> TestSet:
    return TestSet.read(example.path()).select(segments=range(20))


LINES = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=6).map(" ".join)


def _grams(text: str, n: int) -> Counter[str]:
    words = text.split()
    return Counter(" ".join(words[i : i + n]) for i in range(len(words) - n + 1))


def _plainly(testset: TestSet, here: str, there: str, n: int):
    """n-gram -> matches only here, only there, occurrences in the references."""
    counts: dict[str, list[int]] = {}
    for i in range(testset.segments):
        held: Counter[str] = Counter()
        for texts in testset.references.values():
            if texts[i] is not None:
                held |= _grams(texts[i], n)
        matches = [_grams(testset.systems[name][i], n) & held for name in (here, there)]
        for gram, times in held.items():
            mine, theirs = matches[0][gram], matches[1][gram]
            cell = counts.setdefault(gram, [0, 0, 0])
            cell[0] += max(0, mine - theirs)
            cell[1] += max(0, theirs - mine)
            cell[2] += times
    return {gram: tuple(cell) for gram, cell in counts.items() if cell[0] > cell[1]}


@given(
    rows=st.lists(
        st.tuples(LINES, LINES, LINES, st.one_of(st.none(), LINES)), min_size=1, max_size=6
    )
)
def test_counts_are_those_of_a_plain_count_for_any_texts_and_references(rows) -> None:
    one, two, first, second = (list(column) for column in zip(*rows, strict=True))
    ts = TestSet("x", {"A": first, "B": second}, {"one": one, "two": two})
    batch = ts.batch()
    table = tokenise(batch.texts, "none")
    found = reference_matches(batch, table, 4)
    for n, matches in enumerate(found, start=1):
        for here, there in ((0, 1), (1, 0)):
            got = {
                " ".join(table.vocabulary[token] for token in each.tokens): each[1:]
                for each in only_here(matches, here, there, 10**6)
            }
            assert got == _plainly(ts, batch.systems[here], batch.systems[there], n)


def test_blocks_of_any_size_give_the_same(es_en: TestSet, monkeypatch: pytest.MonkeyPatch) -> None:
    def rows() -> object:
        return gnomon.compare(es_en, "bleu", resamples=50, examples=0).table("ngrams").rows

    whole = rows()
    monkeypatch.setattr("gnomon.comparison.ngrams._BLOCK", 7)
    monkeypatch.setattr("gnomon.comparison.ngrams._SEGMENTS", 3)
    assert rows() == whole


def test_they_are_ordered_by_what_one_side_is_ahead_and_listed_up_to_a_number() -> None:
    reference = ["x y", "x y", "x", "y z", "z", "q"]
    ts = TestSet.from_lists(
        {"old": ["", "", "x", "", "z", "q"], "new": ["x y", "x", "", "y z", "z", "q"]}, reference
    )
    found = gnomon.compare(ts, "bleu", ngrams=2)
    every = [row for row in found.table("ngrams").rows if row["n"] == 1]
    rows = [row for row in every if row["side"] == "new"]
    # x: 2 here, 1 there; y: 2 here; z: 1 here (segment 4), as both have the other one
    assert [(r["rank"], r["ngram"], r["count"], r["other"], r["reference"]) for r in rows] == [
        (1, "y", 2, 0, 3),
        (2, "x", 2, 1, 3),
    ]
    assert len(rows) == len(every)


def test_the_first_few_are_of_all_lengths() -> None:
    ts = TestSet.from_lists(
        {"old": ["nothing", "here"], "new": ["a b c d e"] * 2}, ["a b c d e"] * 2
    )
    rows = gnomon.compare(ts, "bleu", ngrams=2).table("ngrams").rows
    assert [(row["rank"], row["n"]) for row in rows] == [
        *((1, n) for n in (1, 2, 3, 4)),
        *((2, n) for n in (1, 2, 3, 4)),
    ]


def test_tokens_are_those_of_13a() -> None:
    ts = TestSet.from_lists({"old": ["Yes", "x"], "new": ["Yes, 3.5!", "x"]}, ["Yes, 3.5!", "x"])
    rows = gnomon.compare(ts, "bleu").table("ngrams").rows
    assert [row["ngram"] for row in rows if row["n"] == 4] == ["Yes , 3.5 !"]


def test_where_no_n_gram_is_right_there_is_no_table_and_none_is_listed() -> None:
    ts = TestSet.from_lists({"old": ["a", "b"], "new": ["c", ""]}, ["x", "y"])
    found = gnomon.compare(ts, "bleu")
    assert "ngrams" not in [table.name for table in found.tables]
    assert found.to_markdown()
    assert "words" in [table.name for table in found.tables]
    without = gnomon.compare(ts, "bleu", ngrams=0).tables
    assert without == tuple(table for table in found.tables if table.name != "words")


def test_only_sides_with_n_grams_are_shown() -> None:
    ts = TestSet.from_lists({"old": ["a", "b"], "new": ["x", ""]}, ["x", "y"])
    found = gnomon.compare(ts, "bleu")
    assert [view.where["side"] for view in found.shown() if "side" in view.where] == ["new"]


def test_without_references_the_reason_is_told() -> None:
    ts = TestSet("qe", {}, {"old": ["a", "b"], "new": ["c", "d"]}, sources=["b", "b"])
    metric = gnomon.metric(
        lambda candidate, source: float(candidate > source), name="late", needs=["sources"]
    )
    found = gnomon.compare(ts, [metric], by="length")
    assert "n-grams are not listed: the test set has no references" in notes(found.notices)
    assert {len(exhibit.texts) for exhibit in found.exhibits} == {3}


@pytest.mark.parametrize("most", [1, 3])
def test_no_more_are_listed_than_asked_for(most) -> None:
    words = [f"w{i} v{i}" for i in range(8)]
    ts = TestSet.from_lists({"old": [""] * 8, "new": words}, words)
    rows = gnomon.compare(ts, "bleu", ngrams=most).table("ngrams").rows
    assert [row["n"] for row in rows].count(1) == most
