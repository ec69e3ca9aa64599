"""Rubrics with shots, two turns and plain answers, asked as a user asks them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.metrics.judges.test_metric import sets, spec
from tests.told import notes

import gnomon as gn
from gnomon.metrics import parse

if TYPE_CHECKING:
    from tests.metrics.judges.chat_server import Chat

_ANALYSIS = """\
answer = "words-then-score"
reply = "plain"
scale = [0, 10]
fences = false
system = "You are an editor."
question = "What is wrong with: {candidate}"
score_question = "Your analysis: {answer}\\nScore from 0 to 10 for: {candidate}"
"""


def rubric(tmp_path: Path, text: str) -> str:
    file = tmp_path / "own.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def said(chat: Chat) -> list[list[tuple[str, str]]]:
    """Roles and texts of all requests, without the first of all."""
    return [
        [(message["role"], message["content"]) for message in body["messages"]]
        for body in chat.bodies
        if "test of the connection" not in body["messages"][-1]["content"]
    ]


def test_the_first_answer_goes_into_the_second_question_and_both_are_kept(
    chat: Chat, tmp_path: Path
) -> None:
    chat.reply = lambda body: (
        "Score: 7/10" if "Your analysis" in body["messages"][-1]["content"] else " It drags. "
    )
    judge = spec(chat, rubric(tmp_path, _ANALYSIS))
    scored = gn.score(sets(s=["one", "two"]), judge)
    assert scored.segments.tolist() == [[7, 7]]
    assert "schema" not in dict(scored.signature.fields)
    assert sorted(said(chat)) == sorted(
        [("system", "You are an editor."), ("user", question)]
        for text in ("one", "two")
        for question in (
            f"What is wrong with: {text}",
            f"Your analysis: It drags.\nScore from 0 to 10 for: {text}",
        )
    )
    assert not any("response_format" in body for body in chat.bodies)
    gn.score(sets(s=["one", "two"]), judge)
    assert (chat.answered, chat.most) == (4, 1)
    replies = parse(judge).bind(sets(s=["one"])).judgements(sets(s=["one"]).batch())  # type: ignore[attr-defined]  # a judge
    [[reply]] = replies.values()
    assert (reply.reason, reply.first, reply.text) == ("It drags.", " It drags. ", "Score: 7/10")
    assert chat.answered == 4


def test_critical_errors_of_a_rubric_that_knows_none_count_as_major_and_that_is_said(
    chat: Chat, tmp_path: Path
) -> None:
    text = 'answer = "errors-then-score"\nreply = "plain"\nquestion = "{candidate}"\n'
    judge = rubric(tmp_path, text + 'score_question = "{candidate} {errors}"\n')
    errors = 'Critical:\nstyle/awkward - "one"\nMinor:\nother - "on"'
    chat.reply = lambda body: "55" if "errors-" in body["messages"][-1]["content"] else errors
    scored = gn.score(sets(s=["one"]), spec(chat, judge))
    assert scored.segments.tolist() == [[55]]
    [notice] = notes(scored.notices)
    assert "1 of 2 errors that it calls critical count as major" in notice


def test_the_documented_rubrics_are_asked_as_they_stand(chat: Chat, tmp_path: Path) -> None:
    page = Path(__file__).parents[3] / "docs" / "trust" / "judges.md"
    blocks = re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    rubrics = [block for block in blocks if block.startswith("about = ")]
    assert len(rubrics) == 2
    chat.reply = lambda body: (
        "1 (after a revision)"
        if "An editor says" in body["messages"][-1]["content"]
        else '{"reasons": "curt", "score": 2}'
    )
    scores = []
    for text in rubrics:
        scored = gn.score(sets(s=["hello"]), spec(chat, rubric(tmp_path, text)))
        assert notes(scored.notices) == ()
        scores.append(scored.segments.tolist())
    assert scores == [[[2]], [[1]]]
    analysis = next(turns for turns in said(chat) if len(turns) == 4)
    assert [role for role, _ in analysis] == ["system", "user", "assistant", "user"]
    assert "from English into German" in analysis[1][1]
    assert "from English into Czech" in analysis[3][1]
