"""Too few, equally many, too many: how often features occur on the two sides (figure 8).

No metric is needed, nor any system: a paraphrase may stand against its sentence.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gnomon import stats
from gnomon.core.cache import Cache
from gnomon.core.findings import Finding, HeatMap, Listing, StackedBars
from gnomon.core.options import By, with_fields
from gnomon.core.records import FEATURE, SLICE, SYSTEM, Record, column, table
from gnomon.core.registry import method
from gnomon.core.signature import Signature
from gnomon.core.slices import check_slices, slices
from gnomon.core.testset import TestSet
from gnomon.core.validation import problems
from gnomon.core.verdicts import LEAST, Claim, amount, counted, listed
from gnomon.linguistics import Features, FeatureSources, gloss
from gnomon.methods.muler._figures import mean_over, occurrences, per_reference, presence
from gnomon.methods.muler._setup import (
    WordChoice,
    facts_of,
    side_faults,
    tagger_field,
    word_faults,
)
from gnomon.methods.muler._uncertainty import Bootstrap, mean_ends, resample_faults

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.findings import Cell, Statement, Table, View
    from gnomon.core.options import BoundOptions
    from gnomon.core.slices import Slice
    from gnomon.core.summary import Outline
    from gnomon.core.validation import Problem
    from gnomon.linguistics import Annotation
    from gnomon.methods.muler._uncertainty import Ends


# The table of discrepancies, and its views.


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

    @property
    def surplus(self) -> float:
        """The share of segments with too many less that of those with too few."""
        return (self.add or 0.0) - (self.miss or 0.0)

    @property
    def p(self) -> float:
        """Of a normal test that segments with too few are as many as those with too many."""
        differ = (self.miss or 0.0) + (self.add or 0.0)
        if not differ:
            return 1.0
        return math.erfc(abs(self.surplus) * math.sqrt(self.segments / differ) / math.sqrt(2))

    def share(self, name: str) -> str:
        """A share of the segments with its interval, as sentences write it."""
        return amount(getattr(self, name) or 0.0, *self.ends(name), share=True)


def discrepancy_views(table: Table) -> tuple[View, ...]:
    """Stacked bars; in text a listing of one or two systems, or heat maps of more."""
    slice_names = list(dict.fromkeys(table.values("slice")))
    systems = list(dict.fromkeys(table.values("system")))
    views: list[View] = []
    for slice_name in slice_names:
        slice_label = "" if slice_name is None else f", {slice_name}"
        if len(systems) > _SIDE_BY_SIDE:
            views += [_heat_map(name, slice_name, slice_label) for name in ("miss", "add")]
        else:
            views += [
                Listing(
                    _TABLE,
                    f"Discrepancy of {s}{slice_label}",
                    _LISTED,
                    {"system": s, "slice": slice_name},
                )
                for s in systems
            ]
    return (*views, *(_stacked(slice_name) for slice_name in slice_names))


_TITLES = {"miss": "Outputs have too few of", "add": "Outputs have too many of"}


def _heat_map(name: str, slice_name: Cell, slice_label: str) -> HeatMap:
    return HeatMap(
        table=_TABLE,
        title=f"{_TITLES[name]} ({name}), share of the segments{slice_label}",
        rows="feature",
        columns="system",
        value=name,
        where={"slice": slice_name},
        low=0.0,
    )


def _stacked(slice_name: Cell) -> StackedBars:
    return StackedBars(
        table=_TABLE,
        title="Too few, equally many, too many",
        category="feature",
        series="system",
        parts=("miss", "hit", "add"),
        where={"slice": slice_name},
    )


# What it says, in sentences.


_ALPHA = 0.05
#: systems with a sentence each
_ONE_BY_ONE = 2

UNEVEN = Claim(
    "muler.discrepancy.uneven",
    "{systems} too {what} {features}",
    "worse",
    "a normal test of segments with too few against those with too many, corrected after Holm",
)
EVEN = Claim(
    "muler.discrepancy.even",
    "For {n} of a system and a feature the data cannot tell whether there are too few or too many",
    "undecided",
    "the corrected p of that test is above .05",
)
FEW_JUDGED = Claim(
    "muler.discrepancy.few",
    "fewer than 30 segments are too few to say what systems have too much of",
    "caution",
    "the segments with a reference",
)
DISCREPANCY_CLAIMS = (UNEVEN, EVEN, FEW_JUDGED)


def discrepancy_verdict(finding: Finding) -> Iterator[Statement]:
    """What systems have too few and too many of; p-values are Holm's, over systems and features.

    Segments with too few and with too many are compared by a normal test of their difference.
    """
    every = finding.records(DiscrepancyRow)
    rows = [row for row in every if row.slice is None and row.miss is not None]
    few = [row for row in rows if row.segments < LEAST]
    sound = [row for row in rows if row not in few]
    corrected = zip(sound, stats.holm([row.p for row in sound]), strict=True)
    significant = [row for row, q in corrected if q <= _ALPHA]
    systems = list(dict.fromkeys(row.system for row in sound))
    for name, what, other, against in (
        ("miss", "few", "add", "too many"),
        ("add", "many", "miss", "too few"),
    ):
        some = [row for row in significant if (row.surplus < 0) == (name == "miss") and row.surplus]
        some.sort(key=lambda row: -abs(row.surplus))
        if len(systems) > _ONE_BY_ONE and some:
            features = Counter(row.feature for row in some).most_common()
            worst = {row.feature: row for row in reversed(some)}
            phrases = [
                f"{gloss(feature)} ({n} of {len(systems)} systems; most so"
                f" {worst[feature].system}, in {worst[feature].share(name)} of the segments)"
                for feature, n in features
            ]
            yield UNEVEN.said(
                finding.positions(some), systems="Systems have", what=what, features=listed(phrases)
            )
            continue
        for system in systems:
            of_system = [row for row in some if row.system == system]
            phrases = [
                f"{gloss(row.feature)} (in {row.share(name)} of the segments, {against} in"
                f" {row.share(other)})"
                for row in of_system
            ]
            if of_system:
                yield UNEVEN.said(
                    finding.positions(of_system),
                    systems=f"{system} has",
                    what=what,
                    features=listed(phrases),
                )
    if len(sound) > len(significant):
        yield EVEN.said({}, n=counted(len(sound) - len(significant), "pair"))
    if few:
        yield FEW_JUDGED.said(finding.positions(few))


_EXAMPLES = """\
examples:
  gnomon muler discrepancy ref.txt -i sysA.txt sysB.txt -l en --features 'pos:*' 'ent:*'
  gnomon muler discrepancy sentences.txt -i paraphrases.txt -l en --features 'pos:*' 'dep:*'
  gnomon muler discrepancy male.txt -i female.txt --features lex:gender
"""


def check_discrepancy(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`discrepancy` refuses of options that fit each alone."""
    yield from resample_faults(options.resamples, options.confidence)
    yield from side_faults(outline, "discrepancies are between candidates and references")
    language = None if outline is None else outline.target_language
    yield from word_faults(options.of(WordChoice), language, known=outline is not None)
    if outline is not None:
        yield from problems("by", check_slices, outline, options.by)


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
    words = WordChoice.of(sources, features)
    annotation = words.annotated(batch, testset.target_language, cache, progress)
    rows = list(_rows(batch, annotation, slices(testset, by), draws))
    note = "Shares of all segments. miss: less in the candidate; add: more; hit: equally much."
    title = "Discrepancy by feature and system"
    level = draws.confidence if draws.resamples else None
    discrepancies = table(_TABLE, title, DiscrepancyRow, rows, note=note, confidence=level)
    return Finding(
        method="muler discrepancy",
        title="Discrepancy: too few, equally many, too many",
        tables=(discrepancies,),
        signatures={"discrepancy": _signature(annotation, testset, draws)},
        views=discrepancy_views(discrepancies),
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
        for slice_ in parts:
            judged = ~np.isnan(present.add) & slice_.members
            ends = _ends(shares, judged, counts, draws.confidence)
            for k, system in enumerate(batch.systems):
                yield DiscrepancyRow(
                    system=system,
                    feature=feature,
                    slice=slice_.name,
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
    by_name = {
        name: mean_ends(values, judged, counts, confidence) for name, values in shares.items()
    }
    return [{name: ends[k] for name, ends in by_name.items()} for k in range(len(judged))]


def _signature(annotation: Annotation, testset: TestSet, draws: Bootstrap) -> str:
    fields = {"refs": len(testset.references), **tagger_field(annotation), **draws.fields()}
    return str(Signature("discrepancy").adding(fields))
