"""Standard output that is not UTF-8: no command stumbles after its work, and nothing is lost."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

import gnomon as gn
from gnomon.cli import main

TEXTS = {"sysé": ["Der naïve Köter — bellte 😀 .", "ein Hund ."], "b": ["Der Köter .", "Hund ."]}


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A test set with names and texts beyond ASCII and beyond Latin-1, and paraphrases."""
    path = tmp_path / "prüfung—1"
    made = gn.TestSet.from_lists(TEXTS, TEXTS["sysé"], name=path.name, language_pair="en-de")
    made.write(path)
    (tmp_path / "ref.bauté.1.txt").write_text("Der Köter — 😀\nein Köter\n", encoding="utf-8")
    (tmp_path / "wörter.txt").write_text("köter\nhund\n", encoding="utf-8")
    return path


COMMANDS = [
    "score -t {set} -m bleu",
    "compare -t {set} -m chrf --resamples 20 --ngrams 3 --examples 1",
    "muler -t {set} --features lex:köter --lexicon köter={folder}/wörter.txt --no-cache",
    "bmx explain -t {set} -m chrf --no-cache",
    "difficulty words -t {set} -m bleu",
    "paraphrase coverage -t {set} --paraphrases {folder}/ref.bauté.1.txt",
    "info -t {set}",
]


@pytest.mark.parametrize(
    ("command", "encoding"), [*((one, "ascii") for one in COMMANDS), (COMMANDS[0], "latin-1")]
)
def test_every_format_is_written_in_an_encoding_that_lacks_characters(
    texts: Path, monkeypatch: pytest.MonkeyPatch, command: str, encoding: str
) -> None:
    arguments = [one.format(set=texts, folder=texts.parent) for one in command.split()]
    for form in ("text", "json", "tsv", "latex", "markdown"):
        here, there = io.BytesIO(), io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(here, encoding=encoding))
        assert main([*arguments, "-q", "-f", form]) == 0
        assert sys.stdout.errors == "strict"  # as it was
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(there, encoding="utf-8"))
        assert main([*arguments, "-q", "-f", form]) == 0
        said, meant = here.getvalue().decode(encoding), there.getvalue().decode()
        if form == "json":
            assert json.loads(said) == json.loads(meant)
        else:
            lacking = meant.replace("\u2500", "-").encode(encoding, "backslashreplace")
            assert said == lacking.decode(encoding)


def test_escapes_are_said_and_files_hold_the_characters(gnomon, texts: Path, monkeypatch) -> None:
    wanted = ("score", "-t", texts, "-m", "bleu", "-f", "tsv")
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    answer = gnomon(*wanted)
    assert answer.code == 0
    assert "standard output is ascii" in answer.err
    assert r"(\xe9)" in answer.err
    file = texts.parent / "out.tsv"
    answer = gnomon(*wanted, "-o", file)
    assert "escapes" not in answer.err
    assert "sysé" in file.read_text(encoding="utf-8")


def test_what_a_person_wants_done_with_such_characters_is_done(texts: Path, monkeypatch) -> None:
    held = io.BytesIO()
    stream = io.TextIOWrapper(held, encoding="ascii", errors="replace")
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(["score", "-t", str(texts), "-m", "bleu", "-f", "tsv", "-q"]) == 0
    assert b"sys?\t" in held.getvalue()


def test_a_process_with_another_encoding_ends_well(texts: Path, process) -> None:
    for environment in (
        {"PYTHONIOENCODING": "latin-1"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ):
        done = process("score", "-t", texts, "-m", "bleu", env=environment, encoding="latin-1")
        out, err = done.communicate()
        assert done.returncode == 0
        assert "-----" in out
        assert "Traceback" not in err
