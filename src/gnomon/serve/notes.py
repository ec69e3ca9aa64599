"""Notes on segments: a file of lines that is only added to; editing and deleting add lines, too."""

from __future__ import annotations

import datetime as dt
import os
import secrets
import threading
from typing import TYPE_CHECKING, Literal

import msgspec

from gnomon.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = [
    "NOTES",
    "Note",
    "add_note",
    "delete_note",
    "edit_note",
    "notes_by_segment",
    "read_notes",
]


NOTES = "notes.jsonl"
#: characters of a note, and bytes of all notes of a study
MOST_TEXT, MOST_BYTES = 4000, 5_000_000
_lock = threading.Lock()


class Note(msgspec.Struct, frozen=True):
    """A note on a segment, as it is now."""

    id: str
    testset: str
    segment: int
    author: str
    by: str
    time: str
    text: str
    edited: str | None = None


class _Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of the file."""

    what: Literal["note", "edit", "delete"]
    id: str
    by: str
    time: str
    author: str = ""
    testset: str = ""
    segment: int = 0
    text: str = ""


def read_notes(folder: Path) -> list[Note]:
    """The notes of a study, in the order in which they were made; damaged lines are left out."""
    notes: dict[str, Note] = {}
    for line in _lines(folder / NOTES):
        known = notes.get(line.id)
        if line.what == "note" and known is None:
            notes[line.id] = Note(
                line.id, line.testset, line.segment, line.author, line.by, line.time, line.text
            )
        elif line.what == "edit" and known is not None:
            notes[line.id] = msgspec.structs.replace(known, text=line.text, edited=line.time)
        elif line.what == "delete":
            notes.pop(line.id, None)
    return list(notes.values())


def _lines(file: Path) -> Iterator[_Line]:
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return
    for line in data.split(b"\n")[:-1]:  # what has no line end is not finished
        try:
            yield msgspec.json.decode(line, type=_Line)
        except (ValueError, RecursionError):
            continue


def notes_by_segment(folder: Path, testset: str) -> dict[int, list[Note]]:
    """The notes on a test set, by number of the segment."""
    by_segment: dict[int, list[Note]] = {}
    for note in read_notes(folder):
        if note.testset == testset:
            by_segment.setdefault(note.segment, []).append(note)
    return by_segment


def add_note(folder: Path, testset: str, segment: int, text: str, *, by: str, author: str) -> Note:
    """Add a note; on disk when this returns."""
    text = _checked(text)
    note = Note(secrets.token_hex(8), testset, segment, author, by, _now(), text)
    _append(folder, _Line("note", note.id, by, note.time, author, testset, segment, text))
    return note


def edit_note(folder: Path, note_id: str, text: str, *, by: str, owner: bool = False) -> Note:
    """Change the text of a note: who wrote it may, and the owner of the server."""
    text = _checked(text)
    note = _own(folder, note_id, by, owner=owner)
    time = _now()
    _append(folder, _Line("edit", note_id, by, time, text=text))
    return msgspec.structs.replace(note, text=text, edited=time)


def delete_note(folder: Path, note_id: str, *, by: str, owner: bool = False) -> Note:
    """Delete a note: its text leaves the file, too."""
    from gnomon.studies.reading import replace_text

    note = _own(folder, note_id, by, owner=owner)
    with _lock:
        kept = [line for line in _lines(folder / NOTES) if line.id != note_id]
        text = "".join(msgspec.json.encode(line).decode() + "\n" for line in kept)
        replace_text(folder / NOTES, text)
        (folder / NOTES).chmod(0o600)
    return note


def _own(folder: Path, note_id: str, by: str, *, owner: bool) -> Note:
    note = next((note for note in read_notes(folder) if note.id == note_id), None)
    if note is None:
        raise UsageError("there is no such note; it may have been deleted")
    if not owner and note.by != by:
        raise UsageError("only who wrote a note, or the owner of the server, may change it")
    return note


def _checked(text: str) -> str:
    text = text.replace("\r\n", "\n").strip()
    if not text:
        raise UsageError("a note needs some words")
    if len(text) > MOST_TEXT:
        raise UsageError(f"a note has at most {MOST_TEXT:,} characters; this one has {len(text):,}")
    return text


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def _append(folder: Path, line: _Line) -> None:
    """Add a line in one write; after a line that an interruption tore, it begins a new one."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    data = msgspec.json.encode(line) + b"\n"
    with _lock:
        file = os.open(folder / NOTES, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            size = os.fstat(file).st_size
            if size + len(data) > MOST_BYTES:
                raise UsageError("this study has no room for more notes; delete some")
            if size and os.pread(file, 1, size - 1) != b"\n":
                data = b"\n" + data
            os.write(file, data)
            os.fsync(file)
        finally:
            os.close(file)
