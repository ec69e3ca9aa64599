"""The meaning of differences of this size to people in other test sets, beside a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.agreement.meaning import signature_differences, year_in
from gnomon.agreement.thresholds import TITLE as PUBLISHED
from gnomon.agreement.thresholds import published_share
from gnomon.core.errors import DataError
from gnomon.core.findings import Listing
from gnomon.core.records import METRIC, SYSTEM, EndColumns, Record, column, table
from gnomon.core.signature import Signature
from gnomon.core.verdicts import metric_title
from gnomon.messages.grammar import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.agreement.meaning import Meaning
    from gnomon.comparison.rows import ComparisonRow
    from gnomon.core.findings import Table
    from gnomon.core.scores import Scores
    from gnomon.core.testset import TestSet

MEANING = "meaning"
_PAIRS_SAID = 3


class DifferenceMeaningRow(Record):
    """People's agreement with differences like that of a system and the baseline."""

    metric: str = METRIC
    system: str = SYSTEM
    baseline: str = column("Baseline", help="the system that it is compared with")
    difference: float = column("Difference", help="without a sign")
    smallest: float | None = column("From", help="the smallest difference of its class")
    largest: float | None = column("To", help="the largest; empty beyond all that were seen")
    share: float | None = column(
        "People agree",
        kind="share",
        digits=3,
        help="share of the pairs of systems with such differences",
        interval=EndColumns("share_low", "share_high", how="by redrawing test sets", kind="share"),
    )
    pairs: int | None = column("Pairs", help="of systems, with such differences")
    sets: int | None = column("Sets", help="test sets that have such pairs")
    curve: float | None = column(
        "By the curve", kind="share", digits=3, help="of all pairs, at this very difference"
    )
    published: float | None = column(
        PUBLISHED, kind="share", digits=3, help="what their curve gives this difference"
    )
    test_sets: str = column("Test sets", help="that this is known of")
    judgements: str = column("Human scores", help="their kinds")
    seen: float = column("Largest seen", help="difference of two systems of these test sets")
    known: str = column("Known of", help="years and language pairs of these test sets")
    outside: str | None = column(
        "Outside", help="year and language pair of this test set that are none of these"
    )


def fitting_meanings(
    meanings: Sequence[Meaning], judged: Sequence[Scores], file: str
) -> dict[str, Meaning]:
    """The meanings of the metrics that are compared, by metric; some metrics may have none.

    Raises:
        DataError: a metric was computed otherwise than those test sets were, or none is there.
    """
    by_spec = {Signature.parse(each.signature).spec: each for each in meanings}
    chosen: dict[str, Meaning] = {}
    for scores in judged:
        meaning = by_spec.get(scores.signature.spec)
        if meaning is None:
            continue
        unlike = signature_differences(Signature.parse(meaning.signature), scores.signature)
        if unlike:
            raise DataError(
                f"{file}: differences of {scores.metric} were read on {meaning.label} as"
                f" {meaning.signature}; here it has {unlike}, and the same difference does not mean"
                " the same; make the file with these options (gnomon metaeval delta-accuracy), or"
                " leave it out"
            )
        chosen[scores.metric] = meaning
    if not chosen:
        raise DataError(
            f"{file} says what differences of {listed(list(by_spec))} mean, and compared are"
            f" {listed([scores.metric for scores in judged])}; make one for these metrics"
            " (gnomon metaeval delta-accuracy), or leave it out"
        )
    return chosen


def meaning_rows(
    rows: Sequence[ComparisonRow],
    meanings: Mapping[str, Meaning],
    signatures: Mapping[str, Signature],
    testset: TestSet,
) -> Iterator[DifferenceMeaningRow]:
    """One row per system and metric that has a meaning, for all segments."""
    for row in rows:
        meaning = meanings.get(row.metric)
        if meaning is None or row.slice is not None or row.system == row.baseline:
            continue
        if row.difference is None or row.equal or row.people:
            continue
        found = meaning.class_of(row.difference)
        known, outside = _describe_sets(meaning, testset)
        yield DifferenceMeaningRow(
            metric=row.metric,
            system=row.system,
            baseline=row.baseline,
            difference=abs(row.difference),
            smallest=found.low if found else None,
            largest=found.high if found else None,
            share=found.share if found else None,
            intervals={"share": (found.share_low, found.share_high) if found else (None, None)},
            pairs=found.pairs if found else None,
            sets=found.sets if found else None,
            curve=meaning.share_at(row.difference),
            published=published_share(signatures[row.metric], row.difference),
            test_sets=meaning.label,
            judgements=meaning.judgements,
            seen=meaning.largest,
            known=known,
            outside=outside,
        )


def _describe_sets(meaning: Meaning, testset: TestSet) -> tuple[str, str | None]:
    """Years and language pairs that a meaning is of; those of a test set that are none of them."""
    years = sorted({each.year for each in meaning.sets if each.year is not None})
    pairs = list(dict.fromkeys(each.language_pair for each in meaning.sets if each.language_pair))
    span = f"{years[0]} to {years[-1]}" if len(years) > 1 else f"{years[0]}" if years else ""
    known = " and ".join(
        text for text in (span, listed(pairs, most=_PAIRS_SAID) if pairs else "") if text
    )
    outside = []
    year, pair = year_in(testset.name), testset.language_pair
    if year is None:
        outside.append("of a year that its name does not say")
    elif year not in years:
        outside.append(f"of {year}")
    if pair is None:
        outside.append("of a language pair that is not given")
    elif pair not in pairs:
        outside.append(pair if outside else f"of {pair}")
    return known or "unknown years and languages", " and ".join(outside) or None


def meaning_table(rows: Sequence[DifferenceMeaningRow]) -> Table:
    """The table of what differences meant."""
    title = "How often people agreed with such differences"
    return table(MEANING, title, DifferenceMeaningRow, rows)


def meaning_listing(
    metric: str, metrics: Sequence[str], rows: Sequence[DifferenceMeaningRow]
) -> Listing:
    """List the meanings of differences under one metric, with published constants if any."""
    of_metric = [row for row in rows if row.metric == metric]
    columns = ["system", "difference", "share", "share_low", "share_high", "pairs", "sets"]
    if any(row.published is not None for row in of_metric):
        columns.append("published")
    sets = of_metric[0].test_sets
    name = metric_title(metric, metrics)
    title = f"{name}: how often people agreed with such differences in {sets}"
    return Listing(MEANING, title, tuple(columns), {"metric": metric})
