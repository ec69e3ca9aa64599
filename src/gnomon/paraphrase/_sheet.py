"""A sheet on which people score paraphrases from 0 to 100, its key, and what the scores say."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gnomon.errors import DataError, FormatError, UsageError
from gnomon.findings import Column, Table
from gnomon.formats import SheetRow, atomic_write, read_lines, sheet_rows, to_cell
from gnomon.paraphrase._adequacy import adequacy_finding, adequacy_row
from gnomon.signature import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from gnomon.findings import Cell, Finding
    from gnomon.testset import Paraphrase, TestSet

__all__ = ["SheetItem", "adequacy_sheet", "judge_adequacy", "read_key", "write_key", "write_sheet"]

_KEY = ("item", "method", "segment", "system", "text")
_ANSWER_COLUMNS = (
    Column("annotator", "Annotator"),
    Column("item", "Item"),
    Column("method", "Method"),
    Column("segment", "Segment", "count"),
    Column("score", "Score", "number", 0),
)


@dataclass(frozen=True)
class SheetItem:
    """A paraphrase to be scored.

    Attributes:
        item: its name on the sheet.
        method: how it was made; hidden from annotators.
        segment: 1-based segment.
        text: the paraphrase.
        system: the system that it is for, if for one.
        references: the references that it should mean the same as; empty in a key.
        source: the source, where there is one.
    """

    item: str
    method: str
    segment: int
    text: str
    system: str | None = None
    references: tuple[str, ...] = ()
    source: str | None = None


def adequacy_sheet(
    testset: TestSet, paraphrases: Sequence[Paraphrase], *, items: int = 100, seed: int = 0
) -> tuple[SheetItem, ...]:
    """Draw paraphrases for people to score, the methods mixed.

    Segments are drawn at random, first those that most methods paraphrase; of each, one paraphrase
    of each method, until every method has ``items`` of them or no more are there.

    Args:
        testset: references and sources.
        paraphrases: the paraphrases; empty ones are left out.
        items: most paraphrases of each method.
        seed: of the draw and of the order.

    Raises:
        DataError: there is no paraphrase.
        UsageError: ``items`` is below 1.
    """
    if items < 1:
        raise UsageError(f"a sheet has at least 1 item of each method; got {items}")
    found: dict[int, dict[str, list[Paraphrase]]] = {}
    for one in paraphrases:
        if one.text.strip():
            found.setdefault(one.segment, {}).setdefault(one.method, []).append(one)
    if not found:
        raise DataError("there is no paraphrase to put on a sheet")
    rng = np.random.default_rng(seed)
    segments = sorted(found)
    order = [segments[i] for i in rng.permutation(len(segments))]
    order.sort(key=lambda segment: -len(found[segment]))
    drawn: list[Paraphrase] = []
    counts: dict[str, int] = {}
    for segment in order:
        for method in sorted(found[segment]):
            choices = found[segment][method]
            one = choices[int(rng.integers(len(choices)))]
            if counts.get(method, 0) < items:
                counts[method] = counts.get(method, 0) + 1
                drawn.append(one)
    study = content_hash(*(f"{p.segment} {p.method} {p.text}" for p in drawn))[:6]
    mixed = [drawn[i] for i in rng.permutation(len(drawn))]
    return tuple(_item(testset, p, f"{study}-{n}") for n, p in enumerate(mixed, start=1))


def write_sheet(path: str | PathLike[str], items: Sequence[SheetItem]) -> None:
    """Write a sheet: ``item, source, reference..., paraphrase, score, comment``, without methods.

    People write into ``score`` how well the paraphrase keeps the meaning of the reference, from 0
    (not at all) to 100 (perfectly). Cells that a spreadsheet would run are neutralised.

    Raises:
        OutputError: the file cannot be written.
    """
    width = max((len(one.references) for one in items), default=0)
    sources = any(one.source for one in items)
    names = [f"reference {k + 1}" if width > 1 else "reference" for k in range(width)]
    header = ["item", *(["source"] if sources else []), *names, "paraphrase", "score", "comment"]
    rows = [
        [
            one.item,
            *([one.source or ""] if sources else []),
            *(*one.references, *[""] * (width - len(one.references))),
            one.text,
            "",
            "",
        ]
        for one in items
    ]
    _write(path, [header, *rows])


def write_key(path: str | PathLike[str], items: Sequence[SheetItem]) -> None:
    """Write the key: which method made each item. Annotators must not see it.

    Raises:
        OutputError: the file cannot be written.
    """
    rows = [(i.item, i.method, str(i.segment), i.system or "", i.text) for i in items]
    _write(path, [_KEY, *rows])


def read_key(path: str | PathLike[str]) -> dict[str, SheetItem]:
    """Read a key: item -> what it is.

    Raises:
        MissingFileError: there is no such file.
        FormatError: a column is missing, or an item occurs twice.
    """
    found: dict[str, SheetItem] = {}
    for row in sheet_rows(str(path), read_lines(path), _KEY):
        item, segment = row.get("item"), row.get("segment")
        if item in found:
            raise row.error(f"item {item!r} occurs twice in the key")
        if not segment.isdecimal():
            raise row.error(f"segment is {segment!r}; give the key as gnomon wrote it")
        made = SheetItem(item, row.get("method"), int(segment), row.get("text"), row.get("system"))
        found[item] = made
    if not found:
        raise FormatError("holds no items; give the key written with the sheet", path=path)
    return found


def judge_adequacy(
    answers: Sequence[str | PathLike[str]],
    key: str | PathLike[str],
    *,
    confidence: float = 0.95,
    seed: int = 0,
) -> Finding:
    """Mean human score of each method, from filled sheets.

    An annotator is named by a column ``annotator``, or else by the file. Items left open count
    nowhere; the scores of several annotators for an item are averaged first.

    Args:
        answers: filled sheets.
        key: the key that was written with the sheet.
        confidence: of the intervals (bootstrap over items).
        seed: of their draws.

    Returns:
        A finding with rows as in :func:`adequacy`, measure "human", and every score.

    Raises:
        FormatError: a score is no number from 0 to 100, an item is not in the key or is scored
            twice by one annotator; file and line are named.
        DataError: nothing is scored.
    """
    items = read_key(key)
    given: dict[tuple[str, str], float] = {}
    for path in answers:
        for row in sheet_rows(str(path), read_lines(path), ("item", "score")):
            value = _score(row)
            if value is None:
                continue
            who, item = row.get("annotator") or Path(path).stem, row.get("item")
            if item not in items:
                raise row.error(f"item {item!r} is not in the key; give the key of this sheet")
            if (who, item) in given:
                raise row.error(f"item {item!r} was scored before by {who!r}; keep one score")
            given[who, item] = value
    if not given:
        raise DataError("no item is scored; write numbers from 0 to 100 into 'score'")
    by_item: dict[str, list[float]] = {}
    for (_, item), value in given.items():
        by_item.setdefault(item, []).append(value)
    by_method: dict[str, list[list[float]]] = {}
    for item in items:
        if item in by_item:
            mean = sum(by_item[item]) / len(by_item[item])
            by_method.setdefault(items[item].method, []).append([mean])
    rows = [adequacy_row(m, "human", v, confidence, seed) for m, v in sorted(by_method.items())]
    scores: list[dict[str, Cell]] = [
        {
            "annotator": who,
            "item": item,
            "method": items[item].method,
            "segment": items[item].segment,
            "score": value,
        }
        for (who, item), value in given.items()
    ]
    annotators = dict.fromkeys(who for who, _ in given)
    return adequacy_finding(
        rows,
        {},
        {"annotators": ", ".join(annotators), "scored": f"{len(by_item)} of {len(items)} items"},
        [Table("scores", "Every score", _ANSWER_COLUMNS, tuple(scores))],
    )


def _item(testset: TestSet, one: Paraphrase, name: str) -> SheetItem:
    i = one.segment - 1
    references = tuple(t[i] or "" for t in testset.references.values() if t[i] is not None)
    source = None if testset.sources is None else testset.sources[i]
    return SheetItem(name, one.method, one.segment, one.text, one.system, references, source)


def _score(row: SheetRow) -> float | None:
    text = row.get("score").replace(",", ".")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 100:
        raise row.error(f"the score is {text!r}; a number from 0 to 100 is expected, or nothing")
    return value


def _write(path: str | PathLike[str], rows: Iterable[Sequence[str]]) -> None:
    with atomic_write(path) as file:
        file.writelines("\t".join(map(to_cell, row)) + "\n" for row in rows)
