"""What judges say in words: with scores, in their files, and beside outputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.metrics.judges.test_metric import fenced, sets, spec

import gnomon as gn

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


@pytest.mark.parametrize("suffix", ["tsv", "jsonl"])
def test_reasons_and_answers_are_columns_of_segment_scores(
    chat: Chat, judge: str, tmp_path: Path, suffix: str
) -> None:
    ts, file = sets(a=["good text", "no", "hm"]), tmp_path / f"scores.{suffix}"
    gn.score(ts, ["chrf", judge], segment_scores=file)
    lines = file.read_text().splitlines()
    if suffix == "tsv":
        head = lines[0].split("\t")
        rows = [dict(zip(head, line.split("\t"), strict=True)) for line in lines[1:]]
    else:
        rows = [json.loads(line) for line in lines]
    assert list(rows[0]) == ["system", "segment", "metric", "score", "reason", "answer"]
    assert [row["reason"] for row in rows] == [*[""] * 3, f"{_HOSTILE} good text", "", ""]
    assert json.loads(rows[3]["answer"])["score"] == 9
    assert rows[5]["answer"] == "I cannot say."
    assert chat.most == 1


def test_files_of_metrics_without_words_have_none(tmp_path: Path) -> None:
    gn.score(sets(a=["good"]), "chrf", segment_scores=tmp_path / "scores.tsv")
    head = (tmp_path / "scores.tsv").read_text().splitlines()[0]
    assert head.split("\t") == ["system", "segment", "metric", "score"]


def test_words_of_several_repetitions_are_numbered(chat: Chat) -> None:
    chat.reply = lambda _: json.dumps({"errors": []})
    judge = spec(chat, "gemba-mqm", repeats=2, temperature=1.0)
    assert set(gn.score(sets(a=["a cat"]), judge).remarks[0, 0]) == {"answer 1", "answer 2"}


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
