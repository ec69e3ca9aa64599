from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gnomon import TestSet
from gnomon.core.errors import (
    DataError,
    FormatError,
    LengthMismatchError,
    MissingFileError,
    UnknownNameError,
    UsageError,
)
from gnomon.data.formats import language_pairs

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "sources/en-de.txt": "one\ntwo\nthree\n",
    "references/en-de.refA.txt": "eins\nzwei\ndrei\n",
    "references/en-de.refB.txt": "Eins\nZwei\nDrei\n",
    "system-outputs/en-de/refB.txt": "Eins\nZwei\nDrei\n",
    "system-outputs/en-de/online-A.0.txt": "1\n2\n3\n",
    "documents/en-de.docs": "news d1\nnews\td1\ntalk d2\n",
}


def add(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        add(tmp_path / "wmt20", name, text)
    return tmp_path / "wmt20"


def test_a_directory_is_read_as_its_specification_says(folder: Path) -> None:
    testset = TestSet.read(folder)
    assert (testset.name, testset.language_pair) == ("wmt20", "en-de")
    assert testset.sources == ("one", "two", "three")
    assert list(testset.references) == ["refA", "refB"]
    assert list(testset.systems) == ["online-A.0", "refB"]
    assert testset.documents == ("d1", "d1", "d2")
    assert testset.domains == ("news", "news", "talk")


def test_an_output_that_is_called_like_a_reference_is_human(folder: Path) -> None:
    assert {n for n, i in TestSet.read(folder).info.items() if i.human} == {"refB"}
    chosen = TestSet.read(folder, references=["refA"])
    assert chosen.info["refB"].human


def test_human_scores_come_in_blocks(folder: Path) -> None:
    add(folder, "human-scores/en-de.wmt-z.sys.score", "online-A.0\t0.5\nrefB None\n")
    add(folder, "human-scores/en-de.mqm.seg.score", "refB 1\nrefB 2\nrefB None\n")
    add(folder, "human-scores/en-de.mqm.doc.score", "refB 1\nrefB 2\n")
    add(folder, "human-scores/en-de.mqm.domain.score", "talk refB 1\nnews refB 2\n")
    add(folder, "human-scores/de-en.other.sys.score", "x 1\n")
    found = {f"{h.kind}.{h.level}": h for h in TestSet.read(folder).human}
    assert len(found) == 4
    assert found["wmt-z.system"].systems == ("online-A.0", "refB")
    np.testing.assert_array_equal(found["wmt-z.system"].values, [[0.5], [np.nan]])
    np.testing.assert_array_equal(found["mqm.segment"].values, [[1, 2, np.nan]])
    assert found["mqm.document"].items == ("d1", "d2")
    assert found["mqm.domain"].items == ("talk", "news")
    np.testing.assert_array_equal(found["mqm.domain"].values, [[1, 2]])


def test_scores_of_systems_without_text_are_kept_and_said(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="gnomon.formats")
    add(folder, "human-scores/en-de.z.sys.score", "refC 1\n")
    assert TestSet.read(folder).human[0].systems == ("refC",)
    assert "no text for refC" in caplog.text


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("human-scores/en-de.z.seg.score", "refB 1\nrefB 2\n", "'refB' has 2 scores; 3 are"),
        ("human-scores/en-de.z.sys.score", "refB 1\nrefB 2\n", "'refB' has 2 scores; 1 is"),
        ("human-scores/en-de.z.sys.score", "refB 1 2\n", r"score:1: 3 fields; SYSTEM SCORE"),
        ("human-scores/en-de.z.sys.score", "refB good\n", r"score:1: score is 'good'"),
        ("human-scores/en-de.z.domain.score", "a refB 1\na refB 2\n", r"score:2: a second score"),
        ("human-scores/en-de.z.domain.score", "refB 2\n", "2 fields; DOMAIN SYSTEM SCORE"),
        ("documents/en-de.docs", "news a\nnews\nnews b\n", r"docs:2: 1 fields; DOMAIN DOCNAME"),
    ],
)
def test_wrong_files_are_refused_with_the_line(
    folder: Path, name: str, text: str, problem: str
) -> None:
    with pytest.raises(FormatError, match=problem):
        TestSet.read(add(folder, name, text))


def test_document_scores_need_the_documents(folder: Path) -> None:
    add(folder, "human-scores/en-de.z.doc.score", "refB 1\n")
    (folder / "documents/en-de.docs").unlink()
    with pytest.raises(FormatError, match=r"they stand in documents/en-de\.docs"):
        TestSet.read(folder)


def test_unequal_counts_name_both_files(folder: Path) -> None:
    add(folder, "system-outputs/en-de/refB.txt", "a\n")
    assert "refB" not in TestSet.read(folder).systems  # which is said, and an error where named
    with pytest.raises(LengthMismatchError, match=r"en-de\.txt has 3 lines, .*refB\.txt has 1"):
        TestSet.read(folder, systems=["refB"])
    add(folder, "system-outputs/en-de/refB.txt", "a\nb\nc\n")
    add(folder, "documents/en-de.docs", "news a\n")
    with pytest.raises(LengthMismatchError, match=r"en-de\.docs has 1"):
        TestSet.read(folder)


def test_one_of_several_pairs_is_named_in_two_ways(folder: Path) -> None:
    add(folder, "sources/de-en.txt", "eins\n")
    add(folder, "references/de-en.refA.txt", "one\n")
    assert language_pairs(folder) == ("de-en", "en-de")
    assert TestSet.read(folder / "de-en").references == {"refA": ("one",)}
    assert TestSet.read(folder, language_pair="de-en").references == {"refA": ("one",)}
    assert TestSet.read(folder, language_pair="de").language_pair == "en-de"
    with pytest.raises(UsageError, match="several language pairs: de-en, en-de"):
        TestSet.read(folder)
    with pytest.raises(UnknownNameError, match=r"did you mean 'de-en'"):
        TestSet.read(folder / "de-em")


def test_a_pair_without_references_and_sources_is_refused(folder: Path) -> None:
    add(folder, "system-outputs/fr-en/a.txt", "x\n")
    with pytest.raises(DataError, match="neither references nor sources for fr-en"):
        TestSet.read(folder / "fr-en")


def test_chosen_systems_come_in_the_order_wanted(folder: Path) -> None:
    testset = TestSet.read(folder, systems=["refB", "online-A.0"], references=["refB"])
    assert list(testset.systems) == ["refB", "online-A.0"]
    with pytest.raises(UnknownNameError, match="unknown system 'x'"):
        TestSet.read(folder, systems=["x"])


def test_a_missing_directory_has_no_pairs(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError):
        language_pairs(tmp_path / "no")
