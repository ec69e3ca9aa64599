"""A small set in which two people and a metric marked errors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from gnomon import TestSet
from gnomon.core.human import HumanScores
from gnomon.core.signature import Signature
from gnomon.core.spans import ErrorSpan
from gnomon.metrics.base import BoundMetric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.spans import SpanMarker

SYSTEMS = {
    "alpha": ["the dog sat on 7 mats", "a cat runs", "it rains", "same words"],
    "beta": ["a dog sits on mats", "the cats ran", "it rains", "same words"],
}
REFERENCE = ["the dog sat on 7 mats", "the cat runs", "it is raining", "same words"]


def error(system: str, segment: int, start: int, end: int, severity: str, rater: str) -> ErrorSpan:
    """An error in a candidate, under ESA."""
    return ErrorSpan(system, segment, "candidate", start, end, "", severity, rater, "esa")


#: of ann: alpha, all segments, and the last of beta; of bob: beta
ERRORS = (
    error("alpha", 0, 4, 7, "major", "ann"),
    error("alpha", 1, 2, 5, "minor", "ann"),
    error("beta", 0, 6, 10, "minor", "bob"),
    error("beta", 0, 18, 18, "major", "bob"),
    error("beta", 2, 3, 8, "major", "bob"),
)
SCORES = {"ann": [[40, 70, 95, 90], [np.nan] * 3 + [90]], "bob": [[np.nan] * 4, [30, 100, 50, 80]]}


def marked_set(repeat: int = 1) -> TestSet:
    """The set; its segments several times over, for figures that rest on many."""
    human = tuple(
        HumanScores("esa", "segment", ("alpha", "beta"), np.tile(np.array(v), repeat), rater=name)
        for name, v in SCORES.items()
    )
    n = len(REFERENCE)
    errors = tuple(
        ErrorSpan(e.system, e.segment + n * i, *list(vars(e).values())[2:])
        for i in range(repeat)
        for e in ERRORS
    )
    return TestSet(
        name="marked",
        references={"A": REFERENCE * repeat},
        systems={name: texts * repeat for name, texts in SYSTEMS.items()},
        sources=["s"] * n * repeat,
        language_pair="en",
        human=human,
        errors=errors,
    )


@dataclass(frozen=True)
class Marking(BoundMetric):
    """A metric that marks words by a table; it scores minus the penalties."""

    words: Mapping[str, str] = field(default_factory=dict)
    spec: str = "marking"
    by: SpanMarker = "metric"
    name: ClassVar[str] = "marking"
    needs: ClassVar[frozenset[str]] = frozenset()

    @property
    def signature(self) -> Signature:
        """Its spec."""
        return Signature(self.spec)

    def error_spans(self, batch: Batch) -> tuple[ErrorSpan, ...]:
        """Every word of the table, in every output."""
        found = []
        for k, system in enumerate(batch.systems):
            for n in range(batch.shape[1]):
                text = batch.texts[batch.candidates[k, n]]
                found += [
                    ErrorSpan(
                        *(system, n, "candidate", text.index(word), text.index(word) + len(word)),
                        *("", severity, self.spec),
                        confidence=0.9,
                        by=self.by,
                    )
                    for word, severity in self.words.items()
                    if word in text.split()
                ]
        return tuple(found)

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Minus five for every error."""
        scores = np.zeros(batch.shape)
        for one in self.error_spans(batch):
            scores[batch.systems.index(one.system), one.segment] -= 5
        return scores

    def system(self, batch: Batch) -> NDArray[np.float64]:
        """Means."""
        return np.asarray(self.segments(batch).mean(axis=1))
