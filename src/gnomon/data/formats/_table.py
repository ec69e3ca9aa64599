"""Test sets in one table or data frame, with columns or keys that the user names."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gnomon.core.errors import DataError, UsageError
from gnomon.core.lazy import checked
from gnomon.core.options import expand_fields
from gnomon.core.testset import TestSet
from gnomon.data.formats._files import LOGGER, plain_name
from gnomon.data.formats._lines import report_empty, shown
from gnomon.data.formats._records import read_records, records_of_frame
from gnomon.data.formats._warnings import warn_of_anomalies
from gnomon.data.formats.rows import column_meant
from gnomon.messages.audiences import Named, Words

if TYPE_CHECKING:
    from os import PathLike

    from gnomon.data.formats.rows import FileRecord

_SUFFIXES = (".tsv", ".csv", ".jsonl", ".ndjson", ".json", ".parquet", ".xlsx")
#: how others call the columns of sources, references and outputs
_SOURCES = ("source", "src")
_REFERENCES = ("reference", "ref", "references", "refs")
_OUTPUTS = (
    "mt",
    "hypothesis",
    "hyp",
    "candidate",
    "prediction",
    "output",
    "completion",
    "response",
)
_SEGMENTS = ("seg", "segment", "seg_id", "segment_id", "segid")
_DOCUMENTS = ("document", "doc", "doc_id", "docid", "document_id")
_SYSTEMS = ("system", "model", "engine")
#: columns that are no outputs
_NO_OUTPUT = re.compile(
    r"(.*[._ -])?(id|guid|uuid|key|seg|segid|segment|line|index|no|nr|doc|document|docid|domain"
    r"|score|rater|annotator|comment|comments|note|notes|lang|language|locale|lp|year|date|time"
    r"|timestamp|status|file|filename|url|prompt|instruction)",
    re.IGNORECASE,
)
#: an id, a date, an address: no space, ASCII, with a digit, an underscore or the signs of addresses
_CODE = re.compile(r"(?=\S*[\d_@:/])[!-~]+")
#: what names no column: it is long, or ends like a sentence
_SENTENCE = re.compile(r".{60,}|.+[.!?\u3002\uff01\uff1f\u0964]", re.DOTALL)
_FEW = 20  # rows, in which outputs may be alike
_LISTED = 6  # columns that are not read
TextRole: TypeAlias = Literal["source", "reference", "unknown"]
#: words of names of files and columns
_ROLE_NAMES: Mapping[TextRole, frozenset[str]] = {
    "source": frozenset((
        "src", "source", "sources", "input", "orig", "original", "quelle", "fuente",
    )),
    "reference": frozenset((
        "ref", "refs", "reference", "references", "gold", "human", "refa", "refb", "referenz",
        "referencia",
    )),
}  # fmt: skip


def role_of_name(name: str) -> TextRole:
    """Role in the name of a file or a column; "unknown" without any.

    >>> role_of_name("newstest.ref.de"), role_of_name("online-A"), role_of_name("src.txt")
    ('reference', 'unknown', 'source')
    """
    words = set(re.findall(r"[a-z]+", name.casefold()))
    return next((role for role, names in _ROLE_NAMES.items() if names & words), "unknown")


def is_header(cells: Sequence[str]) -> bool:
    """True if cells are names of columns: short, and one of them a usual one.

    >>> is_header(["id", "text"]), is_header(["Yes", "that is the source."])
    (True, False)
    """
    named = [cell.casefold() for cell in cells]
    usual = (*_OUTPUTS, *_SEGMENTS, *_DOCUMENTS, *_SYSTEMS, "id", "text", "target")
    return (
        len(cells) > 1
        and all(re.fullmatch(r"[\w.-]{1,30}", name) for name in named)
        and any(name in usual or role_of_name(name) != "unknown" for name in named)
    )


@dataclass(frozen=True)
class TableColumns:
    """Which columns hold what.

    Attributes:
        source: column of the sources.
        references: columns of the references, named after their columns, or name -> column.
        systems: columns of the systems likewise, for one row per segment.
        system_column: column of the system's name, for one row per system and segment.
        candidate: column of the output, with ``system_column``.
        segment_column: column that names the segment, with ``system_column``; without it, the
            n-th row of each system is segment n.
        document: column of the documents.
        domain: column of the domains.
        labels: columns of further labels, or name -> column.
        language_pair: "de-en" or "en".
    """

    source: str | None = None
    references: Sequence[str] | Mapping[str, str] = ()
    systems: Sequence[str] | Mapping[str, str] = ()
    system_column: str | None = None
    candidate: str | None = None
    segment_column: str | None = None
    document: str | None = None
    domain: str | None = None
    labels: Sequence[str] | Mapping[str, str] = ()
    language_pair: str | None = None

    def completed(self, records: Sequence[FileRecord], where: str) -> TableColumns:
        """With the columns that are recognised where none is named."""
        first, columns = records[0], self
        named = self.references or self.source or self.systems or self.system_column
        if not self.references and self.source is None:
            source, references = _usual_columns(first, self.language_pair)
            columns = replace(columns, source=source, references=references)
        outputs = _only(first, _OUTPUTS)
        if named:
            if not self.systems and self.system_column is None:
                columns = replace(columns, systems=outputs)
            return columns
        return _recognised(records, columns, outputs, where)


def _recognised(
    records: Sequence[FileRecord], usual: TableColumns, outputs: list[str], where: str
) -> TableColumns:
    """Columns by their names and contents, which is said."""
    first = records[0]
    texts = [column for column in first.values if _holds_texts(records, column)]
    by_role: dict[TextRole, list[str]] = {"source": [], "reference": [], "unknown": []}
    for column in texts:
        by_role[role_of_name(column)].append(column)
    source = usual.source or next(iter(by_role["source"]), None)
    references = list(usual.references) or by_role["reference"]
    if source is None and not references:
        return usual
    columns = replace(usual, source=source, references=references)
    documents = _only(first, _DOCUMENTS)
    if columns.document is None and documents and _is_of_strings(records, documents[0]):
        columns = replace(columns, document=documents[0])
    domains = _only(first, ("domain",))
    if columns.domain is None and domains and _is_of_strings(records, domains[0]):
        columns = replace(columns, domain=domains[0])
    names = _only(first, _SYSTEMS)
    taken = {source, *references, *names, columns.document, columns.domain}
    taken.update(_columns_by_name(columns.labels).values())
    others = outputs or [column for column in by_role["unknown"] if column not in taken]
    if names and len(others) == 1:
        segment = next(iter(_only(first, _SEGMENTS)), None)
        columns = replace(
            columns, system_column=names[0], candidate=others[0], segment_column=segment
        )
    elif names and others:
        raise UsageError(
            f"{where} has a column {names[0]!r}, and outputs may stand in"
            f" {' or '.join(map(repr, others))}; call the column of outputs 'mt', or name those of"
            " systems (",
            Named("--system-columns COLUMN ...", "systems=[...], or system_column and candidate"),
            ")",
        )
    else:
        columns = replace(columns, systems=others)
    meant = column_meant("reference", others)
    if meant and not references and len(others) > 1:
        raise UsageError(
            f"no column of {where} is called reference or ref; if {meant!r} holds the references, ",
            _remedy("reference", "reference", meant, frame=False),
        )
    found: Mapping[str, Sequence[str | None]] = {
        "source": [source],
        "references": references,
        "systems": [columns.system_column, *columns.systems],
        "outputs": [columns.candidate],
        "documents": [columns.document],
        "domains": [columns.domain],
    }
    said = [f"{what}: {', '.join(filter(None, some))}" for what, some in found.items() if any(some)]
    used = {column for some in found.values() for column in some} | {columns.segment_column}
    unread = [column for column in first.values if column.strip() and column not in used]
    if unread:
        more = f" and {len(unread) - _LISTED} more" if len(unread) > _LISTED else ""
        said.append(f"not read: {', '.join(unread[:_LISTED])}{more}")
    LOGGER.warning("%s: columns were recognised as %s", where, "; ".join(said))
    return columns


def _holds_texts(records: Sequence[FileRecord], column: str) -> bool:
    """True if a column may hold sources, references or outputs.

    Numbers, ids, dates and addresses are none, nor are labels: the same few in many rows.
    """
    if _NO_OUTPUT.fullmatch(column) or not _is_of_strings(records, column):
        return False
    cells = [cell for record in records if (cell := record.get(column).strip())]
    if len(cells) > _FEW and len(set(cells)) * 10 < len(cells):
        return False
    return any(re.search(r"[^\W\d_]", cell) for cell in cells) and not all(
        map(_CODE.fullmatch, cells)
    )


def _is_of_strings(records: Sequence[FileRecord], column: str) -> bool:
    return all(isinstance(record.values.get(column), str) for record in records)


@checked
@expand_fields(columns=TableColumns)
def read_table(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002  # the word that users know from every command
    columns: TableColumns,
    name: str | None = None,
) -> TestSet:
    """Read a test set from one table: a row per segment, or a row per system and segment.

    TSV has a header, fields between tabs and no quoting: quotation marks are text. CSV has fields
    between commas, semicolons, tabs or bars, quoted as RFC 4180 has it. An empty field is an empty
    text. JSONL has one object per line, JSON a list of them (or an object with a list per column),
    Parquet rows; there ``a.b`` names the key ``b`` inside ``a``, a list of references becomes
    ``KEY.1``, ``KEY.2``, ..., as many as a segment has, and null is a missing reference; a key
    that occurs twice, and NaN, are refused. Blank lines are skipped.

    Where no column is named, they are recognised, and that is said: sources and references by their
    names (src, ref, gold, ...; with a language pair, the texts of ``translation``), outputs by mt,
    hypothesis or the like beside a column ``system``, else each further column of texts.

    Args:
        path: the file (``.gz`` allowed), or ``-`` for standard input.
        format: "tsv", "csv", "jsonl", "json" or "parquet"; by default, the file's suffix tells.
        columns: which columns hold what.
        name: what to call the test set; the file's name by default.

    Raises:
        MissingFileError: the file is missing.
        FormatError: a row has another number of fields, a line is no JSON object, a column or key
            is missing (those that exist are listed), or the rows of one segment contradict.
        DataError: the file has no rows, or systems have unequal numbers of segments.
        UsageError: the columns do not make a test set.
        MissingDependencyError: Parquet needs a package that is not installed.
    """
    where = shown(path)
    records = read_records(path, format)
    return _test_set(records, where, columns, name=name or _table_name(where), path=where)


def read_frame(frame: object, *, name: str = "data frame", **columns: Any) -> TestSet:
    """Read a test set from a data frame of any library; see :meth:`gnomon.TestSet.from_frame`.

    Args:
        frame: of pandas, polars or pyarrow, a data set of Hugging Face, a mapping of columns to
            lists, or a list of mappings.
        name: what to call the test set.
        columns: as :func:`read_table` takes them.

    Raises:
        UsageError: it is no data frame, or the columns do not make a test set.
        FormatError: a column is missing, or a cell holds something else than a text.
        DataError: it has no rows, or systems have unequal numbers of segments.
    """
    asked = TableColumns(**columns)
    return _test_set(records_of_frame(frame), "data frame", asked, name=name, path=None)


def _test_set(
    records: list[FileRecord],
    where: str,
    columns: TableColumns,
    *,
    name: str,
    path: str | None,
) -> TestSet:
    if not records:
        raise DataError(f"{where} has no rows: there is no segment to score")
    columns = columns.completed(records, where)
    _check_request(columns, records, where, frame=path is None)
    source, candidate, system_column = columns.source, columns.candidate, columns.system_column
    references, systems = _columns_by_name(columns.references), _columns_by_name(columns.systems)
    labels = _columns_by_name(columns.labels)
    asked: dict[str, list[str | None]] = {
        "source": [source],
        "reference": list(references.values()),
        "systems": list(systems.values()),
        "system_column": [system_column],
        "candidate": [candidate],
        "segment_column": [columns.segment_column],
        "document": [columns.document],
        "domain": [columns.domain],
        "labels": list(labels.values()),
    }
    _check_columns(
        records,
        {what: [c for c in some if c] for what, some in asked.items()},
        frame=path is None,
    )
    if system_column is not None and candidate is not None:
        grid = group_systems(records, system_column, columns.segment_column, where)
        texts = {s: [row.text(candidate) for row in rows] for s, rows in grid.items()}
        shared = [
            source,
            columns.document,
            columns.domain,
            *references.values(),
            *labels.values(),
        ]
        records = agreeing(grid, [column for column in shared if column is not None])
    else:
        texts = {n: [r.text(c) for r in records] for n, c in systems.items()}
    used = {column for some in asked.values() for column in some}
    meant = column_meant("reference", [key for key in records[0].paths if key not in used])
    if not references and meant:
        LOGGER.warning(
            "%s: no references were read, for no column is called reference or ref; if %r holds"
            " them, rename it to 'reference'",
            where,
            meant,
        )
    refs: dict[str, list[str | None]] = {}
    for reference, column in references.items():
        refs |= _reference(records, reference, column)
    for reference, segments in refs.items():
        report_empty(f"{where}, {reference}", "reference", segments)
    for system, outputs in texts.items():
        report_empty(f"{where}, {system}", "candidate", outputs)
    return warn_of_anomalies(
        TestSet(
            name=name,
            references=refs,
            systems=texts,
            sources=None if source is None else [record.text(source) for record in records],
            language_pair=columns.language_pair,
            documents=_names(records, columns.document),
            domains=_names(records, columns.domain),
            labels={n: [record.name(c) for record in records] for n, c in labels.items()},
            path=path,
        )
    )


def _usual_columns(first: FileRecord, language_pair: str | None) -> tuple[str | None, list[str]]:
    """The columns of sources and references by the names that most tables give them."""
    languages = (language_pair or "").split("-")
    both = first.values.get("translation")
    if isinstance(both, Mapping) and len(languages) == 2 and set(languages) <= set(both):
        return f"translation.{languages[0]}", [f"translation.{languages[1]}"]
    if len(languages) == 2 and set(languages) <= set(first.values):
        return languages[0], [languages[1]]
    return next(iter(_only(first, _SOURCES)), None), _only(first, _REFERENCES)


def _only(first: FileRecord, names: Sequence[str]) -> list[str]:
    """The one column that has one of these names, in whatever case."""
    there = [column for column in first.values if column.casefold().strip() in names]
    return there if len(there) == 1 else []


def _check_request(
    columns: TableColumns, records: Sequence[FileRecord], where: str, *, frame: bool
) -> None:
    if not columns.references and columns.source is None:
        text = next(filter(_SENTENCE.fullmatch, records[0].values), "")
        if text:
            raise UsageError(
                f"the first line of {where} holds texts ({text[:20]!r}), where names of columns are"
                " expected; put a line of names above it, such as source, reference, sysA, sysB"
            )
        meant = column_meant("reference", records[0].paths)
        raise UsageError(
            "name the columns of the references (or of the source, without any); there are, with"
            f" what is in the first row: {_first_cells(records[0])}",
            "; ",
            _remedy("reference", "reference", meant, frame=frame),
        )
    if (columns.system_column is None) != (columns.candidate is None):
        raise UsageError("system_column and candidate go together: a row per system and segment")
    if columns.system_column is not None and columns.systems:
        raise UsageError(
            "give either systems (one column each) or system_column and candidate (one row each)"
        )
    if columns.segment_column is not None and columns.system_column is None:
        raise UsageError("segment_column is for a row per system and segment; give system_column")


def _first_cells(first: FileRecord) -> str:
    return ", ".join(f"{column} ({str(first.value(column))[:20]!r})" for column in first.paths)


#: options of the command line that name columns, by keyword
_OPTIONS = {
    "source": "--source-column",
    "reference": "--reference-columns",
    "systems": "--system-columns",
    "document": "--document-column",
    "domain": "--domain-column",
}
_SEVERAL = ("reference", "systems", "labels")


def _check_columns(
    records: Sequence[FileRecord], asked: Mapping[str, Sequence[str]], *, frame: bool
) -> None:
    """Refuse columns that no row has; one that may be meant is named with what to do."""
    there = records[0].paths
    used = {column for columns in asked.values() for column in columns}
    for keyword, columns in asked.items():
        for column in columns:
            if not any(record.has(column) for record in records):
                meant = column_meant(column, [unused for unused in there if unused not in used])
                raise records[0].lacking(column, _remedy(keyword, column, meant, frame=frame))


def _remedy(keyword: str, column: str, meant: str, *, frame: bool) -> Words:
    """Say what to rename to what, or name the option for the column."""
    named = meant if meant and not set(meant) & set("();`") else "COLUMN"
    python = "references" if keyword == "reference" and not frame else keyword
    value = f"[{named!r}]" if keyword in _SEVERAL else repr(named)
    way = f"{python}={value}"
    flag = f"{_OPTIONS[keyword]} {shlex.quote(named)}" if keyword in _OPTIONS else way
    option = "(", Named(flag, way), ")"
    if not meant:
        return "name the column that is meant ", option
    if keyword == "systems":  # whose columns are called after them
        return f"name {meant!r} if it is meant ", option
    return f"rename {meant!r} to {column!r}, or name it ", option


def _columns_by_name(columns: Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    return dict(columns) if isinstance(columns, Mapping) else {column: column for column in columns}


def _names(records: Sequence[FileRecord], column: str | None) -> list[str] | None:
    return None if column is None else [record.name(column) for record in records]


def _reference(
    records: Sequence[FileRecord], name: str, column: str
) -> dict[str, list[str | None]]:
    values = [record.texts(column) for record in records]
    if not any(isinstance(value, list) for value in values):
        return {name: [v if isinstance(v, str) else None for v in values]}
    rows = [v if isinstance(v, list) else [] if v is None else [v] for v in values]
    return {f"{name}.{i}": list(texts) for i, texts in enumerate(zip_longest(*rows), start=1)}


def group_systems(
    records: Sequence[FileRecord], system_column: str, segment_column: str | None, where: str
) -> dict[str, list[FileRecord]]:
    """The rows of each system, in the order in which segments first occur."""
    cells: dict[str, dict[str, FileRecord]] = {}
    order: dict[str, None] = {}
    for record in records:
        rows = cells.setdefault(record.name(system_column), {})
        segment = record.name(segment_column) if segment_column else str(len(rows) + 1)
        if segment in rows:
            raise record.error(
                f"a second row for segment {segment} of {record.name(system_column)};"
                f" {rows[segment].place} has the first"
            )
        rows[segment] = record
        order[segment] = None
    for system, rows in cells.items():
        if len(rows) < len(order):
            missing = next(segment for segment in order if segment not in rows)
            raise DataError(
                f"{where}: system {system!r} has {len(rows)} of {len(order)} segments; segment"
                f" {missing} is missing; every system needs a row for every segment"
            )
    return {system: [rows[segment] for segment in order] for system, rows in cells.items()}


def agreeing(grid: Mapping[str, Sequence[FileRecord]], columns: Sequence[str]) -> list[FileRecord]:
    """The rows of the first system, with which all other systems' rows must agree."""
    first, *others = grid.values()
    for rows in others:
        for a, b in zip(first, rows, strict=True):
            for column in columns:
                if a.value(column) != b.value(column):
                    raise b.error(
                        f"{column} differs from {a.place}, which is the same segment of"
                        " another system"
                    )
    return list(first)


def _table_name(where: str) -> str:
    name = plain_name(where)
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return name
