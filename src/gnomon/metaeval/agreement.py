"""Meta-evaluation: do the metrics agree with people, and which of them agrees best?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

from gnomon.agreement.files import (
    Files,
    add_judgements,
    add_reference_systems,
    metric_scores,
    textless,
)
from gnomon.agreement.gains import MetricGainRow
from gnomon.agreement.judging import Result, judge
from gnomon.agreement.measures import tasks_of
from gnomon.agreement.pairing import (
    Judged,
    PairingRequest,
    check_kinds,
    pairings,
    split_metric_names,
    title_of,
)
from gnomon.agreement.paraphrased import (
    Paraphrases,
    first_paraphrases,
    paraphrases_by_set,
    score_with_paraphrases,
)
from gnomon.agreement.tables import ROWS
from gnomon.core.errors import UnknownNameError, UsageError
from gnomon.core.findings import Finding
from gnomon.core.options import (
    DrawOptions,
    Group,
    Limits,
    Metavar,
    NotInStudies,
    Rare,
    expand_fields,
)
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.core.validation import refuse
from gnomon.data.formats import Human, human_files
from gnomon.metaeval.agreement_checks import (
    check_metaeval,
    default_metrics,
    document_faults,
    judged_faults,
    refuse_missing_scores,
)
from gnomon.metaeval.agreement_finding import (
    Asked,
    agreement_finding,
    compared_metrics,
    paraphrase_notices,
)
from gnomon.metaeval.agreement_inputs import read_test_sets, sets_of_study
from gnomon.metaeval.agreement_verdict import metaeval_verdict
from gnomon.metaeval.agreement_views import BEST_METRICS_VIEW, PEOPLE
from gnomon.metaeval.measured import HumanSide, Measured

_EXAMPLES = """\
examples:
  gnomon metaeval -t wmt19/de-en wmt19/kk-en -m bleu chrf --html report.html
  gnomon metaeval -t wmt21/en-de -m bleu --scores comet.tsv --human mqm --baseline bleu
  gnomon metaeval -t wmt19/de-en wmt19/lt-en -m bleu --paraphrases '{pair}.beam.jsonl' --n 1 5
  gnomon metaeval -t wmt19/de-en -m bertscore 'difficulty(bertscore)' --baseline bertscore --top 30%
  gnomon metaeval -t summeval.jsonl -m rougeL bleu --human coherence relevance
  gnomon metaeval -t wmt23/he-en --scores metric-scores --preset wmt23 --by domain
  gnomon metaeval --human de-en.da-z.sys.tsv --scores BLEU.tsv COMET.tsv --levels system

Kinds of human scores are blocks of one table. Without a test set, files of human scores and score
files are enough. A file's name tells its language pair (de-en.da-z.sys.tsv); NAME=FILE gives a
metric or a kind of judgement its name.
"""
_SCORES = Group("scores of metrics and of people")
_PARAPHRASES = Group("paraphrases as further references")
_TESTS = Group("intervals and tests")


@method(
    "metaeval",
    purpose="compare metrics by their agreement with people",
    title="Agreement with people",
    data=("testsets", "paraphrases"),
    given=read_test_sets,
    examples=_EXAMPLES,
    tables={"": "agreement"},
    rows={**ROWS, "gains": MetricGainRow},
    metrics="all",
    human=True,
    judged=True,
    reuses="all",
    resamples_with="baseline",
    from_study=sets_of_study,
    views=(BEST_METRICS_VIEW,),
    standing=PEOPLE,
    check=check_metaeval,
    verdict=metaeval_verdict,
)
@expand_fields(people=HumanSide, measured=Measured, draws=DrawOptions)
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
    people: HumanSide,
    measured: Measured,
    baseline: Annotated[str | None, Metavar("METRIC"), _TESTS] = None,
    draws: DrawOptions,
    allow_code: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """Agreement of metrics with people, and the metrics that agree better than others.

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
        methods: only paraphrases by these methods.
        scores: score files of further metrics: gnomon's, mt-metrics-eval's, or WMT's ``METRIC LP
            TESTSET SYSTEM [SEGMENT] SCORE``; ``NAME=FILE``, or a mapping, names the metric,
            ``FILE:COLUMN`` the column of TSV and JSONL files (score, by default). A folder stands
            for all score files in it and below; a relative one that is not there is looked up in
            the folder of each test set (``metric-scores``, as in mt-metrics-eval's data).
        lower_is_better: metrics of the score files that are error rates.
        human: kinds of human scores and rankings ("mqm", "darr"), or files of them, each a block of
            the tables; by default all.
        baseline: the metric against which every other one is tested.
        confidence: confidence level of the intervals; the largest significant p (ranks, wins) is 1
            - confidence.

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
    wanted = split_metric_names(default_metrics(metrics, scores))
    if files:
        sets, more = add_judgements(sets, files, format=people.human_format)
        kinds = [*kinds, *more]
    made = paraphrases_by_set(paraphrases, sets)
    sets, judged_references = add_reference_systems(sets, people.reference_systems)
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
    judging = measured.judging(draws)
    check_kinds([testset.outline for testset in sets], kinds)
    if len(sets) == 1 and files:
        refuse(judged_faults(sets[0].outline, kinds, judging.measures, judging.threshold))
    request = PairingRequest(
        human=kinds,
        by=measured.by,
        human_systems=people.human_systems,
        reference_systems=judged_references,
        seed=draws.seed,
        allow_code=allow_code,
        allow_circular=people.allow_circular,
        tick=progress,
    )
    if measured.unit == "document":
        refuse(document_faults(sets))
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
        raise refuse_missing_scores({title_of(testset): testset.outline.human for testset in sets})
    asked = Asked(
        judging,
        baseline,
        compared_metrics([pair for pair, _ in scored], names, baseline),
        tasks_of(judging.measures, measured.shared_task),
        [*measured.notices(), *paraphrase_notices(sets, firsts)],
    )
    return agreement_finding(judged, results, asked)
