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
    from collections.abc import Iterable, Iterator
    from os import PathLike

#: of ACES's columns, those that a table must have, and those that it may have beside them
_NEEDED = ("good-translation", "incorrect-translation", "phenomena")
_OWN = ("severity", "kind", "feature", "dose", "origin", "document")
_COLUMNS = ("source", *_NEEDED[:2], "reference", "phenomena", "langpair", *_OWN)
#: what ends the names of columns that hold a metric's scores of the better and of the worse texts
_SIDES = (["-", "good"], ["-", "bad"])
_DEMETR = ("mt_sent", "pert_sent", "pert_name", "eng_sent")
#: the severity of DEMETR's files that hold no error but a text that no metric should be taken in by
_BASELINE = "base"


def read_pairs(path: str | PathLike[str]) -> tuple[Pair, ...]:
    """Read minimal pairs.

    A JSON file is of DEMETR, of which pairs count whose perturbation was checked (``pert_check``);
    its baselines are sanity inputs, and the one that is the reference itself is harmless.
    A tab-separated table, or a JSON file of such objects, has ACES's columns ``good-translation``,
    ``incorrect-translation`` and ``phenomena``, and may have ``source``, ``reference`` (in tables
    several times), ``langpair``, ``severity``, ``kind`` (error, harmless, crossed or sanity),
    ``feature``, ``dose`` (a whole number), ``origin`` and ``document``; see
    :class:`gnomon.core.pairs.Pair`.

    Raises:
        FormatError: a row lacks a text, or its kind is unknown.
        UsageError: the file is of another kind.
    """
    name = shown(path).removesuffix(".gz")
    if name.endswith((".json", ".jsonl")):
        every = list(read_records(path))
        if every and _NEEDED[0] in every[0].values:  # ACES, as a data set of Hugging Face
            return tuple(
                _of_row(record, tuple(filter(None, [record.get("reference")]))) for record in every
            )
        records = [record for record in every if record.value("pert_check")]
        ids: set[str] = set()
        for record in records:
            number = record.optional("id")
            if number is not None and number in ids:
                raise record.error(f"id {number} is there twice")
            ids |= {number or ""}
        return tuple(_of_demetr(record) for record in records)
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
    return tuple(_of_row(record, references) for record, references in _rows(path))


def _of_row(record: FileRecord, references: tuple[str, ...]) -> Pair:
    kind = record.get("kind") or "error"
    if kind not in KINDS:
        raise record.error(f"kind is {kind!r}; it is one of {', '.join(KINDS)}")
    good, bad = (record[column] for column in _NEEDED[:2])
    if good == bad and kind in ("error", "crossed"):
        raise record.error("both texts are the same, so that none is the worse; leave this row out")
    return Pair(
        good=good,
        bad=bad,
        phenomenon=record["phenomena"],
        references=references,
        source=record.get("source") or None,
        kind=kind,
        severity=record.get("severity"),
        language_pair=record.get("langpair") or None,
        feature=record.get("feature"),
        dose=record.integer("dose", 1) if record.get("dose") else 1,
        origin=record.get("origin"),
        document=record.get("document"),
    )


def _rows(path: str | PathLike[str]) -> Iterator[tuple[FileRecord, tuple[str, ...]]]:
    """The rows of a table, each with its references."""
    header, *rows = [*read_csv_rows(path, delimiter="\t")] or [(1, [])]
    columns = header[1]
    first = FileRecord(shown(path), 1, {})
    missing = [name for name in _NEEDED if name not in columns]
    if missing:
        raise first.error(
            f"has no column {missing[0]}; columns of minimal pairs are {', '.join(_COLUMNS)}"
        )
    for line, cells in rows:
        record = FileRecord(shown(path), line, dict(zip(columns, cells, strict=False)))
        if len(cells) != len(columns):
            raise record.error(f"{len(cells)} fields; {len(columns)} are expected")
        named = zip(columns, cells, strict=True)
        yield record, tuple(text for name, text in named if name == "reference" and text)


def read_pair_scores(path: str | PathLike[str]) -> dict[str, list[tuple[float, float]]]:
    """Scores that stand beside minimal pairs, in columns ``METRIC-good`` and ``METRIC-bad``.

    Returns:
        By the names of the metrics, the scores of the better and of the worse text of each pair,
        in the order of :func:`read_pairs`; NaN where a cell is empty. No names for a file without
        such columns.

    Raises:
        FormatError: a score is no number, or one of two columns is missing.
    """
    if not shown(path).removesuffix(".gz").endswith((".tsv", ".txt")):
        return {}
    scores: dict[str, list[tuple[float, float]]] = {}
    for record, _ in _rows(path):
        ends = [column.rpartition("-") for column in record.values]
        for name in dict.fromkeys(name for name, *side in ends if name and side in _SIDES):
            missing = [side for _, side in _SIDES if f"{name}-{side}" not in record.values]
            if missing:
                raise record.error(f"has no column {name}-{missing[0]} beside the other one")
            good, bad = (record.number(f"{name}-{side}") for _, side in _SIDES)
            scores.setdefault(name, []).append((good, bad))
    return scores


def write_pairs(path: str | PathLike[str], pairs: Iterable[Pair]) -> None:
    """Write minimal pairs as a table with ACES's columns and gnomon's own.

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
        own = (str(getattr(pair, name)) for name in _OWN)
        others = [pair.language_pair or "", *own]
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
        title="minimal pairs in a table with the columns of ACES, severity, kind and others",
        holds="pairs",
        read=read_pairs,
        write=write_pairs,
    ),
)
