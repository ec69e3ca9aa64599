"""Bracketed trees are read, written, and refused."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import FormatError
from gnomon.data.formats import Tree, parse_tree, read_trees

_WORDS = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1).filter(
    lambda word: not set("()") & set(word)
)
_LABELS = st.sampled_from(["S", "NP", "VP", "X"])
_TREES = st.recursive(
    st.builds(lambda label, word: Tree(label, (word,)), _LABELS, _WORDS),
    lambda inner: st.builds(
        lambda label, children: Tree(label, tuple(children)),
        _LABELS,
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=8,
)


@given(_TREES)
def test_what_is_written_is_read_again(tree: Tree) -> None:
    assert parse_tree(str(tree)) == tree
    assert parse_tree(f"( {tree} )") == tree


@pytest.mark.parametrize("outer", ["( {} )", "(ROOT {})", "(TOP {})", "{}", "(S1 {})"])
def test_an_outer_bracket_is_stripped(outer: str) -> None:
    inner = "(S (NP (PRP It)) (VP (VBZ is)))"
    assert str(parse_tree(outer.format(inner))) == inner


@pytest.mark.parametrize("nothing", ["(())", "( () )", "", "  ", "()"])
def test_no_parse_is_no_tree(nothing: str) -> None:
    assert parse_tree(nothing) is None


@pytest.mark.parametrize("text", ["(S (NP x)", "(S x))", "word", "(S (A b)) c", "(" * 400])
def test_what_is_no_tree_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match=r"bracket|nested"):
        parse_tree(text)


def test_sentences_of_a_line_stand_side_by_side() -> None:
    tree = parse_tree("(ROOT (S (A a))) (ROOT (S (B b)))")
    assert tree == Tree("", (Tree("S", (Tree("A", ("a",)),)), Tree("S", (Tree("B", ("b",)),))))
    assert parse_tree(str(tree)) == tree


def test_a_word_in_parentheses_stays_a_word() -> None:
    tree = parse_tree("(NP (CD (76)))")
    assert tree is not None
    assert tree.words == ("(76)",)
    assert str(tree) == "(NP (CD -LRB-76-RRB-))"


def test_a_file_keeps_its_lines_and_counts_those_without_a_tree(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "ref.A.ptb"
    path.write_text("( (S (A a)) )\n(())\n(S (A a)\n\n(S (B b))\n", encoding="utf-8")
    with caplog.at_level(logging.WARNING, "gnomon.formats"):
        found = read_trees(path)
    assert [str(tree) if tree else None for tree in found.trees] == [
        "(S (A a))",
        None,
        None,
        None,
        "(S (B b))",
    ]
    assert found.damaged == (3,)
    assert "1 line(s) are no bracketed trees and are skipped, the first is line 3" in caplog.text
