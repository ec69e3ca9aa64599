# ruff: noqa: ARG005  # the parameters' names say what the function takes
from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import UnknownNameError
from gnomon.core.testset import TestSet
from gnomon.metrics import Ter, resolve, score
from gnomon.metrics.tokenise import TokenTable, tokenise

_words = st.lists(st.sampled_from(["the", "cat", "sat", "on", "a", "mat", "."]), max_size=8)
_texts = _words.map(" ".join)
_METRICS = ("rouge1", "rougeL", "ter")


@st.composite
def _testsets(draw: st.DrawFn) -> TestSet:
    n = draw(st.integers(1, 5))
    column = st.lists(_texts, min_size=n, max_size=n)
    systems = {name: draw(column) for name in "abc"}
    return TestSet.from_lists(systems, draw(column))


@pytest.mark.parametrize("metric", _METRICS)
@given(testset=_testsets(), order=st.permutations("abc"))
def test_permuting_systems_permutes_results(
    metric: str, testset: TestSet, order: list[str]
) -> None:
    plain = score(testset, metric)
    permuted = score(testset.select(systems=order), metric)
    rows = [plain.systems.index(name) for name in order]
    assert permuted.systems == tuple(order)
    np.testing.assert_array_equal(permuted.segments, plain.segments[rows])
    np.testing.assert_array_equal(permuted.system, plain.system[rows])


@pytest.mark.parametrize("metric", _METRICS)
@given(testset=_testsets(), data=st.data())
def test_statistics_give_the_corpus_score_of_any_subset(
    metric: str, testset: TestSet, data: st.DataObject
) -> None:
    full = score(testset, metric)
    assert full.statistics is not None
    assert full.aggregate is not None
    chosen = data.draw(st.lists(st.integers(0, testset.segments - 1), min_size=1))
    part = TestSet.from_lists(
        {name: [texts[i] for i in chosen] for name, texts in testset.systems.items()},
        [testset.references["A"][i] for i in chosen],  # type: ignore[misc]  # none is missing
    )
    np.testing.assert_allclose(
        full.aggregate(full.statistics[:, chosen].sum(axis=1)),
        score(part, metric).system,
        rtol=1e-12,
    )


def test_a_spec_a_metric_and_a_bound_metric_score_alike() -> None:
    ts = TestSet.from_lists({"a": ["the cat"]}, ["the cats"])
    forms = ["ter", Ter(), Ter().bind(ts)]
    assert [score(ts, form).system.tolist() for form in forms] == [[50.0]] * 3
    assert [score(ts, form).metric for form in forms] == ["ter"] * 3
    assert (
        score(ts, "ter:case_sensitive=true|refs:1|gnomon:1.0.0").metric
        == "ter(case_sensitive=True)"
    )
    assert score(ts, "rouge1").metric == "rouge1"


@pytest.mark.parametrize("spec", ["bleu", "chrf(word_order=2)"])
def test_scores_do_not_hold_the_tokens_of_all_texts(
    spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables: list[weakref.ref[TokenTable]] = []

    def noted(*arguments: Any, **options: Any) -> TokenTable:
        table = tokenise(*arguments, **options)
        tables.append(weakref.ref(table))
        return table

    monkeypatch.setattr("gnomon.metrics.tokenise.tables.tokenise", noted)
    ts = TestSet.from_lists({"a": ["the cat"]}, ["the cat sat"])
    found = score(ts, spec)
    gc.collect()
    assert found.aggregate is not None
    assert [table() for table in tables] == [None]
    bound = resolve(spec).bind(ts)  # who binds a metric keeps what it found
    for _ in range(2):
        score(ts, bound)
    assert len(tables) == 2


def test_the_signature_counts_references_and_makes_the_metric_again() -> None:
    one = TestSet.from_lists({"a": ["x", "x"]}, ["x", "y"])
    two = TestSet.from_lists({"a": ["x", "x"]}, [["x", "y"], ["x", "y"]])
    ragged = TestSet.from_lists({"a": ["x", "x"]}, [["x", "y"], ["x"]])
    for testset, refs in ((one, "1"), (two, "2"), (ragged, "var")):
        signature = str(score(testset, "rouge1").signature)
        assert signature.startswith(f"rouge(type='rouge1')|refs:{refs}|gnomon:")
        assert resolve(signature) == resolve("rouge1")
    sourced = TestSet("t", {}, {"a": ["x"]}, sources=["x"])
    assert "refs" not in str(score(sourced, lambda candidate, source: 1.0).signature)


def test_references_of_one_system_show_in_the_signature() -> None:
    ts = TestSet(
        "t", {"A": ["x"]}, {"a": ["y"], "b": ["y"]}, system_references={"b": {"own": ["y"]}}
    )
    scores = score(ts, "ter")
    assert scores.system.tolist() == [100.0, 0.0]
    assert "|refs:1|own_refs:1|" in str(scores.signature)


def test_unknown_metrics_are_named() -> None:
    with pytest.raises(UnknownNameError, match="unknown metric 'tre'"):
        score(TestSet.from_lists({"a": ["x"]}, ["x"]), "tre")


def test_several_metrics_give_a_list_and_one_gives_its_scores(tmp_path) -> None:
    ts = TestSet.from_lists({"a": ["the cat sat", "a mat"]}, ["the cat", "a mat"])
    several = score(ts, ["bleu", "chrf"], segment_scores=tmp_path / "s.tsv")
    assert [one.metric for one in several] == ["bleu", "chrf"]
    for one in several:
        assert score(ts, one.metric).rows() == one.rows()
    assert score(ts).metric == "bleu"
    lines = (tmp_path / "s.tsv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + 2 * 2
    with pytest.raises(UnknownNameError, match="did you mean 'bleu'"):
        score(ts, ["chrf", "blue"])
