"""From a test set to a blind sheet: does MuLER see what people see?"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Annotated

import numpy as np

from gnomon.core.errors import DataError, UsageError
from gnomon.core.findings import Exhibit, Finding, Listing
from gnomon.core.options import (
    SEED,
    Group,
    Limits,
    Metavar,
    OutputFile,
    Positive,
    Seed,
    with_fields,
)
from gnomon.core.pages import page_maker
from gnomon.core.records import FEATURE, METRIC, Record, column, table
from gnomon.core.registry import method
from gnomon.core.signature import content_hash
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem
from gnomon.core.verdicts import LEAST, Claim, counted, listed, titles_of
from gnomon.data.formats import write_together
from gnomon.linguistics import Features, FeatureSources, gloss
from gnomon.methods.muler._exhibits import SegmentTexts
from gnomon.methods.muler._figures import figures, is_outside
from gnomon.methods.muler._setup import (
    MaskOptions,
    Run,
    WordChoice,
    check_masked,
    prepared,
)
from gnomon.methods.muler.paper.sheet import Key, KeyRow, Sheet, key_text, sheet_text
from gnomon.metrics.protocol import Metrics

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from gnomon.core.findings import Statement, Table
    from gnomon.core.options import BoundOptions
    from gnomon.core.summary import Outline
    from gnomon.methods.muler._figures import FeatureScores, Figures, Presence
    from gnomon.methods.muler._setup import Setup
    from gnomon.metrics.protocol import MaskingMetric


# Pairs of systems that a metric finds equal, and of which MuLER differs on a feature.


_NOISE = 1e-12  # costs that differ by a smaller share of the scores differ by rounding


@dataclass(frozen=True)
class Thresholds:
    """Which pairs of systems are worth a look."""

    near: float
    apart: float
    least: int


@dataclass(frozen=True, eq=False)
class PairContrast:
    """Two systems of near-equal score, of which MuLER calls one better on a feature."""

    feature: str
    better: int
    worse: int
    figures: tuple[Figures, Figures]
    segments: NDArray[np.int64]
    costs: NDArray[np.float64]

    @property
    def gap(self) -> float:
        """How much lower the better system's MuLER is."""
        low, high = (system.muler or 0.0 for system in self.figures)
        return high - low


def near_pairs(scores: NDArray[np.float64], near: float) -> list[tuple[int, int]]:
    """Pairs of systems whose scores differ by at most ``near``; undefined scores are near none.

    >>> near_pairs(np.array([30.0, 31.0, 35.5]), 1.0)
    [(0, 1)]
    """
    close = near + _NOISE * max(1.0, abs(near))
    both = combinations(range(len(scores)), 2)
    return [(i, j) for i, j in both if abs(scores[i] - scores[j]) <= close]


def contrasts(
    setup: Setup, metric: MaskingMetric, near: Sequence[tuple[int, int]]
) -> Iterable[PairContrast]:
    """Every near pair on every feature on which both have a MuLER, however little they differ."""
    everywhere = np.ones(setup.testset.segments, dtype=np.bool_)
    for scores, present in setup.scored(metric, setup.plan(metric), "scoring"):
        all_figures = figures(scores, present, everywhere)
        for pair in near:
            contrast = _contrast(scores, present, all_figures, pair)
            if contrast is not None:
                yield contrast


def _contrast(
    scores: FeatureScores, present: Presence, all_figures: Sequence[Figures], pair: tuple[int, int]
) -> PairContrast | None:
    if any(all_figures[k].muler is None for k in pair):
        return None
    better, worse = ordered = sorted(pair, key=lambda k: (all_figures[k].muler or 0.0, k))
    costs = scores.gain()[ordered]
    noise = _NOISE * np.abs(np.stack([scores.oracle[ordered], scores.base[ordered]])).max((0, 1))
    differ = np.abs(costs[0] - costs[1]) > noise
    segments = np.flatnonzero(present.both[ordered].all(axis=0) & differ)
    return PairContrast(
        scores.feature,
        better,
        worse,
        (all_figures[better], all_figures[worse]),
        segments,
        costs[:, segments],
    )


class PairRow(Record):
    """Two systems of near-equal score that are far apart in MuLER on a feature."""

    feature: str = FEATURE
    system: str = column("Better by MuLER", help="the system with the lower MuLER")
    other: str = column("Other", help="the system with the higher MuLER")
    metric: str = METRIC
    score: float = column("its score", help="of the better system")
    other_score: float = column("other score", help="of the other system")
    muler: float | None = column(
        "its MuLER", kind="share", better="lower", help="of the better system"
    )
    other_muler: float | None = column(
        "other MuLER", kind="share", better="lower", help="of the other system"
    )
    gap: float = column("gap", help="other MuLER - its MuLER")
    segments: int = column("its segments", help="segments where both sides have the feature")
    other_segments: int = column("other segments", help="likewise of the other system")
    usable: int = column("usable", help="segments of both that cost the two unequally much")
    drawn: int = column("drawn", help="segments in the sheet")

    @property
    def readable(self) -> bool:
        """Whether MuLER of both systems may be read as a finding."""
        mulers = self.muler, self.other_muler
        inside = all(muler is not None and not is_outside(muler) for muler in mulers)
        return inside and min(self.segments, self.other_segments) >= LEAST


def pair_table(
    contrasts: Sequence[PairContrast],
    names: Sequence[str],
    metric: str,
    scores: NDArray[np.float64],
    drawn: Mapping[int, int],
) -> Table:
    """The pairs, in their order."""
    rows = [
        PairRow(
            feature=contrast.feature,
            system=names[contrast.better],
            other=names[contrast.worse],
            metric=metric,
            score=float(scores[contrast.better]),
            other_score=float(scores[contrast.worse]),
            muler=contrast.figures[0].muler,
            other_muler=contrast.figures[1].muler,
            gap=contrast.gap,
            segments=contrast.figures[0].segments,
            other_segments=contrast.figures[1].segments,
            usable=len(contrast.segments),
            drawn=drawn.get(number, 0),
        )
        for number, contrast in enumerate(contrasts)
    ]
    note = "Systems of near-equal score that are far apart in MuLER on a feature."
    return table("pairs", "Pairs of systems to compare by hand", PairRow, rows, note=note)


# What they say, in sentences.

PAIRS = Claim(
    "muler.pairs.found",
    "{pairs} of systems and a feature to be judged by people; furthest apart are {system} and"
    " {other} on {feature} (MuLER {muler}, {metric} {scores}). Who is better is for people to say:"
    " nothing was tested",
    "undecided",
    "MuLER of both inside 0 to 1, over 30 segments or more",
)
UNREADABLE = Claim(
    "muler.pairs.unreadable",
    "on {features}, pairs rest on MuLER outside 0 to 1 or on fewer than 30 segments: judgements of"
    " these say little",
    "caution",
    "MuLER of one of the two systems, and its segments",
)
PAIRS_CLAIMS = (PAIRS, UNREADABLE)


def pairs_verdict(finding: Finding) -> Iterator[Statement]:
    """Which pairs there are to be judged, and which rest on figures that cannot be read."""
    rows = finding.records(PairRow)
    readable = [row for row in rows if row.readable]
    if readable:
        row = readable[0]
        ours, theirs = (
            f"{muler or 0.0:.2f}".removeprefix("0") for muler in (row.muler, row.other_muler)
        )
        yield PAIRS.said(
            finding.positions([row]),
            pairs=counted(len(readable), "pair"),
            system=row.system,
            other=row.other,
            feature=gloss(row.feature),
            muler=f"{ours} against {theirs}",
            metric=titles_of(finding)[row.metric],
            scores=f"{row.score:.1f} against {row.other_score:.1f}",
        )
    others = [row for row in rows if not row.readable]
    if others:
        names = listed(list(dict.fromkeys(gloss(row.feature) for row in others)))
        yield UNREADABLE.said(finding.positions(others), features=names)


# Drawing segments from pairs of systems: evenly over features and pairs, with a seed.


@dataclass(frozen=True)
class Draw:
    """A segment of a pair of systems."""

    contrast: int
    place: int
    swapped: bool


def draw(contrasts: Sequence[PairContrast], *, items: int, rng: np.random.Generator) -> list[Draw]:
    """Draw segments, in random order, each with a coin thrown for the order of its outputs.

    Features take turns, and so do the pairs of a feature, until enough are drawn or none are left.
    No segment is drawn twice for a feature, so that the judgements of a feature are independent.
    """
    names = list(dict.fromkeys(contrast.feature for contrast in contrasts))
    rng.shuffle(names)
    turns = [_segments_of(contrasts, name, rng) for name in names]
    drawn: list[tuple[int, int]] = []
    while turns and len(drawn) < items:
        taken = [next(turn, None) for turn in turns]
        turns = [turn for turn, segment in zip(turns, taken, strict=True) if segment is not None]
        drawn += [segment for segment in taken if segment is not None]
    order = rng.permutation(min(items, len(drawn))).tolist()
    coins = rng.integers(0, 2, size=len(order)).tolist()
    return [
        Draw(contrast=drawn[i][0], place=drawn[i][1], swapped=bool(coin))
        for i, coin in zip(order, coins, strict=True)
    ]


def _segments_of(
    contrasts: Sequence[PairContrast], feature: str, rng: np.random.Generator
) -> Iterator[tuple[int, int]]:
    """The (pair, place) of one feature, pair by pair in turn, no segment twice."""
    pairs = [n for n, contrast in enumerate(contrasts) if contrast.feature == feature]
    rng.shuffle(pairs)
    left = {n: rng.permutation(len(contrasts[n].segments)).tolist() for n in pairs}
    used: set[int] = set()
    while left:
        for n in list(left):
            position = _next_unused(left[n], contrasts[n], used)
            if position is None:
                del left[n]
            else:
                yield n, position


def _next_unused(places: list[int], contrast: PairContrast, used: set[int]) -> int | None:
    while places:
        position = places.pop()
        segment = int(contrast.segments[position])
        if segment not in used:
            used.add(segment)
            return position
    return None


# The items of a sheet, and what their key says of them.


def exhibit(setup: Setup, contrast: PairContrast, drawn: Draw, *, highlight: bool) -> Exhibit:
    """Source, references and the two outputs of a drawn segment, without names of systems."""
    segment = int(contrast.segments[drawn.place])
    sides = (
        (contrast.worse, contrast.better) if drawn.swapped else (contrast.better, contrast.worse)
    )
    spans = setup.spans if highlight else None
    texts = SegmentTexts(setup.testset, setup.batch, spans, contrast.feature)
    outputs = (
        texts.candidate(segment, system, {}, name) for name, system in zip("AB", sides, strict=True)
    )
    return Exhibit(
        contrast.feature,
        "A or B",
        segment=0,
        texts=(*texts.source_and_references(segment), *outputs),
    )


def key_row(
    setup: Setup, item: str, contrast: PairContrast, drawn: Draw, scores: NDArray[np.float64]
) -> KeyRow:
    """Which system is which in an item, and what MuLER says of them."""
    names = setup.batch.systems
    order = (1, 0) if drawn.swapped else (0, 1)
    systems = [(contrast.better, contrast.worse)[k] for k in order]
    muler = [contrast.figures[k].muler or 0.0 for k in order]
    costs = [float(contrast.costs[k, drawn.place]) for k in order]
    a, b = (names[k] for k in systems)
    return KeyRow(
        item=item,
        feature=contrast.feature,
        segment=int(contrast.segments[drawn.place]) + 1,
        a=a,
        b=b,
        better=names[contrast.better],
        cheaper=a if costs[0] < costs[1] else b,
        muler_a=muler[0],
        muler_b=muler[1],
        cost_a=costs[0],
        cost_b=costs[1],
        score_a=float(scores[systems[0]]),
        score_b=float(scores[systems[1]]),
    )


def study_name(exhibits: Sequence[Exhibit]) -> str:
    """A name that tells one sheet from another, and nothing else."""
    texts = [t for shown in exhibits for t in (shown.group, *(text.text for text in shown.texts))]
    return f"g{content_hash(*texts)[:6]}"


_SHOWN = ("feature", "system", "other", "muler", "other_muler", "drawn")


@dataclass(frozen=True, kw_only=True)
class PairStudy(Finding):
    """The pairs of systems, most distant first, and what is needed to compare them by hand.

    Attributes:
        sheet: what annotators see.
        key: what they must not see.
    """

    sheet: Sheet
    key: Key


_EXAMPLES = """\
Find systems of near-equal score that MuLER tells apart, and write a blind sheet of their outputs
with its key; give annotators the sheet or the form, never the key. `gnomon muler judge` reads the
filled sheets back.

examples:
  gnomon muler pairs -t newstest2019/de-en --features 'pos:*' 'ent:*' \\
    --sheet sheet.tsv --form sheet.html --key key.tsv
  gnomon muler judge --answers anna.tsv answers-of-ben.json --key key.tsv
"""
_CHOICE = Group("which pairs and segments")
_FILES = Group("sheet and key")


def check_pairs(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`pairs` refuses of options that fit each alone."""
    if isinstance(options.metrics, list | tuple) and len(options.metrics) != 1:
        message = (
            f"pairs are found under one metric; got {' '.join(map(str, options.metrics)) or 'none'}"
        )
        yield Problem("metrics", UsageError(message))
        return
    if (options.key is None) is not (options.sheet is None and options.form is None):
        message = (
            "a sheet (--sheet FILE.tsv, --form FILE.html; sheet=, form=) and its key (--key"
            " FILE.tsv; key=) go together: without the key no answer can be read back"
        )
        yield Problem("key", UsageError(message))
    yield from check_masked(outline, options)
    if outline is not None and len(outline.systems) == 1:
        message = (
            f"pairs need at least two systems; test set {outline.name!r} has"
            f" {len(outline.systems)}: name more with -i, or choose another test set"
        )
        yield Problem("", DataError(message))


@method(
    "muler.pairs",
    answers="blind A/B sheets that show whether people agree with MuLER",
    title="MuLER: blind sheets",
    examples=_EXAMPLES,
    rows={"pairs": PairRow},
    tagged=True,
    verdict=pairs_verdict,
    claims=PAIRS_CLAIMS,
    check=check_pairs,
)
@with_fields(sources=FeatureSources, masks=MaskOptions, run=Run)
def pairs(
    testset: TestSet,
    metrics: Metrics = "bleu",
    features: Features = None,
    *,
    near: Annotated[float, Limits(0), Metavar("UNITS"), _CHOICE] = 1.0,
    apart: Annotated[float, Limits(0), Metavar("X"), _CHOICE] = 0.1,
    least: Annotated[Positive, _CHOICE] = 20,
    items: Annotated[Positive, _CHOICE] = 100,
    seed: Annotated[Seed, _CHOICE] = SEED,
    highlight: Annotated[bool, _CHOICE] = False,
    sources: FeatureSources,
    masks: MaskOptions,
    sheet: Annotated[OutputFile, _FILES] = None,
    form: Annotated[OutputFile, _FILES] = None,
    key: Annotated[OutputFile, _FILES] = None,
    run: Run,
) -> PairStudy:
    """Segments on which people can check MuLER: of systems alike in score and apart in MuLER.

    Karidi et al., table 10. A pair of systems is compared on a feature where their scores differ
    by at most ``near``, their MuLER by at least ``apart``, and both have at least ``least``
    segments with the feature. Of such pairs, segments are drawn that have the feature in the
    reference and both outputs, and that cost the two systems unequally much: evenly over features,
    then pairs, no segment twice for a feature. Their order, and which output comes first, is
    random.

    Args:
        testset: references and the outputs of two or more systems.
        metrics: a spec, a metric or a function of texts; one.
        near: largest difference of scores, in the metric's units.
        apart: smallest difference of MuLER.
        least: smallest number of segments with the feature on both sides, for both systems.
        items: segments drawn, at most.
        highlight: mark the words of the feature in references and outputs.
        sheet: where the blind sheet is written, as TSV; it needs a key.
        form: where it is written as a page to fill in; likewise.
        key: where the key is written: which system is A and which is B, and what MuLER says.

    Returns:
        The pairs found, as a finding with the sheet and its key.

    Raises:
        DataError: fewer than two systems, or no pair of systems fits; the message says how near
            the closest one came.
        UsageError: an option is out of range, or a sheet lacks its key.
        OutputError: a file cannot be written.
        MaskingError: the metric cannot tell two masks apart.
        UnknownNameError: a metric, feature or tagger does not exist.
    """
    limits = Thresholds(near, apart, least)
    setup = prepared(testset, metrics, WordChoice.of(sources, features), masks.seeded(seed), run)
    ((name, bound),) = setup.metrics.items()
    scores = bound.system(setup.batch)
    chosen = _fitting(setup, bound, scores, limits)
    rng = np.random.default_rng([seed, int(content_hash(*setup.batch.texts), 16)])
    drawn = draw(chosen, items=items, rng=rng)
    fields = {**asdict(limits), "items": items, "seed": seed}
    signature = setup.signature(bound, "muler-pairs", fields=fields)
    exhibits = [exhibit(setup, chosen[pick.contrast], pick, highlight=highlight) for pick in drawn]
    code = study_name(exhibits)
    names = [f"{code}-{number:03d}" for number in range(1, len(drawn) + 1)]
    rows = [
        key_row(setup, item, chosen[pick.contrast], pick, scores)
        for item, pick in zip(names, drawn, strict=True)
    ]
    shown = pair_table(
        chosen, setup.batch.systems, name, scores, Counter(pick.contrast for pick in drawn)
    )
    study = PairStudy(
        method="muler pairs",
        title=shown.title,
        tables=(shown,),
        signatures={name: signature},
        views=(Listing("pairs", shown.title, _SHOWN),),
        notices=_notices(setup, scores, limits),
        facts=setup.facts() | {"pairs": str(len(chosen)), "items drawn": str(len(drawn))},
        sheet=Sheet(code, dict(zip(names, exhibits, strict=True))),
        key=Key(code, {row.item: row for row in rows}, name, signature),
    )
    _write(study, sheet, form, key)
    return study


def _write(study: PairStudy, sheet: OutputFile, form: OutputFile, key: OutputFile) -> None:
    """Write the files that are asked for, all or none: without its key a sheet is useless."""
    shown = study.sheet
    texts: dict[str | PathLike[str], str] = {}
    if sheet is not None:
        texts[sheet] = sheet_text(shown)
    if form is not None:
        make = page_maker("form")
        texts[form] = make(shown.items, study=shown.study, question=shown.question)
    if key is not None:
        texts[key] = key_text(study.key)
    write_together(texts)


def _fitting(
    setup: Setup, metric: MaskingMetric, scores: NDArray[np.float64], limits: Thresholds
) -> list[PairContrast]:
    """The pairs that fit, most distant first."""
    near = near_pairs(scores, limits.near)
    if not near:
        gaps = np.abs(np.diff(np.sort(scores[~np.isnan(scores)])))
        raise DataError(
            f"no two of {len(scores)} systems are within {limits.near:g} of each other; the closest"
            f" two are {gaps.min(initial=np.inf):.4g} apart: raise near (--near)"
        )
    fitting: list[PairContrast] = []
    widest = 0.0
    for contrast in contrasts(setup, metric, near):
        if min(figures.segments for figures in contrast.figures) >= limits.least:
            widest = max(widest, contrast.gap)
            if contrast.gap >= limits.apart and len(contrast.segments):
                fitting.append(contrast)
    if not fitting:
        raise DataError(
            f"{len(near)} pairs of systems are within {limits.near:g} of each other, but none is"
            f" {limits.apart:g} apart in MuLER on a feature of {limits.least} segments or more; the"
            f" widest gap is {widest:.3f}: lower apart or least (--apart, --least), or raise near"
            " (--near)"
        )
    names = setup.batch.systems
    return sorted(fitting, key=lambda c: (-c.gap, c.feature, names[c.better], names[c.worse]))


def _notices(setup: Setup, scores: NDArray[np.float64], limits: Thresholds) -> tuple[str, ...]:
    notices = list(setup.notices)
    reach = float(np.nanmax(scores) - np.nanmin(scores))
    if len(scores) > 2 and reach <= limits.near:
        notices.append(
            f"all systems are within {limits.near:g} of each other (they span {reach:.3g}), so that"
            " near-equal scores select nothing here; --near is in the metric's own units"
        )
    return tuple(notices)
