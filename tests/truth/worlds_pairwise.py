"""Planted worlds of `pairwise`: a metric of pairs that prefers the longer output."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from tests.methods.compare.test_pairwise import BoundLonger, Longer
from tests.truth.worlds import world

import gnomon as gn
from gnomon.core.scores import BEGINNINGS

if TYPE_CHECKING:
    from gnomon.core.batch import Batch
    from gnomon.core.findings import Finding

ANY = "pairwise.*"


def lengths(n: int = 60, *, reference: int = 20, seed: int = 1, **means: int) -> Finding:
    """Outputs of about these lengths."""
    draw = random.Random(seed)
    systems = {
        name: ["x" * max(1, mean + draw.randint(-4, 4)) for _ in range(n)]
        for name, mean in means.items()
    }
    testset = gn.TestSet.from_lists(systems, ["x" * reference] * n)
    return gn.pairwise(testset, Longer(), resamples=99)


@world("two systems, one of them longer", says=["pairwise.prefers"], silent=[ANY])
def longer() -> Finding:
    return lengths(a=10, b=14)


@world("two systems of one length", says=["pairwise.undecided"], silent=[ANY])
def as_long() -> Finding:
    return lengths(a=10, b=10, seed=3)


@world("two equal systems", says=["pairwise.same"], silent=[ANY])
def equal() -> Finding:
    texts = ["x" * (k % 7 + 1) for k in range(60)]
    testset = gn.TestSet.from_lists({"a": texts, "b": texts}, ["x" * 20] * 60)
    return gn.pairwise(testset, Longer(), resamples=99)


@world("the longest of three", says=["pairwise.best", "pairwise.chosen"], silent=[ANY])
def longest() -> Finding:
    return lengths(a=6, b=9, c=15)


@world("two of three are long", says=["pairwise.first"], silent=["pairwise.best"])
def two_long() -> Finding:
    return lengths(a=5, b=14, c=14, seed=3)


@world("ten segments", says=["pairwise.few"], silent=[ANY])
def few() -> Finding:
    return lengths(10, a=5, b=14)


@world("outputs longer than the reference", says=["pairwise.references"], silent=["pairwise.few"])
def over_the_reference() -> Finding:
    return lengths(reference=3, a=8, b=12)


@world("many are a little longer, few much shorter", says=["pairwise.opposite"], silent=[])
def opposite() -> Finding:
    a = ["x" * 10] * 60
    b = ["x" * 11] * 50 + ["x"] * 10
    testset = gn.TestSet.from_lists({"a": a, "b": b}, ["x" * 90] * 60)
    return gn.pairwise(testset, Longer(), resamples=99)


class _Cut(Longer):
    def bind(self, _: gn.TestSet) -> BoundLonger:
        return _BoundCut(self)


class _BoundCut(BoundLonger):
    def pair_notices(self, _: Batch) -> tuple[str, ...]:
        return (f"3 of 120 texts are longer than the model takes; {BEGINNINGS}",)


@world("texts that are too long for the metric", says=["score.cut"], silent=["pairwise.few"])
def cut() -> Finding:
    texts = ["x" * (k % 7 + 1) for k in range(60)]
    testset = gn.TestSet.from_lists({"a": texts, "b": texts[::-1]}, ["x" * 20] * 60)
    return gn.pairwise(testset, _Cut(), resamples=99)
