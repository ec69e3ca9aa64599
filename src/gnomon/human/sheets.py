"""Blind sheets: annotators' view, its key, and their answers."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from gnomon.core.errors import DataError, FormatError
from gnomon.core.findings import Exhibit
from gnomon.core.signature import content_hash
from gnomon.data.formats import (
    FileRecord,
    Worksheet,
    build_workbook,
    escape_cell,
    read_lines,
    read_worksheet,
    sheet_rows,
)
from gnomon.linguistics import Edit, apply_edits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from gnomon.core.findings import ExhibitText

#: kinds of judgement
Origin: TypeAlias = Literal["outputs", "muler", "paraphrases"]
#: answers where two outputs stand side by side
CHOICES = ("A", "B", "tie")
_SCALE = "from 0 (not at all) to 100 (perfectly)? Leave open what you cannot tell."
_QUESTIONS: Mapping[tuple[Origin, bool], str] = {
    ("muler", False): (
        "Which output renders the marked words better: A, B, or neither (tie)? Judge these words"
        " alone, against the reference (and the source). Leave open what you cannot tell."
    ),
    ("outputs", False): (
        "Which output is better: A, B, or neither (tie)? Leave open what you cannot tell."
    ),
    (
        "outputs",
        True,
    ): f"How well does the output say what the source or the reference says, {_SCALE}",
    ("paraphrases", True): f"How well does the output keep the meaning of the reference, {_SCALE}",
}


class SheetItem(NamedTuple):
    """An item of a sheet: what is shown, and what is not.

    - ``texts``: source, references, and one output, or two of them called A and B.
    - ``segment``: counted from 1.
    - ``a``, ``b``: the systems, or the method; ``b`` is empty where there is one output.
    - ``feature``: whose words are to be judged, or empty.
    - ``expected``: the system that people are expected to prefer, or empty.
    """

    texts: tuple[ExhibitText, ...]
    segment: int
    a: str
    b: str = ""
    feature: str = ""
    expected: str = ""


@dataclass(frozen=True)
class Sheet:
    """Sheet that annotators see.

    Attributes:
        study: what the sheet, its key and its answers have in common.
        items: name of an item -> its texts.
        question: what is asked of each item.
    """

    study: str
    items: Mapping[str, Exhibit]
    question: str


@dataclass(frozen=True)
class KeyRow:
    """Facts of an item that the sheet does not show."""

    item: str
    feature: str
    segment: int
    a: str
    b: str
    expected: str


@dataclass(frozen=True)
class Key:
    """Key that tells what is what in a sheet.

    Attributes:
        study: the study that it belongs to.
        rows: name of an item -> what the sheet does not tell.
        origin: what is judged.
        signature: how to make sheet and key again.
    """

    study: str
    rows: Mapping[str, KeyRow]
    origin: str
    signature: str

    @property
    def scalar(self) -> bool:
        """True if single outputs are scored."""
        return not any(row.b for row in self.rows.values())


def make_sheet(items: Sequence[SheetItem], origin: Origin, signature: str) -> tuple[Sheet, Key]:
    """A sheet of some items and its key; its name tells it from others, and nothing else."""
    texts = [said for item in items for said in (item.feature, *(t.text for t in item.texts))]
    study = f"g{content_hash(*texts)[:6]}"
    names = [f"{study}-{number:03d}" for number in range(1, len(items) + 1)]
    shown = {
        name: Exhibit(item.feature, "to judge", segment=0, texts=item.texts)
        for name, item in zip(names, items, strict=True)
    }
    rows = {
        name: KeyRow(name, item.feature, item.segment, item.a, item.b, item.expected)
        for name, item in zip(names, items, strict=True)
    }
    key = Key(study, rows, origin, signature)
    return Sheet(study, shown, _QUESTIONS[origin, key.scalar]), key


# Sheet and key as tab-separated files.


_OF_ROWS = tuple(field.name for field in fields(KeyRow))
_KEY_COLUMNS = (*_OF_ROWS, "study", "origin", "signature")
_OPEN, _CLOSE = "\u27e6", "\u27e7"  # ⟦ ⟧: brackets that no text uses by chance


def sheet_text(sheet: Sheet) -> str:
    """A sheet to be filled in: ``item, feature, source, references, outputs, answer, comment``.

    Marked words stand in brackets ⟦ ⟧. Texts that a spreadsheet would run are neutralised by an
    apostrophe.
    """
    return _text(_sheet_rows(sheet))


def sheet_workbook(sheet: Sheet, *, scalar: bool) -> bytes:
    """The same as a workbook of Excel, which lets people choose among the answers.

    Args:
        sheet: what annotators see.
        scalar: answers are numbers from 0 to 100.
    """
    heads, *rows = ([escape_cell(cell) for cell in row] for row in _sheet_rows(sheet))
    allowed = (0, 100) if scalar else CHOICES
    made = Worksheet(sheet.study, heads, rows, choices={heads.index("answer"): allowed})
    return build_workbook([made])


def _sheet_rows(sheet: Sheet) -> list[list[str]]:
    exhibits = sheet.items.values()
    columns = list(dict.fromkeys(_column(text) for shown in exhibits for text in shown.texts))
    columns.sort(key=lambda column: column in ("output", *CHOICES))
    featured = ["feature"] * any(shown.group for shown in exhibits)
    rows = [["item", *featured, *columns, "answer", "comment"]]
    for item, shown in sheet.items.items():
        texts = {_column(text): _mark_cell(text) for text in shown.texts}
        given = [texts.get(column, "") for column in columns]
        rows.append([item, *([shown.group] if featured else []), *given, "", ""])
    return rows


def key_text(key: Key) -> str:
    """The key as a file."""
    common = (key.study, key.origin, key.signature)
    rows = [[str(cell) for cell in (*astuple(row), *common)] for row in key.rows.values()]
    return _text([_KEY_COLUMNS, *rows])


def _column(text: ExhibitText) -> str:
    if text.role == "candidate":
        return text.name or "output"
    return f"{text.role} {text.name}".strip()


def _mark_cell(text: ExhibitText) -> str:
    insertions = (
        Edit(position, position, bracket)
        for mark in text.highlights
        for position, bracket in ((mark.start, _OPEN), (mark.end, _CLOSE))
    )
    return apply_edits(text.text, insertions)


def _text(rows: Iterable[Sequence[str]]) -> str:
    return "".join("\t".join(map(escape_cell, row)) + "\n" for row in rows)


# Keys and filled sheets, read back.


_SUFFIXES = (".gz", ".tsv", ".txt", ".xlsx")


class Answer(NamedTuple):
    """Answer of an annotator on an item: "A", "B", "tie", a number, or nothing."""

    annotator: str
    item: str
    answer: str
    comment: str
    record: FileRecord


def read_key(path: str | PathLike[str]) -> Key:
    """Read the key of a sheet."""
    rows = sheet_rows(str(path), read_lines(path), _KEY_COLUMNS)
    if not rows:
        raise FormatError("holds no items; give the key that was written with the sheet", path=path)
    key_rows: dict[str, KeyRow] = {}
    for row in rows:
        key_row = _key_row(row)
        if key_row.item in key_rows:
            raise row.error(f"item {key_row.item!r} occurs twice in the key")
        key_rows[key_row.item] = key_row
    first = rows[0]
    return Key(first.get("study"), key_rows, first.get("origin"), first.get("signature"))


def _key_row(row: FileRecord) -> KeyRow:
    cells: dict[str, Any] = {name: row.get(name) for name in _OF_ROWS}
    if not cells["segment"].isdecimal():
        raise row.error(f"segment is {cells['segment']!r}; give the key as gnomon wrote it")
    made = KeyRow(**{**cells, "segment": int(cells["segment"])})
    if made.a == made.b or made.expected not in ("", made.a, made.b):
        raise row.error("'a' and 'b' must be two systems, and 'expected' one of them or nothing")
    return made


def read_answers(paths: Sequence[str | PathLike[str]], key: Key) -> list[Answer]:
    """Read filled sheets (TSV, .xlsx), and what the form saved as TSV; blank answers are kept.

    The annotator is named by the file (column ``annotator``), else by the file's name.
    """
    seen: dict[tuple[str, str], Answer] = {}
    for path in paths:
        for answer in _read(path, key):
            first = seen.setdefault((answer.annotator, answer.item), answer)
            if first is not answer:
                raise answer.record.error(
                    f"item {answer.item!r} was answered before by {answer.annotator!r}, in"
                    f" {first.record.path}:{first.record.line}; keep one of the two, or, if two"
                    " people answered, name them (column 'annotator')"
                )
    if not any(answer.answer for answer in seen.values()):
        files = ", ".join(map(str, paths)) or "the files given"
        raise DataError(
            f"no item is answered in {files}; write {_describe_allowed(key)} into 'answer'"
        )
    return list(seen.values())


def _read(path: str | PathLike[str], key: Key) -> Iterator[Answer]:
    lines = (read_worksheet if str(path).endswith(".xlsx") else read_lines)(path)
    if lines and lines[0].startswith("{"):
        raise FormatError("is what the form goes on with; save the answers as TSV", path=path)
    name = Path(path).name
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    for row in sheet_rows(str(path), lines, ("item", "answer")):
        if row.get("item") or row.get("answer"):
            yield _answer(row, name or "annotator", key)


def _answer(row: FileRecord, fallback: str, key: Key) -> Answer:
    given, item = row.get("answer"), row.get("item")
    if not item:
        raise row.error("there is an answer, but no item; keep the column 'item' of the sheet")
    if item not in key.rows:
        study = item.partition("-")[0]
        other = "" if study == key.study else f", which belongs to study {key.study!r}"
        raise row.error(
            f"item {item!r} is not in the key{other}; give the key that was written with this sheet"
        )
    said = _read_score(given) if key.scalar else {c.lower(): c for c in CHOICES}.get(given.lower())
    if given and said is None:
        raise row.error(
            f"the answer is {given!r}; allowed are {_describe_allowed(key)}, and nothing for an"
            " open item"
        )
    return Answer(row.get("annotator") or fallback, item, said or "", row.get("comment"), row)


def _describe_allowed(key: Key) -> str:
    return "numbers from 0 to 100" if key.scalar else "A, B, tie"


def _read_score(text: str) -> str | None:
    """A number from 0 to 100 as Python writes it; None where it is none."""
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return None
    return repr(value) if 0 <= value <= 100 else None
