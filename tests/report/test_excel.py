"""Workbooks: what they hold, that nothing in them runs, and that they are read as written."""

from __future__ import annotations

import io
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText
from tests.report.test_machine import scores

from gnomon.cli import main
from gnomon.core.errors import FormatError, MissingDependencyError, UsageError
from gnomon.core.findings import Column, Exhibit, ExhibitText, Finding, Highlight, Table
from gnomon.core.signature import Signature
from gnomon.data.formats import MAX_INPUT, Worksheet, build_workbook, read_worksheet
from gnomon.report import to_xlsx, write_xlsx

if TYPE_CHECKING:
    from pathlib import Path

RUN = ("=1+1", "+1", "-1", "@SUM(A1)", "=cmd|' /C calc'!A0", "#N/A", "42", "1/2/2026", "TRUE")


def opened(data: bytes) -> Any:
    return openpyxl.load_workbook(io.BytesIO(data), rich_text=True)


def found(*names: str) -> Finding:
    columns = (
        Column("system", "System"),
        Column("segment", "Segment", "count"),
        Column("score", "Score", "number", 1),
        Column("decided", "decided", "truth"),
    )
    rows = [
        {"system": name, "segment": n, "score": n / 3, "decided": n % 2 == 0}
        for n, name in enumerate(names)
    ]
    rows.append({"system": None, "segment": None, "score": float("nan"), "decided": None})
    texts = (
        ExhibitText("source", "", "=1+1"),
        ExhibitText(
            "candidate", "A", "=a bad word", (Highlight(3, 6, weight=-1.0),), {"bleu": 12.5}
        ),
    )
    exhibit = Exhibit("bleu", "worst", 3, texts, document="d1")
    table = Table("segments", "Segments", columns, tuple(rows), note="A note.")
    return Finding(
        "compare", "Title", (table,), {"bleu": Signature("bleu")}, exhibits=(exhibit,),
        facts={"segments": "3"},
    )  # fmt: skip


def test_numbers_and_texts_are_read_as_they_were_written_and_nothing_runs() -> None:
    book = opened(to_xlsx(found(*RUN)))
    assert book.sheetnames == ["found", "segments", "texts"]
    sheet = book["segments"]
    rows = list(sheet.iter_rows(min_row=2))
    assert [row[0].value for row in rows] == [*RUN, None]
    assert [row[1].value for row in rows] == [*range(len(RUN)), None]
    assert [row[2].value for row in rows] == [
        *(pytest.approx(n / 3, rel=1e-15) for n in range(len(RUN))),
        None,
    ]
    assert [row[3].value for row in rows] == [*(n % 2 == 0 for n in range(len(RUN))), None]
    assert {cell.data_type for row in rows[:-1] for cell in row[:1]} == {"s"}
    assert [bool(row[0].quotePrefix) for row in rows[:6]] == [True] * 5 + [False]
    assert rows[0][2].number_format == "0.0"
    assert all("<f>" not in part for part in parts(to_xlsx(found(*RUN))))


def parts(data: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        return [packed.read(name).decode() for name in packed.namelist()]


def test_tables_are_filtered_and_scores_of_segments_coloured() -> None:
    book = opened(to_xlsx(found("a", "b")))
    sheet = book["segments"]
    assert (sheet.auto_filter.ref, sheet.freeze_panes) == ("A1:D4", "A2")
    assert [str(rule.sqref) for rule in sheet.conditional_formatting] == ["C2:C4"]
    assert not list(book["found"].conditional_formatting)


def test_what_was_found_with_its_signature_comes_first() -> None:
    rows = list(opened(to_xlsx(found("a")))["found"].iter_rows(values_only=True))
    assert rows[0] == ("What", "Of", "Title")
    assert rows[1:3] == [("fact", "segments", "3"), ("note", "segments", "A note.")]
    assert rows[3][:2] == ("signature", "bleu")


def test_words_that_stand_out_are_coloured_in_the_texts_of_segments() -> None:
    sheet = opened(to_xlsx(found("a")))["texts"]
    heads, row = sheet.iter_rows(values_only=True)
    shown = dict(zip(heads, row, strict=True))
    assert [shown[name] for name in ("Of", "Segment", "Document", "A: bleu")] == [
        "bleu", 3, "d1", 12.5,
    ]  # fmt: skip
    assert isinstance(shown["A"], CellRichText)
    assert str(shown["A"]) == "=a bad word"
    assert [str(part) for part in shown["A"]] == ["=a ", "bad", " word"]
    assert str(shown["source"]) == "=1+1"


def test_scores_are_a_table_of_systems_or_of_segments() -> None:
    whole = opened(to_xlsx([scores()]))["scores"]
    assert list(whole.iter_rows(values_only=True))[1] == ("A", "bleu", 1 / 3)
    each = opened(to_xlsx([scores()], segments=True))["segments"]
    assert list(each.iter_rows(values_only=True))[:2] == [
        ("System", "Segment", "bleu"),
        ("A", 1, 1 / 3),
    ]


def test_the_same_content_gives_the_same_bytes() -> None:
    assert to_xlsx(found("a")) == to_xlsx(found("a"))


def test_any_name_and_text_fits(tmp_path: Path) -> None:
    sheet = Worksheet("a/b:[c]*?", ["x" * 40], [["\x00\ud800\ufffe" + "y" * 40_000]])
    book = opened(build_workbook([sheet, sheet, Worksheet("n" * 40, ["h"], [])]))
    assert book.sheetnames == ["a b  c", "a b  c 2", "n" * 31]
    assert len(book["a b  c"]["A2"].value) == 32_767
    write_xlsx(tmp_path / "f.xlsx", found("a"))
    assert openpyxl.load_workbook(tmp_path / "f.xlsx")["segments"]["A2"].value == "a"


def test_more_rows_than_a_worksheet_has_are_refused() -> None:
    with pytest.raises(UsageError, match=r"t has 1,048,576 rows.*write TSV or JSON"):
        build_workbook([Worksheet("t", ["h"], range(1_048_576))])  # type: ignore[arg-type]


def test_workbooks_are_read_as_lines_and_refused_where_they_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.xlsx"
    path.write_bytes(build_workbook([Worksheet("t", ["a", "b"], [["x\ty", 1.0], ["\n", None]])]))
    assert read_worksheet(path) == ["a\tb", "x\\ty\t1", "\\n"]
    monkeypatch.setenv(MAX_INPUT, str(path.stat().st_size))
    with pytest.raises(FormatError, match="unpacked, which is too much"):
        read_worksheet(path)
    monkeypatch.delenv(MAX_INPUT)
    for wrong in (b"text", path.read_bytes()[:-200], empty_zip()):
        path.write_bytes(wrong)
        with pytest.raises(FormatError, match="no workbook"):
            read_worksheet(path)


def empty_zip() -> bytes:
    made = io.BytesIO()
    zipfile.ZipFile(made, "w").close()
    return made.getvalue()


def test_the_command_line_writes_one_and_refuses_what_contradicts_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("ref", "a b c d\n"), ("a", "a b c\n"), ("b", "a c d\n")):
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    texts = [str(tmp_path / "ref.txt"), "-i", str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]
    path = tmp_path / "f.xlsx"
    more = ["-o", str(path), "-q"]
    assert main(["compare", *texts, *more, "--resamples", "0"]) == 0
    assert "texts" in openpyxl.load_workbook(path).sheetnames
    assert main(["score", *texts, "-sl", *more]) == 0
    assert openpyxl.load_workbook(path)["segments"].max_row == 3
    assert main(["score", *texts, "-f", "tsv", *more]) == 2
    assert "is a spreadsheet; leave out -f" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert main(["score", *texts, *more]) == 2
    assert "pip install 'gnomon[excel]'" in capsys.readouterr().err
    with pytest.raises(MissingDependencyError):
        to_xlsx(found("a"))
