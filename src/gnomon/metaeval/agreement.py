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
from gnomon.agreement.gains import MetricGainRow, decided_gains, metric_gains
from gnomon.agreement.judging import (
    Judging,
    Result,
    best_count,
    grouped,
    joined,
    judge,
    overall,
)
from gnomon.agreement.measures import (
    LEVELS,
    NO_PRESET,
    Grouping,
    Level,
    Preset,
    PresetName,
    StatisticName,
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
    labels_of,
    metric_faults,
    pairings,
    title_of,
)
from gnomon.agreement.paraphrased import (
    ComparedMetrics,
    Paraphrases,
    first_paraphrases,
    paraphrases_by_set,
    score_with_paraphrases,
)
from gnomon.agreement.significance import (
    Test,
    Testing,
    resample_faults,
    without_documents,
)
from gnomon.agreement.tables import ROWS, AgreementRow, DecisionRow, tables
from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.core.findings import Finding
from gnomon.core.options import (
    CONFIDENCE,
    RESAMPLES,
    SEED,
    Absent,
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
from gnomon.core.records import table
from gnomon.core.registry import method
from gnomon.core.signature import Signature, of_test_sets
from gnomon.core.slices import check_slices
from gnomon.core.testset import Paraphrase, TestSet
from gnomon.core.validation import Problem, problems, refuse
from gnomon.data.formats import Human, human_files
from gnomon.metaeval.agreement_verdict import metaeval_verdict
from gnomon.metaeval.agreement_views import BEST_METRICS_VIEW, PEOPLE, views
from gnomon.metaeval.notices import notices
from gnomon.metrics import resolve
from gnomon.metrics.functions import FunctionMetric
from gnomon.metrics.protocol import each_metric
from gnomon.metrics.registry import check_metric
from gnomon.metrics.spec import read_spec
from gnomon.stats.significance import Alternative

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gnomon.agreement.measures import Measure
    from gnomon.core.options import BoundOptions
    from gnomon.core.summary import Outline

_EXAMPLES = """\
examples:
  gnomon metaeval -t wmt19/de-en wmt19/kk-en -m bleu chrf --html report.html
  gnomon metaeval -t wmt21/en-de -m bleu --scores comet.tsv --human mqm --baseline bleu
  gnomon metaeval -t wmt19/de-en wmt19/lt-en -m bleu --paraphrases '{pair}.beam.jsonl' --n 1 5
  gnomon metaeval -t wmt19/de-en -m bertscore 'difficulty(bertscore)' --baseline bertscore --top 30%
  gnomon metaeval -t summeval.jsonl -m rougeL bleu --human coherence relevance
  gnomon metaeval -t wmt23/he-en --scores metric-scores --preset wmt23 --by domain
  gnomon metaeval --human de-en.da-z.sys.tsv --scores BLEU.tsv COMET.tsv --levels system

Several kinds of human scores, all that there are unless some are named, are blocks of one table.
Without a test set, files of human scores and score files are enough. A file's name tells its
language pair (de-en.da-z.sys.tsv); NAME=FILE gives a metric or a kind of judgement its name.
"""
_SCORES = Group("scores of metrics and of people")
_PARAPHRASES = Group("paraphrases as further references")
_MEASURED = Group("what is measured")
_TESTS = Group("intervals and tests")


def _test_sets(inputs: Any, options: Mapping[str, Any]) -> tuple[Sequence[Any], ...]:
    """The test sets of a command line, and their paraphrases; or test sets that files make."""
    args = inputs.args
    if not inputs.has_testset:
        files, _ = human_files(options.get("human", ()))
        scores = options.get("scores", ())
        return (textless(files, scores, language_pair=args.language_pair),)
    if args.no_original:
        raise UsageError(
            "metrics are judged with paraphrases beside the original references; leave out"
            " --no-original"
        )
    files = args.paraphrases
    if files and len(args.test_set or ()) > 1 and not all("{pair}" in name for name in files):
        raise UsageError(
            "-t names several test sets, and each has its own paraphrases: write {pair} where file"
            " names differ, as in --paraphrases '{pair}.beam.jsonl'"
        )
    if not files:
        return (inputs.testsets(),)
    sets = inputs.originals()
    pairs = [testset.language_pair or testset.name for testset in sets]
    return sets, [[name.replace("{pair}", pair) for name in files] for pair in pairs]


def _sets_of_study(
    *, original: TestSet, paraphrases: Sequence[Paraphrase], **_: object
) -> tuple[TestSet, Sequence[Paraphrase]]:
    return original, paraphrases


def check_metaeval(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`gnomon.metaeval` refuses of options that fit each alone.

    What people said in files is not known yet, and of several test sets that are judged together
    each may lack some of what is asked for.
    """
    chosen = _shared_task(options.preset)
    for number, top in enumerate(options.top):
        yield from problems(f"top[{number}]", best_count, top, 0)
    if chosen is not None and (options.statistics or options.groupings):
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
            chosen,
        )
    )
    yield from wrong
    asked = () if wrong else measures(options.levels, options.statistics, options.groupings, chosen)
    yield from resample_faults(options.resamples, options.confidence)
    wanted = _wanted(options.metrics, options.scores)
    yield from metric_faults(outline, wanted, allow_code=options.allow_code)
    if outline is not None:
        yield from problems("by", check_slices, outline, options.by)
        if options.unit == "document" and not outline.slices.get("document"):
            yield Problem("unit", without_documents(title_of(outline)))
    if options.baseline is not None and not options.scores:
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
    purpose="compare metrics by their agreement with people",
    title="Agreement with people",
    data=("testsets", "paraphrases"),
    given=_test_sets,
    examples=_EXAMPLES,
    tables={"": "agreement"},
    rows={**ROWS, "gains": MetricGainRow},
    metrics="all",
    human=True,
    judged=True,
    reuses="all",
    resamples_with="baseline",
    from_study=_sets_of_study,
    views=(BEST_METRICS_VIEW,),
    standing=PEOPLE,
    check=check_metaeval,
    verdict=metaeval_verdict,
)
def metaeval(
    testsets: TestSet | Sequence[TestSet] = (),
    metrics: Judged = None,
    paraphrases: Paraphrases | Sequence[Paraphrases] = (),
    *,
    n: Annotated[Sequence[int], Limits(1), Metavar("N"), _PARAPHRASES, Rare()] = (1, 5, 20),
    methods: Annotated[Sequence[str] | None, Metavar("NAME"), _PARAPHRASES, Rare()] = None,
    scores: Annotated[Files, _SCORES, NotInStudies()] = (),
    lower_is_better: Annotated[
        Sequence[str], Metavar("NAME"), _SCORES, Rare(), NotInStudies()
    ] = (),
    human: Annotated[Human, _SCORES] = (),
    human_format: Annotated[str | None, Metavar("NAME"), _SCORES, Rare(), NotInStudies()] = None,
    human_systems: Annotated[bool, _SCORES, Rare()] = False,
    reference_systems: Annotated[Sequence[str], Metavar("NAME"), _SCORES, Rare()] = (),
    allow_circular: Annotated[bool, _SCORES, Rare()] = False,
    preset: Annotated[PresetName | None, Absent(NO_PRESET), _MEASURED] = None,
    levels: Annotated[Sequence[Level], _MEASURED] = LEVELS,
    statistics: Annotated[Sequence[StatisticName] | None, _MEASURED] = None,
    groupings: Annotated[Sequence[Grouping] | None, _MEASURED, Rare()] = None,
    by: Annotated[By, _MEASURED] = None,
    top: Annotated[Sequence[int | str], Metavar("K"), _MEASURED, Rare()] = (),
    darr_threshold: Annotated[float | None, Limits(0), Metavar("X"), _MEASURED, Rare()] = None,
    baseline: Annotated[str | None, Metavar("METRIC"), _TESTS] = None,
    test: Annotated[Test, _TESTS] = "auto",
    unit: Annotated[Unit, Rare()] = "auto",
    alternative: Annotated[Alternative, _TESTS, Rare()] = "greater",
    resamples: Resamples = RESAMPLES,
    confidence: Confidence = CONFIDENCE,
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
        paraphrases: of the one test set, or a list with those of each; files of them, too. Every
            metric that is to score is judged with them beside the references, too, as
            ``METRIC+METHOD N``.
        n: how many paraphrases of each segment metrics read, the first ones; they are judged with
            each number in turn, and with all that there are where these are fewer.
        methods: of the paraphrases, these alone.
        scores: score files of further metrics: gnomon's, mt-metrics-eval's, or WMT's ``METRIC LP
            TESTSET SYSTEM [SEGMENT] SCORE``; ``NAME=FILE``, or a mapping, names the metric,
            ``FILE:COLUMN`` the column of TSV and JSONL files (score, by default). A folder stands
            for all score files in it and below; a relative one that is not there is looked up in
            the folder of each test set (``metric-scores``, as in mt-metrics-eval's data).
        lower_is_better: metrics of the score files that are error rates.
        human: kinds of human scores and rankings ("mqm", "darr"), or files of them, each a block of
            the tables; by default all.
        human_format: the format of the files of human scores, if they do not tell.
        human_systems: judge human translations, too.
        reference_systems: references that people judged, by name: each is taken from the references
            and judged as a system; metrics score all systems with the references that are left.
        allow_circular: judge metrics even by human scores that went into them (difficulty whose
            pool these chose); otherwise that is refused.
        preset: that shared task's measures (at these levels) and tests, in place of statistics and
            groupings; "outliers": system level without outlying systems, too (by the median
            absolute deviation of human scores, see :func:`gnomon.stats.outliers`).
        levels: "system", "segment", or both.
        statistics: statistics of agreement; by default those usual at each level, as far as the
            human scores allow them.
        groupings: at segment level, all scores together ("none"), by segment ("item") or by
            system; by default as is usual for each statistic.
        by: slices, too: by "document", "domain", "length" or a label of the test set; each is
            judged alone, and system scores are those of its segments.
        top: system level over the best systems by human score alone, too: a number, or a share
            ("30%", rounded down).
        darr_threshold: DaRR from scores that differ by at least this much (25 on a scale of 0 to
            100), where there are no rankings; by default from rankings alone.
        baseline: name of the metric that every other one is tested against.
        test: "auto": Williams's test for system-level Pearson, bootstrap for soft pairwise
            accuracy, a jackknife over documents for segment levels where these are known (see
            unit), else bootstrap for DaRR and permutation for the rest. A named test
            leaves statistics without p-values for which it does not exist, and takes segments as
            independent.
        unit: what is independent at segment level: "segment", "document", or "auto": documents
            where they are known and no test is named. At system level systems are.
        confidence: of the intervals; the largest significant p (ranks, wins) is 1 less this.
        alternative: what p speaks of: the metric is "greater" (better) than the baseline, "less",
            or "two-sided". Ranks and clusters need "greater".

    Returns:
        A finding whose rows hold ``language_pair, level, statistic, grouping, metric, value, n,
        p, low, high, rank, cluster, ...``; rows over several test sets have the language pair
        "average" (mean over test sets) or "all" (pairwise decisions pooled). Further tables:
        "gains" (over the baseline, and with paraphrases over the metric without), "averages" of
        these over test sets, "overall", "wins", "systems", "top_k", "decisions".

    Raises:
        DataError: there are no human scores for what is to be measured, or nobody judged a
            reference that is to be a system.
        UsageError: an option is out of its range, two metrics have one name, or a metric has seen
            the human scores that would judge it.
        UnknownNameError: there is no such metric, kind, level, statistic, grouping, preset, test.
    """
    files, kinds = human_files(human)
    sets = [testsets] if isinstance(testsets, TestSet) else list(testsets)
    sets = sets or textless(files, scores)
    wanted = by_name(_wanted(metrics, scores))
    if files:
        sets, more = with_judgements(sets, files, format=human_format)
        kinds = [*kinds, *more]
    made = paraphrases_by_set(paraphrases, sets)
    sets, judged_references = with_reference_systems(sets, reference_systems)
    wanted += metric_scores(scores, sets, lower_is_better=lower_is_better).items()
    firsts = [first_paraphrases(of_set, n, methods) for of_set in made]
    scored = list(
        score_with_paraphrases(
            sets, wanted, [first for first, _ in firsts], allow_code=allow_code, tick=progress
        )
    )
    wanted += [(pair.metric, with_paraphrases) for pair, with_paraphrases in scored]
    if not wanted:
        raise UsageError("there is no metric to judge; name one, or give score files")
    chosen = _shared_task(preset)
    rules = stats.rules(None if chosen is None else preset)
    judging = Judging(
        measures=measures(levels, statistics, groupings, chosen),
        testing=Testing(
            test=test,
            alternative=alternative,
            resamples=resamples,
            seed=seed,
            confidence=confidence,
            plus_one=rules.plus_one,
            early_stopping=rules.early_stopping,
            williams=chosen is None or chosen.williams,
            cells=chosen is not None,
        ),
        top=tuple(dict.fromkeys(map(str, top))),
        inliers=preset == "outliers",
        threshold=darr_threshold,
        spa_seed=rules.spa_seed if chosen else seed,
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
    asked = _Request(
        judging,
        baseline,
        _compared([pair for pair, _ in scored], names, baseline),
        tasks_of(judging.measures, chosen),
        [*([chosen.says] if chosen else ()), *_of_paraphrases(sets, firsts)],
    )
    return _finding(judged, results, asked)


# What is judged, and what is refused


def _wanted(metrics: object, scores: Files) -> Any:
    """The metrics, or those that are taken where none is named."""
    return (() if scores else ("bleu",)) if metrics is None else metrics


def _compared(
    with_paraphrases: Sequence[ComparedMetrics], names: Iterable[str], baseline: str | None
) -> list[ComparedMetrics]:
    """Metrics with paraphrases against themselves, and all others against the baseline."""
    wide = {pair.metric for pair in with_paraphrases}
    others = [name for name in names if name != baseline and name not in wide]
    against = [] if baseline is None else [ComparedMetrics(name, baseline) for name in others]
    return [*with_paraphrases, *against]


def _of_paraphrases(
    sets: Sequence[TestSet], firsts: Sequence[tuple[object, Sequence[str]]]
) -> Iterator[str]:
    """Which numbers of paraphrases were not there, test set by test set."""
    for label, (_, notices_of_set) in zip(labels_of(sets), firsts, strict=False):
        for notice in notices_of_set:
            yield f"{label}: {notice}" if len(sets) > 1 else notice


def _shared_task(preset: PresetName | None) -> Preset | None:
    """The measures and formulas of a shared task; None where the usual ones are taken."""
    return None if preset == "outliers" else preset_of(preset)


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
        seen = metric.will_see(outline)
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
    compared: Sequence[ComparedMetrics]
    tasks: tuple[Measure, ...]
    notices: Sequence[str]


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
        asked.compared,
        baseline=asked.baseline,
        threshold=asked.judging.threshold,
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
            alternative=asked.judging.testing.alternative,
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


def _signatures(pairings: Sequence[Pairing], asked: _Request) -> dict[str, Signature]:
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
