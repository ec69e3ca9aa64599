"""Filled sheets and keys, read back."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.errors import DataError, FormatError
from gnomon.formats import SheetRow, read_lines, sheet_rows
from gnomon.muler._sheet import ANSWERS, Key, KeyRow
from gnomon.muler._sheet_write import KEY_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

__all__ = ["Answer", "check_items", "read_answers", "read_key"]

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

    Args:
        paths: the files; two may hold parts of one annotator's work.

    Raises:
        MissingFileError: a file is missing.
        FormatError: a file cannot be read, an answer is none of A, B and tie, or an annotator
            answers an item twice; file and line are named.
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
    """Read the key of a study.

    Raises:
        MissingFileError: the file is missing.
        FormatError: a column is missing, a cell is not of its kind, or an item occurs twice.
    """
    rows = sheet_rows(str(path), read_lines(path), KEY_COLUMNS)
    if not rows:
        raise FormatError(
            "holds no items; give the key that was written beside the sheet", path=path
        )
    found: dict[str, KeyRow] = {}
    for row in rows:
        one = _key_row(row)
        if one.item in found:
            raise row.error(f"item {one.item!r} occurs twice in the key")
        found[one.item] = one
    first = rows[0]
    return Key(first.get("study"), found, first.get("metric"), first.get("signature"))


def _read(path: str | PathLike[str]) -> list[Answer]:
    lines = read_lines(path)
    text = "\n".join(lines)
    saved = _saved(str(path), text) if text.lstrip().startswith(("{", "[")) else None
    rows = sheet_rows(str(path), lines, ("item", "answer")) if saved is None else saved
    return [_answer(row, _plain_name(path)) for row in rows if row.get("item") or row.get("answer")]


def _answer(row: SheetRow, fallback: str) -> Answer:
    known = {answer.lower(): answer for answer in ANSWERS}
    given, item = row.get("answer"), row.get("item")
    if given and given.lower() not in known:
        raise row.error(
            f"the answer is {given!r}; allowed are A, B, tie, and nothing for an open item"
        )
    if not item:
        raise row.error("there is an answer, but no item; keep the column 'item' of the sheet")
    return Answer(
        annotator=row.get("annotator") or fallback,
        item=item,
        answer=known.get(given.lower(), ""),
        comment=row.get("comment"),
        path=row.path,
        line=row.line,
    )


def _saved(path: str, text: str) -> list[SheetRow]:
    """The answers of a JSON file as rows."""
    content = _json(path, text)
    answers = content.get("answers") if isinstance(content, dict) else None
    if not isinstance(answers, list) or not all(isinstance(one, dict) for one in answers):
        raise FormatError("is not what the form saves: an object with a list 'answers'", path=path)
    places = _places(text)
    annotator = content.get("annotator", "")
    rows = []
    for number, one in enumerate(answers, start=1):
        cells = {"annotator": annotator, **one}
        line = next(places.get(str(one.get("item")), iter(())), 1)
        for name, value in cells.items():
            if not isinstance(value, str):
                raise FormatError(
                    f"answer {number}: {name!r} is {value!r}; a text is expected",
                    path=path,
                    line=line,
                )
        rows.append(SheetRow(path, line, cells))
    return rows


def _json(path: str, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        problem, line = f"is not JSON: {error.msg}", error.lineno
    except RecursionError:
        problem, line = "is nested too deeply to be what the form saves", 1
    raise FormatError(f"{problem}; save the answers from the form again", path=path, line=line)


def _places(text: str) -> dict[str, Iterator[int]]:
    """Item -> the lines that name it, in order."""
    lines: dict[str, list[int]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        for part in line.split('"item":')[1:]:
            name = part.split('"')[1:2]
            lines.setdefault("".join(name), []).append(number)
    return {name: iter(found) for name, found in lines.items()}


def _plain_name(path: str | PathLike[str]) -> str:
    name = Path(path).name
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return name or "annotator"


def _key_row(row: SheetRow) -> KeyRow:
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
    one = KeyRow(**values)
    if one.a == one.b or one.better not in (one.a, one.b) or one.cheaper not in (one.a, one.b):
        raise row.error("'better' and 'cheaper' must each name one of the two systems a and b")
    return one


def check_items(answers: Sequence[Answer], key: Key) -> None:
    """Refuse answers to items that the key does not know.

    Raises:
        FormatError: an item is not in the key; file and line are named.
        DataError: nothing was answered.
    """
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
