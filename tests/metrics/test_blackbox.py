# ruff: noqa: ARG005  # the parameters' names say what the function takes
from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import MaskingError
from gnomon.core.spans import SpanTable
from gnomon.core.testset import TestSet
from gnomon.metrics import MaskPlan, Rouge, make_maskable, metric
from gnomon.metrics.black_box_masking import BlackBox
from gnomon.metrics.masking import Action

_words = st.lists(st.sampled_from(["the", "cat", "sat", "mat", "dog", "on"]), max_size=7)
_texts = _words.map(" ".join)


def word_f(candidate: str, reference: str) -> float:
    """F1 of bags of whitespace words."""
    a, b = Counter(candidate.split()), Counter(reference.split())
    return 2 * (a & b).total() / max(a.total() + b.total(), 1)


def letters_only(candidate: str, reference: str) -> float:
    """As word_f, on a tokeniser that deletes everything but letters."""
    return word_f(re.sub("[^a-z ]", "", candidate), re.sub("[^a-z ]", "", reference))


def digits_only(candidate: str, reference: str) -> float:
    return word_f(re.sub("[^0-9 ]", "", candidate), re.sub("[^0-9 ]", "", reference))


def of_source(candidate: str, source: str) -> float:
    return word_f(candidate, source)


def _plan(testset: TestSet, words: set[str], **more: object) -> MaskPlan:
    texts = testset.batch().texts
    found = [
        {"F": [m.span() for m in re.finditer(r"\w+", text) if m[0] in words]} for text in texts
    ]
    return MaskPlan.oracles(SpanTable.build(found, ["F", "none"]), **more)  # type: ignore[arg-type]  # names of oracles


@given(st.lists(st.tuples(_texts, _texts), min_size=1, max_size=4))
def test_inserted_words_score_like_masks_on_the_metrics_own_tokens(
    rows: list[tuple[str, str]],
) -> None:
    ts = TestSet.from_lists({"a": [r[0] for r in rows]}, [r[1] for r in rows])
    batch, plan = ts.batch(), _plan(ts, {"cat", "dog", "mat"})
    black = make_maskable(metric(word_f).bind(ts), batch)
    assert isinstance(black, BlackBox)
    own = Rouge(type="rouge1").bind(ts)
    np.testing.assert_allclose(black.masked(batch, plan), own.masked(batch, plan), atol=1e-12)


@pytest.mark.parametrize(
    ("function", "mask"),
    [(word_f, "U+E5A1"), (letters_only, "qzqzqz"), (digits_only, "7171717")],
)
def test_the_probe_finds_words_that_survive_the_tokeniser(function: object, mask: str) -> None:
    ts = TestSet.from_lists({"a": ["the cat sat"]}, ["the dog sat"])
    batch = ts.batch()
    black = make_maskable(metric(function, name="mine").bind(ts), batch)  # type: ignore[arg-type]  # a function
    shown = mask.replace("U+", "U")
    assert dict(black.signature.fields)["mask"] == shown
    assert dict(black.signature.fields)["tok"] == "13a"
    oracle, anti, *_ = black.masked(batch, _plan(ts, {"cat", "dog"}))[:, 0, 0]  # type: ignore[attr-defined]  # the power that was added
    assert oracle == 1.0
    assert anti < oracle


@pytest.mark.parametrize(
    "function",
    [
        lambda candidate, reference: 1.0,
        lambda candidate, reference: len(candidate) / (1 + len(reference)),
        lambda candidate, reference: float(candidate.isascii()),
    ],
)
def test_without_surviving_words_there_is_an_error_and_no_number(function: object) -> None:
    ts = TestSet.from_lists({"a": ["the cat"]}, ["the dog"])
    bound = metric(function, name="mine").bind(ts)  # type: ignore[arg-type]  # a function
    with pytest.raises(MaskingError, match="oracle equals anti-oracle under mine"):
        make_maskable(bound, ts.batch())


def test_a_metric_that_ignores_references_cannot_be_masked() -> None:
    ts = TestSet.from_lists({"a": ["the cat"]}, ["the dog"], sources=["le chat"])
    bound = metric(of_source).bind(ts)
    with pytest.raises(MaskingError, match="oracle equals anti-oracle"):
        make_maskable(bound, ts.batch())


def test_lower_is_better_is_oriented() -> None:
    ts = TestSet.from_lists({"a": ["the cat"]}, ["the dog"])
    errors = metric(lambda candidate, reference: 1 - word_f(candidate, reference),
                    name="errors", higher_is_better=False)  # fmt: skip
    black = make_maskable(errors.bind(ts), ts.batch())
    assert black.masked(ts.batch(), _plan(ts, {"cat", "dog"}))[:2, 0, 0].tolist() == [0.0, 0.5]  # type: ignore[attr-defined]  # the power that was added


def test_mask_words_that_occur_in_a_text_are_not_used() -> None:
    ts = TestSet.from_lists({"a": ["odd \ue5b2 sign", "QZQZQZ"]}, ["odd sign", "x"])
    black = make_maskable(metric(word_f).bind(ts), ts.batch())
    assert dict(black.signature.fields)["mask"] == "zqzqzqzq"
    other = TestSet.from_lists({"a": ["a Jxjxjxjx b"]}, ["x"])
    with pytest.raises(MaskingError, match="occurs in a text"):
        black.masked(other.batch(), _plan(other, {"x"}))  # type: ignore[attr-defined]  # the power that was added


def test_metrics_with_masks_of_their_own_are_left_alone() -> None:
    ts = TestSet.from_lists({"a": ["the cat"]}, ["the dog"])
    bound = Rouge().bind(ts)
    assert make_maskable(bound, ts.batch()) is bound


class _Seen:
    """A metric that remembers the texts it was given."""

    def __init__(self) -> None:
        self.pairs: list[tuple[str, str]] = []

    def __call__(self, candidate: str, reference: str) -> float:
        self.pairs.append((candidate, reference))
        return word_f(candidate, reference)


def _watched(ts: TestSet, plan: MaskPlan) -> tuple[list[tuple[str, str]], np.ndarray]:
    seen = _Seen()
    black = make_maskable(metric(seen, name="seen").bind(ts), ts.batch())
    seen.pairs.clear()
    masked = black.masked(ts.batch(), plan)  # type: ignore[attr-defined]  # the power that was added
    return seen.pairs, masked


def test_what_a_variant_leaves_as_it_is_is_not_scored_again() -> None:
    ts = TestSet.from_lists(
        {"a": ["the cat", "on", "sat"], "b": ["the mat", "on", "sat"]}, ["the cat", "on", "sat"]
    )
    pairs, masked = _watched(ts, _plan(ts, {"cat"}))
    # the other plain pairs were asked for when mask words were chosen
    assert pairs[0] == ("the mat", "the cat")
    m, c, r = "\ue5a1", "\ue5b2", "\ue5c3"
    assert Counter(pairs[1:]) == Counter(
        [
            (f"the {m}", f"the {m}"),
            ("the mat", f"the {m}"),
            (f"the {c}", f"the {r}"),
            ("the mat", f"the {r}"),
        ]
    )
    assert masked[:, 0, 0].tolist() == [1.0, 0.5, 1.0, 1.0]
    np.testing.assert_array_equal(masked[2], masked[3])


def test_masks_stand_at_offsets_and_apart_from_each_other() -> None:
    ts = TestSet.from_lists({"a": ['He said: "well-known" names, (really)']}, ["He said"])
    text = next(t for t in ts.batch().texts if t.startswith("He said:"))
    start = text.index("well")
    spans = [
        {"F": [(start - 1, start + 11), (text.index("really"), len(text))]} if t == text else {}
        for t in ts.batch().texts
    ]
    m = "\ue5a1"
    plan = MaskPlan.oracles(SpanTable.build(spans, ["F"]))
    pairs, _ = _watched(ts, plan)
    # 13a keeps well-known together and splits off quotes and brackets
    assert pairs[-2][0] == f"He said: {m} {m} {m} names, ({m} {m}"
    plan = MaskPlan.oracles(SpanTable.build(spans, ["F"]), granularity="span")
    pairs, _ = _watched(ts, plan)
    assert pairs[-2][0] == f"He said: {m} names, ({m}"


def test_the_strongest_action_wins_and_shared_and_private_masks_differ() -> None:
    ts = TestSet.from_lists({"a": ["one two"]}, ["one two three"])
    spans = [{"A": [(0, 3)], "B": [(0, 3), (4, 7)]} for _ in ts.batch().texts]
    table = SpanTable.build(spans, ["A", "B"])
    actions = np.array([[Action.PRIVATE, Action.SHARED]], dtype=np.int8)
    pairs, _ = _watched(ts, MaskPlan(table, actions))
    assert pairs[-1] == ("\ue5b2 \ue5a1", "\ue5c3 \ue5a1 three")


def test_sources_and_references_of_one_system_keep_their_places() -> None:
    seen = []

    def note(source: str, candidate: str, references: list[str]) -> float:
        seen.append((source, candidate, tuple(references)))
        return word_f(candidate, references[0])

    ts = TestSet(
        "t",
        {"A": ["the cat"]},
        {"a": ["a cat"], "b": ["a cat"]},
        sources=["the cat"],
        system_references={"b": {"own": ["my cat"]}},
    )
    black = make_maskable(metric(note).bind(ts), ts.batch())
    seen.clear()
    black.masked(ts.batch(), _plan(ts, {"cat"}))  # type: ignore[attr-defined]  # the power that was added
    m = "\ue5a1"
    assert ("the cat", f"a {m}", (f"the {m}",)) in seen
    assert ("the cat", f"a {m}", (f"the {m}", f"my {m}")) in seen
    assert {row[0] for row in seen} == {"the cat"}
