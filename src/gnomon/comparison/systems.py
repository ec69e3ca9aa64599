"""Systems side by side: which differ from a baseline, by how much, where, and in which words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np

from gnomon.agreement.meaning import read_meanings
from gnomon.agreement.pairing import metric_faults
from gnomon.comparison.gate import MinDrop, failures, gate_faults
from gnomon.comparison.meanings import (
    fitting_meanings,
    meaning_listing,
    meaning_rows,
    meaning_table,
)
from gnomon.comparison.ngrams import ngram_rows, read_tokens
from gnomon.comparison.paired import (
    PairedScores,
    PairedTest,
    PairedTestPlan,
    deciders,
    figures,
    influence,
    plan_faults,
)
from gnomon.comparison.tables import (
    ROWS,
    ComparisonRow,
    DecidingSegments,
    ngram_table,
    segment_table,
    slice_table,
    system_rows,
    system_table,
    views,
)
from gnomon.comparison.unsuspected import on_other_segments
from gnomon.comparison.verdict import compare_verdict
from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.core.findings import Finding
from gnomon.core.options import (
    CONFIDENCE,
    SEED,
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
)
from gnomon.core.registry import method
from gnomon.core.scores import Scores, checked_scores, of_metric
from gnomon.core.slices import check_slices, slices
from gnomon.core.testset import TestSet
from gnomon.core.threads import each_in_threads, using_workers
from gnomon.core.validation import Problem, problems
from gnomon.core.verdicts import doubtful_systems
from gnomon.messages import Message, message
from gnomon.metrics.base import Metrics, each_metric
from gnomon.metrics.scoring import compared_scores
from gnomon.stats.jackknife import LEAST_DOCUMENTS, clustering, numbered
from gnomon.stats.significance import fewest_draws
from gnomon.stats.studentised import influences_of_differences

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from gnomon.comparison.meanings import DifferenceMeaningRow
    from gnomon.comparison.paired import ComparedSystem
    from gnomon.comparison.tables import (
        DecidingSegmentRow,
        NgramRow,
    )
    from gnomon.core.findings import Exhibit, Table
    from gnomon.core.options import BoundOptions
    from gnomon.core.signature import Signature
    from gnomon.core.slices import Slice
    from gnomon.core.summary import Outline
    from gnomon.messages import Message
    from gnomon.metrics.tokenise import TokenTable

_SAME = 1e-6  # share by which a corpus score may differ from the mean of its segments
_EXAMPLES = """\
examples:
  gnomon compare ref.txt -i old.txt new.txt -m bleu chrf
  gnomon compare -t newstest2019/en-de --baseline online-B.0 -m bleu --html report.html
  gnomon compare ref.txt -i old.txt new.txt --test ar --by length
  gnomon compare ref.txt -i main.txt branch.txt --fail-if-worse bleu --min-drop .3   # for CI

exit code 3: --fail-if-worse found a system that is worse than the baseline
"""


def check_compare(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`compare` refuses of options that fit each alone."""
    yield from plan_faults(options.resamples, options.confidence)
    yield from gate_faults(options)
    yield from metric_faults(outline, options.metrics, allow_code=options.allow_code, pairs=True)
    if outline is not None:
        option = "baseline" if len(outline.systems) > 1 else ""
        yield from problems(option, check_systems, outline, options.baseline)
        yield from problems("by", check_slices, outline, options.by, scored=True)
        if options.unit == "document":
            yield from problems("unit", check_documents, outline)


@method(
    "compare",
    purpose="compare systems and test their differences, down to segments and words",
    title="Comparison of systems",
    examples=_EXAMPLES,
    tables={"": "comparisons"},
    rows=ROWS,
    metrics="all",
    reuses="costly",
    verdict=compare_verdict,
    check=check_compare,
)
def compare(
    testset: TestSet,
    metrics: Metrics = "bleu",
    *,
    baseline: str | None = None,
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
    fail_if_worse: Sequence[str] = (),
    min_drop: MinDrop = 0.0,
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
        baseline: the system that the others are compared with; by default the first of two
            systems, and of more the one with the best score under each metric (the first,
            too, with ``fail_if_worse`` and with ``test="sacrebleu"``).
        test: "bootstrap" (studentised paired bootstrap), "ar"
            (approximate randomisation; Riezler and Maxwell, 2005), which has no intervals, or
            "sacrebleu" for what sacreBLEU's paired bootstrap reports: its p alone, not adjusted.
        resamples: draws for intervals and tests, by default 1000 (5000 for more than ten
            comparisons), of "ar" 10000 exchanges; 0: neither intervals nor p.
        confidence: of all intervals of a metric at once, and of those of its slices; a system is
            better or worse where its interval leaves 0 out, which is where p is at most 1 less
            this. An end of 0 is open then ("above 0").
        unit: what is independent: "segment", "document", or "auto": documents for scores that
            people gave; for metrics, where segments of one of at least 15 documents are clearly
            alike (design effect), else segments. Documents are drawn whole.
        by: slices, too: by "document", "domain", "length", "score" or a label of the test set.
        delta_accuracy: a file of :func:`gnomon.metaeval.delta_accuracy`, which says how often
            people agreed with a difference of this size in other test sets.
        examples: segments shown per metric, system and side; 0 for none.
        ngrams: n-grams listed per system, side and length (1 to 4); 0 for none.
        fail_if_worse: metrics by which no system may be significantly worse than the baseline;
            the finding's ``failure`` says where one is, and the command line ends with exit code 3.
        min_drop: smallest drop that fails, in the metric's own units.

    Returns:
        A finding whose rows hold ``system, baseline, metric, score, difference, low, high, p,
        verdict, slice, segments, wins, ties, losses, gain, ...``; further tables
        ``meaning`` (with such a file), ``slices``, ``segments`` and ``ngrams``. ``None`` where
        undefined.

    Raises:
        DataError: there are fewer than two systems, scores are not of this test set, it has no
            documents to take as the unit, or what differences mean is of another metric.
        FormatError: the file of what differences mean is damaged.
        UnknownNameError: the baseline is no system of the test set, or an option has no such value.
        UsageError: an option is out of range, or a metric is named twice.
    """
    plan = PairedTestPlan.of(test, resamples, confidence, seed)
    check_systems(testset.outline, baseline)
    if unit == "document":
        check_documents(testset.outline)
    known = () if delta_accuracy is None else read_meanings(delta_accuracy)
    judged = scored(testset, metrics, workers=workers, allow_code=allow_code, progress=progress)
    meanings = fitting_meanings(known, judged, str(delta_accuracy)) if known else {}
    first = bool(fail_if_worse) or test == "sacrebleu"
    chosen = baseline is None and len(testset.systems) > 2 and not first
    doubtful = frozenset(doubtful_systems(testset.anomalies))
    sound = [name for name in testset.systems if name not in doubtful] or list(testset.systems)
    names = list(testset.systems)
    orders = [starting_with(leader(s, sound) if chosen else baseline, names) for s in judged]
    compared = testset if orders[0] == names else testset.select(systems=orders[0])
    pairings = [
        PairedScores.of(scores, order, doubtful)
        for scores, order in zip(judged, orders, strict=True)
    ]
    collected = _ComparisonParts(notices=notices(compared, judged, pairings))
    parts = [slices(compared, by, paired.segments) for paired in pairings]
    documents = None if compared.documents is None else numbered(compared.documents)
    tests = [_by_unit(plan, unit, paired, documents) for paired in pairings]
    plans = [
        _plans(one, unit, paired, each, documents, every=chosen)
        for one, paired, each in zip(tests, pairings, parts, strict=True)
    ]
    named = None if chosen else orders[0][0]
    collected.notices += on_other_segments(testset, judged, tests, named, documents)
    with using_workers(workers):
        _add_figures(collected, compared, pairings, parts, plans, documents, progress)
    signatures = {scores.metric: scores.signature for scores in judged}
    collected.meaning += meaning_rows(collected.rows, meanings, signatures, compared)
    tokens = read_tokens(compared) if examples or ngrams else None
    if tokens is None and (examples or ngrams):
        collected.notices.append(message("note.compare.no_ngrams"))
    if examples:
        _add_segments(collected, compared, pairings, tokens, examples)
    if ngrams and tokens is not None:
        collected.ngrams += ngram_rows(compared.batch(), tokens, most=ngrams)
    if progress:
        progress("segments and n-grams", 1, 1)
    finding = _finding(collected, compared, judged, pairings, plans, by, chosen=chosen)
    if not fail_if_worse:
        return finding
    said_first = replace(finding, notices=(*compared.anomalies, *finding.notices))
    worse = failures(said_first, fail_if_worse, min_drop=min_drop)
    return replace(finding, failure=worse)


@dataclass
class _ComparisonParts:
    rows: list[ComparisonRow] = field(default_factory=list)
    meaning: list[DifferenceMeaningRow] = field(default_factory=list)
    segments: list[DecidingSegmentRow] = field(default_factory=list)
    ngrams: list[NgramRow] = field(default_factory=list)
    exhibits: list[Exhibit] = field(default_factory=list)
    notices: list[Message] = field(default_factory=list)


class _TestPlans(NamedTuple):
    """How all segments are tested under a metric, and how slices are."""

    whole: PairedTestPlan
    sliced: PairedTestPlan
    every: bool  # all pairs of systems are compared
    pairs: int
    slices: int

    @property
    def family(self) -> str:
        """What is decided at once."""
        if self.pairs == 1:
            return "this one difference"
        return f"all {self.pairs} {'pairs' if self.every else 'differences'} of a metric"

    @property
    def slice_family(self) -> str:
        """The same of slices; empty without any."""
        if not self.slices:
            return ""
        of = f"{self.pairs} pairs" if self.every else f"{self.pairs} differences"
        return f"{of} in {self.slices} slices" if self.pairs > 1 else f"{self.slices} slices"


def _by_unit(
    plan: PairedTestPlan, unit: Unit, paired: PairedScores, documents: NDArray[np.int64] | None
) -> PairedTestPlan:
    """The plan with the unit of a metric's scores."""
    by_document = unit == "document"
    if unit == "auto" and documents is not None and plan.test != "sacrebleu":
        by_document = paired.from_people
        if not by_document:
            added = influences_of_differences(paired.values, paired.aggregate)
            by_document = clustering(added, documents).by_document
    return replace(plan, unit="document" if by_document else "segment")


def _plans(
    plan: PairedTestPlan,
    unit: Unit,
    paired: PairedScores,
    parts: Sequence[Slice],
    documents: NDArray[np.int64] | None,
    *,
    every: bool,
) -> _TestPlans:
    told = (paired.doubted(k) or paired.doubted(j) for k, j, _ in paired.pairs(0, every=every))
    pairs, slices_of_metric = max(1, sum(caveat is None for caveat in told)), len(parts) - 1
    sliced = plan
    if unit == "auto" and documents is not None and not paired.from_people:
        fewest = min(len(np.unique(documents[part.members])) for part in parts)
        sliced = plan if fewest >= LEAST_DOCUMENTS else replace(plan, unit="segment")
    whole, sliced = plan.in_family(pairs), sliced.in_family(pairs * slices_of_metric)
    return _TestPlans(whole, sliced, every, pairs, slices_of_metric)


def _add_figures(
    collected: _ComparisonParts,
    testset: TestSet,
    pairings: Sequence[PairedScores],
    parts: Sequence[Sequence[Slice]],
    plans: Sequence[_TestPlans],
    documents: NDArray[np.int64] | None,
    progress: Callable[[str, int, int], None] | None,
) -> None:
    """The rows of all metrics and slices."""
    tasks = [
        (paired, each[:1] if whole else each[1:], plan, whole)
        for paired, each, plan in zip(pairings, parts, plans, strict=True)
        for whole in (True, False)
        if whole or len(each) > 1
    ]

    def figure(
        task: tuple[PairedScores, Sequence[Slice], _TestPlans, bool],
    ) -> list[list[ComparedSystem]]:
        paired, pieces, plan, whole = task
        return figures(
            paired,
            [piece.members for piece in pieces],
            plan.whole if whole else plan.sliced,
            documents,
            every=plan.every,
            slices=not whole,
        )

    empty = {
        name: np.array([not text.strip() for text in texts])
        for name, texts in testset.systems.items()
    }
    if progress:
        progress("testing", 0, len(tasks))
    for done, (task, compared) in enumerate(
        zip(tasks, each_in_threads(figure, tasks), strict=True), start=1
    ):
        paired, pieces, plan, whole = task
        lacking = [
            [int(empty[name][piece.members].sum()) for name in paired.systems] for piece in pieces
        ]
        named = [(piece.name, each) for piece, each in zip(pieces, compared, strict=True)]
        collected.rows += system_rows(paired, named, plan.whole if whole else plan.sliced, lacking)
        if progress:
            progress("testing", done, len(tasks))
    notes = [notice for plan in plans for notice in too_coarse(plan.whole)]
    collected.notices += dict.fromkeys(notes)


def _add_segments(
    collected: _ComparisonParts,
    testset: TestSet,
    pairings: Sequence[PairedScores],
    tokens: TokenTable | None,
    examples: int,
) -> None:
    showcase = DecidingSegments(testset, testset.batch(), tokens)
    for paired in pairings:
        added = influence(paired)
        for decider in deciders(paired, examples):
            weight = float(added[decider.system, decider.segment])
            collected.segments.append(showcase.row(paired, decider, weight))
            collected.exhibits.append(showcase.exhibit(paired, decider))


def _finding(
    collected: _ComparisonParts,
    testset: TestSet,
    judged: Sequence[Scores],
    pairings: Sequence[PairedScores],
    plans: Sequence[_TestPlans],
    by: str | None,
    *,
    chosen: bool,
) -> Finding:
    tables: list[Table] = [
        system_table(
            collected.rows, plans[0].whole, plans[0].family, plans[0].slice_family if by else ""
        )
    ]
    if collected.meaning:
        tables.append(meaning_table(collected.meaning))
    if by:
        tables.append(slice_table(collected.rows))
    if collected.segments:
        tables.append(segment_table(collected.segments))
    if collected.ngrams:
        tables.append(ngram_table(collected.ngrams))
    systems = list(testset.systems)
    doubtful = frozenset(doubtful_systems(testset.anomalies))

    with_meaning = dict.fromkeys(row.metric for row in collected.meaning)

    def signature(scores: Scores, paired: PairedScores, plan: _TestPlans) -> Signature:
        fields = {"baseline": paired.systems[0], **plan.whole.fields()}
        if chosen:
            fields["baseline_by"] = "score"
        if by and plan.sliced.resamples != plan.whole.resamples:
            fields["slices_bs"] = plan.sliced.resamples
        return scores.signature.adding(fields)

    return Finding(
        method="compare",
        title="Systems compared with the best one" if chosen else _compared_with(systems[0]),
        tables=tuple(tables),
        signatures={
            scores.metric: signature(scores, paired, plan)
            for scores, paired, plan in zip(judged, pairings, plans, strict=True)
        },
        views=(
            *views(tables, {one.metric: one.systems[0] for one in pairings}, systems, doubtful),
            *(meaning_listing(metric, collected.meaning) for metric in with_meaning),
        ),
        exhibits=tuple(collected.exhibits),
        notices=tuple(collected.notices),
        facts=_facts(testset, by, chosen=chosen),
    )


def _compared_with(baseline: str) -> str:
    return f"Systems compared with {baseline}"


def _facts(testset: TestSet, by: str | None, *, chosen: bool) -> Mapping[str, str]:
    facts = {
        "test set": testset.name,
        "language pair": testset.language_pair or "not given",
        "segments": str(testset.segments),
        "systems": str(len(testset.systems)),
        "references": ", ".join(testset.references) or "none",
        "baseline": "the best under each metric" if chosen else next(iter(testset.systems)),
    }
    return {**facts, "slices": by} if by else facts


# What is compared: systems, the baseline first, and what metrics said of them.


def starting_with(baseline: str | None, systems: Sequence[str]) -> list[str]:
    """The systems with the baseline first; None: in their order."""
    if baseline is None:
        return list(systems)
    return [baseline, *(name for name in systems if name != baseline)]


def check_systems(outline: Outline, baseline: str | None) -> None:
    """Refuse a test set without two systems, or without the baseline; errors as above."""
    names = outline.systems
    if len(names) < 2:
        given = f"{names[0]!r} alone" if names else "none"
        raise DataError(
            f"a comparison takes two systems or more; test set {outline.name!r} gives {given}"
        )
    if baseline is not None and baseline not in names:
        raise UnknownNameError("system (baseline)", baseline, names)


def check_documents(outline: Outline) -> None:
    """Refuse a test set without documents."""
    if not outline.slices.get("document"):
        raise DataError(
            f"test set {outline.name!r} names no documents, which are asked for as the unit; give"
            " the document of each segment (documents.tsv in its folder, documents= in Python), or"
            " take segments as the unit"
        )


def leader(scores: Scores, systems: Sequence[str]) -> str | None:
    """The system with the best score, the first of several; None where none has a score."""
    values = {name: float(scores.system[scores.systems.index(name)]) for name in systems}
    defined = [name for name in systems if np.isfinite(values[name])]
    sign = 1 if scores.higher_is_better else -1
    return max(defined, key=lambda name: sign * values[name], default=None)


def scored(
    testset: TestSet,
    metrics: Metrics,
    *,
    workers: int = 1,
    allow_code: bool,
    progress: Callable[[str, int, int], None] | None,
) -> list[Scores]:
    """What each metric said of the systems of a test set."""
    chosen = each_metric(metrics)
    if not chosen:
        raise UsageError("a comparison takes one metric or more; none is given")
    every_scores = []
    if progress:
        progress("scoring", 0, len(chosen))
    for done, metric in enumerate(chosen, start=1):
        if isinstance(metric, Scores):
            every_scores.append(checked_scores(metric, testset))
        else:
            every_scores.append(
                compared_scores(testset, metric, workers=workers, allow_code=allow_code)
            )
        if progress:
            progress("scoring", done, len(chosen))
    names = [metric.metric for metric in every_scores]
    if len(set(names)) < len(names):
        raise UsageError(f"a metric is named twice: {', '.join(names)}")
    return every_scores


# What a reader of a comparison should know, in sentences.


def notices(
    testset: TestSet, scored: Sequence[Scores], pairings: Sequence[PairedScores]
) -> list[Message]:
    """What metrics noticed, and what was compared instead of a corpus score."""
    statements: list[Message] = []
    for scores, paired in zip(scored, pairings, strict=True):
        statements += [
            notice if notice.code == "data.damaged" else of_metric(scores.metric, notice)
            for notice in scores.notices
            if notice not in testset.anomalies
        ]
        if paired.aggregate is None and not _is_mean(scores):
            statements.append(message("note.not_mean").about(metrics=[scores.metric]))
    return statements


def _is_mean(scores: Scores) -> bool:
    has_score = ~np.isnan(scores.segments)
    counts = np.where(has_score.any(axis=1), has_score.sum(axis=1), np.nan)
    means = np.nansum(scores.segments, axis=1) / counts
    return bool(np.allclose(means, scores.system, rtol=_SAME, atol=_SAME, equal_nan=True))


def too_coarse(plan: PairedTestPlan) -> Iterator[Message]:
    """Says so where no p-value of exchanges can be small enough."""
    least = fewest_draws(plan.confidence)
    if plan.test == "ar" and 0 < plan.exchanges < least:
        drawn: dict[str, Any] = {"draws": plan.exchanges, "alpha": plan.alpha, "least": least}
        yield message("note.compare.coarse", **drawn)
