"""A blind sheet of outputs to compare, and the key that says which side is which."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import DataError, FormatError, plain
from gnomon.data.formats import FileRecord, atomic_write, read_lines, sheet_rows, to_cell
from gnomon.linguistics import Edit, apply_edits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from gnomon.core.findings import Exhibit, ExhibitText


#: what may be answered
ANSWERS = ("A", "B", "tie")
QUESTION = (
    "Which output renders the words of the feature better: A, B, or neither (tie)? Judge these"
    " words alone, against the reference (and the source). Leave open what you cannot tell."
)


@dataclass(frozen=True)
class Sheet:
    """Outputs to compare, two at a time, without the names of their systems.

    Attributes:
        study: what the sheet, its key and its answers have in common.
        items: name of an item -> source, references and two candidates, called A and B; its group
            is the feature to judge.
        question: what is asked of each item.
    """

    study: str
    items: Mapping[str, Exhibit]
    question: str = QUESTION


@dataclass(frozen=True)
class KeyRow:
    """What the sheet does not show of an item."""

    item: str
    feature: str
    segment: int
    a: str
    b: str
    better: str
    cheaper: str
    muler_a: float
    muler_b: float
    cost_a: float
    cost_b: float
    score_a: float
    score_b: float

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """Names of the fields, in order."""
        return tuple(field.name for field in fields(cls))


@dataclass(frozen=True)
class Key:
    """Which side of each item is which.

    Attributes:
        study: the study that it belongs to.
        rows: name of an item -> what the sheet does not tell.
        metric: name of the metric.
        signature: how to make sheet and key again.
    """

    study: str
    rows: Mapping[str, KeyRow]
    metric: str
    signature: str


# Sheet and key as tab-separated files.


KEY_COLUMNS = (*KeyRow.columns(), "study", "metric", "signature")
_OPEN, _CLOSE = "\u27e6", "\u27e7"  # ⟦ ⟧: brackets that no text uses by chance


def write_sheet(path: str | PathLike[str], sheet: Sheet) -> None:
    """Write a sheet to be filled in: ``item, feature, source, references, A, B, answer, comment``.

    Annotators write A, B or tie into ``answer``. Highlighted words stand in brackets ⟦ ⟧. Texts
    that a spreadsheet would run are neutralised by an apostrophe.
    """
    with atomic_write(path) as file:
        file.write(sheet_text(sheet))


def sheet_text(sheet: Sheet) -> str:
    """What :func:`write_sheet` writes."""
    texts = [text for exhibit in sheet.items.values() for text in exhibit.texts]
    given = list(dict.fromkeys(_column(text) for text in texts if text.role != "candidate"))
    header = ["item", "feature", *given, "A", "B", "answer", "comment"]
    rows = [_row(item, exhibit, given) for item, exhibit in sheet.items.items()]
    return _text([header, *rows])


def write_key(path: str | PathLike[str], key: Key) -> None:
    """Write the key: which system is A and which is B in each item, and what MuLER says."""
    with atomic_write(path) as file:
        file.write(key_text(key))


def key_text(key: Key) -> str:
    """What :func:`write_key` writes."""
    common = (key.study, key.metric, key.signature)
    return _text([KEY_COLUMNS, *((*astuple(row), *common) for row in key.rows.values())])


def _column(text: ExhibitText) -> str:
    return f"{text.role} {text.name}".strip()


def _row(item: str, exhibit: Exhibit, names: Sequence[str]) -> list[str]:
    texts = {_column(text): _marked(text) for text in exhibit.texts}
    sides = [texts["candidate A"], texts["candidate B"]]
    return [item, exhibit.group, *(texts.get(name, "") for name in names), *sides, "", ""]


def _marked(text: ExhibitText) -> str:
    insertions = (
        Edit(position, position, bracket)
        for mark in text.highlights
        for position, bracket in ((mark.start, _OPEN), (mark.end, _CLOSE))
    )
    return apply_edits(text.text, insertions)


def _text(rows: Iterable[Sequence[str | float]]) -> str:
    return "".join("\t".join(map(_cell, row)) + "\n" for row in rows)


def _cell(value: str | float) -> str:
    return to_cell(value) if isinstance(value, str) else repr(value)


# Filled sheets and keys, read back.


_SUFFIXES = (".gz", ".tsv", ".txt", ".json")


@dataclass(frozen=True)
class Answer:
    """What an annotator said of an item.

    Attributes:
        annotator: who.
        item: name of the item.
        answer: "A", "B" or "tie"; empty where the item was left open.
        comment: free text.
        path: the file it stands in.
        line: its line, where known.
    """

    annotator: str
    item: str
    answer: str
    comment: str = ""
    path: str = ""
    line: int | None = None

    def error(self, problem: str) -> FormatError:
        """An error that names file and line."""
        return FormatError(problem, path=self.path, line=self.line)


def read_answers(paths: Sequence[str | PathLike[str]]) -> list[Answer]:
    """Read filled sheets (TSV) and what the form saved (TSV or JSON); blank answers are kept.

    The annotator is named by the file (column or field ``annotator``), else by the file's name.
    """
    answers = [answer for path in paths for answer in _read(path)]
    seen: dict[tuple[str, str], Answer] = {}
    for answer in answers:
        first = seen.setdefault((answer.annotator, answer.item), answer)
        if first is not answer:
            raise answer.error(
                f"item {answer.item!r} was answered before by {answer.annotator!r}, in"
                f" {first.path}:{first.line}; keep one of the two, or, if two people answered, name"
                " them (column 'annotator')"
            )
    return answers


def read_key(path: str | PathLike[str]) -> Key:
    """Read the key of a study."""
    rows = sheet_rows(str(path), read_lines(path), KEY_COLUMNS)
    if not rows:
        raise FormatError(
            "holds no items; give the key that was written beside the sheet", path=path
        )
    key_rows: dict[str, KeyRow] = {}
    for row in rows:
        key_row = _key_row(row)
        if key_row.item in key_rows:
            raise row.error(f"item {key_row.item!r} occurs twice in the key")
        key_rows[key_row.item] = key_row
    first = rows[0]
    return Key(first.get("study"), key_rows, first.get("metric"), first.get("signature"))


def _read(path: str | PathLike[str]) -> list[Answer]:
    lines = read_lines(path)
    text = "\n".join(lines)
    saved = _saved(str(path), text) if text.lstrip().startswith(("{", "[")) else None
    rows = sheet_rows(str(path), lines, ("item", "answer")) if saved is None else saved
    name = Path(path).name
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    filled = [row for row in rows if row.get("item") or row.get("answer")]
    return [_answer(row, name or "annotator") for row in filled]


def _answer(row: FileRecord, fallback: str) -> Answer:
    spellings = {answer.lower(): answer for answer in ANSWERS}
    given, item = row.get("answer"), row.get("item")
    if given and given.lower() not in spellings:
        raise row.error(
            f"the answer is {given!r}; allowed are A, B, tie, and nothing for an open item"
        )
    if not item:
        raise row.error("there is an answer, but no item; keep the column 'item' of the sheet")
    return Answer(
        annotator=row.get("annotator") or fallback,
        item=item,
        answer=spellings.get(given.lower(), ""),
        comment=row.get("comment"),
        path=row.path,
        line=row.line,
    )


def _saved(path: str, text: str) -> list[FileRecord]:
    """The answers of a JSON file as rows."""
    content = _json(path, text)
    answers = content.get("answers") if isinstance(content, dict) else None
    if not isinstance(answers, list) or not all(isinstance(answer, dict) for answer in answers):
        raise FormatError("is not what the form saves: an object with a list 'answers'", path=path)
    places = _places(text)
    annotator = content.get("annotator", "")
    rows = []
    for number, answer in enumerate(answers, start=1):
        cells = {"annotator": annotator, **answer}
        line = next(places.get(str(answer.get("item")), iter(())), 1)
        for name, value in cells.items():
            if not isinstance(value, str):
                raise FormatError(
                    f"answer {number}: {name!r} is {value!r}; a text is expected",
                    path=path,
                    line=line,
                )
        rows.append(FileRecord(path, line, {name: cell.strip() for name, cell in cells.items()}))
    return rows


def _json(path: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:  # of numbers with thousands of digits Python names no line
        problem, line = f"is not JSON: {plain(error)}", getattr(error, "lineno", 1)
    except RecursionError:
        problem, line = "is nested too deeply to be what the form saves", 1
    raise FormatError(f"{problem}; save the answers from the form again", path=path, line=line)


def _places(text: str) -> dict[str, Iterator[int]]:
    """Item -> the lines that name it, in order."""
    lines: dict[str, list[int]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        for rest in line.split('"item":')[1:]:
            name = rest.split('"')[1:2]
            lines.setdefault("".join(name), []).append(number)
    return {name: iter(numbers) for name, numbers in lines.items()}


def _key_row(row: FileRecord) -> KeyRow:
    values: dict[str, Any] = {}
    for field in fields(KeyRow):
        kind = {"int": int, "float": float}.get(str(field.type), str)
        try:
            values[field.name] = kind(row.get(field.name))
        except ValueError:
            raise row.error(
                f"{field.name} is {row.get(field.name)!r}; a number is expected: give the key as"
                " gnomon wrote it"
            ) from None
    key_row = KeyRow(**values)
    if (
        key_row.a == key_row.b
        or key_row.better not in (key_row.a, key_row.b)
        or key_row.cheaper not in (key_row.a, key_row.b)
    ):
        raise row.error("'better' and 'cheaper' must each name one of the two systems a and b")
    return key_row


def check_items(answers: Sequence[Answer], key: Key) -> None:
    """Refuse answers to items that the key does not know."""
    for answer in answers:
        if answer.item not in key.rows:
            study = answer.item.partition("-")[0]
            other = "" if study == key.study else f", which belongs to study {key.study!r}"
            raise answer.error(
                f"item {answer.item!r} is not in the key{other}; give the key that was written with"
                " this sheet"
            )
    if not any(answer.answer for answer in answers):
        files = ", ".join(Counter(answer.path for answer in answers)) or "the files given"
        raise DataError(f"no item is answered in {files}; write A, B or tie into 'answer'")
