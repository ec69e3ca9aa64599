"""Notes on segments are kept line by line, and changed by who wrote them."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from gnomon.core.errors import UsageError
from gnomon.serve.notes import (
    MOST_TEXT,
    NOTES,
    add_note,
    delete_note,
    edit_note,
    notes_by_segment,
    read_notes,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_a_note_is_kept_with_author_and_time(tmp_path: Path) -> None:
    note = add_note(tmp_path, "set", 3, "  too literal\r\nhere ", by="1", author="Ana")
    assert read_notes(tmp_path) == [note]
    assert (note.author, note.segment, note.text) == ("Ana", 3, "too literal\nhere")
    assert note.time.endswith("+00:00")
    assert (tmp_path / NOTES).stat().st_mode & 0o777 == 0o600
    assert notes_by_segment(tmp_path, "other") == {}


def test_who_wrote_it_changes_and_deletes_it(tmp_path: Path) -> None:
    note = add_note(tmp_path, "set", 3, "first", by="1", author="Ana")
    edit_note(tmp_path, note.id, "second", by="1")
    (now,) = read_notes(tmp_path)
    assert (now.text, now.author) == ("second", "Ana")
    assert now.edited
    delete_note(tmp_path, note.id, by="1")
    assert read_notes(tmp_path) == []
    assert "second" not in (tmp_path / NOTES).read_text()
    assert "first" not in (tmp_path / NOTES).read_text()


def test_others_do_not_but_the_owner_may(tmp_path: Path) -> None:
    note = add_note(tmp_path, "set", 3, "mine", by="1", author="Ana")
    for change in (
        lambda: edit_note(tmp_path, note.id, "x", by="2"),
        lambda: delete_note(tmp_path, note.id, by="2"),
    ):
        with pytest.raises(UsageError, match="only who wrote a note"):
            change()
    delete_note(tmp_path, note.id, by="2", owner=True)
    assert read_notes(tmp_path) == []


def test_a_line_that_was_torn_takes_no_other_with_it(tmp_path: Path) -> None:
    add_note(tmp_path, "set", 1, "one", by="1", author="Ana")
    with (tmp_path / NOTES).open("ab") as file:
        file.write(b'{"more":' + b"[" * 100_000 + b"\n")
        file.write(b'{"what":"note","id":"torn","te')
    add_note(tmp_path, "set", 2, "two", by="1", author="Ana")
    assert [note.text for note in read_notes(tmp_path)] == ["one", "two"]


def test_notes_written_at_once_all_stay(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(
            pool.map(lambda n: add_note(tmp_path, "s", n, "x" * 500, by="1", author="A"), range(40))
        )
    assert sorted(note.segment for note in read_notes(tmp_path)) == [*range(40)]
    for line in (tmp_path / NOTES).read_text().splitlines():
        json.loads(line)


@pytest.mark.parametrize("text", ["", " \n ", "x" * (MOST_TEXT + 1)])
def test_empty_and_endless_notes_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError):
        add_note(tmp_path, "set", 1, text, by="1", author="Ana")
    assert read_notes(tmp_path) == []


def test_a_note_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such note"):
        delete_note(tmp_path, "nothing", by="1")
