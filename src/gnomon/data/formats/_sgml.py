"""Test sets in the SGML of NIST and WMT (to 2020), and in its XML form (mteval).

::

    <srcset setid="newstest2014" srclang="any"> <doc docid="..." genre="news" origlang="de">
    <refset setid="..." srclang="any" trglang="en"> <doc sysid="ref" docid="..."> <hl> <p>
    <tstset setid="..." srclang="any" trglang="en"> <doc sysid="SYSTEM" docid="...">
    <seg id="1">text</seg>

Sources, references and outputs stand in files of their own. Such files are often no well-formed
SGML, and still less XML (``&`` as it is, tags in upper or lower case, a missing ``</seg>``); tags
that are not of the format are text. No entity that a file defines is read.
"""

from __future__ import annotations

import html.entities
import re
from bisect import bisect
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gnomon.core.errors import FormatError
from gnomon.data.formats._files import LOGGER, bears_file, plain_name, read_bytes, read_head
from gnomon.data.formats._lines import decode
from gnomon.data.formats._passages import (
    Choices,
    Collected,
    Passages,
    SegmentId,
    assemble,
    languages,
    merge,
)
from gnomon.data.formats._registry import FoundSet, SetFormat

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    from gnomon.core.testset import TestSet
    from gnomon.data.formats._passages import Incomplete, Role
    from gnomon.data.formats.rows import FileHead

SUFFIXES = (".sgm", ".sgml")
_TAG = re.compile(
    r"<(?P<end>/?)(?P<name>srcset|refset|tstset|doc|seg|hl|p)(?P<rest>(?:\s[^<>]*)?)>",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"""(?<![\w.-])([A-Za-z_][\w.-]*)\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)""")
_ENTITY = re.compile(
    r"&(?:#(?P<number>\d{1,7})|#[xX](?P<hex>[0-9A-Fa-f]{1,6})|(?P<name>\w{2,32}));"
)
_ROLES: dict[str, Role] = {"srcset": "source", "refset": "reference", "tstset": "system"}
_CODE = re.compile(r"[a-z]{2,3}(?:[_-][A-Za-z]{2,4})?")
_GLUED = re.compile(r"(?:^|[-._])([a-z]{2})([a-z]{2})-(?:src|ref)(?:[A-Z]?\b|-ts)")
_DASHED = re.compile(r"(?:^|[._])([a-z]{2,3})-([a-z]{2,3})(?=[._]|$)")
_HEAD = 1 << 16
_END = re.compile(r"[.]([a-z]{2,3})[.]sgml?(?:[.]gz)?$")
_PLAIN = ("ref", "reference", "")


class _Tag(NamedTuple):
    end: bool
    name: str
    attributes: dict[str, str]
    start: int
    stop: int


class SgmlSet(NamedTuple):
    """The files of one set and language pair in a folder."""

    name: str
    pair: str | None
    files: tuple[Path, ...]


def is_sgml(head: str) -> bool:
    """True if a file begins like one."""
    begins = head.lstrip("\ufeff \t\r\n").startswith("<")
    return begins and re.search(r"<(srcset|refset|tstset)\s", head, re.IGNORECASE) is not None


def read_sgml(
    paths: Sequence[str | PathLike[str]],
    *,
    language_pair: str | None = None,
    keep: Sequence[str] = (),
    incomplete: Incomplete = "refuse",
) -> TestSet:
    """Read the files of one set: sources, references (several = several), outputs.

    Args:
        paths: the files; ``.gz`` allowed.
        language_pair: if neither the files nor their names say it.
        keep: what is kept although it is usually left out: "unreferenced" (segments without a
            reference, where others have one); "entities" leaves ``&amp;`` as it stands.
        incomplete: what becomes of a system that lacks segments: "refuse" the files, "empty" texts,
            or "drop" the system.

    Raises:
        FormatError: a file is not such SGML; file and line are named.
        DataError: there are neither sources nor references, or a system lacks segments.
        UnknownNameError: the set is not of the language pair.
    """
    choices = Choices(tuple(keep), incomplete)
    collected = merge([_parse(path, choices) for path in paths])
    pair = language_pair
    if pair is None and not languages(collected):
        pair = _pair_from_names(collected, [Path(path).name for path in paths])
    return assemble(collected, path=str(paths[0]), language_pair=pair, choices=choices)


def sgml_sets(folder: Path) -> list[SgmlSet]:
    """The sets in a folder, by their ids and the language pairs in the names of the files."""
    groups: dict[tuple[str, str | None], list[Path]] = {}
    for file in sorted(folder.iterdir()):
        first = _first_tag(file)
        if first is not None:
            attributes = _attributes(first["rest"])
            key = (attributes.get("setid", ""), _pair_of(attributes, file))
            groups.setdefault(key, []).append(file)
    return [SgmlSet(name, pair, tuple(files)) for (name, pair), files in groups.items()]


def pair_in_name(name: str) -> str | None:
    """The language pair that a file's name tells.

    >>> pair_in_name("newstest2019-deen-src.de.sgm"), pair_in_name("newstest2019.UCAM.de-en.sgm")
    ('de-en', 'de-en')
    """
    match = _GLUED.search(name) or _DASHED.search(name)
    return f"{match[1]}-{match[2]}" if match else None


def _pair_from_names(collected: Collected, names: Sequence[str]) -> str | None:
    """The pair that names of files tell: -deen-src, or src.de and ref.en."""
    pairs = [pair for name in names if (pair := pair_in_name(name))]
    ends = [
        {
            m[1]
            for p in collected.parts
            if (p.role == "source") is source and (m := _END.search(p.path))
        }
        for source in (True, False)
    ]
    apart = [next(iter(end)) for end in ends if len(end) == 1]
    return pairs[0] if pairs else "-".join(apart) if len(apart) == 2 else None


def _first_tag(file: Path) -> re.Match[str] | None:
    name = file.name.removesuffix(".gz")
    if not (name.endswith((*SUFFIXES, ".xml")) and bears_file(file)):
        return None
    head = read_head(file, _HEAD).decode(errors="replace")
    return next((m for m in _TAG.finditer(head) if m["name"].lower() in _ROLES), None)


def _pair_of(attributes: Mapping[str, str], file: Path) -> str | None:
    codes = [code for name in ("srclang", "trglang") if (code := _code(attributes.get(name, "")))]
    return pair_in_name(file.name) or ("-".join(codes) if len(codes) == 2 else None)


def _code(language: str) -> str | None:
    return language if _CODE.fullmatch(language) and language != "any" else None


def _attributes(text: str) -> dict[str, str]:
    pairs = _ATTRIBUTE.findall(text)
    return {name.lower(): _decode(value.strip("\"'")) for name, value in pairs}


def _parse(path: str | PathLike[str], choices: Choices) -> Collected:
    text = decode(read_bytes(path), str(path))
    if re.search(r"<!ENTITY\b", text[: 1 << 16], re.IGNORECASE):
        raise FormatError(
            "defines entities (<!ENTITY ...>), by which a file can name other files and grow"
            " without limit when read; such a file is not read. Where you trust it, take the"
            " definitions out",
            path=path,
        )
    reader = _SgmlReader(str(path), text, keep_entities="entities" in choices.keep)
    collected = reader.read()
    if not collected.parts:
        raise FormatError(
            "holds no <srcset>, <refset> or <tstset> with a <seg> in a <doc>", path=path
        )
    if reader.unclosed:
        LOGGER.warning(
            "%s: %d segments lack </seg>, the first in line %d; they end at the next tag",
            path,
            len(reader.unclosed),
            reader.unclosed[0],
        )
    return collected


class _SgmlReader:
    """Walks from tag to tag."""

    def __init__(self, path: str, text: str, *, keep_entities: bool) -> None:
        self.found = Collected()
        self.unclosed: list[int] = []
        self._path = path
        self._text = text
        self._keep = keep_entities
        self._ends = [match.start() for match in re.finditer("\n", text)]
        self._set: _Tag | None = None
        self._part: Passages | None = None
        self._parts: dict[tuple[str, str], Passages] = {}
        self._document: str | None = None
        self._open: _Tag | None = None
        self._count = 0

    def read(self) -> Collected:
        """Read the whole text."""
        for tag in self._tags():
            if self._open is not None:
                self._close(tag)
                if tag.end and tag.name == "seg":
                    continue
            self._meet(tag)
        if self._open is not None:
            raise self._error("the last <seg> is not closed: the file is cut short", self._open)
        return self.found

    def _tags(self) -> Iterator[_Tag]:
        for match in _TAG.finditer(self._text):
            yield _Tag(
                bool(match["end"]),
                match["name"].lower(),
                _attributes(match["rest"]),
                match.start(),
                match.end(),
            )

    def _line(self, position: int) -> int:
        return bisect(self._ends, position - 1) + 1

    def _error(self, problem: str, tag: _Tag) -> FormatError:
        return FormatError(problem, path=self._path, line=self._line(tag.start))

    def _meet(self, tag: _Tag) -> None:
        if tag.name in _ROLES:
            self._set = None if tag.end else tag
            if not tag.end and not self.found.name:
                self.found.name = tag.attributes.get("setid", "")
        elif tag.name == "doc":
            self._document = None
            if not tag.end:
                self._open_document(tag)
        elif tag.name == "seg":
            if tag.end:
                raise self._error("</seg> without a <seg> before it", tag)
            if self._document is None or self._part is None:
                raise self._error("a <seg> stands outside of any <doc>", tag)
            self._open = tag
            self._count += 1

    def _open_document(self, tag: _Tag) -> None:
        if self._set is None:
            raise self._error("a <doc> stands outside of <srcset>, <refset> and <tstset>", tag)
        name = tag.attributes.get("docid") or tag.attributes.get("id")
        if not name:
            raise self._error("a <doc> has no docid", tag)
        self._document, self._count = name, 0
        self._part = self._part_of(tag, self._set)
        facts = self.found.facts.setdefault(name, {})
        for key, column in (("genre", "domain"), ("origlang", "origlang")):
            if tag.attributes.get(key):
                facts[column] = tag.attributes[key]

    def _part_of(self, document: _Tag, group: _Tag) -> Passages:
        role = _ROLES[group.name]
        named = document.attributes.get("sysid") or group.attributes.get("sysid")
        named = named or group.attributes.get("refid") or ""
        name = "" if role == "source" or (role == "reference" and named in _PLAIN) else named
        if role == "system" and not name:
            name = plain_name(self._path).removesuffix(".sgm").removesuffix(".sgml")
        key = (role, name)
        if key not in self._parts:
            language = group.attributes.get("srclang" if role == "source" else "trglang", "")
            self._parts[key] = Passages(role, name, self._path, _code(language))
            self.found.parts.append(self._parts[key])
        return self._parts[key]

    def _close(self, tag: _Tag) -> None:
        begun = self._open
        if begun is None or self._part is None or self._document is None:
            return
        if not (tag.end and tag.name == "seg"):
            self.unclosed.append(self._line(begun.start))
        text = self._text[begun.stop : tag.start]
        segment = SegmentId(self._document, begun.attributes.get("id") or str(self._count))
        self._part.add(segment, text if self._keep else _decode(text), self._line(begun.start))
        self._open = None


def _decode(text: str) -> str:
    """A text with its character entities resolved once; unknown ones stay as they are."""
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(match: re.Match[str]) -> str:
    if match["name"]:
        return html.entities.html5.get(f"{match['name']};", match.group())
    code = int(match["number"]) if match["number"] else int(match["hex"], 16)
    allowed = code in (9, 10, 13) or 32 <= code < 0xD800 or 0xDFFF < code <= 0x10FFFF
    return chr(code) if allowed else match.group()


def _set_of_file(head: FileHead) -> FoundSet | None:
    """A file with all others of its set, which lie beside it."""
    if not is_sgml(head.text):
        return None
    sgml_set = next((s for s in sgml_sets(head.path.parent) if head.path in s.files), None)
    files = (head.path,) if sgml_set is None else sgml_set.files
    pair = None if sgml_set is None else sgml_set.pair
    return FoundSet(head.path, partial(read_sgml, files, incomplete="drop"), pair, files)


def _sets_in_folder(folder: Path) -> list[FoundSet]:
    return [
        FoundSet(
            sgml_set.files[0],
            partial(read_sgml, sgml_set.files, incomplete="drop"),
            sgml_set.pair,
            sgml_set.files,
        )
        for sgml_set in sgml_sets(folder)
    ]


FORMATS = (
    SetFormat(
        name="wmt-sgml",
        title="NIST and WMT to 2020, SGML: srcset, refset, tstset; all files of a set, *.sgm",
        of_file=_set_of_file,
        in_folder=_sets_in_folder,
        read=read_sgml,
        together=True,
        after=("wmt-xml", "wmt-package", "wmt-daseg"),
    ),
)
