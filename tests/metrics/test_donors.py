"""Words that stand for masked ones: a text has the same score, whatever is scored beside it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.spans import SpanTable
from gnomon.core.testset import TestSet
from gnomon.metrics import metric
from gnomon.metrics.black_box_masking import make_substitutable
from gnomon.metrics.donors import hashes_of, ranks_of
from gnomon.metrics.masking import MaskPlan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.core.batch import Batch

ANIMALS = ("dog", "cat", "horse", "cow", "hen", "Cat")
#: animals of the reference, of two outputs: at least one each
SEGMENT = st.tuples(
    *[st.lists(st.sampled_from(ANIMALS), min_size=1, max_size=3).map(" and ".join)] * 3
)


def letters(candidate: str, reference: str) -> float:
    """A score that almost any other word changes."""
    return sum((i + 1) * ord(c) for i, c in enumerate(candidate)) / 1000 + len(reference)


def _testset(rows: Sequence[tuple[str, str, str]]) -> TestSet:
    return TestSet.from_lists(
        {"x": [f"we saw a {x} ." for _, x, _ in rows], "y": [f"no {y}" for *_, y in rows]},
        [f"it was a {reference}" for reference, *_ in rows],
    )


def _plan(batch: Batch) -> MaskPlan:
    pattern = re.compile("|".join(ANIMALS))
    places = [{"animal": [m.span() for m in pattern.finditer(text)]} for text in batch.texts]
    return MaskPlan.oracles(SpanTable.build(places, ["animal"]))


def _masked(testset: TestSet, **part: Any) -> np.ndarray:
    """Oracle and anti-oracle of a part of a batch, the words of which the whole batch gives."""
    batch = testset.batch()
    exchanging = make_substitutable(metric(letters).bind(testset), batch)
    return exchanging.masked(batch.select(**part) if part else batch, _plan(batch))


@given(rows=st.lists(SEGMENT, min_size=1, max_size=7), data=st.data())
def test_neither_order_nor_batches_nor_other_systems_change_the_words_that_are_exchanged(
    rows: list[tuple[str, str, str]], data: st.DataObject
) -> None:
    whole = _masked(_testset(rows))
    order = data.draw(st.permutations(range(len(rows))))
    some = order[: data.draw(st.integers(1, len(rows)))]
    system = data.draw(st.integers(0, 1))
    part = _masked(_testset(rows), segments=some, systems=[system])
    np.testing.assert_array_equal(part, whole[:, [system]][:, :, some])
    moved = _masked(_testset([rows[n] for n in order]))
    np.testing.assert_array_equal(moved, whole[:, :, order])
    alone = _masked(_testset(rows).select(systems=["xy"[system]]))
    np.testing.assert_array_equal(alone, whole[:, [system]])


@given(rows=st.lists(SEGMENT, min_size=2, max_size=7), seed=st.integers(0, 3))
def test_a_segment_that_is_added_changes_words_only_to_its_own(
    rows: list[tuple[str, str, str]], seed: int
) -> None:
    def words(some: list[tuple[str, str, str]]) -> list[str]:
        seen: list[str] = []

        def note(candidate: str, reference: str) -> float:  # its name says what it is
            seen.append(candidate)
            return 0.0

        testset = _testset(some).select(systems=["x"])
        batch = testset.batch()
        plan = _plan(batch)
        given_words = make_substitutable(metric(note).bind(testset), batch, seed=seed)
        last = []
        for n in range(len(rows) - 1):  # the text as it is comes first, the one with words after it
            given_words.masked(batch.select(segments=[n]), plan.keep([1]))
            last.append(seen[-1])
        return last

    before, after = words(rows[:-1]), words(rows)
    new = {word.casefold() for word in rows[-1][0].split(" and ")}
    changed = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
    for old, now in changed:
        pairs = zip(re.findall(r"\w+", old), re.findall(r"\w+", now), strict=True)
        assert {b.casefold() for a, b in pairs if a != b} <= new


def test_equal_texts_draw_equal_words_and_others_draw_their_own() -> None:
    rows = [("dog", "cow", "hen"), ("cat", "cow", "hen"), ("dog", "cow", "hen")]
    rows += [(animal, "horse", "horse") for animal in ANIMALS]
    _, anti = _masked(_testset(rows))
    np.testing.assert_array_equal(anti[:, 0], anti[:, 2])
    orders = ranks_of(
        hashes_of([[str(n)] for n in range(50)])[:, None], hashes_of(map(list, "abc"))
    )
    assert len({tuple(row.argsort().tolist()) for row in orders}) == 6


def test_a_system_with_references_of_its_own_draws_among_these() -> None:
    testset = TestSet(
        name="t",
        systems={"x": ["a cat", "a hen"], "y": ["a cat", "a hen"]},
        references={"A": ["a dog", "a cow"]},
        system_references={"y": {"B": ["a horse", "a horse"]}},
    )
    seen: list[str] = []

    def note(candidate: str, reference: str) -> float:  # its name says what it is
        seen.append(candidate)
        return 0.0

    batch = testset.batch()
    exchanging = make_substitutable(metric(note).bind(testset), batch)
    exchanging.masked(batch.select(systems=[0], segments=[0]), _plan(batch).keep([1]))
    assert {"a cow", "a horse"} & set(seen) == {"a cow"}
    seen.clear()
    exchanging.masked(batch.select(systems=[1], segments=[0]), _plan(batch).keep([1]))
    assert set(seen) <= {"a cat", "a cow"}
    assert "a cow" in seen


@pytest.mark.parametrize("count", [1, 40])
def test_words_are_drawn_as_often_as_references_have_them(count: int) -> None:
    rows = [("dog", "pig", "hen")] * 60 + [("cow", "pig", "hen")] * 20
    rows += [(f"cat {n}", "horse", "hen") for n in range(count)]
    seen: list[str] = []

    def note(candidate: str, reference: str) -> float:  # its name says what it is
        seen.append(candidate)
        return 0.0

    testset = _testset(rows)
    batch = testset.batch()
    exchanging = make_substitutable(metric(note).bind(testset), batch)
    some = batch.select(systems=[0], segments=range(80, 80 + count))
    exchanging.masked(some, _plan(batch).keep([1]))
    dogs = sum("dog" in text for text in seen)
    assert count < 10 or 0.55 < dogs / count < 0.95
