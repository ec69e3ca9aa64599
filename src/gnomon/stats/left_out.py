"""Agreement of metrics with people, leaving out one document at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

import numpy as np

from gnomon.stats.correlation import pearson_of_sums
from gnomon.stats.jackknife import Jackknife, jackknife, leave_out_sums
from gnomon.stats.measures import ROW_STATISTICS, grouped_statistic, score_arrays
from gnomon.stats.p_values import check_confidence
from gnomon.stats.pair_tests import joint_cells, standardised
from gnomon.stats.paired_rows import PairedRows, arranged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from gnomon.stats.paired_rows import Grouping

    Function: TypeAlias = Callable[[NDArray[np.float64], NDArray[np.float64]], float]

__all__ = ["DocumentTest", "decisions_by_document", "document_test"]


class DocumentTest(NamedTuple):
    """Intervals of each metric's statistic, and a test of every ordered pair.

    - ``intervals``: lower and upper ends [2, metrics].
    - ``differences``: row metric less column metric, on the cells both have [metrics, metrics].
    - ``p``: p-values that the row metric is better than the column metric [metrics, metrics].
    - ``documents``: how many documents the statistic of each metric rests on [metrics].
    """

    intervals: NDArray[np.float64]
    differences: NDArray[np.float64]
    p: NDArray[np.float64]
    documents: NDArray[np.int64]


def document_test(
    human: ArrayLike,
    metrics: ArrayLike,
    documents: ArrayLike,
    *,
    statistic: str | Function | Sequence[Function] = "pearson",
    grouping: Grouping = "none",
    confidence: float = 0.95,
) -> DocumentTest:
    """Estimate how far each metric's agreement with people would move with other documents.

    Segments of a document that one person judged are not independent. The jackknife leaves out one
    document at a time (:func:`gnomon.stats.jackknife`); Student's t has as many degrees of freedom
    as documents of equal size would have, less one. Pooled Pearson and averages over items come
    from sums; all else is computed anew without each document.

    Args:
        human: scores [systems, items]; NaN is missing.
        metrics: scores [metrics, systems, items], higher is better; NaN is missing.
        documents: the document of each item, whole numbers [items].
        statistic: as in :func:`~gnomon.stats.permutation_test`, or one function per metric. Under
            the grouping ``item`` functions are given one item at a time, and averaged over these.
        grouping: ``none``, ``item`` or ``system``.
        confidence: of the intervals, in (0, 1).

    Returns:
        Intervals, differences and p-values; NaN where undefined, or for fewer than
        ``LEAST_DOCUMENTS`` documents.

    Raises:
        LengthMismatchError: the shapes do not fit.
        UnknownNameError: no such statistic or grouping.
        UsageError: a confidence that is no share.
    """
    check_confidence(confidence)
    h, m = score_arrays(human, metrics)
    single = isinstance(statistic, str) or callable(statistic)
    named = cast("str | Function", statistic) if single else None
    if isinstance(named, str):
        grouped_statistic(named, grouping)
    of_each: list[str | Function] = (
        [named] * len(m) if named is not None else list(cast("Sequence[Function]", statistic))
    )
    present = ~(np.isnan(m) | np.isnan(h))
    numbers = np.asarray(documents)
    pairs = [(i, j) for i in range(len(m)) for j in range(i, len(m))]

    def compare_pairs() -> Iterator[tuple[tuple[int, int], Jackknife]]:
        for joint in joint_cells(present, pairs):
            cells = joint.cells[:, used := joint.cells.any(axis=0)]
            _, which = np.unique(numbers[used], return_inverse=True)
            people = np.where(cells, h[:, used], np.nan)
            scores = np.where(cells, m[joint.metrics][..., used], np.nan)
            functions = [of_each[k] for k in joint.metrics]
            whole, without = _leave_out(people, scores, cells, which, functions, grouping)
            sizes = np.bincount(which, cells.sum(axis=0))
            for pair, a, b in zip(joint.pairs, *joint.places, strict=True):
                estimates = (whole[a], without[:, a])
                if a != b:
                    estimates = (whole[a] - whole[b], without[:, a] - without[:, b])
                yield pair, jackknife(*estimates, sizes, confidence=confidence)

    return _tabulate(len(m), compare_pairs())


def decisions_by_document(
    right: Sequence[NDArray[np.float64]],
    segments: NDArray[np.int64],
    documents: NDArray[np.int64],
    *,
    confidence: float = 0.95,
) -> DocumentTest:
    """The same of (C - D)/(C + D) over pairs that people ordered (DaRR).

    Args:
        right: for each metric, 1.0 where it orders a pair as people do, 0.0 where it does not, NaN
            where it lacks a score [pairs].
        segments: the segment of each pair, from 0 [pairs].
        documents: the document of each segment [segments].
        confidence: of the intervals, in (0, 1).
    """
    of_pairs = documents[segments]

    def compare_pairs() -> Iterator[tuple[tuple[int, int], Jackknife]]:
        for i in range(len(right)):
            for j in range(i, len(right)):
                both = ~(np.isnan(right[i]) | np.isnan(right[j]))
                if not both.any():
                    continue
                _, which = np.unique(of_pairs[both], return_inverse=True)
                gain = right[i] if i == j else right[i] - right[j]
                sums = np.stack([gain[both], np.ones(int(both.sum()))], axis=1)
                less = 1.0 if i == j else 0.0
                whole, without = (
                    2 * totals[..., 0] / np.where(totals[..., 1] == 0, np.nan, totals[..., 1])
                    - less
                    for totals in (sums.sum(axis=0), leave_out_sums(sums, which))
                )
                sizes = np.bincount(which)
                yield (i, j), jackknife(whole, without, sizes, confidence=confidence)

    return _tabulate(len(right), compare_pairs())


def _tabulate(metrics: int, every: Iterator[tuple[tuple[int, int], Jackknife]]) -> DocumentTest:
    intervals = np.full((2, metrics), np.nan)
    differences, p = np.full((2, metrics, metrics), np.nan)
    documents = np.zeros(metrics, dtype=np.int64)
    for (i, j), test in every:
        if i == j:
            intervals[:, i], documents[i] = (test.low, test.high), test.documents
            differences[i, i] = 0.0 if np.isfinite(test.estimate) else np.nan
            continue
        value, two_sided = float(test.estimate), float(test.p)
        differences[i, j], differences[j, i] = value, -value
        for cell, ahead in (((i, j), value), ((j, i), -value)):
            one_sided = two_sided / 2 if ahead > 0 else 1 - two_sided / 2
            p[cell] = one_sided if ahead else two_sided
    return DocumentTest(intervals, differences, p, documents)


def _leave_out(
    human: NDArray[np.float64],
    metrics: NDArray[np.float64],
    cells: NDArray[np.bool_],
    which: NDArray[np.int64],
    functions: Sequence[str | Function],
    grouping: Grouping,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The statistic of each metric [metrics], and without each document [documents, metrics]."""
    if functions[0] == "pearson" and grouping == "none":
        h, x = standardised(human[None], cells)[0], standardised(metrics, cells)
        parts = [np.broadcast_to(feature, x.shape) for feature in (cells, h, x, h**2, x**2, x * h)]
        sums = np.stack([feature.sum(axis=1) for feature in parts], axis=-1)  # [metrics, items, 6]
        whole, without = sums.sum(axis=1), leave_out_sums(sums, which)
        r, others = (pearson_of_sums(np.moveaxis(feature, -1, 0)) for feature in (whole, without))
        return r, others
    if grouping == "item":
        each = np.stack(
            [_leave_out_items(human, x, f) for x, f in zip(metrics, functions, strict=True)]
        )
        sums = np.stack([np.nan_to_num(each), ~np.isnan(each)], axis=-1)
        whole, without = sums.sum(axis=1), leave_out_sums(sums, which)
        return tuple(  # type: ignore[return-value]
            totals[..., 0] / np.where(totals[..., 1] == 0, np.nan, totals[..., 1])
            for totals in (whole, without)
        )
    statistics = [
        f if not isinstance(f, str) else grouped_statistic(f, grouping).score_cells
        for f in functions
    ]
    values_without = [
        [f(human[:, kept], x[:, kept]) for f, x in zip(statistics, metrics, strict=True)]
        for kept in (np.ones(len(which), dtype=bool), *(which != k for k in range(which.max() + 1)))
    ]
    values = np.array(values_without, dtype=np.float64)
    return values[0], values[1:]


def _leave_out_items(
    human: NDArray[np.float64], metric: NDArray[np.float64], statistic: str | Function
) -> NDArray[np.float64]:
    if isinstance(statistic, str):
        rows = PairedRows(arranged(human, "item"), arranged(metric, "item"))
        return ROW_STATISTICS[statistic](rows)
    return np.array([statistic(human[:, [k]], metric[:, [k]]) for k in range(human.shape[1])])
