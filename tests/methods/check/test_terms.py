"""Terms in outputs: whole words, base forms, stars, and WMT25's rule."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

import gnomon as gn
from gnomon.check.glossary import Glossary, Term
from gnomon.check.terms import Terminology
from gnomon.core.errors import UnknownNameError
from gnomon.linguistics.faults import Texts

SHARED = os.environ.get("GNOMON_SHARED")


def texts(outputs, sources, pair="en-de", **facts):
    return Texts(
        gn.TestSet.from_lists({"a": outputs}, outputs, sources=sources, language_pair=pair, **facts)
    )


def hits(kind, terms, some, **options):
    """The segments, from 1, in which the kind hits the system."""
    faults = {one.name: one for one in Terminology(Glossary(tuple(terms)), **options).faults}
    found = faults[kind].rule(some)
    return [hit.segment + 1 for hit in found if hit.column == "a"]


def test_a_term_is_found_as_whole_words_in_their_order():
    some = texts(
        ["Die Festplatte.", "Festplattenfehler", "platte Fest", "Nichts", "Fest, platte"],
        ["The hard disk.", "A hard disk error", "hard disk", "a disk", "Hard disk"],
    )
    terms = [Term("hard disk", ("Festplatte", "Fest, platte"))]
    assert hits("term", terms, some, match="forms") == [2, 3]


def test_base_forms_agree():
    pytest.importorskip("simplemma")
    some = texts(["Zwei Festplatten.", "Zwei Disketten."], ["Two hard disks.", "Two hard disks."])
    assert hits("term", [Term("hard disk", ("Festplatte",))], some) == [2]


def test_a_star_stands_for_any_letters_of_a_word():
    some = texts(["Netzwerkkarten", "das Netz", "ein Fetznetz"], ["net"] * 3)
    assert hits("term", [Term("net", ("Netz*",))], some, match="forms") == [3]


def test_in_scripts_without_spaces_and_with_vowel_signs():
    some = texts(["我喜欢鼠标。", "我喜欢老鼠。"], ["mouse", "mouse"], "en-zh")
    assert hits("term", [Term("mouse", ("鼠标",))], some, match="forms") == [2]
    some = texts(["बीयर", "बीयरी"], ["beer", "beer"], "en-hi")
    assert hits("term", [Term("beer", ("बीयर",))], some, match="forms") == [2]
    some = texts(["서울에서 왔다", "부산에서 왔다"], ["Seoul", "Seoul"], "en-ko")
    assert hits("term", [Term("Seoul", ("서울",))], some, match="forms") == [2]


def test_a_tagger_reads_outputs_alone():
    def annotate(some, layers):
        assert "cry" not in some
        return [{layer: [(0, len(text), text.lower())] for layer in layers} for text in some]

    layers = {"pos": ("pos",), "lemma": ()}
    tagger = SimpleNamespace(name="low", signature="low", layers=layers, annotate=annotate)
    tagger.inventory = lambda _: ()
    some = texts(["SCHREI", "RUF"], ["cry", "cry"])
    assert hits("term", [Term("cry", ("schrei",))], some, tagger=tagger) == [2]


def test_a_term_inside_a_longer_one_is_not_asked_for():
    terms = [Term("disk", ("Scheibe",)), Term("hard disk", ("Festplatte",))]
    some = texts(["Festplatte"], ["hard disk"])
    assert hits("term", terms, some, match="forms") == []


def test_a_term_that_is_not_translated_is_kept_as_it_is_written():
    some = texts(["SQLite ist gut", "sqlite ist gut"], ["SQLite is good"] * 2)
    assert hits("term", [Term("SQLite", ("SQLite",))], some, match="forms") == [2]
    some = texts(["Wer?", "Wer ist sie?"], ["Who is it?", "Who is the WHO?"])
    assert hits("term", [Term("WHO", ("WHO",))], some, match="forms") == [2]
    some = texts(["Kabel", "Nets"], ["nets", "nets"])
    assert hits("term", [Term("net*", ("net*",))], some, match="forms") == [1]


def test_forbidden_words_with_and_without_a_source():
    some = texts(["Das Handy", "Das Handy", "Das Telefon"], ["mobile", "phone", "mobile"])
    terms = [Term("mobile", (), ("Handy",))]
    assert hits("forbidden-term", terms, some, match="forms") == [1]
    assert hits("forbidden-term", [Term("", (), ("Handy",))], some, match="forms") == [1, 2]


def test_another_alternative_than_in_the_rest_of_the_document():
    some = texts(
        ["Maus", "Maus", "Nager", "Nager"], ["mouse"] * 4, documents=["one", "one", "one", "two"]
    )
    terms = [Term("mouse", ("Maus", "Nager"))]
    assert hits("consistency", terms, some, match="forms") == [3]
    assert hits("consistency", [Term("mouse", ("Maus",))], some, match="forms") == []


def test_a_row_may_hold_for_one_segment():
    some = texts(["Nager", "Nager"], ["mouse"] * 2)
    assert hits("term", [Term("mouse", ("Maus",), (), 1)], some, match="forms") == [2]


def test_wmt25_takes_parts_of_texts():
    pytest.importorskip("simplemma")
    some = texts(["Festplattenfehler", "Disketten"], ["hard disk error", "hard disk"])
    assert hits("term", [Term("hard disk", ("festplatte",))], some, match="wmt25") == [2]


def test_ways_of_finding_terms_are_listed():
    with pytest.raises(UnknownNameError, match="wmt25"):
        Terminology(Glossary(()), match="wmt")


@pytest.mark.skipif(not SHARED, reason="GNOMON_SHARED names no directory of shared data")
@pytest.mark.parametrize(("kind", "prescribed"), [("proper", 543), ("random", 615)])
def test_success_is_that_of_wmt25(kind, prescribed):
    pytest.importorskip("simplemma")
    folder = Path(SHARED) / "data" / "wmt25-terminology" / "en-de"
    if not folder.is_dir():
        pytest.skip("the shared data lack WMT25's terminology task")
    with (folder / "segments.jsonl").open(encoding="utf-8") as lines:
        segments = [json.loads(line) for line in lines]
    terms = [
        Term(source, (target,), (), number)
        for number, segment in enumerate(segments)
        for source, target in segment[kind].items()
    ]
    published = json.loads((folder / "published.json").read_text("utf-8"))
    systems, cells = {}, {}
    for mode, team in (("proper", "o3-term-guide"), ("random", "BIT"), ("noterm", "Erlendur")):
        with (folder / "systems" / f"{team}.{mode}.jsonl").open(encoding="utf-8") as outputs:
            systems[team] = [json.loads(line)["de"] for line in outputs]
        cells[team] = published[mode][team][f"{kind}_term_success_rate"]
    testset = gn.TestSet.from_lists(
        systems,
        [one["de"] for one in segments],
        sources=[one["en"] for one in segments],
        language_pair="en-de",
    )
    success = Terminology(Glossary(tuple(terms)), match="wmt25").success(Texts(testset))
    for team, cell in cells.items():
        used, all_terms = success[team]
        assert all_terms == prescribed
        assert used / all_terms == pytest.approx(cell, abs=0.01)
