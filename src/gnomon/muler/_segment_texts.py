"""The texts of a segment as exhibits show them: source, references and outputs, words marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.findings import ExhibitText, Highlight

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from gnomon.batch import Batch
    from gnomon.spans import SpanTable
    from gnomon.testset import TestSet

    Values = Mapping[str, float | None]

__all__ = ["SegmentTexts"]


@dataclass(frozen=True)
class SegmentTexts:
    """Makes the texts of exhibits of one test set.

    Attributes:
        testset: for sources, documents, domains and the names of references.
        batch: its texts.
        spans: what may be marked; ``None``: nothing.
        feature: whose spans are marked; none if empty.
    """

    testset: TestSet
    batch: Batch
    spans: SpanTable | None = None
    feature: str = ""

    def place(self, segment: int) -> dict[str, str | None]:
        """Document and domain of a segment, by the names that exhibits have for them."""
        labels = {"document": self.testset.documents, "domain": self.testset.domains}
        return {name: None if of is None else of[segment] for name, of in labels.items()}

    def given(
        self, segment: int, values: Callable[[int], Values] = lambda _: {}
    ) -> Iterator[ExhibitText]:
        """The source and the references that the segment has.

        Args:
            segment: 0-based.
            values: what is said of a text of the batch.
        """
        if self.testset.sources is not None:
            yield ExhibitText("source", "", self.testset.sources[segment])
        texts = iter(self.batch.references[segment].tolist())
        for name, column in self.testset.references.items():
            if column[segment] is not None:
                text = next(texts)
                marks = self._marks(text)
                yield ExhibitText("reference", name, self.batch.texts[text], marks, values(text))

    def candidate(
        self, segment: int, system: int, values: Values, name: str | None = None
    ) -> ExhibitText:
        """The output of a system.

        Args:
            segment: 0-based.
            system: position of the system.
            values: what is said of it.
            name: shown instead of the system's.
        """
        text = int(self.batch.candidates[system, segment])
        shown = self.batch.systems[system] if name is None else name
        marks = self._marks(text)
        return ExhibitText("candidate", shown, self.batch.texts[text], marks, values)

    def _marks(self, text: int) -> tuple[Highlight, ...]:
        if self.spans is None or not self.feature:
            return ()
        return tuple(
            Highlight(*span, self.feature) for span in self.spans.spans(text, self.feature)
        )
