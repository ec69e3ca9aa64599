"""What judges are asked beyond scores: whom they prefer, and what talks them over."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.metrics.judges.test_metric import fenced, sets, spec

import gnomon as gn
from gnomon.core.errors import UsageError
from gnomon.stats.significance import binomial_p
from gnomon.stats.student import mean_test

if TYPE_CHECKING:
    from tests.metrics.judges.chat_server import Chat


def longer(body: dict) -> str:
    """A judge of pairs that prefers the longer text."""
    first, second = len(fenced(body, "first")), len(fenced(body, "second"))
    better = "tie" if first == second else "first" if first > second else "second"
    return json.dumps({"better": better})


def compared(chat: Chat, ts: gn.TestSet, given: str = "") -> gn.Finding:
    """Two systems by a judge of pairs."""
    return gn.compare(ts, given or spec(chat, "pairwise"), examples=0, ngrams=0)


def test_a_pair_is_shown_in_both_orders_and_equal_outputs_are_not(chat: Chat) -> None:
    chat.reply = longer
    ts = sets(a=["long text", "same", "ab", "x"], b=["text", "same", "cd", "yyyy"])
    row = compared(chat, ts).rows[1]
    assert (row["system"], row["wins"], row["ties"], row["losses"]) == ("b", 1, 2, 1)
    assert (row["difference"], row["segments"]) == (0, 4)
    shown = [(fenced(b, "first"), fenced(b, "second")) for b in chat.bodies[1:]]
    assert sorted(shown) == sorted(
        [("long text", "text"), ("text", "long text"), ("ab", "cd"), ("cd", "ab"), ("x", "yyyy"),
         ("yyyy", "x")]
    )  # fmt: skip


def test_a_judge_that_prefers_a_place_prefers_nobody(chat: Chat) -> None:
    chat.reply = lambda _: '{"better": "first"}'
    ts = sets(a=[f"a {n}" for n in range(40)], b=[f"b {n}" for n in range(40)])
    found = compared(chat, ts)
    assert (found.rows[1]["difference"], found.rows[1]["ties"]) == (0, 40)
    assert any("stands first is preferred in 100%" in notice for notice in found.notices)
    assert not any(one.level in ("better", "worse") for one in found.verdict)


def test_choices_have_the_interval_of_a_share(chat: Chat) -> None:
    chat.reply = longer
    ends = ["bb"] * 30 + [""] * 8 + ["a"] * 6
    ts = sets(a=[f"{n:02}a" for n in range(44)], b=[f"{n:02}{end}" for n, end in enumerate(ends)])
    row = compared(chat, ts).rows[1]
    shares = [1.0] * 30 + [0.0] * 8 + [0.5] * 6
    low, high, _ = mean_test(shares, 0.05)
    assert row["difference"] == pytest.approx(2 * np.mean(shares) - 1)
    assert (row["low"], row["high"]) == pytest.approx((2 * low - 1, 2 * high - 1))
    assert row["p"] == binomial_p(30, 38)
    assert row["verdict"] == "better"


def test_a_clear_preference_is_said_with_its_interval(chat: Chat) -> None:
    chat.reply = longer
    ts = sets(a=[f"a{n}" for n in range(40)], b=[f"bbb {n}" for n in range(40)])
    found = compared(chat, ts)
    row = found.rows[1]
    end = 0.025 ** (1 / 40)  # equal choices are not certain: the exact binomial end
    assert (row["difference"], row["low"], row["high"]) == (1, pytest.approx(2 * end - 1), 1)
    assert "b is better than a by 1.00 points of the judge [" in found.verdict[0].text


def test_answers_that_name_no_side_are_left_out_and_counted(chat: Chat) -> None:
    chat.reply = lambda body: longer(body) if fenced(body, "first") != "bbb" else "neither"
    ts = sets(a=["a", "aa"], b=["bbb", "bbbb"])
    found = compared(chat, ts)
    assert found.rows[1]["segments"] == 1
    assert any("1 cannot be read" in notice for notice in found.notices)


def test_a_judge_of_pairs_scores_no_outputs(chat: Chat) -> None:
    ts = sets(a=["a"], b=["b"])
    with pytest.raises(UsageError, match="ask it by gnomon compare"):
        gn.score(ts, spec(chat, "pairwise"))
    with pytest.raises(gn.GnomonError, match="two systems or more"):
        compared(chat, sets(a=["a"]))
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
