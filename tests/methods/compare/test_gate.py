"""The gate: an error where a system is worse than the baseline."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import gnomon
from gnomon.core.errors import (
    DataError,
    GateError,
    UndecidedGateError,
    UnknownNameError,
    UsageError,
)
from gnomon.core.scores import Scores
from gnomon.core.signature import Signature
from gnomon.core.testset import TestSet
from gnomon.metaeval import fail_if_worse


def _finding(gains, *, higher: bool = True, **options):
    """Systems that gain these means over the baseline, with a little noise."""
    rng = np.random.default_rng(0)
    n = 60
    base = rng.normal(50, 5, n)
    sign = 1 if higher else -1
    rows = [base, *(base + sign * gain + rng.normal(0, 1, n) for gain in gains)]
    names = ["main", *(f"branch{k}" for k in range(1, len(rows)))]
    ts = TestSet.from_lists({name: ["x"] * n for name in names}, ["x"] * n)
    segments = np.array(rows)
    scores = Scores("m", tuple(names), segments.mean(axis=1), segments, higher, Signature("m"))
    fixed = {"baseline": "main", "examples": 0, "ngrams": 0}
    return gnomon.compare(ts, [scores], **{**fixed, **options})


@pytest.mark.parametrize("higher", [True, False])
def test_a_significant_drop_fails_and_the_message_says_who_how_much_and_p(higher) -> None:
    found = _finding([-2.0], higher=higher)
    row = found.rows[1]
    with pytest.raises(GateError) as caught:
        fail_if_worse(found, ["m"])
    said = str(caught.value)
    assert "branch1 is worse than main under m" in said
    (size, low, high) = map(float, re.findall(r"by ([\d.]+) \[([\d.]+), ([\d.]+)\]", said)[0])
    ends = sorted(abs(row[name]) for name in ("difference", "low", "high"))
    assert [low, size, high] == pytest.approx(ends, abs=0.06)
    assert "(p <= .002)" in said  # 2 / 1001, the least that 1,000 resamples can show
    assert caught.value.exit_code == 3


def test_gains_and_drops_too_small_or_undecided_pass() -> None:
    fail_if_worse(_finding([2.0, 0.0]), ["m"])
    fail_if_worse(_finding([-0.05]), ["m"])
    found = _finding([-2.0])
    drop = -found.rows[1]["difference"]
    fail_if_worse(found, ["m"], min_drop=drop + 1e-6)
    with pytest.raises(GateError):
        fail_if_worse(found, ["m"], min_drop=drop - 1e-6)


@pytest.mark.parametrize("test", ["bootstrap", "ar"])
def test_a_strict_gate_passes_only_where_a_drop_is_ruled_out(test) -> None:
    clear = _finding([2.0], test=test)
    fail_if_worse(clear, ["m"], strict=True)
    equal = _finding([0.0], test=test)
    with pytest.raises(UndecidedGateError, match=r"branch1 is worse .* not decided: its gain is"):
        fail_if_worse(equal, ["m"], strict=True)
    small = _finding([-2.0, -0.05], test=test)
    with pytest.raises(GateError, match="branch1") as caught:
        fail_if_worse(small, ["m"], strict=True)
    assert caught.value.exit_code == 3
    if test == "bootstrap":
        fail_if_worse(equal, ["m"], min_drop=1.0, strict=True)
        with pytest.raises(UndecidedGateError, match="by 2 or more is not decided") as undecided:
            fail_if_worse(_finding([-1.99]), ["m"], min_drop=2.0, strict=True)
        assert undecided.value.exit_code == 4


def test_equal_outputs_pass_a_strict_gate() -> None:
    ts = TestSet.from_lists({"a": ["x y"] * 20, "b": ["x y"] * 20}, ["x y z"] * 20)
    found = gnomon.compare(ts, "chrf", fail_if_worse=["chrf"], resamples=50)
    assert [case.outcome for case in found.gate] == ["passed"]


def test_only_systems_that_are_worse_are_named_with_p() -> None:
    with pytest.raises(GateError, match=r"\(p <= ") as caught:
        fail_if_worse(_finding([2.0, -2.0, -3.0]), ["m"])
    assert "branch1" not in str(caught.value)
    assert str(caught.value).count("is worse than main") == 2


def test_a_baseline_that_was_chosen_by_its_score_makes_no_gate() -> None:
    with pytest.raises(UsageError, match="name the baseline"):
        fail_if_worse(_finding([2.0, -2.0], baseline=None), ["m"])
    failed = _finding([2.0, -2.0], baseline=None, fail_if_worse=["m"])
    assert failed.failure.startswith("branch2 is worse than main")


def test_an_undefined_difference_is_an_error_of_the_data_not_a_pass() -> None:
    ts = TestSet.from_lists({"a": ["x", "y"], "b": ["x", "z"]}, ["x", "y"])
    segments = np.array([[1.0, 1.0], [math.nan, 0.0]])
    system = np.array([1.0, 0.0])
    scores = Scores(
        "m", ("a", "b"), system, segments, higher_is_better=True, signature=Signature("m")
    )
    found = gnomon.compare(ts, [scores], resamples=50)
    with pytest.raises(DataError, match="scores for 1 segments in common"):
        fail_if_worse(found, ["m"])


def test_what_the_gate_cannot_judge_is_refused() -> None:
    found = _finding([0.0])
    with pytest.raises(UnknownNameError, match="there are: m"):
        fail_if_worse(found, ["bleu"])
    for drop in (-1, math.nan):
        with pytest.raises(UsageError, match="min_drop must be a number"):
            fail_if_worse(found, ["m"], min_drop=drop)
