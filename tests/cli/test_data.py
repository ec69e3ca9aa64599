"""``gnomon data``: what is printed, and that the next command works."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.data.formats.wmt_files import OUTPUT, REFERENCE, sgml_files, small_set, to_xml
from tests.data.official.official_sets import metrics_eval_folder, register, sgml_archive, tgz_of

from gnomon import formats
from gnomon.cli import data


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test writes the user's data."""
    monkeypatch.setenv("GNOMON_DATA", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def xml(tmp_path: Path) -> Path:
    file = tmp_path / "mini.de-en.all.xml"
    file.write_text(to_xml(small_set()), encoding="utf-8")
    return file


def test_a_conversion_prints_the_path_and_a_command_that_works(
    gnomon, xml: Path, tmp_path: Path
) -> None:
    answer = gnomon("data", "convert", xml, "-o", tmp_path / "a set")
    assert answer.code == 0
    place, following, _ = answer.out.split("\n")
    assert place == f"{tmp_path / 'a set'}: 4 segments; references A; 2 systems"
    words = shlex.split(following)
    assert words[:2] == ["gnomon", "score"]
    scored = gnomon(*words[1:], "-f", "json").json()
    assert [(row["system"], row["metric"]) for row in scored["rows"]][:2] == [
        ("alpha", "bleu"),
        ("beta", "bleu"),
    ]
    info = gnomon("info", "-t", tmp_path / "a set", "-f", "json").json()["rows"]
    assert {"part": "segments", "name": "", "value": 4} in info


def test_programs_get_one_record_per_set(gnomon, xml: Path, tmp_path: Path) -> None:
    found = gnomon("data", "convert", xml, "-o", tmp_path / "x", "-f", "json").json()
    assert found["command"] == "data convert"
    [row] = found["rows"]
    assert list(row) == [
        "set",
        "pair",
        "segments",
        "references",
        "systems",
        "human",
        "path",
        "new",
        "next",
    ]
    assert (row["set"], row["pair"], row["systems"]) == ("minitest2021", "de-en", 2)


def test_sgml_outputs_and_choices_reach_the_conversion(gnomon, tmp_path: Path) -> None:
    plain = replace(small_set(), systems={"alpha": OUTPUT})
    files = sgml_files(plain, tmp_path)
    (tmp_path / "mine.txt").write_text("a\nb\nc\nd\n")
    answer = gnomon(
        "data", "convert", *files, "-i", tmp_path / "mine.txt", "--systems", "alpha",
        "-o", tmp_path / "x",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    testset = formats.read_test_set(tmp_path / "x")
    assert list(testset.systems) == ["alpha", "mine"]
    assert testset.references["A"][1] == "Milk & bread"


def test_errors_name_file_and_line_and_leave_with_one(gnomon, xml: Path, tmp_path: Path) -> None:
    xml.write_text(xml.read_text().replace("<dataset", "<!DOCTYPE x []><dataset"))
    answer = gnomon("data", "convert", xml, "-o", tmp_path / "x")
    assert (answer.code, answer.out) == (1, "")
    assert f"{xml}:2: declares a document type" in answer.err
    assert gnomon("data", "convert", tmp_path / "nothing", "-o", tmp_path / "x").code == 1
    assert gnomon("data", "fetch", "wmt2222").code == 2
    assert gnomon("data", "list", "wmt2222").code == 2


def test_hostile_names_are_shown_and_not_obeyed(gnomon, tmp_path: Path) -> None:
    file = tmp_path / "x.xml"
    evil = to_xml(small_set()).replace('translator="A"', 'translator="&#27;[31m A"')
    file.write_text(evil.replace("&#27;", "\u202e"))
    answer = gnomon("data", "convert", file, "-o", tmp_path / "x")
    assert answer.code == 0
    assert "\u202e" not in answer.out


def test_a_set_is_fetched_from_a_file_and_listed_as_here(
    gnomon, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = sgml_archive()
    register(
        monkeypatch, tmp_path / "sb", "mini", ["https://x.invalid/test.tgz"], [data], xml=False
    )
    (tmp_path / "test.tgz").write_bytes(data)
    answer = gnomon("data", "fetch", "mini", "-l", "de-en", "--from", tmp_path / "test.tgz")
    assert answer.code == 0, answer.err
    assert answer.out.startswith(
        f"{home / 'mini' / 'de-en'}: 4 segments; references A; 0 systems\n"
    )
    (tmp_path / "mine.txt").write_text("".join(f"{text}\n" for text in REFERENCE))
    following = answer.out.split("\n")[1].replace("OUTPUT.txt", str(tmp_path / "mine.txt"))
    assert gnomon(*shlex.split(following)[1:]).code == 0
    again = gnomon("data", "fetch", "mini")
    assert "was here already" in again.out
    rows = gnomon("data", "list", "--here", "-f", "json").json()["rows"]
    assert [(row["set"], row["here"]) for row in rows] == [("mini", 1)]
    [row] = gnomon("data", "list", "mini", "-f", "json").json()["rows"]
    assert row["here"] == str(home / "mini" / "de-en")


def test_sets_and_pairs_are_listed(gnomon) -> None:
    rows = gnomon("data", "list", "-l", "de-en", "-f", "json").json()["rows"]
    assert {"wmt19", "wmt22"} <= {row["set"] for row in rows}
    text = gnomon("data", "list", "wmt19", "-l", "de-en").out
    assert "https://data.statmt.org/wmt19/translation-task/test.tgz" in text
    assert text.count("de-en") == 1
    [row] = gnomon("data", "list", "mt-metrics-eval/wmt22", "-f", "json").json()["rows"]
    assert row["pair"] is None


def test_sets_of_mt_metrics_eval_are_fetched_from_a_file(
    gnomon, tmp_path: Path, home: Path
) -> None:
    archive = tmp_path / "v2.tgz"
    archive.write_bytes(tgz_of(metrics_eval_folder(tmp_path / "made"), "mt-metrics-eval-v2"))
    answer = gnomon("data", "fetch", "mt-metrics-eval/wmt22", "-l", "de-en", "--from", archive)
    place = home / "mt-metrics-eval" / "wmt22" / "de-en"
    assert answer.out.startswith(f"{place}: 4 segments; references A; 2 systems\n")
    assert gnomon("info", "-t", place).code == 0


def test_the_choices_of_the_command_are_those_of_the_readers() -> None:
    assert data._INCOMPLETE == formats.INCOMPLETE


def test_help_needs_no_heavy_library() -> None:
    code = (
        "import sys; from gnomon.cli import main\n"
        "try: main(['data', 'fetch', '--help'])\n"
        "except SystemExit: pass\n"
        "import json; print(json.dumps(sorted({m.partition('.')[0] for m in sys.modules})))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(json.loads(found.stdout.strip().split("\n")[-1]))
    assert not loaded & {"sacrebleu", "numpy", "lxml"}
