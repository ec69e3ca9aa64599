"""A blind sheet of outputs to compare, and the key that tells which side is which."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gnomon.findings import Exhibit

__all__ = ["ANSWERS", "QUESTION", "Key", "KeyRow", "Sheet"]

#: what may be answered
ANSWERS = ("A", "B", "tie")
QUESTION = (
    "Which output renders the words of the feature better: A, B, or neither (tie)? Judge these"
    " words alone, against the reference (and the source). Leave open what you cannot tell."
)


@dataclass(frozen=True)
class Sheet:
    """Outputs to compare, two at a time, without the names of their systems.

    Attributes:
        study: what the sheet, its key and its answers have in common.
        items: name of an item -> source, references and two candidates, called A and B; its group
            is the feature to judge.
        question: what is asked of each item.
    """

    study: str
    items: Mapping[str, Exhibit]
    question: str = QUESTION


@dataclass(frozen=True)
class KeyRow:
    """What the sheet does not tell of an item.

    Attributes:
        item: name of the item.
        feature: what was to be judged.
        segment: 1-based segment of the test set.
        a: the system shown as A.
        b: the system shown as B.
        better: the system that MuLER calls better on the feature: the one with the lower MuLER.
        cheaper: the system that the feature costs less in this segment.
        muler_a: MuLER of A's system.
        muler_b: MuLER of B's system.
        cost_a: what the feature costs A in this segment, in the metric's units (max - base).
        cost_b: what it costs B.
        score_a: score of A's system.
        score_b: score of B's system.
    """

    item: str
    feature: str
    segment: int
    a: str
    b: str
    better: str
    cheaper: str
    muler_a: float
    muler_b: float
    cost_a: float
    cost_b: float
    score_a: float
    score_b: float

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """Names of the fields, in order."""
        return tuple(field.name for field in fields(cls))


@dataclass(frozen=True)
class Key:
    """Which side of each item is which.

    Attributes:
        study: the study that it belongs to.
        rows: name of an item -> what the sheet does not tell.
        metric: name of the metric.
        signature: how to make sheet and key again.
    """

    study: str
    rows: Mapping[str, KeyRow]
    metric: str
    signature: str
