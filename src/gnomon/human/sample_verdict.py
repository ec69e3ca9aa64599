"""Sentences on a sample for people to judge."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

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


def sample_verdict(finding: Finding) -> Iterator[Message]:
    """State what is judged, by how many people, and when systems may be compared."""
    strata = finding.records(DrawnStratumRow)
    analyses = finding.records(DrawnAnalysisRow)
    drawn, units = sum(row.drawn for row in strata), sum(row.units for row in strata)
    places, unit = finding.positions(strata), strata[0].unit
    design = finding.facts["design"]
    yield message(
        "human.sample.drawn",
        places,
        how="whole" if drawn == units else "stratified" if design == "stratified" else "random",
        drawn=drawn,
        units=units,
        unit=unit,
        strata=[{"stratum": r.stratum, "drawn": r.drawn, "units": r.units} for r in strata],
        chance=strata[0].chance,
        segments=sum(row.segments for row in strata),
        outputs=sum(row.judgements for row in analyses),
    )
    raters = finding.records(DrawnRaterRow)
    apart = [row for row in raters if row.whole < row.documents]
    if apart and len(raters) > 1:
        yield message("human.sample.apart", finding.positions(apart))
    so_far = list(accumulate(row.documents for row in analyses))
    what = "document" if finding.facts["documents"] == "yes" else "segment"
    if len(analyses) > 1:
        yield message(
            "human.sample.analyses",
            finding.positions(analyses),
            analyses=len(analyses),
            after=so_far,
            unit=what,
        )
    enough = LEAST_DOCUMENTS if what == "document" else LEAST_SEGMENTS
    if so_far[-1] < enough:
        yield message("data.few", places, of=[], n=so_far[-1], unit=what, least=enough)
