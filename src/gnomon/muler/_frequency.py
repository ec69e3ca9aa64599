"""How often a system uses a feature, and in how many forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gnomon.batch import Batch
    from gnomon.spans import SpanTable

__all__ = ["Usage", "usage"]


@dataclass(frozen=True)
class Usage:
    """A feature in the output of one system.

    Attributes:
        occurrences: number of its spans.
        forms: number of different strings among them, case kept.
        words: number of white-space words of the whole output.
    """

    occurrences: int
    forms: int
    words: int

    @property
    def per_hundred_words(self) -> float | None:
        """Occurrences per hundred words; ``None`` of an empty output."""
        return 100 * self.occurrences / self.words if self.words else None

    @property
    def uniqueness(self) -> float | None:
        """Distinct forms per occurrence, in (0, 1]; ``None`` without occurrences."""
        return self.forms / self.occurrences if self.occurrences else None


def usage(batch: Batch, spans: SpanTable, feature: int, system: int) -> Usage:
    """Count a feature in all segments of one system; a text that recurs counts each time."""
    times = np.bincount(batch.candidates[system], minlength=len(batch.texts))
    rows = np.flatnonzero((spans.feature == feature) & (times[spans.text] > 0))
    columns = (spans.text[rows].tolist(), spans.start[rows].tolist(), spans.end[rows].tolist())
    forms = {batch.texts[text][start:end] for text, start, end in zip(*columns, strict=True)}
    words = sum(len(batch.texts[t].split()) for t in batch.candidates[system].tolist())
    return Usage(int(times[spans.text[rows]].sum()), len(forms), words)
