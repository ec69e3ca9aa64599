"""CSV, JSON, Parquet and data frames, whose columns users name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnomon as gn
from gnomon.core.errors import FormatError, MissingDependencyError, UsageError
from gnomon.data.formats import read_records, read_table

ROWS = [
    {"src": "eins; zwei", "ref": 'He said "no", twice', "mt": "a, b"},
    {"src": "drei", "ref": "two\nlines", "mt": "c"},
]
TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\0"), min_size=1, max_size=12
)


def csv_of(rows: list[dict[str, str]], mark: str) -> str:
    quoted = [['"' + row[key].replace('"', '""') + '"' for key in rows[0]] for row in rows]
    return "".join(mark.join(row) + "\n" for row in [list(rows[0]), *quoted])


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_separator_of_csv_is_recognised_and_quoting_is_that_of_the_standard(
    mark: str, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text(csv_of(ROWS, mark), encoding="utf-8")
    testset = read_table(tmp_path / "t.csv")
    assert testset.sources == ("eins; zwei", "drei")
    assert testset.references == {"ref": ('He said "no", twice', "two\nlines")}
    assert testset.systems == {"mt": ("a, b", "c")}


def test_empty_columns_behind_the_last_one_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(",ref,mt,,\n0,a,b,,\n", encoding="utf-8")
    assert read_table(tmp_path / "t.csv").systems == {"mt": ("b",)}
    (tmp_path / "t.csv").write_text("ref,mt,,\na,b,,c\n", encoding="utf-8")
    with pytest.raises(FormatError, match="column '' occurs twice"):
        read_table(tmp_path / "t.csv")


def test_a_spreadsheets_hint_names_the_separator(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("sep=;\na;b,c\n1;2,3\n", encoding="utf-8")
    assert read_records(tmp_path / "t.csv")[0].values == {"a": "1", "b,c": "2,3"}
    assert read_records(tmp_path / "t.csv")[0].line == 3


@given(st.lists(st.fixed_dictionaries({"ref": TEXT, "mt": TEXT}), min_size=1, max_size=4))
def test_whatever_texts_a_csv_file_quotes_are_read_as_they_are(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, str]]
) -> None:
    file = tmp_path_factory.mktemp("csv") / "t.csv"
    file.write_text(csv_of(rows, ";"), encoding="utf-8")
    assert [record.values for record in read_records(file)] == rows


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a,b\n1,2,3\n", r"t\.csv:2: 3 fields; 2 are expected: a, b"),
        ('a,b\n1,"2\n', r"t\.csv:2: .*quotation mark"),
        ("a,a\n1,2\n", r"t\.csv:1: column 'a' occurs twice"),
        ("a;b,c\n1;2,3\n", "could be separated by ',' or by ';'"),
        ("", "is empty"),
    ],
)
def test_damaged_csv_is_refused_with_its_line(text: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=problem):
        read_records(tmp_path / "t.csv")


def test_json_is_a_list_of_objects_or_a_list_per_column(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text(json.dumps(ROWS, indent=2), encoding="utf-8")
    columns = {key: [row[key] for row in ROWS] for key in ROWS[0]}
    (tmp_path / "columns.json").write_text(json.dumps(columns), encoding="utf-8")
    rows, others = (read_table(tmp_path / f"{name}.json") for name in ("rows", "columns"))
    assert rows.systems == others.systems == {"mt": ("a, b", "c")}
    assert [record.line for record in read_records(tmp_path / "rows.json")] == [2, 7]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[{"a": 1},\n 2]', r"t\.json:2: is 2; a list of objects"),
        ('[{"a": 1}\n {"a": 2}]', r"t\.json:2: .*a comma or the end"),
        ('[{"a": 1}', "is the file whole"),
        ('[{"a": 1}] x', "goes on after"),
        ('[{"a": NaN}]', "NaN is not JSON"),
        ('[{"a": 1, "a": 2}]', "'a' occurs twice"),
        ('{"a": [1], "b": [1, 2]}', "differ in length: a 1, b 2"),
        ('"x"', "is no list in JSON"),
    ],
)
def test_damaged_json_is_refused_with_its_line(text: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=problem):
        read_records(tmp_path / "t.json")


def test_a_nested_data_set_gives_its_languages_by_the_pair(tmp_path: Path) -> None:
    import pandas as pd

    pairs = [{"de": "eins", "en": "one"}, {"de": "zwei", "en": "2"}]
    both = [{"translation": pair} for pair in pairs]
    pd.DataFrame(both).to_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.json").write_text(json.dumps(both), encoding="utf-8")
    for name in ("t.parquet", "t.json"):
        testset = read_table(tmp_path / name, language_pair="de-en")
        assert testset.sources == ("eins", "zwei")
        assert list(testset.references.values()) == [("one", "2")]
    turned = gn.TestSet.from_frame(pd.DataFrame(both), language_pair="en-de")
    assert turned.sources == ("one", "2")


def test_a_damaged_parquet_file_is_refused(tmp_path: Path) -> None:
    import pandas as pd

    pd.DataFrame(ROWS).to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").segments == 2
    data = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(data[:-40])
    with pytest.raises(FormatError, match="is no whole Parquet file"):
        read_table(tmp_path / "t.parquet")


def test_parquet_without_its_package_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'gnomon\[frames\]'"):
        read_table(tmp_path / "t.parquet")


def frames() -> list[object]:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    columns = {key: [row[key] for row in ROWS] for key in ROWS[0]}
    return [pd.DataFrame(ROWS), pl.DataFrame(ROWS), pa.Table.from_pylist(ROWS), columns, ROWS]


@pytest.mark.parametrize("number", range(5))
def test_data_frames_of_any_library_become_the_same_test_set(number: int) -> None:
    testset = gn.TestSet.from_frame(
        frames()[number], reference="ref", systems=["mt"], source="src", language_pair="de-en"
    )
    assert testset == gn.TestSet.from_frame(ROWS, language_pair="de-en")
    assert testset.systems == {"mt": ("a, b", "c")}


def test_a_missing_reference_of_a_data_frame_is_one_that_the_segment_lacks() -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": ["x", "y"], "r": ["x", None], "s": ["x", "z"]})
    testset = gn.TestSet.from_frame(frame, reference=["r", "s"], systems="a")
    assert testset.references == {"r": ("x", None), "s": ("x", "z")}
    long = pd.DataFrame({"sys": ["a", "b"], "out": ["x", "y"], "r": ["x", "x"]})
    testset = gn.TestSet.from_frame(long, reference="r", system_column="sys", candidate="out")
    assert testset.systems == {"a": ("x",), "b": ("y",)}


def test_what_is_no_data_frame_or_lacks_a_column_is_refused() -> None:
    with pytest.raises(UsageError, match="is no data frame"):
        gn.TestSet.from_frame(7, reference="r")
    with pytest.raises(
        FormatError, match=r"data frame, row 1: unknown column or key 'nope'.*src, ref"
    ):
        gn.TestSet.from_frame(ROWS, reference="nope")
    with pytest.raises(UsageError, match=r"name the columns of the references.*first row: a "):
        gn.TestSet.from_frame([{"a": "x"}])
    with pytest.raises(FormatError, match=r"data frame, row 1: r is 5; a string is expected"):
        gn.TestSet.from_frame([{"r": 5, "a": "x"}], reference="r", systems="a")
