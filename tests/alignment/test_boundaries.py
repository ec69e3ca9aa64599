"""Outputs without lines, cut where the segments of a guide end, in scripts of many kinds."""

from __future__ import annotations

import random
import textwrap

import numpy as np
import pytest
from tests.truth.scripts import damaged, sentences
from tests.truth.worlds import outputs, references

import gnomon as gn
from gnomon.alignment import boundaries
from gnomon.alignment.aligning import align_texts
from gnomon.alignment.boundaries import align_boundaries
from gnomon.alignment.joining import join_pieces
from gnomon.core.errors import DataError, LengthMismatchError

_SMALL = {
    "hi": ["बिल्ली घर में सो रही है।", "कुत्ता बाहर बैठा है।", "सब शांत है।"],
    "ar": ["القطة نائمة في البيت.", "الكلب في الخارج.", "كل شيء هادئ."],
    "zh": ["猫在家里睡觉。", "狗坐在外面。", "一切都很安静。"],
    "ja": ["猫は家で寝ています。", "犬は外に座っています。", "すべてが静かです。"],
    "cs": ["Kočka spí doma.", "Pes sedí venku.", "Všude je klid."],
}


def _restored(own: list[str], theirs: list[str]) -> float:
    found = align_boundaries([join_pieces(own)], theirs).texts
    at = [np.cumsum([len("".join(text.split())) for text in some])[:-1] for some in (own, found)]
    return float((at[0] == at[1]).mean())


@pytest.mark.parametrize("language", _SMALL)
def test_a_text_without_lines_is_cut_as_its_reference(language: str) -> None:
    theirs = _SMALL[language]
    found = align_boundaries([join_pieces(theirs)], theirs)
    assert list(found.texts) == theirs
    assert min(found.margins) >= 1
    assert found.lines == ((0,),) * 3
    assert set(found.operations) == {"merge"}


@pytest.mark.parametrize("script", ["en", "zh", "ja", "ko", "th"])
def test_most_boundaries_of_translations_are_restored(script: str) -> None:
    own, theirs = outputs()[:80], references()[:80]
    if script != "en":
        theirs = sentences(script, 80)
        own = damaged(theirs, script, 0.3, 2)
    assert _restored(own, theirs) > 0.9


def test_other_lines_count_for_nothing_and_are_named() -> None:
    theirs = ["One two three.", "Four five six.", "Seven eight."]
    found = align_boundaries(["One two", "", "three. Four five six.", "Seven eight."], theirs)
    assert list(found.texts) == theirs
    assert found.lines == ((0, 2), (2,), (3,))
    assert found.operations == ("merge", "merge", "match")
    assert found.input_lines == 3


def test_a_segment_that_is_left_out_is_empty() -> None:
    theirs = ["One two three.", "Four five six.", "Seven eight nine."]
    found = align_boundaries(["One two three. Seven eight nine."], theirs)
    assert list(found.texts) == ["One two three.", "", "Seven eight nine."]
    assert found.operations[1] == "drop"


def test_a_band_that_widens_finds_what_the_whole_table_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own, theirs = outputs(), references()
    text = [join_pieces([*own[150:], *own])]  # begins with what is not there
    whole = align_boundaries(text, theirs)
    monkeypatch.setattr(boundaries, "_WHOLE", 0)
    monkeypatch.setattr(boundaries, "_AROUND", 8)
    assert align_boundaries(text, theirs).texts[1:] == whole.texts[1:]


def test_a_line_for_each_document_is_cut_within_it() -> None:
    own, theirs = outputs()[:60], references()[:60]
    documents = [str(i // 20) for i in range(60)]
    lines = [join_pieces(own[start : start + 20]) for start in (0, 20, 40)]
    found = align_texts(lines, theirs, documents)
    assert found.by == "boundaries"
    assert [found.lines[i] for i in (0, 19, 20, 59)] == [(0,), (0,), (1,), (2,)]
    assert [found.margins[i] for i in (19, 39)] == [float("inf")] * 2
    assert sum(a == b.strip() for a, b in zip(found.texts, own, strict=True)) > 54


def test_lines_that_are_wrapped_are_aligned_by_their_words() -> None:
    own = outputs()
    lines = textwrap.wrap(join_pieces(own), 60)
    assert len(lines) < 2 * len(own)
    found = align_texts(lines, references())
    assert found.by == "boundaries"
    assert sum(a == b.strip() for a, b in zip(found.texts, own, strict=True)) > 200


def test_another_text_is_refused() -> None:
    with pytest.raises(DataError, match=r"of its boundaries are uncertain"):
        align_texts([" ".join(f"{n}x" for n in range(2000))], references())
    shuffled = " ".join(random.Random(1).sample(outputs(), 209))
    with pytest.raises(DataError, match="stand in another order"):
        align_texts([shuffled], references())
    with pytest.raises(LengthMismatchError, match="leaves out 209 of 209 segments"):
        align_texts(["", " "], references())


@pytest.mark.parametrize("script", ["en", "ja", "th"])
def test_what_was_done_to_a_whole_text_is_said(script: str) -> None:
    theirs = references()[:40] if script == "en" else sentences(script, 40)
    own = outputs()[:40] if script == "en" else damaged(theirs, script, 0.2, 2)
    ts = gn.TestSet.from_lists({"fine": own}, theirs).align({"whole": [join_pieces(own)]})
    (said,) = (str(one) for one in ts.anomalies if one.code == "data.aligned")
    assert said.startswith("whole has 1 line for 40: cut where segments of fine end (")
    assert "of 39 boundaries uncertain" in said
    assert "aligned (" not in said


@pytest.mark.parametrize("empty", [2, 5, 22])
def test_a_blank_line_may_be_a_segment_that_is_left_out(empty: int) -> None:
    own, theirs = outputs()[:60], references()[:60]
    lines = [*own[:empty], "", *own[empty + 1 : 40], f"{own[40]} {own[41]}", *own[42:]]
    found = align_texts(lines, theirs, ["a"] * 30 + ["b"] * 30)
    assert (found.drops, len(found.added), found.texts[empty]) == (1, 0, "")


@pytest.mark.parametrize("head", ['<doc id="{}">', "# {}", "{}"])
@pytest.mark.parametrize("whole", [False, True])
def test_lines_that_name_documents_part_them(head: str, whole: bool) -> None:
    own, theirs = outputs()[:40], references()[:40]
    lines = []
    for name, some in (
        ("news-1", own[:19]),
        ("news-2", own[20:]),
    ):  # without the last one of the first
        lines += [head.format(name), *([join_pieces(some)] if whole else some)]
    found = align_texts(lines, theirs, ["news-1"] * 20 + ["news-2"] * 20)
    assert found.margins[19] == float("inf")
    assert not found.added
    assert found.texts[20:22] == tuple(text.strip() for text in own[20:22])
