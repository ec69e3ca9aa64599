"""Functions of lists, and how often a function is asked, by every method that repeats texts."""

from __future__ import annotations

import logging
import re
import sys
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

import gnomon as gn
from gnomon import bmx
from gnomon.core.errors import ScoringError, SpecError
from gnomon.core.testset import TestSet
from gnomon.metrics import functions as functions_module
from gnomon.metrics import metric, parse, score

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


def overlap(candidate: str, reference: str) -> float:
    a, b = set(candidate.split()), set(reference.split())
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 0.0


class Asked:
    """A function that remembers which pairs it was asked for, one by one or in lists."""

    def __init__(self, function: Callable[[str, str], float] = overlap) -> None:
        self.function = function
        self.pairs: list[tuple[str, str]] = []
        self.lists: list[int] = []

    def one(self, candidate: str, reference: str) -> float:
        self.pairs.append((candidate, reference))
        return self.function(candidate, reference)

    def many(self, candidates: Sequence[str], references: Sequence[str]) -> list[float]:
        self.lists.append(len(candidates))
        return [self.one(*pair) for pair in zip(candidates, references, strict=True)]

    @property
    def most(self) -> int:
        """How often the pair that was asked for most often was."""
        return max(Counter(self.pairs).values())


@pytest.fixture
def ts() -> TestSet:
    return TestSet.from_lists(
        {
            "a": ["the old cat sat", "a dog", "the end", ""],
            "b": ["the cat sat down", "a dog", "an end", "x"],
        },
        [
            ["the cat sat", "a cat sat"],
            ["the dog", "a dog"],
            ["the end", "one end"],
            ["y", "x"],
        ],
        language_pair="de-en",
    )


def test_a_function_of_lists_scores_as_the_same_function_of_texts(ts: TestSet) -> None:
    asked = Asked()
    found, each = score(ts, [metric(asked.many, name="many"), metric(overlap, name="one")])
    np.testing.assert_array_equal(found.segments, each.segments)
    assert asked.lists == [14]  # one list of all distinct pairs
    assert asked.most == 1


def test_every_side_of_a_function_of_lists_is_a_list() -> None:
    given: list[object] = []

    def mine(
        srcs: list[str], hyps: list[str], refs: list[str], reference_lists: list[list[str]]
    ) -> list[float]:
        given.append((srcs, hyps, refs, reference_lists))
        return [0.0] * len(hyps)

    def lists(
        sources: list[str], candidates: list[str], reference_lists: list[list[str]]
    ) -> object:
        given.append((sources, candidates, reference_lists))
        return np.arange(len(candidates), dtype=np.float32)

    ts = TestSet.from_lists({"a": ["x", "y"]}, [["r"], ["s", "t"]], sources=["u", "v"])
    assert score(ts, metric(lists)).segments.tolist() == [[0.0, 1.0]]
    assert given == [(["u", "v"], ["x", "y"], [["r"], ["s", "t"]])]
    with pytest.raises(gn.errors.UsageError, match="each at most once"):
        metric(mine)


def test_a_function_may_be_said_to_take_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ts = TestSet.from_lists({"a": ["x", "y"]}, ["x", "z"])
    own = metric(lambda c, r: [float(a == b) for a, b in zip(c, r, strict=True)], lists=True)
    assert score(ts, own).segments.tolist() == [[1.0, 0.0]]
    (tmp_path / "listed_mine.py").write_text(
        "def same(a, b):\n    return [float(x == y) for x, y in zip(a, b)]\n"
        "def all_same(candidates, references):\n    return same(candidates, references)\n"
    )
    monkeypatch.chdir(tmp_path)
    try:
        for spec in (
            "python('listed_mine:same', lists=True)",
            "python('listed_mine:all_same')",
        ):
            made = parse(spec, allow_code=True)
            assert made.spec == spec
            assert score(ts, made).segments.tolist() == [[1.0, 0.0]]
        with pytest.raises(SpecError, match="lists cannot be 'yes'"):
            parse("python('listed_mine:same', lists='yes')", allow_code=True)
    finally:
        sys.modules.pop("listed_mine", None)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([1.0], "returned 1 scores for lists of 2 texts"),
        ([1.0, float("nan")], r"returned nan at system 'a', segment 2"),
        (3.0, "failed on lists of 2 texts .*not iterable"),
        (["high", 1.0], "returned 'high' at system 'a', segment 1"),
    ],
)
def test_what_is_not_one_finite_number_for_every_item_is_refused(answer: object, said: str) -> None:
    ts = TestSet.from_lists({"a": ["x", "y"]}, ["x", "z"])
    with pytest.raises(ScoringError, match=said):
        score(ts, metric(lambda candidates, references: answer, name="wrong"))  # noqa: ARG005


def test_lists_are_cut_so_that_memory_is_bounded(
    ts: TestSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(functions_module, "_AT_ONCE", 5)
    asked = Asked()
    found = score(ts, metric(asked.many, name="many"))
    assert asked.lists == [5, 5, 4]
    np.testing.assert_array_equal(found.segments, score(ts, overlap).segments)


@pytest.mark.parametrize("kind", ["one", "many"])
def test_bmx_asks_for_each_distinct_pair_once(ts: TestSet, kind: str) -> None:
    asked = Asked()
    own = metric(getattr(asked, kind), name="mine")
    found = gn.score(ts, bmx.Bmx(own, explainer="erasure", p=(1, 1), w=(0.5, 0.5)))
    plain = gn.score(ts, bmx.Bmx(metric(overlap), explainer="erasure", p=(1, 1), w=(0.5, 0.5)))
    np.testing.assert_array_equal(found.segments, plain.segments)
    assert asked.most == 1
    if kind == "many":
        assert len(asked.lists) < 6


def test_muler_asks_for_each_distinct_pair_once(ts: TestSet) -> None:
    asked = Asked()
    options = {"features": ["re:noun"], "pattern": {"noun": "cat|dog|end"}, "resamples": 0}
    found = gn.muler(ts, metric(asked.many, name="mine"), **options)
    plain = gn.muler(ts, metric(overlap, name="mine"), **options)
    assert [row["muler"] for row in found.rows] == [row["muler"] for row in plain.rows]
    assert asked.most == 1


def test_muler_of_bmx_asks_for_each_distinct_pair_once(ts: TestSet) -> None:
    asked = Asked()
    boosted = bmx.Bmx(metric(asked.many, name="mine"), explainer="erasure", p=1, w=1)
    gn.muler(ts, boosted, features=["re:noun"], pattern={"noun": "cat|dog|end"}, resamples=0)
    assert asked.most == 1
    assert len(asked.lists) < 12  # lists, not pairs


def test_many_pairs_are_announced_once_and_before_they_are_asked_for(
    ts: TestSet, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(functions_module, "COSTLY", 20)
    monkeypatch.setattr("gnomon.bmx.engine.COSTLY", 20)
    asked = Asked()
    with caplog.at_level(logging.WARNING):
        bmx.explanations(ts, metric(asked.many, name="mine"), "lime")
    (said,) = [record.getMessage() for record in caplog.records]
    assert re.fullmatch(r"'mine' will be given up to [\d,]+ pairs in lists", said)
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        score(ts, metric(Asked().one, name="mine"))
    assert not caplog.records  # few pairs


def test_scores_beyond_what_is_remembered_are_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(functions_module, "_REMEMBERED", 1)
    asked = Asked()
    ts = TestSet.from_lists({"a": ["x", "y"]}, ["x", "z"])
    bound = metric(asked.one, name="mine").bind(ts)
    for _ in range(2):
        batch = ts.batch().select(segments=[0, 1])
        assert bound.segments(batch).tolist() == [[1.0, 0.0]]
    assert bound.asked == len(asked.pairs)
