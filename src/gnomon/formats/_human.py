"""What people said, in the files ``human/KIND.LEVEL.tsv`` of gnomon's layout."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from gnomon.errors import FormatError, UnknownNameError
from gnomon.formats._files import LOGGER
from gnomon.formats._folders import entries
from gnomon.formats._judged import in_scale, say_coverage, say_unread
from gnomon.formats._tsv import read_tsv
from gnomon.human import ErrorSpan, HumanScores, Judgements, Ranking

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from gnomon.formats._tsv import Row, Rows
    from gnomon.testset import TestSet

LEVELS = {"sys": "system", "seg": "segment", "doc": "document", "domain": "domain"}
ITEM_COLUMNS = {"segment": "seg", "document": "doc", "domain": "domain"}
SIDES = ("candidate", "source")
_FILE = re.compile(r"(?P<kind>.+)\.(?P<level>[^.]+)\.tsv(?:\.gz)?", re.DOTALL)


@dataclass(frozen=True)
class _Known:
    """What rows may speak of."""

    systems: frozenset[str]
    segments: int
    texts: Mapping[str, Sequence[str]]
    sources: Sequence[str] | None
    items: Mapping[str, frozenset[str]]

    def system(self, row: Row, column: str = "system") -> str:
        """The system that a row names.

        Raises:
            FormatError: there is no such system.
        """
        name = row[column]
        if name not in self.systems:
            unknown = UnknownNameError(
                "system",
                name,
                sorted(self.systems),
                remedy="a system without a text can be listed in systems.tsv",
            )
            raise row.error(str(unknown))
        return name


def read_folder(
    folder: Path,
    systems: Sequence[str],
    segments: int,
    texts: Mapping[str, Sequence[str]],
    sources: Sequence[str] | None,
    documents: Sequence[str] | None,
    domains: Sequence[str] | None,
) -> Judgements:
    """Read every file in the folder ``human``, which may be missing.

    Raises:
        FormatError: a row names an unknown system, a segment out of range, or no number on the
            scale of its kind; or a table has no rows.
    """
    found = Judgements()
    items = {
        level: frozenset(names)
        for level, names in (("document", documents), ("domain", domains))
        if names is not None
    }
    known = _Known(frozenset(systems), segments, texts, sources, items)
    for file in entries(folder):
        if not file.name.startswith(".") and is_human_file(file.name):
            found += _read_file(file, known)
    return found


def read_one(file: Path, testset: TestSet, kind: str | None) -> Judgements:
    """Read one such file for a test set.

    Raises:
        FormatError: as :func:`read_folder`.
    """
    named = (name for human in testset.human for name in human.systems)
    items = {
        level: frozenset(names)
        for level, names in (("document", testset.documents), ("domain", testset.domains))
        if names is not None
    }
    known = _Known(
        frozenset([*testset.systems, *named]),
        testset.segments,
        testset.systems,
        testset.sources,
        items,
    )
    return _read_file(file, known, kind)


def is_human_file(name: str) -> bool:
    """Whether a file is called ``KIND.LEVEL.tsv``."""
    return _FILE.fullmatch(name) is not None


def _read_file(file: Path, known: _Known, kind: str | None = None) -> Judgements:
    match = cast("re.Match[str]", _FILE.fullmatch(file.name))
    name, level = kind or match["kind"], match["level"]
    table = read_tsv(file)
    if level == "spans":
        return Judgements(errors=tuple(_read_spans(table, name, known)))
    if level == "seg" and {"better", "worse"} & set(table.columns):
        if not table.rows:  # some segments of a set may have no ranked pair
            LOGGER.warning("%s: has no rows below its header", table.path)
        return Judgements(rankings=(_read_ranking(table, name, known),))
    if level in LEVELS:
        if not table.rows:
            raise FormatError("has no rows below its header", path=file)
        scores = tuple(_read_scores(table, name, LEVELS[level], known))
        say_coverage(str(file), scores)
        return Judgements(scores=scores)
    raise FormatError(
        f"the level {level!r} in its name is unknown; a file in human/ is called"
        f" KIND.LEVEL.tsv with one of the levels {', '.join(LEVELS)}, spans",
        path=file,
    )


def _read_ranking(table: Rows, kind: str, known: _Known) -> Ranking:
    table.require("seg", "better", "worse")
    say_unread(table, ("seg", "better", "worse", "rater"))
    return Ranking(
        kind,
        tuple(
            (
                row.integer("seg", 1, known.segments) - 1,
                known.system(row, "better"),
                known.system(row, "worse"),
            )
            for row in table
        ),
        tuple(row["rater"] for row in table) if "rater" in table.columns else (),
    )


def _read_scores(table: Rows, kind: str, level: str, known: _Known) -> list[HumanScores]:
    item = ITEM_COLUMNS.get(level)
    table.require("system", *([item] if item else []))
    column = _value_column(table, ["system", "rater", *([item] if item else [])])
    raters: dict[str | None, list[Row]] = {}
    for row in table:
        raters.setdefault(row.get("rater") or None, []).append(row)
    return [_matrix(rows, kind, level, rater, column, known) for rater, rows in raters.items()]


def _value_column(table: Rows, others: Sequence[str]) -> str:
    columns = [column for column in table.columns if column not in others]
    if len(columns) != 1:
        raise FormatError(
            f"one column of scores is expected beside {', '.join(others)}; there are:"
            f" {', '.join(columns) or 'none'}",
            path=table.path,
            line=1,
        )
    return columns[0]


def _matrix(
    rows: Sequence[Row], kind: str, level: str, rater: str | None, column: str, known: _Known
) -> HumanScores:
    systems = {name: i for i, name in enumerate(dict.fromkeys(known.system(r) for r in rows))}
    item = ITEM_COLUMNS.get(level)
    items: dict[str, int] = {}
    if item and level != "segment":
        items = {name: i for i, name in enumerate(dict.fromkeys(row[item] for row in rows))}
        _warn_of_strangers(rows[0].path, level, items, known)
    width = {"system": 1, "segment": known.segments}.get(level, len(items))
    values = np.full((len(systems), width), np.nan)
    seen: dict[tuple[int, int], int] = {}
    for row in rows:
        if level == "segment":
            position = row.integer("seg", 1, known.segments) - 1
        else:
            position = items[row[item]] if item else 0
        place = (systems[row["system"]], position)
        if place in seen:
            raise row.error(f"a second score for the same place; line {seen[place]} has the first")
        seen[place] = row.line
        values[place] = in_scale(kind, row.number(column), row.path, row.line)
    return HumanScores(kind, level, tuple(systems), values, tuple(items), rater)


def _warn_of_strangers(path: str, level: str, items: Mapping[str, int], known: _Known) -> None:
    strangers = [name for name in items if name not in known.items.get(level, items)]
    if strangers:
        LOGGER.warning(
            "%s: %d %s(s) that documents.tsv does not list, the first is %r",
            path,
            len(strangers),
            level,
            strangers[0],
        )


def _read_spans(table: Rows, kind: str, known: _Known) -> list[ErrorSpan]:
    table.require("system", "seg", "side", "start", "end", "category", "severity")
    return [_span(row, kind, known) for row in table]


def _span(row: Row, kind: str, known: _Known) -> ErrorSpan:
    system = known.system(row)
    segment = row.integer("seg", 1, known.segments) - 1
    side = row["side"]
    if side not in SIDES:
        raise row.error(f"side is {side!r}; candidate or source is expected")
    texts = known.sources if side == "source" else known.texts.get(system)
    length = None if texts is None else len(texts[segment])
    start = row.integer("start", 0, length)
    return ErrorSpan(
        system=system,
        segment=segment,
        side=side,
        start=start,
        end=row.integer("end", start, length),
        category=row["category"],
        severity=row["severity"],
        rater=row.get("rater") or None,
        kind=kind,
        score=row.number("score") if row.get("score") else None,
    )
