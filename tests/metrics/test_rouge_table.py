from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from gnomon.metrics.rouge import RougeTokeniser, porter, rouge_table
from gnomon.metrics.tokenise import Tokenised

_texts = st.lists(st.text(max_size=25) | st.text("aZ9İ\n \0.éK", max_size=15), max_size=5)


@given(_texts, st.booleans(), st.booleans())
@example(["İstanbul x", "", "a\nb\n", "\0a"], False, True)
def test_many_texts_at_once_are_split_as_each_by_itself(
    texts: list[str], stemmed: bool, lines: bool
) -> None:
    tokeniser = RougeTokeniser(porter() if stemmed else None, lines=lines)
    table = rouge_table(texts, tokeniser)
    assert len(table) == len(texts)
    for n, text in enumerate(texts):
        alone = tokeniser(text)
        assert table.strings(n) == list(alone.strings)
        assert table.spans(n) == list(zip(alone.starts, alone.ends, strict=True))


def test_forms_of_one_stem_are_one_token() -> None:
    table = rouge_table(["running runs", "cats"], RougeTokeniser(porter()))
    np.testing.assert_array_equal(table.ids, [0, 0, 1])
    assert list(table.vocabulary) == ["run", "cat"]


def test_the_same_texts_are_split_once() -> None:
    tokens = Tokenised(RougeTokeniser(None))
    texts = ("a b", "c")
    assert tokens.tokenise(texts) is tokens.tokenise(texts)
    assert tokens.runs == 1
