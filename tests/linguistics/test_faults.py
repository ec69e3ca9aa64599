"""Kinds of faults, each on texts that have it and on texts that do not."""

from __future__ import annotations

import pytest

import gnomon as gn
from gnomon.core.errors import UnknownNameError
from gnomon.linguistics.faults import Texts, fault_kinds, find_faults


def texts(outputs, references=None, sources=None, pair="en-de", **others):
    """The texts of one system ``a``, others beside it, and references like the outputs."""
    return Texts(
        gn.TestSet.from_lists(
            {"a": outputs, **others}, references or outputs, sources=sources, language_pair=pair
        )
    )


def hits(kind, some, column="a"):
    """The segments, from 1, that a kind hits in a column."""
    return [hit.segment + 1 for hit in find_faults([kind])[0].rule(some) if hit.column == column]


def test_no_letter_digit_or_emoji_is_empty():
    sources = ["One.", "Two.", "Three.", "4", "...", "Six."]
    some = texts(["Eins.", "", " … ", "4", "", "🎉"], ["x"] * 6, sources)
    assert hits("empty", some) == [2, 3]


def test_names_and_groups_stand_for_kinds():
    assert {one.name for one in find_faults(["all"])} == set(fault_kinds())
    with pytest.raises(UnknownNameError, match="empty"):
        find_faults(["emty"])
