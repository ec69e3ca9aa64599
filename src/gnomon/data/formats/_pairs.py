"""Minimal pairs: DEMETR's files (``demetr``), and tables with the columns of ACES (``aces``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.errors import UsageError
from gnomon.core.pairs import KINDS, Pair, PairKind
from gnomon.data.formats._lines import shown, write_lines
from gnomon.data.formats._records import read_records
from gnomon.data.formats._registry import Format
from gnomon.data.formats._rows import FileRecord, check_cell, read_csv_rows

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

#: of ACES's columns, those that a table must have, and those that it may have beside them
_NEEDED = ("good-translation", "incorrect-translation", "phenomena")
_COLUMNS = ("source", *_NEEDED[:2], "reference", "phenomena", "langpair", "severity", "kind")
_DEMETR = ("mt_sent", "pert_sent", "pert_name", "eng_sent")
#: the severity of DEMETR's files that hold no error but a text that no metric should be taken in by
_BASELINE = "base"


def read_pairs(path: str | PathLike[str]) -> tuple[Pair, ...]:
    """Read minimal pairs.

    A JSON file is of DEMETR, of which pairs count whose perturbation was checked (``pert_check``);
    its baselines are sanity inputs, and the one that is the reference itself is harmless.
    A tab-separated table has ACES's columns ``good-translation``, ``incorrect-translation`` and
    ``phenomena``, and may have ``source``, ``reference`` (several times), ``langpair``,
    ``severity`` and ``kind`` (error, harmless or sanity).

    Raises:
        FormatError: a row lacks a text, or its kind is unknown.
        UsageError: the file is of another kind.
    """
    name = shown(path).removesuffix(".gz")
    if name.endswith((".json", ".jsonl")):
        return tuple(
            _of_demetr(record) for record in read_records(path) if record.value("pert_check")
        )
    if not name.endswith((".tsv", ".txt")):
        raise UsageError(
            f"{name}: minimal pairs are read of DEMETR's .json files and of .tsv tables with the"
            f" columns {', '.join(_NEEDED)}"
        )
    return _read_table(path)


def _of_demetr(record: FileRecord) -> Pair:
    good, bad, phenomenon, reference = (record.text(key) for key in _DEMETR)
    severity = record.optional("severity") or ""
    return Pair(
        good=good,
        bad=bad,
        phenomenon=phenomenon,
        references=(reference,),
        source=record.optional("src_sent"),
        kind=_kind(severity, bad, reference),
        severity="" if severity == _BASELINE else severity,
    )


def _kind(severity: str, bad: str, reference: str) -> PairKind:
    if severity != _BASELINE:
        return "error"
    return "harmless" if bad == reference else "sanity"


def _read_table(path: str | PathLike[str]) -> tuple[Pair, ...]:
    header, *rows = [*read_csv_rows(path, delimiter="\t")] or [(1, [])]
    columns = header[1]
    first = FileRecord(shown(path), 1, {})
    missing = [name for name in _NEEDED if name not in columns]
    if missing:
        raise first.error(
            f"has no column {missing[0]}; columns of minimal pairs are {', '.join(_COLUMNS)}"
        )
    pairs = []
    for line, cells in rows:
        record = FileRecord(shown(path), line, dict(zip(columns, cells, strict=False)))
        if len(cells) != len(columns):
            raise record.error(f"{len(cells)} fields; {len(columns)} are expected")
        kind = record.get("kind") or "error"
        if kind not in KINDS:
            raise record.error(f"kind is {kind!r}; it is one of {', '.join(KINDS)}")
        references = [
            cell for name, cell in zip(columns, cells, strict=True) if name == "reference"
        ]
        pairs.append(
            Pair(
                good=record[_NEEDED[0]],
                bad=record[_NEEDED[1]],
                phenomenon=record["phenomena"],
                references=tuple(text for text in references if text),
                source=record.get("source") or None,
                kind=kind,
                severity=record.get("severity"),
                language_pair=record.get("langpair") or None,
            )
        )
    return tuple(pairs)


def write_pairs(path: str | PathLike[str], pairs: Iterable[Pair]) -> None:
    """Write minimal pairs as a table with ACES's columns, ``severity`` and ``kind``.

    Raises:
        DataError: a text holds what a line of the table cannot.
    """
    every = list(pairs)
    most = max((len(pair.references) for pair in every), default=1) or 1
    before, after = _COLUMNS[:3], _COLUMNS[4:]
    lines = ["\t".join([*before, *["reference"] * most, *after])]
    for number, pair in enumerate(every, start=1):
        references = [*pair.references, *[""] * (most - len(pair.references))]
        texts = [pair.source or "", pair.good, pair.bad, *references, pair.phenomenon]
        others = [pair.language_pair or "", pair.severity, pair.kind]
        for text in (*texts, *others):
            check_cell(text, f"pair {number}")
        lines.append("\t".join(map(_quoted, (*texts, *others))))
    write_lines(path, lines)


def _quoted(text: str) -> str:
    """A cell: with a quotation mark at its beginning it stands in quotation marks."""
    return '"' + text.replace('"', '""') + '"' if text.startswith('"') else text


FORMATS = (
    Format(
        name="demetr",
        title="minimal pairs of DEMETR: a JSON array of originals and perturbed texts",
        holds="pairs",
        read=read_pairs,
    ),
    Format(
        name="aces",
        title="minimal pairs in a table with the columns of ACES, severity and kind",
        holds="pairs",
        read=read_pairs,
        write=write_pairs,
    ),
)
