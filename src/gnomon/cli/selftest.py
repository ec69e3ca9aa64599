"""Self-test: reference numbers of the bundled example, computed again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.testset import TestSet

__all__ = ["Check", "checks"]

_SYSTEM = "apertium-direct"


class Check(NamedTuple):
    """One number that was found, and what it should be."""

    name: str
    found: float
    expected: float


def checks() -> Iterator[Check]:
    """Compute every number of the example."""
    from gnomon.core.testset import TestSet
    from gnomon.data import example
    from gnomon.metrics import score

    testset = TestSet.read(example.path(), systems=[_SYSTEM])
    for spec, expected in example.CORPUS_SCORES.items():
        yield Check(f"{spec}, corpus", float(score(testset, spec).system[0]), expected)
    for spec, expected in example.SENTENCE_SCORES.items():
        mean = float(score(testset, spec).segments.mean())
        yield Check(f"{spec}, mean of sentences", mean, expected)
    yield from _muler(testset)


def _muler(testset: TestSet) -> Iterator[Check]:
    """MuLER of the references judged by themselves, so that masking is looked at too."""
    from gnomon.muler import score

    texts = [str(text) for text in testset.references["A"]]
    perfect = type(testset).from_lists({"perfect": texts}, texts)
    finding = score(perfect, features=["re:word"], pattern={"word": r"\w+"}, examples=0)
    row = finding.rows[0]
    yield Check("MuLER of a perfect output", float(row["muler"] or 0.0), 0.0)
    yield Check("oracle of a perfect output", float(row["oracle"] or 0.0), 100.0)
