"""German rules work from lists, without a tagger."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.methods.stress.changed import changed, pairs_of
from tests.told import notes

import gnomon as gn
from gnomon.stress.outputs import Output
from gnomon.stress.rules.numbers import VALUES, spell_number

CASES = [
    ("negation de", "Sie hat das Haus nicht gekauft.", {"Sie hat das Haus gekauft."}),
    ("negation de", "Er ist kein Arzt.", {"Er ist ein Arzt."}),
    ("negation de", "Es gibt keine Informationen.", {"Es gibt einige Informationen."}),
    ("negation de", "Es gibt keine Lösung.", {"Es gibt eine Lösung."}),
    ("negation de", "Das ist ein Problem.", {"Das ist kein Problem."}),
    ("negation de", "Er kam nicht nur, sondern blieb.", set()),
    ("negation de", "Sie ist nicht klein, sondern groß.", set()),
    ("negation de", "Das ist ein paar Jahre her.", set()),
    ("modality de", "Sie kann gehen.", {"Sie muss gehen."}),
    ("modality de", "Wir müssen warten.", {"Wir können warten."}),
    ("modality de", "Ihr Können half.", set()),
    ("polarity de", "Mehr als zwei kamen.", {"Weniger als zwei kamen."}),
    ("polarity de", "Der Preis stieg.", {"Der Preis sank."}),
    (
        "polarity de",
        "Sie kam vor dem Krieg.",
        {"Sie kam nach dem Krieg.", "Sie kam vor dem Frieden."},
    ),
    ("polarity de", "Er hat keine Zeit mehr.", set()),
    ("polarity de", "Es regnet immer noch.", set()),
    ("polarity de", "Das zehn Monate alte Kind", set()),
    ("polarity de", "Das alte Haus", {"Das junge Haus"}),
    (
        "gender de",
        "Herr Wolf kam, als er seinen Hund sah.",
        {"Herr Wolf kam, als sie seinen Hund sah.", "Herr Wolf kam, als er ihren Hund sah."},
    ),
    ("gender de", "Der Vater rief ihn.", {"Der Vater rief sie."}),
    ("gender de", "Er sah seinen Hund.", set()),
    ("gender de", "Der Tisch steht, wo er stand.", set()),
    ("gender de", "Es half der Firma, der er diente.", set()),
    ("gender de", "Sie kommen.", set()),
    ("gender de", "„Gut“, sagte er.", set()),
    ("negation de", "Ist es nicht an der Zeit?", set()),
    ("number word de", "Sie hat 7 Katzen.", {"Sie hat sieben Katzen."}),
    ("number word de", "Vor zwei Jahren", {"Vor 2 Jahren"}),
    ("number word de", "Um 7 Uhr, am 7. Mai, 7 Prozent, 30 Tage", set()),
    ("percent de", "Es stieg um 12 %.", {"Es stieg um 12 Prozent."}),
    ("percent de", "Es stieg um 12 Prozent.", {"Es stieg um 12 %."}),
    ("swiss spelling", "Die große Straße", {"Die grosse Strasse"}),
    ("swiss spelling", "Die große Buße", set()),
    ("quotes de", "Er sagte „ja“.", {'Er sagte "ja".'}),
    ("quotes de", 'Er sagte "ja".', {"Er sagte „ja“."}),
    ("dashes de", "Regen – und Schnee", {"Regen - und Schnee"}),
]


@pytest.mark.parametrize(("name", "text", "results"), CASES, ids=[f"{a}: {b}" for a, b, _ in CASES])
def test_what_becomes_of_a_sentence(name: str, text: str, results: set[str]) -> None:
    assert changed(name, "de", Output(number=0, text=text)) == results


CONLLU = "# text = Der alte Hund sah oft Katzen und Igel.\n" + "".join(
    f"{n}\t{word}\t{word}\t{pos}\t_\t_\t0\tdep\t_\t_\n"
    for n, (word, pos) in enumerate(
        zip(
            ("Der", "alte", "Hund", "sah", "oft", "Katzen", "und", "Igel", "."),
            ("DET", "ADJ", "NOUN", "VERB", "ADV", "NOUN", "CCONJ", "NOUN", "PUNCT"),
            strict=True,
        ),
        start=1,
    )
)


def test_labels_of_parts_of_speech_alone_serve_the_rules_that_need_no_more(tmp_path: Path) -> None:
    (tmp_path / "labels.conllu").write_text(CONLLU + "\n")
    text = "Der alte Hund sah oft Katzen und Igel."
    testset = gn.TestSet.from_lists({"a": [text]}, [text], language_pair="en-de")
    finding = gn.stress(testset, "chrf", labels=[str(tmp_path / "labels.conllu")])
    phenomena = {row["phenomenon"] for row in finding.rows}
    assert {"deleted nouns", "deleted verbs", "reversed comparisons and directions"} <= phenomena
    assert not {"deleted names", "wrong names"} & phenomena
    assert any("no name" in notice and "left out" in notice for notice in notes(finding.notices))


def test_crossed_numbers() -> None:
    made = pairs_of("crossed number de", "de", Output(number=0, text="Sie hat 34 Katzen."))
    assert {good for good, _ in made} == {"Sie hat vierunddreißig Katzen."}
    assert all(re.fullmatch(r"Sie hat (?!34)\d\d Katzen\.", bad) for _, bad in made)


def test_numbers_in_words_are_those_that_people_write() -> None:
    assert [spell_number(n, "de") for n in (2, 12, 17, 21, 30, 99)] == [
        *("zwei", "zwölf", "siebzehn", "einundzwanzig", "dreißig", "neunundneunzig"),
    ]
    assert [spell_number(n, "en") for n in (2, 12, 17, 21, 30, 99)] == [
        *("two", "twelve", "seventeen", "twenty-one", "thirty", "ninety-nine"),
    ]
    assert all(len(values) == 98 for values in VALUES.values())
