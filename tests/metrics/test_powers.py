"""What metrics will be able to do is told without binding them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gnomon.core.errors import DataError, UsageError
from gnomon.core.testset import TestSet
from gnomon.metrics import metric, parse
from gnomon.metrics.differentiable import Differentiable
from gnomon.metrics.matching import Matching
from gnomon.metrics.ngrams import Ngrams
from gnomon.metrics.protocol import lacks
from gnomon.metrics.registry import check_metric

if TYPE_CHECKING:
    from gnomon.metrics.protocol import Metric


@pytest.mark.parametrize("power", [Matching, Ngrams, Differentiable])
@pytest.mark.parametrize(
    "spec", ["bleu", "chrf", "ter", "rouge1", "rougeL", "random", "meteor", "meteor(variant='1.5')"]
)
def test_what_is_told_is_what_binding_gives(spec: str, power: type) -> None:
    testset = TestSet.from_lists({"a": ["the cat"]}, ["the dog"])
    try:
        bound = parse(spec).bind(testset)
    except ImportError as error:
        pytest.skip(str(error))
    assert lacks(parse(spec), power) is not isinstance(bound, power)


@pytest.mark.parametrize(
    ("spec", "has"),
    [
        ("bertscore", (Matching, Differentiable)),
        ("xbertscore", (Matching, Differentiable)),
        ("sbert", (Differentiable,)),
        ("moverscore", ()),
    ],
)
def test_models_are_not_loaded_to_tell(spec: str, has: tuple[type, ...]) -> None:
    for power in (Matching, Ngrams, Differentiable):
        assert lacks(parse(spec), power) is (power not in has)


def test_of_metrics_of_others_nothing_is_known_to_lack() -> None:
    class Strange:
        name = spec = "strange"

        def bind(self, testset: TestSet) -> object:
            return testset

    strange: Metric = Strange()  # type: ignore[assignment]  # as another package may write it
    assert not lacks(strange, Matching)
    assert lacks(metric(lambda candidate, reference: float(candidate == reference)), Matching)


def test_metrics_refuse_test_sets_that_lack_what_they_need() -> None:
    outline = TestSet.from_lists({"a": ["the cat"]}, ["the dog"]).outline
    check_metric("bleu", outline)
    with pytest.raises(DataError, match="metric 'xbertscore' needs sources"):
        check_metric("xbertscore", outline)
    with pytest.raises(UsageError, match="cannot score changed texts"):
        check_metric("scores('x.tsv')", outline, changed=True)
