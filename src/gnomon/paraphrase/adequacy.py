"""Adequacy of paraphrases, by a metric against the references."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, UsageError
from gnomon.core.findings import Bars, Finding, Listing
from gnomon.core.options import CONFIDENCE, SEED
from gnomon.core.records import EndColumns, Record, column, column_names
from gnomon.core.testset import Paraphrase, TestSet
from gnomon.core.verdicts import LEAST, metric_title
from gnomon.messages import message
from gnomon.messages.audiences import flag
from gnomon.metrics import bind, score
from gnomon.metrics.base import AnyMetric, Metrics, list_metrics
from gnomon.stats.resampling import bootstrap_interval

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.scores import Scores
    from gnomon.core.signature import Signature
    from gnomon.messages import Message
    from gnomon.paraphrase._wordings import Wordings


__all__ = [
    "ADEQUACY_TITLE",
    "AdequacyRow",
    "Filtered",
    "adequacy_row",
    "adequacy_rows",
    "adequacy_verdict",
    "adequacy_views",
    "closeness",
    "filtered",
]


ADEQUACY_TITLE = "How well paraphrases keep the meaning of the references"


class AdequacyRow(Record):
    """Figures of how well the paraphrases of a method keep the meaning."""

    method: str = column("Method", help="the method that made the paraphrases")
    measure: str = column("Measure", help="a metric against the references")
    value: float | None = column(
        "Mean",
        help="over the paraphrases",
        interval=EndColumns(how="by bootstrap over segments"),
    )
    n: int = column("Paraphrases", help="that have a value")
    segments: int = column("Segments", help="that have such a paraphrase")
    alone: int = column("Alone", help="of these, segments that lack one of another method")


#: the share of segments without what is compared that is said, at least
_MISSING = 0.01


def adequacy_verdict(finding: Finding) -> Iterator[Message]:
    """State how well the paraphrases of each method keep the meaning, and which are apart."""
    every = [row for row in finding.records(AdequacyRow) if row.value is not None]
    for measure in dict.fromkeys(row.measure for row in every):
        rows = [row for row in every if row.measure == measure]
        enough = [row for row in rows if row.segments >= LEAST]
        if enough:
            enough.sort(key=lambda row: -(row.value or 0.0))
            yield _nearest(finding, enough)
        for row in rows:
            if row.segments < LEAST:
                yield message(
                    "data.few",
                    finding.positions([row]),
                    of=[row.method],
                    n=row.segments,
                    unit="segment",
                    least=LEAST,
                )


def _nearest(finding: Finding, rows: Sequence[AdequacyRow]) -> Message:
    """Which of the methods is nearest to the references, best first."""
    ends = [row.ends("value") for row in rows]
    parts: dict[str, Any] = {
        "methods": [
            {"method": row.method, "value": row.value, "low": low, "high": high}
            for row, (low, high) in zip(rows, ends, strict=True)
        ],
        "measure": metric_title(rows[0].measure),
    }
    positions = finding.positions(rows)
    missing = [
        {"method": row.method, "alone": row.alone}
        for row in rows
        if row.alone > _MISSING * row.segments
    ]
    if len(rows) == 1 or missing:
        return message(
            "paraphrase.adequacy.undecided",
            positions,
            level="undecided" if len(rows) == 1 else "caution",
            why="alone" if len(rows) == 1 else "unlike",
            lack=len(rows) > 1,
            missing=missing,
            **parts,
        )
    low, high = ends[0][0], ends[1][1]
    if low is not None and high is not None and low > high:
        return message("paraphrase.adequacy.nearest", positions, best=rows[0].method, **parts)
    return message(
        "paraphrase.adequacy.undecided",
        positions,
        level="undecided",
        why="alike",
        lack=False,
        missing=[],
        **parts,
    )


def closeness(
    testset: TestSet,
    paraphrases: Sequence[Paraphrase],
    metric: AnyMetric = "chrf",
    *,
    allow_code: bool = False,
) -> NDArray[np.float64]:
    """The score of each paraphrase as if it were an output, against its segment's references."""
    if not paraphrases:
        return np.zeros(0)
    return np.asarray(
        _score_paraphrases(testset, paraphrases, metric, allow_code=allow_code).segments[0]
    )


def adequacy_rows(
    testset: TestSet, sets: Mapping[str, Wordings], metrics: Metrics, *, allow_code: bool
) -> tuple[list[AdequacyRow], dict[str, Signature]]:
    """Mean scores of each set's wordings against the references, and signatures by metric.

    Empty wordings are left out.
    """
    made = [
        Paraphrase(number, text, name)
        for name, groups in sets.items()
        for number, group in enumerate(groups, start=1)
        for text in group
        if text is not None and text.strip()
    ]
    if not made:
        raise DataError(
            "there is no paraphrase to judge; name files with ", flag("paraphrases", "FILE")
        )
    beyond = max(one.segment for one in made)
    if beyond > testset.segments:
        raise DataError(f"segment {beyond} is out of range: there are {testset.segments}, from 1")
    rows, signatures = [], {}
    for one_metric in list_metrics(metrics):
        scores = _score_paraphrases(testset, made, one_metric, allow_code=allow_code)
        metric = one_metric if isinstance(one_metric, str) else scores.metric
        by_set: dict[str, dict[int, list[float]]] = {}
        for one, value in zip(made, scores.segments[0].tolist(), strict=True):
            by_set.setdefault(one.method, {}).setdefault(one.segment, []).append(value)
        shared = _find_shared(by_set)
        rows += [
            adequacy_row(name, metric, by_segment, CONFIDENCE, SEED, shared=shared)
            for name, by_segment in by_set.items()
        ]
        signatures[metric] = scores.signature
    return rows, signatures


def adequacy_views() -> tuple[Listing, Bars]:
    """The table of adequacy, and bars of it."""
    return (
        Listing("adequacy", ADEQUACY_TITLE, column_names(AdequacyRow)),
        Bars("adequacy", ADEQUACY_TITLE, "method", "measure", ("value",), beside="n"),
    )


def adequacy_row(
    made_by: str,
    measure: str,
    by_segment: Mapping[int, Sequence[float]],
    confidence: float,
    seed: int,
    *,
    shared: Collection[int],
) -> AdequacyRow:
    """The mean of values that come in segments, which are drawn whole.

    Undefined values (NaN) are left out.
    """
    defined = [[value for value in group if np.isfinite(value)] for group in by_segment.values()]
    sums = np.array([(sum(g), len(g)) for g in defined if g], dtype=np.float64).reshape(-1, 2)
    interval = bootstrap_interval(sums, _ratio, level=confidence, seed=seed) if len(sums) else None
    return AdequacyRow(
        method=made_by,
        measure=measure,
        value=interval.estimate if interval else None,
        intervals={"value": (interval.low, interval.high)} if interval else None,
        n=int(sums[:, 1].sum()),
        segments=len(sums),
        alone=len(set(by_segment) - set(shared)),
    )


def _find_shared(by_method: Mapping[str, Mapping[int, Sequence[float]]]) -> set[int]:
    """The segments of which every method has a value."""
    return set.intersection(*(set(segments) for segments in by_method.values()))


def _score_paraphrases(
    testset: TestSet, paraphrases: Sequence[Paraphrase], metric: AnyMetric, *, allow_code: bool
) -> Scores:
    """The paraphrases as the outputs of one system, each a segment of its own."""
    places = [paraphrase.segment - 1 for paraphrase in paraphrases]
    flat = TestSet(
        name=testset.name,
        references={n: [texts[i] for i in places] for n, texts in testset.references.items()},
        systems={"paraphrases": [paraphrase.text for paraphrase in paraphrases]},
        sources=None if testset.sources is None else [testset.sources[i] for i in places],
        language_pair=testset.language_pair,
    )
    return score(flat, metric, allow_code=allow_code)


def _ratio(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    total, count = rows.sum(axis=0)
    return np.asarray(total / count)


# Selection of paraphrases.


class Filtered(NamedTuple):
    """Paraphrases that are left of some, and how many were dropped for what."""

    kept: tuple[Paraphrase, ...]
    empty: int
    copies: int
    duplicates: int
    inadequate: int


def filtered(
    testset: TestSet,
    paraphrases: Sequence[Paraphrase],
    *,
    copies: bool = True,
    duplicates: bool = True,
    metric: str | None = None,
    least: float | None = None,
    allow_code: bool = False,
) -> Filtered:
    """Drop paraphrases that add nothing, or that do not say the same."""
    if (metric is None) is not (least is None):
        raise UsageError("a filter needs both a metric and the least score that it lets through")
    full = [paraphrase for paraphrase in paraphrases if paraphrase.text.strip()]
    columns = testset.references.values()
    references = [
        {" ".join((c[i] or "").split()) for c in columns} for i in range(testset.segments)
    ]
    new = [
        p for p in full if not copies or " ".join(p.text.split()) not in references[p.segment - 1]
    ]
    once = {
        (p.segment, p.system, p.text if duplicates else n): p
        for n, p in reversed(list(enumerate(new)))
    }
    kept = list(reversed(once.values()))
    left = kept
    if metric is not None and least is not None and kept:
        _, bound = bind(testset, metric, allow_code=allow_code)
        sign = 1 if bound.higher_is_better else -1
        values = sign * closeness(testset, kept, metric, allow_code=allow_code)
        left = [
            paraphrase
            for paraphrase, fit in zip(kept, np.greater_equal(values, sign * least), strict=True)
            if fit
        ]
    return Filtered(
        tuple(left),
        empty=len(paraphrases) - len(full),
        copies=len(full) - len(new),
        duplicates=len(new) - len(kept),
        inadequate=len(kept) - len(left),
    )
