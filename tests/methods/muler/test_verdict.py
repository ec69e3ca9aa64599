"""What MuLER says, on texts whose truth is known: differences, artefacts, noise."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.noise import is_mostly_undecided

import gnomon as gn

if TYPE_CHECKING:
    from collections.abc import Callable

    from gnomon.core.findings import Finding

ANIMALS, PLACES = ("cat", "dog", "horse", "cow"), ("park", "house", "barn", "street")
PATTERN = {
    "animal": "|".join(ANIMALS),
    "place": "|".join(PLACES),
    "after": r"(?<=odd )\w+",  # a word that outputs may have elsewhere than references
}
Draw = np.random.Generator


def scored(
    systems: dict[str, list[str]],
    reference: list[str],
    metrics: str | list[str] = "bleu",
    **options: object,
) -> Finding:
    testset = gn.TestSet.from_lists(systems, reference)
    asked = {"features": ["re:*"], "pattern": PATTERN, "examples": 0, "resamples": 199}
    return gn.muler.score(testset, metrics, **{**asked, **options})


def texts(
    seed: int, wrong: dict[str, dict[str, float]], segments: int = 60
) -> tuple[dict[str, list[str]], list[str]]:
    """Outputs that get words of a feature wrong as often as is said, and references."""
    draw = np.random.default_rng(seed)
    lines = [
        (draw.choice(ANIMALS), draw.choice(PLACES), f"w{draw.integers(9)}") for _ in range(segments)
    ]

    def line(animal: str, place: str, word: str) -> str:
        return f"then the small {animal} came {word} to the old {place} at night"

    def output(rates: dict[str, float]) -> list[str]:
        other: Callable[[str, tuple[str, ...], float], str] = lambda word, words, rate: (  # noqa: E731  # short
            str(draw.choice([one for one in words if one != word]))
            if draw.random() < rate
            else word
        )
        return [
            line(
                other(animal, ANIMALS, rates.get("animal", 0.3)),
                other(place, PLACES, rates.get("place", 0.3)),
                word if draw.random() < 0.7 else "well",
            )
            for animal, place, word in lines
        ]

    return {name: output(rates) for name, rates in wrong.items()}, [line(*one) for one in lines]


def test_a_real_difference_is_said_with_its_words_size_and_interval() -> None:
    found = scored(*texts(1, {"A": {"animal": 0.1}, "B": {"animal": 0.8}}))
    first, *others = found.verdict
    assert first.level == "finding"
    shape = (
        r"A makes fewer errors than B on matches of 'animal': it loses \.\d+ of what BLEU could"
        r" give there, B \.\d+ \(\.\d+ \[\.\d+, \.\d+\] more\) \(p <= \.\d+ over 2 comparisons\)\."
    )
    assert re.fullmatch(shape, str(first))
    assert [found.table("differences").rows[n]["feature"] for n in first.rows["differences"]] == [
        "re:animal"
    ]
    assert [str(one) for one in others] == [
        "A and B cannot be told apart on 1 kind of words under BLEU: matches of 'place'."
    ]


def test_the_least_p_of_a_comparison_alone_counts_both_tails() -> None:
    systems, reference = texts(1, {"A": {"animal": 0.1}, "B": {"animal": 0.8}})
    alone = scored(systems, reference, features=["re:animal"]).verdict[0]
    assert alone.params["p"] == [alone.params["least"]] == [2 / 200]
    both = scored(systems, reference, features=["re:animal", "re:place"]).verdict[0]
    assert both.params["p"] == [both.params["least"]] == [1 / 200]


@pytest.mark.parametrize("names", ["AB", "BA"])
def test_sentences_say_how_the_system_named_first_does_here_as_in_a_comparison(names: str) -> None:
    good, bad = names
    systems, reference = texts(1, {"A": {}, "B": {}}, segments=120)
    better, _ = texts(1, {good: {"animal": 0.0}}, segments=120)
    systems = {good: better[good], bad: systems[bad]}
    systems = {name: systems[name] for name in "AB"}  # A is the baseline in both
    testset = gn.TestSet.from_lists(systems, reference)
    whole = gn.compare(testset, "bleu", resamples=199, examples=0, ngrams=0).verdict[0]
    told = [
        whole,
        *(one for one in scored(systems, reference).verdict if one.level == "finding"),
    ]
    assert len(told) == 2
    for one in told:
        first, better = re.match(r"(\w) (is better|makes fewer errors)?", str(one)).groups()
        assert (first == good) == bool(better)
        assert one.level == "finding"


def shifted(segments: int = 60) -> tuple[dict[str, list[str]], list[str]]:
    """A has all words, but those tagged lie elsewhere; B lacks some of them."""
    draw = np.random.default_rng(3)
    lines = [[str(draw.choice(ANIMALS)), str(draw.choice(PLACES))] for _ in range(segments)]
    reference = [f"we saw that odd {a} {p} there with {n}" for n, (a, p) in enumerate(lines)]
    return {
        "A": [f"we saw that {a} odd {p} there with {n}" for n, (a, p) in enumerate(lines)],
        "B": [f"we saw that odd thing {p} there with {n}" for n, (_, p) in enumerate(lines)],
    }, reference


def test_a_figure_outside_its_range_is_a_note_and_not_compared() -> None:
    found = scored(*shifted(), features=["re:after"])
    outside = {row["system"]: row["outside"] for row in found.rows if row["variant"] == "ratio"}
    (row,) = (one for one in found.table("differences").rows if one["variant"] == "ratio")
    assert outside == {"A": True, "B": False}
    assert (row["p"], row["decided"]) == (None, None)
    nothing, said = found.verdict
    assert str(nothing).endswith("better: 1 kind of words with MuLER outside 0 to 1.")
    assert (nothing.level, said.level) == ("caution", "note")
    assert str(said) == (
        "Under BLEU, 1 kind of words is not reported, because MuLER is outside 0 to 1:"
        " matches of 'after'."
    )
    assert not row["reliable"]
    assert all(view.table != "differences" for view in found.views)  # no list of findings has it


def test_a_note_about_several_metrics_is_said_once() -> None:
    found = scored(*shifted(), metrics=["bleu", "chrf"], features=["re:after"])
    (said,) = [str(one) for one in found.verdict if one.code == "note.muler.outside"]
    assert said == (
        "Under BLEU and chrF, 1 kind of words is not reported, because MuLER is outside 0"
        " to 1: matches of 'after'."
    )
    systems, reference = texts(1, {"A": {}, "B": {}})
    systems["B"][:20] = [""] * 20
    found = scored(systems, reference, metrics=["bleu", "chrf"])
    (left_out,) = [str(one) for one in found.verdict if one.code == "muler.left-out"]
    assert "B leaves 20 of 60 outputs empty" in left_out


def undecided(draws: int) -> int:
    """How many of some draws of systems that are wrong equally often are called undecided."""
    found = 0
    for seed in range(draws):
        drawn = texts(seed, {"A": {}, "B": {}}, segments=120)
        verdict = scored(*drawn, features=["re:animal", "re:place"])
        found += all(one.level == "undecided" for one in verdict.verdict)
    return found


@pytest.mark.parametrize("draws", [20, pytest.param(1000, marks=pytest.mark.verify)])
def test_noise_is_undecided_as_often_as_the_tests_say(draws: int) -> None:
    assert is_mostly_undecided(undecided(draws), draws)


def test_of_many_systems_it_is_counted_who_is_better() -> None:
    rates = {"A": {"animal": 0.0}, "B": {"animal": 0.8}, "C": {"animal": 0.8}}
    found = scored(*texts(1, rates)).verdict
    assert str(found[0]).startswith(
        "A makes fewer errors most often, in 2 of 2 differences under BLEU: systems differ on"
        " matches of 'animal' in 2 of 3 pairs. They are furthest apart on matches of 'animal':"
        " A loses ."
    )
    assert str(found[1]) == (
        "No two systems can be told apart on 1 kind of words under BLEU: matches of 'place'."
    )


def test_of_one_system_it_is_said_where_it_leaves_most() -> None:
    systems, reference = texts(1, {"A": {"animal": 0.9, "place": 0.1}})
    said, near = scored(systems, reference).verdict
    assert (said.level, near.code) == ("finding", "data.favoured")
    assert str(said).startswith("A loses most of what BLEU could give it on matches of 'animal' .")
    systems, reference = shifted()
    nothing, said = scored({"A": systems["A"]}, reference, features=["re:after"]).verdict
    assert (nothing.level, said.level) == ("caution", "note")
    assert str(said).endswith("outside 0 to 1: matches of 'after'.")


@pytest.mark.parametrize("metric", ["bleu", "ter"])
@pytest.mark.parametrize("names", [["A"], ["A", "B"]])
def test_where_no_figure_can_be_read_that_is_said_and_why(names: list[str], metric: str) -> None:
    systems, reference = texts(1, {"A": {"animal": 0.2}, "B": {"animal": 0.3}}, segments=24)
    found = scored(
        {name: systems[name] for name in names},
        reference,
        metric,
        features=["re:animal", "re:place"],
    )
    (told,) = found.verdict
    who = "A loses most" if len(names) == 1 else "one system is better"
    assert told.level == "caution"
    assert str(told) == (
        f"Caution: nothing can be said under {metric.upper()} of the words on which {who}:"
        " 2 kinds of words in fewer than 30 segments."
    )
    assert told.rows


def test_features_of_many_segments_speak_though_others_have_few() -> None:
    systems, reference = texts(1, {"A": {"animal": 0.1}, "B": {"animal": 0.8}})
    rare = {"animal": PATTERN["animal"], "rare": "cat"}
    found = scored(systems, reference, features=["re:animal", "re:rare"], pattern=rare)
    few = next(row for row in found.rows if row["feature"] == "re:rare")
    assert few["segments"] < 30
    assert found.verdict[0].level == "finding"
    assert not any("nothing can be said" in str(one) for one in found.verdict)
