"""Measures of a meta-evaluation: the options, and the judging that they ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from gnomon import stats
from gnomon.agreement.judging import Judging
from gnomon.agreement.measures import (
    LEVELS,
    NO_PRESET,
    Grouping,
    Level,
    PresetName,
    StatisticName,
    measures,
)
from gnomon.agreement.significance import Test, Testing
from gnomon.core.options import Absent, By, Group, Limits, Metavar, NotInStudies, Rare, Unit
from gnomon.messages import message
from gnomon.metaeval.agreement_checks import shared_task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.agreement.measures import Preset
    from gnomon.core.options import DrawOptions
    from gnomon.messages import Message

__all__ = ["HumanSide", "Measured"]

_MEASURED = Group("what is measured")
_SCORES = Group("scores of metrics and of people")
_TESTS = Group("intervals and tests")


@dataclass(frozen=True)
class HumanSide:
    """Objects of human scores, and the metrics that they may judge.

    Attributes:
        human_format: the format of the files of human scores, if they do not tell.
        human_systems: also judge human translations.
        reference_systems: references that people judged, by name: each is taken from the references
            and judged as a system; metrics score all systems with the references that are left.
        allow_circular: judge metrics even by human scores that went into them (difficulty whose
            pool these chose); otherwise that is refused.
    """

    human_format: Annotated[str | None, Metavar("NAME"), _SCORES, Rare(), NotInStudies()] = None
    human_systems: Annotated[bool, _SCORES, Rare()] = False
    reference_systems: Annotated[Sequence[str], Metavar("NAME"), _SCORES, Rare()] = ()
    allow_circular: Annotated[bool, _SCORES, Rare()] = False


@dataclass(frozen=True)
class Measured:
    """Statistics of agreement, and over which systems and segments they are taken.

    Attributes:
        preset: the statistics, groupings and tests of that WMT metrics task, in place of those
            chosen below; "outliers": system level also without systems that are outliers by the
            median absolute deviation of human scores (see :func:`gnomon.stats.outliers`).
        levels: "system", "segment", or both.
        statistics: statistics of agreement; by default those usual at each level, as far as the
            human scores allow them.
        groupings: at segment level, all scores together ("none"), by segment ("item") or by
            system; by default as is usual for each statistic.
        by: also slices by "document", "domain", "length" or a label of the test set; each is judged
            alone, and system scores are those of its segments.
        top: system level also over the best systems by human score alone: a number, or a share
            ("30%", rounded down).
        darr_threshold: DaRR from scores that differ by at least this much (25 on a scale of 0 to
            100), where there are no rankings; by default from rankings alone.
        test: "auto": Williams's test for system-level Pearson, bootstrap for soft pairwise
            accuracy, a jackknife over documents at segment level where documents are known, else
            bootstrap for DaRR and permutation for the rest. A named test leaves statistics without
            p-values for which it does not exist, and takes segments as independent.
        unit: the independent unit at segment level: "segment", "document", or "auto": documents
            where they are known and no test is named. At system level systems are independent.
    """

    preset: Annotated[PresetName | None, Absent(NO_PRESET), _MEASURED] = None
    levels: Annotated[Sequence[Level], _MEASURED] = LEVELS
    statistics: Annotated[Sequence[StatisticName] | None, _MEASURED] = None
    groupings: Annotated[Sequence[Grouping] | None, _MEASURED, Rare()] = None
    by: Annotated[By, _MEASURED] = None
    top: Annotated[Sequence[int | str], Metavar("K"), _MEASURED, Rare()] = ()
    darr_threshold: Annotated[float | None, Limits(0), Metavar("X"), _MEASURED, Rare()] = None
    test: Annotated[Test, _TESTS] = "auto"
    unit: Annotated[Unit, _TESTS, Rare()] = "auto"

    @property
    def shared_task(self) -> Preset | None:
        """The measures and formulas of a shared task; None where the usual ones are taken."""
        return shared_task(self.preset)

    def judging(self, draws: DrawOptions) -> Judging:
        """The measures, and how differences are tested."""
        chosen = self.shared_task
        rules = stats.rules(None if chosen is None else self.preset)
        return Judging(
            measures=measures(self.levels, self.statistics, self.groupings, chosen),
            testing=Testing(
                test=self.test,
                resamples=draws.resamples,
                seed=draws.seed,
                confidence=draws.confidence,
                plus_one=rules.plus_one,
                early_stopping=rules.early_stopping,
                williams=chosen is None or chosen.williams,
                cells=chosen is not None,
            ),
            top=tuple(dict.fromkeys(map(str, self.top))),
            inliers=self.preset == "outliers",
            threshold=self.darr_threshold,
            spa_seed=rules.spa_seed if chosen else draws.seed,
            named=bool(chosen or self.statistics or self.groupings),
            unit=self.unit,
        )

    def notices(self) -> Sequence[Message]:
        """The formulas of a shared task."""
        name = self.preset
        return [message("note.metaeval.preset", preset=name, says=name)] if self.shared_task else []
