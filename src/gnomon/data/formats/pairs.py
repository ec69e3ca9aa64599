"""Minimal pairs: DEMETR's files (``demetr``), and tables with the columns of ACES (``aces``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.errors import UsageError
from gnomon.core.minimal_pairs import KINDS, Pair, PairKind
from gnomon.data.formats._lines import read_lines, shown, write_lines
from gnomon.data.formats._records import read_records
from gnomon.data.formats._registry import Format
from gnomon.data.formats.error_marks import strip_doubled_quotes
from gnomon.data.formats.rows import FileRecord, OddRows, check_cell, quoted_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

__all__ = ["read_pair_scores", "read_pairs", "write_pairs"]


#: of ACES's columns, those that a table must have, and those that it may have beside them
_NEEDED = ("good-translation", "incorrect-translation", "phenomena")
_OWN = ("severity", "kind", "origin", "document")
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
    ``origin`` and ``document``; see :class:`gnomon.core.minimal_pairs.Pair`. Of these, rows of
    another length than the header and errors whose two texts are the same are left out, and that is
    said.

    Raises:
        FormatError: a row lacks a text, or its kind is unknown; or half of the rows do not fit.
        UsageError: the file is of another kind.
    """
    name = shown(path).removesuffix(".gz")
    if name.endswith((".json", ".jsonl")):
        every = list(read_records(path))
        if every and _NEEDED[0] in every[0].values:  # ACES, as a data set of Hugging Face
            rows = ((record, tuple(filter(None, [record.get("reference")]))) for record in every)
            return _parse_pairs(rows, OddRows())
        records = [record for record in every if record.value("pert_check")]
        ids: set[str] = set()
        for record in records:
            number = record.optional("id")
            if number is not None and number in ids:
                raise record.error(f"id {number} is there twice")
            ids |= {number or ""}
        return tuple(_parse_demetr(record) for record in records)
    if not name.endswith((".tsv", ".txt")):
        raise UsageError(
            f"{name}: minimal pairs are read of DEMETR's .json files and of .tsv tables with the"
            f" columns {', '.join(_NEEDED)}"
        )
    odd = OddRows()
    return _parse_pairs(_rows(path, odd), odd)


def _parse_demetr(record: FileRecord) -> Pair:
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


def _parse_pairs(
    rows: Iterable[tuple[FileRecord, tuple[str, ...]]], odd: OddRows
) -> tuple[Pair, ...]:
    pairs = tuple(_parse_pair(record, references) for record, references in _differing(rows, odd))
    odd.report(len(pairs))
    return pairs


def _differing(
    rows: Iterable[tuple[FileRecord, tuple[str, ...]]], odd: OddRows
) -> Iterator[tuple[FileRecord, tuple[str, ...]]]:
    """The rows whose two texts differ, if one is to be the worse."""
    for record, references in rows:
        good, bad = (record[column] for column in _NEEDED[:2])
        if good == bad and _kind_of(record) in ("error", "crossed"):
            odd.add(record.error("both texts are the same, so that none is the worse"))
        else:
            yield record, references


def _kind_of(record: FileRecord) -> str:
    return record.get("kind") or "error"


def _parse_pair(record: FileRecord, references: tuple[str, ...]) -> Pair:
    kind = _kind_of(record)
    if kind not in KINDS:
        raise record.error(f"kind is {kind!r}; it is one of {', '.join(KINDS)}")
    good, bad = (record[column] for column in _NEEDED[:2])
    return Pair(
        good=good,
        bad=bad,
        phenomenon=record["phenomena"],
        references=references,
        source=record.get("source") or None,
        kind=kind,
        severity=record.get("severity"),
        language_pair=record.get("langpair") or None,
        origin=record.get("origin"),
        document=record.get("document"),
    )


def _rows(path: str | PathLike[str], odd: OddRows) -> Iterator[tuple[FileRecord, tuple[str, ...]]]:
    """The rows of a table, each with its references."""
    name = shown(path)
    lines = [(n, line) for n, line in enumerate(read_lines(path), start=1) if line.strip()]
    columns = quoted_fields(lines[0][1], "\t") if lines else []
    missing = [column for column in _NEEDED if column not in columns]
    if missing:
        raise FileRecord(name, 1, {}).error(
            f"has no column {missing[0]}; columns of minimal pairs are {', '.join(_COLUMNS)}"
        )
    is_bare = any(_is_bare(line, len(columns)) for _, line in lines)
    for number, line in lines[1:]:
        cells = _bare_cells(line) if is_bare else _quoted_cells(line)
        record = FileRecord(name, number, dict(zip(columns, cells, strict=False)))
        if len(cells) != len(columns):
            odd.add(record.error(f"{len(cells)} fields; {len(columns)} are expected"))
            continue
        named = zip(columns, cells, strict=True)
        yield record, tuple(text for column, text in named if column == "reference" and text)


def _is_bare(line: str, width: int) -> bool:
    """True if its quotation marks are the texts' own: it fits between tabs alone."""
    return len(_quoted_cells(line)) != width == len(_bare_cells(line))


def _quoted_cells(line: str) -> list[str]:
    """The cells of a line as a spreadsheet writes them; none if it did not write them so."""
    try:
        return quoted_fields(line, "\t")
    except ValueError:
        return []


def _bare_cells(line: str) -> list[str]:
    return [strip_doubled_quotes(cell) for cell in line.split("\t")]


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
    odd = OddRows()  # said of the pairs
    for record, _ in _differing(_rows(path, odd), odd):
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
