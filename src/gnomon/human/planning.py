"""Plans of campaigns: the documents, segments and judgements that a difference takes."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, get_args

from gnomon.core.errors import UsageError
from gnomon.core.findings import Finding, Listing
from gnomon.core.options import (
    Flags,
    InputFile,
    Limits,
    Metavar,
    expand_fields,
)
from gnomon.core.records import table
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem
from gnomon.data.formats import Human, add_judgements
from gnomon.human.analyses import PlannedTests
from gnomon.human.campaign import campaigns
from gnomon.human.plan_rows import (
    BASIS,
    PLAN,
    ROWS,
    BasisRow,
    Design,
    PlannedRow,
)
from gnomon.human.plan_verdict import plan_verdict
from gnomon.human.protocols import Pilot, ProtocolName, pilot_of, pilot_of_protocol
from gnomon.messages.audiences import Named, Words, flag
from gnomon.stats.interim import stopping
from gnomon.stats.power import detectable, needed_units

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.findings import View
    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline

_EXAMPLES = """\
examples:
  gnomon human plan --difference 2 --protocol esa
  gnomon human plan --difference 2 3 5 --from wmt24/en-cs --human esa.csv
  gnomon human plan --difference 2 --protocol esa --systems 5 --interim-analyses 5 --same-rater
"""


def check_plan(_outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`plan` that fit each alone."""
    given = [options.campaign is not None, options.protocol is not None]
    if all(given) or not any(given):
        said: tuple[Words, ...] = (
            "name what the plan rests on: a campaign (",
            Named("--from DIR", "campaign="),
            ") or a protocol (",
            Named("--protocol", ", ".join(get_args(ProtocolName))),
            "), not both" if all(given) else ")",
        )
        yield Problem("protocol", UsageError(said))
    if not options.difference:
        said = (
            "name the smallest difference that would matter to you (",
            flag("difference", "2", ""),
            ")",
        )
        yield Problem("difference", UsageError(said))


@method(
    "human.plan",
    purpose="compute how many documents, segments and judgements a difference takes",
    title="How large a campaign has to be",
    data=(),
    given="nothing",
    examples=_EXAMPLES,
    rows=ROWS,
    human=True,
    systems=False,
    verdict=plan_verdict,
    check=check_plan,
)
@expand_fields(campaign_tests=PlannedTests)
def plan(
    campaign: Annotated[
        TestSet | str | os.PathLike[str] | None,
        InputFile(),
        Flags(("--from",), alone=True),
        Metavar("DIR"),
    ] = None,
    *,
    difference: Annotated[Sequence[float], Limits(1e-6, 1e9, "above 0"), Metavar("POINTS")] = (),
    human: Human = (),
    protocol: ProtocolName | None = None,
    campaign_tests: PlannedTests,
) -> Finding:
    """Size of a campaign that finds a difference as often as wanted.

    The variance of a mean difference is that of segments (sd^2) times the design effect of judging
    documents as wholes; both are medians over the pairs of a campaign. Power is that of Student's
    t (noncentral) with the degrees of freedom of documents as uneven as there.

    Args:
        campaign: a judged test set, or its folder, from which variances are estimated.
        difference: the smallest difference that matters, in points of the judgements; several for
            several plans.
        human: kinds of judgements, or files of them; by default all kinds that the campaign has.
        protocol: published variances, in place of a campaign: "esa" (WMT24, two language pairs),
            "mqm" (WMT21) or "da" (WMT17, standardised, single segments).

    Returns:
        A finding whose rows hold ``human, design, difference, power, documents, documents_low,
        documents_high, segments, ..., judgements, expected``; a further table ``basis``
        has the variances.

    Raises:
        DataError: the campaign has fewer than 15 documents or 30 segments, or no judgements.
        UsageError: neither a campaign nor a protocol is named, or both; or no difference.
    """
    pilots = [pilot_of_protocol(protocol)] if protocol else _pilots(campaign, human)
    asked = campaign_tests
    planned = [row for pilot in pilots for row in _plan_rows(pilot, asked, difference)]
    return Finding(
        method="human plan",
        title="How large a campaign has to be",
        tables=(
            table(PLAN, "Size of the campaign", PlannedRow, planned, confidence=asked.confidence),
            table(
                BASIS,
                "What the plan rests on",
                BasisRow,
                [_basis(p, asked, protocol) for p in pilots],
            ),
        ),
        signatures={},
        views=tuple(_views(pilots, planned)),
        facts={
            "as judged in": "; ".join(pilot.name for pilot in pilots),
            "systems": f"{asked.systems}, each with each" if asked.systems > 2 else "2",
            "level": f"{asked.level:.3g}",
            "interim analyses": str(asked.interim_analyses),
            "one rater for all systems": "planned for, too"
            if asked.same_rater
            else "not planned for",
        },
    )


def _pilots(campaign: Any, human: Human) -> list[Pilot]:
    testset = campaign if isinstance(campaign, TestSet) else TestSet.read(campaign)
    testset, kinds = add_judgements(testset, human)
    name = " ".join(filter(None, (testset.name, testset.language_pair)))
    return [pilot_of(each, name) for each in campaigns(testset, kinds)]


def _designs(pilot: Pilot, asked: PlannedTests) -> list[tuple[Design, float]]:
    """The designs that are planned, with the share of the variance that each leaves."""
    designs: list[tuple[Design, float]] = [("as judged", 1.0)]
    if pilot.adjusted is not None:
        designs.append(("raters adjusted", pilot.adjusted))
    if asked.same_rater and pilot.same_rater is not None:
        designs.append(("one rater for all systems", pilot.same_rater))
    return designs


def _plan_rows(
    pilot: Pilot, asked: PlannedTests, differences: Sequence[float]
) -> Iterator[PlannedRow]:
    length = pilot.length or 1.0
    for difference in differences:
        for design, share in _designs(pilot, asked):
            sizes = [
                needed_units(
                    difference,
                    math.sqrt(variance * share / length),
                    power=asked.power,
                    alpha=asked.level,
                    df=lambda units: pilot.evenness * units - 1,
                )
                for variance in (pilot.variance, *pilot.ends(pilot.variance, asked.confidence))
            ]
            units, low, high = sizes
            segments = [None if n is None else round(n * length) for n in sizes]
            z = difference / math.sqrt(pilot.variance * share / (segments[0] or 1))
            yield PlannedRow(
                human=pilot.human,
                design=design,
                difference=difference,
                power=asked.power,
                documents=units if pilot.length else None,
                segments=segments[0],
                judgements=None if segments[0] is None else segments[0] * asked.systems,
                expected=_compute_expected(asked, z) if asked.interim_analyses > 1 else None,
                intervals={
                    "documents": (low, high) if pilot.length else (None, None),
                    "segments": (segments[1], segments[2]),
                },
            )


def _compute_expected(asked: PlannedTests, z: float) -> float:
    """The share of the judgements that is made on average."""
    stops = stopping(asked.interim_analyses, z, asked.alpha)
    at = sum(float(chance) * k / asked.interim_analyses for k, chance in enumerate(stops, start=1))
    return at + 1 - float(stops.sum())


def _basis(pilot: Pilot, asked: PlannedTests, protocol: str | None) -> BasisRow:
    """The variances of a campaign, and the differences that it finds as often as wanted itself."""

    def shown(share: float | None) -> float | None:
        if share is None or protocol is not None:
            return None  # several campaigns are none that finds anything
        error = math.sqrt(pilot.variance * share / pilot.segments)
        return detectable(error, pilot.df, power=asked.power, alpha=asked.level)

    return BasisRow(
        human=pilot.human,
        source=pilot.name,
        sd=pilot.sd,
        design_effect=pilot.design_effect,
        documents=pilot.documents or None,
        segments=pilot.segments,
        length=pilot.length,
        evenness=pilot.evenness,
        shown=shown(1.0),
        shown_adjusted=shown(pilot.adjusted),
        saved_adjusted=None if pilot.adjusted is None else 1 - pilot.adjusted,
        each=pilot.each,
        saved_same_rater=None if pilot.same_rater is None else 1 - pilot.same_rater,
    )


def _views(pilots: Sequence[Pilot], planned: Sequence[PlannedRow]) -> Iterator[View]:
    columns: tuple[str, ...] = ("difference", "design", "documents", "segments", "judgements")
    if any(row.expected is not None for row in planned):
        columns += ("expected",)
    for pilot in pilots:
        where = {"human": pilot.human}
        of = f" ({pilot.human})" if len(pilots) > 1 else ""
        yield Listing(PLAN, f"Size of the campaign{of}", columns, where=where)
