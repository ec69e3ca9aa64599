"""How many different pruned trees there are, by depth."""

from __future__ import annotations

import pytest

from gnomon.core.errors import DataError, UsageError
from gnomon.data.formats import Tree, parse_tree
from gnomon.methods.paraphrase import codes


def _tree(text: str) -> Tree:
    found = parse_tree(text)
    assert found is not None
    return found


def test_different_pruned_trees_are_counted_by_depth() -> None:
    trees = [
        _tree("(S (NP (NN a)) (VP (VB b)))"),
        _tree("(S (NP (NN c)) (VP (VB d)))"),
        _tree("(S (NP (DT a)) (VP (VB b)))"),
        None,
    ]
    found = codes.count_trees({"x": trees}, depths=[1, 2, 3])
    told = [(r["depth"], r["trees"], r["distinct"], r["once"], r["with_words"]) for r in found]
    assert told == [(1, 3, 1, 0, 1), (2, 3, 1, 0, 1), (3, 3, 2, 1, 2), (None, 3, 2, 1, 3)]
    assert found.rows[0]["skipped"] == 1
    both = codes.count_trees({"x": trees, "y": trees[:1]}, depths=[2])
    assert [row["set"] for row in both] == ["x", "x", "y", "y", "all", "all"]
    assert both.rows[4]["trees"] == 4


def test_nothing_to_count_is_said() -> None:
    with pytest.raises(DataError, match="no line holds a tree"):
        codes.count_trees({"x": [None]})
    with pytest.raises(UsageError, match="depths count from 1"):
        codes.count_trees({"x": [_tree("(S (NP a))")]}, depths=[0])
