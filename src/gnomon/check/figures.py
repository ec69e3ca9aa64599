"""Rates of faults, differences between systems, and costs of faults, as rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.comparison.paired_tests import PairedScores
from gnomon.core.records import SEGMENT, SYSTEM, EndColumns, Record, column
from gnomon.stats import Family, FamilyPair, SystemFamily, family_draws, family_test
from gnomon.stats.binomial import wilson_interval
from gnomon.stats.jackknife import clustering, design_effect, numbered
from gnomon.stats.studentised import influences_of_differences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gnomon.core.scores import Scores
    from gnomon.core.testset import TestSet
    from gnomon.linguistics.faults.floor import FoundFaults

__all__ = [
    "ALL",
    "TRANSLATED",
    "UNTRANSLATED",
    "FaultDifferenceRow",
    "FaultRates",
    "HitRow",
    "RateRow",
    "hit_rows",
]

#: characters of a text that a row shows
_SHOWN = 100
#: a group of kinds, which any of them makes
UNTRANSLATED = "untranslated"
#: segments that systems are compared on
ALL, TRANSLATED = "all", "translated"
#: kinds of other groups that make an output no translation of its source
_NO_TRANSLATION = ("other-segment",)


class RateRow(Record):
    """The rate of a kind of faults in a system, or a reference."""

    system: str = column("System", help="name of the system; references as reference:NAME")
    kind: str = column("Kind", help="of faults; untranslated: any of the kinds of this group")
    hits: int = column("Hits", help="segments that are hit; of kinds as rates with those usual")
    segments: int = column("Segments", help="that the kind may hit")
    share: float | None = column(
        "Share",
        kind="share",
        digits=3,
        better="lower",
        help="of these segments",
        interval=EndColumns(),
    )
    listed: int = column(
        "Listed", help="hits that neither a reference has nor half of the other systems"
    )


class FaultDifferenceRow(Record):
    """A system's difference from the baseline in a kind of faults, or in a metric."""

    system: str = SYSTEM
    baseline: str = column("Baseline", help="the system that it is compared with")
    kind: str = column("Kind", help="of faults, whose shares are compared, or the metric")
    on: str = column("On", help="all: all segments; translated: those that both systems translated")
    segments: int = column("Segments", help="that are compared")
    difference: float | None = column(
        "Difference",
        help="of the shares, or of the scores",
        interval=EndColumns(),
    )
    p: float | None = column("p", digits=4, help="adjusted for all comparisons of a family")
    decided: bool | None = column("decided", help="the interval leaves 0 out")
    higher_is_better: bool = column("Higher is better", help="of the metric; of faults it is not")

    @property
    def gain(self) -> float:
        """The difference, positive where the system is better."""
        return (self.difference or 0.0) * (1 if self.higher_is_better else -1)

    @property
    def gain_ends(self) -> tuple[float | None, float | None]:
        """The ends of its interval."""
        low, high = self.ends("difference")
        if self.higher_is_better or low is None or high is None:
            return low, high
        return -high, -low


class HitRow(Record):
    """A fault of an output."""

    system: str = SYSTEM
    kind: str = column("Kind", help="of the fault")
    segment: int = SEGMENT
    start: int | None = column("Start", help="first character in the output, from 0")
    end: int | None = column("End", help="behind the last one")
    source_start: int | None = column("Source start", help="first character in the source")
    source_end: int | None = column("Source end", help="behind the last one")
    text: str = column("Text", help="what stands there, or the beginning of the output")
    expected: str = column("Expected", help="what a glossary or a rule prescribes there")


@dataclass(frozen=True)
class FaultRates:
    """Hits as shares, and the draws of their segments or documents.

    Attributes:
        testset: that was looked at.
        found: what was found in it.
        unit: "segment", "document" or "auto".
        resamples: of differences.
        confidence: of intervals.
        seed: of draws.
    """

    testset: TestSet
    found: FoundFaults
    unit: str
    resamples: int
    confidence: float
    seed: int

    def documents(self, *values: NDArray[np.float64]) -> NDArray[np.int64] | None:
        """The document of each segment, where some of these [rows, segments] are alike in it."""
        if self.testset.documents is None or self.unit == "segment":
            return None
        which = numbered(self.testset.documents)
        alike = self.unit == "document" or any(
            clustering(rows, which).has_alike_segments for rows in values
        )
        return which if alike else None

    def kinds(self) -> Iterator[tuple[str, NDArray[np.bool_], NDArray[np.bool_]]]:
        """Name, hits [columns, segments] and segments at stake of each kind, and of the group."""
        everywhere = np.ones(self.testset.segments, dtype=bool)
        if any(one.group == UNTRANSLATED for one in self.found.faults):
            yield UNTRANSLATED, self.found.union(UNTRANSLATED), everywhere
        for one in self.found.faults:
            hit = self.found.raw if one.group == "rate" else self.found.counted
            yield one.name, hit[one.name], self.found.at_stake[one.name]

    def rates(self) -> Iterator[RateRow]:
        """The rate of each kind in each system and reference; Wilson's intervals.

        Where documents are independent, segments count for fewer by the design effect.
        """
        for kind, hit, at_stake in self.kinds():
            documents = self.documents(np.where(at_stake, hit, np.nan))
            listed = self.found.counted.get(kind, hit)
            for row, system in enumerate(self.found.texts.columns):
                own = hit[row, at_stake]
                hits, segments = int(own.sum()), len(own)
                effect = 1.0
                if documents is not None and segments:
                    effect = max(1.0, np.nan_to_num(design_effect(own, documents[at_stake])))
                some = round(segments / effect)
                share = hits / segments if segments else math.nan
                interval = wilson_interval(
                    round(share * some) if some else 0, some, level=self.confidence
                )
                yield RateRow(
                    system=system,
                    kind=kind,
                    hits=hits,
                    segments=segments,
                    share=share,
                    listed=int(listed[row, at_stake].sum()),
                    intervals={"share": (interval.low, interval.high)},
                )

    def differences(self, baseline: str) -> Iterator[FaultDifferenceRow]:
        """Shares of each system beside those of the baseline, one family over all kinds."""
        systems = list(self.testset.systems)
        first = systems.index(baseline)
        others = [k for k in range(len(systems)) if k != first]
        values, pairs, labels = [], [], []
        for number, (kind, hit, at_stake) in enumerate(self.kinds()):
            values.append(np.where(at_stake, hit[: len(systems)], np.nan))
            for k in others:
                pairs.append(FamilyPair(number * len(systems) + k, number * len(systems) + first))
                labels.append((systems[k], kind, int(at_stake.sum())))
        if not pairs or not self.resamples:
            return
        documents = self.documents(*(rows[others] - rows[first] for rows in values))
        family = SystemFamily.from_statistics(
            np.concatenate(values), pairs, documents=documents, seed=self.seed
        )
        for row, (system, kind, segments) in zip(_test_family(family, self), labels, strict=True):
            low, high = row["intervals"]["difference"]
            row["intervals"] = {"difference": (max(low, -1.0), min(high, 1.0))}  # of shares
            yield FaultDifferenceRow(
                system=system,
                baseline=baseline,
                kind=kind,
                on=ALL,
                segments=segments,
                higher_is_better=False,
                **row,
            )

    def costs(self, scores: Scores, baseline: str) -> Iterator[FaultDifferenceRow]:
        """Scores of systems that lack translations beside the baseline's, with these and without.

        The condition is that both translated; systems that translated all are left out.
        """
        systems = list(self.testset.systems)
        paired = PairedScores.select(scores, systems)
        lost = self.lost()
        first = systems.index(baseline)
        pairs, parts, labels = [], [np.ones(self.testset.segments, dtype=bool)], []
        for k, system in enumerate(systems):
            both = ~(lost[k] | lost[first])
            if k == first or both.all() or not both.any():
                continue
            parts.append(both)
            pairs += [FamilyPair(k, first), FamilyPair(k, first, len(parts) - 1)]
            labels += [(system, ALL, len(both)), (system, TRANSLATED, int(both.sum()))]
        if not pairs or not self.resamples:
            return
        order = [first, *(k for k in range(len(systems)) if k != first)]
        added = influences_of_differences(paired.values[order], paired.aggregate)
        kept = np.where(lost[order[1:]] | lost[first], np.nan, added)
        family = SystemFamily.from_statistics(
            paired.values,
            pairs,
            aggregate=paired.aggregate,
            documents=self.documents(added, kept),
            parts=parts,
            seed=self.seed,
        )
        for row, (system, on, segments) in zip(_test_family(family, self), labels, strict=True):
            yield FaultDifferenceRow(
                system=system,
                baseline=baseline,
                kind=scores.metric,
                on=on,
                segments=segments,
                higher_is_better=scores.higher_is_better,
                **row,
            )

    def lost(self) -> NDArray[np.bool_]:
        """Outputs that are no translation of their source, bool [systems, segments]."""
        lost = self.found.union(UNTRANSLATED)
        for kind in _NO_TRANSLATION:
            lost = lost | self.found.counted.get(kind, False)
        return lost[: len(self.testset.systems)]


def _test_family(family: SystemFamily, rates: FaultRates) -> Iterator[dict[str, Any]]:
    """Yield the results of a family of comparisons, as cells of rows."""
    draws = family.draws(family_draws(len(family.pairs), rates.resamples))
    tested: Family = family_test(family.comparisons, draws.resampled, confidence=rates.confidence)
    for k in range(len(family.pairs)):
        yield {
            "difference": float(family.comparisons.estimates[k]),
            "intervals": {"difference": (float(tested.low[k]), float(tested.high[k]))},
            "p": float(tested.p[k]),
            "decided": tested.decided[k],
        }


def hit_rows(found: FoundFaults) -> Iterator[HitRow]:
    """The hits that count, of systems; kinds as rates are not listed as errors."""
    for fault, hit in found.hits():
        if hit.column in found.texts.systems:
            text = found.texts.systems[hit.column][hit.segment]
            places = (hit.start, hit.end, hit.source_start, hit.source_end)
            start, end, source_start, source_end = (None if at < 0 else at for at in places)
            shown = text[start:end] if start is not None else text
            source = (found.texts.sources or [""] * found.texts.segments)[hit.segment]
            if start is None and source_start is not None:
                shown = source[source_start:source_end]
            yield HitRow(
                system=hit.column,
                kind=fault.name,
                segment=hit.segment + 1,
                start=start,
                end=end,
                source_start=source_start,
                source_end=source_end,
                text=shown[:_SHOWN],
                expected=" | ".join(map(str, hit.params.get("expected", ()))),
            )
