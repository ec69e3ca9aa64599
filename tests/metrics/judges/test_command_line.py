"""Judges on the command line, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.metrics.judges.test_metric import numbers, spec

from gnomon.cli import main

if TYPE_CHECKING:
    from tests.metrics.judges.chat_server import Chat


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {"src.txt": "s1\ns2\n", "ref.txt": "r1\nr2\n", "a.txt": "ok 40\nok 60\n"}
    for name, text in {**files, "b.txt": "ok 80\nok 70\n"}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_plain_score_by_a_judge_works_from_end_to_end(
    chat: Chat, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GNOMON_JUDGE_KEY", "sk-secret-5678")
    chat.reply = numbers
    data = ["ref.txt", "-i", "a.txt", "b.txt", "-s", "src.txt", "-l", "en-cs"]
    outputs = ["--segment-scores", "seg.tsv", "--html", "page.html", "-f", "json"]
    assert main(["score", *data, "-m", spec(chat), *outputs]) == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert [row["score"] for row in found["rows"]] == [50, 75]
    assert "is asked for 4 answers" in printed.err
    assert set(chat.keys) == {"Bearer sk-secret-5678"}
    written = [one for one in folder.rglob("*") if one.is_file()]
    assert {"seg.tsv", "page.html"} <= {one.name for one in written}
    assert not any(b"sk-secret" in one.read_bytes() for one in written)
    assert "sk-secret" not in printed.out + printed.err
    asked = len(chat.bodies)
    assert main(["compare", *data, "-m", spec(chat)]) == 0
    assert len(chat.bodies) == asked


def test_judges_have_commands_of_their_own(
    chat: Chat, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = ["ref.txt", "-i", "a.txt", "b.txt", "-s", "src.txt", "-l", "en-cs"]
    judge = spec(chat, repeats=2)
    assert main(["judges", "reliability", *data, "-m", judge, "--injections", "3"]) == 0
    chat.reply = lambda _: '{"better": "tie"}'
    assert main(["compare", *data, "-m", spec(chat, "pairwise")]) == 0
    assert ", compared with a" in capsys.readouterr().out


def test_consent_is_given_by_an_option_and_lasts_as_long_as_the_command(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = "judge('gemba-da', model='m', endpoint='http://judge.invalid/v1')"
    data = ["ref.txt", "-i", "a.txt", "-s", "src.txt"]
    assert main(["score", *data, "-m", judge]) == 2
    said = capsys.readouterr().err
    assert "sent to judge.invalid" in said
    assert "(--allow-network)" in said
    monkeypatch.setenv("GNOMON_JUDGE_KEY", "sk-secret-5678")
    assert main(["score", *data, "-m", judge, "--allow-network"]) == 2
    said = capsys.readouterr().err
    assert "unencrypted" in said  # past the question of consent
    assert "sk-secret" not in said
    assert main(["score", *data, "-m", judge]) == 2
    assert "--allow-network" in capsys.readouterr().err


def test_a_name_of_the_published_tool_leads_to_the_judge(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", "ref.txt", "-i", "a.txt", "-m", "gemba-da"]) == 2
    assert "judge('gemba-da', model='NAME'" in capsys.readouterr().err
