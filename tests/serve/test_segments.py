"""Segments are filtered over all of them, and shown with marks, differences and notes."""

from __future__ import annotations

import re
import shutil
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import UnknownNameError
from gnomon.serve.index import make, read_index
from gnomon.serve.notes import read_notes
from gnomon.serve.segment_pages import (
    CARDS,
    SegmentPage,
    SegmentQuery,
    differences,
    pieces,
    segment_page,
)
from gnomon.serve.store_pages import open_store, stored_study
from gnomon.studies import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import gnomon as gn


@pytest.fixture(scope="session")
def index(finished: Path) -> Path:
    """The index of the texts of the study."""
    folder = finished.parent / "index"
    made = make(Store(finished), folder)
    assert made is not None
    assert made.finished
    return folder


@pytest.fixture(scope="session")
def texts(finished: Path) -> gn.TestSet:
    """The texts themselves."""
    (planned,) = Store(finished).sets()
    return planned.read()


@pytest.fixture
def asked(finished: Path, index: Path) -> Callable[..., SegmentPage]:
    """Pages of segments."""
    return lambda **query: segment_page(open_store(finished, index), index, SegmentQuery(**query))


def _all(asked: Callable[..., SegmentPage], **query: Any) -> list[int]:
    first = asked(**query)
    pages = [first, *(asked(page=n, **query) for n in range(2, first.pages + 1))]
    numbers = [card.segment for page in pages for card in page.cards]
    assert len(numbers) == first.total
    return numbers


def test_all_segments_are_there_with_their_texts(
    asked: Callable[..., SegmentPage], texts: gn.TestSet
) -> None:
    assert _all(asked) == [*range(1, 61)]
    page = asked(page=3)
    assert len(page.cards) == CARDS
    for card in page.cards:
        i = card.segment - 1
        assert card.document == texts.documents[i]
        assert [side.text for side in card.sides] == [texts.sources[i], texts.references["A"][i]]
        shown = {side.name: side.text for side in (*card.outputs, *card.others)}
        assert shown == {name: outputs[i] for name, outputs in texts.systems.items()}
        for side in card.outputs:
            assert "".join(piece.text for piece in side.pieces) == side.text
            assert [title for title, _ in side.scores] == ["BLEU", "chrF"]


def test_a_feature_finds_the_segments_where_both_have_it(
    asked: Callable[..., SegmentPage], texts: gn.TestSet
) -> None:
    the = re.compile(r"\bthe\b")
    system = "apertium-french"
    in_reference = [n for n, text in enumerate(texts.references["A"], 1) if the.search(text)]
    in_both = [n for n in in_reference if the.search(texts.systems[system][n - 1])]
    assert _all(asked, feature="re:the") == in_reference
    assert _all(asked, feature="re:the", system=system) == in_both
    for card in asked(feature="re:the", system=system).cards:
        for side in (card.sides[1], card.outputs[0]):
            marked = "|".join(piece.text for piece in side.pieces if piece.marked)
            assert marked == "|".join(the.findall(side.text))


def test_words_and_lengths_filter(asked: Callable[..., SegmentPage], texts: gn.TestSet) -> None:
    sizes = [len(text.split()) for text in texts.references["A"]]
    assert _all(asked, shortest=8, longest=12) == [
        n for n, size in enumerate(sizes, 1) if 8 <= size <= 12
    ]
    outputs = texts.systems["apertium-direct"]
    fitting = [
        n
        for n in range(1, 61)
        for here in [(texts.sources[n - 1], texts.references["A"][n - 1], outputs[n - 1])]
        if all(any(word in text.lower() for text in here) for word in ("que", "the"))
    ]
    assert _all(asked, q="QUE the", system="apertium-direct") == fitting
    assert _all(asked, q="' or 1=1 --") == []


def test_orders_follow_the_scores(asked: Callable[..., SegmentPage], finished: Path) -> None:
    rows = open_store(finished).rows()
    scores = dict(
        rows.query(
            f"select segment, score from {rows.rows('segments')} where metric = 'chrf'"
            " and system = 'apertium-direct'"
        )
    )
    worst = _all(asked, sort="worst", metric="chrf", system="apertium-direct")
    assert [scores[n] for n in worst] == sorted(scores.values())
    best = _all(asked, sort="best", metric="chrf", system="apertium-direct")
    assert [scores[n] for n in best] == sorted(scores.values(), reverse=True)


def test_outputs_are_told_apart_by_words(asked: Callable[..., SegmentPage]) -> None:
    for card in asked(system="apertium-french").cards:
        (first,) = card.outputs
        assert first.name == "apertium-french"
        assert len(card.others) == 2
        lacking = differences(first.text or "", card.sides[1].text or "")
        assert any(piece.differs for piece in first.pieces) == bool(lacking)


@pytest.mark.parametrize(
    "query",
    [
        {"system": "nope"}, {"feature": "nope"}, {"testset": "nope"}, {"metric": "nope"},
        {"sort": "nope"},
    ],
)  # fmt: skip
def test_unknown_names_are_said(asked: Callable[..., SegmentPage], query: dict[str, str]) -> None:
    with pytest.raises(UnknownNameError):
        asked(**query)


@given(st.text("ab c猫。", max_size=30), st.text("ab c猫。", max_size=30))
def test_pieces_are_the_text_and_differences_what_the_other_lacks(text: str, other: str) -> None:
    made = pieces(text, [0, 1] if text else [], other)
    assert "".join(piece.text for piece in made) == text
    assert all(piece.text for piece in made)
    assert (not any(piece.differs for piece in made)) or text != other


def test_differences_of_texts_of_equal_words_are_left_out() -> None:
    assert differences("la " * 1000, "la " * 999) == []


# The index.


def test_an_index_is_made_once_and_anew_for_other_texts(stored: Path, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    first = make(Store(stored), folder)
    files = {file.name: file.stat().st_mtime_ns for file in folder.glob("*.parquet")}
    assert make(Store(stored), folder) == first
    assert {file.name: file.stat().st_mtime_ns for file in folder.glob("*.parquet")} == files
    assert (folder / "texts-0.parquet").exists()


def test_texts_that_are_gone_are_a_sentence_and_come_back(
    tmp_path: Path, shows: Callable[..., Any], finished: Path, stored: Path
) -> None:
    texts, moved = finished.parent / "es-en", finished.parent / "elsewhere"
    folder = stored_study(stored).folder / "index"
    shutil.move(texts, moved)
    try:
        make(Store(stored), folder)
        page = shows().get("/segments")
        assert page.status_code == 200
        assert "not where they were" in page.text
        assert str(texts) not in page.text
    finally:
        shutil.move(moved, texts)
    make(Store(stored), folder)
    assert "1&ndash;10 of 60 segments" in shows().get("/segments").text


def test_texts_that_were_indexed_stay_to_be_read(finished: Path, index: Path) -> None:
    texts, moved = finished.parent / "es-en", finished.parent / "elsewhere"
    shutil.move(texts, moved)
    try:
        page = segment_page(open_store(finished, index), index, SegmentQuery())
        assert (page.state, page.total) == ("ready", 60)
    finally:
        shutil.move(moved, texts)


def test_another_process_makes_it_while_pages_say_so(
    stored: Path, shows: Callable[..., Any]
) -> None:
    client = shows()
    folder = stored_study(stored).folder / "index"
    begun = time.monotonic()
    assert "The texts are being read" in client.get("/segments").text
    assert time.monotonic() - begun < 1  # it waits for nothing
    while segment_page(open_store(stored, folder), folder, SegmentQuery()).state == "preparing":
        time.sleep(0.02)
    assert "of 60 segments" in client.get("/segments").text


def test_a_damaged_index_is_made_anew(stored: Path, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    make(Store(stored), folder)
    (folder / "index.json").write_text("{")
    assert read_index(folder) is None
    again = make(Store(stored), folder)
    assert again is not None
    assert again.finished


# Pages.


def test_nothing_that_fits_says_what_to_change(shows: Callable[..., Any], stored: Path) -> None:
    make(Store(stored), stored_study(stored).folder / "index")
    page = shows().get("/segments?q=zzzz&shortest=1&longest=2").text
    assert "No segment fits" in page
    assert "Change the length or the words" in page


def test_notes_are_written_shown_escaped_found_and_deleted(
    shows: Callable[..., Any], stored: Path
) -> None:
    make(Store(stored), stored_study(stored).folder / "index")
    client = shows()
    testset = open_store(stored).store.sets()[0].name
    folder = stored_study(stored).folder
    text = "<script>alert(1)</script> =1+1"
    form = {"testset": testset, "segment": "7", "text": text}
    answer = client.post("/notes", data=form)
    assert answer.status_code == 303
    assert answer.headers["location"].endswith("segment=7#segment-7")
    page = client.get("/segments?segment=7").text
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    (note,) = read_notes(folder)
    assert (note.text, note.segment) == (text, 7)
    assert "Segment 7<" in client.get("/segments?noted=1").text
    assert "Segment 1<" not in client.get("/segments?noted=1").text
    client.post("/notes", data={"note": note.id})
    assert read_notes(folder) == []


@pytest.mark.parametrize("segment", ["0", "61", "-1", "x", "", "1e9"])
def test_a_note_needs_a_segment(shows: Callable[..., Any], stored: Path, segment: str) -> None:
    form = {"testset": open_store(stored).store.sets()[0].name, "segment": segment, "text": "x"}
    assert shows().post("/notes", data=form).status_code == 422


def test_a_note_from_another_site_is_refused(shows: Callable[..., Any], stored: Path) -> None:
    form = {"testset": open_store(stored).store.sets()[0].name, "segment": "1", "text": "x"}
    headers = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
    assert shows().post("/notes", data=form, headers=headers).status_code == 403
