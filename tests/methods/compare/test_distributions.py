"""How segment scores differ, and scores by length of segments and by frequency of words."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import gnomon
from gnomon.comparison.distributions import ROWS
from gnomon.core.scores import Scores
from gnomon.core.signature import Signature
from gnomon.core.testset import TestSet

FEW = {"resamples": 0, "examples": 0}
_ENGLISH = ("the cat sat on the mat", "the cat slept on the mat")
_CHINESE = ("\u732b\u5750\u5728\u57ab\u5b50\u4e0a", "\u732b\u7761\u5728\u57ab\u5b50\u4e0a")
_HINDI = (
    "\u092c\u093f\u0932\u094d\u0932\u0940 \u092c\u0948\u0920\u0940 \u0925\u0940",
    "\u092c\u093f\u0932\u094d\u0932\u0940 \u0938\u094b\u0908 \u0925\u0940",
)


def test_bins_hold_every_segment_once_and_0_in_the_middle() -> None:
    rng = np.random.default_rng(5)
    ts = TestSet.from_lists({"old": ["a"] * 300, "new": ["b"] * 300}, ["a"] * 300)
    scores = rng.normal(size=(2, 300))
    scores[1, :40] = scores[0, :40]
    scores[0, 7] = np.nan
    own = np.nanmean(scores, axis=1)
    metric = Scores("m", ("old", "new"), own, scores, False, Signature("m"))
    found = gnomon.compare(ts, [metric], **FEW)
    rows = found.table("histogram").rows
    gains = (scores[0] - scores[1])[~np.isnan(scores[0])]
    assert sum(row["segments"] for row in rows) == 299
    for row in rows:
        inside = (gains >= row["low"]) & (gains < row["high"])
        assert row["segments"] == inside.sum()
    middle = next(row for row in rows if row["low"] < 0 < row["high"])
    assert middle["low"] == -middle["high"]
    assert 10 <= len(rows) <= 21


@pytest.mark.parametrize("metric", ["bleu", "ter", "rougeL"])
def test_scores_by_length_are_those_of_these_segments_alone(metric) -> None:
    ts = TestSet.read(gnomon.example.path(), systems=["apertium-direct", "apertium-french"])
    rows = gnomon.compare(ts, metric, **FEW).table("lengths").rows
    by = gnomon.compare(ts, metric, by="length", **FEW).rows
    sliced = {(row["slice"], row["system"]): (row["score"], row["segments"]) for row in by}
    assert len(rows) == 8
    for row in rows:
        score, segments = sliced[row["length"], row["system"]]
        assert row["score"] == pytest.approx(score, abs=1e-9)
        assert row["segments"] == segments


@pytest.mark.parametrize(
    ("texts", "split"), [(_ENGLISH, str.split), (_CHINESE, list), (_HINDI, str.split)]
)
def test_f1_of_words_is_that_of_counting_them(texts, split) -> None:
    references, outputs = [texts[0], texts[1], texts[0]], [texts[1], texts[1], texts[0]]
    ts = TestSet.from_lists({"same": references, "other": outputs}, references)
    rows = gnomon.compare(ts, "chrf", ngrams=1, **FEW).table("words").rows
    assert {row["f1"] for row in rows if row["system"] == "same"} == {1.0}
    counts = Counter(word for text in references for word in split(text))
    for row in rows:
        low, _, high = str(row["frequency"]).partition("-")
        words = {w for w, n in counts.items() if int(low) <= n <= int(high or low)}
        sides = references if row["system"] == "same" else outputs
        held, used, found = Counter[str](), Counter[str](), 0
        for reference, output in zip(references, sides, strict=True):
            one, two = (Counter(w for w in split(t) if w in words) for t in (reference, output))
            held, used, found = held + one, used + two, found + (one & two).total()
        assert row["words"] == held.total()
        assert row["f1"] == pytest.approx(2 * found / (held.total() + used.total()))


def test_every_bin_of_two_systems_has_its_segments_with_the_largest_influence() -> None:
    ts = TestSet.read(gnomon.example.path(), systems=["apertium-direct", "apertium-french"])
    found = gnomon.compare(ts, "chrf", resamples=0, examples=2)
    scores = gnomon.score(ts, "chrf").segments
    gains = scores[1] - scores[0]
    for row in found.table("histogram").rows:
        shown = [one for one in found.exhibits if one.kind == row["bin"]]
        assert len(shown) == min(2, int(row["segments"]))
        for one in shown:
            assert row["low"] <= gains[one.segment - 1] < row["high"]


def test_what_there_is_no_room_for_is_absent() -> None:
    ts = TestSet.from_lists({"old": ["a b"], "new": ["a b"]}, ["a b"])
    found = gnomon.compare(ts, "chrf", ngrams=0, **FEW)
    assert not {"histogram", "words"} & {table.name for table in found.tables}
    assert [view.table for view in found.views if view.table in ROWS] == ["lengths"]
