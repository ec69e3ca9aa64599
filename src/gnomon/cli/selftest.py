"""Golden numbers of the bundled example: does this installation compute what it should?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.testset import TestSet

__all__ = ["Check", "checks"]

_SYSTEM = "apertium-direct"

#: spec -> corpus score of the example's first system, computed with sacreBLEU 2.6.0
_CORPUS = {
    "bleu": 36.07026335222421,
    "chrf": 61.98383612422348,
    "chrf++": 60.59296209363168,
    "ter": 47.93152639087018,
}

#: spec -> mean sentence score, computed with sacreBLEU 2.6.0 and rouge-score 0.1.2
_SENTENCE = {
    "bleu": 34.060379393574316,
    "rougeL": 0.6490092234875667,
}


class Check(NamedTuple):
    """One number that was found, and what it should be."""

    name: str
    found: float
    expected: float


def checks() -> Iterator[Check]:
    """Compute every golden number."""
    from gnomon.core.testset import TestSet
    from gnomon.data import example
    from gnomon.metrics import score

    testset = TestSet.read(example.path(), systems=[_SYSTEM])
    for spec, expected in _CORPUS.items():
        yield Check(f"{spec}, corpus", float(score(testset, spec).system[0]), expected)
    for spec, expected in _SENTENCE.items():
        mean = float(score(testset, spec).segments.mean())
        yield Check(f"{spec}, mean of sentences", mean, expected)
    yield from _muler(testset)


def _muler(testset: TestSet) -> Iterator[Check]:
    """MuLER of the references judged by themselves, so that masking is looked at too."""
    from gnomon.methods.muler import score

    texts = [str(text) for text in testset.references["A"]]
    perfect = type(testset).from_lists({"perfect": texts}, texts)
    found = score(perfect, "bleu", ["re:word"], pattern={"word": r"\w+"}, examples=0)
    row = found.rows[0]
    yield Check("MuLER of a perfect output", float(row["muler"] or 0.0), 0.0)
    yield Check("its oracle", float(row["oracle"] or 0.0), 100.0)
