"""Systems side by side: which differ from a baseline, by how much, where, and in which words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, NamedTuple

from gnomon.findings import Finding
from gnomon.metaeval._compare_exhibits import Showcase
from gnomon.metaeval._compare_figures import Contest, figures
from gnomon.metaeval._compare_gate import failures
from gnomon.metaeval._compare_notices import notices, too_coarse, without_ngrams
from gnomon.metaeval._compare_options import Correction, PairedTest, Plan, enough
from gnomon.metaeval._compare_rows import rows
from gnomon.metaeval._compare_scored import ordered, scored
from gnomon.metaeval._compare_segments import deciders, influence
from gnomon.metaeval._compare_tables import ngram_table, segment_table, slice_table, system_table
from gnomon.metaeval._compare_views import views
from gnomon.metaeval._compare_words import ngram_records, read_tokens
from gnomon.metaeval._requests import check_compare
from gnomon.methods import method
from gnomon.metrics.protocol import Metrics
from gnomon.options import (
    SEED,
    Alpha,
    By,
    Confidence,
    Count,
    Flags,
    Group,
    Limits,
    Metavar,
    Positive,
    Resamples,
    Seed,
    Shorthand,
)
from gnomon.slices import slices
from gnomon.stats.bootstrap import Null
from gnomon.stats.significance import Alternative
from gnomon.testset import TestSet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gnomon.findings import Cell, Exhibit, Table
    from gnomon.metaeval._compare_figures import Compared
    from gnomon.metrics.tokenise import TokenTable
    from gnomon.scores import Scores
    from gnomon.slices import Slice

__all__ = ["compare"]


_EXAMPLES = """\
examples:
  gnomon compare ref.txt -i old.txt new.txt -m bleu chrf
  gnomon compare -t newstest2019/en-de --baseline online-B.0 -m bleu --html report.html
  gnomon compare ref.txt -i old.txt new.txt --test ar --by length
  gnomon compare ref.txt -i main.txt branch.txt --fail-if-worse bleu --min-drop .3   # for CI

exit code 3: --fail-if-worse found a system that is worse than the baseline
"""


@method(
    "compare",
    answers="which system is better, by how much, in which segments and words",
    examples=_EXAMPLES,
    tables={"": "comparisons"},
    metrics="all",
    reuses="costly",
    check=check_compare,
)
def compare(
    testset: TestSet,
    metrics: Metrics = "bleu",
    *,
    baseline: str | None = None,
    test: Annotated[PairedTest, Shorthand(("-par", "--paired-ar"), "ar")] = "bootstrap",
    resamples: Annotated[Resamples | None, Flags(("-pbsn", "--paired-bs-n"))] = None,
    trials: Annotated[
        int, Limits(1), Flags(("-parn", "--paired-ar-n")), Group("intervals and tests")
    ] = 10000,
    null: Annotated[Null, Shorthand(("-pbs", "--paired-bs"), "sacrebleu")] = "sign",
    alternative: Alternative = "two-sided",
    correction: Correction = "holm",
    alpha: Alpha = 0.05,
    confidence: Confidence = 0.95,
    seed: Seed = SEED,
    by: By = None,
    examples: Count = 3,
    ngrams: Count = 10,
    longest: Positive = 4,
    workers: Annotated[Positive, Flags(("-j", "--paired-jobs"))] = 1,
    fail_if_worse: Sequence[str] = (),
    min_drop: Annotated[float, Limits(0), Metavar("UNITS")] = 0.0,
    allow_code: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """Which systems differ from a baseline, by how much, in which segments and n-grams.

    Corpus metrics are compared through their statistics, which are summed over each resample; other
    metrics by the mean of their segment scores. Equal outputs differ by 0, with p = 1.

    Args:
        testset: references and the outputs of two or more systems.
        metrics: specs, metrics, functions of texts, or :class:`Scores` of this test set.
        baseline: the system that the others are compared with; the first by default.
        test: "bootstrap" (paired bootstrap; Koehn, 2004) or "ar" (approximate randomisation;
            Riezler and Maxwell, 2005). Intervals are the bootstrap's either way.
        resamples: bootstrap resamples of the segments; by default 1000, and more, up to 10000,
            where there are so many comparisons that Holm's correction takes more.
        trials: draws of the randomisation.
        null: how resamples become a p-value: "sign", "centred", or "sacrebleu" for exactly what
            sacreBLEU reports; see :func:`gnomon.stats.bootstrap_p_value`.
        alternative: "two-sided", "greater" (the system is better) or "less" (it is worse).
        correction: of p for the number of systems, metric by metric, and for slices x systems:
            "holm", "benjamini-hochberg" or "none".
        alpha: largest corrected p at which a system is called better or worse.
        confidence: of the intervals, in (0, 1).
        seed: of all draws; 12345, as sacreBLEU's.
        by: slice by "length", "score", "document", "domain" or a label of the test set.
        examples: segments shown per metric, system and side; 0 for none.
        ngrams: n-grams listed per system, side and length; 0 for none.
        longest: length of the longest n-grams.
        workers: threads for the tests; results do not depend on it.
        fail_if_worse: names of metrics; the finding's ``failure`` says where a system is
            significantly worse than the baseline under one of them, and the command line ends
            with exit code 3.
        min_drop: smallest drop that fails, in the metric's own units.
        allow_code: let a spec ``python('module:function')`` import and run the module.
        progress: called with a stage, what is done and the total.

    Returns:
        A finding whose rows hold ``system, baseline, metric, score, difference, low, high, p,
        p_adjusted, verdict, slice, segments, wins, ties, losses, gain, ...``; further tables
        ``slices``, ``segments`` and ``ngrams``. ``None`` where undefined.

    Raises:
        DataError: there are fewer than two systems, or scores are not of this test set.
        UnknownNameError: the baseline is no system of the test set, or an option has no such value.
        UsageError: an option is out of range, or a metric is named twice.
    """
    draws = 1000 if resamples is None else resamples
    plan = Plan(test, draws, trials, null, alternative, correction, alpha, confidence, seed)
    compared = ordered(testset, baseline)
    judged = scored(compared, metrics, allow_code=allow_code, progress=progress)
    contests = [Contest.of(one, list(compared.systems)) for one in judged]
    found = _Gathered(notices=notices(compared, judged, contests))
    parts = [slices(compared, by, contest.segments) for contest in contests]
    plans = _plans(plan, parts, len(compared.systems) - 1, fixed=resamples is not None)
    _add_figures(found, contests, parts, plans, workers, progress)
    tokens = _tokens(compared, found) if examples or ngrams else None
    if examples:
        _add_segments(found, compared, contests, tokens, examples)
    if ngrams and tokens is not None:
        found.ngrams += ngram_records(compared.batch(), tokens, most=ngrams, longest=longest)
        found.notices += without_ngrams(compared, found.ngrams)
    if progress:
        progress("segments and n-grams", 1, 1)
    finding = _finding(found, compared, judged, plans, by)
    if not fail_if_worse:
        return finding
    worse = failures(finding, fail_if_worse, alpha=alpha, min_drop=min_drop)
    return replace(finding, failure=worse)


@dataclass
class _Gathered:
    rows: list[dict[str, Cell]] = field(default_factory=list)
    segments: list[dict[str, Cell]] = field(default_factory=list)
    ngrams: list[dict[str, Cell]] = field(default_factory=list)
    exhibits: list[Exhibit] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


class _Plans(NamedTuple):
    """How all segments are tested, and how slices are."""

    whole: Plan
    sliced: Plan
    comparisons: int


def _plans(plan: Plan, parts: Sequence[Sequence[Slice]], others: int, *, fixed: bool) -> _Plans:
    most = max(1, *(len(each) - 1 for each in parts))
    if fixed:
        return _Plans(plan, plan, most * others)
    return _Plans(enough(plan, others), enough(plan, most * others), most * others)


def _add_figures(
    found: _Gathered,
    contests: Sequence[Contest],
    parts: Sequence[Sequence[Slice]],
    plans: _Plans,
    jobs: int,
    progress: Callable[[str, int, int], None] | None,
) -> None:
    tasks = [(c, part) for c, each in zip(contests, parts, strict=True) for part in each]

    def figure(task: tuple[Contest, Slice]) -> list[Compared]:
        contest, part = task
        return figures(contest, part.members, plans.whole if part.name is None else plans.sliced)

    done = []
    with ThreadPoolExecutor(jobs) as pool:
        # what a thread frees, others do not get: without need there is none
        for one in pool.map(figure, tasks) if jobs > 1 else map(figure, tasks):
            done.append(one)
            if progress:
                progress("testing", len(done), len(tasks))
    answers = iter(done)
    for contest, each in zip(contests, parts, strict=True):
        found.rows += rows(contest, [(part.name, next(answers)) for part in each], plans.whole)
    found.notices += too_coarse(plans.sliced, plans.comparisons)


def _tokens(testset: TestSet, found: _Gathered) -> TokenTable | None:
    tokens, problem = read_tokens(testset)
    if problem:
        found.notices.append(f"n-grams are not listed: {problem}")
    return tokens


def _add_segments(
    found: _Gathered,
    testset: TestSet,
    contests: Sequence[Contest],
    tokens: TokenTable | None,
    examples: int,
) -> None:
    showcase = Showcase(testset, testset.batch(), tokens)
    for contest in contests:
        added = influence(contest)
        for one in deciders(contest, examples):
            weight = float(added[one.system, one.segment])
            found.segments.append(showcase.record(contest, one, weight))
            found.exhibits.append(showcase.exhibit(contest, one))


def _finding(
    found: _Gathered, testset: TestSet, judged: Sequence[Scores], plans: _Plans, by: str | None
) -> Finding:
    tables: list[Table] = [system_table(found.rows, plans.whole, plans.sliced)]
    if by:
        tables.append(slice_table(found.rows))
    if found.segments:
        tables.append(segment_table(found.segments))
    if found.ngrams:
        tables.append(ngram_table(found.ngrams))
    systems = list(testset.systems)
    fields = {"baseline": systems[0], **plans.whole.fields()}
    if by and plans.sliced.resamples != plans.whole.resamples:
        fields["slices_bs"] = plans.sliced.resamples
    return Finding(
        method="compare",
        title=f"Systems compared with {systems[0]}",
        tables=tuple(tables),
        signatures={one.metric: str(one.signature.adding(fields)) for one in judged},
        views=views(tables, [one.metric for one in judged], systems),
        exhibits=tuple(found.exhibits),
        notices=tuple(found.notices),
        facts=_facts(testset, by),
    )


def _facts(testset: TestSet, by: str | None) -> Mapping[str, str]:
    facts = {
        "test set": testset.name,
        "language pair": testset.language_pair or "not given",
        "segments": str(testset.segments),
        "systems": str(len(testset.systems)),
        "references": ", ".join(testset.references) or "none",
        "baseline": next(iter(testset.systems)),
    }
    return {**facts, "slices": by} if by else facts
