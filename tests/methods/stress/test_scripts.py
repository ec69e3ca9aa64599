"""Letters and words in scripts with combining marks, and without spaces."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gnomon.core.scripts import is_unspaced
from gnomon.stress.outputs import OtherOutputs, Output, words_of
from gnomon.stress.perturbations import find_perturbations
from gnomon.stress.rules.any_language import letter, no_stop, shuffle, spaces, typo, untranslated
from gnomon.stress.rules.sanity import empty

if TYPE_CHECKING:
    from gnomon.stress.perturbations import Perturbation

_HINDI = "बीयर वाकई अच्छी है और समाचारपत्र कहते हैं कि सरकारें बदलती रहती हैं।"
_GERMAN = unicodedata.normalize("NFD", "Die Größe der Häuser überrascht alle Gäste.")


def _changed(rule: Perturbation, output: Output) -> list[str]:
    made = []
    for site in rule.rule(output, OtherOutputs([output]), np.random.default_rng(1)):
        text = output.text
        for start, end, new in sorted(site if isinstance(site, list) else [site], reverse=True):
            text = text[:start] + new + text[end:]
        made.append(text)
    return made


@pytest.mark.parametrize("text", [_HINDI, _GERMAN])
def test_no_word_is_cut_at_a_mark(text: str) -> None:
    words = [word.text for word in words_of(text)]
    assert words == text.rstrip("।.").split()
    (shuffled,) = _changed(shuffle, Output(0, text))
    assert sorted(word.text.casefold() for word in words_of(shuffled)) == sorted(
        word.casefold() for word in words
    )


@pytest.mark.parametrize("text", [_HINDI, _GERMAN])
@pytest.mark.parametrize("rule", [typo, letter])
def test_a_letter_keeps_its_marks(rule: Perturbation, text: str) -> None:
    marks = {letter for letter in text if unicodedata.combining(letter)}
    changed = _changed(rule, Output(0, text))
    assert changed
    for one in changed:
        assert one != text
        lost = len(text) - len(one)
        assert not lost or lost == len(unicodedata.normalize("NFD", text)) - len(one)
        # no mark stands where a word begins
        assert all(word[0] not in marks for word in one.split())


def test_thai_words_have_letters() -> None:
    assert _changed(letter, Output(0, "ประเทศไทย", places=[(0, 6), (6, 9)])) != []


#: what every script has
_ALL = {"number", "cut", "swap", "shuffle", "repeat", "punctuation"}
_SPELT = {"typo", "letter"}
_TEXTS = {
    "en": ("The water of London costs 1250 pounds today.", {"lower", "first lower", "spaces"}),
    "ru": ("Вода города London стоит сегодня 1250 рублей.", {"lower", "first lower", "spaces"}),
    "zh": ("今天 London 的水价是1250英镑。", set()),
    "ja": ("今日のLondonの水は1250ポンドです。", set()),
    "ko": ("오늘 London 물값은 1250 파운드입니다.", {"spaces"}),
    "th": ("ประเทศไทยวันนี้น้ำใน London ราคา 1250 บาท", set()),
    "hi": ("आज समाचारपत्र London में पानी की कीमत १२५० रुपये है।", {"spaces"}),
    "am": ("የውሃ ዋጋ በ London ከተማ 1250 ብር ነውና ተከፈለ።", {"spaces"}),
    "ar": ("يبلغ سعر المياه في London اليوم ١٢٥٠ دينارا.", {"spaces"}),
}
_RULES = [
    rule
    for rule in find_perturbations(None, "xx")
    if rule.kind == "error" and not rule.needs and not rule.features
]


@pytest.mark.parametrize("language", _TEXTS)
def test_a_script_has_the_errors_that_can_be_made_in_it_and_latin_names_stay(language: str) -> None:
    text, own = _TEXTS[language]
    spelt = _SPELT if language in ("en", "ru", "th", "hi", "ar", "am") else set()
    stop = set() if language == "th" else {"no stop"}
    places = None
    if is_unspaced(language):
        cut = re.finditer(r"[A-Za-z]+|\d+|[^\W\dA-Za-z]{1,5}|[^\w\s]", text)
        places = [match.span() for match in cut]
    output = Output(0, text, places=places)
    made = {rule.name: _changed(rule, output) for rule in _RULES}
    assert {name for name, texts in made.items() if set(texts) - {text}} == (
        _ALL | own | spelt | stop
    )
    if language != "en":
        assert all("London" in one for name in _SPELT for one in made[name])
    (number,) = made["number"]
    digits = [one for one in number if one.isdigit()]
    assert {unicodedata.name(one).split()[0] for one in digits} == {
        unicodedata.name(one).split()[0] for one in text if one.isdigit()
    }


def test_a_word_of_the_source_stands_for_a_word_and_for_no_name() -> None:
    output = Output(0, "今天London很冷", "Heat is over", places=[(0, 2), (2, 8), (8, 9)])
    assert _changed(untranslated, output) == ["HeatLondon很冷"]
    chinese = Output(0, "London is cold", "今天London很冷", source_places=[(0, 2), (2, 8), (8, 10)])
    assert _changed(untranslated, chinese) == ["今天 is cold"]


def test_marks_that_the_outputs_write_apart_are_no_error() -> None:
    french = [Output(n, text) for n, text in enumerate(("Tu viens ?", "Pourquoi?", "Non, merci."))]
    pool = OtherOutputs(french)
    made = [list(spaces.rule(output, pool, np.random.default_rng(1))) for output in french]
    assert made == [[], [], [[(3, 3, " "), (10, 10, " ")]]]


@pytest.mark.parametrize(
    ("text", "stop"),
    [
        ("你好吗", "。"),
        ("猫がいる", "。"),
        ("पानी है", "।"),
        ("ဒါကောင်း", "။"),
        ("ዛሬ ሰላም", "።"),
        ("رجل", "."),
    ],
)
def test_an_empty_text_has_the_full_stop_of_its_script(text: str, stop: str) -> None:
    assert _changed(empty, Output(0, text)) == [stop]
    assert _changed(no_stop, Output(0, text + stop)) == [text]
