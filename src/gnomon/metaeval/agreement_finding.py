"""The finding of meta-evaluation: its tables, views, notices and signatures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from gnomon.agreement.gains import MetricGainRow, decided_gains, metric_gains
from gnomon.agreement.judging import Judging, Result, grouped, joined, overall
from gnomon.agreement.pairing import labels_of
from gnomon.agreement.paraphrased import ComparedMetrics
from gnomon.agreement.tables import AgreementRow, DecisionRow, tables
from gnomon.core.findings import Finding
from gnomon.core.records import table
from gnomon.core.signature import Signature, merge_signatures
from gnomon.metaeval.agreement_views import views
from gnomon.metaeval.notices import notices

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gnomon.agreement.measures import Measure
    from gnomon.agreement.pairing import Pairing
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message

__all__ = ["Asked", "agreement_finding", "compared_metrics", "paraphrase_notices"]


class Asked(NamedTuple):
    """Request to a meta-evaluation, apart from the scores."""

    judging: Judging
    baseline: str | None
    compared: Sequence[ComparedMetrics]
    tasks: tuple[Measure, ...]
    notices: Sequence[Message]


def agreement_finding(
    pairings: Sequence[Pairing], results: Sequence[Result], asked: Asked
) -> Finding:
    """Tables, views, notices and signatures of what was measured."""
    over = list(joined(results, asked.judging))
    averages = list(overall(results, over, asked.tasks))
    made = tables(
        pairings,
        results,
        over,
        averages,
        asked.judging,
        asked.compared,
        baseline=asked.baseline,
    )
    how = asked.judging.testing
    decisions = cast("Sequence[DecisionRow]", made["decisions"].records)
    rows = cast("Sequence[AgreementRow]", made["metaeval"].records)
    gained = list(metric_gains(results, asked.compared, decisions, asked.judging))
    gained = decided_gains(gained, rows, how.alpha)
    confidence = how.confidence if how.resamples else None
    title = "Gains in agreement"
    made["gains"] = table("gains", title, MetricGainRow, gained, confidence=confidence)
    return Finding(
        method="metaeval",
        title="Meta-evaluation: do the metrics agree with people?",
        tables=tuple(made.values()),
        signatures=_signatures(pairings, asked),
        views=views(
            made,
            list(grouped(results)),
            list(dict.fromkeys(pairing.label for pairing in pairings)),
            asked.baseline,
        ),
        notices=(
            *asked.notices,
            *notices(
                pairings,
                results,
                asked.judging,
                averages,
                baseline=asked.baseline,
            ),
        ),
        facts=_facts(pairings),
    )


def _signatures(pairings: Sequence[Pairing], asked: Asked) -> dict[str, Signature]:
    """One per metric where all test sets agree, else one for each; and that of the judging."""
    signatures = merge_signatures(
        {
            (name, pairing.label): text
            for pairing in pairings
            for name, text in pairing.signatures.items()
        }
    )
    how = asked.judging.testing
    signature = Signature("metaeval").adding(
        test=how.test,
        draws=how.resamples,
        confidence=how.confidence,
        seed=how.seed,
        unit=asked.judging.unit,
    )
    return signatures | {"metaeval": signature}


def _facts(pairings: Sequence[Pairing]) -> dict[str, str]:
    whole = [pairing for pairing in pairings if pairing.slice is None]
    sizes = dict.fromkeys(f"{c.title} ({len(c.systems)} x {c.testset.segments})" for c in whole)
    kinds = dict.fromkeys(f"{kind} ({level})" for c in whole for level, kind in c.kinds.items())
    metrics = dict.fromkeys(entry.metric for c in pairings for entry in c.entries)
    return {
        "test sets (systems x segments)": ", ".join(sizes),
        "human scores": ", ".join(kinds),
        "metrics": ", ".join(metrics),
    }


def compared_metrics(
    with_paraphrases: Sequence[ComparedMetrics], names: Iterable[str], baseline: str | None
) -> list[ComparedMetrics]:
    """Metrics with paraphrases against themselves, and all others against the baseline."""
    wide = {pair.metric for pair in with_paraphrases}
    others = [name for name in names if name != baseline and name not in wide]
    against = [] if baseline is None else [ComparedMetrics(name, baseline) for name in others]
    return [*with_paraphrases, *against]


def paraphrase_notices(
    sets: Sequence[TestSet], firsts: Sequence[tuple[object, Sequence[Message]]]
) -> Iterator[Message]:
    """Which numbers of paraphrases were not there, test set by test set."""
    for label, (_, notices_of_set) in zip(labels_of(sets), firsts, strict=False):
        for notice in notices_of_set:
            yield notice.about(testsets=[label]) if len(sets) > 1 else notice
