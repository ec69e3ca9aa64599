"""What difficulty says: rows whose truth is known, and whole runs."""

from __future__ import annotations

from tests.methods.difficulty.sets import contest
from tests.truth.worlds import bundled

import gnomon
from gnomon import TestSet
from gnomon.core.findings import Bars, Finding, Scatter
from gnomon.core.records import table
from gnomon.difficulty.score_rows import WeightedRow
from gnomon.difficulty.verdict import score_verdict


def test_who_rises_and_who_falls_is_said_and_that_nothing_was_tested() -> None:
    scores = [
        WeightedRow(
            metric="difficulty(bleu)",
            system=system,
            score=score,
            base_score=1 - score,
            rank=rank,
            base_rank=3 - rank,
        )
        for rank, (system, score) in enumerate({"A": 0.6, "B": 0.4}.items(), start=1)
    ]
    tables = (table("scores", "Scores", WeightedRow, scores),)
    facts = {"segments": "60"}
    (moved,) = score_verdict(Finding("difficulty score", "Scores", tables, {}, facts=facts))
    assert moved.level == "undecided"
    assert str(moved).startswith("A is first under BLEU where hard words count more, B without")
    assert "; A (by 1 place) rises and B (by 1 place) falls (60 segments)" in str(moved)


def test_a_run_begins_with_at_most_six_statements_that_point_to_rows() -> None:
    found = gnomon.difficulty.score(contest(), "chrf")
    assert 1 <= len(found.verdict) <= 6
    for one in found.verdict:
        for name, rows in one.rows.items():
            assert all(0 <= row < len(found.table(name).rows) for row in rows)


def unfavoured() -> TestSet:
    """Systems of which none writes references word for word."""
    return bundled().select(segments=list(range(60)))


def test_a_picture_a_metric_is_named_for_it() -> None:
    found = gnomon.difficulty.score(unfavoured(), ["chrf", "ter"])
    assert [view.title for view in found.views if isinstance(view, Bars)] == [
        "difficulty-weighted chrF: scores beside base scores",
        "difficulty-weighted TER: scores beside base scores",
    ]


def same_outputs(reference: str, *outputs: str) -> TestSet:
    """One segment, and what some systems made of it."""
    return TestSet.from_lists({f"s{k}": [one] for k, one in enumerate(outputs)}, [reference])


def test_words_that_no_system_missed_are_not_called_hard() -> None:
    found = gnomon.difficulty.words(same_outputs("the cat", "the cat", "the cat"), "bleu")
    assert found.verdict[0].level == "undecided"
    assert str(found.verdict[0]) == "All systems have all of 2 words under BLEU: none is hard."
    some = gnomon.difficulty.words(same_outputs("the cat", "the dog", "the fox"), "bleu")
    assert str(some.verdict[0]).startswith(
        "Of 2 words, systems miss these most under BLEU: “cat” (1.00, 1 time) (difficulty"
    )


def test_where_all_words_are_among_the_hardest_nothing_is_said_of_others() -> None:
    found = gnomon.difficulty.words(same_outputs("cat", "cat", "dog"), "bleu")
    assert "the hardest tenth: 1 word is too few" in str(found.verdict[1])


def test_systems_that_share_the_first_place_are_first_together() -> None:
    found = gnomon.difficulty.score(same_outputs("the cat sat", "the cat", "the cat"), "chrf")
    assert str(found.verdict[0]).startswith(
        "s0 and s1 are first under chrF with and without weights for hard words; no system changes"
    )


def test_the_hardest_words_are_named_and_who_has_them() -> None:
    found = gnomon.difficulty.words(unfavoured(), "chrf", examples=0).verdict
    assert "systems miss these most under chrF: “" in str(found[0])
    assert found[0].level == "undecided"  # nothing is tested
    assert "the hardest tenth" in str(found[1])


def test_hard_words_that_no_system_has_are_said_to_tell_none_from_another() -> None:
    testset = gnomon.TestSet(
        name="missed",
        references={"ref": ["a cat sat there", "a dog sat there", "a cow sat there"] * 4},
        systems={
            "A": ["a x sat there", "a y sat there", "a z sat there"] * 4,
            "B": ["a u sat x", "a v sat there", "a w sat there"] * 4,
        },
    )
    found = gnomon.difficulty.words(testset, "bleu", examples=0)
    told = next(str(one) for one in found.verdict if "hardest tenth" in str(one))
    assert "no system has what the references have" in told
    assert "equally near" not in told
    assert not any(isinstance(view, Scatter) for view in found.views)  # all on one line
