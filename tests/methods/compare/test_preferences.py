"""Systems under a metric that reads two outputs at once, and can be added up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest

import gnomon as gn
from gnomon.core.signature import Signature
from gnomon.metrics.base import Metric, OfOptions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.core.batch import Batch

BARE = {"examples": 0, "ngrams": 0}


@dataclass(frozen=True)
class Longer(Metric):
    """Prefers longer texts, and whichever comes first by half a character."""

    name: ClassVar[str] = "longer"
    spec: ClassVar[str] = "longer"
    needs: ClassVar[frozenset[str]] = frozenset()
    can: ClassVar[frozenset[str]] = frozenset(("statistics", "prefer"))
    lean: float = 0.5

    def bind(self, _: gn.TestSet) -> BoundLonger:
        return BoundLonger(self)


@dataclass(frozen=True, eq=False)
class BoundLonger(OfOptions):
    metric: Longer

    @property
    def signature(self) -> Signature:
        return Signature("longer")

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        return np.array([len(text) for text in batch.texts], dtype=float)[batch.candidates]

    def pair_scores(self, batch: Batch) -> NDArray[np.float64]:
        own = self.segments(batch)
        found = own[:, None] - own[None, :]
        found += self.metric.lean * (1 - np.eye(len(own)))[:, :, None]
        return found


@pytest.fixture
def testset() -> gn.TestSet:
    """Of 40 segments: b is longer in 30, shorter in 5, and says the same in 5; c says nothing."""
    words = [f"w{n:02}" for n in range(40)]
    ends = ["xx"] * 30 + [""] * 5 + ["y"] * 5
    return gn.TestSet.from_lists(
        {
            "a": [word + "y" for word in words],
            "b": [word + end for word, end in zip(words, ends, strict=True)],
            "c": [""] * 40,
        },
        [word + "yy" for word in words],
        name="lengths",
    )


def test_systems_are_compared_by_the_mean_preference(testset: gn.TestSet) -> None:
    found = gn.compare(testset, Longer(), baseline="a", **BARE)
    rows = {row["system"]: row for row in found.rows}
    first = rows["b"]
    assert (first["wins"], first["ties"], first["losses"]) == (30, 5, 5)
    assert first["difference"] == pytest.approx((30 - 5) / 40)  # which comes first cancels out
    assert 0 < first["low"] < first["difference"] < first["high"] < 1
    assert first["p"] <= 2 / 1001
    assert (first["verdict"], rows["c"]["verdict"]) == ("better", "worse")
    # the score is the mean preference over all others
    own = {name: np.array([len(text) for text in testset.systems[name]]) for name in "abc"}
    mean = np.mean((own["b"] - own["a"] + own["b"] - own["c"]) / 2)
    assert first["score"] == pytest.approx(mean)
    assert sum(row["score"] for row in found.rows) == pytest.approx(0)


def test_exchanging_the_systems_turns_a_preference_round(testset: gn.TestSet) -> None:
    there = gn.compare(testset, Longer(), baseline="a", **BARE).rows[1]
    back = next(
        row
        for row in gn.compare(testset, Longer(), baseline="b", **BARE).rows
        if row["system"] == "a"
    )
    for one, other in (("difference", "difference"), ("low", "high"), ("high", "low")):
        assert there[one] == -back[other]
    assert there["p"] == back["p"]
    assert (there["wins"], there["losses"]) == (back["losses"], back["wins"])


def test_the_system_that_is_preferred_to_all_others_is_the_best(testset: gn.TestSet) -> None:
    found = gn.compare(testset, Longer(), **BARE)
    assert {row["baseline"] for row in found.rows} == {"b"}
    assert any("b is the best of 3 systems under longer" in str(one) for one in found.verdict)


def test_other_tests_and_slices_take_preferences_too(testset: gn.TestSet) -> None:
    two = testset.select(systems=["a", "b"])
    row = gn.compare(two, Longer(), test="ar", resamples=999, **BARE).rows[1]
    assert row["p"] == 1 / 1000
    sliced = gn.compare(two, Longer(), by="length", **BARE).rows
    assert sum(row["wins"] for row in sliced if row["slice"] and row["wins"]) == 30
    undrawn = gn.compare(two, Longer(), resamples=0, **BARE).rows[1]
    assert (undrawn["difference"], undrawn["p"], undrawn["low"]) == (0.625, None, None)
