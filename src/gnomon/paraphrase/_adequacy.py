"""Do paraphrases keep the meaning? By a metric against the references, and by people."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from gnomon.errors import DataError
from gnomon.findings import Bars, Column, Finding, Listing, Table
from gnomon.metrics import score
from gnomon.stats.resampling import bootstrap_interval
from gnomon.testset import TestSet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.findings import Cell
    from gnomon.metrics import BoundMetric, Metric
    from gnomon.scores import Scores
    from gnomon.testset import Paraphrase

    AnyMetric: TypeAlias = str | Metric | BoundMetric | Callable[..., float]

__all__ = ["adequacy", "adequacy_finding", "adequacy_row", "closeness"]

_TITLE = "How well paraphrases keep the meaning of the references"
_COLUMNS = (
    Column("method", "Method"),
    Column("measure", "Measure", help="a metric against the references, or people (0 to 100)"),
    Column("value", "Mean", "number", 2, ends=("low", "high")),
    Column("low", "Low", "number", 2, help="bootstrap over segments"),
    Column("high", "High", "number", 2),
    Column("n", "Paraphrases", "count"),
    Column("segments", "Segments", "count"),
)
_SHOWN = ("method", "measure", "value", "low", "high", "n", "segments")


def closeness(
    testset: TestSet,
    paraphrases: Sequence[Paraphrase],
    metric: AnyMetric = "chrf",
    *,
    allow_code: bool = False,
) -> NDArray[np.float64]:
    """The score of each paraphrase as if it were an output, against its segment's references.

    Args:
        testset: references (and sources, if the metric needs them).
        paraphrases: the paraphrases.
        metric: any metric.
        allow_code: let a spec ``python('module:function')`` run code.

    Returns:
        float64 [paraphrases], in the metric's own units.
    """
    if not paraphrases:
        return np.zeros(0)
    return np.asarray(_scored(testset, paraphrases, metric, allow_code=allow_code).segments[0])


def adequacy(
    testset: TestSet,
    paraphrases: Sequence[Paraphrase],
    metrics: Sequence[str] = ("chrf",),
    *,
    confidence: float = 0.95,
    seed: int = 0,
    allow_code: bool = False,
) -> Finding:
    """Mean score of each method's paraphrases against the references, with an interval.

    Args:
        testset: references.
        paraphrases: the paraphrases; empty ones are left out.
        metrics: specs of metrics; those that look at meaning say more than those that count words.
        confidence: of the intervals (percentile bootstrap over segments).
        seed: of their draws.
        allow_code: let a spec ``python('module:function')`` run code.

    Returns:
        A finding with rows ``method, measure, value, low, high, n, segments``.

    Raises:
        DataError: there is no paraphrase, or one is of a segment that is not there.
    """
    kept = [one for one in paraphrases if one.text.strip()]
    for one in kept:
        if not 1 <= one.segment <= testset.segments:
            raise one.error(
                f"segment {one.segment} is out of range: there are {testset.segments}, from 1"
            )
    rows, signatures = [], {}
    for metric in metrics if kept else ():
        scores = _scored(testset, kept, metric, allow_code=allow_code)
        by_method: dict[str, dict[int, list[float]]] = {}
        for one, value in zip(kept, scores.segments[0].tolist(), strict=True):
            by_method.setdefault(one.method, {}).setdefault(one.segment, []).append(value)
        rows += [
            adequacy_row(method, metric, list(by_segment.values()), confidence, seed)
            for method, by_segment in by_method.items()
        ]
        signatures[metric] = str(scores.signature)
    return adequacy_finding(rows, signatures, {"test set": testset.name})


def adequacy_finding(
    rows: Sequence[Mapping[str, Cell]],
    signatures: Mapping[str, str],
    facts: Mapping[str, str],
    more: Sequence[Table] = (),
) -> Finding:
    """Rows of :func:`adequacy_row` as a finding.

    Raises:
        DataError: there are none.
    """
    if not rows:
        raise DataError("there is no paraphrase to judge; name files with --paraphrases FILE")
    return Finding(
        method="paraphrase adequacy",
        title=_TITLE,
        tables=(Table("adequacy", _TITLE, _COLUMNS, tuple(rows)), *more),
        signatures=signatures,
        views=(
            Listing("adequacy", _TITLE, _SHOWN),
            Bars("adequacy", _TITLE, "method", "measure", ("value",), beside="n"),
        ),
        facts=facts,
    )


def adequacy_row(
    method: str,
    measure: str,
    groups: Sequence[Sequence[float]],
    confidence: float,
    seed: int,
) -> dict[str, Cell]:
    """The mean of values that come in groups (segments), which are drawn whole.

    Undefined values (NaN) are left out.
    """
    known = [[value for value in group if np.isfinite(value)] for group in groups]
    sums = np.array([(sum(g), len(g)) for g in known if g], dtype=np.float64).reshape(-1, 2)
    row: dict[str, Cell] = {"method": method, "measure": measure, "n": int(sums[:, 1].sum())}
    if not len(sums):
        return row | {"value": None, "low": None, "high": None, "segments": 0}
    found = bootstrap_interval(sums, _ratio, level=confidence, seed=seed)
    ends = {"value": found.estimate, "low": found.low, "high": found.high}
    return row | ends | {"segments": len(sums)}


def _scored(
    testset: TestSet, paraphrases: Sequence[Paraphrase], metric: AnyMetric, *, allow_code: bool
) -> Scores:
    """The paraphrases as the outputs of one system, each a segment of its own."""
    places = [one.segment - 1 for one in paraphrases]
    flat = TestSet(
        name=testset.name,
        references={n: [texts[i] for i in places] for n, texts in testset.references.items()},
        systems={"paraphrases": [one.text for one in paraphrases]},
        sources=None if testset.sources is None else [testset.sources[i] for i in places],
        language_pair=testset.language_pair,
    )
    return score(flat, metric, allow_code=allow_code)


def _ratio(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    total, count = rows.sum(axis=0)
    return np.asarray(total / count)
