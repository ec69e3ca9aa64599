"""Relative rankings: which of two outputs people found better.

========  ==============================================================================
format    one record
========  ==============================================================================
``darr``  ``seg better worse [rater]``; WMT 2018 to 2020: ``LP DATA SID BETTER WORSE``,
          derived from direct assessment (a difference of at least 25 points)
``rr``    ``srclang,trglang,srcIndex,...,judgeId,system1Id,...,system1rank,...``, WMT 2010
          to 2016: up to five outputs, ranked from 1 (best), -1 where the rank was left blank
========  ==============================================================================
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core.human import Judgements, Ranking
from gnomon.data.formats._files import LOGGER
from gnomon.data.formats._judgements import say_unread
from gnomon.data.formats._layout import write_ranking
from gnomon.data.formats._lines import read_lines
from gnomon.data.formats._matching import pair
from gnomon.data.formats._mt_metrics_eval import require_pair
from gnomon.data.formats._registry import JudgementFormat
from gnomon.data.formats._rows import (
    FileRecord,
    TextTable,
    read_csv,
    read_spaced,
    read_tsv,
    whole_number,
    write_tsv,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from gnomon.core.testset import TestSet
    from gnomon.data.formats._judgements import JudgedFile
    from gnomon.data.formats._matching import SystemNames

_RANK = re.compile(r"system(\d+)rank")
_SYSTEM = re.compile(r"system(\d+)Id")
_SEGMENT = ("seg", "sid", "segid", "segment")


def read_darr(file: JudgedFile) -> Judgements:
    """Read pairs of a better and a worse output.

    Repeated and contradictory pairs stay, as WMT counts them; how many there are is said.
    """
    table = _lower(_read_pairs(file.path))
    segment = next((name for name in _SEGMENT if name in table.columns), "seg")
    table.require(segment, "better", "worse")
    say_unread(table, (segment, "better", "worse", "rater", "lp", "data", "diff"))
    rows = list(table)
    if "lp" in table.columns:
        rows = file.of_pair(rows, lambda row: row["lp"])
    names = file.names
    ranked = [
        (file.segment(row, row[segment]), names.of(row["better"]), names.of(row["worse"]))
        for row in rows
    ]
    raters = [row["rater"] for row in rows] if "rater" in table.columns else []
    return _ranking(file, ranked, raters)


def read_rr(file: JudgedFile) -> Judgements:
    """Read rankings of up to five outputs as all pairs of which one ranks better.

    Ties and blank ranks give no pair; how many ties there are is said.
    """
    table = read_csv(file.path)
    table.require("srclang", "trglang", "srcIndex", "system1Id", "system1rank")
    numbers = [m[1] for m in map(_RANK.fullmatch, table.columns) if m]
    systems = [m[1] for m in map(_SYSTEM.fullmatch, table.columns) if m]
    table.require(*(f"system{n}Id" for n in numbers), *(f"system{n}rank" for n in systems))
    if not {"judgeId", "judgeID"} & set(table.columns):
        LOGGER.info("%s: no column judgeId; nothing tells who ranked", table.path)
    ranked: list[tuple[int, str, str]] = []
    raters: list[str] = []
    for row in file.of_pair(table, lambda row: pair(row["srclang"], row["trglang"])):
        segment = file.segment(row, row["srcIndex"])
        for first, second in combinations(list(_ranks(row, numbers, file.names)), 2):
            if first[0] == second[0]:
                file.counts["pairs were ranked alike and are left out"] += 1
                continue
            better, worse = sorted((first, second))
            ranked.append((segment, better[1], worse[1]))
            raters.append(row.get("judgeId") or row.get("judgeID"))
    return _ranking(file, ranked, raters if any(raters) else [])


def write_wmt_darr(
    path: str | PathLike[str], testset: TestSet, kind: str | None, _level: str
) -> None:
    """Write a ranking as WMT's ``LP DATA SID BETTER WORSE``."""
    ranking, pair = testset.ranking(kind), require_pair(testset)
    rows = [
        [pair, testset.name, str(segment + 1), better, worse]
        for segment, better, worse in ranking.rows
    ]
    write_tsv(path, ["LP", "DATA", "SID", "BETTER", "WORSE"], rows)


def _read_pairs(path: str | PathLike[str]) -> TextTable:
    lines = read_lines(path)
    if lines and "\t" in lines[0]:
        return read_tsv(path)
    if lines and "," in lines[0]:
        return read_csv(path)
    # the header of WMT 2018 lacks its first name
    return read_spaced(path, unnamed=1)


def _lower(table: TextTable) -> TextTable:
    columns = tuple(column.lower() for column in table.columns)
    if columns[0] == "column 1":
        columns = ("lp", "data", *columns[2:])
    rows = [
        replace(row, values=dict(zip(columns, row.values.values(), strict=True))) for row in table
    ]
    return TextTable(table.path, columns, tuple(rows))


def _ranks(row: FileRecord, numbers: list[str], names: SystemNames) -> Iterator[tuple[int, str]]:
    for number in numbers:
        rank, system = row[f"system{number}rank"], row.get(f"system{number}Id")
        if rank in ("-1", "") or not system:
            continue
        if whole_number(rank) < 1:
            raise row.error(
                f"system{number}rank is {rank!r}; a rank from 1 is expected, or -1 for none"
            )
        for name in names.all_of(system):
            yield int(rank), name


def _ranking(
    file: JudgedFile, ranked: Sequence[tuple[int, str, str]], raters: Sequence[str]
) -> Judgements:
    file.report()
    counts = Counter(ranked)
    repeated = sum(count - 1 for count in counts.values())
    contrary = sum(n for (segment, a, b), n in counts.items() if (segment, b, a) in counts)
    if repeated or contrary:
        LOGGER.info(
            "%s: %d judgements are repetitions and %d contradict one another; all of them count",
            file.path,
            repeated,
            contrary,
        )
    return Judgements(rankings=(Ranking(file.kind, tuple(ranked), tuple(raters)),))


def _write_darr(path: str | PathLike[str], testset: TestSet, kind: str | None, _level: str) -> None:
    write_ranking(Path(path), testset.ranking(kind))


FORMATS = (
    JudgementFormat(
        name="darr",
        title="pairs: seg better worse, or WMT's LP DATA SID BETTER WORSE",
        recognise=lambda head: {"better", "worse"} <= head.column_names,
        defaults={
            "kind": "darr",
            "rename": None,
            "language_pair": None,
            "first_segment": 1,
        },
        read=read_darr,
        write=_write_darr,
        after=("mqm",),
    ),
    JudgementFormat(
        name="wmt-darr",
        title="pairs as WMT writes them (read as darr): LP DATA SID BETTER WORSE",
        write=write_wmt_darr,
    ),
    JudgementFormat(
        name="rr",
        title="WMT relative rankings, CSV: srclang,trglang,srcIndex,...,system1Id,system1rank,...",
        recognise=lambda head: {"srclang", "system1id", "system1rank"} <= head.column_names,
        defaults={
            "kind": "rr",
            "rename": None,
            "language_pair": None,
            "first_segment": 1,
        },
        read=read_rr,
    ),
)
