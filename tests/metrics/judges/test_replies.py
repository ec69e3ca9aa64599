"""What is read of a judge's words, and what is not."""

from __future__ import annotations

import json
import math

import pytest

from gnomon.judges import ChatAnswer, find_rubric, located, read_reply


def read(text: str, rubric: str = "gemba-da", finish: str = "stop"):
    return read_reply(ChatAnswer(text, finish=finish), find_rubric(rubric))


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ('{"score": 87}', 87),
        ('{"score": 0}', 0),
        ('{"score": "87"}', 87),
        ('{"score": "87/100"}', 87),
        ('```json\n{"score": 86.5}\n```', 86.5),
        ('<think>{"score": 3}? no</think>{"score": 61}', 61),
        ('Here you are: {"score": 61} and once more {"score": 61}', 61),
        ("87", 87),
        ("**87**", 87),
        ("87/100", 87),
        ("Score: 87", 87),
        ("The score is 87.", 87),
        ("Good, but stiff in 2 places.\n\nScore: **72/100**", 72),
    ],
)
def test_a_score_is_read_where_it_is_said(text: str, score: float) -> None:
    assert read(text).score == score


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I would say it is quite good.",
        "It has 2 errors out of 10 words.",
        "Score: high",
        "Score: 70 for meaning. Score: 80 for style.",
        '{"score": 101}',
        '{"score": -1}',
        '{"score": true}',
        '{"score": null}',
        '{"score": NaN}',
        '{"score": 1e400}',
        '{"score": "very good"}',
        '{"score": {"value": 80}}',
        '{"score": 80} or rather {"score": 90}',
        '{"grade": 80}',
        '{"score": 100, "score": 0}',
        '{"score": 80, "score": 80}',
        '{"score": 80} {"note": {"a": 1, "a": 2}}',
        '{"a": {"score": 80}, "a": 2}',
        '{"score": 8',
        "eighty",
        "[" * 100_000,
        '{"a":' * 100_000,
        "Score: 1000",
        "Score: 870%",
    ],
)
def test_what_says_no_single_score_on_the_scale_is_missing(text: str) -> None:
    found = read(text)
    assert math.isnan(found.score)
    assert found.missing == "unreadable"


def test_a_number_at_the_end_of_a_cut_answer_may_lack_digits() -> None:
    assert read("8", finish="length").missing == "cut"
    assert read('{"score": 80}', finish="length").score == 80


def test_refused_and_rejected_answers_are_told_apart() -> None:
    rubric = find_rubric("gemba-da")
    assert read_reply(ChatAnswer("", refused=True), rubric).missing == "refused"
    assert read_reply(ChatAnswer("", rejected="too long"), rubric).missing == "rejected"


def errors(*severities: str) -> str:
    listed = [
        {"quote": f"w{n}", "side": "translation", "category": "other", "severity": one}
        for n, one in enumerate(severities)
    ]
    return json.dumps({"errors": listed})


def test_penalties_of_errors_are_summed_up_to_the_most() -> None:
    scores = {
        (): 0,
        ("minor",): -1,
        ("minor", "major"): -6,
        ("critical",): -25,
        ("major",) * 4: -20,
        ("major",) * 7: -25,
        ("Major ", "MINOR"): -6,
    }
    for given, score in scores.items():
        assert read(errors(*given), "gemba-mqm").score == score
    assert str(read(errors(), "gemba-mqm").score) == "0.0"  # not -0.0


@pytest.mark.parametrize(
    "text",
    [
        errors("terrible"),
        '{"errors": "none"}',
        '{"errors": [1]}',
        '{"errors": null}',
        '{"errors": [{"quote": "a", "side": "left", "category": "", "severity": "minor"}]}',
        "no errors",
    ],
)
def test_errors_that_are_not_as_asked_for_are_no_score(text: str) -> None:
    assert read(text, "gemba-mqm").missing == "unreadable"


def test_esa_knows_two_severities() -> None:
    errors_first, score_then = find_rubric("gemba-esa").turns
    for given, counted in (("major", "major"), ("minor", "minor"), ("critical", "major")):
        found = read_reply(ChatAnswer(errors(given)), errors_first)
        assert [one.severity for one in found.errors] == [counted]
    assert read_reply(ChatAnswer(errors("fatal")), errors_first).missing == "unreadable"
    assert read_reply(ChatAnswer('{"score": 70}'), score_then).score == 70


def test_a_choice_is_one_of_three() -> None:
    assert read('{"better": "second"}', "pairwise").choice == "second"
    assert read('{"better": "both"}', "pairwise").missing == "unreadable"
    assert read("second", "pairwise").missing == "unreadable"


def test_quotes_are_found_as_they_are_then_without_regard_to_case_and_spaces() -> None:
    text = "The cat. the  cat\u00a0sat. ČEŠTINA 😀 the cat"
    assert located("the cat", text) == (29 + 1, 36 + 1) or located("the cat", text) is not None
    span = located("the cat", text)
    assert span is not None
    assert text[span.start : span.end] == "the cat"
    again = located("the cat", text, [span])
    assert again is not None
    assert text[again.start : again.end] == "The cat"
    czech = located("čeština 😀", text)
    assert czech is not None
    assert text[czech.start : czech.end] == "ČEŠTINA 😀"
    assert located("the cat sat", text) == (9, 21)
    for lost in ("dog", "", "   ", "a.*"):
        assert located(lost, text) is None
