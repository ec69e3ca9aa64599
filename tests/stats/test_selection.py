"""Outliers and the top K."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from gnomon.core.errors import UsageError
from gnomon.stats import outliers, top

NAN = float("nan")


def test_outliers_by_hand() -> None:
    # median 3, distances 2 1 0 1 37, MAD 1: 37 / 1.483 > 2.5, 2 / 1.483 is not
    assert outliers([1, 2, 3, 4, 40]).tolist() == [False] * 4 + [True]
    assert outliers([1, 2, 3, 4, 40], threshold=1.2).tolist() == [True] + [False] * 3 + [True]


def test_outliers_have_no_scale_where_half_the_scores_are_equal() -> None:
    assert not outliers([1, 1, 1, 1, 9]).any()


def test_missing_scores_are_no_outliers_and_do_not_move_the_median() -> None:
    assert outliers([1, NAN, 2, 3, 4, NAN, 40]).tolist() == [False] * 6 + [True]
    assert outliers([NAN, NAN]).tolist() == [False, False]
    assert outliers([]).shape == (0,)


@pytest.mark.parametrize(("pair", "dropped"), [("en-de", 2), ("de-en", 1)])
def test_outliers_of_wmt19(shared: Path, pair: str, dropped: int) -> None:
    found = list((shared / "data/wmt19" / pair).rglob("*da-z.sys*"))
    assert len(found) == 1
    with found[0].open(encoding="utf-8") as file:
        rows = [row for row in csv.reader(file, delimiter="\t") if len(row) >= 2]
    scores = [float(row[-1]) for row in rows if row[-1] not in {"z", "None", "score"}]
    assert outliers(scores).sum() == dropped


def test_the_top_are_best_first_and_ties_keep_their_order() -> None:
    assert top([0.1, 0.3, NAN, 0.2, 0.3], 3).tolist() == [1, 4, 3]
    assert top([0.1, NAN], 5).tolist() == [0]
    assert top(np.array([]), 2).tolist() == []


def test_impossible_selections_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 1"):
        top([1, 2], 0)
    with pytest.raises(UsageError, match="positive"):
        outliers([1, 2], threshold=0)
