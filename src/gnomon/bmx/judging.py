"""Quality of explanations, judged by errors that people marked, by deletion and insertion."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from gnomon.bmx.explained_texts import MAX_CALLS
from gnomon.bmx.pairs import NO_TEXT, DistinctTexts, PairKey, PairTable, Scorer
from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.core.records import METRIC, EndColumns, Record, column, table
from gnomon.messages.audiences import flag
from gnomon.metrics.means import mean_of_cells, quotients
from gnomon.metrics.scoring import bind
from gnomon.stats import jackknife_test
from gnomon.stats.holm import step_down

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.bmx.explained_texts import Explanations, SideWords
    from gnomon.core.batch import Batch
    from gnomon.core.findings import Table
    from gnomon.core.outline import Outline
    from gnomon.core.spans import ErrorSpan
    from gnomon.core.testset import TestSet
    from gnomon.metrics.base import BoundMetric, Metric

__all__ = [
    "ErrorAgreement",
    "Faithfulness",
    "JudgedExplanations",
    "JudgedRow",
    "against_errors",
    "check_errors",
    "curve_area",
    "curves_table",
    "errors_table",
    "faithfulness",
    "tag_ranks",
    "tagged_words",
]


# Separation of tagged words from the others by importances.


class TagRanks(NamedTuple):
    """Agreement of the importances of one sentence's words with tags; 1 is best."""

    auc: float
    average_precision: float
    recall: float


def tag_ranks(importance: NDArray[np.float64], tagged: NDArray[np.bool_]) -> TagRanks | None:
    """Agreement of one sentence (Fomicheva et al., 2021, "The Eval4NLP shared task").

    Low importance, and so a word without which the score rises, stands for an error.

    >>> tag_ranks(np.array([0.5, -0.1, 0.2]), np.array([False, True, False]))
    TagRanks(auc=1.0, average_precision=1.0, recall=1.0)
    """
    errors = int(tagged.sum())
    if not 0 < errors < len(tagged):
        return None
    _, level = np.unique(importance, return_inverse=True)
    level = level.reshape(-1)
    size = np.bincount(level)
    hits = np.bincount(level, tagged, minlength=len(size))
    right = size - hits
    above = right.sum() - np.cumsum(right)  # untagged words of more importance
    auc = (hits * (above + right / 2)).sum() / (errors * right.sum())
    precision = np.cumsum(hits) / np.cumsum(size)
    taken = np.clip(errors - (np.cumsum(size) - size), 0, size)
    return TagRanks(
        auc=float(auc),
        average_precision=float((hits * precision).sum() / errors),
        recall=float((hits * taken / size).sum() / errors),
    )


# Explanations against the errors that people marked.


@dataclass(frozen=True, eq=False)
class ErrorAgreement:
    """Agreement of the importances of one side's words with the errors, sentence by sentence.

    Attributes:
        side: "candidate" or "source".
        auc: float64 [K, N]; see :class:`TagRanks`. NaN for sentences that are left out.
        average_precision: float64 [K, N], likewise.
        recall: float64 [K, N], recall at top-K, likewise.
    """

    side: str
    auc: NDArray[np.float64]
    average_precision: NDArray[np.float64]
    recall: NDArray[np.float64]

    @property
    def measures(self) -> Mapping[str, NDArray[np.float64]]:
        """The three measures by name."""
        return {
            "auc": self.auc,
            "average precision": self.average_precision,
            "recall at top-K": self.recall,
        }


def against_errors(
    testset: TestSet, explanations: Explanations, *, kind: str | None = None
) -> tuple[ErrorAgreement, ...]:
    """Judge explanations by the errors that people marked.

    A word is an error where a marked span overlaps it; marks without extent (of missing words) say
    nothing of a word. The less important a word, the more it is taken for an error: where the
    importance is negative, the score rises without the word.
    """
    check_errors(testset.outline, [side.side for side in explanations.sides], kind=kind)
    tagged = tagged_words(testset, explanations, kind=kind)
    return tuple(
        _agreement(side, tagged[side.side], explanations.shape)
        for side in explanations.sides
        if side.side in tagged
    )


def check_errors(outline: Outline, sides: Sequence[str], *, kind: str | None = None) -> None:
    """Refuse a test set without marked errors on some sides, before anything is explained."""
    _check_kind([errors.kind for errors in outline.marked], kind)
    there = {
        errors.side for errors in outline.marked if kind in (None, errors.kind) and errors.extent
    }
    if there.isdisjoint(sides):
        raise DataError(
            f"test set {outline.name!r} has no marked errors on the explained side"
            f" ({' or '.join(sides)}); explanations are judged by word tags or error spans of"
            " candidates and sources"
        )


def tagged_words(
    testset: TestSet, explanations: Explanations, *, kind: str | None = None
) -> dict[str, NDArray[np.bool_]]:
    """Which words of the explained sides are marked, bool [rows of the side], by side.

    Sides on which nothing is marked in the whole test set have no entry.
    """
    errors = _select_kind(testset.errors, kind)
    tagged = {}
    for side in explanations.sides:
        side_errors = [
            error for error in errors if error.side == side.side and error.end > error.start
        ]
        if side_errors:
            tagged[side.side] = _marks(side_errors, side, explanations)
    return tagged


def _select_kind(errors: Sequence[ErrorSpan], kind: str | None) -> list[ErrorSpan]:
    _check_kind([str(error.kind) for error in errors], kind)
    return [error for error in errors if kind in (None, error.kind)]


def _check_kind(there: Sequence[str], kind: str | None) -> None:
    kinds = tuple(dict.fromkeys(there))
    if kind is not None and kind not in kinds:
        raise UnknownNameError("kind of errors", kind, kinds)
    if kind is None and len(kinds) > 1:
        raise DataError(
            f"there are several kinds of marked errors: {', '.join(kinds)}; give a test set with"
            " one, or name one in Python (gnomon.bmx.against_errors(..., kind=))"
        )


def _marks(
    errors: Sequence[ErrorSpan], side: SideWords, explanations: Explanations
) -> NDArray[np.bool_]:
    row = {name: k for k, name in enumerate(explanations.systems)}
    column = {int(segment) - 1: i for i, segment in enumerate(explanations.segments)}
    marked = np.zeros(len(side.importance), dtype=np.bool_)
    for error in errors:
        if error.system in row and error.segment in column:
            cell = row[error.system] * explanations.shape[1] + column[error.segment]
            rows = side.rows(cell)
            marked[rows] |= (side.start[rows] < error.end) & (side.end[rows] > error.start)
    return marked


def _agreement(
    side: SideWords, tagged: NDArray[np.bool_], shape: tuple[int, int]
) -> ErrorAgreement:
    measured = np.full((len(TagRanks._fields), shape[0] * shape[1]), np.nan)
    for cell in range(measured.shape[1]):
        rows = side.rows(cell)
        importance, marks = side.importance[rows], tagged[rows]
        ranks = None if np.isnan(importance).any() else tag_ranks(importance, marks)
        if ranks is not None:
            measured[:, cell] = ranks
    auc, precision, recall = measured.reshape(-1, *shape)
    return ErrorAgreement(side.side, auc, precision, recall)


# Faithfulness of explanations: scores as the words that they name are deleted or inserted.


_GROUP = 4096


@dataclass(frozen=True, eq=False)
class Faithfulness:
    """Areas under the curves of every cell, in units of the metric, oriented: better is higher.

    Attributes:
        deletion: float64 [K, N], mean over the explained sides; lower is more faithful. NaN where
            there is no word, or an importance or score is undefined.
        insertion: float64 [K, N], likewise; higher is more faithful.
        calls: distinct pairs of texts that the metric scored for this.
    """

    deletion: NDArray[np.float64]
    insertion: NDArray[np.float64]
    calls: int


def faithfulness(
    testset: TestSet,
    metric: str | Metric | BoundMetric | Callable[..., float],
    explanations: Explanations,
    *,
    max_calls: int = MAX_CALLS,
    allow_code: bool = False,
) -> Faithfulness:
    """Delete and insert words in the order of their importance.

    Words of one side go, with the white space after them, while the other side is intact; words of
    equal importance in the order of the text.
    """
    _, bound = bind(testset, metric, allow_code=allow_code)
    words = sum(len(side.importance) for side in explanations.sides)
    if 2 * words > max_calls:
        raise UsageError(
            f"curves of {words} words take up to {2 * words} metric calls, more than the"
            f" {max_calls} that are allowed; allow more (",
            flag("max_calls"),
            "), or take fewer systems or segments",
        )
    names = list(testset.systems)
    batch = testset.batch().select(
        systems=[names.index(name) for name in explanations.systems],
        segments=explanations.segments - 1,
    )
    scorer = Scorer(bound, batch)
    areas = np.full((2, len(explanations.sides), explanations.scores.size), np.nan)
    for group in _groups(explanations):
        _fill(areas, group, _Curves(explanations, batch, scorer))
    means = _mean_defined(areas)
    return Faithfulness(
        deletion=means[0].reshape(batch.shape),
        insertion=means[1].reshape(batch.shape),
        calls=scorer.calls,
    )


def curve_area(scores: NDArray[np.float64]) -> float:
    """Area under a curve over equal steps from 0 to 1, by trapezoids.

    >>> curve_area(np.array([1.0, 0.5, 0.0]))
    0.5
    """
    return float(np.trapezoid(scores) / (len(scores) - 1))


class _Curve(NamedTuple):
    """Positions of the scores of a curve."""

    kind: int  # 0 deletion, 1 insertion
    side: int
    cell: int
    at: list[int]


class _Curves:
    """The texts of some curves."""

    def __init__(self, explanations: Explanations, batch: Batch, scorer: Scorer) -> None:
        self.explanations = explanations
        self.batch = batch
        self.scorer = scorer
        self.texts = DistinctTexts()
        self.pairs = PairTable()

    def draw_curves(self, cell: int, number: int) -> Iterator[_Curve]:
        """Deletion and insertion of one side of a cell."""
        side = self.explanations.sides[number]
        importance = side.importance[side.rows(cell)]
        if not len(importance) or np.isnan(importance).any():
            return
        whole = self._key(cell)
        rank = np.argsort(np.argsort(-importance, kind="stable"), kind="stable")
        words = self.texts.words(whole[1 + number])
        for kind in (0, 1):
            at = []
            for count in range(len(words) + 1):
                kept = rank >= count if kind == 0 else rank < count
                text = self.texts.add(words.text if kept.all() else words.keeping(kept.tolist()))
                key = whole._replace(other=text) if number else whole._replace(candidate=text)
                at.append(self.pairs.add(key))
            yield _Curve(kind, number, cell, at)

    def _key(self, cell: int) -> PairKey:
        system, segment = divmod(cell, self.batch.shape[1])
        judge = int(self.explanations.judged_by[system, segment])
        source = -1 if self.batch.sources is None else int(self.batch.sources[segment])
        if self.scorer.role != "reference":
            source = -1
        return PairKey(
            segment,
            candidate=self._text(int(self.batch.candidates[system, segment])),
            other=self._text(judge),
            source=self._text(source),
            system=system if self.scorer.depends_on_system else -1,
        )

    def _text(self, number: int) -> int:
        return NO_TEXT if number < 0 else self.texts.add(self.batch.texts[number])


def _fill(areas: NDArray[np.float64], cells: list[int], curves: _Curves) -> None:
    sides = range(len(curves.explanations.sides))
    drawn = [curve for cell in cells for side in sides for curve in curves.draw_curves(cell, side)]
    scores = curves.scorer.scores(list(curves.pairs.number), curves.texts)
    for curve in drawn:
        areas[curve.kind, curve.side, curve.cell] = curve_area(scores[curve.at])


def _groups(explanations: Explanations) -> Iterator[list[int]]:
    """Cells, segment by segment, as many at a time as their words allow."""
    systems, segments = explanations.shape
    group: list[int] = []
    words = 0
    for cell in (k * segments + i for i in range(segments) for k in range(systems)):
        group.append(cell)
        words += sum(_count(side, cell) for side in explanations.sides)
        if words >= _GROUP:
            yield group
            group, words = [], 0
    if group:
        yield group


def _count(side: SideWords, cell: int) -> int:
    rows = side.rows(cell)
    return int(rows.stop) - int(rows.start)


def _mean_defined(areas: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over the sides that have a curve, [kinds, cells]; NaN where none has."""
    defined = ~np.isnan(areas)
    return quotients(np.where(defined, areas, 0.0).sum(axis=1), defined.sum(axis=1))


# Means over explained outputs, with intervals over segments or documents.


def _mean_at(
    values: NDArray[np.float64], units: NDArray[np.int64], level: float
) -> tuple[float, float, float]:
    """Ends of an interval of the mean of all defined cells, and p of its being 0.

    Outputs of several systems for one segment, and segments of one unit, are left out together.
    """
    defined = ~np.isnan(values)
    sums = np.stack([np.where(defined, values, 0.0), defined], axis=-1).sum(axis=0)
    there = sums[:, 1] > 0
    if not there.any():
        return (np.nan,) * 3
    found = jackknife_test(
        sums[there],
        units[there],
        lambda two: quotients(two[..., 0], two[..., 1]),
        confidence=1 - level,
    )
    return float(found.low), float(found.high), float(found.p)


# Explanations judged by errors that people marked and by curves, compared with a control.


#: side and measure -> values of every cell, float64 [K, N]
Measured: TypeAlias = "Mapping[tuple[str, str], NDArray[np.float64]]"


class JudgedExplanations(NamedTuple):
    """Figures of explanations against marked errors and in curves, and those of their control."""

    metric: str
    explainer: str
    errors: Measured
    curves: Measured
    control: JudgedExplanations | None = None


_LEFT_OUT = "by leaving out documents, or else segments"


class JudgedRow(Record):
    """Figure of explanations by one measure, over all sentences."""

    metric: str = METRIC
    explainer: str = column("Explainer", help="what explained, as it was given")
    side: str = column("Side", help="whose words were judged")
    measure: str = column(
        "Measure",
        help="auc, average precision, recall at top-K (1 is best), insertion (more is better), or"
        " deletion (less is)",
    )
    value: float | None = column(
        "Mean",
        digits=3,
        help="over sentences; of curves, the area",
        interval=EndColumns(how=_LEFT_OUT),
    )
    random: float | None = column("Random", digits=3, help="the random explainer's")
    gain: float | None = column(
        "Gain",
        digits=3,
        help="better than the random explainer by",
        interval=EndColumns("gain_low", "gain_high", how=f"{_LEFT_OUT}, after Holm"),
    )
    sentences: int = column("Sentences", help="that have a value")
    segments: int = column("Segments", help="of these sentences")


def errors_table(
    judged: Sequence[JudgedExplanations], units: NDArray[np.int64], confidence: float
) -> Table:
    """Agreement with the errors that people marked, averaged over sentences.

    Args:
        judged: explanations beside their control.
        units: the document of each segment, or each segment a unit of its own.
        confidence: of the intervals.
    """
    compared = [
        _Compared(one, *key, values, control.errors[key])
        for one, control in _pair_with_controls(judged)
        for key, values in one.errors.items()
    ]
    note = (
        "Low importance stands for an error: where it is negative, the score rises without the"
        " word. Means over sentences; the gain is over the random explainer on the same sentences."
    )
    rows = _rows(compared, units, confidence)
    return table("errors", "Explanations against marked errors", JudgedRow, rows, note=note)


def curves_table(
    judged: Sequence[JudgedExplanations], units: NDArray[np.int64], confidence: float
) -> Table:
    """Areas under deletion and insertion curves, averaged over outputs."""
    compared = [
        _Compared(one, *key, values, control.curves[key])
        for one, control in _pair_with_controls(judged)
        for key, values in one.curves.items()
    ]
    note = (
        "Words are deleted (inserted) from the most to the least important: a faithful explanation"
        " has a small area under deletion and a large one under insertion. Gains are positive"
        " where it does better than the random explainer."
    )
    rows = _rows(compared, units, confidence)
    return table("faithfulness", "Deletion and insertion", JudgedRow, rows, note=note)


def _pair_with_controls(
    judged: Sequence[JudgedExplanations],
) -> list[tuple[JudgedExplanations, JudgedExplanations]]:
    return [(one, one.control) for one in judged if one.control is not None]


class _Compared(NamedTuple):
    """Values of explanations and of their control, float64 [K, N]."""

    judged: JudgedExplanations
    side: str
    measure: str
    values: NDArray[np.float64]
    control: NDArray[np.float64]

    @property
    def gains(self) -> NDArray[np.float64]:
        """Gains of the explanations over their control."""
        sign = -1.0 if self.measure == "deletion" else 1.0
        return sign * (self.values - self.control)


def _rows(
    compared: Sequence[_Compared], units: NDArray[np.int64], confidence: float
) -> Iterator[JudgedRow]:
    """A row for each; the gains of one measure are tested as a family."""
    alpha = round(1 - confidence, 12)
    tests = [partial(_mean_at, one.gains, units) for one in compared]
    steps = step_down(tests, alpha, [one.measure for one in compared])
    for one, step in zip(compared, steps, strict=True):
        low, high, _ = _mean_at(one.values, units, alpha)
        defined = ~np.isnan(one.values)
        yield JudgedRow(
            metric=one.judged.metric,
            explainer=one.judged.explainer,
            side=one.side,
            measure=one.measure,
            value=mean_of_cells(one.values),
            random=mean_of_cells(np.where(np.isnan(one.values), np.nan, one.control)),
            gain=mean_of_cells(one.gains),
            sentences=int(defined.sum()),
            segments=int(defined.any(axis=0).sum()),
            intervals={"value": (low, high), "gain": (step.low, step.high)},
        )
