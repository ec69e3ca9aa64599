"""Which reference each explanation is beside, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.bmx._scorer import role_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.bmx._explanations import Explanations
    from gnomon.metrics.protocol import BoundMetric
    from gnomon.testset import TestSet

__all__ = ["held_references"]


def held_references(
    testset: TestSet, bound: BoundMetric, found: Explanations
) -> dict[tuple[str, int], str]:
    """The references that explanations hold on to, by system and segment (from 1).

    Of references with the same text it is the first. Nothing for metrics that take no references.

    Args:
        testset: what was explained.
        bound: the metric.
        found: the explanations.
    """
    if role_of(bound, testset.batch()) != "reference":
        return {}
    return {
        (system, int(segment) + 1): name
        for k, system in enumerate(found.systems)
        for i, segment in enumerate(found.segments)
        if (number := int(found.judged_by[k, i])) >= 0
        for name in _called(testset, system, int(segment), found.texts[number])
    }


def _called(testset: TestSet, system: str, segment: int, text: str) -> Iterator[str]:
    own = testset.system_references.get(system, {})
    for name, texts in (*testset.references.items(), *own.items()):
        if texts[segment] == text:
            yield name
            return
