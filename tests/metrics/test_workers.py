"""Statistics and masked scores are the same bytes for any number of workers."""

from __future__ import annotations

import random

import pytest

import gnomon as gn
from gnomon.core.spans import SpanTable
from gnomon.core.threads import using_workers
from gnomon.metrics import MaskPlan, bind, comparisons

SEGMENTS = 23  # no multiple of what a block holds


def made(segments: int, systems: int = 3) -> gn.TestSet:
    """Texts of very different lengths, some empty, some with a second reference."""
    draw = random.Random(7)

    def text() -> str:
        return " ".join(draw.choices(list("abcde"), k=draw.choice([0, 1, 5, 90])))

    references = [[text() for _ in range(draw.choice([1, 2]))] for _ in range(segments)]
    outputs = {f"s{n}": [text() for _ in range(segments)] for n in range(systems)}
    return gn.TestSet.from_lists(outputs, references)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparisons, "_LEAST", 2)


@pytest.mark.parametrize("segments", [SEGMENTS, 2, 1, 0])
@pytest.mark.parametrize(
    "metric", ["bleu", "chrf", "chrf(word_order=2)", "ter", "ter(normalized=True)"]
)
def test_statistics_do_not_depend_on_workers(metric: str, segments: int) -> None:
    found = set()
    for number in (1, 2, 3, 50):
        testset = made(segments)
        with using_workers(number):
            _, bound = bind(testset, metric)
            found.add(bound.statistics(testset.batch()).tobytes())
    assert len(found) == 1


@pytest.mark.parametrize("metric", ["bleu", "chrf", "chrf(word_order=2)", "ter"])
@pytest.mark.parametrize("features", [1, 5])
def test_masked_scores_do_not_depend_on_workers(metric: str, features: int) -> None:
    found = set()
    for number in (1, 2, 3, 50):
        testset = made(SEGMENTS)
        batch = testset.batch()
        spans = [
            {f"x:{n}": [(n, n + 2)] for n in range(features) if n + 2 <= len(text)}
            for text in batch.texts
        ]
        names = [f"x:{n}" for n in range(features)]
        plan = MaskPlan.oracles(SpanTable.build(spans, names))
        with using_workers(number):
            _, bound = bind(testset, metric)
            found.add(bound.masked(batch, plan).tobytes())
    assert len(found) == 1


def test_functions_take_workers() -> None:
    testset = made(SEGMENTS)
    for metric in ("chrf", "ter"):
        one, three = (gn.score(testset, metric, workers=number) for number in (1, 3))
        assert one.segments.tobytes() == three.segments.tobytes()
    features = {"features": ["re:a"], "pattern": {"a": "a"}, "resamples": 0}
    one, three = (gn.muler.score(testset, "chrf", workers=w, **features) for w in (1, 3))
    assert one == three
