"""Errors that raters marked under MQM, in the JSON files of bio-MQM: one for each system.

A list of objects with ``source, target, source_errors, target_errors, MT_Engine, Annotator_ID,
DOC_ID, SEG_ID``; the places of errors are inclusive, and their words (``term``) tell whether the
text is the one that was judged. Rows are made of them as the TSV files have them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.data.formats._files import LOGGER, bears_file
from gnomon.data.formats._records import read_records
from gnomon.data.formats.error_marks import remove_whitespace
from gnomon.data.formats.rows import FileRecord, TextTable, head_of, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from gnomon.data.formats.rows import FileHead

_SUFFIXES = (".json", ".json.gz")
_CLEAN = {"category": "No-error", "severity": "No-error"}


def is_mqm_json(head: FileHead) -> bool:
    """True if a file is such a list, by how it begins."""
    return head.text.lstrip().startswith("[") and '"MT_Engine"' in head.text


def mqm_json_files(path: Path) -> tuple[Path, ...]:
    """The file, or the files of a folder all of whose JSON files are such lists."""
    if not path.is_dir():
        return (path,)
    files = [file for file in sorted(path.iterdir()) if file.name.endswith(_SUFFIXES)]
    files = [file for file in files if bears_file(file)]
    return tuple(files) if all(is_mqm_json(head_of(file)) for file in files) else ()


def read_mqm_json(path: Path) -> TextTable:
    """A row for each error, and for each output without any."""
    records = [record for file in mqm_json_files(path) for record in read_records(file, "json")]
    documents = {name: n for n, name in enumerate(dict.fromkeys(r.text("DOC_ID") for r in records))}
    records.sort(key=lambda r: (documents[r.text("DOC_ID")], whole_number(r.text("SEG_ID"))))
    kept = _select_unique_texts(records)
    if len(kept) < len(records):
        said = "%s: %d of %d outputs are left out: their segment has another one's text in a file"
        LOGGER.warning(said, path, len(records) - len(kept), len(records))
    rows = tuple(row for record in kept for row in _rows(record))
    return TextTable(str(path), tuple(rows[0].values) if rows else (), rows)


def _select_unique_texts(records: Sequence[FileRecord]) -> list[FileRecord]:
    """Those of segments whose source is theirs alone in a document, and the same in all files.

    Published files repeat the first text of a document in place of others, whose errors they keep.
    """
    firsts: dict[tuple[str, ...], str] = {}
    sources: dict[tuple[str, str], set[str]] = {}
    for record in records:
        system, document, number = map(record.text, ("MT_Engine", "DOC_ID", "SEG_ID"))
        source = remove_whitespace(record.text("source"))
        own = firsts.setdefault((system, document, source), number) == number
        sources.setdefault((document, number), set()).add(source if own else "")
    return [
        record
        for record in records
        if len(told := sources[record.text("DOC_ID"), record.text("SEG_ID")]) == 1
        and "" not in told
    ]


def pair_of_locales(path: Path) -> str:
    """The language pair of the first output."""
    first = read_records(mqm_json_files(path)[0], "json")[0]
    return f"{first.text('source_locale')[:2]}-{first.text('target_locale')[:2]}"


def _rows(record: FileRecord) -> Iterator[FileRecord]:
    row: dict[str, object] = {
        "system": record.text("MT_Engine"),
        "doc": record.text("DOC_ID"),
        "seg_id": record.text("SEG_ID"),
        "rater": record.text("Annotator_ID"),
        "source": record.text("source"),
        "target": record.text("target"),
    }
    judged = [row | _CLEAN]
    for side in ("source", "target"):
        errors = record.value(f"{side}_errors")
        for error in errors if isinstance(errors, list) else ():
            try:
                marked = _marked(record.text(side), error)
                kinds = (str(error[key]) for key in ("error_category", "error_subcategory"))
                about = {"category": "/".join(filter(None, kinds)).replace("_", " ")}
                judged.append(row | about | {"severity": str(error["severity"]), side: marked})
            except (KeyError, TypeError, ValueError) as problem:
                raise record.error(
                    f"one of its {side} errors is not built as those of bio-MQM are ({problem})"
                ) from problem
    for one in judged[1:] or judged:
        yield FileRecord(record.path, record.line, one)


def _marked(text: str, error: Mapping[str, object]) -> str:
    """A text with the error between marks; with a lone mark where the text is another one."""
    start, behind = int(str(error["startIndex"])), int(str(error["endIndex"])) + 1
    if text[start:behind].strip() != str(error["term"]).strip():
        return f"<v>{text}"
    return f"{text[:start]}<v>{text[start:behind]}</v>{text[behind:]}"
