"""What was drawn for people to judge, in sentences."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from gnomon.core.verdicts import counted, listed
from gnomon.human.campaign import LEAST_SEGMENTS
from gnomon.human.sample_rows import (
    DrawnAnalysisRow,
    DrawnRaterRow,
    DrawnStratumRow,
)
from gnomon.messages import message
from gnomon.stats.jackknife import LEAST_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

_COUNTS = "counts of the draw"


def sample_verdict(finding: Finding) -> Iterator[Message]:
    """What is judged, by how many people, and when systems may be compared."""
    strata = finding.records(DrawnStratumRow)
    analyses = finding.records(DrawnAnalysisRow)
    unit = strata[0].unit
    drawn = sum(row.drawn for row in strata)
    parts: dict[str, Any] = {
        "drawn": f"{drawn:,}",
        "units": counted(sum(row.units for row in strata), unit),
        "segments": counted(sum(row.segments for row in strata)),
        "judgements": counted(sum(row.judgements for row in analyses), "output"),
    }
    places = finding.positions(strata)
    if drawn == sum(row.units for row in strata):
        yield message("human.sample.whole", places, **parts)
    elif finding.facts["design"] == "stratified":
        named = [f"{row.stratum} ({row.drawn} of {row.units})" for row in strata]
        yield message("human.sample.strata", places, strata=listed(named), **parts)
    else:
        yield message("human.sample.random", places, chance=strata[0].chance, **parts)
    raters = finding.records(DrawnRaterRow)
    apart = [row for row in raters if row.whole < row.documents]
    if apart and len(raters) > 1:
        yield message("human.sample.apart", finding.positions(apart))
    so_far = list(accumulate(row.documents for row in analyses))
    what = "document" if finding.facts["documents"] == "yes" else "segment"
    if len(analyses) > 1:
        after = listed([f"{number:,}" for number in so_far], most=len(analyses))
        yield message(
            "human.sample.analyses",
            finding.positions(analyses),
            analyses=len(analyses),
            documents=after,
            units=f"{what}s",
        )
    enough = LEAST_DOCUMENTS if what == "document" else LEAST_SEGMENTS
    if so_far[-1] < enough:
        yield message(
            "human.sample.few",
            places,
            drawn=counted(so_far[-1], what),
            least=enough,
            units=f"{what}s",
        )
