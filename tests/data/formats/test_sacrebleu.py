from __future__ import annotations

import urllib.error
from typing import TYPE_CHECKING

import pytest
import sacrebleu.dataset

from gnomon.core.errors import LengthMismatchError, MissingFileError, UnknownNameError, UsageError
from gnomon.data.formats import is_sacrebleu_set, read_sacrebleu_set

if TYPE_CHECKING:
    from pathlib import Path


class FakeDataset:
    """A test set whose files lie in a folder already."""

    name = "tiny"

    def __init__(self, folder: Path) -> None:
        self.langpairs = {"de-en": [], "fr-en": []}
        self.folder = folder

    def fieldnames(self, pair: str) -> list[str]:
        if pair == "fr-en":
            raise urllib.error.URLError("no route")
        return ["src", "ref:A", "ref:B", "docid", "origlang"]

    def get_files(self, pair: str) -> list[Path]:
        return [self.folder / f"{pair}.{n}" for n in ("src", "A", "B", "docid", "origlang")]

    def get_reference_files(self, pair: str) -> list[Path]:
        return [self.folder / f"{pair}.{n}" for n in ("A", "B")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("src", "A", "B", "docid", "origlang"):
        (tmp_path / f"de-en.{name}").write_text(f"{name}1\n{name}2\n")
    monkeypatch.setitem(sacrebleu.dataset.DATASETS, "tiny", FakeDataset(tmp_path))
    return tmp_path


def test_names_are_known_without_a_download() -> None:
    assert is_sacrebleu_set("wmt19")
    assert not is_sacrebleu_set("wmt1066")


def test_a_test_set_is_read_with_the_outputs_given(folder: Path) -> None:
    (folder / "mine.txt").write_text("x\ny\n")
    testset = read_sacrebleu_set("tiny", language_pair="de-en", systems=[folder / "mine.txt"])
    assert (testset.name, testset.language_pair) == ("tiny", "de-en")
    assert testset.sources == ("src1", "src2")
    assert dict(testset.references) == {"A": ("A1", "A2"), "B": ("B1", "B2")}
    assert testset.documents == ("docid1", "docid2")
    assert dict(testset.systems) == {"mine": ("x", "y")}


def test_an_output_of_another_length_is_refused(folder: Path) -> None:
    (folder / "mine.txt").write_text("x\n")
    with pytest.raises(LengthMismatchError, match="the output of mine has 1"):
        read_sacrebleu_set("tiny", language_pair="de-en", systems=[folder / "mine.txt"])


def test_wrong_names_are_answered_with_those_that_exist(folder: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'wmt19'"):
        read_sacrebleu_set("wmt199", language_pair="de-en")
    with pytest.raises(UnknownNameError, match="de-en, fr-en"):
        read_sacrebleu_set("tiny", language_pair="de-fr")
    with pytest.raises(UsageError, match="name the language pair of tiny"):
        read_sacrebleu_set("tiny")


def test_a_failed_download_says_what_to_do(folder: Path) -> None:
    with pytest.raises(MissingFileError, match=r"cannot download tiny .*no route.*~/\.sacrebleu"):
        read_sacrebleu_set("tiny", language_pair="fr-en")
