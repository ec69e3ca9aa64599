"""Small test sets of systems that get worse, with human scores, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gnomon import TestSet
from gnomon.core.human import HumanScores

if TYPE_CHECKING:
    from gnomon.core.findings import Finding

WORDS = [
    "the",
    "a",
    "dog",
    "cat",
    "house",
    "mat",
    "sat",
    "on",
    "barked",
    "quietly",
    "yesterday",
    "outside",
    "garden",
    "river",
]


def sentences(count: int, seed: int = 1) -> list[str]:
    """Sentences of 5 to 9 words and a full stop."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(5, 10, size=count)
    return [" ".join([*rng.choice(WORDS, size=size), "."]) for size in sizes.tolist()]


def spoiled(references: Sequence[str], share: float, seed: int) -> list[str]:
    """The same sentences with a share of the words replaced."""
    rng = np.random.default_rng(seed)
    found = []
    for text in references:
        words = text.split()
        for place in range(len(words) - 1):
            if rng.random() < share:
                words[place] = str(rng.choice(WORDS))
        found.append(" ".join(words))
    return found


def judged(
    testset: TestSet, scores: Mapping[str, float], kind: str = "da", level: str = "system"
) -> TestSet:
    """The test set with human scores of systems."""
    values = np.array([[score] for score in scores.values()], dtype=np.float64)
    return replace(testset, human=(*testset.human, HumanScores(kind, level, tuple(scores), values)))


def contest(systems: int = 10, segments: int = 30) -> TestSet:
    """Systems s0 (best) to s9, judged so."""
    references = sentences(segments)
    outputs = {f"s{k}": spoiled(references, 0.05 + 0.06 * k, seed=k + 10) for k in range(systems)}
    made = TestSet.from_lists(outputs, references, language_pair="de-en", name="small")
    return judged(made, {name: -float(k) for k, name in enumerate(outputs)})


def rows(found: Finding, table: str, **wanted: object) -> list[dict]:
    """The rows of a table that have some values."""
    own = found.table(table).rows
    return [dict(row) for row in own if all(row[key] == value for key, value in wanted.items())]
