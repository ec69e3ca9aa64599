"""Uncertainty of figures: resamples of the segments, standard errors, intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from gnomon.core.errors import UsageError
from gnomon.core.options import DrawOptions
from gnomon.core.validation import Problem
from gnomon.core.verdicts import LEAST
from gnomon.messages import message
from gnomon.messages.audiences import parameter
from gnomon.muler._setup import slices_to_draw
from gnomon.muler.differences import Differences
from gnomon.muler.figures import INTERVAL_SEGMENTS, VARIANTS, clipped_ratios, ratios
from gnomon.muler.pairs import FeatureRatios, FeatureShares, Units, linearised
from gnomon.stats.jackknife import (
    LEAST_DOCUMENTS,
    clustering,
    design_effect,
    jackknife,
    leave_out_sums,
    numbered,
)
from gnomon.stats.p_values import fewest_draws
from gnomon.stats.resampling import (
    resample_counts,
    resampled_sums,
    shift_distance,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.options import Unit
    from gnomon.core.outline import Outline
    from gnomon.core.slices import Slice
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.muler._words import WordsByFeature
    from gnomon.muler.figures import FeatureScores, Presence, Variant
    from gnomon.stats.jackknife import Jackknife

    Floats: TypeAlias = NDArray[np.float64]
    Sums: TypeAlias = Mapping[str, NDArray[np.float64]]
    Ends: TypeAlias = tuple[float | None, float | None]

__all__ = [
    "Bootstrap",
    "Grouping",
    "Uncertainty",
    "frame",
    "resample_faults",
    "resampled",
    "uncertainty",
    "unit_faults",
]


# MuLER, its companions and their standard errors as functions of sums over segments.


_STILL = 1e-9  # a standard error of MuLER below this is rounding: nothing varies
_STILL_SCORES = 1e-7  # likewise of a score, as a share of the scores' size


class Estimate(NamedTuple):
    """A figure and its standard error, of one shape; NaN where undefined, 0 where none varies."""

    value: Floats
    error: Floats


def figure_columns(
    scores: FeatureScores, inside: NDArray[np.bool_], rows: NDArray[np.intp]
) -> dict[str, Floats]:
    """Columns to sum over segments, one float64 [K, n] per name; scores point upwards."""
    where = inside[:, rows]
    base, oracle, anti_oracle = (
        scores.sign * values[:, rows] for values in (scores.base, scores.oracle, scores.anti_oracle)
    )
    columns: dict[str, Floats] = {"n": where.astype(np.float64)}
    complete = where.copy()
    for name, values in (("base", base), ("oracle", oracle), ("anti_oracle", anti_oracle)):
        valid = where & ~np.isnan(values)
        columns[name] = np.where(valid, values, 0.0)
        columns[f"{name} 2"] = columns[name] ** 2
        if (valid != where).any():
            columns[f"n {name}"] = valid.astype(np.float64)
            complete &= valid
    columns |= _products(base, oracle, anti_oracle, where, complete)
    share = np.where(where, clipped_ratios(base, oracle, anti_oracle), 0.0)
    return columns | {"share": share, "share 2": share**2}


def sums_by_resample(
    columns: Sums, counts: NDArray[np.uint8], rows: NDArray[np.intp]
) -> dict[str, Floats]:
    """The sums over every resample, float64 [K, B] each."""
    stacked = np.concatenate(list(columns.values()))
    sums = resampled_sums(stacked, counts, rows)
    return dict(zip(columns, np.split(sums, len(columns)), strict=True))


def figures_and_errors(sums: Sums, *, higher_is_better: bool) -> dict[str, Estimate]:
    """Every figure over I: "muler", "clipped", and the mean scores that they are made of."""
    sign = 1.0 if higher_is_better else -1.0
    base, oracle, anti_oracle = (
        mean_and_error(sums[name], sums[f"{name} 2"], sums.get(f"n {name}", sums["n"]))
        for name in ("base", "oracle", "anti_oracle")
    )
    scale = _STILL_SCORES * np.sqrt(_divide(sums["oracle 2"], sums.get("n oracle", sums["n"])))
    n = sums.get("n complete", sums["n"])
    gain = mean_and_error(_gain(sums), sums["gain 2"], n)
    spread = mean_and_error(_spread(sums), sums["spread 2"], n)
    estimates = {
        "base": (sign * base.value, base.error),
        "oracle": (sign * oracle.value, oracle.error),
        "anti_oracle": (sign * anti_oracle.value, anti_oracle.error),
        "spread": (oracle.value - anti_oracle.value, spread.error),
        "gain": (oracle.value - base.value, gain.error),
    }
    theta = ratios(base.value, oracle.value, anti_oracle.value)
    return {
        "muler": Estimate(theta, _settle_errors(_error_of_ratio(sums, theta), _STILL)),
        "clipped": _clip_ratios(sums, ~np.isnan(theta)),
        **{
            name: Estimate(value, _settle_errors(e, scale))
            for name, (value, e) in estimates.items()
        },
    }


def mean_and_error(total: Floats, squares: Floats, n: Floats) -> Estimate:
    """A mean and its standard error from a sum, a sum of squares and a number of values."""
    mean = _divide(total, n)
    variance = np.maximum(_divide(squares, n) - mean**2, 0.0)
    return Estimate(mean, np.sqrt(_divide(variance, n)))


def _error_of_ratio(sums: Sums, theta: Floats) -> Floats:
    """Linearised: sqrt(sum (a - theta b)^2) / |sum b|, gains a, spreads b, theta their ratio."""
    squares = sums["gain 2"] - 2 * theta * sums["gain spread"] + theta**2 * sums["spread 2"]
    spread = np.where(np.isnan(theta), np.nan, _spread(sums))
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)) / np.abs(spread))


def _clip_ratios(sums: Sums, defined: NDArray[np.bool_]) -> Estimate:
    estimate = mean_and_error(sums["share"], sums["share 2"], np.where(defined, sums["n"], np.nan))
    return Estimate(estimate.value, _settle_errors(estimate.error, _STILL))


def _products(
    base: Floats,
    oracle: Floats,
    anti_oracle: Floats,
    where: NDArray[np.bool_],
    complete: NDArray[np.bool_],
) -> dict[str, Floats]:
    gain = np.where(complete, oracle - base, 0.0)
    spread = np.where(complete, oracle - anti_oracle, 0.0)
    products = {"gain 2": gain**2, "gain spread": gain * spread, "spread 2": spread**2}
    if (complete != where).any():
        products |= {"n complete": complete.astype(np.float64), "gain": gain, "spread": spread}
    return products


def _gain(sums: Sums) -> Floats:
    return sums["gain"] if "gain" in sums else sums["oracle"] - sums["base"]


def _spread(sums: Sums) -> Floats:
    return sums["spread"] if "spread" in sums else sums["oracle"] - sums["anti_oracle"]


def _divide(total: Floats, n: Floats) -> Floats:
    quotients: Floats = np.divide(total, n, out=np.full(np.shape(total), np.nan), where=n > 0)
    return quotients


def _settle_errors(error: Floats, still: float | Floats) -> Floats:
    return np.where(error < still, 0.0, error)


# Intervals of the figures of a feature.


_SAME = 1e-9  # figures that differ by less are equal


def resample_faults(resamples: int, confidence: float) -> Iterator[Problem]:
    """Resamples that are too few for an interval of that confidence."""
    least = fewest_draws(confidence)
    if resamples != 0 and resamples < least:
        message = (
            parameter("resamples"),
            (
                f" must be 0 for none, or at least {least} for a confidence of {confidence};"
                f" got {resamples}"
            ),
        )
        yield Problem("resamples", UsageError(message))


@dataclass(frozen=True)
class Bootstrap(DrawOptions):
    """The settings of a bootstrap."""

    def fields(self, *, by_document: bool = False) -> dict[str, object]:
        """Its fields in a signature; empty where nothing is drawn."""
        if not self.resamples:
            return {}
        if by_document:
            return {"unit": "document", "confidence": self.confidence}
        return {"bs": self.resamples, "confidence": self.confidence, "seed": self.seed}

    def draw(self, segments: int) -> NDArray[np.uint8]:
        """Draw the number of times that each resample has each segment, uint8 [N, B]."""
        return resample_counts(segments, count=self.resamples, seed=self.seed)


@dataclass(frozen=True)
class Frame:
    """The common facts of the features of one metric and slice."""

    members: NDArray[np.bool_]
    counts: NDArray[np.uint8]
    confidence: float
    base_all: tuple[Ends, ...]


def frame(
    base: Floats,
    members: NDArray[np.bool_],
    counts: NDArray[np.uint8],
    confidence: float,
) -> Frame:
    """Prepare a slice under a metric."""
    rows = np.flatnonzero(members)
    values = base[:, rows]
    scored = ~np.isnan(values)
    zeroed = np.where(scored, values, 0.0)
    columns = {
        "n": scored.astype(np.float64),
        "base": zeroed,
        "base 2": zeroed**2,
    }
    sums = sums_by_resample(columns, counts, rows)
    plain, samples = (
        mean_and_error(total["base"], total["base 2"], total["n"])
        for total in (_plain(columns), sums)
    )
    ends = _symmetric(plain, samples, confidence, scored.sum(axis=1))
    return Frame(members, counts, confidence, ends)


def resampled(
    scores: FeatureScores, present: Presence, shared: Frame
) -> tuple[Mapping[str, Ends], ...]:
    """The intervals of the figures of one feature, per system.

    MuLER, in both variants, and mean scores have the symmetric bootstrap-t interval (Hall, 1988):
    estimate -+ q s, where s is the standard error and q the quantile over resamples of |estimate* -
    estimate| / s*. There is none for a figure over fewer than ``INTERVAL_SEGMENTS`` segments, nor
    for one that does not vary.
    """
    inside = present.both & shared.members
    rows = np.flatnonzero(inside.any(axis=0))  # all else adds 0 to every sum
    columns = figure_columns(scores, inside, rows)
    sums = sums_by_resample(columns, shared.counts, rows)
    size, level, better = inside.sum(axis=1), shared.confidence, scores.higher_is_better
    plain, samples = (
        figures_and_errors(total, higher_is_better=better) for total in (_plain(columns), sums)
    )
    ends: dict[str, tuple[Ends, ...]] = {"base_all": shared.base_all}
    for name, estimate in plain.items():
        ends[name] = _symmetric(estimate, samples[name], level, size)
    return tuple({name: pairs[k] for name, pairs in ends.items()} for k in range(len(size)))


def jackknife_figures(
    scores: FeatureScores,
    present: Presence,
    members: NDArray[np.bool_],
    documents: NDArray[np.int64],
    confidence: float,
) -> tuple[Mapping[str, Ends], ...]:
    """The intervals of the figures of one feature, per system, by leaving out documents."""
    rows = np.flatnonzero(members)
    which = numbered(documents[rows].tolist())
    inside = present.both & members
    columns = figure_columns(scores, inside, rows)
    scored = ~np.isnan(scores.base[:, rows])
    columns["scored"] = scored.astype(np.float64)
    columns["all"] = np.where(scored, scores.base[:, rows], 0.0)
    without = leave_out_sums(np.stack(list(columns.values()), axis=-1), which)
    samples = {name: without[..., n] for n, name in enumerate(columns)}
    better = scores.higher_is_better
    plain, drawn = (_compute_figures(sums, better=better) for sums in (_plain(columns), samples))
    size = np.stack([np.bincount(which, row, len(without)) for row in inside[:, rows]], axis=1)
    every = np.bincount(which, minlength=len(without))
    ends: list[dict[str, Ends]] = []
    for k in range(len(inside)):
        ends.append({})
        for name, value in plain.items():
            sizes = every if name == "base_all" else size[:, k]
            estimate = jackknife_documents(value[k], drawn[name][:, k], sizes, confidence)
            defined = sizes.sum() >= INTERVAL_SEGMENTS and estimate.low < estimate.high
            pair = (float(estimate.low), float(estimate.high))
            ends[-1][name] = pair if defined else (None, None)
    return tuple(ends)


def _compute_figures(sums: Sums, *, better: bool) -> dict[str, Floats]:
    """The values of all figures that have intervals."""
    estimates = figures_and_errors(sums, higher_is_better=better)
    values = {name: estimate.value for name, estimate in estimates.items()}
    return values | {"base_all": _divide(sums["all"], sums["scored"])}


def jackknife_documents(
    value: float, values: Floats, sizes: NDArray[np.intp], confidence: float
) -> Jackknife:
    """The jackknife of a figure over the documents that hold something of it."""
    some = sizes > 0
    return jackknife(value, values[some], sizes[some], confidence=confidence)


def _plain(columns: Mapping[str, Floats]) -> dict[str, Floats]:
    """Sums over the test set itself."""
    return {name: values.sum(axis=1) for name, values in columns.items()}


def _symmetric(
    estimate: Estimate, samples: Estimate, level: float, sizes: NDArray[np.intp]
) -> tuple[Ends, ...]:
    moved = np.abs(samples.value - estimate.value[:, None])
    with np.errstate(invalid="ignore", divide="ignore"):
        distances = np.where((samples.error == 0) & (moved < _SAME), 0.0, moved / samples.error)
    wide = shift_distance(np.zeros(len(moved)), distances, level) * estimate.error
    wide[(sizes < INTERVAL_SEGMENTS) | (estimate.error == 0)] = np.nan
    return _ends(estimate.value - wide, estimate.value + wide)


def _ends(low: Floats, high: Floats) -> tuple[Ends, ...]:
    pairs = zip(low.tolist(), high.tolist(), strict=True)
    return tuple((None, None) if math.isnan(a) else (a, b) for a, b in pairs)


# Uncertainty of a whole run: intervals as features come by, comparisons at the end.


_FIGURES: Mapping[Variant, Literal["muler", "clipped"]] = {
    "ratio": "muler",
    "segment-clipped": "clipped",
}
#: pairs of systems beyond which those of the first system represent all in the design effect
_ALL_PAIRS = 45
#: design effect above which there is a notice
_GROUPED = 1.2


@dataclass(frozen=True)
class Grouping:
    """The documents of a test set, and whether these are asked to be the unit.

    By default they are where segments of one are alike, but for slices of too few documents.
    """

    unit: Unit
    documents: NDArray[np.int64] | None

    @classmethod
    def create(cls, testset: TestSet, unit: Unit) -> Grouping:
        """The documents that a test set names."""
        names = testset.documents
        return cls(unit, None if names is None else numbered(names))

    def has_document_units(self, values: Floats) -> bool:
        """True if documents are the unit of what segments add to some figures [K, N]."""
        if self.unit != "auto" or self.documents is None:
            return self.unit == "document"
        return clustering(values, self.documents).uses_documents

    def select_documents(self, members: NDArray[np.bool_]) -> NDArray[np.int64] | None:
        """The document of each segment, where documents can be the unit of a slice."""
        documents = self.documents
        if documents is None or self.unit != "auto":
            return documents
        few = len(np.unique(documents[members])) < LEAST_DOCUMENTS
        return None if few else documents

    def notices(self, **figures: Sequence[str]) -> Iterator[Message]:
        """That documents are the unit of some figures."""
        if self.documents is not None and any(figures.values()):
            n = int(self.documents.max()) + 1
            told = {"counts": [], "scorers": [], **figures}
            yield message("note.muler.by_document", **told, documents=n)


@dataclass
class Uncertainty:
    """Intervals of every feature of every metric, and comparisons of systems.

    A metric's unit is as for :func:`gnomon.compare`.
    """

    options: Bootstrap
    grouping: Grouping
    variants: Sequence[Variant]
    compared_in: Collection[str | None]
    differences: Differences
    words: WordsByFeature
    effects: list[float] = field(default_factory=list)
    by_document: dict[str, bool] = field(default_factory=dict)
    # by slice and feature: segments that have too few of it
    missing: dict[str | None, dict[str, Floats]] = field(default_factory=dict)
    _frames: dict[tuple[str, str | None], Frame] = field(default_factory=dict)

    @cached_property
    def counts(self) -> NDArray[np.uint8]:
        """Number of times that each resample has each segment."""
        return self.options.draw(self.words.batch.shape[1])

    def units(self, metric: str, slice_: Slice, base: Floats) -> Units:
        """Independent units of a slice, given a metric's scores of sentences [K, N]."""
        if metric not in self.by_document:
            added = base[1:] - base[0] if len(base) > 1 else base
            self.by_document[metric] = self.grouping.has_document_units(added)
        documents = (
            self.grouping.select_documents(slice_.members) if self.by_document[metric] else None
        )
        return Units.create(base.shape[1], documents)

    def ends(
        self,
        metric: str,
        slice_: Slice,
        scores: FeatureScores,
        present: Presence,
    ) -> tuple[Mapping[str, Ends], ...]:
        """The ends of the intervals of one feature, per system; its comparisons are noted."""
        units, level = self.units(metric, slice_, scores.base), self.options.confidence
        if slice_.name is None and units.document is None:
            self._note_effects(scores, present)
        if slice_.name in self.compared_in and len(present.both) > 1:
            self._compare(metric, slice_, scores, present, units)
        if units.document is not None:
            return jackknife_figures(scores, present, slice_.members, units.document, level)
        key = (metric, slice_.name)
        if key not in self._frames:
            self._frames[key] = frame(scores.base, slice_.members, self.counts, level)
        return resampled(scores, present, self._frames[key])

    def _compare(
        self,
        metric: str,
        slice_: Slice,
        scores: FeatureScores,
        present: Presence,
        units: Units,
    ) -> None:
        number = self.words.spans.features.index(scores.feature)
        pairs = combinations(range(len(present.both)), 2)
        differ = np.array([self.words.differ(number, a, b) for a, b in pairs]) & slice_.members
        inside = present.both & slice_.members
        for variant in (v for v in VARIANTS if v in self.variants):
            sums = _sum_terms(scores, _FIGURES[variant])
            of_feature = FeatureRatios.select(scores.feature, sums, inside, differ, units)
            self.differences.add((metric, variant, slice_.name), of_feature, units)
        missing = np.where(slice_.members, present.miss, np.nan)  # the same under all metrics
        self.missing.setdefault(slice_.name, {})[scores.feature] = missing

    def omissions(self) -> Differences:
        """Comparisons of how many segments have too few of each feature.

        Documents are the unit where systems differ alike in segments of one, on any feature.
        """
        found = Differences(self.differences.systems, self.options)
        for name, missing in self.missing.items():
            members = np.asarray(~np.isnan(next(iter(missing.values()))).all(axis=0))
            alike = any(
                self.grouping.has_document_units(miss[1:] - miss[0]) for miss in missing.values()
            )
            units = Units.create(
                len(members), self.grouping.select_documents(members) if alike else None
            )
            for feature, miss in missing.items():
                shares = FeatureShares.average(feature, miss, units)
                found.add(("", "miss", name), shares, units)
        return found

    def _note_effects(self, scores: FeatureScores, present: Presence) -> None:
        """Note the ratios of the scatter of figures over documents to that over segments."""
        documents = self.grouping.documents
        if documents is None or len(np.unique(documents)) < LEAST_DOCUMENTS:
            return  # there would be no intervals by document
        values = _sum_terms(scores, _FIGURES[self.variants[0]])
        moves = linearised(*values, present.both)[1]
        systems = len(moves)
        pairs = list(combinations(range(systems), 2))
        if len(pairs) > _ALL_PAIRS:
            pairs = pairs[: systems - 1]
        for a, b in pairs or [(0, -1)]:
            rows = present.both[a] if b < 0 else present.both[a] | present.both[b]
            z = moves[a] if b < 0 else moves[a] - moves[b]
            if rows.sum() >= LEAST and np.isfinite(z[rows]).all():
                effect = design_effect(z[rows], documents[rows])
                self.effects += [] if math.isnan(effect) else [effect]

    def fields(self, metric: str) -> dict[str, object]:
        """Its fields in a signature."""
        return self.options.fields(by_document=self.by_document.get(metric, False))

    def notices(self) -> Iterator[Message]:
        """Say how intervals were made, and what would be if segments were no unit."""
        how: dict[str, Any] = {
            "confidence": 100 * self.options.confidence,
            "segments": INTERVAL_SEGMENTS,
        }
        by_document = [metric for metric, chosen in self.by_document.items() if chosen]
        if len(by_document) < max(len(self.by_document), 1):
            yield message("note.muler.bootstrap", **how, resamples=self.options.resamples)
            effect = float(np.median(self.effects)) if self.effects else 1.0
            if effect > _GROUPED:
                wider, figures = math.sqrt(effect) - 1, len(self.effects)
                yield message("note.muler.clustered", wider=wider, figures=figures)
        if not by_document:
            return
        assert self.grouping.documents is not None  # noqa: S101  # unit_faults() saw to it
        n = len(set(self.grouping.documents.tolist()))
        if n < LEAST_DOCUMENTS:
            yield message("note.muler.few_documents", documents=n, least=LEAST_DOCUMENTS)
            return
        metrics = [] if self.grouping.unit == "document" else by_document
        yield message(
            "note.muler.jackknife", **how, documents=n, least=LEAST_DOCUMENTS, metrics=metrics
        )


def _sum_terms(scores: FeatureScores, name: Literal["muler", "clipped"]) -> tuple[Floats, Floats]:
    """The numerator and denominator of MuLER, segment by segment [K, N]."""
    base, oracle, anti_oracle = (
        scores.sign * values for values in (scores.base, scores.oracle, scores.anti_oracle)
    )
    parts = oracle - base, oracle - anti_oracle
    if name == "clipped":
        parts = clipped_ratios(base, oracle, anti_oracle), np.ones_like(base)
    missing = np.isnan(parts[0]) | np.isnan(parts[1])
    return np.where(missing, 0.0, parts[0]), np.where(missing, 0.0, parts[1])


def unit_faults(outline: Outline | None, unit: str) -> Iterator[Problem]:
    """Documents as the unit of a test set that names none."""
    if unit == "document" and outline is not None and not outline.slices.get("document"):
        message = (
            f"unit 'document' needs documents, and test set {outline.name!r} names none; give them"
            " in documents.tsv (columns document, domain), one row per segment"
        )
        yield Problem("unit", UsageError(message))


def uncertainty(
    options: Bootstrap,
    grouping: Grouping,
    words: WordsByFeature,
    parts: Sequence[Slice],
    variants: Sequence[Variant],
) -> Uncertainty | None:
    """Prepare what is drawn, or left out; ``None`` where nothing is."""
    if not options.resamples:
        return None
    compared_in = parts if len(slices_to_draw(parts)) == len(parts) else parts[:1]
    return Uncertainty(
        options,
        grouping,
        variants,
        {slice_.name for slice_ in compared_in},
        Differences(words.batch.systems, options),
        words,
    )
