from __future__ import annotations

import csv
import gzip
import re
from typing import TYPE_CHECKING, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from gnomon.core.spans import SpanTable
from gnomon.core.testset import TestSet
from gnomon.metrics import MaskPlan, Rouge, score
from gnomon.metrics.rouge import RougeTokeniser, RougeType

if TYPE_CHECKING:
    from pathlib import Path

_TYPES = get_args(RougeType)
_words = st.sampled_from(
    [
        "the",
        "The",
        "cat",
        "cats",
        "running",
        "runs",
        "mat.",
        "don't",
        "3.5",
        "İstanbul",
        "K",
        "é",
        "",
    ]
)
_texts = st.lists(_words, max_size=9).map(" ".join)
_summaries = st.lists(_texts, max_size=4).map("\n".join)
_anything = st.text(max_size=30)


def _expected(
    candidate: str, references: list[str], *, stemmer: bool
) -> dict[str, tuple[float, float, float]]:
    found = RougeScorer(list(_TYPES), use_stemmer=stemmer).score_multi(references, candidate)
    return {name: tuple(found[name]) for name in _TYPES}


def parts_of(
    candidates: list[str], references: list, kind: str, *, stemmer: bool = False
) -> list[list[float]]:
    """Precision, recall and F of each candidate."""
    testset = TestSet.from_lists({"a": candidates}, references)
    bound = Rouge(type=kind, stemmer=stemmer).bind(testset)  # type: ignore[arg-type]  # one of four
    return bound.score_parts(testset.batch())[0].tolist()


@given(
    candidate=_texts | _summaries | _anything,
    references=st.lists(_texts | _summaries | _anything, min_size=1, max_size=3),
    stemmer=st.booleans(),
)
def test_every_type_equals_rouge_score(
    candidate: str, references: list[str], stemmer: bool
) -> None:
    expected = _expected(candidate, references, stemmer=stemmer)
    for kind in _TYPES:
        found = parts_of([candidate], [references], kind=kind, stemmer=stemmer)
        assert found[0] == pytest.approx(expected[kind], abs=1e-15)


@pytest.mark.parametrize("stemmer", [False, True])
def test_real_segments_equal_rouge_score(shared: Path, stemmer: bool) -> None:
    lines = _sample(shared)
    for kind in _TYPES:
        found = parts_of(
            [line[0] for line in lines], [line[1] for line in lines], kind=kind, stemmer=stemmer
        )
        for (candidate, reference), ours in zip(lines, found, strict=True):
            theirs = _expected(candidate, [reference], stemmer=stemmer)[kind]
            assert ours == pytest.approx(theirs, abs=1e-15)


def _sample(shared: Path, size: int = 60) -> list[tuple[str, str]]:
    pairs = []
    for pair in ("wmt19/en-de", "wmt19/kk-en"):
        folder = shared / "data" / pair
        references = (folder / "ref.A.txt").read_text(encoding="utf-8").split("\n")[:-1]
        for system in sorted((folder / "systems").glob("*.txt"))[:2]:
            texts = system.read_text(encoding="utf-8").split("\n")[:-1]
            pairs += list(zip(texts, references, strict=True))
    chosen = np.random.default_rng(5).choice(len(pairs), size, replace=False)
    return [pairs[i] for i in chosen]


@pytest.mark.verify
def test_the_published_rouge_of_t5_on_cnndm_comes_out(shared: Path) -> None:
    # oracle: Karidi et al.'s published figure and its recomputation, see shared/oracles/README.md
    with (shared / "oracles/muler/rougeL_cnndm_t5_base.tsv").open(encoding="utf-8") as file:
        (row,) = csv.DictReader(file, delimiter="\t")
    texts = []
    for name in ("systems/t5_base.txt.gz", "ref.A.txt.gz"):
        with gzip.open(shared / "data/cnndm" / name, "rt", encoding="utf-8", newline="\n") as file:
            texts.append(file.read().split("\n")[:-1])
    ts = TestSet.from_lists({"t5_base": texts[0]}, texts[1])
    assert ts.segments == int(row["n"])
    bound = Rouge(type="rougeL", stemmer=True).bind(ts)
    means = bound.score_parts(ts.batch())[0].mean(axis=0)
    expected = [float(row[f"rougeL_{part}"]) for part in ("precision", "recall", "f")]
    np.testing.assert_allclose(means, expected, rtol=0, atol=1e-12)
    assert means[0] == pytest.approx(float(row["published_rouge_not_masked"]), abs=1e-12)


@given(_anything | _texts | _summaries)
def test_tokens_stand_where_their_characters_are(text: str) -> None:
    tokens = RougeTokeniser(None)(text)
    for string, start, end in zip(*tokens, strict=True):
        assert text[start:end].lower().startswith(string[:1])
        assert re.sub("[^a-z0-9]", "", text[start:end].lower()) == string
    assert list(tokens.starts) == sorted(tokens.starts)


def test_options_choose_the_part() -> None:
    ts = TestSet.from_lists({"a": ["the cat sat"]}, ["a cat sat down"])
    parts = parts_of(["the cat sat"], ["a cat sat down"], kind="rouge1")[0]
    for option, value in zip(("precision", "recall", "f"), parts, strict=True):
        metric = Rouge(type="rouge1", score=option)  # type: ignore[arg-type]  # one of the three
        assert score(ts, metric).system[0] == value


def test_without_a_newline_rouge_lsum_is_rouge_l() -> None:
    pair = ["the cat the mat"], ["a mat the cat sat"]
    assert parts_of(*pair, kind="rougeLsum") == parts_of(*pair, kind="rougeL")


def test_each_distinct_pair_is_compared_once() -> None:
    ts = TestSet.from_lists({"a": ["x y", "x y", "z"], "b": ["x y", "z", "z"]}, ["x", "x", "x"])
    bound = Rouge().bind(ts)
    batch = ts.batch()
    bound.segments(batch)
    bound.statistics(batch)
    assert bound.texts.compared == 2
    assert bound.texts.tokens.runs == 1


def test_segments_without_a_reference_are_undefined() -> None:
    ts = TestSet("t", {"A": ["x", None]}, {"a": ["x", "x"]})
    scores = score(ts, "rouge1")
    np.testing.assert_array_equal(scores.segments, [[1.0, np.nan]])
    assert scores.system.tolist() == [1.0]


def test_masks_replace_tokens_alike_or_apart() -> None:
    ts = TestSet.from_lists({"a": ["the cats sat down"]}, ["the dog sat"])
    batch = ts.batch()
    nouns = {"the cats sat down": (4, 8), "the dog sat": (4, 7)}
    spans = SpanTable.build([{"N": [nouns[text]]} for text in batch.texts], ["N", "none"])
    masked = Rouge(type="rouge1").bind(ts).masked(batch, MaskPlan.oracles(spans))
    assert masked[:, 0, 0].tolist() == pytest.approx([6 / 7, 4 / 7, 4 / 7, 4 / 7])


@given(st.lists(st.tuples(_texts, _texts), min_size=1, max_size=4), st.data())
def test_masking_equals_scoring_plain_words_in_place_of_the_masked_ones(
    rows: list[tuple[str, str]], data: st.DataObject
) -> None:
    ts = TestSet.from_lists({"a": [row[0] for row in rows]}, [row[1] for row in rows])
    batch = ts.batch()
    tokeniser = RougeTokeniser(None)
    chosen = [[s for s in _spans(tokeniser, t) if data.draw(st.booleans())] for t in batch.texts]
    plan = MaskPlan.oracles(SpanTable.build([{"F": spans} for spans in chosen], ["F"]))
    for kind in _TYPES:
        masked = Rouge(type=kind).bind(ts).masked(batch, plan)
        for variant, words in enumerate((("qq", "qq"), ("qq", "zz"))):
            plain = [
                [_replaced(batch.texts[t], chosen[t], word) for t in column]
                for word, column in zip(
                    words, (batch.candidates[0], batch.references.indices), strict=True
                )
            ]
            expected = [s[2] for s in parts_of(*plain, kind=kind)]
            np.testing.assert_allclose(masked[variant, 0], expected, atol=1e-15)


def _spans(tokeniser: RougeTokeniser, text: str) -> list[tuple[int, int]]:
    tokens = tokeniser(text)
    return sorted(set(zip(tokens.starts, tokens.ends, strict=True)))


def _replaced(text: str, spans: list[tuple[int, int]], word: str) -> str:
    for start, end in reversed(spans):
        text = f"{text[:start]} {word} {text[end:]}"
    return text
