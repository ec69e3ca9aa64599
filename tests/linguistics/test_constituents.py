"""Dependencies become constituents."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import UsageError
from gnomon.linguistics import annotate, constituents, parse


def test_a_head_makes_a_phrase_over_its_dependents() -> None:
    tree = constituents(["the", "cat", "sat"], ["DET", "NOUN", "VERB"], [1, 2, 2])
    assert str(tree) == "(S (VERBP (NOUNP (DET the) (NOUN cat)) (VERB sat)))"


def test_crossing_arcs_are_lifted() -> None:
    # "d" depends on "b" across the root "c": it moves up to the root
    tree = constituents(list("bcd"), list("BCD"), [1, 1, 0])
    assert str(tree) == "(S (CP (B b) (C c) (D d)))"


def test_several_roots_stand_side_by_side_and_no_word_is_no_tree() -> None:
    assert str(constituents(["a", "b"], ["X", "Y"], [0, 1])) == "(S (X a) (Y b))"
    assert constituents([], [], []) is None


@st.composite
def _heads(draw: st.DrawFn) -> list[int]:
    size = draw(st.integers(1, 9))
    order = draw(st.permutations(range(size)))
    heads = [0] * size
    for rank, place in enumerate(order):
        heads[place] = order[draw(st.integers(0, rank - 1))] if rank else place
    return heads


@given(_heads())
def test_every_word_stays_in_its_place(heads: list[int]) -> None:
    words = [f"w{i}" for i in range(len(heads))]
    tree = constituents(words, ["X"] * len(words), heads)
    assert tree is not None
    assert list(tree.words) == words


def test_texts_are_parsed_once_and_cached(tmp_path: object) -> None:
    pytest.importorskip("spacy", reason="needs spaCy: pip install 'gnomon[spacy]'")
    from gnomon.core.cache import Cache

    texts = ["The cat sat.", "The cat sat.", " ", "It rained  hard ( again )."]
    with Cache(str(tmp_path)) as cache:
        first = parse(texts, language="en", cache=cache)
        assert cache.stats().entries == 6  # parts of speech, relations and heads of two texts
        assert parse(texts, language="en", cache=cache) == first
        assert annotate(texts, ["dep:nsubj"], language="en", cache=cache).tagged == 0
    assert first[0] == first[1]
    assert first[2] is None
    assert first[3] is not None
    assert first[3].words == ("It", "rained", "hard", "-LRB-", "again", "-RRB-", ".")


def test_a_parser_must_be_named() -> None:
    with pytest.raises(UsageError, match="trees="):
        parse(["a"])
