"""Notes on segments are kept, and deleted by who wrote them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from gnomon.core.errors import UsageError
from gnomon.serve.notes import (
    MOST_TEXT,
    NOTES,
    add_note,
    delete_note,
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


def test_who_wrote_it_deletes_it_and_the_owner_and_no_other(tmp_path: Path) -> None:
    note = add_note(tmp_path, "set", 3, "first", by="1", author="Ana")
    other = add_note(tmp_path, "set", 3, "second", by="1", author="Ana")
    with pytest.raises(UsageError, match="only who wrote a note"):
        delete_note(tmp_path, note.id, by="2")
    delete_note(tmp_path, note.id, by="1")
    assert read_notes(tmp_path) == [other]
    assert "first" not in (tmp_path / NOTES).read_text()
    delete_note(tmp_path, other.id, by="2", owner=True)
    assert read_notes(tmp_path) == []
    add_note(tmp_path, "set", 3, "third", by="1", author="Ana")


def test_notes_that_cannot_be_read_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / NOTES).write_text("[[[[")
    with pytest.raises(UsageError, match="cannot be read"):
        add_note(tmp_path, "set", 1, "one", by="1", author="Ana")
    assert (tmp_path / NOTES).read_text() == "[[[["


def test_notes_written_at_once_all_stay(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(
            pool.map(lambda n: add_note(tmp_path, "s", n, "x" * 500, by="1", author="A"), range(40))
        )
    assert sorted(note.segment for note in read_notes(tmp_path)) == [*range(40)]


@pytest.mark.parametrize("text", ["", " \n ", "x" * (MOST_TEXT + 1)])
def test_empty_and_endless_notes_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError):
        add_note(tmp_path, "set", 1, text, by="1", author="Ana")
    assert read_notes(tmp_path) == []


def test_a_note_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such note"):
        delete_note(tmp_path, "nothing", by="1")
