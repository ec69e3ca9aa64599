"""Lists of lines aligned with references, in scripts with and without spaces."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.truth.scripts import damaged, sentences
from tests.truth.worlds import outputs, references

import gnomon as gn
from gnomon.alignment.joining import join_pieces
from gnomon.alignment.lines import align_lines
from gnomon.alignment.places import expected_places
from gnomon.core.errors import DataError, LengthMismatchError

if TYPE_CHECKING:
    from pathlib import Path

_SCRIPTS = ("zh", "ja", "ko", "th")


def _texts(script: str) -> tuple[list[str], list[str]]:
    """An output and its references."""
    if script == "en":
        return outputs()[:80], references()[:80]
    theirs = sentences(script, 80)
    return damaged(theirs, script, 0.3, 2), theirs


@pytest.mark.parametrize("script", ["en", *_SCRIPTS])
def test_planted_operations_are_found_and_nothing_else(script: str) -> None:
    own, theirs = _texts(script)
    half = len(own[30]) // 2 if script in ("zh", "ja") else own[30].index(" ", len(own[30]) // 2)
    lines = [
        *own[:10],
        join_pieces(own[10:12]),
        *own[12:20],
        *own[21:30],  # without 20
        own[30][:half],
        own[30][half:],
        *own[31:50],
        "0123456789 " * 4,
        *own[50:],
    ]
    found = align_lines(lines, theirs)
    kinds = {i: kind for i, kind in enumerate(found.operations) if kind != "match"}
    assert kinds == {10: "merge", 11: "merge", 20: "drop", 30: "split"}
    assert list(found.added) == [lines.index("0123456789 " * 4)]
    wanted = ["" if i == 20 else text for i, text in enumerate(own)]
    same = [
        "".join(a.split()) == "".join(b.split()) for a, b in zip(found.texts, wanted, strict=True)
    ]
    assert sum(same) >= len(own) - (0 if script == "en" else 2)  # a cut may be off by a letter
    assert (found.merges, found.splits, found.drops, found.input_lines) == (1, 1, 1, len(lines))
    assert set(np.flatnonzero(~np.array(same))) <= found.uncertain_segments | {10, 11}


@pytest.mark.parametrize("at", range(0, 208, 69))
def test_one_merged_line_is_found(at: int) -> None:
    own = outputs()
    lines = [*own[:at], f"{own[at]} {own[at + 1]}", *own[at + 2 :]]
    found = align_lines(lines, references())
    assert {i for i, kind in enumerate(found.operations) if kind != "match"} == {at, at + 1}
    assert found.lines[at] == found.lines[at + 1] == (at,)


def test_lines_that_fit_stay_as_they_are() -> None:
    own = outputs()
    found = align_lines(own, references())
    assert found.texts == tuple(text.strip() for text in own)
    assert set(found.operations) == {"match"}
    assert found.doubt < 0.05


def test_many_added_lines_do_not_lead_astray() -> None:
    own, theirs = outputs(), references()
    lines = [*own[:90], *(f"{n} " * 9 for n in range(70)), *own[90:]]
    found = align_lines(lines, theirs)
    assert len(found.added) > 65
    assert sum(a == b.strip() for a, b in zip(found.texts, own, strict=True)) > 205


def test_segments_are_looked_for_around_where_they_are() -> None:
    own = outputs()
    low, high = expected_places([*own[:40], *own[80:]], references())
    places = np.array([*range(40), *[40] * 40, *range(40, 170)])
    assert ((low <= places) & (places <= high)).all()
    assert np.median(high - low) < 30


@pytest.mark.parametrize("texts", [([], ["a"]), (["", " "], ["a b", "c"]), (["x"], [""])])
def test_texts_that_lack_are_dropped(texts: tuple[list[str], list[str]]) -> None:
    found = align_lines(*texts)
    assert len(found.texts) == len(found.operations) == len(texts[1])
    assert found.input_lines == sum(bool(line.strip()) for line in texts[0])


def test_a_line_is_cut_behind_the_sign() -> None:
    theirs = ["A cat was sitting.", "So was the dog.", "They sat there for a long time."]
    found = align_lines(["A cat sat. The dog, too.", "They were sitting there long."], theirs)
    assert found.texts[:2] == ("A cat sat.", "The dog, too.")


def test_lines_without_a_reference_are_kept() -> None:
    own = outputs()
    gaps = ["" if i % 7 == 3 else text for i, text in enumerate(references())]
    found = align_lines([*own[:50], f"{own[50]} {own[51]}", *own[52:]], gaps)
    right = sum(a == b.strip() for a, b in zip(found.texts, own, strict=True))
    assert right > 200


# Test sets with aligned outputs


def _whole() -> gn.TestSet:
    own, theirs = outputs(), references()
    ts = gn.TestSet.from_lists({"other": own}, theirs)
    return ts.align({"whole": [*own[:9], f"{own[9]} {own[10]}", *own[11:]], "fits": own})


def test_outputs_are_aligned_beside_those_that_fit() -> None:
    ts = _whole()
    assert list(ts.alignments) == ["whole"]
    assert ts.systems["fits"] == tuple(outputs())
    assert ts.select(systems=["fits"]).alignments == {}
    some = ts.select(segments=range(5, 20)).alignments["whole"]
    assert some.operations == ts.alignments["whole"].operations[5:20]
    assert len(some.margins) == 14


def test_a_written_test_set_keeps_how_it_was_aligned(tmp_path: Path) -> None:
    own = outputs()
    ts = gn.TestSet.from_lists({"fits": own}, references())
    ts = ts.align({"whole": [*own[:9], "0123 " * 9, f"{own[9]} {own[10]}", *own[12:]]})
    ts.write(tmp_path / "set")
    again = gn.TestSet.read(tmp_path / "set")
    assert again.alignments == ts.alignments
    assert again.alignments["whole"].added == {9: "0123 " * 9}
    assert str(again.anomalies[0]) == str(ts.anomalies[0])


def test_blank_lines_between_documents_hold() -> None:
    own, theirs = outputs()[:20], references()[:20]
    ts = gn.TestSet.from_lists({}, theirs, documents=["a"] * 10 + ["b"] * 10)
    # without the blank line the first one of b would be taken for the last one of a
    ts = ts.align({"whole": [*own[:9], "", own[9], *own[10:]]})
    aligned = ts.alignments["whole"]
    assert aligned.lines[:9] == tuple((i,) for i in range(9))
    assert aligned.lines[9] == ()
    assert aligned.margins[9] == float("inf")


def test_what_cannot_be_aligned_is_refused() -> None:
    own, theirs = outputs(), references()
    ts = gn.TestSet.from_lists({"there": own}, theirs)
    with pytest.raises(LengthMismatchError, match="206 of 209 segments"):
        ts.align({"few": own[:3]})
    shuffled = random.Random(1).sample(own, 200)
    with pytest.raises(DataError, match="of its boundaries are uncertain"):
        ts.align({"shuffled": shuffled})
    with pytest.raises(DataError, match="two systems are called 'there'"):
        ts.align({"there": own})
    with pytest.raises(DataError, match="there is nothing to align outputs with"):
        gn.TestSet.from_lists({}, theirs).align({"a": own[:2]}, by="source")


@pytest.mark.parametrize(("uncertain", "said"), [(20, False), (30, True)])
def test_what_an_alignment_flatters_is_said(uncertain: int, said: bool) -> None:
    ts = _whole()
    margins = (0.5,) * uncertain + (3.0,) * (ts.segments - 1 - uncertain)
    aligned = replace(ts.alignments["whole"], margins=margins)
    doubted = replace(ts, alignments={"whole": aligned})
    assert ("better than it is" in str(doubted.anomalies[0])) is said


def test_operations_are_rows() -> None:
    found = gn.align(_whole())
    rows = {(row["segment"], row["lines"], row["operation"]) for row in found.tables[0].rows}
    assert {(10, "10", "merge"), (11, "10", "merge"), (12, "11", "match")} <= rows
    assert len(rows) == len(references())


def test_a_file_or_a_name_guides(tmp_path: Path) -> None:
    own, theirs = outputs()[:30], references()[:30]
    file = tmp_path / "other.txt"
    file.write_text("\n".join([*own, ""]))
    ts = gn.TestSet.from_lists({"poor": own[::-1]}, theirs)
    lines = {"whole": [" ".join(own[:2]), *own[2:]]}
    assert ts.align(lines).alignments["whole"].guide == ""  # in another order
    for by, name in ((file, "other"), (next(iter(ts.references)), ""), (None, "")):
        assert ts.align(lines, by=by).alignments["whole"].guide == name
    with pytest.raises(LengthMismatchError, match=r"other\.txt has 30, and there are 20 segments"):
        ts.select(segments=range(20)).align(lines, by=file)
