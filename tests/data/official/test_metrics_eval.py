"""The archive of mt-metrics-eval: some of its sets, from an address, a file or a folder."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from tests.data.formats.wmt_files import OUTPUT, small_set
from tests.data.official.official_sets import metrics_eval_folder, tgz, tgz_of

import gnomon as gn
from gnomon import official
from gnomon.core.errors import DataError, FormatError, MissingFileError, UnknownNameError
from gnomon.data.formats import read_test_set
from gnomon.data.official import metrics_eval as _metrics_eval


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    file = tmp_path / "mt-metrics-eval-v2.tgz"
    file.write_bytes(tgz_of(metrics_eval_folder(tmp_path / "made"), "mt-metrics-eval-v2"))
    return file


def test_one_set_and_pair_is_taken_from_the_archive(archive: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    [found] = official.fetch(
        "mt-metrics-eval/wmt22", language_pairs=["de-en"], folder=home, given=archive
    )
    assert found.path == home / "mt-metrics-eval" / "wmt22" / "de-en"
    testset = gn.TestSet.read(found.path)
    assert testset.systems["alpha"] == tuple(OUTPUT)
    folder = home / "mt-metrics-eval"
    assert sorted(p.name for p in folder.iterdir()) == ["wmt22"]
    assert (folder / "wmt22" / "metric-scores" / "de-en" / "BLEU-A.sys.score").is_file()
    assert not (folder / "wmt22" / "metric-outputs").exists()
    assert not (folder / "wmt22" / "sources" / "fr-en.txt").exists()
    origin = json.loads((folder / "wmt22" / "origin.json").read_text())
    assert origin["sha256"] == hashlib.sha256(archive.read_bytes()).hexdigest()
    assert origin["language_pairs"] == ["de-en"]


def test_another_pair_joins_and_what_is_here_is_not_unpacked_again(
    archive: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    name = "mt-metrics-eval/wmt22"
    official.fetch(name, language_pairs=["de-en"], folder=home, given=archive)
    [found] = official.fetch(name, language_pairs=["fr-en"], folder=home, given=archive)
    assert (found.language_pair, found.new) == ("fr-en", True)
    archive.unlink()
    both = official.fetch(name, language_pairs=["de-en", "fr-en"], folder=home, given=archive)
    assert [one.new for one in both] == [False, False]
    assert read_test_set(home / name, language_pair="de-en").segments == small_set().segments
    [listed] = [one for one in official.available(home) if one.name == name]
    assert listed.here == {p: home / name / p for p in ("de-en", "fr-en")}
    with pytest.raises(MissingFileError):
        official.fetch(name, folder=home, given=archive)


def test_all_sets_are_fetched_from_the_publishers_address(
    site, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.files["/v2.tgz"] = archive.read_bytes()
    monkeypatch.setattr(_metrics_eval, "URL", f"{site.url}/v2.tgz")
    home = tmp_path / "home"
    found = official.fetch("mt-metrics-eval", folder=home)
    assert [(one.name, one.language_pair) for one in found] == [
        ("wmt22", "de-en"),
        ("wmt22", "fr-en"),
        ("wmt23", "de-en"),
        ("wmt23", "fr-en"),
    ]
    site.files.clear()
    again = official.fetch("mt-metrics-eval/wmt23", folder=home)
    assert [one.new for one in again] == [False, False]


def test_what_the_archive_lacks_is_answered_with_what_it_has(archive: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with pytest.raises(UnknownNameError, match="there are: wmt22, wmt23"):
        official.fetch("mt-metrics-eval/wmt21", folder=home, given=archive)
    with pytest.raises(UnknownNameError, match="there are: de-en, fr-en"):
        official.fetch(
            "mt-metrics-eval/wmt22", language_pairs=["cs-en"], folder=home, given=archive
        )
    archive.write_bytes(tgz({"some/thing.txt": b"x"}))
    with pytest.raises(DataError, match="holds no test set of mt-metrics-eval"):
        official.fetch("mt-metrics-eval", folder=tmp_path / "other", given=archive)
    assert not list((home / "mt-metrics-eval").glob("*"))


def test_a_hostile_member_refuses_all_even_where_it_is_not_wanted(tmp_path: Path) -> None:
    file = tmp_path / "a.tgz"
    file.write_bytes(tgz({"x/wmt22/sources/de-en.txt": b"x\n", "../evil": b"x"}))
    with pytest.raises(FormatError, match="outside the destination"):
        official.fetch("mt-metrics-eval/wmt22", folder=tmp_path / "home", given=file)
    assert not (tmp_path / "evil").exists()
    assert not (tmp_path / "home" / "mt-metrics-eval" / "wmt22").exists()


def test_what_a_killed_process_left_is_swept_and_nothing_else(
    archive: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home" / "mt-metrics-eval"
    for name in (".0123456789abcdef.tmp", ".0123456789abcdef.new", ".mine.tmp"):
        (home / name / "deep").mkdir(parents=True)
    official.fetch("mt-metrics-eval/wmt22", folder=tmp_path / "home", given=archive)
    assert sorted(p.name for p in home.iterdir()) == [".mine.tmp", "wmt22"]
