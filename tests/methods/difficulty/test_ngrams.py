"""Difficulty weights of n-gram metrics: by hand, and against plain loops."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnomon as gn
from gnomon import example
from gnomon.core.errors import UsageError
from gnomon.core.spans import SpanTable
from gnomon.difficulty import gram_hardness
from gnomon.metrics import MaskPlan, bind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.metrics import BoundMetric

SYSTEMS = {"a": ["the cat sat"], "b": ["the dog sat"], "c": ["a cat ran"]}
REFERENCE = ["the cat sat"]


def _bound(testset: gn.TestSet, spec: str) -> BoundMetric:
    return bind(testset, spec)[1]


def test_precision_and_recall_of_rouge_by_hand() -> None:
    # the: missed by c of three, cat: by b, sat: by c -> 1/3 each; unseen words weigh 1
    testset = gn.TestSet.from_lists(SYSTEMS, REFERENCE)
    parts = {
        part: gn.score(testset, f"difficulty(rouge(type='rouge1', score='{part}'))").system
        for part in ("precision", "recall", "f")
    }
    assert parts["precision"] == pytest.approx([1, (2 / 3) / (5 / 3), (1 / 3) / (7 / 3)])
    assert parts["recall"] == pytest.approx([1, 2 / 3, 1 / 3])
    p, r = parts["precision"][1], parts["recall"][1]
    assert parts["f"][1] == pytest.approx(2 * p * r / (p + r))


def test_bleu_by_hand() -> None:
    # 1-grams as above: matched weight of b (2/3) of (2/3 + 1) = .4; of 2-grams b has none
    testset = gn.TestSet.from_lists(SYSTEMS, REFERENCE)
    found = gn.score(testset, "difficulty(bleu(max_ngram_order=2))")
    # 2-grams of b: none of 2 matches; exponential smoothing counts 1/2 of them
    expected = 100 * math.sqrt(0.4 * (1 / 2) / 2)
    assert found.segments[:, 0] == pytest.approx([100, expected, found.segments[2, 0]])
    assert found.system[1] == pytest.approx(expected)


def test_the_penalty_for_brevity_does_not_change() -> None:
    testset = gn.TestSet.from_lists({"a": ["the cat"], "b": ["dog"]}, ["the cat sat on the mat"])
    found = gn.score(testset, "difficulty(bleu(max_ngram_order=1))")
    assert found.system[0] == pytest.approx(100 * math.exp(1 - 6 / 2))


def test_where_all_got_all_right_plain_counts_stand() -> None:
    testset = gn.TestSet.from_lists({"a": ["x y z w"], "b": ["x y z w"]}, ["x y z w"])
    assert gn.score(testset, "difficulty(bleu)").system.tolist() == pytest.approx([100, 100])
    assert gn.score(testset, "difficulty(rouge2)").system.tolist() == [1, 1]


def test_a_system_that_is_left_out_does_not_judge_itself() -> None:
    testset = gn.TestSet.from_lists(SYSTEMS, REFERENCE)
    found = gn.score(testset, "difficulty(rouge(type='rouge1'), leave_one_out=True)").system
    alone = [
        gn.score(testset, f"difficulty(rouge(type='rouge1'), pool={pool})").system[k]
        for k, pool in enumerate((["b", "c"], ["a", "c"], ["a", "b"]))
    ]
    assert found == pytest.approx(alone)


WORDS = st.lists(st.sampled_from("abcd"), max_size=7).map(" ".join)


class Loops:
    """Weighted BLEU and ROUGE of one segment in plain loops."""

    def __init__(self, pool: Sequence[str], references: Sequence[str]) -> None:
        self.pool, self.references = pool, references

    def weight(self, gram: tuple[str, ...]) -> float:
        n = len(gram)
        if not any(gram in _grams(reference, n) for reference in self.references):
            return 1.0
        return sum(gram not in _grams(text, n) for text in self.pool) / len(self.pool)

    def ratio(self, text: str, other: Sequence[str], n: int) -> tuple[float, float]:
        """Weighted share of the matched n-grams times their number, and their number."""
        own = _grams(text, n)
        clip = {g: min(c, max(_grams(o, n)[g] for o in other)) for g, c in own.items()}
        weight = sum(self.weight(g) * c for g, c in own.items())
        matched = sum(self.weight(g) * c for g, c in clip.items())
        total = sum(own.values())
        return (matched / weight * total if weight else sum(clip.values())), total


def _grams(text: str, n: int) -> Counter[tuple[str, ...]]:
    words = text.split()
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


@given(
    candidates=st.lists(WORDS, min_size=2, max_size=3),
    references=st.lists(WORDS.filter(bool), min_size=1, max_size=2),
)
def test_arrays_do_what_loops_do(candidates, references) -> None:
    testset = gn.TestSet.from_lists({str(k): [c] for k, c in enumerate(candidates)}, [references])
    bleu = gn.score(testset, "difficulty(bleu(smooth_method='none', max_ngram_order=2))")
    rouge = gn.score(testset, "difficulty(rouge(type='rouge2'))")
    loops = Loops(candidates, references)
    for k, candidate in enumerate(candidates):
        length = len(candidate.split())
        near = min((abs(len(r.split()) - length), len(r.split())) for r in references)[1]
        penalty = 1.0 if length >= near else (math.exp(1 - near / length) if length else 0.0)
        ratios = [loops.ratio(candidate, references, n) for n in (1, 2)]
        used = [m / t for m, t in ratios if t]
        good = bool(used) and all(used)
        expected = 100 * penalty * math.prod(used) ** (1 / len(used)) if good else 0.0
        assert bleu.segments[k, 0] == pytest.approx(expected, abs=1e-6)
        scores = []
        for reference in references:
            p, r = loops.ratio(candidate, [reference], 2), loops.ratio(reference, [candidate], 2)
            precision, recall = (m / max(t, 1) for m, t in (p, r))
            both = precision + recall
            scores.append(2 * precision * recall / both if both else 0.0)
        assert rouge.segments[k, 0] == pytest.approx(max(scores), abs=1e-9)


def test_full_smoothing_leaves_unseen_words_at_one() -> None:
    systems = {"a": ["the cat sat"], "b": ["the dog dog"], "c": ["the cat ran"]}
    testset = gn.TestSet.from_lists(systems, REFERENCE)
    # d: the 0, cat 1/3, sat 2/3 -> mean 1/3
    found = gn.score(testset, "difficulty(rouge(type='rouge1', score='precision'), smooth=1.0)")
    assert found.system == pytest.approx([1, (1 / 3) / (1 / 3 + 2), (2 / 3) / (2 / 3 + 1)])


@pytest.mark.parametrize("metric", ["bleu", "rouge2", "chrf", "rougeL", "ter"])
@pytest.mark.parametrize("left_out", [True, False])
def test_blocks_of_any_size_give_the_same(
    metric: str, left_out: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ts = gn.TestSet.read(example.path()).select(segments=range(20))
    spec = f"difficulty({metric}, leave_one_out={left_out})"
    whole = gn.score(ts, spec)
    monkeypatch.setattr("gnomon.difficulty.gram_hardness._CHARACTERS", 2000)
    assert len(list(gram_hardness.runs(ts.batch()))) > 3
    found = gn.score(ts, spec)
    # n-grams are added up in the order of their numbers, which are those of the run
    assert found.system == pytest.approx(whole.system, rel=1e-13)
    assert found.segments == pytest.approx(whole.segments, rel=1e-13)


def test_memory_does_not_grow_with_systems_as_their_texts_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # n-grams are numbered for so many texts at a time, whatever number of systems these are of
    numbered: list[int] = []
    ranks = gram_hardness.GramVocabulary.ranks

    def counted(self: gram_hardness.GramVocabulary, offsets: Any, ids: Any) -> Any:
        numbered.append(len(offsets) - 1)
        return ranks(self, offsets, ids)

    monkeypatch.setattr(gram_hardness.GramVocabulary, "ranks", counted)
    texts = [f"the cat sat on mat {n}" for n in range(10)]
    monkeypatch.setattr(gram_hardness, "_CHARACTERS", 100 * len(texts[0]))
    for systems in (2, 40):
        numbered.clear()
        ts = gn.TestSet.from_lists({f"s{k}": texts for k in range(systems)}, texts)
        gn.score(ts, "difficulty(bleu)")
        assert max(numbered) <= 100 + systems + 10  # one segment more, and the references
        assert len(numbered) >= 2 * systems * 10 // 100


def test_corpus_bleu_sums_weights_over_segments() -> None:
    systems = {"a": ["the cat sat", "a mat"], "b": ["the dog sat", "the mat"]}
    testset = gn.TestSet.from_lists(systems, ["the cat sat", "the mat"])
    found = gn.score(testset, "difficulty(bleu(max_ngram_order=1))")
    # b: the 0, sat 0, dog 1 | the .5, mat 0 -> matched .5 of 1.5
    assert found.system[1] == pytest.approx(100 * 0.5 / 1.5)
    assert found.statistics is not None
    assert found.aggregate is not None
    half = found.aggregate(found.statistics[:, 1])
    assert half == pytest.approx(found.segments[:, 1])


def test_masked_words_keep_their_weights() -> None:
    testset = gn.TestSet.from_lists(SYSTEMS, REFERENCE)
    batch = testset.batch()
    marks = [
        {"noun": [(text.index(w), text.index(w) + 3) for w in ("cat", "dog") if w in text]}
        for text in batch.texts
    ]
    plan = MaskPlan.oracles(SpanTable.build(marks, ["noun"]))
    bound = _bound(testset, "difficulty(rouge(type='rouge1', score='precision'))")
    oracle, anti = bound.masked(batch, plan)  # type: ignore[attr-defined]  # it has the power
    # b: the 1/3, dog 1 (masked: matches the masked cat), sat 1/3
    assert oracle[1, 0] == pytest.approx(1)
    assert anti[1, 0] == pytest.approx((2 / 3) / (5 / 3))
    assert anti[0, 0] == pytest.approx(2 / 3)
    with pytest.raises(UsageError, match="granularity='span'"):
        bound.masked(batch, MaskPlan(plan.spans, plan.actions, granularity="span"))  # type: ignore[attr-defined]  # it has the power


def test_segments_taken_apart_score_alike() -> None:
    systems = {"a": ["x y", "the cat sat"], "b": ["x", "the dog sat"]}
    testset = gn.TestSet.from_lists(systems, ["x y z", "the cat sat"])
    bound = _bound(testset, "difficulty(bleu)")
    batch = testset.batch()
    whole = bound.segments(batch)
    assert np.allclose(bound.segments(batch.select(segments=[1])), whole[:, 1:])
    assert np.allclose(bound.segments(batch.select(systems=[1])), whole[1:])


def test_what_has_no_meaning_for_ngrams_is_refused() -> None:
    testset = gn.TestSet.from_lists(SYSTEMS, REFERENCE)
    with pytest.raises(UsageError, match="variant='authors' is for bertscore"):
        _bound(testset, "difficulty(bleu, variant='authors')")
    with pytest.raises(UsageError, match="no F to give a beta to"):
        _bound(testset, "difficulty(bleu, beta=2)")
