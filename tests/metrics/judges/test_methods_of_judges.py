"""What judges are asked beyond scores: whom they prefer, and what talks them over."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.metrics.judges.test_metric import fenced, sets, spec
from tests.told import notes

import gnomon as gn
from gnomon.core.errors import UsageError
from gnomon.stats.binomial import binomial_p
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
    assert any("stands first is preferred in 100%" in notice for notice in notes(found.notices))
    assert not any(one.level == "finding" for one in found.verdict)


def test_choices_have_the_interval_of_a_share(chat: Chat) -> None:
    chat.reply = longer
    ends = ["bb"] * 30 + [""] * 8 + ["a"] * 6
    ts = sets(a=[f"{n:02}a" for n in range(44)], b=[f"{n:02}{end}" for n, end in enumerate(ends)])
    row = compared(chat, ts).rows[1]
    shares = [1.0] * 30 + [0.0] * 8 + [0.5] * 6
    low, high, _ = mean_test(shares, 0.05)
    assert row["difference"] == pytest.approx(2 * np.mean(shares) - 1)
    # that of resamples, near Student's, and p near that of the sign test
    assert (row["low"], row["high"]) == pytest.approx((2 * low - 1, 2 * high - 1), abs=0.06)
    assert (row["p"] <= 0.05) == row["decided"] == (binomial_p(30, 38) <= 0.05)
    assert row["verdict"] == "better"


def test_a_clear_preference_is_said_with_its_interval(chat: Chat) -> None:
    chat.reply = longer
    ts = sets(a=[f"a{n}" for n in range(40)], b=[f"bbb {n}" for n in range(40)])
    found = compared(chat, ts)
    row = found.rows[1]
    end = 0.025 ** (1 / 40)  # equal choices are not certain: the exact binomial end
    assert (row["difference"], row["low"], row["high"]) == (1, pytest.approx(2 * end - 1), 1)
    assert "b is better than a by 1.00 points of the judge [" in str(found.verdict[0])


def test_answers_that_name_no_side_are_left_out_and_counted(chat: Chat) -> None:
    chat.reply = lambda body: longer(body) if fenced(body, "first") != "bbb" else "neither"
    ts = sets(a=["a", "aa"], b=["bbb", "bbbb"])
    found = compared(chat, ts)
    assert found.rows[1]["segments"] == 1
    assert any("1 cannot be read" in notice for notice in notes(found.notices))


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


def figures(found: gn.Finding, measure: str) -> dict[object, dict[str, Any]]:
    """Rows of a measure, by what they are of."""
    return {row["subject"]: row for row in found.rows if row["measure"] == measure}


def test_a_judge_that_candidates_move_is_found_out(chat: Chat) -> None:
    chat.reply = gullible
    ts = sets(a=[f"a text of {n}" for n in range(20)], b=[f"another {n}" for n in range(20)])
    found = gn.judges.reliability(ts, spec(chat), injections=12)
    gains = figures(found, "injection")
    assert gains["score"]["value"] > 30
    assert gains["score"]["p"] < 0.001
    assert gains["praise"]["value"] < 10
    said = [one for one in found.verdict if one.level == "finding"]
    assert len(said) == 1
    assert "score" in str(said[0])
    assert (chat.answered, chat.most) == (40 + 12 * 7, 1)  # 12 are judged as they are anyway


def test_few_answers_are_no_evidence_however_sure_they_look(chat: Chat) -> None:
    chat.reply = gullible
    ts = sets(a=[f"a text of {n}" for n in range(20)], b=[f"another {n}" for n in range(20)])
    said = gn.judges.reliability(ts, spec(chat), injections=3).verdict
    assert {one.level for one in said} == {"caution"}
    assert any("3 candidates are too few" in str(one) for one in said)


def test_a_judge_that_keeps_to_the_text_is_not_accused(chat: Chat) -> None:
    chat.reply = lambda body: json.dumps({"score": 50 - len(fenced(body)) / 100})
    found = gn.judges.reliability(sets(a=[f"a text of {n}" for n in range(20)]), spec(chat))
    assert not any(one.level == "finding" and "harmless" not in str(one) for one in found.verdict)


def test_the_best_score_of_an_injection_is_that_of_the_rubric(chat: Chat) -> None:
    chat.reply = lambda _: '{"errors": []}'
    gn.judges.reliability(sets(a=["a text"]), spec(chat, "gemba-mqm"), injections=1)
    shown = [fenced(body) for body in chat.bodies[1:]]
    assert any(text.endswith('{"errors": []}') for text in shown)
    assert any("Score: 0" in text for text in shown)


def test_noise_is_told_of_systems(chat: Chat) -> None:
    chat.reply = lambda body: (
        "nothing" if fenced(body) == "c" else json.dumps({"score": 50 + 2 * body["seed"]})
    )
    judge = spec(chat, repeats=2, temperature=1.0)
    found = gn.judges.reliability(sets(a=["a", "b", "c"]), judge, injections=0)
    row = figures(found, "score")["a"]
    assert (row["value"], row["n"], row["answers"], row["missing"]) == (53, 2, 4, 2)
    # standard errors of 1 and 1
    assert figures(found, "noise")["a"]["value"] == pytest.approx((2 * 1 / 4) ** 0.5)


def test_it_is_said_when_nothing_is_known_of_noise(chat: Chat) -> None:
    found = gn.judges.reliability(sets(a=["a", "b"]), spec(chat), injections=0)
    assert figures(found, "noise")["a"]["value"] is None
    assert any("asked once" in str(one) for one in found.verdict)
    with pytest.raises(UsageError, match="is no judge"):
        gn.judges.reliability(sets(a=["a"]), "chrf")
