"""The segments with the largest influence, and their texts."""

from __future__ import annotations

import numpy as np
import pytest

import gnomon
from gnomon import example
from gnomon.comparison.paired_tests import PairedScores, influence
from gnomon.core.testset import TestSet
from gnomon.metrics import score

FEW = {"resamples": 50, "ngrams": 0}


@pytest.fixture(scope="module")
def ts() -> TestSet:
    names = ["apertium-catalan", "apertium-direct", "apertium-french"]
    return TestSet.read(example.path(), systems=names)


@pytest.mark.parametrize("metric", ["bleu", "rougeL"])
def test_influence_is_what_leaving_a_segment_out_changes(ts, metric) -> None:
    scores = score(ts, metric)
    added = influence(PairedScores.select(scores, list(ts.systems)))
    differences = scores.system - scores.system[0]
    for segment in (0, 17, 208):
        kept = [i for i in range(ts.segments) if i != segment]
        part = TestSet(
            "part",
            {name: [texts[i] for i in kept] for name, texts in ts.references.items()},
            {name: [texts[i] for i in kept] for name, texts in ts.systems.items()},
            language_pair=ts.language_pair,
        )
        without = score(part, metric).system
        assert added[:, segment] == pytest.approx(differences - (without - without[0]), abs=1e-9)


def test_the_largest_influences_both_ways_are_listed_largest_first(ts) -> None:
    first = next(iter(ts.systems))
    found = gnomon.compare(ts, ["bleu", "ter"], baseline=first, examples=4, **FEW)
    scores = {metric: score(ts, metric) for metric in ("bleu", "ter")}
    for metric, sign in (("bleu", 1), ("ter", -1)):
        gains = sign * (scores[metric].segments - scores[metric].segments[0])
        added = sign * influence(PairedScores.select(scores[metric], list(ts.systems)))
        for k, name in list(enumerate(ts.systems))[1:]:
            rows = [
                row
                for row in found.table("segments").rows
                if (row["metric"], row["system"]) == (metric, name)
            ]
            assert [row["rank"] for row in rows] == [1, 2, 3, 4] * 2
            assert [row["side"] for row in rows] == [name] * 4 + ["apertium-catalan"] * 4
            listed = [sign * row["influence"] for row in rows]
            better, worse = added[k][gains[k] > 0], added[k][gains[k] < 0]
            assert listed == pytest.approx([*np.sort(-better)[:4] * -1, *np.sort(worse)[:4]])
            for row in rows:
                assert row["difference"] == pytest.approx(row["score"] - row["baseline_score"])


def test_exhibits_show_source_reference_and_both_outputs_with_what_only_one_gets_right() -> None:
    ts = TestSet(
        "x",
        {"A": ["the red cat sat", "a dog"], "B": ["the crimson cat", None]},
        {"old": ["the red dog sat", "a dog"], "new": ["the crimson cat sat", "a cat"]},
        sources=["quelle", "zwei"],
        documents=["d1", "d2"],
    )
    found = gnomon.compare(ts, ["chrf"], examples=3, **FEW)
    first = next(exhibit for exhibit in found.exhibits if exhibit.segment == 1)
    roles = [(text.role, text.name) for text in first.texts]
    assert roles == [
        ("source", ""),
        ("reference", "A"),
        ("reference", "B"),
        ("candidate", "new"),
        ("candidate", "old"),
    ]
    assert (first.kind, first.systems, first.document) == ("better than old", ("new",), "d1")
    new, old = first.texts[3:]
    assert [new.text[mark.start : mark.end] for mark in new.highlights] == ["crimson", "cat"]
    assert [old.text[mark.start : mark.end] for mark in old.highlights] == ["red"]
    assert new.values["chrf"] > old.values["chrf"]
    second = next(exhibit for exhibit in found.exhibits if exhibit.segment == 2)
    assert second.kind == "worse than old"


_HINDI = (
    "\u092c\u093f\u0932\u094d\u0932\u0940 \u091a\u091f\u093e\u0908 \u092a\u0930"
    " \u092c\u0948\u0920\u0940 \u0925\u0940"
)


@pytest.mark.parametrize(
    ("long", "short"),
    [
        ("the cat sat on the mat", "yes"),
        ("\u732b\u5750\u5728\u57ab\u5b50\u4e0a", "\u662f\u7684"),
        (_HINDI, "\u0939\u093e\u0901"),
    ],
)
def test_segments_of_few_words_and_doubles_stand_behind_all_others(long, short) -> None:
    said = ["x", "x", long[1:]]
    ts = TestSet.from_lists({"old": [said[0], *said], "new": [short, long, long, long]},
                            [short, long, long, long])  # fmt: skip
    found = gnomon.compare(ts, "chrf", examples=4, **FEW)
    rows = found.table("segments").rows
    assert [row["segment"] for row in rows] == [2, 4, 3, 1]


def test_segments_in_which_nothing_differs_are_not_listed() -> None:
    ts = TestSet.from_lists({"old": ["a b", "c"], "new": ["a b", "d"]}, ["a b", "c"])
    found = gnomon.compare(ts, "chrf", examples=5, **FEW)
    assert [row["segment"] for row in found.table("segments").rows] == [2]
    same = TestSet.from_lists({"old": ["a b", "c"], "new": ["a b", "c"]}, ["a b", "c"])
    nothing = gnomon.compare(same, "chrf", **FEW)
    assert [table.name for table in nothing.tables] == ["systems", "lengths"]
    assert not nothing.exhibits
