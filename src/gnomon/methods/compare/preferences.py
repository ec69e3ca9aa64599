"""Systems against each other under metrics that read two outputs at once (PEAR).

A pairwise metric says of two outputs of a segment which is better, and by how much. What comes of
that for systems: means, wins and ties with a sign test; how they stand to the references; and the
output of each segment that all others speak for (minimum Bayes risk).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, Protocol, TypeAlias, cast

import numpy as np

from gnomon.agreement.pairing import metric_faults
from gnomon.agreement.significance import Correction
from gnomon.core.errors import DataError, UsageError
from gnomon.core.findings import Bars, Excerpt, Finding, HeatMap, Listing
from gnomon.core.options import (
    Alpha,
    DrawOptions,
    Limits,
    Metavar,
    OutputFile,
    with_fields,
)
from gnomon.core.records import table
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem
from gnomon.data.formats import atomic_write
from gnomon.methods.compare.preference_rows import (
    CHOICES,
    PAIRS,
    REFERENCES,
    ROWS,
    STANDINGS,
    ChosenOutputRow,
    PairedOutputsRow,
    StandingRow,
)
from gnomon.methods.compare.preferences_verdict import CLAIMS, pairwise_verdict
from gnomon.metrics import BoundMetric, resolve
from gnomon.metrics.protocol import Metrics, Noticing, PairNoticing, PairScoring, each_metric, lacks
from gnomon.metrics.registry import is_metric
from gnomon.metrics.scoring import bind
from gnomon.stats import benjamini_hochberg, holm
from gnomon.stats.resampling import percentile_interval, resample_counts, resampled_sums
from gnomon.stats.significance import binomial_p, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.findings import Table, View
    from gnomon.core.options import BoundOptions
    from gnomon.core.summary import Outline

#: which ordered pairs are read
Orders: TypeAlias = Literal["full", "half"]
#: rows of choices that a page holds
_PAGE = 200
_EXAMPLES = """\
examples:
  gnomon pairwise ref.txt -i a.txt b.txt c.txt -s src.txt -m "pear('FOLDER')"
  gnomon pairwise ref.txt -i a.txt b.txt c.txt -s src.txt -m "pear('FOLDER')" --best best.txt
"""


def check_pairwise(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`pairwise` refuses of options that fit each alone."""
    yield from metric_faults(outline, options.metrics, allow_code=options.allow_code)
    for number, spec in enumerate(each_metric(options.metrics)):
        if isinstance(spec, str) or is_metric(spec):
            try:
                metric = resolve(spec, allow_code=options.allow_code)
            except (UsageError, DataError):
                continue  # reported above
            if lacks(metric, PairScoring):
                yield Problem(f"metrics[{number}]", _scores_alone(metric.spec))
    if outline is not None and len(outline.systems) < 2:
        given = f"{outline.systems[0]!r} alone" if outline.systems else "none"
        message = f"a comparison takes two systems or more; test set {outline.name!r} gives {given}"
        yield Problem("", DataError(message))


def _scores_alone(spec: str) -> UsageError:
    return UsageError(
        f"{spec} scores outputs one at a time, and pairwise asks for a metric that reads two at"
        " once, such as pear('FOLDER'); gnomon compare holds systems against each other under all"
        " other metrics"
    )


@method(
    "pairwise",
    answers="which system of each pair a pairwise metric prefers, and the best output per segment",
    title="Systems in pairs",
    examples=_EXAMPLES,
    tables={
        "": "pairwise",
        STANDINGS: "pairwise_systems",
        REFERENCES: "pairwise_references",
        CHOICES: "pairwise_choices",
    },
    rows=ROWS,
    metrics="all",
    verdict=pairwise_verdict,
    claims=CLAIMS,
    check=check_pairwise,
)
@with_fields(draws=DrawOptions)
def pairwise(
    testset: TestSet,
    metrics: Metrics,
    *,
    pairs: Orders = "full",
    tie: Annotated[float, Limits(0), Metavar("UNITS")] = 0.0,
    best: OutputFile = None,
    correction: Correction = "holm",
    alpha: Alpha = 0.05,
    draws: DrawOptions,
    allow_code: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """Which of each two systems a pairwise metric prefers, and the best output of each segment.

    With ``pairs="full"`` each two outputs are read in both orders, and half the difference of the
    two answers decides between systems: that is 0 for equal outputs. With "half" they are read in
    one order, that of the systems. The output of a segment with the largest mean score against all
    others is chosen (minimum Bayes risk; Kumar and Byrne, 2004); the first of several.

    Args:
        testset: sources and the outputs of two or more systems; references, if there are some.
        metrics: specs of pairwise metrics ("pear('FOLDER')"), or such metrics.
        pairs: which pairs of outputs are read: "full" for both orders, "half" for one.
        tie: largest difference that counts as a tie, in the metric's units.
        best: write the output that is chosen for each segment there, one a line; with several
            metrics, the choice of the first.
        correction: of p for the number of pairs, metric by metric: "holm", "benjamini-hochberg" or
            "none".

    Returns:
        A finding whose rows hold ``system, other, metric, segments, score, low, high, wins, ties,
        losses, share, share_low, share_high, p, p_adjusted, verdict`` for each two systems;
        further tables ``systems``, ``references`` and ``choices``.

    Raises:
        DataError: there are fewer than two systems, or the metric needs what is not there.
        UsageError: a metric scores outputs one at a time, or an option is out of range.
        OutputError: the file cannot be written.
    """
    every = each_metric(metrics)
    plan = _PreferencePlan(pairs, tie, correction, alpha, draws)
    batch = testset.batch()
    findings = _PairwiseParts([], [], [], [], {}, [])
    for done, metric in enumerate(every):
        name, bound = bind(testset, metric, allow_code=allow_code)  # type: ignore[arg-type]  # checked before
        if not isinstance(bound, PairScoring):
            raise _scores_alone(name)
        _add(findings, testset, batch, name, cast("_PairMetric", bound), plan)
        if progress:
            progress("reading pairs", done + 1, len(every))
    if best is not None and findings.choices:
        first = findings.choices[0].metric
        _write_best(best, batch, [row for row in findings.choices if row.metric == first])
    return _finding(findings, testset, plan)


class _PairMetric(BoundMetric, PairScoring, Protocol):
    """A bound metric that reads two outputs at once."""


class _PreferencePlan(NamedTuple):
    """How pairs are read and tested."""

    orders: Orders
    tie: float
    correction: Correction
    alpha: float
    draws: DrawOptions


@dataclass
class _PairwiseParts:
    pairs: list[PairedOutputsRow]
    references: list[PairedOutputsRow]
    standings: list[StandingRow]
    choices: list[ChosenOutputRow]
    signatures: dict[str, str]
    notices: list[str]


def _add(
    found: _PairwiseParts,
    testset: TestSet,
    batch: Batch,
    name: str,
    bound: _PairMetric,
    plan: _PreferencePlan,
) -> None:
    """What one metric says."""
    systems = len(batch.systems)
    references = list(testset.references)
    whole, there = _with_references(batch, testset)
    scores = bound.pair_scores(whole, half=plan.orders == "half")
    decided = (scores - scores.transpose(1, 0, 2)) / 2 if plan.orders == "full" else scores
    pairs_of_systems = [(a, b) for a in range(systems) for b in range(a + 1, systems)]
    anchored = [(a, systems + r) for a in range(systems) for r in range(len(references))]
    names = [*batch.systems, *references]
    rows = _preferences(names, name, decided, there, pairs_of_systems, plan)
    found.pairs += rows
    found.references += _preferences(names, name, decided, there, anchored, plan)
    utility, over_others = (
        matrix[:systems, :systems].sum(axis=1) / max(systems - 1, 1) for matrix in (scores, decided)
    )
    choices = list(_choices(batch, name, utility))
    found.choices += choices
    found.standings += _standings(batch, name, over_others, rows, choices, plan)
    fields = {
        "pairs": plan.orders,
        "bs": plan.draws.resamples,
        "confidence": plan.draws.confidence,
        "seed": plan.draws.seed,
    }
    found.signatures[name] = str(bound.signature.adding(fields))
    if isinstance(bound, PairNoticing):
        found.notices += bound.pair_notices(whole)
    elif isinstance(bound, Noticing):
        found.notices += bound.notices(batch)


def _with_references(batch: Batch, testset: TestSet) -> tuple[Batch, NDArray[np.bool_]]:
    """The batch with each reference as one more system, and where each has a text [K + R, N]."""
    number = {text: position for position, text in enumerate(batch.texts)}
    rows, there = [batch.candidates], [np.ones(batch.shape, dtype=np.bool_)]
    for column_ in testset.references.values():
        texts = [column_[segment] for segment in batch.segments.tolist()]
        numbers = [0 if text is None else number[text] for text in texts]
        rows.append(np.array([numbers], dtype=np.int32))
        there.append(np.array([[text is not None for text in texts]]))
    names = (*batch.systems, *(f"reference {name}" for name in testset.references))
    made = replace(batch, candidates=np.concatenate(rows), systems=names, system_references={})
    return made, np.concatenate(there)


def _preferences(
    names: Sequence[str],
    metric: str,
    decided: NDArray[np.float64],
    there: NDArray[np.bool_],
    places: Sequence[tuple[int, int]],
    plan: _PreferencePlan,
) -> list[PairedOutputsRow]:
    """The rows of some pairs, p corrected for their number."""
    rows = []
    for a, b in places:
        both = there[a] & there[b] & ~np.isnan(decided[a, b])
        values = decided[a, b][both]
        ends = _interval(values, plan)
        wins, losses = int((values > plan.tie).sum()), int((values < -plan.tie).sum())
        share = wilson_interval(wins, wins + losses, level=plan.draws.confidence)
        rows.append(
            PairedOutputsRow(
                system=names[a],
                other=names[b],
                metric=metric,
                segments=len(values),
                score=float(values.mean()) if len(values) else None,
                intervals={"score": ends, "share": (share.low, share.high)},
                wins=wins,
                ties=len(values) - wins - losses,
                losses=losses,
                share=share.estimate,
                p=binomial_p(wins, wins + losses) if len(values) else None,
                p_adjusted=None,
                verdict=None,
            )
        )
    return _corrected(rows, plan)


def _interval(
    values: NDArray[np.float64], plan: _PreferencePlan
) -> tuple[float | None, float | None]:
    """Percentile bootstrap of the mean over segments."""
    if not plan.draws.resamples or not len(values):
        return None, None
    counts = resample_counts(len(values), count=plan.draws.resamples, seed=plan.draws.seed)
    low, high = percentile_interval(
        resampled_sums(values[None], counts)[0] / len(values), plan.draws.confidence
    )
    return float(low), float(high)


def _corrected(rows: Sequence[PairedOutputsRow], plan: _PreferencePlan) -> list[PairedOutputsRow]:
    """Rows with p corrected, and what that decides."""
    raw = [np.nan if row.p is None else row.p for row in rows]
    adjusted = np.array(raw)
    if plan.correction != "none":
        adjusted = (holm if plan.correction == "holm" else benjamini_hochberg)(raw)
    return [
        replace(row, p_adjusted=p, verdict=_outcome(row, p, plan.alpha))
        for row, p in zip(rows, adjusted.tolist(), strict=True)
    ]


def _outcome(row: PairedOutputsRow, p: float, alpha: float) -> str | None:
    if np.isnan(p):
        return None
    if p > alpha:
        return "undecided"
    return "better" if row.wins > row.losses else "worse"


def _choices(batch: Batch, metric: str, utility: NDArray[np.float64]) -> Iterator[ChosenOutputRow]:
    """The output of each segment that is chosen, by its utility [K, N]."""
    for column_, segment in enumerate(batch.segments.tolist()):
        values = utility[:, column_]
        first = int(np.argmax(values))
        texts = batch.candidates[:, column_]
        others = values[texts != texts[first]]
        yield ChosenOutputRow(
            segment=segment + 1,
            metric=metric,
            system=batch.systems[first],
            utility=float(values[first]),
            margin=float(values[first] - others.max()) if len(others) else None,
            alike=int((texts == texts[first]).sum()) - 1,
        )


def _standings(
    batch: Batch,
    metric: str,
    over_others: NDArray[np.float64],
    rows: Sequence[PairedOutputsRow],
    choices: Sequence[ChosenOutputRow],
    plan: _PreferencePlan,
) -> Iterator[StandingRow]:
    """Each system against all others, by its mean score against these [K, N]."""
    opposite = {"better": "worse", "worse": "better"}
    outcomes = [(row.system, row.verdict) for row in rows]
    outcomes += [(row.other, opposite.get(row.verdict or "")) for row in rows]
    for number, system in enumerate(batch.systems):
        values = over_others[number]
        ends = _interval(values, plan)
        chosen = sum(row.system == system for row in choices)
        share = wilson_interval(chosen, len(choices), level=plan.draws.confidence)
        yield StandingRow(
            system=system,
            metric=metric,
            segments=len(values),
            score=float(values.mean()) if len(values) else None,
            intervals={"score": ends, "share": (share.low, share.high)},
            better=outcomes.count((system, "better")),
            worse=outcomes.count((system, "worse")),
            chosen=chosen,
            share=share.estimate,
        )


def _write_best(path: OutputFile, batch: Batch, choices: Sequence[ChosenOutputRow]) -> None:
    position = {name: number for number, name in enumerate(batch.systems)}
    with atomic_write(path) as file:  # type: ignore[arg-type]  # it is given
        for column_, row in enumerate(choices):
            text = batch.texts[batch.candidates[position[row.system], column_]]
            file.write(text.replace("\n", " ") + "\n")


# What is shown


def _finding(found: _PairwiseParts, testset: TestSet, plan: _PreferencePlan) -> Finding:
    note = (
        f"p is of a sign test, corrected by {plan.correction}; intervals are percentile bootstrap"
        f" over segments ({100 * plan.draws.confidence:g} %, {plan.draws.resamples} resamples)"
    )
    tables = [
        table(PAIRS, "Systems in pairs", PairedOutputsRow, found.pairs, note=note),
        table(STANDINGS, "Systems against all others", StandingRow, found.standings),
    ]
    if found.references:
        title = "Systems against the references"
        tables.append(table(REFERENCES, title, PairedOutputsRow, found.references))
    tables.append(
        table(
            CHOICES,
            "The output of each segment that the others speak for",
            ChosenOutputRow,
            found.choices,
            excerpt=_excerpt(len(found.choices)),
        )
    )
    return Finding(
        method="pairwise",
        title="Systems in pairs",
        tables=tuple(tables),
        signatures=found.signatures,
        views=tuple(_views(tables, list(found.signatures))),
        notices=tuple(dict.fromkeys(found.notices)),
        facts={
            "test set": testset.name,
            "language pair": testset.language_pair or "not given",
            "segments": str(testset.segments),
            "systems": str(len(testset.systems)),
            "references": ", ".join(testset.references) or "none",
            "orders": "both" if plan.orders == "full" else "one",
        },
    )


def _excerpt(rows: int) -> Excerpt | None:
    if rows <= _PAGE:
        return None
    return Excerpt(tuple(range(_PAGE)), f"the first {_PAGE}; JSON and TSV hold all {rows:,}")


def _views(tables: Sequence[Table], metrics: Sequence[str]) -> Iterator[View]:
    kinds = {table.name for table in tables}
    preference = ("system", "other", "score", "low", "high", "wins", "ties", "losses", "p_adjusted")
    for metric in metrics:
        where = {"metric": metric}
        yield Listing(
            STANDINGS,
            f"{metric}: systems against all others",
            ("system", "score", "low", "high", "better", "worse", "chosen", "share"),
            where,
        )
        yield Listing(PAIRS, f"{metric}: systems in pairs", (*preference, "verdict"), where)
        if REFERENCES in kinds:
            title = f"{metric}: systems against the references"
            yield Listing(REFERENCES, title, preference, where)
        yield HeatMap(
            PAIRS,
            f"{metric}: how much better the row's system is than the column's",
            rows="system",
            columns="other",
            value="score",
            where=where,
            prominent=False,
        )
        yield Bars(
            STANDINGS,
            f"{metric}: systems against all others",
            category="metric",
            series="system",
            values=("score", "share"),
            where=where,
            ordered=True,
        )
