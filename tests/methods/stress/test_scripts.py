"""Letters and words in scripts with combining marks, and without spaces."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gnomon.stress.outputs import Output, words_of
from gnomon.stress.rules.any_language import letter, shuffle, typo

if TYPE_CHECKING:
    from gnomon.stress.perturbations import Perturbation

_HINDI = "बीयर वाकई अच्छी है और समाचारपत्र कहते हैं कि सरकारें बदलती रहती हैं।"
_GERMAN = unicodedata.normalize("NFD", "Die Größe der Häuser überrascht alle Gäste.")


def _changed(rule: Perturbation, output: Output) -> list[str]:
    made = []
    for site in rule.rule(output, None, np.random.default_rng(1)):  # type: ignore[arg-type,call-arg]
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


@pytest.mark.parametrize("rule", [typo, letter])
def test_chinese_words_have_no_letters_to_lose_and_names_are_left_alone(rule: Perturbation) -> None:
    text = "我们今天去London公园散步"
    places = [(0, 2), (2, 4), (4, 5), (5, 11), (11, 13), (13, 15)]
    assert _changed(rule, Output(0, text, places=places)) == []


def test_thai_words_have_letters() -> None:
    assert _changed(letter, Output(0, "ประเทศไทย", places=[(0, 6), (6, 9)])) != []
