import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import DataError, UsageError
from gnomon.paraphrase.training import Filters, SentencePair, select
from gnomon.paraphrase.training.training_pairs import hold_out


def test_each_filter_counts_what_it_drops() -> None:
    pairs = [
        SentencePair("a cat sat here", "a cat sat there"),
        SentencePair("a cat sat here", "a cat sat there"),
        SentencePair("same", " same "),
        SentencePair("w " * 101, "x"),
        SentencePair("ก" * 101, "x"),  # each letter of Thai counts as a word
        SentencePair("a cat sat here", "here sat a cat"),
    ]
    found = select(pairs, Filters(first_only=True))
    assert found.kept == pairs[:1]
    assert found.dropped == {
        "duplicates": 1,
        "copies": 1,
        "too long": 2,
        "further paraphrases": 1,
    }


def test_chrf_drops_unrelated_pairs_and_near_copies() -> None:
    near = SentencePair("the committee met on Monday", "the committee met on Mondays")
    apart = SentencePair("the committee met on Monday", "zyx qwv")
    fit = SentencePair("the committee met on Monday", "on Monday the board met")
    assert select([near, apart, fit], Filters(chrf=(15, 90))).kept == [fit]


@pytest.mark.parametrize("bad", [{"words": 0}, {"chrf": (90, 30)}])
def test_filters_that_make_no_sense_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Filters(**bad)  # type: ignore[arg-type]  # wrong on purpose


_TEXTS = st.integers(0, 40).map("text {}".format)


@given(st.lists(st.builds(SentencePair, _TEXTS, _TEXTS), max_size=60), st.integers(1, 8))
def test_no_text_is_on_both_sides_of_the_split(pairs: list[SentencePair], count: int) -> None:
    try:
        kept, dev = hold_out(pairs, count, 0)
    except DataError:
        return
    assert len(dev) == count
    inside = {text for one in kept for text in one[:2]}
    assert not inside & {text for one in dev for text in one[:2]}


def test_too_few_pairs_to_hold_out_are_refused() -> None:
    with pytest.raises(DataError, match="3 pairs cannot be held out of 4"):
        hold_out([SentencePair(str(i), f"x{i}") for i in range(4)], 3, 0)
