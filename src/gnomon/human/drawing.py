"""Sampling of what people judge, and the files of the campaign (``gnomon human sample``)."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import numpy as np

from gnomon.core.errors import DataError, UsageError
from gnomon.core.findings import Finding, Listing
from gnomon.core.options import SEED, Group, Limits, Metavar, Outcome, Positive, Seed
from gnomon.core.records import table
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem
from gnomon.data.formats import (
    CampaignForm,
    CampaignItem,
    Sample,
    SampledSegment,
    campaign_text,
    sample_text,
    write_together,
)
from gnomon.human.comparison import LEAST_FIRST_ANALYSIS
from gnomon.human.sample_rows import (
    DrawnAnalysisRow,
    DrawnRaterRow,
    DrawnStratumRow,
)
from gnomon.human.sample_verdict import sample_verdict
from gnomon.human.sampling import (
    Design,
    DesignName,
    analysis_of_units,
    blocks_of,
    design_of,
    units_of,
)
from gnomon.messages.audiences import parameter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline
    from gnomon.human.sampling import Block, SamplingUnit, Unit

_TITLE = "What people are to judge"
_SIZE, _PEOPLE = Group("how many"), Group("who judges, and when")
_Number: TypeAlias = Annotated[int | None, Limits(1, 10**9), Metavar("N"), _SIZE]
_SUFFIXES: Mapping[str, str] = {"pearmut": ".json", "appraise": ".json", "tsv": ".tsv"}
#: files beside each campaign
_SAMPLE = "sample.tsv"
_EXAMPLES = """\
examples:
  gnomon human sample -t wmt24/en-cs --documents 60 --raters 6 --same-rater --save campaign.json
  gnomon human sample ref.txt -i a.txt b.txt --segments 200 --export tsv --save campaign.tsv
  gnomon human sample -t wmt24/en-cs --judgements 900 --design stratified --save campaign.json
"""


def check_sample(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`gnomon.human.sample` that fit each alone."""
    sizes = [name for name in ("documents", "segments", "judgements") if getattr(options, name)]
    if len(sizes) != 1:
        given = " and ".join(sizes) or "none of them"
        said = f"say how much is judged by one of documents, segments and judgements; got {given}"
        yield Problem("", UsageError(said))
    suffix = _SUFFIXES[options.export]
    name = Path(fspath(options.save)).name
    if not name.endswith(suffix) or name == _SAMPLE:
        said = f" must be a file name in {suffix} for {options.export}, not {_SAMPLE}; got {name}"
        yield Problem("save", UsageError(parameter("save"), said))
    if outline is not None:
        yield from _check_set(outline, options)


def _check_set(outline: Outline, options: BoundOptions) -> Iterator[Problem]:
    """Check the test set."""
    if options.documents and not outline.slices.get("document"):
        said = (
            "the test set does not tell which segments belong to which document: draw segments, or"
            " give a test set that has documents"
        )
        yield Problem("documents", DataError(said))
    if options.segments and options.segments > outline.segments:
        said = f"{options.segments:,} segments cannot be drawn: the set has {outline.segments:,}"
        yield Problem("segments", DataError(said))
    if options.design == "stratified" and not outline.slices.get("domain"):
        said = "the test set has no domains to draw from; draw at random"
        yield Problem("design", DataError(said))


@method(
    "human.sample",
    purpose="draw documents or segments for people to judge, and write the campaign",
    title=_TITLE,
    examples=_EXAMPLES,
    rows={
        "strata": DrawnStratumRow,
        "analyses": DrawnAnalysisRow,
        "raters": DrawnRaterRow,
    },
    verdict=sample_verdict,
    check=check_sample,
)
def sample(
    testset: TestSet,
    *,
    documents: _Number = None,
    segments: _Number = None,
    judgements: _Number = None,
    design: Annotated[DesignName, _SIZE] = "random",
    raters: Annotated[Positive, _PEOPLE] = 1,
    same_rater: Annotated[bool, _PEOPLE] = False,
    interim_analyses: Annotated[int, Limits(1, 10), Metavar("N"), _PEOPLE] = 1,
    export: Annotated[CampaignForm, Group("campaign")] = "pearmut",
    save: Annotated[str | PathLike[str], Outcome(), Metavar("FILE"), Group("campaign")],
    seed: Annotated[Seed, _SIZE] = SEED,
) -> Finding:
    """Draw documents or segments for people to judge, and write the campaign.

    Beside the campaign, ``sample.tsv`` keeps how likely each segment was to be drawn, in which
    analysis it is judged and by whom; weights of judgements come from there.

    Args:
        testset: the outputs of the systems; sources, and documents if documents are drawn.
        documents: number of documents to draw, each judged whole.
        segments: number of segments to draw.
        judgements: number of judgements: documents are drawn (segments where there are none) that
            have as many outputs or fewer, as expected in mean over draws.
        design: the sampling design: "random", or "stratified" (at random within domains).
        raters: number of raters.
        same_rater: give all systems of a document to one rater; otherwise to different raters, as
            at WMT.
        interim_analyses: number of analyses, each after an equal part of the judgements; each part
            has its own campaign.
        export: the format of the campaign: "pearmut", "appraise", or "tsv" for a table to fill in.
        save: the file of the campaign; for several analyses, files with the analysis in their
            names.

    Returns:
        A finding with the strata, the analyses and the raters; ``sample.tsv`` has the segments.

    Raises:
        DataError: the set has fewer documents or segments than are drawn, the first analysis has
            fewer than 30 documents, or the tool needs what the set lacks.
        UsageError: another sample.tsv is there.
        OutputError: a file cannot be written.
    """
    whole = not segments and testset.documents is not None
    unit: Unit = "document" if whole else "segment"
    units = units_of(testset, unit)
    count = documents or segments or _affordable(units, design, judgements or 0, testset)
    if count > len(units):
        raise DataError(f"{count:,} {unit}s cannot be drawn: the set has {len(units):,}")
    plan = design_of(units, design, count, testset)
    drawing, ordering, assigning = (np.random.default_rng([seed, k]) for k in range(3))
    chosen = plan.draw(drawing)
    drawn_units = [units[number] for number in chosen.tolist()]
    analysis_of = analysis_of_units(drawn_units, interim_analyses, ordering)
    _check_first_analysis(drawn_units, analysis_of, interim_analyses)
    rows = [
        SampledSegment(
            segment,
            unit_drawn.document,
            float(plan.inclusion[number]),
            plan.strata[number],
            int(analysis),
        )
        for number, unit_drawn, analysis in zip(
            chosen.tolist(), drawn_units, analysis_of, strict=True
        )
        for segment in unit_drawn.segments
    ]
    blocks = blocks_of(
        sorted(rows), tuple(testset.systems), raters, same_rater=same_rater, rng=assigning
    )
    if len({block.rater for block in blocks}) < raters:
        raise DataError(
            f"{raters:,} raters are more than there is to share: the draw gives {len(blocks):,}"
            " documents or outputs of documents; take fewer raters, or draw more"
        )
    drawn = Sample(tuple(sorted(_assign_raters(rows, blocks, tuple(testset.systems)))))
    files = _write(Path(fspath(save)), testset, drawn, blocks, export)
    strata = list(_stratum_rows(plan, unit, chosen))
    how = {"design": plan.name, "seed": str(seed)}
    return _finding(testset, how, strata, drawn, blocks, files)


def _affordable(
    units: Sequence[SamplingUnit],
    name: DesignName,
    judgements: int,
    testset: TestSet,
) -> int:
    """The most units whose outputs are no more than so many, in mean over draws."""
    sizes = np.array([len(unit.segments) for unit in units]) * len(testset.systems)

    def expected(count: int) -> float:
        return float(design_of(units, name, count, testset).inclusion @ sizes)

    if sizes.sum() < judgements:
        raise DataError(
            f"{judgements:,} judgements are more than the set's {sizes.sum():,} outputs; let people"
            " judge all of it, or draw fewer"
        )
    strata = len(set(design_of(units, name, len(units), testset).strata))
    fewest, most = strata - 1, len(units)
    while fewest < most:
        middle = (fewest + most + 1) // 2
        if expected(middle) <= judgements:
            fewest = middle
        else:
            most = middle - 1
    if fewest < strata:
        what = "document" if units[0].document else "segment"
        each = " of each stratum" if strata > 1 else ""
        raise DataError(
            f"{judgements:,} judgements do not reach for one {what}{each} of"
            f" {len(testset.systems)} systems; draw more, or single segments (segments)"
        )
    return fewest


def _check_first_analysis(
    units: Sequence[SamplingUnit], analyses: NDArray[np.intp], count: int
) -> None:
    """Refuse analyses of which the first has too few documents."""
    first = {
        unit.document or unit.segments for unit, n in zip(units, analyses, strict=True) if n == 1
    }
    if count > 1 and len(first) < LEAST_FIRST_ANALYSIS:
        what = "documents" if units[0].document else "segments"
        raise DataError(
            f"the first of {count} analyses would have {len(first)} {what}, and an analysis of"
            f" fewer than {LEAST_FIRST_ANALYSIS} calls equal systems different too often; plan"
            f" fewer analyses, or draw {count * LEAST_FIRST_ANALYSIS} {what} or more"
        )


def _assign_raters(
    rows: Sequence[SampledSegment], blocks: Sequence[Block], systems: Sequence[str]
) -> Iterator[SampledSegment]:
    """The segments with those who judge them: one name, or one for each system."""
    raters: dict[int, dict[str, str]] = {}
    for block in blocks:
        for segment in block.segments:
            shown = dict.fromkeys(block.systems, _rater(block.rater))
            raters.setdefault(segment, {}).update(shown)
    for row in rows:
        names = tuple(raters[row.segment][system] for system in systems)
        yield row._replace(raters=names[:1] if len(set(names)) == 1 else names)


def _rater(number: int) -> str:
    return f"rater{number + 1}"


def _write(
    path: Path, testset: TestSet, sample: Sample, blocks: Sequence[Block], form: CampaignForm
) -> list[str]:
    """Write the campaign of each analysis, and the sample; the names of the campaigns."""
    files: dict[str | PathLike[str], str | bytes] = {}
    for analysis in range(1, sample.analyses + 1):
        name = path.stem if sample.analyses == 1 else f"{path.stem}.analysis{analysis}"
        items = [
            CampaignItem(_rater(block.rater), block.document, block.segments, block.systems)
            for block in blocks
            if block.analysis == analysis
        ]
        files[path.with_name(name + path.suffix)] = campaign_text(testset, form, name, items)
    beside, text = path.with_name(_SAMPLE), sample_text(sample)
    if beside.exists() and beside.read_bytes() != text.encode():
        raise UsageError(
            f"{beside} holds another draw, without which its judgements cannot be weighed; write"
            " the campaign into another folder, or move that file away"
        )
    campaigns = [Path(name).name for name in files]
    write_together({**files, beside: text})
    return campaigns


# Tables and views


def _finding(
    testset: TestSet,
    how: Mapping[str, str],
    strata: Sequence[DrawnStratumRow],
    sample: Sample,
    blocks: Sequence[Block],
    files: Sequence[str],
) -> Finding:
    analyses = list(_analysis_rows(sample, blocks, files))
    raters = list(_rater_rows(blocks, len(testset.systems)))
    titles = {
        "strata": "What is drawn",
        "analyses": "Planned analyses" if len(analyses) > 1 else "The campaign",
        "raters": "Who judges how much",
    }
    tables = (
        table("strata", titles["strata"], DrawnStratumRow, strata),
        table("analyses", titles["analyses"], DrawnAnalysisRow, analyses),
        table("raters", titles["raters"], DrawnRaterRow, raters),
    )
    views = tuple(
        Listing(one.name, one.title, tuple(column.name for column in one.columns)) for one in tables
    )
    return Finding(
        method="human.sample",
        title=_TITLE,
        tables=tables,
        signatures={},
        views=views,
        facts={
            "test set": testset.name,
            "systems": str(len(testset.systems)),
            "documents": "no" if testset.documents is None else "yes",
            **how,
            "written": ", ".join([*files, _SAMPLE]),
        },
    )


def _stratum_rows(
    design: Design, unit: Unit, chosen: NDArray[np.intp]
) -> Iterator[DrawnStratumRow]:
    strata = np.array(design.strata)
    drawn = np.isin(np.arange(len(strata)), chosen)
    sizes = np.array([len(unit.segments) for unit in design.units])
    for name in sorted(set(design.strata)):
        members = strata == name
        yield DrawnStratumRow(
            stratum=name or "all",
            unit=unit,
            units=int(members.sum()),
            drawn=int((members & drawn).sum()),
            chance=float(design.inclusion[members][0]),
            segments=int(sizes[members & drawn].sum()),
        )


def _analysis_rows(
    sample: Sample, blocks: Sequence[Block], files: Sequence[str]
) -> Iterator[DrawnAnalysisRow]:
    for analysis, file in enumerate(files, start=1):
        rows = [row for row in sample.rows if row.analysis == analysis]
        yield DrawnAnalysisRow(
            analysis=analysis,
            file=file,
            documents=len({row.document or row.segment for row in rows}),
            segments=len(rows),
            judgements=_outputs([block for block in blocks if block.analysis == analysis]),
        )


def _rater_rows(blocks: Sequence[Block], number_of_systems: int) -> Iterator[DrawnRaterRow]:
    for number in sorted({block.rater for block in blocks}):
        mine = [block for block in blocks if block.rater == number]
        systems: dict[tuple[int, ...], set[str]] = {}
        for block in mine:
            systems.setdefault(block.segments, set()).update(block.systems)
        yield DrawnRaterRow(
            rater=_rater(number),
            documents=len(systems),
            judgements=_outputs(mine),
            whole=sum(len(names) == number_of_systems for names in systems.values()),
        )


def _outputs(blocks: Sequence[Block]) -> int:
    return sum(len(block.segments) * len(block.systems) for block in blocks)
