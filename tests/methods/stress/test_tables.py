"""Sanity inputs, doses, falls of corpus scores, and pairs to read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import gnomon as gn
from gnomon.core.findings import Bars, Finding, Lines
from gnomon.core.pairs import Pair
from gnomon.core.signature import Signature
from gnomon.methods.stress._contrasts import SeenContrastRow
from gnomon.methods.stress._corpus import hidden_errors, neighbour_difference
from gnomon.methods.stress._doses import DoseRow
from gnomon.methods.stress._examples import ExampleRow, differing_words
from gnomon.methods.stress._figures import StressRow
from gnomon.methods.stress._sanity import SanityRow
from gnomon.methods.stress._stress import stress_pairs

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


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter", "rougeL"])
def test_a_fall_is_the_difference_of_two_corpus_scores(metric: str) -> None:
    """As gnomon.score has them of the better and of the worse texts."""
    given = pairs()
    testset = gn.TestSet.from_lists(
        {"good": [pair.good for pair in given], "bad": [pair.bad for pair in given]},
        [ref for _, ref in TEXTS],
    )
    good, bad = gn.score(testset, metric).system
    other = [replace(pair, phenomenon="others", bad=pair.good + " so") for pair in given]
    every = stress_pairs([*given, *other], metric).records(StressRow)
    (row,) = [r for r in every if (r.metric, r.phenomenon) == (metric, "deleted nouns")]
    assert row.fall == pytest.approx(bad - good if metric == "ter" else good - bad)
    assert row.hidden is None


def test_errors_that_hide_in_a_difference_of_systems() -> None:
    systems = {"chrf": [50.0, 51.0, 53.0, 57.0]}
    row = rows_of(stress_pairs(pairs(), "chrf", systems=systems))["chrf"]
    assert row.fall is not None
    assert row.fall > 2
    assert row.hidden == pytest.approx(100 * 2 / row.fall)
    of_three = rows_of(stress_pairs(pairs(), "chrf", systems={"chrf": [50, 60, 70]}))
    assert of_three["chrf"].hidden is None
    assert neighbour_difference([3.0, 1.0, float("nan"), 2.0]) is None
    assert hidden_errors(None, 1.0) is None


def test_pairs_of_two_language_pairs_have_no_corpus_score() -> None:
    given = [
        replace(pair, language_pair="de-en" if n % 2 else "fr-en") for n, pair in enumerate(pairs())
    ]
    assert rows_of(stress_pairs(given, "bleu"))["bleu"].fall is None


def test_a_fall_of_a_function_is_that_of_its_mean() -> None:
    def length(candidate: str, _reference: str) -> float:
        return float(len(candidate))

    row = rows_of(stress_pairs(pairs(), length))["length"]
    assert row.fall == 4  # " cat"


def test_sanity_inputs_by_hand() -> None:
    def words(candidate: str, _reference: str) -> float:
        return float(len(candidate.split()))

    twice = [
        replace(pair, bad=f"{pair.good} {pair.good}", phenomenon="said twice", kind="sanity")
        for pair in pairs()
    ]
    stop = [replace(pair, bad=".", phenomenon="a full stop", kind="sanity") for pair in pairs()]
    finding = stress_pairs([*pairs(), *twice, *stop], words, systems={"words": [7, 12, 20]})
    rows = {row.input: row for row in finding.records(SanityRow) if row.metric == "words"}
    assert list(rows) == ["said twice", "a full stop"]
    said = rows["said twice"]
    assert (said.below, said.score_share, said.corpus, said.output_corpus) == (0, 2, 18, 9)
    assert (said.beaten, said.systems, said.pairs) == (2, 3, 12)
    assert (rows["a full stop"].below, rows["a full stop"].beaten) == (1, 0)
    assert not stress_pairs(pairs(), words).records(SanityRow)


def test_error_rates_beat_systems_by_being_lower() -> None:
    said = [replace(pair, phenomenon="none", kind="sanity") for pair in pairs()]
    row = stress_pairs(said, "ter", systems={"ter": [0.0, 100.0, 200.0]}).records(SanityRow)[0]
    assert row.beaten == 2


def test_doses_by_hand() -> None:
    """Twenty sentences: in five the second error raises the score, in five the first one does."""
    scores: dict[str, float] = {}
    given = []
    for n in range(20):
        texts = [f"s{n}", f"s{n} x", f"s{n} x x", f"s{n} x x x x"]
        falls = [(10, 9, 8, 6), (10, 8, 9, 7), (10, 11, 5, 4), (10, 10, 10, 10)][n % 4]
        scores |= dict(zip(texts, map(float, falls), strict=True))
        given += [
            Pair(good=texts[0], bad=text, phenomenon="x", references=("r",), dose=dose)
            for text, dose in zip(texts[1:], (1, 2, 4), strict=True)
        ]

    def metric(candidate: str, _reference: str) -> float:
        return scores[candidate]

    finding = stress_pairs(given, metric)
    rows = [row for row in finding.records(DoseRow) if row.metric == "metric"]
    assert [(row.dose, row.pairs, row.drop, row.never_rises) for row in rows] == [
        (1, 20, 0.5, 0.75),
        (2, 20, 2.0, 0.5),
        (4, 20, 3.25, 0.5),
    ]
    assert [view.x for view in finding.views if isinstance(view, Lines)] == ["dose"]
    # the main table has the lowest dose of each sentence
    assert rows_of(finding)["metric"].pairs == 20


def test_without_several_doses_there_is_no_table_of_them() -> None:
    names = [table.name for table in stress_pairs(pairs(), "bleu").tables]
    assert names == ["stress", "overall"]


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


def test_unseen_pairs_are_shown_once_for_all_metrics_that_miss_them() -> None:
    given = [replace(pair, source="Quelle", document="d") for pair in pairs()]

    def constant(_candidate: str, _reference: str) -> float:
        return 1.0

    def length(candidate: str, _reference: str) -> float:
        return -float(len(candidate))

    finding = stress_pairs(given, [constant, length], examples=2)
    assert [row.metric for row in finding.records(ExampleRow)] == ["constant"] * 2 + ["length"] * 2
    assert [(e.group, e.segment, e.systems) for e in finding.exhibits] == [
        ("deleted nouns", 1, ("constant", "length")),
        ("deleted nouns", 2, ("constant", "length")),
    ]
    source, reference, good, bad = finding.exhibits[0].texts
    assert (source.role, reference.role, good.name) == ("source", "reference", "without the error")
    assert [good.text[mark.start : mark.end] for mark in good.highlights] == ["cat"]
    assert (bad.highlights, dict(bad.values)) == (
        (),
        {"constant": 1.0, "length": -float(len(bad.text))},
    )
    assert not finding.records(SeenContrastRow)[0].metric_only


def test_a_picture_of_each_metric_has_hollow_dots_and_a_line() -> None:
    pytest.importorskip("matplotlib", reason="an extra")
    other = [replace(pair, references=("nothing alike",)) for pair in pairs() * 2]
    alike = [replace(pair, references=(pair.good,)) for pair in pairs() * 2]
    harmless = [
        replace(pair, bad=f"{pair.good} {word}", phenomenon="fillers", kind="harmless")
        for pair in pairs()
        for word in ("now", "then")
    ]
    finding = stress_pairs([*other, *alike, *harmless], ["chrf", "bleu"])
    row = finding.records(StressRow)[0]
    assert (row.metric, row.phenomenon) == ("chrf", "deleted nouns")
    assert row.unworded_seen is not None
    bars = [n for n, view in enumerate(finding.views) if isinstance(view, Bars)]
    assert len(bars) == 2
    (axes,) = finding.plot(bars[0]).axes
    hollow, line = axes.lines[-2:]
    assert row.unworded_seen in hollow.get_xdata()
    assert set(line.get_xdata()) == {row.harmless_lowered}


def test_the_words_of_a_reference_say_nothing_of_metrics_that_read_none() -> None:
    class Lengths:
        """The length of a text."""

        name = spec = "lengths"
        needs = frozenset[str]()
        higher_is_better = True
        signature = Signature("lengths", ())

        def bind(self, _testset: gn.TestSet) -> Lengths:
            return self

        def segments(self, batch: Batch) -> NDArray[np.float64]:
            sizes = np.array([len(text) for text in batch.texts], dtype=np.float64)
            return sizes[batch.candidates]

        def system(self, batch: Batch) -> NDArray[np.float64]:
            return self.segments(batch).sum(axis=1)

    alike = [replace(pair, references=(pair.good,)) for pair in pairs() * 2]
    rows = rows_of(stress_pairs(alike, ["chrf", Lengths()]))  # type: ignore[list-item]  # a metric
    assert (rows["chrf"].worded_seen, rows["chrf"].worded_pairs) == (1, 24)
    assert (rows["lengths"].worded_seen, rows["lengths"].worded_pairs) == (None, 0)
    # its corpus score is asked for, as it has no statistics
    assert rows["lengths"].fall == 24 * len(" cat")
