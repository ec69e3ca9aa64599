"""The figures of a feature: its occurrences, the scores of its oracles, and MuLER of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, SupportsFloat, TypeAlias

import numpy as np

from gnomon.core.options import Group, Help
from gnomon.core.records import FEATURE, METRIC, SLICE, SYSTEM, Record, column
from gnomon.core.scripts import split_words
from gnomon.core.verdicts import LEAST
from gnomon.muler._mask_kinds import MASKS
from gnomon.stats.jackknife import LEAST_DOCUMENTS, mean_of_units

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import ArrayLike, NDArray

    from gnomon.core.batch import Batch, Ragged
    from gnomon.core.records import Ends
    from gnomon.core.spans import SpanTable
    from gnomon.metrics.base import BoundMetric
    from gnomon.metrics.masking import MaskPlan
    from gnomon.stats.student import Mean

__all__ = [
    "INTERVAL_SEGMENTS",
    "VARIANT",
    "VARIANTS",
    "FeatureScores",
    "Figures",
    "Flaw",
    "MulerRow",
    "Presence",
    "RowPlace",
    "Variant",
    "Variants",
    "clipped_ratios",
    "defined",
    "feature_scores",
    "figures",
    "is_outside",
    "mean_over",
    "occurrences",
    "per_reference",
    "presence",
    "ratio",
    "ratios",
    "rows_of",
    "words_of",
]


# The two definitions of MuLER, on numbers.


Variant: TypeAlias = Literal["ratio", "segment-clipped"]
Variants: TypeAlias = Annotated[
    Sequence[Variant],
    Group("scoring"),
    Help('definitions: "ratio" (of means), "segment-clipped" (mean of clipped segment ratios).'),
]
VARIANTS: tuple[Variant, ...] = ("ratio", "segment-clipped")
VARIANT: Any = column("Variant", help="ratio of means, or mean of clipped segment ratios")
INTERVAL_SEGMENTS = 10  # fewest segments of an interval or a test
_EXACT = 1e-12  # a difference below this share of the scores is rounding, not a difference


def ratio(base: SupportsFloat, oracle: SupportsFloat, anti_oracle: SupportsFloat) -> float | None:
    """Share of the possible gain that a system loses on a feature (Karidi et al., eq. 2).

    The same for a metric and for its negative, so that error rates need no special care.

    >>> ratio(base=30.0, oracle=40.0, anti_oracle=20.0)
    0.5
    """
    share = float(ratios(float(base), float(oracle), float(anti_oracle)))
    return defined(share)


def defined(value: float) -> float | None:
    """A figure as rows hold it: None where it is NaN."""
    return None if np.isnan(value) else float(value)


def is_outside(muler: float | None) -> bool:
    """True if MuLER is no share, for the metric does not rank base, max and min in order."""
    return muler is not None and not 0 <= muler <= 1


def ratios(base: ArrayLike, oracle: ArrayLike, anti_oracle: ArrayLike) -> NDArray[np.float64]:
    """:func:`ratio` of arrays of any one shape; NaN where it is undefined."""
    top, bottom = np.asarray(oracle, dtype=np.float64), np.asarray(anti_oracle, dtype=np.float64)
    spread = top - bottom
    vanishes = np.abs(spread) <= _EXACT * np.maximum(np.abs(top), np.abs(bottom))
    undefined = np.where(vanishes, np.nan, spread)
    return np.asarray((top - np.asarray(base, dtype=np.float64)) / undefined)


def clipped_ratios(
    base: ArrayLike, oracle: ArrayLike, anti_oracle: ArrayLike
) -> NDArray[np.float64]:
    """Segment-wise a / b, counted 0 unless 0 < a <= b (Karidi et al., tables 3 and 15)."""
    top = np.asarray(oracle, dtype=np.float64)
    reached = np.asarray(base, dtype=np.float64)
    bottom = np.asarray(anti_oracle, dtype=np.float64)
    gain, spread = top - reached, top - bottom
    noise = _EXACT * np.maximum(np.abs(top), np.maximum(np.abs(reached), np.abs(bottom)))
    counted = (gain > noise) & (gain <= spread + noise)
    share = np.divide(gain, spread, out=np.zeros_like(gain), where=counted)
    return np.minimum(share, 1.0)


_CELLS = 16_000_000  # float64 values of masked scores in memory at once (128 MB)
_ROUNDING = 1e-6  # a difference below this share of the scores is rounding; vectors are float32


@dataclass(frozen=True)
class FeatureScores:
    """Sentence scores of one feature, float64 [K, N] each, in the metric's own units."""

    feature: str
    base: NDArray[np.float64]
    oracle: NDArray[np.float64]
    anti_oracle: NDArray[np.float64]
    higher_is_better: bool

    @property
    def sign(self) -> float:
        """Factor of scores that makes higher ones better."""
        return 1.0 if self.higher_is_better else -1.0

    def gain(self) -> NDArray[np.float64]:
        """Gain of the oracle over the base, oriented so that a gain is positive, [K, N]."""
        return self.sign * (self.oracle - self.base)

    def excess(self) -> NDArray[np.float64]:
        """Excess of the base over the oracle, [K, N], oriented; below 0 for mere rounding."""
        noise = _ROUNDING * np.maximum(np.abs(self.oracle), np.abs(self.base))
        return -self.gain() - noise


@dataclass(frozen=True)
class Figures:
    """MuLER and its companions for one system and feature; ``None`` where undefined."""

    segments: int
    muler: float | None
    clipped: float | None
    base: float | None
    base_all: float | None
    oracle: float | None
    anti_oracle: float | None
    spread: float | None
    gain: float | None
    add: float | None
    miss: float | None
    hit: float | None
    surplus: Mean
    negative: int
    absent: int

    def get_muler(self, variant: Variant) -> float | None:
        """MuLER in one of its variants."""
        return self.muler if variant == "ratio" else self.clipped


#: fewer than 30 segments, no MuLER, MuLER outside [0, 1], an interval that is too wide to be useful
Flaw: TypeAlias = Literal["few", "undefined", "outside", "wide"]


class MulerRow(Record):
    """MuLER and its companions: one system, metric, feature, variant and slice."""

    system: str = SYSTEM
    metric: str = METRIC
    feature: str = FEATURE
    variant: str = VARIANT
    slice: str | None = SLICE
    masks: str = MASKS
    segments: int = column(
        "Segments", help="segments where candidate and a reference have the feature"
    )
    muler: float | None = column(
        "MuLER",
        kind="share",
        better="lower",
        help="loss on these words, as a share of what the metric could give",
        interval=True,
    )
    uninformative: bool = column(
        "wide", help="the interval is too wide: wider than half the scale of MuLER"
    )
    base: float | None = column("base (I)", help="mean sentence score over I", interval=True)
    base_all: float | None = column(
        "base (all)", help="mean sentence score over all segments", interval=True
    )
    oracle: float | None = column(
        "max", help="mean over I, the feature masked alike on both sides", interval=True
    )
    anti_oracle: float | None = column(
        "min", help="mean over I, masked differently on each side", interval=True
    )
    spread: float | None = column("max - min", help="what the feature can move", interval=True)
    gain: float | None = column(
        "max - base", help="what is left to gain (abl-MuLER)", interval=True
    )
    add: float | None = column(
        "add", kind="share", help="segments with more of it in the candidate"
    )
    miss: float | None = column(
        "miss", kind="share", help="segments with more of it in the reference"
    )
    hit: float | None = column(
        "hit", kind="share", help="segments with equally much of it, and some"
    )
    surplus: float | None = column(
        "add - miss",
        digits=3,
        help="below 0: too few; its interval is that of the step of Holm's procedure",
        interval=True,
    )
    p_counts: float | None = column(
        "p (counts)",
        digits=4,
        help="of as many segments with more of it as with less (Student's t; where documents are"
        f" the unit, by leaving out one at a time, of {LEAST_DOCUMENTS} or more), corrected over"
        f" the features and systems of the family after Holm; of {LEAST} segments or more",
    )
    decided: bool | None = column(
        "Decided", help="whether there are too few or too many: p is at most 1 - confidence"
    )
    negative: int = column("base > max", help="segments of I scored above their oracle")
    outside: bool = column(
        "outside [0, 1]", help="not a share: the metric does not rank base, max and min in order"
    )
    absent: int = column(
        "absent", help="segments where a reference has the feature and the output does not"
    )
    empty: int = column("empty", help="empty outputs of the system")

    @property
    def family(self) -> tuple[str, str, str | None]:
        """The figures whose differences are corrected together: metric, variant and slice."""
        return self.metric, self.variant, self.slice

    @property
    def flaw(self) -> Flaw | None:
        """Why its MuLER may not be read as a finding, the gravest reason; None where it may."""
        if self.segments < LEAST:
            return "few"
        if self.muler is None:
            return "undefined"
        if self.outside:
            return "outside"
        return "wide" if self.uninformative else None

    @property
    def readable(self) -> bool:
        """True if its MuLER may be read as a finding."""
        return self.flaw is None

    @property
    def reference_segments(self) -> int:
        """The segments whose reference has the feature, as far as the output is concerned."""
        return self.segments + self.absent

    @property
    def muler_with_absent(self) -> float:
        """MuLER if the feature counted as lost where the output alone lacks it."""
        lost = (self.muler or 0.0) * self.segments + self.absent
        return lost / self.reference_segments if self.reference_segments else 0.0


_COMPANIONS = (
    *("base", "base_all", "oracle", "anti_oracle", "spread", "gain"),
    *("add", "miss", "hit", "negative", "absent"),
)
WIDE = 0.5  # of an interval of MuLER, whose scale is 1 wide


class RowPlace(NamedTuple):
    """The place of a feature's rows."""

    system: str
    metric: str
    feature: str
    slice: str | None
    masks: str
    empty: int


def rows_of(
    figures: Figures, place: RowPlace, ends: Mapping[str, Ends] | None = None
) -> dict[Variant, MulerRow]:
    """The rows of one system, feature and slice, one per variant."""
    rows: dict[Variant, MulerRow] = {}
    for variant, name in zip(VARIANTS, ("muler", "clipped"), strict=True):
        value: float | None = getattr(figures, name)
        low, high = (None, None) if ends is None else ends[name]
        rows[variant] = MulerRow(
            **place._asdict(),
            variant=variant,
            segments=figures.segments,
            muler=value,
            uninformative=low is not None and high is not None and high - low > WIDE,
            outside=is_outside(value),
            surplus=figures.surplus.value,
            p_counts=None,
            decided=None,
            intervals=None if ends is None else {**ends, "muler": ends[name]},
            **{companion: getattr(figures, companion) for companion in _COMPANIONS},
        )
    return rows


def feature_scores(metric: BoundMetric, batch: Batch, plan: MaskPlan) -> Iterator[FeatureScores]:
    """Score the two oracles of every feature of a plan, a bounded number of features at a time."""
    metric.check_cost(batch, plan)
    base = metric.segments(batch)
    step = max(1, _CELLS // max(1, 2 * base.size))
    names = plan.spans.features
    for first in range(0, len(names), step):
        chunk = plan.keep(range(2 * first, min(2 * (first + step), plan.variants)))
        scores = metric.masked(batch, chunk)
        for offset in range(len(scores) // 2):
            oracle, anti_oracle = scores[2 * offset], scores[2 * offset + 1]
            better = metric.higher_is_better
            yield FeatureScores(names[first + offset], base, oracle, anti_oracle, better)


def figures(
    scores: FeatureScores,
    present: Presence,
    scope: NDArray[np.bool_],
    documents: NDArray[np.int64] | None = None,
) -> tuple[Figures, ...]:
    """The figures of every system over the segments in scope; documents where these are the unit.

    Documents are the unit of counts alone: of how many segments have more or less of a feature.
    """
    sign = scores.sign
    shares = clipped_ratios(sign * scores.base, sign * scores.oracle, sign * scores.anti_oracle)
    # a row per figure, so that each system is read once
    over_feature = np.stack([scores.base, scores.oracle, scores.anti_oracle, shares], 1)
    over_scope = np.stack([scores.base, present.add, present.miss, present.hit], 1)
    above = present.both & (scores.excess() > 0)
    absent = ~present.both & (present.miss > 0)
    return tuple(
        _system_figures(
            [mean_over(row, present.both[k] & scope) for row in over_feature[k]],
            [mean_over(row, scope) for row in over_scope[k]],
            [int((where[k] & scope).sum()) for where in (present.both, above, absent)],
            _surplus(present.surplus[k], scope, documents),
            sign,
        )
        for k in range(len(scores.base))
    )


def _surplus(
    values: NDArray[np.float64], scope: NDArray[np.bool_], documents: NDArray[np.int64] | None
) -> Mean:
    """The mean over the segments in scope that have some; without an error of too few."""
    judged = scope & ~np.isnan(values)
    mean = mean_of_units(values[judged], None if documents is None else documents[judged])
    return mean if judged.sum() >= LEAST else mean._replace(error=np.nan)


def _system_figures(
    of_feature: Sequence[float | None],
    of_scope: Sequence[float | None],
    counts: Sequence[int],
    surplus: Mean,
    sign: float,
) -> Figures:
    base, oracle, anti_oracle, clipped = of_feature
    base_all, add, miss, hit = of_scope
    segments, negative, absent = counts
    muler = ratio(_number(base), _number(oracle), _number(anti_oracle))
    return Figures(
        segments=segments,
        muler=muler,
        clipped=None if muler is None else clipped,
        base=base,
        base_all=base_all,
        oracle=oracle,
        anti_oracle=anti_oracle,
        spread=_difference(oracle, anti_oracle, sign),
        gain=_difference(oracle, base, sign),
        add=add,
        miss=miss,
        hit=hit,
        surplus=surplus,
        negative=negative,
        absent=absent,
    )


def mean_over(
    values: NDArray[np.float64] | NDArray[np.intp], where: NDArray[np.bool_]
) -> float | None:
    """The mean over some segments in which the value is defined; None where there is none."""
    chosen = values[where]
    chosen = chosen[~np.isnan(chosen)]
    return float(chosen.mean()) if len(chosen) else None


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _difference(a: float | None, b: float | None, sign: float) -> float | None:
    return None if a is None or b is None else sign * (a - b)


# Occurrences of a feature on both sides.


_ONE_EACH = ("ent", "pos", "morph", "dep")


@dataclass(frozen=True)
class Presence:
    """One feature in the outputs of K systems and their references."""

    both: NDArray[np.bool_]
    add: NDArray[np.float64]
    miss: NDArray[np.float64]
    hit: NDArray[np.float64]

    @property
    def surplus(self) -> NDArray[np.float64]:
        """More of it than in the references, or less."""
        return self.add - self.miss


def presence(batch: Batch, spans: SpanTable, feature: int) -> Presence:
    """Compare how often a feature occurs on the two sides of every segment."""
    counts = occurrences(batch, spans, feature)
    candidates = counts[batch.candidates]
    both, shares = _compare(candidates, counts, batch.references)
    for system, references in batch.system_references.items():
        of_one = slice(system, system + 1)
        both[of_one], shares[:, of_one] = _compare(candidates[of_one], counts, references)
    return Presence(both, *shares)


def occurrences(batch: Batch, spans: SpanTable, feature: int) -> NDArray[np.intp]:
    """Number of occurrences of a feature in each text of the batch.

    Entities are counted as spans; any other feature by its tokens: a span of a tagger is one
    token, one of a list, a pattern or a label file as many as it has words.
    """
    rows = spans.rows_of(feature)
    if spans.features[feature].partition(":")[0] in _ONE_EACH:
        return np.bincount(spans.text[rows], minlength=len(batch.texts))
    sizes = np.maximum(words_of(batch.texts, spans, rows), 1)
    return np.bincount(spans.text[rows], sizes, minlength=len(batch.texts)).astype(np.intp)


def per_reference(often: NDArray[np.intp], batch: Batch, k: int) -> NDArray[np.float64]:
    """Mean occurrences of a feature in the references of each segment, float64 [N]."""
    references = batch.references_of(k)
    width = np.diff(references.offsets)
    segment = np.repeat(np.arange(len(width)), width)
    total = np.bincount(segment, often[references.indices], minlength=len(width))
    return np.asarray(total / np.where(width > 0, width, np.nan), dtype=np.float64)


def words_of(texts: Sequence[str], spans: SpanTable, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Number of words in spans; in scripts without spaces of letters."""
    places = (column[rows].tolist() for column in (spans.text, spans.start, spans.end))
    spans_of_texts = zip(*places, strict=True)
    counts = (len(split_words(texts[text][start:end])) for text, start, end in spans_of_texts)
    return np.fromiter(counts, dtype=np.intp, count=len(rows))


def _compare(
    candidates: NDArray[np.intp], counts: NDArray[np.intp], references: Ragged
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Of some systems [K, N]: where both sides have some, and the three shares, [3, K, N]."""
    width = np.diff(references.offsets)
    reference = counts[references.indices]
    repeated = candidates if (width == 1).all() else np.repeat(candidates, width, axis=1)
    indicators = np.stack(
        [
            repeated > reference,
            repeated < reference,
            (repeated == reference) & (repeated > 0),
        ]
    )
    some = reference > 0
    if repeated is candidates:
        return (candidates > 0) & some, indicators.astype(np.float64)
    with np.errstate(invalid="ignore"):
        shares = _sums(indicators, references.offsets) / width
    return (candidates > 0) & (_sums(some, references.offsets) > 0), shares


def _sums(values: NDArray[np.bool_], offsets: NDArray[np.int32]) -> NDArray[np.int64]:
    """Number of true values of [..., R] between each two offsets, [..., N]."""
    before = np.zeros((*values.shape[:-1], values.shape[-1] + 1), dtype=np.int64)
    np.cumsum(values, axis=-1, out=before[..., 1:])
    return np.diff(before[..., offsets])
