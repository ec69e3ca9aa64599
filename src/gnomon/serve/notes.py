"""Notes on segments: a file of a study, of which each change replaces all."""

from __future__ import annotations

import datetime as dt
import secrets
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from gnomon.core.errors import UsageError
from gnomon.serve.comparison import read_record, write_record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["NOTES", "Note", "add_note", "delete_note", "read_notes"]


NOTES = "notes.json"
#: characters of a note, and notes of a study
MOST_TEXT, MOST_NOTES = 4000, 2000
_lock = threading.Lock()


class Note(msgspec.Struct, frozen=True):
    """A note on a segment."""

    id: str
    testset: str
    segment: int
    author: str
    by: str
    time: str
    text: str


def read_notes(folder: Path) -> list[Note]:
    """The notes of a study, in the order in which they were made."""
    return read_record(folder / NOTES, list[Note]) or []


def add_note(folder: Path, testset: str, segment: int, text: str, *, by: str, author: str) -> Note:
    """Add a note; on disk when this returns."""
    text = text.replace("\r\n", "\n").strip()
    if not text:
        raise UsageError("a note needs some words")
    if len(text) > MOST_TEXT:
        raise UsageError(f"a note has at most {MOST_TEXT:,} characters; this one has {len(text):,}")
    time = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    note = Note(secrets.token_hex(8), testset, segment, author, by, time, text)
    with _changing(folder) as notes:
        if len(notes) >= MOST_NOTES:
            raise UsageError("this study has no room for more notes; delete some")
        notes.append(note)
    return note


def delete_note(folder: Path, note_id: str, *, by: str, owner: bool = False) -> Note:
    """Delete a note: who wrote it may, and the owner of the server."""
    with _changing(folder) as notes:
        note = next((note for note in notes if note.id == note_id), None)
        if note is None:
            raise UsageError("there is no such note; it may have been deleted")
        if not owner and note.by != by:
            raise UsageError("only who wrote a note, or the owner of the server, may delete it")
        notes.remove(note)
    return note


@contextmanager
def _changing(folder: Path) -> Iterator[list[Note]]:
    """The notes of a study, to be changed."""
    with _lock:
        notes = read_notes(folder)
        if not notes and (folder / NOTES).exists() and (folder / NOTES).stat().st_size > 3:
            raise UsageError("the notes of this study cannot be read; its folder has them")
        yield notes
        write_record(folder / NOTES, notes)
