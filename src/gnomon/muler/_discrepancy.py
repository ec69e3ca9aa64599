"""Too few, equally many, too many: how often features occur on the two sides (figure 8).

No metric is needed, nor any system: a paraphrase may stand against its sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gnomon.annotate import Features
from gnomon.cache import Cache
from gnomon.faults import faults
from gnomon.findings import Finding, HeatMap, Listing, StackedBars
from gnomon.methods import method
from gnomon.muler._figures import mean_over, occurrences, per_reference, presence
from gnomon.muler._other_verdicts import DISCREPANCY_CLAIMS, discrepancy_verdict
from gnomon.muler._setup import (
    FeatureSources,
    WordChoice,
    facts_of,
    side_faults,
    tagger_field,
    word_faults,
)
from gnomon.muler._uncertainty import Bootstrap, mean_ends, resample_faults
from gnomon.options import By, with_fields
from gnomon.records import FEATURE, SLICE, SYSTEM, Record, column, table
from gnomon.signature import Signature
from gnomon.slices import check_slices, slices
from gnomon.testset import TestSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from gnomon.annotate import Annotation
    from gnomon.batch import Batch
    from gnomon.faults import Fault
    from gnomon.findings import Cell, Table, View
    from gnomon.muler._uncertainty import Ends
    from gnomon.options import BoundOptions
    from gnomon.outline import Outline
    from gnomon.slices import Slice


# The table of the discrepancy breakdown, and how it may be looked at.


PARTS = ("miss", "hit", "add", "neither")
_TABLE = "discrepancy"
_SIDE_BY_SIDE = 2  # systems that text lists one below the other; more go into heat maps
_HELP = {
    "miss": "segments with less of it in the candidate",
    "hit": "segments with equally much of it, and some",
    "add": "segments with more of it in the candidate",
    "neither": "segments without it on both sides",
}
_LISTED = ("feature", *PARTS, "per_reference", "per_candidate")


class DiscrepancyRow(Record):
    """How often a feature occurs in the outputs of a system and their references."""

    system: str = SYSTEM
    feature: str = FEATURE
    slice: str | None = SLICE
    segments: int = column("segments", help="that have a reference")
    miss: float | None = column("miss", kind="share", help=_HELP["miss"], interval=True)
    hit: float | None = column("hit", kind="share", help=_HELP["hit"], interval=True)
    add: float | None = column("add", kind="share", help=_HELP["add"], interval=True)
    neither: float | None = column("neither", kind="share", help=_HELP["neither"], interval=True)
    per_reference: float | None = column("per reference", help="occurrences per segment")
    per_candidate: float | None = column("per candidate", help="likewise in the candidate")


def discrepancy_views(table: Table) -> tuple[View, ...]:
    """Stacked bars; in text a listing of one or two systems, or heat maps of more."""
    parts = list(dict.fromkeys(table.values("slice")))
    systems = list(dict.fromkeys(table.values("system")))
    told: list[View] = []
    for part in parts:
        place = "" if part is None else f", {part}"
        if len(systems) > _SIDE_BY_SIDE:
            told += [_heat_map(name, part, place) for name in ("miss", "add")]
        else:
            told += [
                Listing(_TABLE, f"Discrepancy of {s}{place}", _LISTED, {"system": s, "slice": part})
                for s in systems
            ]
    return (*told, *(_stacked(part) for part in parts))


_TITLES = {"miss": "Outputs have too few of", "add": "Outputs have too many of"}


def _heat_map(name: str, part: Cell, place: str) -> HeatMap:
    return HeatMap(
        table=_TABLE,
        title=f"{_TITLES[name]} ({name}), share of the segments{place}",
        rows="feature",
        columns="system",
        value=name,
        where={"slice": part},
        low=0.0,
    )


def _stacked(part: Cell) -> StackedBars:
    return StackedBars(
        table=_TABLE,
        title="Too few, equally many, too many",
        category="feature",
        series="system",
        parts=("miss", "hit", "add"),
        where={"slice": part},
    )


_EXAMPLES = """\
examples:
  gnomon muler discrepancy ref.txt -i sysA.txt sysB.txt -l en --features 'pos:*' 'ent:*'
  gnomon muler discrepancy sentences.txt -i paraphrases.txt -l en --features 'pos:*' 'dep:*'
  gnomon muler discrepancy male.txt -i female.txt --features lex:gender
"""


def check_discrepancy(outline: Outline | None, options: BoundOptions) -> Iterator[Fault]:
    """What :func:`discrepancy` refuses of options that fit each alone."""
    yield from resample_faults(options.resamples, options.confidence)
    yield from side_faults(outline, "discrepancies are between candidates and references")
    yield from word_faults(outline, options.of(WordChoice))
    if outline is not None:
        yield from faults("by", check_slices, outline, options.by)


@method(
    "muler.discrepancy",
    answers="which word classes, names and forms candidates have too few or too many of",
    title="MuLER: too few, too many",
    examples=_EXAMPLES,
    tables={"": "muler_discrepancy"},
    rows={_TABLE: DiscrepancyRow},
    by_system=True,
    tagged=True,
    check=check_discrepancy,
    verdict=discrepancy_verdict,
    claims=DISCREPANCY_CLAIMS,
)
@with_fields(sources=FeatureSources, draws=Bootstrap)
def discrepancy(
    testset: TestSet,
    features: Features = None,
    *,
    sources: FeatureSources,
    by: By = None,
    draws: Bootstrap,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """In how many segments candidates have more, less, or equally much of a feature.

    add: the candidate has more than the reference; miss: less; hit: equally much, and some;
    neither: no side has any. Shares of all segments, averaged over the references of a segment.

    Args:
        testset: references and the texts to compare with them.
        lexicon: word lists for ``lex:NAME``; ``lex:gender`` needs none.

    Returns:
        A finding whose rows hold ``system, feature, slice, segments, add, miss, hit, neither``,
        the ends of their intervals (``add_low, add_high``, ...), and ``per_reference,
        per_candidate``, how often the feature occurs per segment.

    Raises:
        UsageError: a feature or an option is malformed, or no tagger is named or found.
        UnknownNameError: a feature, tagger or slice does not exist.
        DataError: the test set has no references or no systems.
    """
    batch = testset.batch()
    words = sources.words(features)
    annotation = words.annotated(batch, testset, cache, progress)
    rows = list(_rows(batch, annotation, slices(testset, by), draws))
    note = "Shares of all segments. miss: less in the candidate; add: more; hit: equally much."
    title = "Discrepancy by feature and system"
    level = draws.confidence if draws.resamples else None
    found = table(_TABLE, title, DiscrepancyRow, rows, note=note, confidence=level)
    return Finding(
        method="muler discrepancy",
        title="Discrepancy: too few, equally many, too many",
        tables=(found,),
        signatures={"discrepancy": _signature(annotation, testset, draws)},
        views=discrepancy_views(found),
        notices=annotation.notices,
        facts=facts_of(testset, annotation),
    )


def _rows(
    batch: Batch, annotation: Annotation, parts: Sequence[Slice], draws: Bootstrap
) -> Iterator[DiscrepancyRow]:
    counts = draws.draw(batch.shape[1])
    for number, feature in enumerate(annotation.spans.features):
        present = presence(batch, annotation.spans, number)
        shares = {name: getattr(present, name) for name in PARTS}
        often = occurrences(batch, annotation.spans, number)
        for part in parts:
            judged = ~np.isnan(present.add) & part.members
            ends = _ends(shares, judged, counts, draws.confidence)
            for k, system in enumerate(batch.systems):
                yield DiscrepancyRow(
                    system=system,
                    feature=feature,
                    slice=part.name,
                    segments=int(judged[k].sum()),
                    **{name: mean_over(shares[name][k], judged[k]) for name in PARTS},
                    intervals=ends[k],
                    per_reference=mean_over(per_reference(often, batch, k), judged[k]),
                    per_candidate=mean_over(often[batch.candidates[k]], judged[k]),
                )


def _ends(
    shares: Mapping[str, NDArray[np.float64]],
    judged: NDArray[np.bool_],
    counts: NDArray[np.uint8] | None,
    confidence: float,
) -> Sequence[dict[str, Ends] | None]:
    """Per system, the ends of the interval of every share; ``None`` where nothing is drawn."""
    if counts is None:
        return [None] * len(judged)
    by_name = {one: mean_ends(values, judged, counts, confidence) for one, values in shares.items()}
    return [{one: ends[k] for one, ends in by_name.items()} for k in range(len(judged))]


def _signature(annotation: Annotation, testset: TestSet, draws: Bootstrap) -> str:
    fields = {"refs": len(testset.references), **tagger_field(annotation), **draws.fields()}
    return str(Signature("discrepancy").adding(fields))
