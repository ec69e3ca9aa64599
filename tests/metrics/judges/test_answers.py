"""What judges say in words: in tables, JSON and pages, as it was written."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.metrics.judges.test_metric import fenced, sets, spec

import gnomon as gn
from gnomon.cli import main
from gnomon.metrics.judges.remarks import AnswerRow
from gnomon.metrics.protocol import Remarking
from gnomon.report import to_html

if TYPE_CHECKING:
    from tests.metrics.judges.chat_server import Chat

_HOSTILE = '</script><script>alert("x")</script> <b>stiff</b> [bold]'
_OWN = """\
answer = "score"
reasons = true
question = "How good is {candidate}?"
"""


def reasoned(body: dict) -> str | None:
    """Scores by length, with a reason; one text is refused, and one gets no answer to read."""
    text = fenced(body)
    if text == "no":
        return None
    if text == "hm":
        return "I cannot say."
    return json.dumps({"reasons": f"{_HOSTILE} {text}", "score": len(text)})


@pytest.fixture
def judge(chat: Chat, tmp_path: Path) -> str:
    chat.reply = reasoned
    (tmp_path / "own.toml").write_text(_OWN)
    return spec(chat, str(tmp_path / "own.toml"))


def test_reasons_and_answers_stand_in_rows_and_beside_the_outputs(chat: Chat, judge: str) -> None:
    ts = sets(a=["good text", "no", "bad"], b=["better text", "hm", "bad"])
    finding = gn.judges.answers(ts, judge, examples=2)
    rows = {(row.system, row.segment): row for row in finding.records(AnswerRow)}
    assert len(rows) == 6
    row = rows["a", 1]
    assert (row.score, row.reason, row.missing) == (9, f"{_HOSTILE} good text", "")
    assert json.loads(row.answer)["score"] == 9
    assert (rows["a", 2].missing, rows["a", 2].score) == ("it was refused", None)
    assert (rows["b", 2].missing, rows["b", 2].answer) == ("it cannot be read", "I cannot say.")
    kinds = [(exhibit.kind, exhibit.systems, exhibit.segment) for exhibit in finding.exhibits]
    assert kinds == [
        ("lowest scores", ("a",), 3),
        ("lowest scores", ("b",), 3),
        ("no score", ("a",), 2),
        ("no score", ("b",), 2),
    ]
    values = finding.exhibits[0].texts[-1].values
    assert (values["score"], values["reason"]) == (3.0, f"{_HOSTILE} bad")
    assert "gives a reason with 4 of 6 answers" in " ".join(s.text for s in finding.verdict)
    assert chat.most == 1


def test_a_page_shows_what_was_said_as_text(judge: str) -> None:
    finding = gn.judges.answers(sets(a=["good text", "bad"]), judge)
    page = to_html(finding)
    assert "stiff" in page
    assert 'alert("x")' not in re.sub(r"\\u003[ce]", "", page).replace('\\"', "")
    assert "<b>stiff" not in page


def test_errors_and_words_of_several_repetitions_stand_beside_an_output(chat: Chat) -> None:
    error = {"quote": "cat", "side": "translation", "category": "style", "severity": "minor"}
    chat.reply = lambda body: json.dumps({"errors": [error] * (body["seed"] == 1)})
    judge = spec(chat, "gemba-mqm", repeats=2, temperature=1.0)
    finding = gn.judges.answers(sets(a=["a cat"]), judge)
    assert [(row.repetition, row.errors) for row in finding.records(AnswerRow)] == [(1, 1), (2, 0)]
    candidate = finding.exhibits[0].texts[-1]
    assert [(mark.start, mark.end) for mark in candidate.highlights] == [(2, 5)]
    assert {"answer 1", "answer 2"} < set(candidate.values)
    assert finding.verdict == ()


def test_comparisons_show_what_a_judge_said_of_both_outputs(judge: str) -> None:
    texts = [f"text {n}" for n in range(6)]
    ts = sets(a=texts, b=["a longer text 1", *texts[1:]])
    finding = gn.compare(ts, judge, resamples=0)
    [exhibit, *_] = finding.exhibits
    said = {text.name: text.values for text in exhibit.texts if text.role == "candidate"}
    assert said["a"]["reason"] == f"{_HOSTILE} text 0"
    assert said["b"]["reason"] == f"{_HOSTILE} a longer text 1"


def test_scores_carry_what_was_said(judge: str) -> None:
    scores = gn.score(sets(a=["good", "bad"]), judge)
    assert scores.remarks[0, 1]["reason"] == f"{_HOSTILE} bad"
    assert gn.score(sets(a=["good"]), "chrf").remarks == {}
    bound = gn.metrics.parse(judge).bind(sets(a=["good"]))
    assert isinstance(bound, Remarking)


def test_answers_on_the_command_line_are_asked_for_once(
    chat: Chat,
    judge: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, text in {"ref.txt": "r1\nr2\n", "a.txt": "good text\nbad\n"}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    data = ["ref.txt", "-i", "a.txt", "-l", "en-cs", "-m", judge]
    assert main(["score", *data]) == 0
    asked = len(chat.bodies)
    capsys.readouterr()
    assert main(["judges", "answers", *data, "-f", "json", "--html", "page.html"]) == 0
    [first, second] = json.loads(capsys.readouterr().out)["rows"]
    assert (first["reason"], second["score"]) == (f"{_HOSTILE} good text", 3)
    assert main(["judges", "answers", *data]) == 0
    printed = capsys.readouterr().out
    assert "[bold]" in printed  # as text
    assert len(chat.bodies) == asked
