"""Systems that a metric finds alike and MuLER tells apart on a feature, and their segments."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from gnomon.core.errors import DataError, UsageError
from gnomon.core.records import FEATURE, Record, column
from gnomon.core.signature import Signature, content_hash
from gnomon.core.validation import Problem
from gnomon.core.verdicts import LEAST
from gnomon.messages.audiences import flag
from gnomon.muler._setup import MaskOptions, WordChoice, mask_faults, prepared
from gnomon.muler.exhibits import SegmentTexts
from gnomon.muler.figures import figures, is_outside

__all__ = [
    "ContrastItem",
    "Contrasts",
    "Draw",
    "HasSegments",
    "PairRow",
    "Thresholds",
    "WordChoice",
    "contrast_faults",
    "draw",
    "draw_contrasts",
    "near_pairs",
]

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.findings import ExhibitText
    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline
    from gnomon.core.run_settings import Run
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.metrics.base import BoundMetric, Metrics
    from gnomon.muler._setup import Setup
    from gnomon.muler.figures import FeatureScores, Figures, Presence

_NOISE = 1e-12  # costs that differ by a smaller share of the scores differ by rounding


class Thresholds(NamedTuple):
    """Which pairs of systems are compared.

    - ``max_score_gap``: the largest difference of scores, in the metric's units.
    - ``min_muler_gap``: the smallest difference of MuLER.
    - ``min_segments``: the smallest number of segments with the feature on both sides, for both.
    """

    max_score_gap: float = 1.0
    min_muler_gap: float = 0.1
    min_segments: int = 20


class PairRow(Record):
    """Two systems of near-equal score that are far apart in MuLER on a feature."""

    feature: str = FEATURE
    system: str = column("Better by MuLER", help="the system with the lower MuLER")
    other: str = column("Other", help="the system with the higher MuLER")
    score: float = column("its score", help="of the better system")
    other_score: float = column("other score", help="of the other system")
    muler: float | None = column(
        "its MuLER", kind="share", better="lower", help="of the better system"
    )
    other_muler: float | None = column(
        "other MuLER", kind="share", better="lower", help="of the other system"
    )
    segments: int = column(
        "Segments", help="where both sides have the feature; of the system that has fewer"
    )
    drawn: int = column("Items", help="segments on the sheet")

    @property
    def readable(self) -> bool:
        """True if MuLER of both systems may be read as a finding."""
        mulers = self.muler, self.other_muler
        inside = all(muler is not None and not is_outside(muler) for muler in mulers)
        return inside and self.segments >= LEAST


class ContrastItem(NamedTuple):
    """A drawn segment of two systems.

    - ``feature``: whose words are to be judged.
    - ``segment``: counted from 1.
    - ``systems``: in the order in which they are shown, which is random.
    - ``better``: the one of them that has the lower MuLER.
    - ``texts``: source, references and the outputs, called A and B; words of the feature marked.
    """

    feature: str
    segment: int
    systems: tuple[str, str]
    better: str
    texts: tuple[ExhibitText, ...]


class Contrasts(NamedTuple):
    """Pairs of systems, the widest gap first, and the segments drawn from them."""

    rows: Sequence[PairRow]
    items: Sequence[ContrastItem]
    signatures: Mapping[str, Signature]
    notices: Sequence[Message]
    facts: Mapping[str, str]


def contrast_faults(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`draw_contrasts` that fit each alone."""
    if isinstance(options.metrics, list | tuple) and len(options.metrics) != 1:
        given = " ".join(map(str, options.metrics)) or "none"
        yield Problem("metrics", UsageError(f"pairs are found under one metric; got {given}"))
        return
    words = options.build(WordChoice)
    yield from mask_faults(outline, options.metrics, words, allow_code=options.allow_code)


def draw_contrasts(
    testset: TestSet,
    metrics: Metrics,
    words: WordChoice,
    limits: Thresholds,
    *,
    items: int,
    seed: int,
    run: Run,
) -> Contrasts:
    """Draw segments that have a feature, of systems alike in score and apart in MuLER on it.

    Segments are in the reference and both outputs, and cost the two systems unequally much. Raises
    DataError where no pair of systems fits; the message says how near the closest one came.
    """
    masks = MaskOptions().seeded(seed)
    setup = prepared(testset, metrics, words, masks, run)
    ((_, bound),) = setup.metrics.items()
    scores = bound.system(setup.batch)
    chosen = _fitting(setup, bound, scores, limits)
    rng = np.random.default_rng([seed, int(content_hash(*setup.batch.texts), 16)])
    drawn = draw(chosen, items=items, rng=rng)
    counts = Counter(pick.group for pick in drawn)
    names = setup.batch.systems
    fields = {**limits._asdict(), "items": items, "seed": seed}
    return Contrasts(
        [_row(contrast, names, scores, counts[n]) for n, contrast in enumerate(chosen)],
        [_item(setup, chosen[pick.group], pick) for pick in drawn],
        {name: setup.signature(bound, "human-sheet", fields=fields) for name in setup.metrics},
        setup.notices,
        setup.facts(),
    )


# Pairs of systems


@dataclass(frozen=True, eq=False)
class PairContrast:
    """Two systems of near-equal score, of which MuLER calls one better on a feature."""

    feature: str
    better: int
    worse: int
    figures: tuple[Figures, Figures]
    segments: NDArray[np.int64]

    @property
    def gap(self) -> float:
        """Lead of the better system: how much lower its MuLER is."""
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


def _contrasts(
    setup: Setup, metric: BoundMetric, near: Sequence[tuple[int, int]]
) -> Iterator[PairContrast]:
    """Every near pair on every feature on which both have a MuLER, however little they differ."""
    everywhere = np.ones(setup.testset.segments, dtype=np.bool_)
    for scores, present in setup.scored(metric, setup.plan(metric), "scoring"):
        all_figures = figures(scores, present, everywhere)
        for pair in near:
            if all(all_figures[k].muler is not None for k in pair):
                yield _contrast(scores, present, all_figures, pair)


def _contrast(
    scores: FeatureScores, present: Presence, all_figures: Sequence[Figures], pair: tuple[int, int]
) -> PairContrast:
    better, worse = ordered = sorted(pair, key=lambda k: (all_figures[k].muler or 0.0, k))
    costs = scores.gain()[ordered]
    noise = _NOISE * np.abs(np.stack([scores.oracle[ordered], scores.base[ordered]])).max((0, 1))
    differ = np.abs(costs[0] - costs[1]) > noise
    segments = np.flatnonzero(present.both[ordered].all(axis=0) & differ)
    both = (all_figures[better], all_figures[worse])
    return PairContrast(scores.feature, better, worse, both, segments)


def _fitting(
    setup: Setup, metric: BoundMetric, scores: NDArray[np.float64], limits: Thresholds
) -> list[PairContrast]:
    """The pairs that fit, most distant first."""
    near = near_pairs(scores, limits.max_score_gap)
    if not near:
        gaps = np.abs(np.diff(np.sort(scores[~np.isnan(scores)])))
        raise DataError(
            f"no two of {len(scores)} systems are within {limits.max_score_gap:g} of each other;"
            f" the closest two are {gaps.min(initial=np.inf):.4g} apart: raise ",
            flag("max_score_gap"),
        )
    fitting: list[PairContrast] = []
    widest = 0.0
    for contrast in _contrasts(setup, metric, near):
        if min(figures.segments for figures in contrast.figures) >= limits.min_segments:
            widest = max(widest, contrast.gap)
            if contrast.gap >= limits.min_muler_gap and len(contrast.segments):
                fitting.append(contrast)
    if not fitting:
        raise DataError(
            f"{len(near)} pairs of systems are within {limits.max_score_gap:g} of each other, but"
            f" none is {limits.min_muler_gap:g} apart in MuLER on a feature of"
            f" {limits.min_segments} segments or more; the widest gap is {widest:.3f}: lower ",
            flag("min_muler_gap"),
            ", or raise ",
            flag("max_score_gap"),
        )
    names = setup.batch.systems
    return sorted(fitting, key=lambda c: (-c.gap, c.feature, names[c.better], names[c.worse]))


def _row(
    contrast: PairContrast, names: Sequence[str], scores: NDArray[np.float64], drawn: int
) -> PairRow:
    ours, theirs = contrast.figures
    return PairRow(
        feature=contrast.feature,
        system=names[contrast.better],
        other=names[contrast.worse],
        score=float(scores[contrast.better]),
        other_score=float(scores[contrast.worse]),
        muler=ours.muler,
        other_muler=theirs.muler,
        segments=min(ours.segments, theirs.segments),
        drawn=drawn,
    )


def _item(setup: Setup, contrast: PairContrast, drawn: Draw) -> ContrastItem:
    """Source, references and the two outputs of a drawn segment."""
    segment = int(contrast.segments[drawn.place])
    sides = (
        (contrast.worse, contrast.better) if drawn.swapped else (contrast.better, contrast.worse)
    )
    names = setup.batch.systems
    texts = SegmentTexts(setup.testset, setup.batch, setup.spans, contrast.feature)
    return ContrastItem(
        contrast.feature,
        segment + 1,
        (names[sides[0]], names[sides[1]]),
        names[contrast.better],
        (
            *texts.source_and_references(segment),
            *(texts.candidate(segment, k, {}, name) for k, name in zip(sides, "AB", strict=True)),
        ),
    )


# Drawing segments from pairs of systems: evenly over features and pairs, with a seed.


class HasSegments(Protocol):
    """A pair of systems with the segments that may be drawn, [n]; pairs of a feature share them."""

    @property
    def feature(self) -> str:
        """No segment is drawn twice for it."""

    @property
    def segments(self) -> NDArray[np.int64]:
        """Counted from 0."""


class Draw(NamedTuple):
    """A drawn segment: of which pair, its place among its own, and whether sides are swapped."""

    group: int
    place: int
    swapped: bool


def draw(pairs: Sequence[HasSegments], *, items: int, rng: np.random.Generator) -> list[Draw]:
    """Draw segments, in random order, each with a coin thrown for the order of its outputs.

    Features take turns, and so do the pairs of a feature, until enough are drawn or none are left.
    No segment is drawn twice for a feature, so that the judgements of a feature are independent.
    """
    names = list(dict.fromkeys(pair.feature for pair in pairs))
    rng.shuffle(names)
    turns = [_segments_of(pairs, name, rng) for name in names]
    drawn: list[tuple[int, int]] = []
    while turns and len(drawn) < items:
        taken = [next(turn, None) for turn in turns]
        turns = [turn for turn, segment in zip(turns, taken, strict=True) if segment is not None]
        drawn += [segment for segment in taken if segment is not None]
    order = rng.permutation(min(items, len(drawn))).tolist()
    coins = rng.integers(0, 2, size=len(order)).tolist()
    return [
        Draw(drawn[i][0], drawn[i][1], bool(coin)) for i, coin in zip(order, coins, strict=True)
    ]


def _segments_of(
    pairs: Sequence[HasSegments], feature: str, rng: np.random.Generator
) -> Iterator[tuple[int, int]]:
    """The (pair, place) of one feature, pair by pair in turn, no segment twice."""
    own = [n for n, pair in enumerate(pairs) if pair.feature == feature]
    rng.shuffle(own)
    left = {n: rng.permutation(len(pairs[n].segments)).tolist() for n in own}
    used: set[int] = set()
    while left:
        for n in list(left):
            position = _next_unused(left[n], pairs[n], used)
            if position is None:
                del left[n]
            else:
                yield n, position


def _next_unused(places: list[int], pair: HasSegments, used: set[int]) -> int | None:
    while places:
        position = places.pop()
        segment = int(pair.segments[position])
        if segment not in used:
            used.add(segment)
            return position
    return None
