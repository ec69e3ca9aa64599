"""Glossaries: prescribed and forbidden translations of terms.

A table (CSV, TSV, JSONL) has the columns ``source`` and ``target``, or codes of the two languages,
and may have:

``forbidden``
    translations that must not be used; with an empty ``source``, in no segment
``segment``
    the one segment, counted from 1, for which the row holds

Alternatives are parted by ``|``. A star stands for any letters of a word (``Netz*``). A target that
is the source itself is kept as it is written, upper and lower case, and looked for so. TBX is read
in its forms of 2008 (``martif``) and 2019 (``tbx``); terms whose status is deprecated or superseded
are forbidden.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.parsers import expat

from gnomon.core.errors import FormatError, GnomonError
from gnomon.core.scripts import base_language
from gnomon.data.formats import read_bytes, read_records

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from os import PathLike

    from gnomon.data.formats import FileRecord

__all__ = ["Glossary", "Term", "read_glossary"]

_MOST_TERMS = 200_000
_LONGEST = 1_000  # characters of a term
_PARTS = "|"
_FORBIDDEN = ("deprecated", "superseded", "forbidden", "obsolete")
_ENTRIES, _SECTIONS = ("termEntry", "conceptEntry"), ("langSet", "langSec")


@dataclass(frozen=True)
class Term:
    """A term and its translations.

    Attributes:
        source: the term; empty where translations are forbidden in every segment.
        targets: the alternatives that are allowed; none where some are forbidden only.
        forbidden: translations that must not be used.
        segment: the one segment for which it holds, from 0; None for all.
    """

    source: str
    targets: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    segment: int | None = None

    @property
    def is_kept(self) -> bool:
        """True if it is not translated."""
        return self.targets == (self.source,) and "*" not in self.source


@dataclass(frozen=True)
class Glossary:
    """Terms of two languages."""

    terms: tuple[Term, ...]
    path: str = ""


def read_glossary(path: str | PathLike[str], language_pair: str | None = None) -> Glossary:
    """Read a glossary; rows with the same source give alternatives.

    Args:
        path: a table (``.csv``, ``.tsv``, ``.jsonl``) or TBX (``.tbx``, ``.xml``).
        language_pair: of the test set; TBX, and tables with codes of languages, need it.

    Raises:
        FormatError: the file is not such a table, is no TBX, declares entities, or a row is odd.
    """
    name = str(path)
    first, _, second = (language_pair or "").partition("-")
    pair = (base_language(first) if second else "", base_language(second or first))
    is_xml = name.removesuffix(".gz").endswith((".tbx", ".xml"))
    terms = _TbxReader(name, pair).read(read_bytes(path)) if is_xml else _rows(path, pair)
    merged: dict[tuple[str, int | None], Term] = {}
    for line, term in terms:
        _check(term, name, line)
        known = merged.get((term.source, term.segment), Term(term.source))
        merged[term.source, term.segment] = Term(
            term.source,
            tuple(dict.fromkeys((*known.targets, *term.targets))),
            tuple(dict.fromkeys((*known.forbidden, *term.forbidden))),
            term.segment,
        )
        if len(merged) > _MOST_TERMS:
            raise FormatError(
                f"holds more than {_MOST_TERMS:,} terms; keep those of your texts",
                path=name,
                line=line,
            )
    if not merged:
        raise FormatError(
            f"holds no term of {' and '.join(filter(None, pair)) or 'two languages'}", path=name
        )
    return Glossary(tuple(merged.values()), name)


def _check(term: Term, path: str, line: int) -> None:
    texts = (term.source, *term.targets, *term.forbidden)
    if any(len(text) > _LONGEST for text in texts):
        problem = f"a term has over {_LONGEST:,} characters; terms are words, not texts"
    elif not term.targets and not term.forbidden:
        problem = (
            f"{term.source!r} has no translation; give a target, or the source once more for a"
            " term that is not translated"
        )
    elif not term.source and term.targets:
        problem = "a target has no source; without one only forbidden words may stand"
    elif any(not text.strip("* ") for text in texts[1:]):
        problem = "a term is a star alone; give some letters of the word"
    else:
        return
    raise FormatError(problem, path=path, line=line)


# Tables


def _rows(path: str | PathLike[str], pair: tuple[str, ...]) -> Iterator[tuple[int, Term]]:
    records = read_records(path)
    if not records:
        return
    columns = {column.casefold(): column for column in records[0].values}
    source, target = (
        next((columns[name] for name in names if name in columns), names[0])
        for names in (("source", "src", pair[0]), ("target", "tgt", pair[-1]))
    )
    if source not in records[0].values or not {target, "forbidden"} & records[0].values.keys():
        raise FormatError(
            f"there are no columns 'source' and 'target'; the header has: {', '.join(columns)};"
            " rename those of the terms and their translations",
            path=records[0].path,
            line=1,
        )
    for record in records:
        if not any(map(record.get, (source, target, "forbidden"))):
            continue
        yield (
            record.line,
            Term(
                record.get(source).strip(),
                _split_cell(record.get(target)),
                _split_cell(record.get("forbidden")),
                _segment(record),
            ),
        )


def _split_cell(cell: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in cell.split(_PARTS) if part.strip()))


def _segment(record: FileRecord) -> int | None:
    if record.values.get("segment") in (None, ""):
        return None
    return record.integer("segment", 1) - 1


# TBX


@dataclass
class _TermEntry:
    """An entry by language: its terms, and whether they are forbidden."""

    line: int
    terms: dict[str, list[tuple[str, bool]]] = field(default_factory=dict)


class _TbxReader:
    """Follows expat through a file; entities and document types with declarations are refused."""

    def __init__(self, path: str, pair: tuple[str, ...]) -> None:
        self._path, self._pair = path, pair
        parser = self._parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = parser.SkippedEntityHandler = self._refuse
        parser.ExternalEntityRefHandler = self._refuse
        self._entries: list[_TermEntry] = []
        self._language = self._tag = self._status = self._heard = ""

    def read(self, data: bytes) -> Iterator[tuple[int, Term]]:
        """The terms of the two languages, with their lines."""
        if not all(self._pair):
            raise FormatError(
                "names its languages, and the test set does not; give the language pair",
                path=self._path,
            )
        try:
            self._parser.Parse(data, True)  # noqa: FBT003  # expat takes this by position only
        except GnomonError:
            raise
        except (expat.ExpatError, LookupError, ValueError) as error:
            raise self._error(f"is not well-formed XML ({error}); export it again") from error
        for entry in self._entries:
            sources, targets = (entry.terms.get(language, []) for language in self._pair)
            allowed = tuple(term for term, forbidden in targets if not forbidden)
            deprecated = tuple(term for term, forbidden in targets if forbidden)
            for source, _ in sources if targets else ():
                yield entry.line, Term(source, allowed, deprecated)

    def _error(self, problem: str) -> FormatError:
        return FormatError(problem, path=self._path, line=self._parser.CurrentLineNumber)

    def _refuse(self, *_: object) -> int:
        raise self._error(
            "declares or uses entities, by which a file can name other files and grow without"
            " limit when read; such a file is not read. Export it without them"
        )

    def _doctype(self, _: str, __: str | None, ___: str | None, declares: bool) -> None:  # noqa: FBT001
        if declares:
            self._refuse()

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag in _ENTRIES:
            self._entries.append(_TermEntry(self._parser.CurrentLineNumber))
        elif tag in _SECTIONS:
            self._language = base_language(attributes.get("xml:lang", "").partition("-")[0])
        elif tag in ("term", "termNote"):
            self._tag, self._heard = tag, ""
            self._status = attributes.get("type", "") if tag == "termNote" else ""

    def _text(self, text: str) -> None:
        if self._tag in ("term", "termNote"):
            self._heard += text

    def _end(self, tag: str) -> None:
        if not self._entries or tag not in ("term", "termNote"):
            return
        term, self._tag = " ".join(self._heard.split()), ""
        terms = self._entries[-1].terms.setdefault(self._language, [])
        if tag == "term" and term:
            terms.append((term, False))
        elif tag == "termNote" and terms and self._status == "administrativeStatus":
            terms[-1] = (terms[-1][0], term.startswith(_FORBIDDEN))
