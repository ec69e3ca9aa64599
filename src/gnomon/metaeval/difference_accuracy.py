"""Meaning of a metric's differences to people, over test sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import numpy as np

from gnomon.agreement.files import add_judgements
from gnomon.agreement.meaning import (
    LEAST_SETS,
    make_meaning,
    meaning_years,
    promised,
    set_pairs,
    signature_differences,
    write_meanings,
)
from gnomon.agreement.pairing import (
    Judged,
    PairingRequest,
    check_kinds,
    metric_faults,
    pairings,
    split_metric_names,
    title_of,
)
from gnomon.agreement.significance import resample_faults
from gnomon.agreement.thresholds import published_share
from gnomon.core.errors import DataError, UsageError
from gnomon.core.findings import Finding, Lines, Listing
from gnomon.core.options import DrawOptions, Flags, OutputFile, expand_fields
from gnomon.core.records import table
from gnomon.core.registry import method
from gnomon.core.signature import Signature
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem
from gnomon.core.verdicts import metric_title
from gnomon.data.formats import Human, human_files
from gnomon.metaeval.difference_accuracy_tables import (
    CLASSES,
    CURVE,
    ROWS,
    SETS,
    YEARS,
    MeaningCurveRow,
    MeaningRow,
    MeaningSetRow,
    MeaningYearRow,
)
from gnomon.metaeval.difference_accuracy_verdict import delta_accuracy_verdict
from gnomon.stats import holm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.agreement.meaning import Meaning, SetPairs
    from gnomon.agreement.pairing import JudgedMetric, Pairing
    from gnomon.core.findings import View
    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline

_TITLE = "What a difference meant to people"
_EXAMPLES = """\
examples:
  gnomon metaeval delta-accuracy -t wmt17/* wmt18/* wmt19/* -m bleu -o bleu.delta-accuracy.json
  gnomon compare -t newstest/de-en -m bleu --delta-accuracy bleu.delta-accuracy.json
"""


def check_delta_accuracy(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`gnomon.metaeval.delta_accuracy` that fit each alone."""
    yield from resample_faults(options.resamples, options.confidence)
    yield from metric_faults(outline, options.metrics, allow_code=options.allow_code)
    if outline is not None and options.sets < LEAST_SETS:
        message = (
            f"what a difference means takes {LEAST_SETS} test sets or more, with 100 pairs of"
            f" systems; got {options.sets}"
        )
        yield Problem("", DataError(message))


@method(
    "metaeval.delta_accuracy",
    purpose="measure how often people agreed with a difference of a metric",
    title=_TITLE,
    data=("testsets",),
    given="testsets",
    unread=("documents", "domains"),
    examples=_EXAMPLES,
    rows=ROWS,
    metrics="all",
    human=True,
    judged=True,
    check=check_delta_accuracy,
    verdict=delta_accuracy_verdict,
)
@expand_fields(draws=DrawOptions)
def delta_accuracy(
    testsets: Sequence[TestSet],
    metrics: Judged = "bleu",
    *,
    human: Human = (),
    save: Annotated[OutputFile, Flags(("-o",))] = None,
    draws: DrawOptions,
    allow_code: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """People's agreement with the direction of a difference, by its size.

    All pairs of systems of each test set count, but those that people or the metric score alike.

    Args:
        testsets: three test sets or more with human scores of systems or segments.
        metrics: specs, metrics, functions, or a list with the Scores of each test set.
        human: kinds of human scores to use, or files of them; each test set has one of them.
        save: a file for the result, which :func:`gnomon.compare` reads (``delta_accuracy``).
        resamples: draws of test sets for intervals; 0: Wilson's intervals alone.

    Returns:
        A finding whose rows hold ``metric, smallest, largest, share, share_low, share_high, pairs,
        sets, mean, published``; further tables "curve", "sets" and "years".

    Raises:
        DataError: there are fewer than three test sets or 100 pairs, human scores are missing, or
            the metric is not the same on all test sets (another tokeniser or number of references).
        UsageError: a test set has several kinds of human scores, or is given twice.
        OutputError: the file cannot be written.
    """
    files, kinds = human_files(human)
    sets = list(testsets)
    if files:
        sets, more = add_judgements(sets, files, format=None)
        kinds = [*kinds, *more]
    check_kinds([testset.outline for testset in sets], kinds)
    request = PairingRequest(human=kinds, controls=False, allow_code=allow_code, tick=progress)
    wanted = split_metric_names("bleu" if metrics is None else metrics)
    judged = _select_one_kind(list(pairings(sets, wanted, request)), sets)
    made: list[tuple[Meaning, list[SetPairs]]] = []
    names = list(dict.fromkeys(entry.metric for pairing in judged for entry in pairing.entries))
    for done, name in enumerate(names, start=1):
        having = [(p, e) for p in judged for e in p.entries if e.metric == name]
        pairs = [set_pairs(*each) for each in having]
        made.append((make_meaning(name, str(_signature(name, having)), pairs, draws), pairs))
        if progress:
            progress("fitting", done, len(names))
    if save is not None:
        write_meanings(save, [each for each, _ in made], draws)
    return _finding(made, judged, draws)


def _select_one_kind(judged: Sequence[Pairing], sets: Sequence[TestSet]) -> list[Pairing]:
    """The test sets with their human scores of systems, one kind each."""
    kept: list[Pairing] = []
    for n, testset in enumerate(sets):
        title = title_of(testset)
        if any(testset is other for other in sets[n + 1 :]):
            raise UsageError(f"test set {title!r} is given twice")
        scored = [p for p in judged if p.testset is testset and not np.isnan(p.system).all()]
        if len(scored) > 1:
            kinds = ", ".join(str(p.kind) for p in scored)
            raise UsageError(
                f"test set {title!r} has several kinds of human scores ({kinds}); name one (human)"
            )
        if not scored:
            raise DataError(
                f"test set {title!r} has no human scores of systems or segments; leave it out, or"
                " add them (human)"
            )
        same = (p for p in kept if p.title == title and p.systems == scored[0].systems)
        if any(np.array_equal(p.system, scored[0].system, equal_nan=True) for p in same):
            raise UsageError(f"test set {title!r} is given twice")
        kept += scored
    return kept


def _signature(name: str, having: Sequence[tuple[Pairing, JudgedMetric]]) -> Signature:
    """The signature of a metric, which must be the same on all test sets."""
    first, _ = having[0]
    signature = first.signatures[name]
    for pairing, entry in having:
        if entry.circular is not None:
            raise DataError(
                f"{pairing.title}: people's scores cannot judge {name} ({entry.circular}), so that"
                " agreement with them means nothing"
            )
        unlike = signature_differences(signature, pairing.signatures[name])
        if unlike:
            raise DataError(
                f"{name} is not the same on all test sets: {pairing.title} has {unlike} (of"
                f" {first.title}), and differences of the two do not mean the same; leave such sets"
                " out, or set the option for all"
            )
    return signature


def _finding(
    made: Sequence[tuple[Meaning, list[SetPairs]]], judged: Sequence[Pairing], draws: DrawOptions
) -> Finding:
    meanings = [each for each, _ in made]
    dated = [(each.metric, year) for each, pairs in made for year in meaning_years(pairs)]
    corrected = holm([np.nan if year.p is None else year.p for _, year in dated])
    years = [
        MeaningYearRow(
            metric=metric,
            **year._asdict(),
            p_adjusted=float(p),
            decided=None if np.isnan(p) else bool(p <= round(1 - draws.confidence, 12)),
        )
        for (metric, year), p in zip(dated, corrected, strict=True)
    ]
    classes = [row for each in meanings for row in _class_rows(each)]
    curve = [
        MeaningCurveRow(
            metric=each.metric,
            difference=point.difference,
            share=point.share,
            intervals={"share": (point.low, point.high)},
        )
        for each in meanings
        for point in each.curve
    ]
    how = Signature("delta_accuracy").adding(
        draws=draws.resamples, confidence=draws.confidence, seed=draws.seed
    )
    return Finding(
        method="metaeval delta-accuracy",
        title=_TITLE,
        tables=(
            table(CLASSES, "How often people agreed, by size of difference", MeaningRow, classes),
            table(CURVE, "How often people agreed, as a curve", MeaningCurveRow, curve),
            table(
                SETS,
                "Test sets",
                MeaningSetRow,
                [row for each in made for row in _set_rows(*each)],
            ),
            table(
                YEARS,
                "Years, and what older sets promised",
                MeaningYearRow,
                years,
            ),
        ),
        signatures={
            **{each.metric: Signature.parse(each.signature) for each in meanings},
            "delta_accuracy": how,
        },
        views=_views(meanings, {row.metric for row in years}),
        notices=tuple(dict.fromkeys(notice for p in judged for notice in p.notices)),
        facts={
            "test sets": meanings[0].label,
            "human scores": meanings[0].judgements,
            "pairs of systems": ", ".join(f"{each.metric} {each.pairs:,}" for each in meanings),
        },
    )


def _class_rows(meaning: Meaning) -> Iterator[MeaningRow]:
    for each in meaning.classes:
        yield MeaningRow(
            metric=meaning.metric,
            smallest=each.low,
            largest=each.high,
            share=each.share,
            intervals={"share": (each.share_low, each.share_high)},
            pairs=each.pairs,
            sets=each.sets,
            mean=each.mean,
            published=published_share(Signature.parse(meaning.signature), each.mean),
        )


def _set_rows(meaning: Meaning, pairs: Sequence[SetPairs]) -> Iterator[MeaningSetRow]:
    having = [each for each in pairs if len(each.differences)]
    for each, of_set in zip(meaning.sets, having, strict=True):
        others = [other for other in having if other is not of_set]
        yield MeaningSetRow(
            metric=meaning.metric,
            test_set=each.name,
            language_pair=each.language_pair,
            year=each.year,
            human=each.human,
            systems=each.systems,
            pairs=each.pairs,
            share=each.agree / each.pairs,
            promised=promised([of_set], others),
        )


def _views(meanings: Sequence[Meaning], dated: set[str]) -> tuple[View, ...]:
    views: list[View] = []
    metrics = [each.metric for each in meanings]
    for each in meanings:
        where, name = {"metric": each.metric}, metric_title(each.metric, metrics)
        shown = ["smallest", "largest", "share", "share_low", "share_high", "pairs", "sets"]
        signature = Signature.parse(each.signature)
        if any(published_share(signature, c.mean) for c in each.classes):
            shown.append("published")
        title = f"{name}: how often people agreed with a difference, {each.label}"
        views.append(Listing(CLASSES, title, tuple(shown), where))
        if each.metric in dated:
            of_years = ("year", "sets", "pairs", "share", "promised", "p")
            title = f"{name}: years beside older sets"
            views.append(Listing(YEARS, title, of_years, where))
        views.append(
            Lines(
                CURVE,
                f"{name}: how often people agreed, by the size of the difference",
                x="difference",
                y="share",
                series="metric",
                where=where,
                low="share_low",
                high="share_high",
            )
        )
    columns = ("metric", "test_set", "human", "systems", "pairs", "share", "promised")
    views.append(Listing(SETS, "Test sets, and what the other sets promised", columns))
    return tuple(views)
