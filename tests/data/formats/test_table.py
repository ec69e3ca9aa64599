from __future__ import annotations

import gzip
import io
import json
import logging
import sys
from typing import TYPE_CHECKING, Any

import pytest

import gnomon as gn
from gnomon.core.errors import DataError, FormatError, UnknownNameError, UsageError
from gnomon.data.formats import read_table
from gnomon.data.formats.spreadsheets import read_cells

if TYPE_CHECKING:
    from pathlib import Path


def tsv(tmp_path: Path, text: str, name: str = "t.tsv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def jsonl(tmp_path: Path, *objects: object) -> Path:
    return tsv(tmp_path, "".join(json.dumps(o) + "\n" for o in objects), "t.jsonl")


def test_empty_lines_end_a_table_and_are_refused_within_it(tmp_path) -> None:
    file = tmp_path / "t.tsv"
    file.write_text("reference\tsysA\na\tb\nc\td\n\n\n", encoding="utf-8")
    assert read_table(file, references=["reference"], systems=["sysA"]).segments == 2
    file.write_text("reference\tsysA\na\tb\n\nc\td\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"t\.tsv:3: is an empty line within the table"):
        read_table(file, references=["reference"], systems=["sysA"])


def test_a_fault_in_a_list_on_one_line_is_told_by_the_number_of_its_object(tmp_path: Path) -> None:
    rows = [{"ref": "a", "mt": "a"}, {"ref": "b", "mt": None}]
    path = tsv(tmp_path, json.dumps(rows), "t.json")
    with pytest.raises(FormatError, match=r"t\.json, row 2: mt is null"):
        read_table(path, references=["ref"], systems=["mt"])
    path = tsv(tmp_path, json.dumps(rows, indent=1), "t.json")
    with pytest.raises(FormatError, match=r"t\.json:6: mt is null"):
        read_table(path, references=["ref"], systems=["mt"])


def test_columns_of_a_tsv_file_become_a_test_set(tmp_path: Path) -> None:
    path = tsv(
        tmp_path,
        "src\tr1\tr2\tA\tB\tdoc\tdom\tyear\neins\tone\t1\tO\tx\td1\tnews\t2019\n"
        "zwei\ttwo\t2\tT\ty\td2\ttalk\t2020\n",
    )
    testset = read_table(
        path,
        source="src",
        references=["r1", "r2"],
        systems={"sysA": "A", "sysB": "B"},
        document="doc",
        domain="dom",
        labels=["year"],
        language_pair="de-en",
    )
    assert (testset.name, testset.language_pair) == ("t", "de-en")
    assert testset.sources == ("eins", "zwei")
    assert dict(testset.references) == {"r1": ("one", "two"), "r2": ("1", "2")}
    assert dict(testset.systems) == {"sysA": ("O", "T"), "sysB": ("x", "y")}
    assert testset.documents == ("d1", "d2")
    assert testset.domains == ("news", "talk")
    assert dict(testset.labels) == {"year": ("2019", "2020")}


def test_quotation_marks_are_text_and_that_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="gnomon.formats")
    path = tsv(tmp_path, 'r\ts\n"a"\t"b\n')
    testset = read_table(path, references=["r"], systems=["s"])
    assert (testset.references["r"], testset.systems["s"]) == (('"a"',), ('"b',))
    assert "1 fields stand in quotation marks, which are kept" in caplog.text


def test_an_empty_field_is_an_empty_text(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    testset = read_table(tsv(tmp_path, "r\ts\n\t\n"), references=["r"], systems=["s"])
    assert testset.references["r"] == ("",)
    assert "1 empty reference segment(s)" in caplog.text


def test_a_row_with_another_number_of_fields_is_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"t\.tsv:3: 3 tab-separated fields; the header has 2"):
        read_table(tsv(tmp_path, "r\ts\na\tb\na\tb\tc\n"), references=["r"], systems=["s"])


def test_a_missing_column_is_answered_with_those_that_exist(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"unknown column or key 'ref'.*there are: reference, s"):
        read_table(tsv(tmp_path, "reference\ts\na\tb\n"), references=["ref"], systems=["s"])


@pytest.mark.parametrize(
    ("header", "asked", "says"),
    [
        (
            "src\thyp\tgold",
            {"references": ["reference"], "systems": ["hyp"]},
            "rename 'gold' to 'reference', or name it (references=['gold'])",
        ),
        (
            "original\tref\tsys",
            {"source": "orignal", "references": ["ref"], "systems": ["sys"]},
            "rename 'original' to 'orignal', or name it (source='original')",
        ),
        (
            "src\tref\ttranslation",
            {"references": ["ref"], "systems": ["mt"]},
            "name 'translation' if it is meant (systems=['translation'])",
        ),
        (
            "ref\tsys\tgold",
            {"references": ["reference"], "systems": ["sys"]},
            "name the column that is meant (references=['COLUMN'])",
        ),
        (
            "ref\tsys\tdoc_id",
            {"references": ["ref"], "systems": ["sys"], "document": "chapter"},
            "name the column that is meant (document='COLUMN')",
        ),
        (  # the only near one is taken already
            "ref\tmt",
            {"source": "refs", "references": ["ref"], "systems": ["mt"]},
            "name the column that is meant (source='COLUMN')",
        ),
    ],
)
def test_a_missing_column_is_answered_with_what_to_do(
    tmp_path: Path, header: str, asked: dict[str, Any], says: str
) -> None:
    with pytest.raises(FormatError) as wrong:
        read_table(tsv(tmp_path, f"{header}\n{header}\n"), **asked)
    assert str(wrong.value).endswith(says)


@pytest.mark.parametrize(("column", "says"), [("gold", True), ("notes", False)])
def test_a_column_that_may_hold_references_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, column: str, says: bool
) -> None:
    read_table(tsv(tmp_path, f"src\thyp\t{column}\na\tb\tc\n"), systems=["hyp"])
    said = f"if '{column}' holds them, rename it to 'reference'"
    assert (said in caplog.text) == says


@pytest.mark.parametrize(
    ("rows", "references", "systems"),
    [
        (["id\tsource\tgold\tv1\tv2\tscore", "1\tq\tहाँ\tबस\tसब\t.5"], ["gold"], ["v1", "v2"]),
        (["src\tref_a\tref_b\tmt\tnotes", "q\t犬\t狗\t犬だ\tx"], ["ref_a", "ref_b"], ["mt"]),
        (["ref\tv1\tlength", "a\tb\t7"], ["ref"], ["v1"]),
        (["prompt\treference\tcompletion", "a\tb\tc"], ["reference"], ["completion"]),
        (["ref\tsystem\tseg\tmt", "a\tB\t2\tx", "c\tB\t1\ty"], ["ref"], ["B"]),
        (["Ref\tSystem\tSegment\ttext", "a\tB\t2\tx", "c\tB\t1\ty"], ["Ref"], ["B"]),
        (
            [
                "unit\tsource_language\tsource_text\tref\tv1\tcreated",
                "1f-a\ten\tq\ta\tb\t2026-01-02T",
            ],
            ["ref"],
            ["v1"],
        ),
    ],
)
def test_columns_are_recognised_and_said_where_none_is_named(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    rows: list[str],
    references: list[str],
    systems: list[str],
) -> None:
    testset = read_table(tsv(tmp_path, "\n".join(rows) + "\n"))
    assert (list(testset.references), list(testset.systems)) == (references, systems)
    assert f"references: {', '.join(references)}" in caplog.text


def test_columns_that_are_not_read_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    read_table(
        jsonl(tmp_path, {"ref": "a", "v1": "b", "v2": "c"}, {"ref": "a", "v1": "b", "v2": None})
    )
    assert "references: ref; systems: v1; not read: v2" in caplog.text


def test_the_same_few_in_many_rows_are_no_outputs(tmp_path: Path) -> None:
    rows = [f"{n} words\tan output {n}\t{'draft' if n % 2 else 'done'}" for n in range(40)]
    assert list(read_table(tsv(tmp_path, "\n".join(["ref\tv1\tstate", *rows]))).systems) == ["v1"]


def test_a_target_beside_systems_may_be_the_reference_which_is_asked(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"if 'target' holds the references, .*references=\['targ"):
        read_table(tsv(tmp_path, "source\ttarget\tv1\na\tb\tc\n"))


def test_columns_called_by_languages_are_known_by_the_pair(tmp_path: Path) -> None:
    testset = read_table(tsv(tmp_path, "en\thi\tv1\na\tb\tc\n"), language_pair="en-hi")
    assert (testset.sources, testset.references["hi"]) == (("a",), ("b",))
    assert testset.systems == {"v1": ("c",)}


def test_a_column_of_documents_alone_leaves_the_others_to_be_recognised(tmp_path: Path) -> None:
    file = tsv(tmp_path, "ref\tv1\tfile\na\tb\tc\n")
    testset = read_table(file, document="file")
    assert (testset.documents, list(testset.systems)) == (("c",), ["v1"])


def test_outputs_that_may_stand_in_several_columns_are_asked_for(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"a column 'system', and outputs .* in 'one' or 'two'"):
        read_table(tsv(tmp_path, "ref\tsystem\tone\ttwo\na\tB\tx\ty\n"))


def test_columns_that_are_not_recognised_are_listed_with_their_first_cells(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"first row: v1 \('a'\), v2 \('b'\)"):
        read_table(tsv(tmp_path, "v1\tv2\na\tb\n"))


def test_the_first_table_of_a_workbook_is_a_table(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="needs openpyxl: pip install 'gnomon[excel]'")
    book = openpyxl.Workbook()
    for row in (("src", "ref", "v1"), ("a\tb", "c\nd", "=SUM(a)"), ("x", "y", None)):
        book.active.append(row)
    book.active["C2"].data_type = "s"
    book.save(tmp_path / "t.xlsx")
    testset = read_table(tmp_path / "t.xlsx")
    assert testset.sources == ("a\tb", "x")
    assert testset.references == {"ref": ("c\nd", "y")}
    assert testset.systems == {"v1": ("=SUM(a)", "")}


def test_rows_that_a_workbook_names_without_a_cell_take_no_room(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="needs openpyxl: pip install 'gnomon[excel]'")
    book = openpyxl.Workbook()
    book.active.append(("ref", "v1"))
    book.active.cell(row=30_000, column=1, value="a")
    book.active.row_dimensions[40_000].height = 20
    book.save(tmp_path / "t.xlsx")
    cells = read_cells(tmp_path / "t.xlsx")
    assert [len(row) > 0 for row in cells] == [n in (0, 29_999) for n in range(len(cells))]
    assert read_table(tmp_path / "t.xlsx").segments == 1


def test_cells_of_a_workbook_are_texts_as_they_stand(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="needs openpyxl: pip install 'gnomon[excel]'")
    book = openpyxl.Workbook()
    for row in (("ref", "v1"), ("'tis", '"Yes," he said. "No."'), (None, None), ("C:\\new", 7)):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    testset = read_table(tmp_path / "t.xlsx")
    assert testset.references == {"ref": ("'tis", "C:\\new")}
    assert testset.systems == {"v1": ('"Yes," he said. "No."', "7")}
    book.active.append(("a", "b", "c"))
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(FormatError, match=r"t\.xlsx, row 5: has a cell beyond the 2 columns"):
        read_table(tmp_path / "t.xlsx")


def test_a_frame_names_its_own_keyword() -> None:
    frame = [{"src": "a", "hyp": "b", "gold": "c"}]
    with pytest.raises(FormatError) as wrong:
        gn.TestSet.from_frame(frame, reference="reference", systems="hyp")
    said = "rename 'gold' to 'reference', or name it (reference=['gold'])"
    assert str(wrong.value).endswith(said)
    with pytest.raises(UsageError, match=r"rename 'gold' to 'reference'.*reference=\['gold'\]"):
        gn.TestSet.from_frame([{"hyp": "b", "gold": "c"}], systems="hyp")


def test_a_column_that_later_rows_have_is_no_matter_of_names(tmp_path: Path) -> None:
    path = jsonl(tmp_path, {"r": "a", "gold": "b"}, {"r": "a", "ref": "b"})
    with pytest.raises(FormatError) as wrong:
        read_table(path, references=["ref"])
    assert "rename" not in str(wrong.value)


def test_a_table_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no rows"):
        read_table(tsv(tmp_path, "r\ts\n"), references=["r"], systems=["s"])


def test_keys_of_json_objects_become_a_test_set(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path,
        {"in": {"text": "eins"}, "out": {"online-A.0": "O", "b": "x"}, "ref": "one", "doc": 7},
        {"in": {"text": "zwei"}, "out": {"online-A.0": "T", "b": "y"}, "ref": None, "doc": 8},
    )
    testset = read_table(
        path,
        source="in.text",
        references=["ref"],
        systems={"A": "out.online-A.0", "b": "out.b"},
        document="doc",
    )
    assert testset.sources == ("eins", "zwei")
    assert testset.references["ref"] == ("one", None)
    assert dict(testset.systems) == {"A": ("O", "T"), "b": ("x", "y")}
    assert testset.documents == ("7", "8")


def test_lists_are_ragged_references(tmp_path: Path) -> None:
    path = jsonl(tmp_path, {"r": ["a", "b"], "s": "x"}, {"r": [], "s": "y"}, {"r": "c", "s": "z"})
    testset = read_table(path, references=["r"], systems=["s"])
    assert dict(testset.references) == {"r.1": ("a", None, "c"), "r.2": ("b", None, None)}


def test_a_key_with_a_dot_comes_before_a_nested_one(tmp_path: Path) -> None:
    path = jsonl(tmp_path, {"a": {"b": "nested"}, "a.b": "flat", "r": "x"})
    assert read_table(path, references=["r"], systems=["a.b"]).systems == {"a.b": ("flat",)}


def test_blank_lines_of_jsonl_are_skipped(tmp_path: Path) -> None:
    path = tsv(tmp_path, '{"r": "a"}\n\n  \n{"r": "b"}\n', "t.jsonl")
    assert read_table(path, references=["r"]).references["r"] == ("a", "b")


def test_a_missing_key_names_the_line_and_the_keys_that_exist(tmp_path: Path) -> None:
    path = jsonl(tmp_path, {"r": "a", "s": "b"}, {"r": "a", "x": {"s": "b"}})
    with pytest.raises(FormatError, match=r"t\.jsonl:2: unknown column or key 's'.*: r, x\.s"):
        read_table(path, references=["r"], systems=["s"])


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "is not a JSON object"),
        ("[1]", r"is \[1\]; JSONL has one object"),
        ('{"r": "a", "r": "b"}', "the key 'r' occurs twice"),
        ('{"r": NaN}', "NaN is not JSON; write null"),
        ('{"r": -Infinity}', "-Infinity is not JSON"),
        ('{"r": 5}', "r is 5; a string is expected"),
        ('{"r": ["a", 5]}', "a list of strings is expected"),
        (r'{"r": "\ud800"}', "lone surrogate"),
        ('{"r": ' + "[" * 100_000, "is not a JSON object"),
    ],
)
def test_wrong_json_is_refused_with_the_line(tmp_path: Path, line: str, problem: str) -> None:
    path = tsv(tmp_path, '{"r": "fine"}\n' + line + "\n", "t.jsonl")
    with pytest.raises(FormatError, match=r"t\.jsonl:2: .*" + problem):
        read_table(path, references=["r"])


def test_a_missing_candidate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="s is null; a string is expected"):
        read_table(jsonl(tmp_path, {"r": "a", "s": None}), references=["r"], systems=["s"])


def test_a_row_per_system_and_segment_is_arranged(tmp_path: Path) -> None:
    path = tsv(
        tmp_path, "who\tid\tref\tout\nB\t7\tone\tb1\nA\t9\ttwo\ta2\nB\t9\ttwo\tb2\nA\t7\tone\ta1\n"
    )
    testset = read_table(
        path, references=["ref"], system_column="who", candidate="out", segment_column="id"
    )
    assert testset.references["ref"] == ("one", "two")
    assert dict(testset.systems) == {"B": ("b1", "b2"), "A": ("a1", "a2")}


def test_without_segment_numbers_rows_count_per_system(tmp_path: Path) -> None:
    path = tsv(tmp_path, "who\tref\tout\nB\tone\tb1\nB\ttwo\tb2\nA\tone\ta1\nA\ttwo\ta2\n")
    testset = read_table(path, references=["ref"], system_column="who", candidate="out")
    assert dict(testset.systems) == {"B": ("b1", "b2"), "A": ("a1", "a2")}


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ("A\t1\tr\tx\nB\t1\tq\ty\n", r"t\.tsv:3: ref differs from line 2"),
        ("A\t1\tr\tx\nA\t1\tr\ty\n", r"t\.tsv:3: a second row for segment 1 of A; line 2"),
        ("A\t1\tr\tx\nA\t2\tr\ty\nB\t2\tr\tz\n", "'B' has 1 of 2 segments; segment 1 is missing"),
    ],
)
def test_rows_that_do_not_make_a_grid_are_refused(tmp_path: Path, rows: str, problem: str) -> None:
    path = tsv(tmp_path, "who\tid\tref\tout\n" + rows)
    with pytest.raises(DataError, match=problem):
        read_table(
            path, references=["ref"], system_column="who", candidate="out", segment_column="id"
        )


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        ({}, "name the columns of the references"),
        ({"references": "ref"}, "references must be a list of texts"),
        ({"references": ["r"], "systems": "s"}, "systems must be a list of texts"),
        ({"references": ["r"], "candidate": "c"}, "go together"),
        ({"references": ["r"], "segment_column": "c"}, "give system_column"),
        (
            {"references": ["r"], "systems": ["s"], "system_column": "w", "candidate": "c"},
            "either systems",
        ),
    ],
)
def test_a_request_that_makes_no_test_set_is_refused(
    tmp_path: Path, request_: dict[str, object], problem: str
) -> None:
    with pytest.raises(UsageError, match=problem):
        read_table(tsv(tmp_path, "r\ts\na\tb\n"), **request_)  # type: ignore[arg-type]  # the mistakes under test
    with pytest.raises(UsageError, match=r"holds texts \('A dog barks.'\), where names"):
        read_table(tsv(tmp_path, "a\tA dog barks.\nb\tA cat.\n"))


def test_the_format_is_told_by_the_suffix_or_by_the_user(tmp_path: Path) -> None:
    data = b'{"r": "a"}\n'
    for name in ("t.jsonl", "t.ndjson"):
        (tmp_path / name).write_bytes(data)
        assert read_table(tmp_path / name, references=["r"]).segments == 1
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress(data))
    assert read_table(tmp_path / "t.jsonl.gz", references=["r"]).name == "t"
    (tmp_path / "t.dat").write_bytes(data)
    with pytest.raises(UnknownNameError, match=r"unknown table format '\.dat'.*\.tsv, \.csv"):
        read_table(tmp_path / "t.dat", references=["r"])
    assert read_table(tmp_path / "t.dat", references=["r"], format="jsonl").segments == 1
    with pytest.raises(UnknownNameError, match="there are: tsv, csv, jsonl"):
        read_table(tmp_path / "t.dat", references=["r"], format="ods")


def test_standard_input_needs_a_format(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("r\ts\na\tb\n"))
    with pytest.raises(UsageError, match="give one of tsv, csv, jsonl"):
        read_table("-", references=["r"], systems=["s"])
    testset = read_table("-", references=["r"], systems=["s"], format="tsv")
    assert testset.systems == {"s": ("b",)}


def test_formulas_without_values_are_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["reference", "a"], ["one", "eins"], ["two", "=A2"]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    assert read_table(tmp_path / "t.xlsx").systems["a"] == ("eins", "")
    assert "1 formulas have no value and are read as empty cells" in caplog.text
