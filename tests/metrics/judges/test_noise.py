"""A judge's own noise: the equations by hand, and how often intervals cover a known truth."""

from __future__ import annotations

import json
import math
import random
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

import gnomon as gn
from gnomon.judges import judge_noise

if TYPE_CHECKING:
    from tests.metrics.judges.chat_server import Chat


_SCORES = ("score", "score over segments")


def test_standard_errors_are_those_of_the_equations() -> None:
    # segment variances 8 and 2; means 12 and 21
    found = judge_noise([[10, 20], [14, 22]])
    assert found.score == 16.5
    assert found.of_judge == pytest.approx(math.sqrt((8 / 2 + 2 / 2) / 4))
    assert found.of_all == pytest.approx(math.sqrt(40.5 / 2))  # variance of 12 and 21, by 2
    assert found.df_judge == pytest.approx((4 + 1) ** 2 / (4**2 + 1**2))
    assert (found.segments, found.missing) == (2, 0)


def test_repetitions_that_say_nothing_are_left_out() -> None:
    nan = float("nan")
    found = judge_noise([[10, 20, nan, 5], [14, nan, nan, 5]])
    assert found.score == pytest.approx((12 + 20 + 5) / 3)
    assert (found.segments, found.missing) == (3, 3)
    # the segment with one repetition takes the mean of the others' variances, (8 + 0) / 2
    assert found.of_judge == pytest.approx(math.sqrt(8 / 2 + 4 / 1 + 0) / 3)
    nothing = judge_noise([[nan], [nan]])
    assert math.isnan(nothing.score)
    assert all(map(math.isnan, (*nothing.interval(), *nothing.interval_of_all())))


def test_one_repetition_tells_nothing_of_noise_and_something_of_segments() -> None:
    found = judge_noise([[10, 20, 60]])
    assert math.isnan(found.of_judge)
    assert found.of_all == pytest.approx(np.std([10, 20, 60], ddof=1) / math.sqrt(3))
    # segments that chance to lie close together are no more certain than the judge
    assert judge_noise([[10, 30], [30, 10]]).of_all == judge_noise([[10, 30], [30, 10]]).of_judge


def noisy(chat: Chat, deviation: float) -> None:
    """Let the judge draw its score about the truth that a candidate holds: "t 54.25 (7)"."""

    def reply(body: dict) -> str:
        said = re.search(r"t (\d+\.\d+) \(", body["messages"][-1]["content"])
        assert said is not None
        draw = random.Random(json.dumps(body))
        return json.dumps({"score": draw.gauss(float(said[1]), deviation)})

    chat.reply = reply


def coverage(chat: Chat, systems: int, segments: int, repeats: int) -> tuple[float, float]:
    """How often intervals cover the mean of the truths, and the mean that truths are drawn about.

    Every system is drawn anew: truths of segments about 50 with a deviation of 9, and answers about
    these with a deviation of 6.
    """
    noisy(chat, 6.0)
    draw = random.Random(11)
    truths = [[round(draw.gauss(50, 9), 3) for _ in range(segments)] for _ in range(systems)]
    ts = gn.TestSet.from_lists(
        {
            f"s{k}": [f"t {truth:.3f} ({k}.{i})" for i, truth in enumerate(row)]
            for k, row in enumerate(truths)
        },
        ["r"] * segments,
        sources=["s"] * segments,
        language_pair="en-cs",
    )
    judge = (
        f"judge('gemba-da', model='m', endpoint='{chat.url}', repeats={repeats}, temperature=1.0,"
        " max_calls=100000)"
    )
    found = gn.judges.reliability(ts, judge, injections=0).rows
    rows, over = ([row for row in found if row["measure"] == name] for name in _SCORES)
    assert (chat.answered, chat.most) == (systems * segments * repeats, 1)
    own = [r["low"] <= np.mean(t) <= r["high"] for r, t in zip(rows, truths, strict=True)]
    every = [row["low"] <= 50 <= row["high"] for row in over]
    return float(np.mean(own)), float(np.mean(every))


def test_intervals_cover_a_known_truth(chat: Chat) -> None:
    own, every = coverage(chat, systems=20, segments=8, repeats=2)
    # fewer than 15 of 20 intervals at 95 % cover with a probability of .0003
    assert own >= 15 / 20
    assert every >= 15 / 20


@pytest.mark.verify
def test_intervals_cover_a_known_truth_in_93_to_97_of_100(chat: Chat) -> None:
    own, every = coverage(chat, systems=800, segments=12, repeats=3)
    assert 0.93 <= own <= 0.97
    assert 0.93 <= every <= 0.97
