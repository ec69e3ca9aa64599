"""Systems compared by people's scores, with documents and raters as sources of variance."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.core.findings import Bars, Finding, HeatMap, Listing
from gnomon.core.options import (
    Baseline,
    Group,
    InputFile,
    Metavar,
    expand_fields,
)
from gnomon.core.records import table
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem
from gnomon.core.verdicts import LEAST
from gnomon.data.formats import Human, add_judgements, read_sample
from gnomon.human.analyses import INTERIM, HumanTests
from gnomon.human.campaign import LEAST_SEGMENTS, Campaign, campaigns
from gnomon.human.estimates import Estimates, JudgedFrame, estimates
from gnomon.human.rows import (
    PAIRS,
    RATERS,
    ROWS,
    SYSTEMS,
    PairVerdict,
    PreferredRow,
    RaterRow,
    SystemScoreRow,
)
from gnomon.human.verdict import compare_verdict
from gnomon.stats import holm, holm_levels
from gnomon.stats.jackknife import LEAST_DOCUMENTS, numbered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.findings import View
    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline
    from gnomon.data.formats import Sample

#: a first analysis at fewer documents calls equal systems different too often
LEAST_FIRST_ANALYSIS = 30
_TESTS = Group("intervals and tests")
_EXAMPLES = """\
examples:
  gnomon human compare -t wmt24/en-cs --human esa.csv
  gnomon human compare -t wmt24/en-cs --human esa.csv --systems Claude-3.5 GPT-4
  gnomon human compare -t wmt24/en-cs --human esa.csv --baseline GPT-4 --raters ignore
  gnomon human compare -t wmt24/en-cs --human esa.csv --interim 2/5
"""


def check_compare(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`compare` that fit each alone."""
    if options.interim is not None:
        planned = INTERIM.fullmatch(options.interim)
        if planned is None or int(planned[1]) > int(planned[2]):
            said = (
                f"interim is {options.interim!r}; which of how many planned analyses is expected,"
                " as in 2/5: an analysis that was not planned makes equal systems look different"
            )
            yield Problem("interim", UsageError(said))
    if outline is None:
        return
    if len(outline.systems) < 2:
        given = f"{outline.systems[0]!r} alone" if outline.systems else "none"
        message = f"a comparison takes two systems or more; test set {outline.name!r} gives {given}"
        yield Problem("", DataError(message))
    if options.baseline is not None and options.baseline not in outline.systems:
        yield Problem("baseline", UnknownNameError("system", options.baseline, outline.systems))
    if options.unit == "document" and not outline.slices.get("document"):
        said = f"the documents of test set {outline.name!r} are not known; leave the unit out"
        yield Problem("unit", DataError(said))


@method(
    "human.compare",
    purpose="compare systems by human scores, and test their differences",
    title="What people say of the systems",
    unread=("domains",),
    examples=_EXAMPLES,
    tables={
        "": "human_pairs",
        SYSTEMS: "human_systems",
        RATERS: "human_raters",
    },
    rows=ROWS,
    human=True,
    judged=True,
    verdict=compare_verdict,
    check=check_compare,
)
@expand_fields(tests=HumanTests)
def compare(
    testset: TestSet,
    *,
    human: Human = (),
    baseline: Baseline = None,
    sample: Annotated[str | os.PathLike[str] | None, InputFile(), Metavar("FILE"), _TESTS] = None,
    tests: HumanTests,
) -> Finding:
    """Which system people prefer, with intervals that hold for other documents and other raters.

    Segments that one person judged together are not independent: a jackknife leaves out one
    document at a time, with Student's t of (sum m)^2 / sum(m^2) - 1 degrees of freedom (m: judged
    segments of a document). Raters who judged several systems are adjusted for: score = system +
    rater, raters shrunk by the variance within a rater over that between raters, fitted again
    without each document.

    Args:
        testset: outputs of two or more systems, and what people said of them.
        human: kinds of judgements ("esa"), or files of them; by default all kinds that there are.
        baseline: the system with which all others are compared; by default all pairs are.
        sample: the file that ``gnomon human sample`` wrote of its draw ("sample.tsv"): each segment
            is weighted by 1 over its probability to be drawn, within strata. Needed where these
            probabilities differ.

    Returns:
        A finding whose rows hold ``human, system, other, difference, low, high, p, p_corrected,
        decided, verdict, by_segment, segments, documents, se, se_segments, design_effect,
        saved``; further tables ``systems`` and ``raters``. ``None`` where undefined.

    Raises:
        DataError: people judged fewer than two systems, raters do not link the systems and are to
            be adjusted for, or documents are asked for and not known.
        UnknownNameError: there is no such kind or system.
        UsageError: an analysis was not planned.
        FormatError: the sample is not of this test set.
    """
    testset, kinds = add_judgements(testset, human)
    plan = _Plan(**vars(tests), baseline=baseline)
    drawn = None if sample is None else _read_draw(testset, kinds, sample, plan)
    segments = None if drawn is None else [row.segment for row in drawn.rows]
    judged = campaigns(testset, kinds, drawn=segments)
    if baseline is not None:
        for campaign in judged:
            if baseline not in campaign.systems:
                raise UnknownNameError(
                    f"system that people ({campaign.kind}) judged", baseline, campaign.systems
                )
    facts = {} if drawn is None else _draw_facts(drawn, judged)
    return _finding(
        testset, [_compare_campaign(campaign, drawn, plan) for campaign in judged], plan, facts
    )


@dataclass(frozen=True)
class _Plan(HumanTests):
    """Options of the comparison beside the data."""

    baseline: str | None = None


@dataclass(frozen=True)
class _ComparedCampaign:
    """One kind of judgements, compared."""

    campaign: Campaign
    frame: JudgedFrame
    found: Estimates
    by_document: bool
    p_corrected: NDArray[np.float64]
    ends: NDArray[np.float64]  # of intervals, each of the level of its own test [2, pairs]
    by_segment: NDArray[np.bool_]  # what would be decided were segments independent
    documents: NDArray[np.int64]  # in which each system was judged [K]
    confounded: NDArray[np.bool_]  # pairs that no rater links, or few do
    enough: NDArray[np.bool_]  # documents and segments of each system for intervals [K]


def _read_draw(
    testset: TestSet, kinds: Sequence[str], path: str | os.PathLike[str], plan: _Plan
) -> Sample:
    """The segments that count at this analysis, each with its chance to be drawn by then."""
    sample = read_sample(path, testset)
    number, of = plan.analyses
    if plan.interim is not None and of != sample.analyses:
        raise UsageError(
            f"the sample {os.fspath(path)} plans {sample.analyses} analyses, and interim"
            f" is {plan.interim!r}: an analysis that was not planned makes equal systems"
            " look different"
        )
    known = {row.segment for row in sample.rows}
    judged = {
        segment
        for human in testset.human
        if human.level == "segment" and human.kind in (kinds or (human.kind,))
        for segment in np.flatnonzero(np.isfinite(human.values).any(axis=0)).tolist()
    }
    if judged - known:
        raise DataError(
            f"{len(judged - known):,} judged segments are not in the sample {os.fspath(path)},"
            f" the first is {min(judged - known) + 1}: nothing says how likely they were to be"
            " drawn; give the sample of this campaign"
        )
    return sample if plan.interim is None else sample.after(number)


def _compare_campaign(campaign: Campaign, drawn: Sample | None, plan: _Plan) -> _ComparedCampaign:
    by_document = plan.unit == "document" or (
        plan.unit == "auto" and campaign.documents is not None
    )
    groups = np.arange(len(campaign.segments))
    if by_document and campaign.documents is not None:
        groups = campaign.documents
    weights, strata = _sample_weights(campaign, drawn)
    of_groups = np.zeros(int(groups.max()) + 1, dtype=np.int64)
    of_groups[groups] = strata
    sizes = np.bincount(of_groups)
    of_groups[sizes[of_groups] == 1] = np.argmax(sizes)  # alone it would seem not to vary
    frame = JudgedFrame(groups, weights, of_groups)
    _refuse_early_analysis(frame, plan)
    adjusted = plan.raters == "adjust" or (plan.raters == "auto" and campaign.tells_leniency)
    if adjusted and not campaign.is_connected:
        raise DataError(
            f"raters cannot be adjusted for ({campaign.kind}): "
            + (
                "no system shares raters with all others, directly or in steps, so that"
                " leniency cannot be separated from quality"
                if campaign.raters
                else "nothing says who judged"
            )
            + "; leave raters out, or have some people judge several systems"
        )
    found = estimates(campaign, frame, adjust=adjusted, confidence=1 - plan.level)
    groups = campaign.linked[found.pairs]
    confounded = groups[:, 0] != groups[:, 1]
    if not adjusted:
        confounded |= campaign.judged_apart(found.pairs)
    confounded &= plan.raters != "ignore"
    judged = ~np.isnan(campaign.cells)
    documents = np.array([len(np.unique(frame.groups[own])) for own in judged])
    enough = (documents >= LEAST_DOCUMENTS) & (judged.sum(axis=1) >= LEAST_SEGMENTS)
    few = ~enough[found.pairs].all(axis=1)
    untested = few | confounded | ~_planned_pairs(found, campaign, plan)
    p = np.where(untested, np.nan, found.final.p)
    by_segment = holm(np.where(untested, np.nan, found.segments.p)) <= plan.level
    return _ComparedCampaign(
        campaign=campaign,
        frame=frame,
        found=found,
        by_document=by_document,
        p_corrected=holm(p),
        ends=found.final.ends(holm_levels(p, plan.level)),
        by_segment=by_segment,
        documents=documents,
        confounded=confounded,
        enough=enough,
    )


def _sample_weights(
    campaign: Campaign, drawn: Sample | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The weight of each judged segment, with mean 1, and its stratum."""
    if drawn is None:
        n = len(campaign.segments)
        return np.ones(n), np.zeros(n, dtype=np.int64)
    rows = {row.segment: row for row in drawn.rows}
    judged = [rows[segment] for segment in campaign.segments.tolist()]
    weights = 1 / np.array([row.inclusion for row in judged])
    return weights / weights.mean(), numbered([row.stratum for row in judged])


def _refuse_early_analysis(frame: JudgedFrame, plan: _Plan) -> None:
    number, of = plan.analyses
    if of > 1 and len(frame.sizes) / number < LEAST_FIRST_ANALYSIS:
        raise DataError(
            f"analysis {number} of {of} at {len(frame.sizes)} documents means a first analysis at"
            f" {len(frame.sizes) // number}; plan the first analysis at {LEAST_FIRST_ANALYSIS}"
            " documents or later: before, equal systems are called different too often"
        )


def _planned_pairs(found: Estimates, campaign: Campaign, plan: _Plan) -> NDArray[np.bool_]:
    """Which pairs are looked at."""
    if plan.baseline is None:
        return np.ones(len(found.pairs), dtype=bool)
    own = campaign.systems.index(plan.baseline)
    return np.asarray((found.pairs == own).any(axis=1))


# The tables


def _draw_facts(drawn: Sample, judged: Sequence[Campaign]) -> dict[str, str]:
    """Facts on what means over the judged segments stand for."""
    chances = [row.inclusion for row in drawn.rows]
    equal = math.isclose(min(chances), max(chances), rel_tol=1e-6)
    how = "equal chances" if equal else "unequal chances"
    lacking = {one.kind: len(drawn.rows) - len(one.segments) for one in judged}
    return {
        "drawn with": how,
        **{f"drawn, not judged ({kind})": f"{n}" for kind, n in lacking.items()},
    }


def _finding(
    testset: TestSet, compared: Sequence[_ComparedCampaign], plan: _Plan, drawn: dict[str, str]
) -> Finding:
    pairs = [row for one in compared for row in _pair_rows(one, plan)]
    systems = [row for one in compared for row in _system_rows(one, plan)]
    raters = [row for one in compared for row in _rater_rows(one)]
    tables = (
        table(PAIRS, "Pairs of systems", PreferredRow, pairs, confidence=plan.confidence),
        table(SYSTEMS, "Systems", SystemScoreRow, systems, confidence=plan.confidence),
        table(RATERS, "People who judged", RaterRow, raters),
    )
    return Finding(
        method="human compare",
        title="What people say of the systems",
        tables=tables,
        signatures={},
        views=tuple(_views(compared, plan)),
        facts=_facts(testset, compared, plan) | drawn,
        notices=tuple(said for one in compared for said in one.campaign.left_out),
    )


def _shown(compared: _ComparedCampaign, plan: _Plan) -> list[tuple[int, int, int]]:
    """The pairs that are shown: number, better system and worse one, or baseline second."""
    found, names = compared.found, compared.campaign.systems
    shown = []
    for number, (a, b) in enumerate(found.pairs.tolist()):
        if plan.baseline is None:
            first = (a, b) if found.final.estimate[number] >= 0 else (b, a)
        elif plan.baseline in (names[a], names[b]):
            first = (a, b) if names[b] == plan.baseline else (b, a)
        else:
            continue
        shown.append((number, *first))
    order = {k: n for n, k in enumerate(np.argsort(-found.systems.estimate).tolist())}
    return sorted(shown, key=lambda pair: (order[pair[1]], order[pair[2]]))


def _pair_rows(compared: _ComparedCampaign, plan: _Plan) -> Iterator[PreferredRow]:
    found, campaign = compared.found, compared.campaign
    final, there, saved = found.final, ~np.isnan(campaign.cells), found.saved
    for number, a, b in _shown(compared, plan):
        sign = 1 if found.pairs[number][0] == a else -1
        p = float(compared.p_corrected[number])
        known = not np.isnan(p)
        ends = sorted((sign * compared.ends[:, number]).tolist()) if known else [np.nan, np.nan]
        difference = sign * float(final.estimate[number])
        enough = bool(compared.enough[[a, b]].all())
        judged = there[a] & there[b] if campaign.complete else there[a] | there[b]
        yield PreferredRow(
            human=campaign.kind,
            system=campaign.systems[a],
            other=campaign.systems[b],
            difference=difference,
            p=float(final.p[number]) if known else None,
            p_corrected=p,
            decided=bool(p <= plan.level and difference) if known else None,
            by_segment=bool(compared.by_segment[number]) if known else None,
            verdict=_verdict(difference, p, plan.level, enough=enough),
            segments=int(judged.sum()),
            documents=int(compared.documents[[a, b]].min()) if compared.by_document else None,
            se=float(final.error[number]),
            se_segments=float(found.segments.error[number]),
            design_effect=float(found.design_effects[number]) if compared.by_document else None,
            saved=float(saved[number]),
            intervals={"difference": (ends[0], ends[1])},
        )


def _verdict(difference: float, p: float, level: float, *, enough: bool) -> PairVerdict:
    if np.isnan(p):
        return "confounded" if enough else "too few"
    if p > level or not difference:
        return "undecided"
    return "better" if difference > 0 else "worse"


def _system_rows(compared: _ComparedCampaign, plan: _Plan) -> Iterator[SystemScoreRow]:
    found, campaign, saved = compared.found, compared.campaign, compared.found.saved
    wins = np.zeros((2, len(campaign.systems)), dtype=np.int64)
    for (a, b), difference, p in zip(
        found.pairs, found.final.estimate, compared.p_corrected, strict=True
    ):
        if p <= plan.level and difference:
            best, worst = (a, b) if difference > 0 else (b, a)
            wins[0, best] += 1
            wins[1, worst] += 1
    segments = (~np.isnan(campaign.cells)).sum(axis=1)
    counts = np.bincount(campaign.system, minlength=len(campaign.systems))
    for k in np.argsort(-found.systems.estimate, kind="stable").tolist():
        ends = (found.systems.low[k], found.systems.high[k]) if compared.enough[k] else (None, None)
        own = saved[(found.pairs == k).any(axis=1) & ~np.isnan(saved)]
        yield SystemScoreRow(
            human=campaign.kind,
            system=campaign.systems[k],
            score=float(found.systems.estimate[k]),
            mean=float(found.means[k]),
            judgements=int(counts[k]),
            segments=int(segments[k]),
            saved=float(np.median(own)) if len(own) else None,
            better_than=int(wins[0, k]),
            worse_than=int(wins[1, k]),
            ranked=campaign.ranked,
            intervals={"score": ends},
        )


def _rater_rows(compared: _ComparedCampaign) -> Iterator[RaterRow]:
    campaign, found = compared.campaign, compared.found
    if not campaign.raters:
        return
    level = found.means if found.leniency is None else found.leniency.systems[:, 0]
    counts = np.bincount(campaign.rater, minlength=len(campaign.raters))
    sums = np.bincount(
        campaign.rater, campaign.score - level[campaign.system], len(campaign.raters)
    )
    systems = campaign.systems_of_raters
    ends = (campaign.score.min(), campaign.score.max())
    for r in np.argsort(-sums / counts, kind="stable").tolist():
        yield RaterRow(
            human=campaign.kind,
            rater=campaign.raters[r],
            judgements=int(counts[r]),
            systems=int(systems[r]),
            leniency=float(sums[r] / counts[r]),
            by_system=_compute_explained(campaign, r),
            extremes=float(np.isin(campaign.score[campaign.rater == r], ends).mean()),
            shrunk=None if found.leniency is None else float(found.leniency.raters[r, 0]),
        )


def _compute_explained(campaign: Campaign, rater: int) -> float | None:
    """The share of the variance of a rater's judgements that systems explain, without bias."""
    own = campaign.rater == rater
    score = campaign.score[own]
    names, system = np.unique(campaign.system[own], return_inverse=True)
    free = len(score) - len(names)
    if len(score) < LEAST or len(names) < 2 or not free or not score.var():
        return None
    means = np.bincount(system, score) / np.bincount(system)
    within = float(((score - means[system]) ** 2).sum()) / free
    return 1 - within / float(score.var(ddof=1))


def _views(compared: Sequence[_ComparedCampaign], plan: _Plan) -> Iterator[View]:
    columns = ("system", "other", "difference", "p_corrected", "verdict", "se_segments", "se")
    for one in compared:
        where = {"human": one.campaign.kind}
        of = f" ({one.campaign.kind})" if len(compared) > 1 else ""
        yield Listing(
            SYSTEMS,
            f"Systems{of}",
            ("system", "score", "mean", "judgements", "better_than", "worse_than"),
            where=where,
        )
        yield Listing(PAIRS, f"Pairs of systems{of}", columns, where=where)
        yield Bars(
            SYSTEMS,
            f"Scores of the systems{of}",
            category="system",
            series="human",
            values=("score",),
            where=where,
            most=1,
            dots=True,
        )
        if plan.baseline is None and len(one.campaign.systems) > 2:
            yield HeatMap(
                PAIRS,
                f"Differences between systems{of}",
                "system",
                "other",
                "difference",
                where=where,
                prominent=False,
            )


def _facts(testset: TestSet, compared: Sequence[_ComparedCampaign], plan: _Plan) -> dict[str, str]:
    facts = {"test set": testset.name}
    for one in compared:
        campaign = one.campaign
        said = [f"{len(campaign.systems)} systems", f"{len(campaign.segments):,} segments"]
        if one.by_document:
            said.append(f"{len(one.frame.sizes):,} documents")
        said.append(f"{len(campaign.score):,} judgements")
        if campaign.raters:
            said.append(f"{len(campaign.raters):,} raters")
        if one.found.leniency is not None:
            said.append(f"raters shrunk by {one.found.leniency.ridge:.1f} judgements")
        facts[campaign.kind] = ", ".join(said)
    facts["unit"] = ", ".join(
        dict.fromkeys("documents" if one.by_document else "segments" for one in compared)
    )
    number, of = plan.analyses
    if of > 1:
        facts |= {"analysis": f"{number}", "analyses": f"{of}", "level": f"{plan.level:.3g}"}
    return facts
