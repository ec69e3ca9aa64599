"""Systems in pairs: counts, tests, references and choices, by a metric that can be added up."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest

import gnomon as gn
from gnomon.core.errors import DataError, UsageError
from gnomon.core.signature import Signature
from gnomon.metrics.means import MeanOfSegments
from gnomon.stats.significance import binomial_p, wilson_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.core.batch import Batch


@dataclass(frozen=True)
class Longer:
    """Prefers longer texts, and whichever comes first by half a character."""

    name: ClassVar[str] = "longer"
    spec: ClassVar[str] = "longer"
    needs: ClassVar[frozenset[str]] = frozenset()
    higher_is_better: ClassVar[bool] = True
    lean: float = 0.5

    def bind(self, _: gn.TestSet) -> BoundLonger:
        return BoundLonger(self)


@dataclass(frozen=True, eq=False)
class BoundLonger(MeanOfSegments):
    metric: Longer

    @property
    def signature(self) -> Signature:
        return Signature("longer")

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        return np.array([len(text) for text in batch.texts], dtype=float)[batch.candidates]

    def pair_scores(self, batch: Batch, *, half: bool = False) -> NDArray[np.float64]:
        own = self.segments(batch)
        found = own[:, None] - own[None, :]
        found += self.metric.lean * (1 - np.eye(len(own)))[:, :, None]
        if half:
            upper = np.triu(np.ones(found.shape[:2]), 1)[:, :, None] * found
            found = upper - upper.transpose(1, 0, 2)
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


def test_wins_ties_and_losses_are_counted_and_tested(testset: gn.TestSet) -> None:
    found = gn.pairwise(testset, Longer(), correction="none")
    rows = {(row["system"], row["other"]): row for row in found.rows}
    assert list(rows) == [("a", "b"), ("a", "c"), ("b", "c")]
    first = rows["a", "b"]
    assert (first["wins"], first["ties"], first["losses"]) == (5, 5, 30)
    assert first["score"] == pytest.approx((5 - 30) / 40)  # which comes first cancels out
    assert first["p"] == first["p_adjusted"] == binomial_p(5, 35)
    share = wilson_interval(5, 35)
    assert (first["share"], first["share_low"], first["share_high"]) == share
    assert first["verdict"] == "worse"
    assert first["low"] < first["score"] < first["high"] < 0


def test_p_is_corrected_for_the_number_of_pairs(testset: gn.TestSet) -> None:
    raw = gn.pairwise(testset, Longer(), correction="none").to_dict()["p"]
    assert gn.pairwise(testset, Longer()).to_dict()["p_adjusted"] == (gn.stats.holm(raw).tolist())
    found = gn.pairwise(testset, Longer(), correction="benjamini-hochberg")
    assert found.to_dict()["p_adjusted"] == gn.stats.benjamini_hochberg(raw).tolist()


def test_one_order_keeps_what_the_metric_thinks_of_the_first(testset: gn.TestSet) -> None:
    found = gn.pairwise(testset, Longer(), pairs="half")
    first = found.rows[0]
    assert first["score"] == pytest.approx((5 - 30) / 40 + 0.5)
    assert first["ties"] == 0  # equal outputs are read in one order, and lean to the first
    assert (first["wins"], first["losses"]) == (10, 30)


def test_small_differences_count_as_ties_where_that_is_asked_for(testset: gn.TestSet) -> None:
    first = gn.pairwise(testset, Longer(), tie=1.0).rows[0]
    assert (first["wins"], first["ties"], first["losses"]) == (0, 40, 0)
    assert first["p"] is None
    assert first["verdict"] is None


def test_systems_stand_against_all_others(testset: gn.TestSet) -> None:
    rows = {row["system"]: row for row in gn.pairwise(testset, Longer()).table("systems").rows}
    assert [rows[name]["better"] for name in "abc"] == [1, 2, 0]
    assert [rows[name]["worse"] for name in "abc"] == [1, 0, 2]
    assert sum(row["score"] for row in rows.values()) == pytest.approx(0)
    assert [rows[name]["chosen"] for name in "abc"] == [10, 30, 0]  # a is the first of those alike
    assert rows["b"]["share"] == 0.75


def test_references_stand_beside_the_systems(testset: gn.TestSet) -> None:
    rows = gn.pairwise(testset, Longer()).table("references").rows
    assert [(row["system"], row["other"]) for row in rows] == [("a", "A"), ("b", "A"), ("c", "A")]
    assert [row["losses"] for row in rows] == [40, 10, 40]
    assert [row["verdict"] for row in rows] == ["worse", "worse", "worse"]


def test_segments_without_a_reference_are_left_out() -> None:
    outputs = {"a": ["aa", "aaa"], "b": ["b", "b"]}
    testset = gn.TestSet.from_lists(outputs, [["x"], []])
    rows = gn.pairwise(testset, Longer()).table("references").rows
    assert [row["segments"] for row in rows] == [1, 1]


def test_the_output_is_chosen_that_all_others_speak_for(
    testset: gn.TestSet, tmp_path: Path
) -> None:
    found = gn.pairwise(testset, Longer(), best=tmp_path / "best.txt")
    rows = found.table("choices").rows
    assert [row["system"] for row in rows] == ["b"] * 30 + ["a"] * 10
    assert [row["alike"] for row in rows] == [0] * 35 + [1] * 5
    assert rows[0]["utility"] == pytest.approx((1 + 5 + 2 * 0.5) / 2)
    assert rows[0]["margin"] == pytest.approx((6 - 3) / 2)
    assert rows[-1]["margin"] == pytest.approx((0 + 4 - (-8)) / 2)
    lines = (tmp_path / "best.txt").read_text().split("\n")
    assert lines[0] == "w00xx"
    assert lines[39:] == ["w39y", ""]


def test_what_is_found_is_said(testset: gn.TestSet) -> None:
    several = [one.text for one in gn.pairwise(testset, Longer()).verdict]
    assert several[0].startswith("b is the best of 3 systems by longer: ")
    two = gn.pairwise(testset.select(systems=["a", "b"]), Longer()).verdict[0]
    assert two.level == "better"  # what the sentence names first
    assert two.text.startswith("longer prefers b to a in 30 segments, and the reverse in 5")


def test_a_metric_of_single_outputs_is_refused(testset: gn.TestSet) -> None:
    with pytest.raises(UsageError, match="gnomon compare holds systems against each other"):
        gn.pairwise(testset, "chrf")
    with pytest.raises(DataError, match="two systems or more"):
        gn.pairwise(testset.select(systems=["a"]), Longer())
