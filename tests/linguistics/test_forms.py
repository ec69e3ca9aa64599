"""Features that need no tagger."""

from __future__ import annotations

import pytest

from gnomon.core.errors import UnknownNameError
from gnomon.linguistics import annotate, feature_faults

CZECH = ["Dnes v Praze: 1,5 km (asi). Nejdelší Ulice.", "v Praze km asi", "v Ulice asi, km"]
HINDI = ["राम London में 3 किताबें पढ़ता है। 😀", "राम में पढ़ता है किताबें %s", "www.a.org में"]
JAPANESE = ["東京のGoogle社で、ロボットを3台。"]


def forms(text: str, references: list[str]) -> dict[str, list[str]]:
    spans = annotate([text], ["form:*"], references=references).spans
    return {name[5:]: [text[s:e] for s, e in spans.spans(0, name)] for name in spans.features}


@pytest.mark.parametrize(
    ("texts", "marked"),
    [
        pytest.param(
            CZECH,
            {
                "number": ["1,5"],
                "punctuation": [":", "(", ")", ".", "."],
                "capitalised": ["Praze", "Ulice"],
                "long": ["Nejdelší"],
                "rare": ["Dnes", "Nejdelší"],
            },
            id="Czech",
        ),
        pytest.param(
            HINDI,
            {
                "number": ["3"],
                "punctuation": ["।"],
                "latin": ["London"],
                "long": ["London"],
                "rare": ["London"],
                "emoji": ["😀"],
            },
            id="Hindi",
        ),
        pytest.param(
            JAPANESE,
            {
                "number": ["3"],
                "punctuation": ["、", "。"],
                "latin": ["Google"],
                "katakana": ["ロボット"],
            },
            id="Japanese",
        ),
    ],
)
def test_the_form_of_words_tells_them_apart(texts: list[str], marked: dict[str, list[str]]) -> None:
    assert forms(texts[0], texts) == marked


def test_codes_are_no_words_and_no_numbers() -> None:
    text = "mail a.b@c.org or see https://x.org/12, {name} has <b>%d</b> &amp; more"
    marked = forms(text, [])
    assert marked["address"] == ["a.b@c.org", "https://x.org/12"]
    assert marked["placeholder"] == ["{name}", "<b>", "%d", "</b>", "&amp;"]
    assert set(marked) == {"address", "placeholder", "punctuation", "long"} - {"long"}


def test_rare_words_stand_in_one_segment_of_the_references() -> None:
    references = ["a cat", "a Cat and a dog", "a bird"]
    assert forms("a bird or a cat, a horse", references)["rare"] == ["bird"]
    assert "rare" not in forms("a bird", [])


def test_other_names_of_forms_are_refused_with_the_nearest() -> None:
    (fault,) = feature_faults(["form:numbers"])
    assert isinstance(fault.error, UnknownNameError)
    assert "form:number" in str(fault.error)


def test_long_lines_of_signs_are_read_in_one_pass() -> None:
    assert len(forms("." * 20_000, [])["punctuation"]) == 20_000  # seconds, if read from each
