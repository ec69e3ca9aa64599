"""What befalls files: each way takes bytes and a draw, and gives other bytes."""

from __future__ import annotations

import contextlib
import gzip
import os
import random
import re
from collections.abc import Callable
from pathlib import Path

Way = Callable[[bytes, random.Random], bytes]

_NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")
_NUMBERS = (
    b"nan", b"NaN", b"inf", b"-inf", b"Infinity", b"1e20", b"1e308", b"1e999", b"-1", b"0", b"",
    b"-0.0", b"null", b"None", b"true", b"0x10", b"1_000", b"1,5", b"9" * 19, b"9" * 400,
    "\u0664\u0662".encode(),
)  # fmt: skip
_INSERTED = (
    b"\0", b"\t", b"\n", b"\r", b"\r\n", b",", b'"', b"\\", b"{", b"]", b"<", b"&#0;", b"&x;",
    b"\xff", b"\xc0\x80", b"\xed\xa0\x80", "\u2028".encode(), "\x85".encode(), "\ufeff".encode(),
    "\u202e".encode(), b"\x1b[2J", b"\\ud800", b"[" * 5000, b"(" * 5000, b"{" + b'"a":{' * 3000,
)  # fmt: skip


def flip(data: bytes, draw: random.Random) -> bytes:
    """One bit."""
    at = draw.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]


def lose(data: bytes, draw: random.Random) -> bytes:
    """A few bytes."""
    at = draw.randrange(len(data))
    return data[:at] + data[at + draw.choice((1, 1, 2, 7, 40)) :]


def insert(data: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(data) + 1)
    return data[:at] + draw.choice(_INSERTED) + data[at:]


def double(data: bytes, draw: random.Random) -> bytes:
    """A few bytes are there twice."""
    at = draw.randrange(len(data))
    return data[: at + draw.choice((1, 3, 20))] + data[at:]


def cut(data: bytes, draw: random.Random) -> bytes:
    """The end is missing, from a line's end, just before or after it, or anywhere."""
    ends = [m.start() for m in re.finditer(b"\n", data)] or [len(data) // 2]
    places = (draw.choice(ends), draw.choice(ends) + 1, draw.choice(ends) + 2)
    return data[: draw.choice((*places, draw.randrange(len(data))))]


def lines(data: bytes, draw: random.Random) -> bytes:
    """A line is dropped, doubled, emptied, or has changed places with another."""
    parts = data.splitlines(keepends=True)
    at, to = draw.randrange(len(parts)), draw.randrange(len(parts))
    match draw.randrange(4):
        case 0:
            del parts[at]
        case 1:
            parts.insert(to, parts[at])
        case 2:
            parts[at] = b"\n"
        case _:
            parts[at], parts[to] = parts[to], parts[at]
    return b"".join(parts)


def fields(data: bytes, draw: random.Random) -> bytes:
    """A field of a line is dropped, doubled, emptied, or has changed places with the next."""
    parts = data.split(b"\n")
    at = draw.randrange(len(parts))
    found = [sign for sign in (b"\t", b",", b" ") if sign in parts[at]]
    if not found:
        return double(data, draw)
    cells = parts[at].split(found[0])
    one = draw.randrange(len(cells))
    match draw.randrange(4):
        case 0:
            del cells[one]
        case 1:
            cells.insert(one, cells[one])
        case 2:
            cells[one] = b""
        case _:
            cells[one - 1], cells[one] = cells[one], cells[one - 1]
    parts[at] = found[0].join(cells)
    return b"\n".join(parts)


def number(data: bytes, draw: random.Random) -> bytes:
    """A number is another one, or none."""
    found = list(_NUMBER.finditer(data))
    if not found:
        return flip(data, draw)
    one = draw.choice(found)
    return data[: one.start()] + draw.choice(_NUMBERS) + data[one.end() :]


def encoded(data: bytes, draw: random.Random) -> bytes:
    """Another encoding; binary data stay damaged otherwise."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return lose(data, draw)
    name = draw.choice(("utf-16", "utf-16-be", "utf-32", "latin-1", "utf-7"))
    return f"é{text}".encode(name, errors="replace")


def long(data: bytes, draw: random.Random) -> bytes:
    """One line is very long."""
    at = draw.randrange(len(data) + 1)
    return data[:at] + b"long " * 60_000 + data[at:]


def empty(_: bytes, draw: random.Random) -> bytes:
    return draw.choice((b"", b"\n", b" ", b"\n\n\n", b"\0" * 64))


def foreign(_: bytes, draw: random.Random) -> bytes:
    """Another file in its place."""
    texts = (
        b"PK\x03\x04" + bytes(60), b"\x80\x04\x95abc", b"%PDF-1.7\n", b"SQLite format 3\0" * 9,
        b'{"a": 1}\n', b"[1, 2]\n", b"<a/>\n", b"#!/bin/sh\nexit 7\n", b"a\tb\n1\t2\n",
        gzip.compress(b"text\n", mtime=0), draw.randbytes(300),
    )  # fmt: skip
    return draw.choice(texts)


def mark(data: bytes, _: random.Random) -> bytes:
    """A byte order mark: the same content."""
    return b"\xef\xbb\xbf" + data


def returns(data: bytes, _: random.Random) -> bytes:
    r"""Lines end in \r\n: the same content."""
    return data.replace(b"\n", b"\r\n")


def unended(data: bytes, _: random.Random) -> bytes:
    """The last line has no end: the same content."""
    return data[:-1] if data.endswith(b"\n") else data


WAYS: tuple[Way, ...] = (
    flip, flip, flip, lose, lose, insert, insert, double, cut, cut, lines, lines, fields, fields,
    number, number, number, encoded, long, empty, foreign,
)  # fmt: skip
# what these give says the same as before
DRESSED: tuple[Way, ...] = (mark, returns, unended)


def within_gzip(way: Way) -> Way:
    """The same of what is compressed."""
    return lambda data, draw: gzip.compress(way(gzip.decompress(data), draw), mtime=0)


def no_file(place: Path, kind: str) -> None:
    """Something else in place of a file, as few readers expect it."""
    with contextlib.suppress(FileNotFoundError):
        place.unlink()
    if kind == "directory":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "socket":
        import socket

        with socket.socket(socket.AF_UNIX) as made, contextlib.chdir(place.parent):
            made.bind(place.name)
    else:
        targets = {"broken link": "nowhere", "loop": place.name, "null device": "/dev/null"}
        place.symlink_to(targets[kind])


KINDS = ("directory", "pipe", "socket", "broken link", "loop", "null device")
