"""What meta-evaluation measures: the options, and the judging that they ask for."""

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
from gnomon.agreement.significance import Testing
from gnomon.core.options import Absent, By, Group, Limits, Metavar, Rare
from gnomon.messages import message
from gnomon.metaeval.agreement_checks import shared_task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.agreement.measures import Preset
    from gnomon.agreement.significance import Test
    from gnomon.core.options import DrawOptions, Unit
    from gnomon.messages import Message

__all__ = ["Measured"]

_MEASURED = Group("what is measured")


@dataclass(frozen=True)
class Measured:
    """Statistics of agreement, and over which systems and segments they are taken.

    Attributes:
        preset: that shared task's measures (at these levels) and tests, in place of statistics and
            groupings; "outliers": system level without outlying systems, too (by the median
            absolute deviation of human scores, see :func:`gnomon.stats.outliers`).
        levels: "system", "segment", or both.
        statistics: statistics of agreement; by default those usual at each level, as far as the
            human scores allow them.
        groupings: at segment level, all scores together ("none"), by segment ("item") or by
            system; by default as is usual for each statistic.
        by: slices, too: by "document", "domain", "length" or a label of the test set; each is
            judged alone, and system scores are those of its segments.
        top: system level over the best systems by human score alone, too: a number, or a share
            ("30%", rounded down).
        darr_threshold: DaRR from scores that differ by at least this much (25 on a scale of 0 to
            100), where there are no rankings; by default from rankings alone.
    """

    preset: Annotated[PresetName | None, Absent(NO_PRESET), _MEASURED] = None
    levels: Annotated[Sequence[Level], _MEASURED] = LEVELS
    statistics: Annotated[Sequence[StatisticName] | None, _MEASURED] = None
    groupings: Annotated[Sequence[Grouping] | None, _MEASURED, Rare()] = None
    by: Annotated[By, _MEASURED] = None
    top: Annotated[Sequence[int | str], Metavar("K"), _MEASURED, Rare()] = ()
    darr_threshold: Annotated[float | None, Limits(0), Metavar("X"), _MEASURED, Rare()] = None

    @property
    def shared_task(self) -> Preset | None:
        """The measures and formulas of a shared task; None where the usual ones are taken."""
        return shared_task(self.preset)

    def judging(self, test: Test, unit: Unit, draws: DrawOptions) -> Judging:
        """The measures, and how differences are tested."""
        chosen = self.shared_task
        rules = stats.rules(None if chosen is None else self.preset)
        return Judging(
            measures=measures(self.levels, self.statistics, self.groupings, chosen),
            testing=Testing(
                test=test,
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
            unit=unit,
        )

    def notices(self) -> Sequence[Message]:
        """The formulas of a shared task."""
        name = self.preset
        return [message("note.metaeval.preset", preset=name, says=name)] if self.shared_task else []
