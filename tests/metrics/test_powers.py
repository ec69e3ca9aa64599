"""What metrics will be able to do is told without binding them."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import ClassVar

import pytest

from gnomon.core.errors import DataError, UsageError
from gnomon.core.testset import TestSet
from gnomon.metrics import Options, TextMetric, metric, parse, score
from gnomon.metrics.base import POWERS, BoundMetric
from gnomon.metrics.registry import check_metric


@pytest.mark.parametrize(
    "spec",
    [
        *("bleu", "chrf", "chrf++", "ter", "rouge1", "rougeL", "rougeLsum", "random"),
        *("meteor", "bmx(chrf)", "difficulty(chrf)", "difficulty(chrf++)"),
        *(
            "difficulty(ter)",
            "difficulty(rougeL, weighted=False)",
            "difficulty(bleu, units='segments')",
        ),
    ],
)
def test_what_is_told_is_what_binding_gives(spec: str) -> None:
    testset = TestSet.from_lists({"a": ["the cat"], "b": ["a cat"]}, ["the dog"])
    try:
        bound = parse(spec).bind(testset)
    except ImportError as error:
        pytest.skip(str(error))
    assert parse(spec).can == bound.can


@pytest.mark.parametrize(
    ("spec", "can"),
    [
        ("bertscore", {"statistics", "mask", "match", "gradients"}),
        ("xbertscore", {"statistics", "match", "gradients"}),
        ("sbert", {"statistics", "gradients"}),
        ("moverscore", {"statistics"}),
        ("difficulty(bertscore)", {"statistics", "mask"}),
        ("difficulty(bertscore, weighted=False)", {"statistics"}),
    ],
)
def test_models_are_not_loaded_to_tell(spec: str, can: set[str]) -> None:
    assert parse(spec).can == can


def test_a_metric_that_freezes_nothing_is_bound_to_any_test_set() -> None:
    class Longer(BoundMetric):
        name = spec = "longer"

        def segments(self, batch):  # type: ignore[no-untyped-def]
            return (batch.candidates < 0) * 1.0

    testset = TestSet.from_lists({"a": ["the cat"]}, ["the dog"])
    bound = Longer().bind(testset)
    assert bound.can == {"statistics"}
    assert bound.system(testset.batch()).tolist() == [0]
    with pytest.raises(DataError, match="metric 'longer' needs references"):
        Longer().bind(TestSet("none", {}, {"a": ["the cat"]}, sources=["le chat"]))


def test_a_metric_of_one_text_at_a_time_has_a_function_and_its_options() -> None:
    @dataclass(frozen=True)
    class Start(Options, TextMetric):
        name: ClassVar[str] = "start"
        letters: int = 2

        def text_score(self, candidate: str, reference: str) -> float:
            return float(candidate[: self.letters] == reference[: self.letters])

    testset = TestSet.from_lists({"a": ["the cat", "a cow"]}, ["this dog", "the cow"])
    scores = score(testset, Start(letters=3))
    assert (scores.metric, scores.segments.tolist()) == ("start(letters=3)", [[0, 0]])
    assert score(testset, Start()).segments.tolist() == [[1, 0]]
    assert str(scores.signature).startswith("start(letters=3)|code:")


@pytest.mark.parametrize("power", POWERS)
def test_what_a_metric_cannot_do_is_refused_with_those_that_can(power: str) -> None:
    bound = metric(lambda candidate, reference: float(candidate == reference), name="exact").bind(
        TestSet.from_lists({"a": ["the cat"]}, ["the dog"])
    )
    if power in bound.can:
        return
    method = getattr(bound, POWERS[power].method)
    needed = [p for p in inspect.signature(method).parameters.values() if p.default is p.empty]
    positional = [None for p in needed if p.kind is p.POSITIONAL_OR_KEYWORD]
    named = {p.name: False for p in needed if p.kind is p.KEYWORD_ONLY}
    with pytest.raises(
        UsageError, match=f"^'exact' is no metric that .*: {POWERS[power].metrics}$"
    ):
        method(*positional, **named)


def test_those_that_are_named_can() -> None:
    learned = ("comet", "xcomet", "pear")
    for power, (_, _, named) in POWERS.items():
        for name in named.split(", "):
            if name not in ("judge", "most metrics"):
                spec = f"{name}('nowhere')" if name in learned else name
                assert power in parse(spec).can, (power, name)


def test_metrics_refuse_test_sets_that_lack_what_they_need() -> None:
    outline = TestSet.from_lists({"a": ["the cat"]}, ["the dog"]).outline
    check_metric("bleu", outline)
    with pytest.raises(DataError, match="metric 'xbertscore' needs sources"):
        check_metric("xbertscore", outline)
    with pytest.raises(UsageError, match="cannot score changed texts"):
        check_metric("scores('x.tsv')", outline, changed=True)
