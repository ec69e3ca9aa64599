"""Numbers by names, as trackers of experiments take them."""

from __future__ import annotations

import math
import re

import numpy as np

import gnomon as gn
from gnomon.core.findings import Column, Finding, Table
from gnomon.core.scores import Scores
from gnomon.core.signature import Signature

#: what MLflow takes as the name of a metric
_MLFLOW = re.compile(r"[/\w.\- ]*")


def _table(name, columns, *rows):
    made = tuple(Column(one, one, kind) for one, kind in columns.items())
    return Table(name, name, made, tuple(dict(zip(columns, row, strict=True)) for row in rows))


def _scalars(*tables):
    return Finding("m", "M", tables, {}).scalars()


def test_a_comparison_has_scores_and_differences_by_metric_and_system():
    ts = gn.TestSet.from_lists({"a": ["x y", "z"], "b/1": ["x", "z"]}, ["x y", "z z"])
    found = gn.compare(ts, "chrf(word_order=2)", resamples=0)
    scalars = found.scalars()
    row = found.rows[1]
    assert scalars["chrf_word_order_2_/b_1"] == row["score"]
    assert scalars["chrf_word_order_2_/b_1/difference"] == row["difference"]
    assert {name for name in scalars if name.startswith("chrf_word_order_2_/a")} == {
        "chrf_word_order_2_/a"
    }
    assert not any("segments" in name for name in scalars)
    assert all(_MLFLOW.fullmatch(name) for name in scalars)


def test_scores_are_named_alike_and_what_is_undefined_is_left_out():
    values = np.array([1.5, math.nan])
    scores = Scores("bleu", ("a", "b"), values, values[:, None], True, Signature("bleu"))
    assert scores.scalars() == {"bleu/a": 1.5}


def test_rows_that_are_of_the_same_are_told_apart_by_what_differs():
    columns = {"system": "text", "n": "count", "share": "share", "set": "text"}
    rows = [("a", 1, 0.5, "x"), ("a", 1, 0.25, "y"), ("b", 1, None, "x")]
    assert _scalars(_table("t", columns, *rows)) == {"a/x": 0.5, "a/y": 0.25}
    rows = [("a", 1, 0.5, "x"), ("a", 2, 0.25, "x")]
    assert _scalars(_table("t", columns, *rows)) == {"a/1": 0.5, "a/2": 0.25}


def test_names_that_fall_together_lose_no_number_and_differences_are_there():
    columns = {"system": "text", "score": "number"}
    main = _table("t", columns, ("a+", 1.0), ("a*", 2.0))
    columns = {"system": "text", "baseline": "text", "difference": "number", "p": "number"}
    further = _table("differences", columns, ("a*", "a+", 1.0, 0.5))
    assert _scalars(main, further) == {"a_": 1.0, "a__": 2.0, "a_/difference": 1.0, "a_/p": 0.5}


def test_counts_are_named_where_there_is_nothing_else():
    main = _table("t", {"system": "text", "drawn": "count", "left": "count"}, ("a", 3, 4))
    assert _scalars(main) == {"a": 3.0, "a/left": 4.0}
