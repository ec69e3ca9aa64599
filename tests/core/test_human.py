from __future__ import annotations

import numpy as np
import pytest

from gnomon import TestSet
from gnomon.core.errors import DataError, UnknownNameError
from gnomon.core.human import HumanScores, Judgements


def test_set(*human: HumanScores) -> TestSet:
    systems = {name: ["x", "y"] for name in ("a", "b")}
    return TestSet("t", {"A": ["x", "y"]}, systems, human=human)


test_set.__test__ = False  # type: ignore[attr-defined]  # pytest: this is no test


def scores(kind: str, level: str, values: list[list[float]], **more: object) -> HumanScores:
    systems = ("b", "human-C")[: len(values)]
    return HumanScores(kind, level, systems, np.array(values), **more)  # type: ignore[arg-type]


def test_scores_are_given_in_the_order_of_the_systems_and_nan_where_there_are_none() -> None:
    found = test_set(scores("z", "segment", [[1.0, np.nan], [3.0, 4.0]]))
    np.testing.assert_array_equal(found.human_scores(), [[np.nan, np.nan], [1, np.nan]])
    np.testing.assert_array_equal(found.human_scores(systems=["human-C", "b"])[:, 0], [3, 1])
    assert found.human_scores(systems=[]).shape == (0, 2)


def test_system_scores_are_the_mean_over_the_scored_segments_unless_they_are_given() -> None:
    segments = scores("z", "segment", [[1.0, np.nan], [3.0, 4.0]])
    np.testing.assert_array_equal(test_set(segments).human_scores(level="system"), [np.nan, 1])
    given = scores("z", "system", [[9.0]])
    found = test_set(segments, given).human_scores("z", "system")
    np.testing.assert_array_equal(found, [np.nan, 9])


def test_raters_are_averaged_where_no_mean_is_given() -> None:
    one = scores("z", "segment", [[1.0, 5.0]], rater="r1")
    two = scores("z", "segment", [[3.0, np.nan]], rater="r2")
    found = test_set(one, two)
    np.testing.assert_array_equal(found.human_scores()[1], [2, 5])
    np.testing.assert_array_equal(found.human_scores(rater="r2")[1], [3, np.nan])
    assert found.human_raters("z") == ("r1", "r2")
    with pytest.raises(UnknownNameError, match=r"unknown rater of 'z' 'r3'.*r1, r2"):
        found.human_scores(rater="r3")


def test_what_is_not_there_is_said() -> None:
    with pytest.raises(DataError, match="has no human segment scores; attach some"):
        test_set().human_scores()
    found = test_set(scores("z", "system", [[1.0]]))
    with pytest.raises(DataError, match="has no human segment scores"):
        found.human_scores()
    with pytest.raises(UnknownNameError, match="unknown level 'word'"):
        found.human_scores(level="word")
    with pytest.raises(UnknownNameError, match="unknown system 'c'"):
        found.human_scores(level="system", systems=["c"])


def test_kinds_are_listed_by_level() -> None:
    found = test_set(scores("z", "segment", [[1.0, 2.0]]), scores("raw", "system", [[1.0]]))
    assert found.human_kinds() == ("z", "raw")
    assert found.human_kinds("segment") == ("z",)
    assert found.human_kinds("system") == ("z", "raw")
    assert found.human_kinds("document") == ()


def test_judgements_add_up() -> None:
    one, two = scores("z", "system", [[1.0]]), scores("raw", "system", [[1.0]])
    assert Judgements((one,)) + Judgements((two,)) == Judgements((one, two))
