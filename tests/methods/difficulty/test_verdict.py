"""What difficulty says: rows whose truth is known, and whole runs."""

from __future__ import annotations

import numpy as np
import pytest
from tests.agreement.pairs import gained, means
from tests.methods.difficulty.sets import contest
from tests.noise import is_mostly_undecided

import gnomon
from gnomon import TestSet
from gnomon.agreement.gains import AgreementGainRow
from gnomon.core.findings import Bars, Finding, Scatter, Statement
from gnomon.core.records import table
from gnomon.methods.difficulty._verdict import score_verdict
from gnomon.methods.difficulty.score_rows import WeightedRow


def said_of(
    difference: float,
    low: float,
    high: float,
    *,
    p: float = 0.01,
    williams_p: float = 0.01,
    systems: int = 10,
    notices: tuple[str, ...] = (),
) -> list[Statement]:
    names = {"metric": "difficulty(bleu)"}
    nothing = dict.fromkeys(
        (
            *("human_rank", "mean", "base_mean"),
            *("precision", "recall", "base_precision", "base_recall"),
        )
    )
    scores = [
        WeightedRow(
            **{**nothing, **names},
            system=system,
            score=score,
            base_score=1 - score,
            rank=rank,
            base_rank=3 - rank,
            moved=3 - 2 * rank,
            in_pool=True,
        )
        for rank, (system, score) in enumerate({"A": 0.6, "B": 0.4}.items(), start=1)
    ]
    gain = AgreementGainRow(
        **names,
        test_set="de-en",
        level="system",
        statistic="pearson",
        grouping="none",
        test="Williams's test",
        alternative="two-sided",
        interval="segments",
        subset="all",
        base=0.8,
        value=0.8 + difference,
        gain=difference,
        p=williams_p,
        p_segments=p,
        n=systems,
        unit="systems",
        drawn=60,
        human="da",
        intervals={"gain": (low, high)},
    )
    tables = (
        table("scores", "Scores", WeightedRow, scores),
        table("gains", "Gains", AgreementGainRow, [gain], confidence=0.95),
    )
    return list(score_verdict(Finding("difficulty score", "Scores", tables, {}, notices=notices)))


def test_weights_that_agree_better_or_worse_are_said_to_by_how_much() -> None:
    better, moved = said_of(0.05, 0.02, 0.08)
    assert better.level == "better"
    assert better.text == (
        "BLEU agrees better with people (da) where hard words count more, by .050 [.020, .080]"
        " (r = .850 against .800 over 10 systems, p = .010)."
    )
    assert moved.level == "undecided"
    assert moved.text.startswith("A has the highest BLEU where hard words count more, B without")
    assert "; A (by 1 place) rises and B (by 1 place) falls" in moved.text
    worse = said_of(-0.05, -0.08, -0.02)[0]
    assert worse.level == "worse"
    assert "worse with people (da) where hard words count more, by .050 [.020, .080]" in worse.text


def compared(seed: int, systems: int, segments: int) -> AgreementGainRow:
    """What weights add to the agreement with people that tell no more than the metric itself.

    Both scores are what the systems are worth and noise of one kind, so that neither is nearer to
    people but by chance.
    """
    draw = np.random.default_rng(seed)
    worth = np.linspace(0, 1, systems)
    human = worth + draw.normal(0, 0.2, systems)
    shared = draw.normal(0, 1, segments) + draw.normal(0, 1, (systems, segments))
    scores = worth[:, None] + shared + draw.normal(0, 1, (2, systems, segments))
    return gained(human, [means(scores[0], "base"), means(scores[1], "weighted")], seed)


@pytest.mark.parametrize("draws", [20, pytest.param(1000, marks=pytest.mark.verify)])
@pytest.mark.parametrize(
    ("systems", "segments"), [(12, 60), pytest.param(6, 200, marks=pytest.mark.verify)]
)
def test_weights_that_say_nothing_are_undecided_as_often_as_alpha_says(
    systems: int, segments: int, draws: int
) -> None:
    found = 0
    for seed in range(draws):
        row = compared(seed, systems, segments)
        ends = row.intervals["gain"]
        told = said_of(row.gain, *ends, p=row.p_segments, williams_p=row.p, systems=systems)
        found += all(one.level == "undecided" for one in told)
    assert is_mostly_undecided(found, draws)


def test_few_systems_and_circular_scores_are_cautions_and_no_findings() -> None:
    few = said_of(0.05, 0.02, 0.08, systems=4)
    assert sorted(one.level for one in few) == ["caution", "undecided"]
    circular = said_of(0.05, 0.02, 0.08, notices=("CIRCULAR, as was allowed: it is",))
    assert sorted(one.level for one in circular) == ["caution", "undecided"]


@pytest.mark.parametrize("human", [True, False])
def test_a_run_begins_with_at_most_six_statements_that_point_to_rows(human: bool) -> None:
    testset = contest()
    if not human:
        testset = gnomon.core.testset.replace(testset, human=())
    found = gnomon.difficulty.score(testset, "chrf", resamples=50, other_metrics=(), curves=False)
    assert 1 <= len(found.verdict) <= 6
    for one in found.verdict:
        for name, rows in one.rows.items():
            assert all(0 <= row < len(found.table(name).rows) for row in rows)


@pytest.mark.parametrize("human", [True, False])
def test_the_first_pictures_say_whom_people_agree_with_and_who_is_on_top(human: bool) -> None:
    testset = contest() if human else gnomon.core.testset.replace(contest(), human=())
    found = gnomon.difficulty.score(
        testset, ["chrf", "ter"], resamples=0, other_metrics=(), curves=False
    )
    pictures = [view for view in found.views if isinstance(view, Bars)]
    assert bool(pictures[0].table == "agreement") == human
    if human:
        agreement = [
            row
            for row in found.table("agreement").rows
            if (row["subset"], row["statistic"]) == ("all", "pearson")
        ]
        best = max(agreement, key=lambda row: row["value"])
        assert "has the highest agreement with people (da) of " in pictures[0].title
        assert f"r = {best['value']:.3f}".replace("0.", ".") in pictures[0].title
    one, other = pictures[human:]
    assert one.title.startswith("chrF: s0 highest with and without weights for hard words; ")
    assert other.title.startswith("TER: ")
    moved = sum(row["moved"] != 0 for row in found.rows if row["metric"] == "difficulty(chrf)")
    assert f"; {moved or 'none'} of 10 systems changed place" in one.title


def same_outputs(reference: str, *outputs: str) -> TestSet:
    """One segment, and what some systems made of it."""
    return TestSet.from_lists({f"s{k}": [one] for k, one in enumerate(outputs)}, [reference])


def test_words_that_no_system_missed_are_not_called_hard() -> None:
    found = gnomon.difficulty.words(same_outputs("the cat", "the cat", "the cat"), "bleu")
    assert found.verdict[0].level == "undecided"
    assert found.verdict[0].text == "All systems have all of 2 words under BLEU: none is hard."
    some = gnomon.difficulty.words(same_outputs("the cat", "the dog", "the fox"), "bleu")
    assert some.verdict[0].text.startswith(
        "Of 2 words, systems miss these most under BLEU: “cat” (1.00, 1 time) (difficulty"
    )


def test_where_all_words_are_among_the_hardest_nothing_is_said_of_others() -> None:
    found = gnomon.difficulty.words(same_outputs("cat", "cat", "dog"), "bleu")
    (picture,) = (view for view in found.views if isinstance(view, Scatter))
    assert picture.title == "difficulty-weighted BLEU: s0 is nearest on hard words"
    assert "the hardest tenth of the words are 1 word, too few" in found.verdict[1].text


def test_systems_that_share_the_first_place_are_on_top_together() -> None:
    found = gnomon.difficulty.score(same_outputs("the cat sat", "the cat", "the cat"), "chrf")
    assert found.verdict[0].text.startswith(
        "s0 and s1 have the highest chrF with and without weights for hard words; no system changes"
    )


def test_the_hardest_words_are_named_and_who_has_them() -> None:
    found = gnomon.difficulty.words(contest(), "chrf", examples=0).verdict
    assert "systems miss these most under chrF: “" in found[0].text
    assert found[0].level == "undecided"  # nothing is tested
    assert "the hardest tenth of the words" in found[1].text


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
    told = next(one.text for one in found.verdict if "hardest tenth" in one.text)
    assert "No system has any of the hardest tenth of the words (" in told
    assert "equally near" not in told
    assert not any(isinstance(view, Scatter) for view in found.views)  # all on one line
