"""Finding the test sets of a place."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.data.formats.published_sets import eval4nlp_files, fill, mlqe_table
from tests.data.formats.wmt_files import small_set, to_xml

from gnomon.core.errors import DataError, FormatError, MissingFileError
from gnomon.data.formats import read_test_set, sets_in, write_test_set


def test_sets_of_all_kinds_are_found_at_any_depth(tmp_path: Path) -> None:
    write_test_set(small_set(), tmp_path / "own")
    write_test_set(small_set(), tmp_path / "mtme", layout="mt-metrics-eval")
    fill(tmp_path / "a" / "b" / "et-en-test", eval4nlp_files())
    fill(tmp_path / "a", {"dev.eten.df.short.tsv": mlqe_table(), "notes.txt": ["x"]})
    (tmp_path / "a" / "set.de-en.xml").write_text(to_xml(small_set()), encoding="utf-8")
    found = sets_in(tmp_path)
    assert [(one.format, one.language_pair) for one in found] == [
        ("mlqe-pe", "et-en"),
        ("wmt-xml", "de-en"),
        ("eval4nlp21", "et-en"),
        ("mt-metrics-eval", "de-en"),
        ("gnomon", "de-en"),
    ]
    for one in found:
        assert read_test_set(one.place).segments in (3, 4)


def test_a_place_without_a_set_says_what_is_known(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x\n")
    with pytest.raises(DataError, match=r"holds no test set of a known format .*wmt-sgml"):
        sets_in(tmp_path)
    with pytest.raises(FormatError, match="is of no known format"):
        sets_in(tmp_path / "notes.txt")
    with pytest.raises(MissingFileError, match="there is no file or directory"):
        sets_in(tmp_path / "nothing")


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    write_test_set(small_set(), tmp_path / "own")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert len(sets_in(tmp_path)) == 1


def test_a_table_whose_columns_are_recognised_is_a_test_set(tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    file.write_text("id,src,ref,A,B\n1,a,b,c,d\n", encoding="utf-8")
    testset = read_test_set(file, language_pair="de-en", systems=["B"])
    assert (testset.systems, testset.language_pair) == ({"B": ("d",)}, "de-en")
    file.write_text("A,B\na,b\n", encoding="utf-8")
    with pytest.raises(FormatError, match="is of no known format of a test set"):
        read_test_set(file)


def test_a_file_of_units_is_told_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.xlf").write_text("<xliff/>", encoding="utf-8")
    with pytest.raises(FormatError, match="translation units, which stands where a file of lines"):
        read_test_set(tmp_path / "a.xlf")
    (tmp_path / "a.jsonl").write_text('{"doc_id": 1, "resps": [["x"]]}', encoding="utf-8")
    with pytest.raises(DataError, match="holds outputs and no references"):
        read_test_set(tmp_path / "a.jsonl")
