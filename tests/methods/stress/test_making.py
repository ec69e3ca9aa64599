"""Perturbations make what they say: drawn by seed, nested in limit, never the input."""

from __future__ import annotations

import re

import numpy as np
import pytest

import gnomon as gn
from gnomon.core.errors import UnknownNameError, UsageError
from gnomon.core.minimal_pairs import Pair
from gnomon.linguistics import Token
from gnomon.stress.making import make_pairs
from gnomon.stress.outputs import OtherOutputs, Output
from gnomon.stress.perturbations import (
    Crossed,
    describe_perturbations,
    find_perturbations,
    perturbation,
)
from gnomon.stress.rules.any_language import other_number

TEXTS = [
    "The mayor bought 12 well-known red buses in Malta.",
    "She drove 340 km on Monday, and slept.",
    "Nobody saw the 7 small cats near Rome!",
    "“We are late,” said the old man at 17:45.",
]


def outputs(texts=TEXTS, **more):
    return [Output(number=n, text=text, source=text[::-1], **more) for n, text in enumerate(texts)]


def made(rule, texts=None, **options):
    every = texts or outputs()
    return make_pairs(
        rule,
        every,
        OtherOutputs(every),
        lambda output, good, bad: Pair(
            good=good, bad=bad, phenomenon=rule.phenomenon, origin=str(output.number)
        ),
        seed=options.pop("seed", 5),
        **options,
    )


def named(name):
    german = {each.name for each in describe_perturbations() if each.languages == ("de",)}
    (found,) = find_perturbations([name], "de" if name in german else "en")
    return found


@pytest.mark.parametrize(
    "name", [p.name for p in describe_perturbations() if not p.needs - {"source", "others"}]
)
def test_a_perturbation_never_returns_its_input_and_is_drawn_by_the_seed(name):
    rule = named(name)
    pairs = made(rule)
    assert all(pair.good != pair.bad for pair in pairs)
    if rule.kind != "crossed":
        assert all(pair.good == TEXTS[int(pair.origin)] for pair in pairs)
    assert pairs == made(rule)


def test_what_is_changed_is_changed_as_said():
    def first(name):
        return {pair.origin: pair.bad for pair in made(named(name))}

    assert first("lower")["0"] == "the mayor bought 12 well-known red buses in malta."
    assert first("first lower")["3"] == "“we are late,” said the old man at 17:45."
    assert first("no stop")["2"] == "Nobody saw the 7 small cats near Rome"
    assert first("spaces")["1"] == "She drove 340 km on Monday , and slept ."
    assert first("repeat")["0"] == "The mayor bought 12 well-known red buses in Malta Malta."
    assert first("cut")["0"] == "The mayor bought 12 well-known red."
    assert first("twice")["2"] == f"{TEXTS[2]} {TEXTS[2]}"
    assert first("half")["2"] == "Nobody saw the 7"
    assert first("source")["2"] == TEXTS[2][::-1]
    assert set(first("other output").values()) <= set(TEXTS)
    shuffled = first("shuffle")["0"]
    assert shuffled[0].isupper()
    assert shuffled.endswith(".")
    assert sorted(re.findall(r"[\w-]+", shuffled.lower())) == sorted(
        re.findall(r"[\w-]+", TEXTS[0].lower())
    )


def test_numbers_change_in_value_and_keep_their_shape():
    rng = np.random.default_rng(1)
    for digits in ("1", "7", "12", "07", "340", "1,500", "3.5", "17:45", "2024", "100,000"):
        for _ in range(50):
            new = other_number(digits, rng)
            assert new != digits
            assert re.sub(r"\d", "0", new[-3:]) == re.sub(r"\d", "0", digits[-3:]) or (
                len(digits) <= 2
            )
            if len(digits) > 2:
                assert len(new) == len(digits)
                assert new[0] == digits[0]
            else:
                assert max(1, int(digits) // 2) <= int(new) <= 2 * int(digits) + 2
    changed = made(named("number"))
    assert {pair.origin for pair in changed} == {"0", "1", "2", "3"}


def test_pairs_of_a_smaller_limit_are_among_those_of_a_larger_one():
    every = outputs([f"Sentence number {n} has words enough." for n in range(40)])
    rule = named("swap")
    few, more = (made(rule, every, limit=limit) for limit in (7, 20))
    assert len(few) == 7
    assert len(more) == 20
    assert set(few) <= set(more)
    assert [int(pair.origin) for pair in more] == sorted(int(pair.origin) for pair in more)
    assert set(made(rule, every, limit=7, seed=6)) != set(few)


def test_words_joined_by_hyphens_are_left_whole():
    text = "A well-known man's dog."
    marked = {"pos:ADJ": [(2, 6), (7, 12)], "pos:NOUN": [(13, 16), (19, 22)]}
    every = [Output(number=0, text=text, marked=marked)]
    assert [pair.bad for pair in made(named("delete pos:ADJ"), every)] == []
    assert [pair.bad for pair in made(named("delete pos:NOUN"), every)] == ["A well-known man's."]


def token(text, word, pos, *morph):
    start = text.index(word)
    return Token(start, start + len(word), word, pos, frozenset(morph), word.lower(), "", 0)


def test_words_are_replaced_by_others_of_the_same_form_and_keep_their_capital():
    texts = ["Cats sleep.", "A dog barks at birds.", "Rome burns."]
    tokens = [
        (token(texts[0], "Cats", "NOUN", "Number=Plur"),),
        (
            token(texts[1], "dog", "NOUN", "Number=Sing"),
            token(texts[1], "birds", "NOUN", "Number=Plur"),
        ),
        (token(texts[2], "Rome", "PROPN", "Number=Sing"),),
    ]
    every = [
        Output(
            number=n,
            text=text,
            tokens=tokens[n],
            marked={f"pos:{t.pos}": [(t.start, t.end)] for t in tokens[n]},
        )
        for n, text in enumerate(texts)
    ]
    pairs = made(named("replace pos:NOUN"), every)
    assert [(pair.good, pair.bad) for pair in pairs] == [
        ("Cats sleep.", "Birds sleep."),
        ("A dog barks at birds.", "A dog barks at cats."),
    ]
    assert made(named("replace pos:PROPN"), every) == []  # there is no other name


def test_names_are_replaced_by_names_of_the_same_kind_wherever_they_stand():
    texts = ["Rome is Rome.", "Ann left Oslo.", "Bob slept."]
    marked = [
        {"ent:GPE": [(0, 4), (8, 12)]},
        {"ent:PERSON": [(0, 3)], "ent:GPE": [(9, 13)]},
        {"ent:PERSON": [(0, 3)]},
    ]
    every = [Output(number=n, text=texts[n], marked=marked[n]) for n in range(3)]
    assert {pair.bad for pair in made(named("name"), every)} <= {
        "Oslo is Oslo.",
        "Bob left Oslo.",
        "Ann left Rome.",
        "Ann slept.",
    }
    assert made(named("no name"), every)[0].bad == "Is."


def test_a_place_that_leaves_the_text_as_it_is_counts_for_nothing():
    @perturbation("odd", phenomenon="odd changes", exact=True)
    def odd(output, pool, rng):
        yield 0, 3, output.text[:3]
        yield 0, len(output.text), ""  # nor one that leaves no text
        yield 0, 3, "A"

    assert {pair.bad[:3] for pair in made(odd, outputs(["The cat."] * 20))} == {"A c"}


def test_crossed_pairs_have_three_texts():
    @perturbation("both", phenomenon="crossed", kind="crossed")
    def both(output, pool, rng):
        yield Crossed((0, 3, "a"), (0, 3, "no"))

    (pair,) = made(both, outputs(["The cat."]))
    assert (pair.good, pair.bad) == ("A cat.", "No cat.")

    @perturbation("wrong", phenomenon="crossed", kind="crossed")
    def wrong(output, pool, rng):
        yield 0, 3, "a"

    with pytest.raises(UsageError, match="must yield Crossed"):
        made(wrong, outputs(["The cat."]))


def test_scripts_without_spaces_lose_words_and_gain_no_spaces():
    text = "猫が好きです。"
    every = [Output(number=0, text=text, places=[(0, 1), (1, 2), (2, 4), (4, 6), (6, 7)])]
    assert [pair.bad for pair in made(named("repeat"), every)] == ["猫が好きですです。"]
    assert [pair.bad for pair in made(named("twice"), every)] == [text + text]
    (swapped,) = made(named("swap"), every)
    assert sorted(swapped.bad) == sorted(text)
    assert swapped.bad.endswith("。")


def test_perturbations_are_found_by_name_wildcard_and_feature():
    assert [p.name for p in find_perturbations(["number", "first *"], None)] == [
        "number",
        "first lower",
    ]
    (deleted,) = find_perturbations(["delete pos:ADP"], "fi")
    assert (deleted.phenomenon, deleted.severity) == ("deleted adpositions", "minor")
    with pytest.raises(UnknownNameError, match="unknown perturbation 'numbr'; did you mean"):
        find_perturbations(["numbr"], "en")
    with pytest.raises(UsageError, match="lacks its feature; write it as 'delete pos:VERB'"):
        find_perturbations(["delete"], "en")
    with pytest.raises(UsageError, match="severity of the perturbation 'x' is 'deadly'"):
        perturbation("x", phenomenon="x", severity="deadly")
    with pytest.raises(UsageError, match="needs of the perturbation 'x' is 'time'"):
        perturbation("x", phenomenon="x", needs=["time"])


def test_a_function_with_the_decorator_is_a_perturbation():
    @perturbation("units", kind="error", severity="critical", phenomenon="wrong units")
    def units(output, pool, rng):
        """Puts pounds in the place of kilometres."""
        for match in re.finditer(r"\bkm\b", output.text):
            yield *match.span(), "pounds"

    testset = gn.TestSet.from_lists({"a": TEXTS}, TEXTS, language_pair="xx")
    found = gn.stress(testset, "chrf", perturb=[units])
    row = found.rows[0]
    assert (row["phenomenon"], row["pairs"], row["detected"]) == ("wrong units", 1, 1.0)
    assert units.about == "Puts pounds in the place of kilometres."
