"""Slices of a test set."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon import TestSet
from gnomon.core.errors import UnknownNameError, UsageError
from gnomon.muler import slices


def _testset(references: list[str], **more: list[str]) -> TestSet:
    return TestSet.from_lists({"a": ["x"] * len(references)}, references, **more)


def test_without_a_kind_there_is_one_slice_of_everything() -> None:
    (whole,) = slices(_testset(["a", "b"]), None)
    assert whole.name is None
    assert whole.members.all()


def test_domains_come_in_order_of_appearance() -> None:
    found = slices(_testset(["a", "b", "c"], domains=["news", "law", "news"]), "domain")
    assert [s.name for s in found] == [None, "news", "law"]
    assert found[1].members.tolist() == [True, False, True]


def test_unknown_documents_say_where_they_would_be_read_from() -> None:
    with pytest.raises(UsageError, match=r"documents\.tsv"):
        slices(_testset(["a"]), "document")


def test_an_unknown_kind_lists_the_kinds() -> None:
    with pytest.raises(UnknownNameError, match="length, check, document, domain"):
        slices(_testset(["a"]), "lenght")


@given(st.lists(st.integers(0, 60), min_size=1, max_size=80))
def test_every_segment_is_in_exactly_one_bucket_that_names_its_length(lengths: list[int]) -> None:
    _, *buckets = slices(_testset(["w " * n for n in lengths]), "length")
    for i, n in enumerate(lengths):
        (name,) = [b.name for b in buckets if b.members[i]]
        low, _, high = name.removesuffix(" words").removesuffix("+").partition("-")
        assert int(low) <= n
        assert not high or n <= int(high)


def test_what_no_spaces_part_is_counted_in_characters() -> None:
    for word in ("\u732b", "\u306d", "\u0e41\u0e21\u0e27"):  # of Chinese, Japanese, Thai
        ts = _testset([word * n for n in (2, 2, 8, 30)])
        names = [part.name for part in slices(ts, "length")[1:]]
        assert names[0] == f"0-{8 * len(word) - 1} characters"
        assert names[-1] == f"{30 * len(word)}+ characters"
    spaced = _testset(["\u0bb5\u0bbe " * n for n in (2, 2, 8, 30)])  # of Tamil
    assert slices(spaced, "length")[1].name == "0-7 words"


def test_buckets_are_ascending_and_do_not_depend_on_the_candidates() -> None:
    references = ["w " * n for n in (30, 1, 2, 3, 10, 20)]
    short = TestSet.from_lists({"a": ["x"] * 6}, references)
    long = TestSet.from_lists({"a": ["x " * 50] * 6}, references)
    names = [s.name for s in slices(short, "length")]
    assert names == [s.name for s in slices(long, "length")]
    starts = [int(name.split("-")[0].split("+")[0]) for name in names[1:]]
    assert starts == sorted(starts)
