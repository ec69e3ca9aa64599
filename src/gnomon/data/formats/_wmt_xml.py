"""WMT's test sets in XML, 2020 and later: sources, references and outputs in one file.

::

    <dataset id="wmttest2022">
      [<collection id="general">]
      <doc id="..." origlang="en" [domain="news"] [testsuite="..."]>
        <src lang="en"><p><seg id="1">...</seg></p></src>
        <ref lang="de" [translator="A"]><p><seg id="1">...</seg></p></ref>
        <hyp lang="de" system="NAME"><p><seg id="1">...</seg></p></hyp>
      </doc>

(wmt-conference/wmt-format-tools has the schema.) Read by expat, and no file that declares a
document type is read: entities and other files cannot be named without one. A document whose id
occurred before becomes ``ID#2``, and an empty reference is none, as in sacreBLEU.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING
from xml.parsers import expat

from gnomon.core.errors import FormatError
from gnomon.data.formats._files import plain_name, read_bytes
from gnomon.data.formats._matching import pair_of
from gnomon.data.formats._passages import (
    Choices,
    Collected,
    Passages,
    SegmentId,
    assemble,
    merge,
)
from gnomon.data.formats._registry import FoundSet, SetFormat
from gnomon.data.formats._xml import DOCTYPE, parse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from pathlib import Path

    from gnomon.core.testset import TestSet
    from gnomon.data.formats._passages import Incomplete, Role
    from gnomon.data.formats.rows import FileHead

_ROLES: dict[str, Role] = {"src": "source", "ref": "reference", "hyp": "system"}
_NAMES = {"source": "", "reference": "translator", "system": "system"}


def is_wmt_xml(head: str) -> bool:
    """True if a file begins like one."""
    return head.lstrip("\ufeff \t\r\n").startswith("<") and "<dataset" in head and "<doc" in head


def read_wmt_xml(
    paths: Sequence[str | PathLike[str]],
    *,
    language_pair: str | None = None,
    keep: Sequence[str] = (),
    incomplete: Incomplete = "refuse",
) -> TestSet:
    """Read one file, or several of one set (the set, and outputs that were submitted).

    Args:
        paths: the files; ``.gz`` allowed.
        language_pair: which pair, where a file holds several.
        keep: what is kept although it is usually left out: "test-suites" (documents of test
            suites), "unreferenced" (segments without a reference, where others have one).
        incomplete: what becomes of a system that lacks segments: "refuse" the file, "empty" texts,
            or "drop" the system.

    Raises:
        FormatError: a file is not such XML, declares a document type, or gives a segment twice.
        DataError: there are neither sources nor references, or a system lacks segments.
        UnknownNameError: the set is not of the language pair.
        UsageError: it holds several pairs.
    """
    collected = merge([parse_wmt_xml(path) for path in paths])
    name = str(paths[0])
    collected.name = collected.name or plain_name(name).removesuffix(".xml")
    choices = Choices(tuple(keep), incomplete)
    return assemble(collected, path=name, language_pair=language_pair, choices=choices)


def parse_wmt_xml(path: str | PathLike[str]) -> Collected:
    """Parse one file."""
    reader = _XmlReader(str(path))
    reader.read(read_bytes(path))
    if not reader.found.parts:
        raise FormatError(
            "holds no <doc> with <src>, <ref> or <hyp>; WMT's XML is <dataset><doc><src><p><seg>",
            path=path,
        )
    return reader.found


def pair_in(head: str, path: Path) -> str | None:
    """The language pair, from the first lines of a file or from its name."""
    languages = {
        role: re.search(rf'<{role}\b[^<>]*\blang(?:uage)?="([A-Za-z_-]+)"', head) for role in _ROLES
    }
    start, end = languages["src"], languages["ref"] or languages["hyp"]
    return f"{start[1]}-{end[1]}" if start and end else pair_of(path)


class _XmlReader:
    """Follows expat through a file."""

    def __init__(self, path: str) -> None:
        self.found = Collected()
        self._path = path
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._parser.EntityDeclHandler = self._refuse
        self._parser.ExternalEntityRefHandler = self._refuse
        self._collection = ""
        self._document: str | None = None
        self._seen: Counter[str] = Counter()
        self._part: Passages | None = None
        self._parts: dict[tuple[str, str, str], Passages] = {}
        self._place: SegmentId | None = None
        self._line = 0
        self._heard: list[str] = []

    def read(self, data: bytes) -> None:
        """Read a whole file."""
        parse(self._parser, data, self._path)

    def _refuse(self, *_: object) -> int:
        raise self._error(DOCTYPE.format(kind="WMT's files"))

    def _error(self, problem: str) -> FormatError:
        return FormatError(problem, path=self._path, line=self._parser.CurrentLineNumber)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "dataset":
            self.found.name = attributes.get("id", "")
        elif tag == "collection":
            self._collection = attributes.get("id", "")
        elif tag == "doc":
            self._open_document(attributes)
        elif tag in _ROLES:
            self._open_part(_ROLES[tag], attributes)
        elif tag == "seg" and self._part is not None:
            self._open_segment(attributes)

    def _open_document(self, attributes: dict[str, str]) -> None:
        name = attributes.get("id")
        if not name:
            raise self._error("a <doc> has no id")
        self._seen[name] += 1
        if self._seen[name] > 1:
            name = f"{name}#{self._seen[name]}"
        self._document = name
        self.found.facts[name] = {
            key: attributes[key] for key in ("domain", "origlang", "testsuite") if key in attributes
        }
        if self._collection:
            self.found.facts[name]["collection"] = self._collection

    def _open_part(self, role: Role, attributes: dict[str, str]) -> None:
        if self._document is None:
            raise self._error(f"the {role} stands outside of any <doc>")
        name = attributes.get(_NAMES[role], "")
        if role == "system" and not name:
            raise self._error("a <hyp> does not name its system")
        language = attributes.get("lang") or attributes.get("language")
        key = (role, name, language or "")
        if key not in self._parts:
            self._parts[key] = Passages(role, name, self._path, language)
            self.found.parts.append(self._parts[key])
        self._part = self._parts[key]

    def _open_segment(self, attributes: dict[str, str]) -> None:
        if self._place is not None:
            raise self._error("a <seg> stands inside another")
        if not attributes.get("id"):
            raise self._error("a <seg> has no id")
        self._place = SegmentId(self._document or "", attributes["id"])
        self._line = self._parser.CurrentLineNumber
        self._heard = []

    def _text(self, text: str) -> None:
        if self._place is not None:
            self._heard.append(text)

    def _end(self, tag: str) -> None:
        if tag == "seg" and self._place is not None and self._part is not None:
            text = "".join(self._heard)
            if text.strip() or self._part.role != "reference":
                self._part.add(self._place, text, self._line)
            self._place = None
        elif tag in _ROLES:
            self._part = None
        elif tag == "doc":
            self._document = None
        elif tag == "collection":
            self._collection = ""


def _set_of_file(head: FileHead) -> FoundSet | None:
    if not is_wmt_xml(head.text):
        return None
    pair = pair_in(head.text, head.path)
    return FoundSet(head.path, partial(read_wmt_xml, [head.path], incomplete="drop"), pair)


FORMATS = (
    SetFormat(
        name="wmt-xml",
        title="WMT 2020 and later, XML: <dataset><doc><src>, <ref translator>, <hyp system>",
        of_file=_set_of_file,
        suffixes=(".xml",),
        read=read_wmt_xml,
        together=True,
    ),
)
