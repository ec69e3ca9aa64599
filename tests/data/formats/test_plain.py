from __future__ import annotations

import gzip
import io
import logging
import sys
from typing import TYPE_CHECKING

import pytest

from gnomon import TestSet
from gnomon.core.errors import DataError, FormatError, LengthMismatchError, UsageError
from gnomon.data.formats import read_plain, read_systems

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ref.txt").write_text("one\ntwo\n")
    (tmp_path / "src.txt").write_text("eins\nzwei\n")
    (tmp_path / "sysA.txt").write_text("one\n\n")
    (tmp_path / "online-B.0.txt.gz").write_bytes(gzip.compress(b"a\nb\n"))
    return tmp_path


def test_systems_and_references_are_named_after_their_files(folder: Path) -> None:
    testset = TestSet.from_files(
        references=[folder / "ref.txt"],
        systems=[folder / "sysA.txt", str(folder / "online-B.0.txt.gz")],
        source=folder / "src.txt",
        language_pair="de-en",
    )
    assert dict(testset.references) == {"ref": ("one", "two")}
    assert dict(testset.systems) == {"sysA": ("one", ""), "online-B.0": ("a", "b")}
    assert testset.sources == ("eins", "zwei")
    assert testset.language_pair == "de-en"


def test_references_of_one_name_get_numbers(folder: Path) -> None:
    for name in ("x", "y"):
        (folder / name).mkdir()
        (folder / name / "ref.txt").write_text(f"{name}\n{name}\n")
    (folder / "ref-2.txt").write_text("z\nz\n")
    paths = [folder / "ref.txt", folder / "x/ref.txt", folder / "ref-2.txt", folder / "y/ref.txt"]
    testset = read_plain(references=paths, systems=[])
    assert [(name, texts[0]) for name, texts in testset.references.items()] == [
        ("ref", "one"),
        ("ref-3", "x"),
        ("ref-2", "z"),
        ("ref-4", "y"),
    ]


def test_two_systems_of_one_name_are_refused_with_both_files(folder: Path) -> None:
    (folder / "sysA.txt.gz").write_bytes(gzip.compress(b"a\nb\n"))
    with pytest.raises(DataError, match=r"'sysA': .*sysA\.txt and .*sysA\.txt\.gz"):
        read_plain(
            references=[folder / "ref.txt"],
            systems=[folder / "sysA.txt", folder / "sysA.txt.gz"],
        )


@pytest.mark.parametrize("wrong", ["ref", "sysA", "src"])
def test_unequal_line_counts_name_both_files_and_counts(folder: Path, wrong: str) -> None:
    (folder / f"{wrong}.txt").write_text("1\n2\n3\n")
    with pytest.raises(LengthMismatchError, match=r"ref\.txt has (2|3) lines, .*\.txt.* has (2|3)"):
        read_plain(
            references=[folder / "ref.txt"],
            systems=[folder / "sysA.txt"],
            source=folder / "src.txt",
        )


def test_files_without_a_segment_are_refused(folder: Path) -> None:
    (folder / "empty.txt").write_text("")
    with pytest.raises(DataError, match="there is no segment"):
        read_plain(references=[folder / "empty.txt"], systems=[folder / "empty.txt"])


def test_an_empty_reference_is_accepted_with_a_warning(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / "ref.txt").write_text("one\n \n")
    testset = read_plain(references=[folder / "ref.txt"], systems=[folder / "sysA.txt"])
    assert testset.references["ref"] == ("one", " ")
    [warning] = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert "1 empty reference segment(s), the first in line 2" in warning.message
    assert "ref.txt" in warning.message


def test_an_empty_candidate_is_accepted_and_said(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="gnomon.formats")
    read_plain(references=[folder / "ref.txt"], systems=[folder / "sysA.txt"])
    assert "1 empty candidate segment(s), the first in line 2" in caplog.text
    assert all(record.levelno == logging.INFO for record in caplog.records)


def test_one_file_may_come_from_standard_input(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("x\ny\n"))
    testset = read_plain(references=[folder / "ref.txt"], systems=["-"])
    assert dict(testset.systems) == {"standard input": ("x", "y")}


def test_standard_input_cannot_stand_for_two_files(folder: Path) -> None:
    with pytest.raises(UsageError, match="one file only"):
        read_plain(references=["-"], systems=["-"])


def test_a_single_path_in_place_of_a_list_is_named(folder: Path) -> None:
    with pytest.raises(UsageError, match="systems must be a list"):
        read_plain(references=[folder / "ref.txt"], systems=folder / "sysA.txt")  # type: ignore[arg-type]  # the mistake under test
    with pytest.raises(UsageError, match="references must be a list"):
        read_plain(references="ref.txt", systems=[])


def test_systems_are_read_alone(folder: Path) -> None:
    assert read_systems([folder / "sysA.txt"]) == {"sysA": ["one", ""]}


def test_systems_of_unequal_lengths_are_refused(folder: Path) -> None:
    (folder / "b.txt").write_text("1\n")
    with pytest.raises(LengthMismatchError, match=r"has 2 lines, .* has 1"):
        read_systems([folder / "sysA.txt", folder / "b.txt"])


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.csv", "id,text\n1,b\n", r"holds columns \(id, text\), and its lines are no segments"),
        ("a.tsv", "1\tb\n2\tc\n", r"holds columns \(1, b\).*gnomon\.formats\.read_table"),
        ("a.xlsx", "", "is a table, and its lines are no segments"),
        ("a.txt", "<html><body>\n<p>b</p>\n", "begins as HTML, and its lines are no segments"),
        ("a.sgm", '<refset setid="x">\n<seg>b</seg>\n', r"read as a whole: gnomon\.TestSet\.read"),
    ],
)
def test_tables_and_markup_are_no_lines_of_text(
    tmp_path: Path, name: str, text: str, problem: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=problem):
        TestSet.from_files(references=[tmp_path / name], systems=[])


def test_lines_of_text_may_be_called_csv(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Yes, the source.\nNo, the reference\n", encoding="utf-8")
    (tmp_path / "b.tsv").write_text("<s> a\nb\tc\n", encoding="utf-8")
    testset = TestSet.from_files(references=[tmp_path / "a.csv"], systems=[tmp_path / "b.tsv"])
    assert testset.segments == 2


def test_the_first_of_each_segment_of_an_n_best_list_is_read(tmp_path: Path) -> None:
    (tmp_path / "ref.txt").write_text("one\ntwo\n")
    nbest = "0 ||| eins ||| F= -1.5 ||| -2\n0 ||| ein ||| F= -2 ||| -3\n1 ||| zwei\n"
    (tmp_path / "out.nbest").write_text(nbest)
    testset = TestSet.from_files(
        references=[tmp_path / "ref.txt"], systems=[tmp_path / "out.nbest"]
    )
    assert testset.systems == {"out.nbest": ("eins", "zwei")}
    (tmp_path / "out.nbest").write_text("2 ||| zwei\n1 ||| eins\n2 ||| zwo\n")
    assert read_systems([tmp_path / "out.nbest"]) == {"out.nbest": ["eins", "zwei"]}


def test_an_n_best_list_without_a_segment_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out.nbest").write_text("0 ||| a\n2 ||| c\n3 ||| d\n")
    with pytest.raises(FormatError, match="n-best list without segment 1; its numbers"):
        read_systems([tmp_path / "out.nbest"])


def test_a_table_without_names_of_columns_is_no_file_of_lines(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('"Yes, one.",a\n"No",b\nThree,"c, d"\n', encoding="utf-8")
    with pytest.raises(FormatError, match=r"holds columns \(Yes, one., a\)"):
        read_systems([tmp_path / "a.csv"])
