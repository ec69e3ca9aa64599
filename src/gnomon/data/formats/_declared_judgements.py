"""Judgements whose formats are declared: scores of segments or systems, pairs and ranks."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from gnomon.core.human import Judgements, Ranking
from gnomon.data.formats._files import LOGGER
from gnomon.data.formats._judged_file import human_score, refuse_second, say_unread
from gnomon.data.formats._lines import read_lines
from gnomon.data.formats._matching import pair
from gnomon.data.formats.rows import (
    TextTable,
    fields,
    read_separated,
    read_spaced,
    read_tsv,
    whole_number,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gnomon.data.formats._declarations import DeclaredTable
    from gnomon.data.formats._judged_file import JudgedFile
    from gnomon.data.formats.rows import FileRecord

#: a pair of outputs of a segment, the better one first, and who said so
_Ranked = tuple[tuple[int, str, str], str]


def read_judgements(tables: Sequence[DeclaredTable], file: JudgedFile) -> Judgements:
    """Read a file of judgements as the first of its format's tables that fits."""
    header = frozenset(fields((read_lines(file.path) or [""])[0].replace(",", " ")))
    declared = next((t for t in tables if t.fits(header)), tables[-1])
    table = _read_rows(declared, file.path)
    rows: Iterable[FileRecord] = table
    if declared.pair and set(declared.pair) <= set(table.columns):
        rows = file.select_pair(table, lambda row: _pair(row, declared.pair))
    if declared.scores:
        return _scores(declared, rows, file)
    if declared.rank:
        return _ranking(file, _ranks(declared, table, rows, file))
    return _ranking(file, _pairs(declared, table, rows, file))


def _read_rows(declared: DeclaredTable, path: str) -> TextTable:
    lines = read_lines(path)
    tabs = declared.fields == "tabs" or (declared.fields == "any" and "\t" in (lines or [""])[0])
    commas = declared.fields == "commas" or (declared.fields == "any" and "," in (lines or [""])[0])
    if tabs:
        table = read_tsv(path)
    elif commas:
        table = read_separated(path)
    else:
        unnamed = 1 if declared.unnamed else 0
        table = read_spaced(path, columns=declared.columns or None, unnamed=unnamed)
        if unnamed and table.columns[0] == "column 1":
            names = (*declared.unnamed, *table.columns[len(declared.unnamed) :])
            renamed = (dict(zip(names, row.values.values(), strict=True)) for row in table)
            rows = [replace(row, values=v) for row, v in zip(table, renamed, strict=True)]
            table = TextTable(table.path, names, tuple(rows))
    needed = [declared.segment, declared.better, declared.worse, *declared.scores]
    needed += [] if declared.rank else [declared.system]
    table.require(*sorted(declared.known_by), *filter(None, needed))
    return table


def _pair(row: FileRecord, columns: Sequence[str]) -> str:
    return row[columns[0]] if len(columns) == 1 else pair(row[columns[0]], row[columns[1]])


def _scores(declared: DeclaredTable, rows: Iterable[FileRecord], file: JudgedFile) -> Judgements:
    """A score for each system or segment, in each column of scores."""
    seen: dict[tuple[str, int], int] = {}
    level = "segment" if declared.segment else "system"
    for row in rows:
        segment = file.segment(row, row[declared.segment]) if declared.segment else 0
        for system in file.names.match_all(row[declared.system]):
            refuse_second(seen, (system, segment), row)
            for column, scale in declared.scores.items():
                named = scale if isinstance(scale, str) else scale.kind
                kind = named.replace("KIND", file.kind)
                score = human_score(kind, row, column)
                file.table(kind, level).add(None, [system], segment, score)
    return file.judgements()


def _pairs(
    declared: DeclaredTable, table: TextTable, rows: Iterable[FileRecord], file: JudgedFile
) -> list[_Ranked]:
    """Pairs of a better and a worse output, one in each row."""
    known = (declared.segment, declared.better, declared.worse, declared.rater)
    say_unread(table, [c for c in (*known, *declared.pair, *declared.left_out) if c])
    return [
        (
            (
                file.segment(row, row[declared.segment]),
                file.names.match(row[declared.better]),
                file.names.match(row[declared.worse]),
            ),
            row.get(declared.rater),
        )
        for row in rows
    ]


def _ranks(
    declared: DeclaredTable, table: TextTable, rows: Iterable[FileRecord], file: JudgedFile
) -> list[_Ranked]:
    """All pairs of the outputs in a row of which one ranks better."""
    numbers, others = (_numbers(pattern, table) for pattern in (declared.rank, declared.system))
    ranks = {number: declared.rank.replace("*", number) for number in (*numbers, *others)}
    systems = {number: declared.system.replace("*", number) for number in ranks}
    table.require(*ranks.values(), *systems.values())
    raters = [column for column in table.columns if re.fullmatch(declared.rater, column)]
    if not raters:
        LOGGER.info("%s: no column %s; nothing tells who ranked", table.path, declared.rater)
    ranked: list[_Ranked] = []
    for row in rows:
        segment = file.segment(row, row[declared.segment])
        there = [
            (_rank(row, ranks[number]), name)
            for number in ranks
            if row[ranks[number]] not in ("-1", "") and row[systems[number]]
            for name in file.names.match_all(row[systems[number]])
        ]
        for first, second in combinations(there, 2):
            if first[0] == second[0]:
                file.counts["pairs were ranked alike and are left out"] += 1
                continue
            better, worse = sorted((first, second))
            rater = row[raters[0]] if raters else ""
            ranked.append(((segment, better[1], worse[1]), rater))
    return ranked


def _numbers(pattern: str, table: TextTable) -> list[str]:
    """List the strings that stand for the star of a pattern in the columns of a table."""
    matches = (re.fullmatch(pattern.replace("*", r"(\d+)"), column) for column in table.columns)
    return [match[1] for match in matches if match]


def _rank(row: FileRecord, column: str) -> int:
    rank = whole_number(row[column])
    if rank < 1:
        raise row.error(f"{column} is {row[column]!r}; a rank from 1 is expected, or -1 for none")
    return rank


def _ranking(file: JudgedFile, ranked: Sequence[_Ranked]) -> Judgements:
    """A ranking; repeated and contradictory pairs count, as WMT counts them, and are said."""
    file.report()
    rows, raters = [row for row, _ in ranked], [rater for _, rater in ranked]
    counts = Counter(rows)
    repeated = sum(count - 1 for count in counts.values())
    contrary = sum(n for (segment, a, b), n in counts.items() if (segment, b, a) in counts)
    if repeated or contrary:
        LOGGER.info(
            "%s: %d judgements are repetitions and %d contradict one another; all of them count",
            file.path,
            repeated,
            contrary,
        )
    named = tuple(raters) if any(raters) else ()
    return Judgements(rankings=(Ranking(file.kind, tuple(rows), named),))
