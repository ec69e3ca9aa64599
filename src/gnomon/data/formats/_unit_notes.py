"""Notes on the units of an XLIFF file, of which nothing else changes."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from gnomon.core.errors import FormatError
from gnomon.core.escaping import visible
from gnomon.data.formats._files import atomic_write, read_bytes
from gnomon.data.formats._units import is_xliff_2, unique_id, xliff_units
from gnomon.data.formats._xml import tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike
    from xml.etree.ElementTree import Element

_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_DECLARED = re.compile(rb"<\?xml[^>]*?encoding\s*=\s*[\"']([\w.-]+)")
_PREFIX = re.compile(rb"<([\w.-]+:)?")
_INDENT = re.compile(rb"\r?\n[ \t]*\Z")
_NO_XML = re.compile("[\ufffe\uffff]")
_LONGEST = 200  # bytes of indentation that are looked at


def write_unit_notes(
    path: str | PathLike[str], target: str | PathLike[str], notes: Mapping[str, Sequence[str]]
) -> None:
    """Write an XLIFF file with notes on its units; every other byte stays as it is.

    Args:
        path: the file.
        target: the file to write.
        notes: of each unit, or segment of one, by its id as the reader of such files has it.

    Raises:
        FormatError: the file is not XLIFF, or not in the encoding that it declares.
        OutputError: it cannot be written.
    """
    annotated = _annotate(read_bytes(path), str(path), notes)
    with atomic_write(target, "wb") as file:
        file.write(annotated)


def _annotate(data: bytes, path: str, notes: Mapping[str, Sequence[str]]) -> bytes:
    declared = _DECLARED.match(data)
    codec = next((name for mark, name in _MARKS.items() if data.startswith(mark)), "")
    codec = codec or (declared[1].decode() if declared else "utf-8")
    try:
        content = data.decode(codec).encode("utf-8")
    except (LookupError, ValueError) as error:
        said = f"is not in the encoding that it declares ({codec}); convert it to UTF-8"
        raise FormatError(said, path=path, line=1) from error
    places: dict[Element, tuple[int, int]] = {}
    root = tree(content, path, "XLIFF files", encoding="utf-8", places=places)
    insert = _insert_2 if is_xliff_2(root, path) else _insert_1
    seen: Counter[str] = Counter()
    texts: dict[Element, list[str]] = {}
    for one in xliff_units(root, path):
        own = notes.get(unique_id(one.name, seen), ())
        segment = one.name.removeprefix(one.unit.get("id", "")).removeprefix("/")
        about = f"segment {segment}: " if segment else ""
        texts.setdefault(one.unit, []).extend(f"{about}{text}" for text in own)
    added = sorted(insert(content, unit, said, places) for unit, said in texts.items() if said)
    parts, last = [], 0
    for place, element in added:
        parts += [content[last:place], element]
        last = place
    whole = b"".join([*parts, content[last:]])
    return whole.decode("utf-8").encode(codec, "xmlcharrefreplace")


def _insert_1(
    content: bytes, unit: Element, said: Sequence[str], places: Mapping[Element, tuple[int, int]]
) -> tuple[int, bytes]:
    """Where notes stand in a unit of XLIFF 1.2, behind its texts, and the notes."""
    before = [one for one in unit if one.tag in ("source", "seg-source", "target")][-1]
    indent, prefix = _around(content, places[before][0])
    made = (_note(prefix, "from", "annotates", text) for text in said)
    return _end(content, before, places), b"".join(indent + note for note in made)


def _insert_2(
    content: bytes, unit: Element, said: Sequence[str], places: Mapping[Element, tuple[int, int]]
) -> tuple[int, bytes]:
    """Likewise of XLIFF 2, in the element of notes, which stands before the texts."""
    notes = unit.find("notes")
    first = next(one for one in unit if one.tag in ("originalData", "segment", "ignorable"))
    indent, prefix = _around(content, places[first if notes is None else notes][0])
    made = b"".join(_note(prefix, "category", "appliesTo", text) for text in said)
    if notes is not None and len(notes):
        return _end(content, notes[-1], places), made
    return places[first][0], b"<%snotes>%s</%snotes>%s" % (prefix, made, prefix, indent)


def _around(content: bytes, place: int) -> tuple[bytes, bytes]:
    """The line end and indentation before an element, and the prefix of its name."""
    indent = _INDENT.search(content[max(0, place - _LONGEST) : place])
    prefix = _PREFIX.match(content, place)
    return indent[0] if indent else b"", (prefix and prefix[1]) or b""


def _end(content: bytes, element: Element, places: Mapping[Element, tuple[int, int]]) -> int:
    """Offset behind an element."""
    end = places[element][1]
    alone = not len(element) and not element.text and content[end - 2 : end] == b"/>"
    return end if alone else content.index(b">", end) + 1


def _note(prefix: bytes, by: str, about: str, text: str) -> bytes:
    name = prefix.decode() + "note"
    said = escape(_NO_XML.sub("?", visible(text)))
    return f'<{name} {by}="gnomon" {about}="target">{said}</{name}>'.encode()
