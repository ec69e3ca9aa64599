# ruff: noqa: ARG005  # what parameters are called is what is tested here
from __future__ import annotations

import functools
import inspect
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import DataError, ScoringError, UnknownNameError, UsageError
from gnomon.core.signature import content_hash
from gnomon.core.testset import TestSet
from gnomon.metrics import metric, score

if TYPE_CHECKING:
    from collections.abc import Callable

_texts = st.text(alphabet="ab ", max_size=5)


def shared_letters(candidate: str, reference: str) -> float:
    return float(sum((Counter(candidate) & Counter(reference)).values()))


def _testset(**more: object) -> TestSet:
    return TestSet.from_lists(
        {"a": ["x", "y"], "b": ["x", "z"]},
        [["x"], ["y", "z"]],
        sources=["s", "t"],
        **more,  # type: ignore[arg-type]  # names of from_lists
    )


@pytest.mark.parametrize(
    ("function", "needs", "roles"),
    [
        (lambda candidate, reference: 0, None, ("candidate", "reference")),
        (lambda hypothesis, ref: 0, None, ("candidate", "reference")),
        (lambda references, hyp: 0, None, ("references", "candidate")),
        (lambda src, candidate: 0, None, ("source", "candidate")),
        (lambda candidate, ref, beta=1: 0, None, ("candidate", "reference")),
        (lambda src, hyp, refs: 0, None, ("source", "candidate", "references")),
        (lambda candidate: 0, None, ("candidate",)),
        (lambda c, r: 0, None, ("candidate", "reference")),
        (lambda c, s: 0, ("sources",), ("candidate", "source")),
        (lambda c, s, r: 0, ("sources", "references"), ("candidate", "source", "reference")),
        (lambda c: 0, (), ("candidate",)),
        (lambda *texts: 0, None, ("candidate", "reference")),
        (max, None, ("candidate", "reference")),
    ],
)  # fmt: skip
def test_parameters_names_or_needs_say_what_a_function_is_given(
    function: Callable[..., float], needs: tuple[str, ...] | None, roles: tuple[str, ...]
) -> None:
    assert metric(function, name="mine", needs=needs).roles == roles  # type: ignore[arg-type]  # plain strings


@pytest.mark.parametrize(
    ("function", "needs", "message"),
    [
        (lambda a, b, c: 0, None, "it is not clear what its parameters (a, b, c) are"),
        (lambda reference: 0, None, "must take one candidate"),
        (lambda candidate, reference, references: 0, None, "each at most once"),
        (lambda candidate, reference: 0, ("sources",), "contradicts its parameters"),
        (lambda candidate, reference: 0, "sources", "must be a list"),
    ],
)
def test_unclear_functions_are_refused(
    function: Callable[..., float], needs: object, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        metric(function, name="mine", needs=needs)  # type: ignore[arg-type]  # wrong on purpose
    assert message in str(caught.value)


def test_an_unknown_need_is_answered_with_the_needs_that_exist() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'references'"):
        metric(lambda c, r: 0.0, needs=("reference",))  # type: ignore[arg-type]  # wrong on purpose


def test_every_side_reaches_the_function() -> None:
    seen = []

    def note(source: str, candidate: str, references: list[str]) -> float:
        seen.append((source, candidate, references))
        return 0.0

    score(_testset(), note)
    assert seen == [("s", "x", ["x"]), ("t", "y", ["y", "z"]), ("t", "z", ["y", "z"])]


@pytest.mark.parametrize("higher", [True, False])
def test_the_best_reference_counts(higher: bool) -> None:
    ts = TestSet.from_lists({"a": ["aab"]}, [["aa", "aabb", ""]])
    own = metric(shared_letters, higher_is_better=higher)
    assert score(ts, own).segments.tolist() == [[3.0 if higher else 0.0]]


def test_the_system_score_is_the_mean_and_missing_references_are_missing() -> None:
    ts = TestSet("t", {"A": ["x", None, "y"]}, {"a": ["x", "x", "z"]})
    scores = score(ts, lambda candidate, reference: candidate == reference)
    np.testing.assert_array_equal(scores.segments, [[1.0, np.nan, 0.0]])
    assert scores.system.tolist() == [0.5]
    empty = TestSet("t", {"A": [None]}, {"a": ["x"]})
    assert np.isnan(score(empty, shared_letters).system).all()


@given(st.lists(st.tuples(_texts, _texts, _texts), min_size=1, max_size=6))
def test_equal_texts_are_scored_once(rows: list[tuple[str, str, str]]) -> None:
    calls: Counter[tuple[str, str]] = Counter()

    def count(candidate: str, reference: str) -> float:
        calls[candidate, reference] += 1
        return shared_letters(candidate, reference)

    systems = {"a": [row[0] for row in rows], "b": [row[1] for row in rows]}
    scores = score(TestSet.from_lists(systems, [row[2] for row in rows]), count)
    assert set(calls.values()) == {1}
    assert set(calls) == {(c, r[2]) for r in rows for c in r[:2]}
    expected = [[shared_letters(r[k], r[2]) for r in rows] for k in range(2)]
    assert scores.segments.tolist() == expected


@pytest.mark.parametrize("value", [None, "1", float("nan"), float("inf"), [1.0, 2.0], 1j, object()])
def test_what_is_no_finite_number_names_metric_system_and_segment(value: object) -> None:
    own = metric(lambda candidate, reference: value if candidate == "z" else 0, name="mine")  # type: ignore[arg-type,return-value]  # wrong on purpose
    with pytest.raises(ScoringError, match=r"metric 'mine' returned .* at system 'b', segment 2"):
        score(_testset(), own)


@pytest.mark.parametrize("value", [1, True, np.float32(1), np.int64(1), np.array(1.0)])
def test_numbers_of_any_kind_are_scores(value: float) -> None:
    ts = TestSet.from_lists({"a": ["x"]}, ["x"])
    assert score(ts, lambda candidate, reference: value).system.tolist() == [1.0]


def test_a_function_that_fails_names_metric_system_and_segment() -> None:
    def broken(candidate: str, reference: str) -> float:
        return 1 / (candidate == reference)

    with pytest.raises(
        ScoringError, match="'broken' failed at system 'b', segment 2: ZeroDivisionError"
    ):
        score(TestSet.from_lists({"a": ["x", "y"], "b": ["x", "z"]}, ["x", "y"]), broken)


def test_what_the_test_set_lacks_is_said() -> None:
    no_sources = TestSet.from_lists({"a": ["x"]}, ["x"])
    with pytest.raises(DataError, match="needs sources"):
        score(no_sources, lambda candidate, source: 0.0)
    no_references = TestSet("t", {}, {"a": ["x"]}, sources=["x"])
    with pytest.raises(DataError, match="needs references"):
        score(no_references, shared_letters)
    assert score(no_references, lambda candidate, source: 1.0).system.tolist() == [1.0]


def test_the_signature_tells_the_code() -> None:
    local = metric(lambda candidate, reference: 1.0, name="mine")
    assert local.spec == "mine"
    assert dict(local.fields)["code"] == content_hash(inspect.getsource(local.function))
    assert metric(max, name="largest").fields == ()


class _Weighted:
    def __init__(self, weight: float | None = None) -> None:
        if weight is not None:
            self.weight = weight

    def __call__(self, candidate: str, reference: str) -> float:
        return getattr(self, "weight", 1.0) * (candidate == reference)


class _Slotted:
    __slots__ = ("weight",)

    def __call__(self, candidate: str, reference: str) -> float:
        return float(candidate == reference)


def test_code_that_rests_on_more_than_its_source_has_no_hash() -> None:
    weight, by = 2.0, {"a": 1.0}

    def closed(candidate: str, reference: str) -> float:
        return weight

    def looked_up(candidate: str, reference: str, table: dict[str, float] = by) -> float:
        return table["a"]

    holding = (
        *(closed, looked_up, functools.wraps(looked_up)(closed)),
        *(_Weighted(2.0), _Slotted(), _Weighted().__call__, functools.partial(overlapping, k=2)),
    )
    for function in holding:
        assert metric(function, name="mine").fields == (), function
    assert metric(_Weighted(), name="mine").fields


def overlapping(candidate: str, reference: str, k: int = 1) -> float:
    return float(k)


def test_values_of_defaults_are_part_of_the_code() -> None:
    made = [lambda candidate, reference, k=k: float(k) for k in (1, 2)]
    first, second = (metric(one, name="mine").fields for one in made)
    assert first != second


def test_a_function_that_can_be_imported_has_a_spec_that_finds_it_again() -> None:
    own = metric(content_hash, needs=("sources",), name="odd", higher_is_better=False)
    assert own.spec == (
        "python('gnomon.core.signature:content_hash', name='odd', higher_is_better=False,"
        " needs=['sources'])"
    )
    assert score(_testset(), metric(lambda candidate, reference: 1.0, name="mine")).metric == "mine"
