"""What n-gram metrics count, and how often."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gnomon as gn
from gnomon.core.spans import SpanTable
from gnomon.metrics import MaskPlan, bind

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.mark.parametrize("metric", ["bleu(tokenize='char')", "chrf", "chrf(word_order=2)"])
def test_thousands_of_distinct_characters_are_counted_as_sacrebleu_counts_them(metric: str) -> None:
    from sacrebleu.metrics import BLEU, CHRF

    draw = np.random.default_rng(3)

    def text() -> str:
        codes = draw.integers(0x4E00, 0x9000, 6000)
        return "".join(map(chr, codes)) + " " + "".join(map(chr, draw.permutation(codes)[:3000]))

    reference = text()
    candidate = reference[::-1][:4000] + text() + reference[1000:3000]
    ours = gn.score(gn.TestSet.from_lists({"a": [candidate]}, [reference]), metric).segments
    peers = {
        "bleu(tokenize='char')": BLEU(tokenize="char", effective_order=True),
        "chrf": CHRF(),
        "chrf(word_order=2)": CHRF(word_order=2),
    }
    expected = peers[metric].sentence_score(candidate, [reference]).score
    assert ours[0, 0] == pytest.approx(expected, rel=0, abs=1e-9)


def fresh(segments: int) -> gn.TestSet:
    draw = np.random.default_rng(7)

    def column() -> list[str]:
        rows = draw.integers(0, 30, (segments, 6))
        return [" ".join(f"w{i}" for i in row) + "." for row in rows]

    return gn.TestSet.from_lists({"a": column(), "b": column()}, column(), language_pair="en")


def test_every_text_is_split_once_and_every_comparison_made_once() -> None:
    set_ = fresh(50)
    _, metric = bind(set_, "bleu")
    bleu_: Any = metric
    gn.score(set_, bleu_)
    batch = set_.batch()
    spans = word_spans(batch.texts, ["w1", "w2", "w3"])
    bleu_.masked(batch, MaskPlan.oracles(spans))
    assert bleu_.texts.tokens.runs == 1
    assert bleu_.texts.tokens.tokenise(batch.texts).tokenised <= len(batch.texts)
    assert bleu_.texts.compared == len(
        {(int(c), n) for row in batch.candidates for n, c in enumerate(row)}
    )


def test_only_comparisons_that_a_variant_changes_are_scored_again() -> None:
    set_ = fresh(60)
    batch = set_.batch()
    words = ["w1", "w2", "absent"]
    _, metric = bind(set_, "bleu")
    bleu_: Any = metric
    bleu_.masked(batch, MaskPlan.oracles(word_spans(batch.texts, words)))
    pairs = {
        (batch.texts[c], batch.texts[batch.references[n][0]])
        for row in batch.candidates.tolist()
        for n, c in enumerate(row)
    }
    holding = sum(
        any(word in text.rstrip(".").split() for text in pair) for pair in pairs for word in words
    )
    assert bleu_.texts.rescored == 2 * holding


def word_spans(strings: tuple[str, ...], words: list[str]) -> SpanTable:
    def places(text: str, word: str) -> Iterator[tuple[int, int]]:
        at = 0
        for token in text.rstrip(".").split():
            if token == word:
                yield at, at + len(token)
            at += len(token) + 1

    return SpanTable.build([{w: list(places(t, w)) for w in words} for t in strings], words)
