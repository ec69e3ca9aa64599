"""What judges are asked beyond scores: whom they prefer, and what talks them over."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from tests.metrics.judges.test_metric import fenced, sets, spec

import gnomon as gn
from gnomon.core.errors import UsageError

if TYPE_CHECKING:
    from tests.metrics.judges.chat_server import Chat


def longer(body: dict) -> str:
    """A judge of pairs that prefers the longer text."""
    first, second = len(fenced(body, "first")), len(fenced(body, "second"))
    better = "tie" if first == second else "first" if first > second else "second"
    return json.dumps({"better": better})


def test_a_pair_is_shown_in_both_orders_and_equal_outputs_are_not(chat: Chat) -> None:
    chat.reply = longer
    ts = sets(a=["long text", "same", "ab", "x"], b=["text", "same", "cd", "yyyy"])
    (row,) = gn.judges.pairwise(ts, spec(chat, "pairwise")).rows
    assert (row["a_better"], row["b_better"], row["ties"], row["torn"]) == (1, 1, 2, 0)
    assert (row["share"], row["first"], row["segments"]) == (0.5, 0.5, 4)
    shown = [(fenced(b, "first"), fenced(b, "second")) for b in chat.bodies[1:]]
    assert sorted(shown) == sorted(
        [("long text", "text"), ("text", "long text"), ("ab", "cd"), ("cd", "ab"), ("x", "yyyy"),
         ("yyyy", "x")]
    )  # fmt: skip


def test_a_judge_that_prefers_a_place_prefers_nobody(chat: Chat) -> None:
    chat.reply = lambda _: '{"better": "first"}'
    ts = sets(a=[f"a {n}" for n in range(40)], b=[f"b {n}" for n in range(40)])
    found = gn.judges.pairwise(ts, spec(chat, "pairwise"))
    (row,) = found.rows
    assert (row["share"], row["torn"], row["first"], row["ties"]) == (0.5, 40, 1.0, 40)
    assert any("stands first is preferred in 100%" in one.text for one in found.verdict)
    assert not any(one.level == "better" for one in found.verdict)


def test_a_clear_preference_is_said_with_its_interval(chat: Chat) -> None:
    chat.reply = longer
    ts = sets(a=[f"a{n}" for n in range(40)], b=[f"bbb {n}" for n in range(40)])
    found = gn.judges.pairwise(ts, spec(chat, "pairwise"))
    assert found.rows[0]["share"] == 0
    assert "prefers b to a" in found.verdict[0].text
    assert found.verdict[0].level == "better"


def test_answers_that_name_no_side_are_left_out_and_counted(chat: Chat) -> None:
    chat.reply = lambda body: longer(body) if fenced(body, "first") != "bbb" else "neither"
    ts = sets(a=["a", "aa"], b=["bbb", "bbbb"])
    found = gn.judges.pairwise(ts, spec(chat, "pairwise"))
    assert (found.rows[0]["segments"], found.rows[0]["missing"]) == (1, 1)
    assert "1 cannot be read" in found.notices[0]


def test_pairs_take_judges_of_pairs_and_two_systems(chat: Chat) -> None:
    ts = sets(a=["a"], b=["b"])
    for given, match in ((spec(chat), "scores single outputs"), ("bleu", "is no judge")):
        with pytest.raises(UsageError, match=match):
            gn.judges.pairwise(ts, given)
    with pytest.raises(UsageError, match="name a judge"):
        gn.judges.pairwise(ts)
    with pytest.raises(gn.GnomonError, match="two systems or more"):
        gn.judges.pairwise(sets(a=["a"]), spec(chat, "pairwise"))
    assert chat.bodies == []


def gullible(body: dict) -> str:
    """A judge that believes the last score that it reads in a candidate, else counts words."""
    said = re.findall(r"[Ss]core\"?:? (?:is )?(\d+)", fenced(body))
    words = len(fenced(body).split())
    return json.dumps({"score": int(said[-1]) if said else max(0, 80 - words)})


def test_a_judge_that_candidates_move_is_found_out(chat: Chat) -> None:
    chat.reply = gullible
    ts = sets(a=[f"a text of {n}" for n in range(20)], b=[f"another {n}" for n in range(20)])
    found = gn.judges.probe(ts, spec(chat), items=12)
    gains = {row["injection"]: row for row in found.rows}
    assert gains["score"]["gain"] > 30
    assert gains["score"]["raised"] == 1
    assert gains["praise"]["raised"] == 0
    assert found.verdict[0].level == "worse"
    assert "score" in found.verdict[0].text
    assert (chat.answered, chat.most) == (12 * 8, 1)


def test_few_answers_are_no_evidence_however_sure_they_look(chat: Chat) -> None:
    chat.reply = gullible
    ts = sets(a=[f"a text of {n}" for n in range(20)], b=[f"another {n}" for n in range(20)])
    said = gn.judges.probe(ts, spec(chat), items=3).verdict
    assert [one.level for one in said] == ["caution"]
    assert "3 candidates are too few" in said[0].text
    chat.reply = longer
    said = gn.judges.pairwise(ts, spec(chat, "pairwise")).verdict
    assert [one.level for one in said] == ["caution"]
    assert "fewer than 30 segments" in said[0].text


def test_a_judge_that_keeps_to_the_text_is_not_accused(chat: Chat) -> None:
    chat.reply = lambda body: json.dumps({"score": 50 - len(fenced(body)) / 100})
    found = gn.judges.probe(sets(a=[f"a text of {n}" for n in range(20)]), spec(chat))
    assert all(row["raised"] == 0 for row in found.rows)
    assert found.verdict[0].level == "undecided" or "harmless" in found.verdict[0].text


def test_the_best_score_of_an_injection_is_that_of_the_rubric(chat: Chat) -> None:
    chat.reply = lambda _: '{"errors": []}'
    gn.judges.probe(sets(a=["a text"]), spec(chat, "gemba-mqm"), items=1)
    shown = [fenced(body) for body in chat.bodies[1:]]
    assert any(text.endswith('{"errors": []}') for text in shown)
    assert any("Score: 0" in text for text in shown)


def test_spread_tells_of_systems_and_of_segments(chat: Chat) -> None:
    chat.reply = lambda body: (
        "nothing" if fenced(body) == "c" else json.dumps({"score": 50 + 2 * body["seed"]})
    )
    found = gn.judges.spread(sets(a=["a", "b", "c"]), spec(chat, repeats=2, temperature=1.0))
    (row,) = found.rows
    assert (row["score"], row["segments"], row["repeats"], row["missing"]) == (53, 2, 2, 2)
    assert row["noise"] == pytest.approx((2 * 1 / 4) ** 0.5)  # standard errors of 1 and 1
    segments = found.table("segments").rows
    assert [(one["segment"], one["score"], one["noise"], one["readable"]) for one in segments] == [
        (1, 53, 1, 2),
        (2, 53, 1, 2),
        (3, None, None, 0),
    ]


def test_spread_says_when_nothing_is_known_of_noise(chat: Chat) -> None:
    found = gn.judges.spread(sets(a=["a", "b"]), spec(chat))
    assert found.rows[0]["noise"] is None
    assert "asked once" in found.verdict[0].text
    with pytest.raises(UsageError, match="is no judge"):
        gn.judges.spread(sets(a=["a"]), "chrf")
