"""The method ``compare``: differences of systems from a baseline, by segments and words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from typing import Annotated

from gnomon.agreement.meaning import read_meanings
from gnomon.comparison.alignment_effects import add_certain_differences
from gnomon.comparison.checks import check_compare, check_documents, check_systems
from gnomon.comparison.distributions import word_rows
from gnomon.comparison.favoured_references import compare_elsewhere
from gnomon.comparison.gate import Gate, gate_cases
from gnomon.comparison.meanings import fitting_meanings, meaning_rows
from gnomon.comparison.ngrams import ngram_rows
from gnomon.comparison.paired_tests import PairedScores, PairedTest, PairedTestPlan
from gnomon.comparison.rows import ROWS
from gnomon.comparison.scores import best_first, leader, scored
from gnomon.comparison.system_comparison import SystemComparison
from gnomon.comparison.verdict import compare_verdict
from gnomon.core.data_cautions import doubtful_systems
from gnomon.core.findings import Finding
from gnomon.core.options import (
    CONFIDENCE,
    SEED,
    Baseline,
    By,
    Confidence,
    Count,
    Flags,
    Group,
    InputFile,
    Metavar,
    Needs,
    Resamples,
    Seed,
    Shorthand,
    Unit,
    Workers,
    expand_fields,
)
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.core.threads import using_workers
from gnomon.messages import message
from gnomon.metrics.base import Metrics
from gnomon.metrics.tokenise import fitting_tokeniser, tokenise

__all__ = ["compare"]

_EXAMPLES = """\
examples:
  gnomon compare ref.txt -i old.txt new.txt -m bleu chrf
  gnomon compare -t newstest2019/en-de --baseline online-B.0 -m bleu --html report.html
  gnomon compare ref.txt -i old.txt new.txt --test ar --by length
  gnomon compare ref.txt -i main.txt branch.txt --fail-if-worse bleu --min-drop .3   # for CI

exit code 3: --fail-if-worse found a system that is worse; 4: with --strict, one that may be
"""


@method(
    "compare",
    purpose="compare systems and test their differences, down to segments and words",
    title="Comparison of systems",
    examples=_EXAMPLES,
    tables={"": "comparisons"},
    rows=ROWS,
    metrics="all",
    reuses="costly",
    untranslated=True,
    aligns=True,
    verdict=compare_verdict,
    check=check_compare,
)
@expand_fields(gate=Gate)
def compare(
    testset: TestSet,
    metrics: Metrics = "bleu",
    *,
    baseline: Baseline = None,
    test: Annotated[
        PairedTest,
        Shorthand(("-pbs", "--paired-bs"), "sacrebleu"),
        Shorthand(("-par", "--paired-ar"), "ar"),
        Group("intervals and tests"),
    ] = "bootstrap",
    resamples: Annotated[
        Resamples | None, Flags(("-pbsn", "--paired-bs-n", "-parn", "--paired-ar-n"))
    ] = None,
    confidence: Confidence = CONFIDENCE,
    seed: Seed = SEED,
    unit: Unit = "auto",
    by: By = None,
    delta_accuracy: Annotated[str | PathLike[str] | None, InputFile(), Metavar("FILE")] = None,
    examples: Count = 3,
    ngrams: Annotated[Count, Needs("gnomon.comparison.ngrams:needs")] = 10,
    workers: Annotated[Workers, Flags(("-j", "--paired-jobs"))] = 1,
    gate: Gate,
    allow_code: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """Which systems differ from a baseline, by how much, in which segments and n-grams.

    Corpus metrics are compared through their statistics, which are summed over each resample; other
    metrics by the mean of their segment scores. Equal outputs differ by 0, with p = 1. Of a metric
    that reads two outputs at once (PEAR, judges of pairs), each two are read in both orders: the
    difference is the mean of half the difference of its two answers.

    Args:
        testset: references and the outputs of two or more systems.
        metrics: specs, metrics, functions of texts, or :class:`Scores` of this test set.
        baseline: the system to compare the others with; by default the first of two systems, else
            the best under each metric (the first with ``fail_if_worse`` or ``test="sacrebleu"``).
        test: "bootstrap" (studentised paired bootstrap), "ar"
            (approximate randomisation; Riezler and Maxwell, 2005), which has no intervals, or
            "sacrebleu" for what sacreBLEU's paired bootstrap reports: its p alone, not adjusted.
        resamples: draws for intervals and tests, by default 1000 (5000 for more than ten
            comparisons), of "ar" 10000 exchanges; 0: neither intervals nor p.
        confidence: confidence level of all intervals of a metric at once, and of those of its
            slices; a system is better or worse where its interval leaves out 0, which is where p is
            at most 1 - confidence. An end of 0 is then open ("above 0").
        unit: the independent unit: "segment", "document", or "auto": documents for scores that
            people gave; for metrics documents where there are at least 15 and their segments are
            clearly alike (design effect), else segments. Documents are drawn whole.
        by: also slices by "document", "domain", "length", "score", "check" (segments that all
            systems translated, and others; see :func:`gnomon.check`) or a label of the test set.
        delta_accuracy: a file that :func:`gnomon.metaeval.delta_accuracy` wrote: how often people
            agreed with a difference of this size in other test sets.
        examples: segments shown per metric, system and side; 0 for none.
        ngrams: n-grams listed per system, side and length (1 to 4); 0 for none.

    Returns:
        A finding whose rows hold ``system, baseline, metric, score, difference, low, high, p,
        verdict, slice, segments, wins, ties, losses, gain, ...``; further tables
        ``meaning`` (with such a file), ``slices``, ``histogram`` (of segment differences),
        ``lengths``, ``words`` (by frequency), ``segments`` and ``ngrams``. ``None`` where
        undefined.

    Raises:
        DataError: there are fewer than two systems, scores are not of this test set, it has no
            documents to take as the unit, or what differences mean is of another metric.
        FormatError: the file of what differences mean is damaged.
        UnknownNameError: the baseline is no system of the test set, or an option has no such value.
        UsageError: an option is out of range, or a metric is named twice.
    """
    plan = PairedTestPlan.create(test, resamples, confidence, seed)
    check_systems(testset.outline, baseline)
    if unit == "document":
        check_documents(testset.outline)
    known = () if delta_accuracy is None else read_meanings(delta_accuracy)
    judged = scored(testset, metrics, workers=workers, allow_code=allow_code, progress=progress)
    meanings = fitting_meanings(known, judged, str(delta_accuracy)) if known else {}
    first = bool(gate.fail_if_worse) or test == "sacrebleu"
    chosen = baseline is None and len(testset.systems) > 2 and not first
    doubtful = frozenset(doubtful_systems(testset.anomalies))
    sound = [name for name in testset.systems if name not in doubtful] or list(testset.systems)
    names = list(testset.systems)
    orders = []
    for scores in judged:
        top = leader(scores, sound) if chosen else baseline or names[0]
        order = names if first else best_first(scores, names)
        orders.append(order if top is None else [top, *(name for name in order if name != top)])
    compared = testset if orders[0] == names else testset.select(systems=orders[0])
    comparison = SystemComparison(compared, by, unit, chosen)
    for scores, order in zip(judged, orders, strict=True):
        comparison.add(scores, PairedScores.select(scores, order, doubtful), plan)
    named = None if chosen else orders[0][0]
    comparison.notices += add_certain_differences(testset, comparison)
    comparison.notices += compare_elsewhere(testset, comparison, named)
    with using_workers(workers):
        comparison.add_figures(progress)
    signatures = {scores.metric: scores.signature for scores in judged}
    comparison.meaning += meaning_rows(comparison.rows, meanings, signatures, compared)
    comparison.add_distributions()
    if ngrams and not compared.references:
        comparison.notices.append(message("note.compare.no_ngrams"))
    if examples or ngrams:
        tokens = tokenise(compared.batch().texts, fitting_tokeniser(compared).name)
        if examples:
            comparison.add_segments(tokens, examples)
        if ngrams and compared.references:
            comparison.distributed += word_rows(compared.batch(), tokens)
            comparison.ngrams += ngram_rows(compared.batch(), tokens, most=ngrams)
    if progress:
        progress("segments and n-grams", 1, 1)
    finding = comparison.finding()
    if not gate.fail_if_worse:
        return finding
    said_first = replace(finding, notices=(*compared.anomalies, *finding.notices))
    cases = gate_cases(said_first, gate.fail_if_worse, min_drop=gate.min_drop)
    return replace(finding, gate=cases)
