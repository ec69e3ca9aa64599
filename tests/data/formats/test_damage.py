"""Damage to texts, planted in one file of two, and in none."""

from __future__ import annotations

import html
import unicodedata
from typing import TYPE_CHECKING

import pytest
from tests.truth.scripts import sentences

import gnomon as gn
from gnomon.core.data_cautions import select_messages
from gnomon.data.formats.damage import MENDING, damaged_texts
from gnomon.data.formats.line_sample import SomeLines

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_SENTENCE = "Příliš žluťoučký kůň říká: „Úpěl ďábelské ódy,“ a běží dál."
_CZECH = [f"{n} {_SENTENCE}" for n in range(40)]
_DAMAGE: dict[str, Callable[[str], str]] = {
    "misread": lambda text: text.encode().decode("cp1252", "replace"),
    "entities": lambda text: html.escape(f'"{text}" & more'),
    "accents": lambda text: unicodedata.normalize("NFD", text),
    "spaces": lambda text: text.replace(",", " ,").replace(".", " ."),
    "case": str.lower,
}


def _found(systems: dict[str, list[str]], references: list[str]) -> list[tuple[str, bool, str]]:
    testset = gn.TestSet.from_lists(systems, references, name="planted")
    return [(one.name, one.reference, one.kind) for one in damaged_texts(SomeLines(testset))]


@pytest.mark.parametrize("kind", _DAMAGE)
def test_damage_of_one_system_is_named(kind: str) -> None:
    damaged = list(map(_DAMAGE[kind], _CZECH))
    assert _found({"A": _CZECH, "B": damaged}, _CZECH) == [("B", False, kind)]
    assert _found({"B": _CZECH}, damaged)[0] == ("A", True, kind)


def test_capitals_that_short_lines_lost_are_missed_too() -> None:
    """As in subtitles, two lines of three are short."""
    lines = [text if n % 3 == 0 else f"Věc {n}" for n, text in enumerate(_CZECH)]
    assert _found({"A": lines, "B": list(map(str.lower, lines))}, lines) == [("B", False, "case")]


@pytest.mark.parametrize(
    "text",
    [
        "これは新しいiphoneについての長い文章で、来年の春に発売されます。",
        "นี่คือประโยคยาวเกี่ยวกับ iphone รุ่นใหม่ที่จะออกในปีหน้า",
    ],
)
def test_a_word_of_latin_letters_has_lost_no_capitals_where_letters_have_none(text: str) -> None:
    lines = [f"{n} {text}" for n in range(40)]
    references = [line.replace("iphone", "") for line in lines]
    assert _found({"A": references, "B": lines}, references) == []


def test_several_spaces_before_punctuation_are_seen_and_mended() -> None:
    spaced = [text.replace(",", "  ,") for text in _CZECH]
    assert _found({"A": _CZECH, "B": spaced}, _CZECH) == [("B", False, "spaces")]
    assert MENDING["spaces"](spaced[0]) == _CZECH[0]


@pytest.mark.parametrize("kind", _DAMAGE)
def test_what_references_have_too_is_no_damage(kind: str) -> None:
    damaged = list(map(_DAMAGE[kind], _CZECH))
    assert _found({"A": damaged, "B": damaged}, damaged) == []


def test_few_lines_may_be_meant() -> None:
    few = [_DAMAGE["entities"](text) if n < 9 else text for n, text in enumerate(_CZECH)]
    assert _found({"B": few}, _CZECH) == []


@pytest.mark.parametrize("kind", ["misread", "accents"])
def test_mended_text_is_the_text_again(kind: str) -> None:
    text = "Größe, naïve, hôtel"
    damaged = text.encode().decode("latin-1") if kind == "misread" else _DAMAGE[kind](text)
    assert MENDING[kind](damaged) == text


def test_letters_beside_quotation_marks_are_read_right() -> None:
    quoted = [f"Řekl, že „dobrá“ byla kniha {n}, a odešel." for n in range(40)]
    mended = [text.replace("“", '"') for text in quoted]
    assert _found({"A": quoted, "B": mended}, mended) == []


@pytest.mark.parametrize("kind", ["misread", "accents"])
def test_damaged_letters_are_of_no_other_language(kind: str) -> None:
    damaged = list(map(_DAMAGE[kind], _CZECH))
    testset = gn.TestSet.from_lists({"whole": _CZECH, "B": damaged}, _CZECH[1:] + _CZECH[:1])
    assert "data.damaged" in [one.code for one in testset.anomalies]
    assert "language" not in [one.params.get("what") for one in testset.anomalies]


@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_what_damage_costs_is_said(metric: str) -> None:
    damaged = {kind: list(map(_DAMAGE[kind], _CZECH)) for kind in ("accents", "spaces", "case")}
    testset = gn.TestSet.from_lists(
        {"whole": _CZECH, **damaged}, [f"Nuže, tak: {t} A toť vše." for t in _CZECH]
    )
    found = gn.score(testset, metric)
    cautions = select_messages("data.damaged", found.notices)
    said = {one.params["name"]: (one.params["effect"], one.level) for one in cautions}
    assert said["case"] == ("caseless", "caution")
    assert said["accents"] == ("some", "caution")
    assert said["spaces"] == ("nothing", "note")
    values = {one.params["name"]: one.params["value"] for one in cautions}
    assert values["accents"] == pytest.approx(found.system[0])
    lowered = [text.lower() for text in next(iter(testset.references.values())) if text]
    caseless = gn.TestSet.from_lists({"case": testset.systems["case"]}, lowered)
    assert values["case"] == pytest.approx(gn.score(caseless, metric).system[0])


@pytest.mark.parametrize("language", ["zh", "ja", "ko", "th", "km"])
def test_whole_texts_of_a_language_are_not_damaged(language: str) -> None:
    texts = sentences(language, 60)
    assert _found({"A": texts, "B": texts[::-1]}, texts) == []


def test_published_systems_that_are_damaged(shared: Path) -> None:
    """Of kk-en, one output is tokenised and one has no capital letters; of de-en, all are whole."""
    found = damaged_texts(SomeLines(gn.TestSet.read(shared / "data/wmt19/kk-en")))
    assert {one.kind for one in found} == {"spaces", "case"}
    assert list(damaged_texts(SomeLines(gn.TestSet.read(shared / "data/wmt19/de-en")))) == []
