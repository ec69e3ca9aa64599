"""Meta-evaluation: do the metrics agree with people, and which of them agrees best?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

from gnomon import stats
from gnomon.agreement.files import (
    Files,
    metric_scores,
    textless,
    with_judgements,
    with_reference_systems,
)
from gnomon.agreement.judging import Judging, Result, grouped, joined, judge, overall
from gnomon.agreement.measures import (
    LEVELS,
    NO_PRESET,
    Grouping,
    Level,
    PresetName,
    StatisticName,
    WeightedMeasure,
    measures,
    preset_of,
    tasks_of,
)
from gnomon.agreement.pairing import (
    Judged,
    Pairing,
    PairingRequest,
    by_name,
    check_kinds,
    circular,
    kinds_of,
    metric_faults,
    pairings,
    title_of,
)
from gnomon.agreement.significance import (
    Correction,
    Exchange,
    Test,
    Testing,
    resample_faults,
    without_documents,
)
from gnomon.agreement.tables import ROWS, tables
from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.core.findings import Finding
from gnomon.core.options import (
    CONFIDENCE,
    RESAMPLES,
    SEED,
    Absent,
    Alpha,
    By,
    Confidence,
    Group,
    Limits,
    Metavar,
    NotInStudies,
    Rare,
    Resamples,
    Seed,
    Unit,
)
from gnomon.core.registry import method
from gnomon.core.scores import Scores
from gnomon.core.signature import Signature, of_test_sets
from gnomon.core.slices import check_slices
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem, problems, refuse
from gnomon.data.formats import Human, human_files
from gnomon.methods.metaeval.agreement_verdict import CLAIMS, metaeval_verdict
from gnomon.methods.metaeval.agreement_views import BEST_METRICS_VIEW, PEOPLE, views
from gnomon.methods.metaeval.notices import notices
from gnomon.metrics import resolve, score
from gnomon.metrics.functions import FunctionMetric
from gnomon.metrics.protocol import Choosing, each_metric
from gnomon.metrics.registry import check_metric
from gnomon.metrics.spec import read_spec
from gnomon.stats.significance import Alternative

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.agreement.measures import Measure
    from gnomon.agreement.pairing import Wanted
    from gnomon.core.options import BoundOptions
    from gnomon.core.summary import Outline
    from gnomon.metrics.protocol import AnyMetric

_EXAMPLES = """\
examples:
  gnomon metaeval -t wmt19/de-en wmt19/kk-en -m bleu chrf --html report.html
  gnomon metaeval -t wmt21/en-de -m bleu --scores comet.tsv --human mqm --baseline bleu
  gnomon metaeval -t wmt19/de-en -m bleu --paraphrases p*.txt --baseline bleu
  gnomon metaeval -t summeval.jsonl -m rougeL bleu --human coherence relevance
  gnomon metaeval -t wmt23/he-en --own-scores --preset wmt23 --by domain
  gnomon metaeval --human de-en.da-z.sys.tsv --scores BLEU.tsv COMET.tsv --levels system

Several kinds of human scores, all that there are unless some are named, are blocks of one table.
Without a test set, files of human scores and score files are enough. A file's name tells its
language pair (de-en.da-z.sys.tsv); NAME=FILE gives a metric or a kind of judgement its name.
"""
_SCORES = Group("scores of metrics and of people")
_MEASURED = Group("what is measured")
_TESTS = Group("intervals and tests")


def _test_sets(inputs: Any, options: Mapping[str, Any]) -> tuple[Sequence[TestSet], ...]:
    """The test sets of a command line, and these with paraphrases; or those that files make."""
    if not inputs.has_testset:
        column, pair = options.get("score_column", "score"), inputs.args.language_pair
        files, _ = human_files(options.get("human", ()))
        return (textless(files, options.get("scores", ()), language_pair=pair, column=column),)
    if not inputs.args.paraphrases:
        return (inputs.testsets(),)
    sets = inputs.originals()
    return sets, [inputs.paraphrased(testset) for testset in sets]


def check_metaeval(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`gnomon.metaeval` refuses of options that fit each alone.

    What people said in files is not known yet, and of several test sets that are judged together
    each may lack some of what is asked for.
    """
    if options.preset is not None and (options.statistics or options.groupings):
        message = f"preset {options.preset!r} brings its statistics and groupings; leave them out"
        yield Problem("preset", UsageError(message))
    option = "statistics" if options.statistics else "levels"
    wrong = list(
        problems(
            option,
            measures,
            options.levels,
            options.statistics,
            options.groupings,
            preset_of(options.preset),
        )
    )
    yield from wrong
    asked = (
        ()
        if wrong
        else measures(
            options.levels, options.statistics, options.groupings, preset_of(options.preset)
        )
    )
    if asked:
        yield from problems("weights", tasks_of, asked, preset_of(options.preset), options.weights)
    yield from resample_faults(options.resamples, options.confidence)
    wanted = _wanted(options.metrics, options.scores, own_scores=options.own_scores)
    yield from metric_faults(outline, wanted, allow_code=options.allow_code)
    if outline is not None:
        yield from problems("by", check_slices, outline, options.by)
        if options.unit == "document" and not outline.slices.get("document"):
            yield Problem("unit", without_documents(title_of(outline)))
    if options.baseline is not None and not options.scores and not options.own_scores:
        yield from problems(
            "baseline", _check_named, wanted, options.baseline, allow_code=options.allow_code
        )
    files, kinds = human_files(options.human)
    if outline is None or files or options.sets > 1:
        return
    yield from _judged_faults(
        outline, kinds, asked, options.darr_threshold, single=isinstance(options.human, str)
    )
    if not options.allow_circular:
        yield from _circular_faults(outline, kinds, wanted, allow_code=options.allow_code)


@method(
    "metaeval",
    answers="which metric agrees best with people",
    title="Agreement with people",
    data=("testsets", "paraphrased"),
    given=_test_sets,
    examples=_EXAMPLES,
    tables={"": "agreement"},
    rows=ROWS,
    metrics="all",
    human=True,
    judged=True,
    reuses="all",
    views=(BEST_METRICS_VIEW,),
    standing=PEOPLE,
    check=check_metaeval,
    verdict=metaeval_verdict,
    claims=CLAIMS,
)
def metaeval(
    testsets: TestSet | Sequence[TestSet] = (),
    metrics: Judged = None,
    paraphrased: TestSet | Sequence[TestSet] = (),
    *,
    scores: Annotated[Files, _SCORES, NotInStudies()] = (),
    own_scores: Annotated[bool, _SCORES, Rare()] = False,
    lower_is_better: Annotated[
        Sequence[str], Metavar("NAME"), _SCORES, Rare(), NotInStudies()
    ] = (),
    score_column: Annotated[str, Metavar("NAME"), _SCORES, Rare(), NotInStudies()] = "score",
    human: Annotated[Human, _SCORES] = (),
    human_format: Annotated[str | None, Metavar("NAME"), _SCORES, Rare(), NotInStudies()] = None,
    human_systems: Annotated[bool, _SCORES, Rare()] = False,
    reference_systems: Annotated[Sequence[str], Metavar("NAME"), _SCORES, Rare()] = (),
    allow_circular: Annotated[bool, _SCORES, Rare()] = False,
    preset: Annotated[PresetName | None, Absent(NO_PRESET), _MEASURED] = None,
    levels: Annotated[Sequence[Level], _MEASURED] = LEVELS,
    statistics: Annotated[Sequence[StatisticName] | None, _MEASURED] = None,
    groupings: Annotated[Sequence[Grouping] | None, _MEASURED, Rare()] = None,
    weights: Annotated[Sequence[str], Metavar("STATISTIC=W"), _MEASURED, Rare()] = (),
    by: Annotated[By, _MEASURED] = None,
    top: Annotated[Sequence[int], Limits(2), Metavar("K"), _MEASURED, Rare()] = (),
    inliers: Annotated[bool, _MEASURED, Rare()] = False,
    darr_threshold: Annotated[float | None, Limits(0), Metavar("X"), _MEASURED, Rare()] = None,
    controls: Annotated[bool, _MEASURED, Rare()] = True,
    baseline: Annotated[str | None, Metavar("METRIC"), _TESTS] = None,
    test: Annotated[Test, _TESTS] = "auto",
    swap: Annotated[Exchange | None, _TESTS, Rare()] = None,
    unit: Unit = "auto",
    alternative: Annotated[Alternative, _TESTS, Rare()] = "greater",
    correction: Annotated[Correction, _TESTS] = "none",
    resamples: Resamples = RESAMPLES,
    confidence: Confidence = CONFIDENCE,
    alpha: Alpha = 0.05,
    seed: Seed = SEED,
    allow_code: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """How well metrics agree with people, and which agree better than others.

    Systems are sorted by name, so that nothing depends on their order; error rates are turned.

    Args:
        testsets: one or several test sets with human scores (``TestSet.with_human``); none where
            files of human scores and score files are enough, whose names tell the language pairs.
        metrics: spec strings, metrics, functions, or :class:`~gnomon.core.scores.Scores`; where
            there are several test sets, Scores come as a list with one per test set (None: it has
            none there). A mapping gives them names. By default bleu, or score files alone.
        paraphrased: the same test sets with paraphrases among the references; every metric that is
            to score is judged with these, too, as ``METRIC+paraphrases``.
        scores: score files of further metrics: gnomon's, mt-metrics-eval's, or WMT's ``METRIC LP
            TESTSET SYSTEM [SEGMENT] SCORE``; ``NAME=FILE``, or a mapping, names the metric. A
            folder stands for all score files in it and below.
        own_scores: further metrics are those whose scores lie in the folder of each test set
            (``metric-scores``, as in mt-metrics-eval's data).
        lower_is_better: metrics of the score files that are error rates.
        score_column: the column of the scores, in score files that are TSV or JSONL.
        human: kinds of human scores and rankings ("mqm", "darr"), or files of them, each a block of
            the tables; by default all.
        human_format: the format of the files of human scores, if they do not tell.
        human_systems: judge human translations, too.
        reference_systems: references that people judged, by name: each is taken from the references
            and judged as a system; metrics score all systems with the references that are left.
        allow_circular: judge metrics even by human scores that went into them (difficulty whose
            pool these chose); otherwise that is refused.
        preset: that shared task's measures (at these levels) and tests, in place of statistics and
            groupings.
        levels: "system", "segment", or both.
        statistics: statistics of agreement; by default those usual at each level, as far as the
            human scores allow them.
        groupings: at segment level, all scores together ("none"), by segment ("item") or by
            system; by default as is usual for each statistic.
        weights: an average over tasks (statistics on test sets), in which each has a weight:
            "pearson=1", "system.pearson=2"; others have none. Presets bring their own.
        by: slices, too: by "document", "domain", "length" or a label of the test set; each is
            judged alone, and system scores are those of its segments.
        top: system level over the K best systems by human score alone, too.
        inliers: system level without outlying systems, too (by the median absolute deviation of
            human scores, see :func:`gnomon.stats.outliers`).
        darr_threshold: DaRR from scores that differ by at least this much (25 on a scale of 0 to
            100), where there are no rankings; by default from rankings alone.
        controls: constant, random numbers and lengths beside figures that judge ties.
        baseline: name of the metric that every other one is tested against.
        test: "auto": Williams's test for system-level Pearson, bootstrap for soft pairwise
            accuracy, a jackknife over documents for segment levels where these are known (see
            unit), else bootstrap for DaRR and permutation for the rest. A named test
            leaves statistics without p-values for which it does not exist, and takes segments as
            independent.
        swap: what permutation tests of segment scores exchange between two metrics: "cells",
            "rows+cols", "inputs" (segments) or "systems"; by default inputs, with a preset cells.
            Soft pairwise accuracy goes by permutation where this is given, and can exchange "pairs"
            of systems. That of acc_eq exchanges inputs; p_decisions exchanges decisions on pairs,
            as the shared tasks do, and is too small.
        unit: what is independent at segment level: "segment", "document", or "auto": documents
            where they are known and no test is named. At system level systems are.
        alternative: what p speaks of: the metric is "greater" (better) than the baseline, "less",
            or "two-sided". Ranks and clusters need "greater".
        correction: of p for the number of metrics of a table ("holm", "benjamini-hochberg"), beside
            p itself.
        alpha: largest significant p (ranks, wins).

    Returns:
        A finding whose rows hold ``language_pair, level, statistic, grouping, metric, value, n,
        p, low, high, rank, cluster, ...``; rows over several test sets have the language pair
        "average" (mean over test sets) or "all" (pairwise decisions pooled). Further tables:
        "gains", "overall", "wins", "systems", "top_k", "decisions", "decision_pairs".

    Raises:
        DataError: there are no human scores for what is to be measured, or nobody judged a
            reference that is to be a system.
        UsageError: an option is out of its range, two metrics have one name, or a metric has seen
            the human scores that would judge it.
        UnknownNameError: there is no such metric, kind, level, statistic, grouping, preset, test.
    """
    files, kinds = human_files(human)
    sets = [testsets] if isinstance(testsets, TestSet) else list(testsets)
    sets = sets or textless(files, scores, column=score_column)
    wanted = by_name(_wanted(metrics, scores, own_scores=own_scores))
    if files:
        sets, more = with_judgements(sets, files, format=human_format)
        kinds = [*kinds, *more]
    wide = [paraphrased] if isinstance(paraphrased, TestSet) else list(paraphrased)
    sets, judged_references = with_reference_systems(sets, reference_systems)
    wide, _ = with_reference_systems(wide, reference_systems)
    wanted += metric_scores(
        scores, sets, lower_is_better=lower_is_better, column=score_column, own_scores=own_scores
    ).items()
    wanted += _widened(wide, sets, wanted, allow_code=allow_code)
    if not wanted:
        raise UsageError("there is no metric to judge; name one, or give score files")
    chosen, rules = preset_of(preset), stats.rules(preset)
    judging = Judging(
        measures=measures(levels, statistics, groupings, chosen),
        testing=Testing(
            test=test,
            alternative=alternative,
            resamples=resamples,
            seed=seed,
            confidence=confidence,
            alpha=alpha,
            plus_one=rules.plus_one,
            early_stopping=rules.early_stopping,
            williams=chosen is None or chosen.williams,
            swap=swap,
            cells=chosen is not None,
        ),
        top=tuple(dict.fromkeys(top)),
        inliers=inliers,
        threshold=darr_threshold,
        spa_seed=rules.spa_seed if preset else seed,
        named=bool(chosen or statistics or groupings),
        unit=unit,
    )
    check_kinds([testset.outline for testset in sets], kinds)
    if len(sets) == 1 and files:
        refuse(_judged_faults(sets[0].outline, kinds, judging.measures, darr_threshold))
    request = PairingRequest(
        human=kinds,
        by=by,
        human_systems=human_systems,
        reference_systems=judged_references,
        controls=controls,
        seed=seed,
        allow_code=allow_code,
        allow_circular=allow_circular,
        tick=progress,
    )
    if unit == "document":
        refuse(
            Problem("unit", without_documents(title_of(testset)))
            for testset in sets
            if not testset.documents
        )
    judged = list(pairings(sets, wanted, request))
    names = dict.fromkeys(entry.metric for pairing in judged for entry in pairing.entries)
    if baseline is not None and baseline not in names:
        raise UnknownNameError("metric (as baseline)", baseline, names)
    results: list[Result] = []
    if progress:
        progress("judging", 0, len(judged))
    for done, pairing in enumerate(judged, start=1):
        results += judge(pairing, judging)
        if progress:
            progress("judging", done, len(judged))
    if not results:
        raise _without_scores({title_of(testset): testset.outline.human for testset in sets})
    tasks = tasks_of(judging.measures, chosen, weights)
    asked = _Request(judging, baseline, correction, tasks, chosen.says if chosen else None)
    return _finding(judged, results, asked)


# What is judged, and what is refused


def _wanted(metrics: object, scores: Files, *, own_scores: bool = False) -> Any:
    """The metrics, or those that are taken where none is named."""
    return (() if scores or own_scores else ("bleu",)) if metrics is None else metrics


def _widened(
    wide: Sequence[TestSet],
    sets: Sequence[TestSet],
    wanted: Sequence[tuple[str | None, Wanted]],
    *,
    allow_code: bool,
) -> Iterator[tuple[str, list[Scores]]]:
    """The metrics with paraphrased references."""
    if len(wide) not in (0, len(sets)):
        raise UsageError(
            f"there are {len(sets)} test sets and {len(wide)} with paraphrases; give one for each"
        )
    for name, metric in wanted if wide else ():
        if isinstance(metric, Scores | list | tuple):
            continue  # of the references that there were
        named = cast("AnyMetric", metric)
        scores = [score(testset, named, allow_code=allow_code) for testset in wide]
        yield f"{name or scores[0].metric}+paraphrases", scores


def _check_named(metrics: object, baseline: str, *, allow_code: bool) -> None:
    """Refuse a baseline that is none of the metrics, where their names are known."""
    if isinstance(metrics, Mapping):
        names = [str(name) for name in metrics]
    else:
        every = each_metric(metrics)
        if not all(isinstance(spec, str) for spec in every):
            return  # scores and functions bring their names
        names = [_name(str(spec), allow_code=allow_code) for spec in every]
    if baseline not in names:
        raise UnknownNameError("metric (as baseline)", baseline, sorted(names))


def _name(spec: str, *, allow_code: bool) -> str:
    metric = resolve(spec, allow_code=allow_code)
    return metric.name if isinstance(metric, FunctionMetric) else str(read_spec(spec))


def _judged_faults(
    outline: Outline,
    kinds: Sequence[str],
    wanted: Sequence[Measure],
    threshold: float | None,
    *,
    single: bool = False,
) -> Iterator[Problem]:
    """Kinds of human scores that are not there or are several, and measures that need others."""
    there = tuple(dict.fromkeys((*outline.human_kinds(), *outline.rankings)))
    wrong = [
        Problem(
            "human" if single else f"human[{number}]",
            UnknownNameError("kind of human scores", kind, there),
        )
        for number, kind in enumerate(kinds)
        if kind not in there
    ]
    yield from wrong
    if wrong or not wanted:
        return
    judgements = kinds_of(outline, kinds)
    possible = (
        _is_possible(measure, levels, threshold) for measure in wanted for levels in judgements
    )
    if not any(possible):
        yield Problem("", _without_scores({title_of(outline): outline.human}))


def _is_possible(measure: Measure, kinds: Mapping[str, str], threshold: float | None) -> bool:
    if measure.statistic == "darr":
        return "ranking" in kinds or (threshold is not None and "segment" in kinds)
    return measure.human_level in kinds


def _circular_faults(
    outline: Outline, kinds: Sequence[str], metrics: object, *, allow_code: bool
) -> Iterator[Problem]:
    """Metrics whose judges would choose the systems that they look at."""
    judgements = kinds_of(outline, kinds)
    judges = [kind for levels in judgements for kind in dict.fromkeys(levels.values())]
    for number, given in enumerate(each_metric(metrics)):
        if not isinstance(given, str) or list(
            problems("", check_metric, given, outline, allow_code=allow_code)
        ):
            continue
        metric = resolve(given, allow_code=allow_code)
        seen = metric.will_see(outline) if isinstance(metric, Choosing) else ()
        both = [kind for kind in judges if kind in seen]
        if both:
            yield Problem(f"metrics[{number}]", circular(title_of(outline), given, both))


#: what helps where there are no human scores at all
_ATTACHING = (
    "give a table of them with the columns system, seg and score (seg counts from 1; without it the"
    " scores are of whole systems): add it (--human scores.tsv; TestSet.with_human);"
    " published judgements come by `gnomon data fetch mt-metrics-eval/wmt22 -l en-de`"
)


def _without_scores(there: Mapping[str, Sequence[tuple[str, str]]]) -> DataError:
    """People said nothing that is to be measured."""
    if not any(there.values()):
        return DataError(
            f"nobody has judged {', '.join(there)}: there are no human scores to hold metrics"
            f" against; {_ATTACHING}"
        )
    kinds_of_sets = {
        name: sorted({f"{kind} ({level})" for kind, level in kinds})
        for name, kinds in there.items()
    }
    listed = "; ".join(
        f"{name}: {', '.join(kinds) or 'none'}" for name, kinds in kinds_of_sets.items()
    )
    levels = {level for kinds in there.values() for _, level in kinds}
    if levels and levels <= {"document", "domain"}:
        only = " and ".join(sorted(levels))
        return DataError(
            f"the human scores are of whole {only}s ({listed}), and agreement is measured over"
            " segments and systems; give scores of segments (columns system, seg and the score) or"
            " of systems (system and the score) in a file (--human FILE; TestSet.with_human(FILE))"
        )
    return DataError(
        f"there are no human scores for what is to be measured; human scores are: {listed}; attach"
        " some (--human FILE; TestSet.with_human(FILE))"
    )


# The finding


class _Request(NamedTuple):
    """What was asked for, apart from the scores."""

    judging: Judging
    baseline: str | None
    correction: Correction
    tasks: tuple[WeightedMeasure, ...]
    says: str | None


def _finding(pairings: Sequence[Pairing], results: Sequence[Result], asked: _Request) -> Finding:
    """Tables, views, notices and signatures of what was measured."""
    over = list(joined(results, asked.judging))
    averages = list(overall(results, over, asked.tasks))
    made = tables(
        pairings,
        results,
        over,
        averages,
        asked.judging.testing,
        baseline=asked.baseline,
        correction=asked.correction,
        threshold=asked.judging.threshold,
    )
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
            alternative=asked.judging.testing.alternative,
        ),
        notices=notices(
            pairings,
            results,
            asked.judging,
            averages,
            baseline=asked.baseline,
            says=asked.says,
        ),
        facts=_facts(pairings),
    )


def _signatures(pairings: Sequence[Pairing], asked: _Request) -> dict[str, str]:
    """One per metric where all test sets agree, else one for each; and that of the judging."""
    signatures = of_test_sets(
        {
            (name, pairing.label): text
            for pairing in pairings
            for name, text in pairing.signatures.items()
        }
    )
    how = asked.judging.testing
    signature = Signature("metaeval").adding(
        test=how.test,
        alternative=how.alternative,
        draws=how.resamples,
        confidence=how.confidence,
        seed=how.seed,
        unit=asked.judging.unit,
    )
    return signatures | {"metaeval": str(signature)}


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
