"""Segments with the largest influence on a difference, for the reader."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gnomon.comparison import distributions
from gnomon.comparison.paired_tests import Decider
from gnomon.comparison.rows import DecidingSegmentRow
from gnomon.core.findings import Exhibit, ExhibitText, Highlight

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from gnomon.comparison.paired_tests import (
        PairedScores,
    )
    from gnomon.core.batch import Batch
    from gnomon.core.testset import TestSet
    from gnomon.metrics.tokenise import TokenTable

#: segments whose outputs are shorter are shown behind all others
_FEWEST_WORDS = 5


@dataclass(frozen=True)
class DecidingSegments:
    """Makes exhibits of one test set."""

    testset: TestSet  # its systems are those compared
    batch: Batch
    tokens: TokenTable  # of its texts

    def shown_last(self, paired: PairedScores) -> NDArray[np.bool_]:
        """Segments of a few words, or with the outputs of an earlier one, bool [K, N]."""
        places = [self.batch.systems.index(name) for name in paired.systems]
        outputs = self.batch.candidates[places]
        words = self.tokens.lengths[outputs]
        again = np.ones(outputs.shape, dtype=np.bool_)
        for own, ids in zip(again, outputs, strict=True):
            pairs = np.stack([ids, outputs[0]])
            own[np.unique(pairs, axis=1, return_index=True)[1]] = False
        last: NDArray[np.bool_] = again | (np.maximum(words, words[0]) < _FEWEST_WORDS)
        return last

    def row(self, paired: PairedScores, decider: Decider, influence: float) -> DecidingSegmentRow:
        """The row of a segment."""
        scores = paired.segments[[decider.system, 0], decider.segment].tolist()
        document, domain = self._document_and_domain(decider.segment)
        return DecidingSegmentRow(
            system=paired.systems[decider.system],
            baseline=paired.systems[0],
            metric=paired.metric,
            side=paired.systems[decider.system if decider.better else 0],
            rank=decider.rank,
            segment=decider.segment + 1,
            difference=scores[0] - scores[1],
            score=scores[0],
            baseline_score=scores[1],
            influence=influence,
            document=document,
            domain=domain,
        )

    def find_in_bins(
        self,
        paired: PairedScores,
        added: NDArray[np.float64],
        last: NDArray[np.bool_],
        most: int,
    ) -> Iterator[Exhibit]:
        """The segments of each bin of the histogram with the largest influence."""
        bins, gains = distributions.Bins.build(paired), paired.gains()
        order = np.lexsort((-np.abs(added[1]), last[1]))
        places = bins.places[1, order]
        for place in np.unique(places[~np.isnan(places)]).tolist():
            for rank, segment in enumerate(order[places == place][:most].tolist(), start=1):
                decider = Decider(1, bool(gains[1, segment] > 0), rank, segment)
                shown = self.exhibit(paired, decider, float(added[1, segment]))
                yield replace(shown, kind=bins.name(place))

    def exhibit(self, paired: PairedScores, decider: Decider, influence: float) -> Exhibit:
        """Source, references, the system's output and the baseline's."""
        system, baseline = paired.systems[decider.system], paired.systems[0]
        scores = paired.segments[[decider.system, 0], decider.segment].tolist()
        side = "better" if decider.better else "worse"
        document, domain = self._document_and_domain(decider.segment)
        return Exhibit(
            group=paired.metric,
            kind=f"{side} than {baseline}",
            segment=decider.segment + 1,
            texts=tuple(self._texts(paired, decider, scores)),
            systems=(system,),
            document=document,
            domain=domain,
            weight=abs(influence),
            caption=f"{system} {scores[0]:.2f}, {baseline} {scores[1]:.2f}",
        )

    def _document_and_domain(self, segment: int) -> tuple[str | None, str | None]:
        document, domain = (
            None if names is None else names[segment]
            for names in (self.testset.documents, self.testset.domains)
        )
        return document, domain

    def _texts(
        self, paired: PairedScores, decider: Decider, scores: list[float]
    ) -> Iterator[ExhibitText]:
        texts = self.batch.texts
        if self.testset.sources is not None:
            yield ExhibitText("source", "", self.testset.sources[decider.segment])
        names = [paired.systems[k] for k in (decider.system, 0)]
        places = [self.batch.systems.index(name) for name in names]
        output, other = self.batch.candidates[places, decider.segment].tolist()
        references = self.batch.references[decider.segment].tolist()
        columns = self.testset.references.items()
        present = [name for name, column in columns if column[decider.segment] is not None]
        for name, text in zip(present, references, strict=True):
            yield ExhibitText("reference", name, texts[text])
        marks = self._marks(output, other, references)
        for k, text, score in zip((decider.system, 0), (output, other), scores, strict=True):
            name, said = paired.systems[k], paired.remarks.get((k, decider.segment), {})
            values: dict[str, float | str | None] = {paired.metric: score, **said}
            yield ExhibitText("candidate", name, texts[text], marks[k == 0], values)

    def _marks(
        self, output: int, other: int, references: list[int]
    ) -> tuple[tuple[Highlight, ...], tuple[Highlight, ...]]:
        """The words that only one of two outputs shares with the references."""
        table = self.tokens
        matches = [_count_matches(table, text, references) for text in (output, other)]
        return (
            _highlights(table, output, matches[0] - matches[1]),
            _highlights(table, other, matches[1] - matches[0]),
        )


def _count_matches(table: TokenTable, text: int, references: list[int]) -> Counter[str]:
    referred: Counter[str] = Counter()
    for reference in references:
        referred |= Counter(table.strings(reference))
    return Counter(table.strings(text)) & referred


def _highlights(table: TokenTable, text: int, only: Mapping[str, int]) -> tuple[Highlight, ...]:
    """Marks on every occurrence of these words: which of several is meant cannot be known."""
    spans = zip(table.strings(text), table.spans(text), strict=True)
    return tuple(
        Highlight(start, end, "right only here")
        for word, (start, end) in spans
        if word in only and 0 <= start < end
    )
