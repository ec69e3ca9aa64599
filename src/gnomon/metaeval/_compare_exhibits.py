"""The texts of the segments that decide: both outputs and the references, side by side."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.findings import Exhibit, ExhibitText, Highlight

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gnomon.batch import Batch
    from gnomon.findings import Cell
    from gnomon.metaeval._compare_figures import Contest
    from gnomon.metaeval._compare_segments import Decider
    from gnomon.metrics.tokenise import TokenTable
    from gnomon.testset import TestSet

__all__ = ["Showcase"]


@dataclass(frozen=True)
class Showcase:
    """Makes exhibits of one test set.

    Attributes:
        testset: for documents, domains and names of references; its systems are those compared,
            the baseline first.
        batch: its texts.
        tokens: their tokens, for what is marked; none for no marks.
    """

    testset: TestSet
    batch: Batch
    tokens: TokenTable | None

    def record(self, contest: Contest, found: Decider, influence: float) -> dict[str, Cell]:
        """The flat record of a segment."""
        scores = contest.segments[[found.system, 0], found.segment].tolist()
        document, domain = self._place(found.segment)
        return {
            "system": contest.systems[found.system],
            "baseline": contest.systems[0],
            "metric": contest.metric,
            "side": contest.systems[found.system if found.better else 0],
            "rank": found.rank,
            "segment": found.segment + 1,
            "difference": scores[0] - scores[1],
            "score": scores[0],
            "baseline_score": scores[1],
            "influence": influence,
            "document": document,
            "domain": domain,
        }

    def exhibit(self, contest: Contest, found: Decider) -> Exhibit:
        """Source, references, the system's output and the baseline's."""
        system, baseline = contest.systems[found.system], contest.systems[0]
        scores = contest.segments[[found.system, 0], found.segment].tolist()
        side = "better" if found.better else "worse"
        document, domain = self._place(found.segment)
        return Exhibit(
            group=contest.metric,
            kind=f"{side} than {baseline}",
            segment=found.segment + 1,
            texts=tuple(self._texts(contest.metric, found, scores)),
            systems=(system,),
            document=document,
            domain=domain,
            weight=abs(scores[0] - scores[1]),
            caption=f"{system} {scores[0]:.2f}, {baseline} {scores[1]:.2f}",
        )

    def _place(self, segment: int) -> tuple[str | None, str | None]:
        document, domain = (
            None if names is None else names[segment]
            for names in (self.testset.documents, self.testset.domains)
        )
        return document, domain

    def _texts(self, metric: str, found: Decider, scores: list[float]) -> Iterator[ExhibitText]:
        texts = self.batch.texts
        if self.testset.sources is not None:
            yield ExhibitText("source", "", self.testset.sources[found.segment])
        own, other = self.batch.candidates[[found.system, 0], found.segment].tolist()
        references = self.batch.references[found.segment].tolist()
        columns = self.testset.references.items()
        names = [name for name, column in columns if column[found.segment] is not None]
        for name, text in zip(names, references, strict=True):
            yield ExhibitText("reference", name, texts[text])
        marks = self._marks(own, other, references)
        for k, text, score in zip((found.system, 0), (own, other), scores, strict=True):
            name, values = self.batch.systems[k], {metric: score}
            yield ExhibitText("candidate", name, texts[text], marks[k == 0], values)

    def _marks(
        self, own: int, other: int, references: list[int]
    ) -> tuple[tuple[Highlight, ...], tuple[Highlight, ...]]:
        """The words that only one of two outputs shares with the references."""
        table = self.tokens
        if table is None:
            return (), ()
        matches = [_matched(table, text, references) for text in (own, other)]
        return (
            _highlights(table, own, matches[0] - matches[1]),
            _highlights(table, other, matches[1] - matches[0]),
        )


def _matched(table: TokenTable, text: int, references: list[int]) -> Counter[str]:
    held: Counter[str] = Counter()
    for reference in references:
        held |= Counter(table.strings(reference))
    return Counter(table.strings(text)) & held


def _highlights(table: TokenTable, text: int, only: Mapping[str, int]) -> tuple[Highlight, ...]:
    """Marks on every occurrence of these words: which of several is meant cannot be known."""
    spans = zip(table.strings(text), table.spans(text), strict=True)
    return tuple(
        Highlight(start, end, "right only here")
        for word, (start, end) in spans
        if word in only and 0 <= start < end
    )
