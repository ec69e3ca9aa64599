"""Pairs to read, pictures, and the words of references."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.findings import Bars, Finding
from gnomon.core.minimal_pairs import Pair
from gnomon.metrics.base import BoundMetric
from gnomon.stress.detection import Detection, stress_pairs
from gnomon.stress.examples import StressExampleRow, differing_words
from gnomon.stress.figures import StressRow

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.core.batch import Batch

TEXTS = [
    (f"the cat {verb} on the {noun} near house {n}", f"a cat {verb} upon the {noun} by house {n}")
    for n, (verb, noun) in enumerate(
        (verb, noun) for verb in ("sat", "lay", "stood", "slept") for noun in ("mat", "bed", "roof")
    )
]


def pairs(phenomenon: str = "deleted nouns", **more: str) -> list[Pair]:
    return [
        Pair(good=good, bad=good.replace(" cat", ""), phenomenon=phenomenon, references=(ref,),
             **more)  # type: ignore[arg-type]  # texts
        for good, ref in TEXTS
    ]  # fmt: skip


def rows_of(finding: Finding) -> dict[str, StressRow]:
    return {row.metric: row for row in finding.records(StressRow)}


def test_marks_are_on_the_words_that_differ() -> None:
    good, bad = "The  two red cats sat.", "The  two dogs sat on it."
    marks = differing_words(good, bad)
    assert [good[mark.start : mark.end] for mark in marks[0]] == ["red cats sat."]
    assert [bad[mark.start : mark.end] for mark in marks[1]] == ["dogs sat on it."]
    good, bad = "a b c", "a x c d"
    assert [[(m.start, m.end) for m in side] for side in differing_words(good, bad)] == [
        [(2, 3)],
        [(2, 3), (6, 7)],
    ]


def test_pairs_on_which_metrics_are_wrong_are_shown_first_and_then_others() -> None:
    given = [replace(pair, source="Quelle", document="d") for pair in pairs()]
    houses = {pair.good: n for n, pair in enumerate(given)}

    def by_house(candidate: str, _reference: str) -> float:
        """Right but for the fifth and the eighth pair."""
        return -1.0 if houses.get(candidate) in (4, 7) else float(candidate in houses)

    def constant(_candidate: str, _reference: str) -> float:
        return 1.0

    finding = stress_pairs(given, by_house, how=Detection(examples=3))
    rows = finding.records(StressExampleRow)
    assert len(rows) == 3
    assert sorted(houses[row.good] for row in rows if row.wrong == "by_house") == [4, 7]
    assert [row.wrong for row in rows].count("") == 1
    both = stress_pairs(given, [by_house, constant], how=Detection(examples=2))
    wrong = {e.segment: e.systems for e in both.exhibits}
    assert {5, 8} <= wrong.keys()
    assert wrong[5] == ("by_house", "constant")
    assert sum("constant" in names for names in wrong.values()) >= 2
    source, reference, good, bad = both.exhibits[0].texts
    assert (source.role, reference.role, good.name) == ("source", "reference", "better")
    assert [good.text[mark.start : mark.end] for mark in good.highlights] == ["cat"]
    assert bad.highlights == ()
    assert dict(bad.values)["constant"] == 1.0
    assert "examples" not in {
        table.name for table in stress_pairs(given, "bleu", how=Detection(examples=0)).tables
    }


def test_harmless_changes_that_lower_the_score_are_wrong() -> None:
    given = [replace(pair, kind="harmless") for pair in pairs()]

    def length(candidate: str, _reference: str) -> float:
        return float(len(candidate))

    finding = stress_pairs(given, length, how=Detection(examples=2))
    assert [row.wrong for row in finding.records(StressExampleRow)] == ["length", "length"]
    row = rows_of(finding)["length"]
    assert (row.detected, row.lowered, row.status) == (None, 1, "")


def test_a_picture_of_each_metric_has_hollow_dots() -> None:
    other = [replace(pair, references=("nothing alike",)) for pair in pairs() * 2]
    alike = [replace(pair, references=(pair.good,)) for pair in pairs() * 2]
    finding = stress_pairs([*other, *alike], ["chrf", "bleu"])
    row = finding.records(StressRow)[0]
    assert (row.metric, row.phenomenon) == ("chrf", "deleted nouns")
    assert row.detected_unworded is not None
    bars = [n for n, view in enumerate(finding.views) if isinstance(view, Bars)]
    assert len(bars) == 2
    values = finding.chart(bars[0])["data"]["values"]
    assert row.detected_unworded in [value["hollow"] for value in values]


def test_the_words_of_a_reference_say_nothing_of_metrics_that_read_none() -> None:
    class Lengths(BoundMetric):
        """The length of a text."""

        name = spec = "lengths"
        needs = frozenset[str]()

        def segments(self, batch: Batch) -> NDArray[np.float64]:
            sizes = np.array([len(text) for text in batch.texts], dtype=np.float64)
            return sizes[batch.candidates]

        def system(self, batch: Batch) -> NDArray[np.float64]:
            return self.segments(batch).sum(axis=1)

    alike = [replace(pair, references=(pair.good,)) for pair in pairs() * 2]
    rows = rows_of(stress_pairs(alike, ["chrf", Lengths()]))  # type: ignore[list-item]  # a metric
    assert (rows["chrf"].detected_worded, rows["chrf"].worded_pairs) == (1, 24)
    assert (rows["lengths"].detected_worded, rows["lengths"].worded_pairs) == (None, 0)
