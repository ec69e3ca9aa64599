"""What was drawn for people to judge, in sentences."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from gnomon.core.verdicts import Claim, counted, listed
from gnomon.methods.human.campaign import LEAST_SEGMENTS
from gnomon.methods.human.sample_rows import (
    DrawnAnalysisRow,
    DrawnRaterRow,
    DrawnStratumRow,
)
from gnomon.stats.jackknife import LEAST_DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.findings import Finding, Statement

_COUNTS = "counts of the draw"
RANDOM = Claim(
    "human.sample.random",
    "{drawn} of {units} are drawn at random, each with the same chance ({chance:.3g}): {segments},"
    " {judgements} to judge",
    "undecided",
    _COUNTS,
)
WHOLE = Claim(
    "human.sample.whole",
    "All {units} are judged, so that nothing is drawn: {segments}, {judgements} to judge",
    "undecided",
    _COUNTS,
)
STRATA = Claim(
    "human.sample.strata",
    "{drawn} of {units} are drawn at random within {strata}: {segments}, {judgements} to judge",
    "undecided",
    f"{_COUNTS}, stratum by stratum",
)
APART = Claim(
    "human.sample.apart",
    "outputs of one document go to different people, so differences between systems hold"
    " differences between people, too; one person for all systems of a document (same_rater)"
    " avoids that",
    "caution",
    "documents of which nobody judges all systems",
)
INTERIM = Claim(
    "human.sample.analyses",
    "{analyses} analyses are planned, after {documents} {units}: systems may be compared at these,"
    " and at no other time",
    "undecided",
    "the documents of each analysis",
)
FEW = Claim(
    "human.sample.few",
    "{drawn} are too few for an interval, which takes {least} {units} or more",
    "caution",
    f"fewer than {LEAST_DOCUMENTS} documents, or fewer segments than an interval takes",
)
CLAIMS = (RANDOM, WHOLE, STRATA, APART, INTERIM, FEW)


def sample_verdict(finding: Finding) -> Iterator[Statement]:
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
        yield WHOLE.said(places, **parts)
    elif finding.facts["design"] == "stratified":
        named = [f"{row.stratum} ({row.drawn} of {row.units})" for row in strata]
        yield STRATA.said(places, strata=listed(named), **parts)
    else:
        yield RANDOM.said(places, chance=strata[0].chance, **parts)
    raters = finding.records(DrawnRaterRow)
    apart = [row for row in raters if row.whole < row.documents]
    if apart and len(raters) > 1:
        yield APART.said(finding.positions(apart))
    so_far = list(accumulate(row.documents for row in analyses))
    what = "document" if finding.facts["documents"] == "yes" else "segment"
    if len(analyses) > 1:
        after = listed([f"{number:,}" for number in so_far], most=len(analyses))
        yield INTERIM.said(
            finding.positions(analyses), analyses=len(analyses), documents=after, units=f"{what}s"
        )
    enough = LEAST_DOCUMENTS if what == "document" else LEAST_SEGMENTS
    if so_far[-1] < enough:
        yield FEW.said(places, drawn=counted(so_far[-1], what), least=enough, units=f"{what}s")
