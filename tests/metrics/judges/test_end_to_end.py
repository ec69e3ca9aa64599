"""Every command that asks a judge: planned, asked, and answered by a batch, as a user runs it."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.metrics.judges.test_metric import fenced
from tests.metrics.judges.test_requests import answered, read, write
from tests.snapshot.cases import example

from gnomon.cli import main

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.metrics.judges.chat_server import Chat

_SET = "-t es-en --first 6 --systems apertium-direct apertium-french"
_JUDGED = "-t judged/es-en --first 16 --systems apertium-direct apertium-french"
_FEW = "--features re:number --pattern number=[0-9]+ --resamples 20"
#: commands, with the rubric that they ask by
_COMMANDS = {
    "score": f"score {_SET} -m PANEL",
    "compare": f"compare {_SET} -m PANEL --resamples 20",
    "metaeval": f"metaeval {_JUDGED} -m PANEL chrf --human da --resamples 20",
    "reliability": f"judges reliability {_SET} -m PANEL --injections 4",
    "calibrate": f"judges calibrate {_JUDGED} --human da -m JUDGE --items 10",
    "pairwise": f"compare {_SET} -m PAIRWISE",
    # which mask words are tried depends on answers
    "muler": f"muler {_SET} -m PANEL_OF_REFERENCES {_FEW} --masking substitute",
    "stress": f"stress {_SET} -m PANEL --perturb number swap --limit 8",
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    example(folder)
    return folder


@pytest.fixture
def folder(data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(data)
    return tmp_path


def opinion(body: dict) -> str:
    """A score by the words that are the reference's, or by chance; a preference for long texts."""
    first, second = fenced(body, "first"), fenced(body, "second")
    if first or second:
        return json.dumps({"better": "first" if len(first) > len(second) else "second"})
    if reference := fenced(body, "reference"):
        words = set(fenced(body).split())
        shared = sum(word in words for word in reference.split())
        return json.dumps({"score": round(100 * shared / len(reference.split()))})
    return json.dumps({"score": zlib.crc32(f"{body['model']} {fenced(body)}".encode()) % 100})


def arguments(name: str, chat: Chat, extra: Sequence[str] = ()) -> list[str]:
    """The command's arguments, with judges in place of their names."""
    where = f"endpoint='{chat.url}'"
    named = {
        "PANEL": f"judge(['gemba-da', 'gemba-sqm'], model='m', {where})",
        "PANEL_OF_REFERENCES": f"judge(['gemba-da', 'gemba-sqm'], model='m', {where},"
        " references=True)",
        "PAIRWISE": f"judge('pairwise', model='m', {where})",
        "JUDGE": f"judge('gemba-da', model='m', {where})",
    }
    return [*(named.get(word, word) for word in _COMMANDS[name].split()), *extra]


def planned(name: str, chat: Chat, capsys: pytest.CaptureFixture[str]) -> int:
    """How many requests a dry run says."""
    capsys.readouterr()
    assert main(arguments(name, chat, ["--dry-run", "-f", "json", "-q"])) == 0
    shown = json.loads(capsys.readouterr().out)
    assert not any("cannot go to its end" in one["text"] for one in shown.get("messages", ()))
    return sum(row["requests"] for row in shown["rows"])


@pytest.mark.parametrize("name", _COMMANDS)
def test_a_dry_run_says_how_many_are_asked(
    name: str, chat: Chat, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chat.reply = opinion
    wanted = planned(name, chat, capsys)
    assert wanted > 0
    assert chat.bodies == []
    assert main(arguments(name, chat, ["-q"])) == 0
    assert chat.answered == wanted
    assert planned(name, chat, capsys) == 0
    assert main(arguments(name, chat, ["-q"])) == 0
    assert chat.answered == wanted


@pytest.mark.parametrize("name", _COMMANDS)
def test_a_command_whose_batch_was_read_asks_nothing(
    name: str, chat: Chat, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    requests, results = folder / "requests.jsonl", folder / "results.jsonl"
    assert main(arguments(name, chat, ["--batch-write", str(requests), "-q"])) == 0
    files = [requests] if requests.exists() else sorted(folder.glob("requests-*.jsonl"))
    lines = [line for file in files for line in answered(read(file), opinion)]
    write(results, lines)
    assert main(arguments(name, chat, ["--batch-read", str(results)])) == 0
    said = capsys.readouterr().err
    assert f"{len(lines)} answers kept, 0 known before" in said
    assert chat.bodies == []


def test_each_option_of_requests_is_taken_from_the_command_line(
    chat: Chat, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chat.reply, chat.usage = opinion, (200, 5)
    where = f"endpoint='{chat.url}'"
    judge = (
        f"judge(['gemba-da', 'gemba-sqm'], model='m', {where},"
        " extra={'top_p': 0.5, 'reasoning_effort': 'low'}, prices=[1, 2], concurrency=1,"
        " max_calls=40)"
    )
    line = ["score", *_SET.split(), "-m", judge, "-f", "json"]
    assert main(line) == 0
    printed = capsys.readouterr()
    shown = json.loads(printed.out)
    assert all(body["reasoning_effort"] == "low" for body in chat.bodies)
    assert "at the given prices" in printed.err
    assert sum("tokens of questions" in one["text"] for one in shown["messages"]) == 2
    assert chat.widest == 1
    key = " ".join(shown["signatures"].values())
    assert "top_p" in key
    assert "prices" not in key
    assert main([*line[:-2], "--dry-run"]) == 0
    assert "0 requests would be sent; 24 answers are on disk" in capsys.readouterr().out
