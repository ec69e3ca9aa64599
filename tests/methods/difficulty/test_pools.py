"""Which systems a pool holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.told import notes

import gnomon as gn
from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.core.human import HumanScores
from gnomon.difficulty import choose_pool

NAMES = ("e", "d", "c", "b", "a")


def _testset(values: list[float], kind: str = "da-z") -> gn.TestSet:
    plain = gn.TestSet.from_lists({name: [name] for name in NAMES}, ["a b"])
    human = HumanScores(kind, "system", NAMES, np.array(values)[:, None])
    return replace(plain, human=(human,))


def test_the_top_is_ranked_by_people_with_ties_by_name() -> None:
    pool = choose_pool(_testset([0.5, 0.1, 0.5, 0.9, 0.5]), "top:2")
    assert pool.systems == ("b", "a")  # e, c and a are equal: a comes first by name
    assert pool.how == "top 2 of 5 by human da-z"
    assert pool.human == "da-z"


@pytest.mark.parametrize(("share", "count"), [("top:30%", 1), ("top:40%", 2), ("top:59%", 2)])
def test_a_share_is_rounded_down(share, count) -> None:
    assert len(choose_pool(_testset([5, 4, 3, 2, 1]), share).systems) == count


def test_systems_without_a_score_are_not_ranked() -> None:
    pool = choose_pool(_testset([5, float("nan"), 3, 2, 1]), "top:50%")
    assert pool.systems == ("e", "c")
    with pytest.raises(UsageError, match="only 4 systems have a score"):
        choose_pool(_testset([5, float("nan"), 3, 2, 1]), "top:5")


def test_a_metric_can_rank_and_tells_no_human_kind() -> None:
    testset = gn.TestSet.from_lists({"x": ["q"], "y": ["the cat sat down"]}, ["the cat sat down"])
    pool = choose_pool(testset, "top:1", "bleu")
    assert (pool.systems, pool.human) == (("y",), None)
    assert choose_pool(testset, "top:1", "ter").systems == ("y",)  # the lowest error rate


def test_what_cannot_rank_is_named() -> None:
    plain = gn.TestSet.from_lists({"x": ["q"]}, ["the cat"])
    with pytest.raises(DataError, match=r"has none; say which \(by=\)"):
        choose_pool(plain, "top:1")
    with pytest.raises(UnknownNameError, match="da-z"):
        choose_pool(_testset([1, 2, 3, 4, 5]), "top:1", "daz")
    two = replace(_testset([1, 2, 3, 4, 5]), human=(*_testset([1, 2, 3, 4, 5]).human,) * 1)
    both = replace(two, human=(*two.human, replace(two.human[0], kind="mqm")))
    with pytest.raises(DataError, match="several kinds of human scores: da-z, mqm"):
        choose_pool(both, "top:1")


def test_a_pool_that_names_a_missing_system_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="'f'"):
        choose_pool(_testset([1, 2, 3, 4, 5]), ("a", "f"))


def test_a_share_that_holds_nobody_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 20 % are needed"):
        choose_pool(_testset([1, 2, 3, 4, 5]), "top:10%")


def test_scores_say_that_people_chose_the_pool() -> None:
    scores = gn.score(_testset([1, 2, 3, 4, 5]), "difficulty(bleu, pool='top:2')")
    assert scores.informed_by == ("da-z",)
    assert any("cannot be judged by them" in notice for notice in notes(scores.notices))
    assert gn.score(_testset([1, 2, 3, 4, 5]), "difficulty(bleu)").informed_by == ()
