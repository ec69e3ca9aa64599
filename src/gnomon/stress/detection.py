"""Errors that metrics detect, by texts that differ in one way (``gnomon stress``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, TypeAlias

import numpy as np

from gnomon.core.cache import Cache
from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.core.findings import Finding
from gnomon.core.options import (
    CONFIDENCE,
    SEED,
    Confidence,
    Count,
    InputFile,
    Limits,
    Metavar,
    OutputFile,
    Rare,
    Seed,
    Share,
    expand_fields,
)
from gnomon.core.registry import method
from gnomon.core.signature import Signature
from gnomon.core.testset import TestSet
from gnomon.data.formats import read_pair_scores, read_pairs, write_pairs
from gnomon.linguistics import FeatureSources
from gnomon.metrics.base import Metrics, list_metrics
from gnomon.stress._scoring import PairScores, control_scores, score_pairs
from gnomon.stress._tables import tables_of_pairs
from gnomon.stress.examples import StressExampleRow
from gnomon.stress.figures import StressOverallRow, StressRow
from gnomon.stress.outcomes import DETECTION, Detection, Outcomes, PairGroups, ScoredPairs
from gnomon.stress.own_texts import TextChoice, make_own_pairs
from gnomon.stress.requests import NOTHING, check_stress, read_test_set
from gnomon.stress.verdict import stress_verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from gnomon.core.minimal_pairs import Pair
    from gnomon.metrics.base import AnyMetric

    Progress: TypeAlias = "Callable[[str, int, int], None] | None"

__all__ = ["stress", "stress_pairs"]


PairFiles: TypeAlias = Annotated[Sequence[str | PathLike[str]], InputFile(), Metavar("FILE")]
LowerIsBetter: TypeAlias = Annotated[Sequence[str], Metavar("NAME"), Rare()]
TieTolerance: TypeAlias = Annotated[float, Limits(0), Metavar("X")]

_TITLE = "Errors that the metrics detect"
_EXAMPLES = """\
examples:
  gnomon stress ref.txt -i sys.txt -m chrf bleu -l en
  gnomon stress ref.txt -i sys.txt -s src.txt -l en --perturb number 'delete pos:*' 'replace ent:*'
  gnomon stress ref.txt -i sys.txt -l en --perturb number --examples 20 --save-pairs pairs.tsv
  gnomon stress --pairs demetr/*.json -m bleu chrf
  gnomon stress --pairs challenge.tsv -m chrf bertscore --detection-rate 0.9 --html stress.html
"""


@method(
    "stress",
    purpose="test which kinds of errors metrics detect, and which they miss",
    title=_TITLE,
    given=read_test_set,
    examples=_EXAMPLES,
    tables={"": "stress"},
    rows={
        "stress": StressRow,
        "overall": StressOverallRow,
        "examples": StressExampleRow,
    },
    metrics="all",
    check=check_stress,
    verdict=stress_verdict,
)
@expand_fields(texts=TextChoice, sources=FeatureSources)
def stress(
    testset: TestSet | None = None,
    metrics: Metrics = "bleu",
    *,
    texts: TextChoice,
    pairs: PairFiles = (),
    lower_is_better: LowerIsBetter = (),
    detection_rate: Share = 0.8,
    tie_tolerance: TieTolerance = 1e-6,
    examples: Count = 3,
    save_pairs: OutputFile = None,
    sources: FeatureSources,
    confidence: Confidence = CONFIDENCE,
    seed: Seed = SEED,
    cache: Cache | None = None,
    allow_code: bool = False,
    progress: Progress = None,
) -> Finding:
    """Score texts beside the same texts with an error: which errors does a metric detect?

    The outputs of a system are changed by rules (``gnomon list perturbations``), or minimal pairs
    are read. A metric detects an error where it scores the text with the error below the same text
    without it. A status (detects, misses, blind) rests on the interval of each row at its step of
    Holm's test over all rows.

    Args:
        testset: outputs, references or sources; None: the pairs of files alone.
        metrics: specs, metrics or functions, as in :func:`gnomon.score`.
        pairs: files of minimal pairs: DEMETR's .json files, or .tsv tables with ACES's columns,
            which may hold scores of metrics that ran elsewhere (METRIC-good, METRIC-bad).
        lower_is_better: names of such metrics for which lower is better.
        detection_rate: the share of pairs in which a metric must score the error lower to count as
            detecting such errors.
        tie_tolerance: the largest difference between scores that count as equal: encoders differ by
            about 1e-7 from run to run.
        examples: pairs shown of each kind: first those on which a metric is wrong.
        save_pairs: a table (.tsv) for all pairs, with ACES's columns: a metric that runs elsewhere
            adds its scores in METRIC-good and METRIC-bad, and ``pairs`` reads the file.

    Returns:
        A finding with a row per metric and phenomenon, means over the phenomena, and pairs to read.
        Random scores and two lengths stand beside the metrics as controls.

    Raises:
        DataError: there is no pair, or the pairs lack what a metric needs; or a text of a pair that
            is to be written holds what a line of a table cannot.
        FormatError: a file cannot be read.
    """
    if testset is None and not pairs:
        raise UsageError(NOTHING)
    every, scores = _read(pairs)
    own = None
    if testset is not None:
        own = make_own_pairs(testset, texts, sources, seed=seed, cache=cache, progress=progress)
        every += own.pairs
    if save_pairs is not None:
        write_pairs(save_pairs, every)
    finding = stress_pairs(
        every,
        metrics,
        scores={name: _pad(given, len(every)) for name, given in scores.items()},
        lower_is_better=lower_is_better,
        how=Detection(detection_rate, tie_tolerance, examples, confidence, seed),
        allow_code=allow_code,
        progress=progress,
    )
    if own is None:
        return finding
    return replace(
        finding, facts={**own.facts, **finding.facts}, notices=(*own.notices, *finding.notices)
    )


def _read(
    paths: Sequence[str | PathLike[str]],
) -> tuple[list[Pair], dict[str, NDArray[np.float64]]]:
    """The pairs of files, and by metric the scores that stand beside them, [2, pairs]."""
    pairs: list[Pair] = []
    scores: dict[str, NDArray[np.float64]] = {}
    for path in paths:
        before = len(pairs)
        pairs += read_pairs(path)
        for name, given in read_pair_scores(path).items():
            scores[name] = _pad(scores.get(name, np.zeros((2, 0))), len(pairs))
            scores[name][:, before:] = np.array(given).T
    return pairs, scores


def _pad(scores: NDArray[np.float64], pairs: int) -> NDArray[np.float64]:
    """The scores, and NaN for the pairs after them."""
    return np.pad(scores, ((0, 0), (0, pairs - scores.shape[1])), constant_values=np.nan)


def stress_pairs(
    pairs: Sequence[Pair],
    metrics: AnyMetric | Sequence[AnyMetric] = "bleu",
    *,
    scores: Mapping[str, NDArray[np.float64]] = MappingProxyType({}),
    lower_is_better: Sequence[str] = (),
    how: Detection = DETECTION,
    allow_code: bool = False,
    progress: Progress = None,
) -> Finding:
    """Score minimal pairs that are at hand; as :func:`gnomon.stress`.

    Args:
        pairs: the pairs.
        metrics: specs, metrics or functions, as in :func:`gnomon.score`.
        scores: of further metrics, by name: of the better and of the worse texts, [2, pairs]; NaN
            where there is none.
        lower_is_better: those of them whose lower scores are better.
        how: what detecting an error takes, and what is shown.
        allow_code: let a spec ``python('module:function')`` import and run the module.
        progress: called with a stage, what is done and the total.

    Returns:
        A finding as of :func:`gnomon.stress`, without a verdict.

    Raises:
        DataError: there is no pair, or the pairs lack what a metric needs.
    """
    if not pairs:
        raise DataError("there are no pairs to score")
    wanted = list_metrics(metrics)
    said: list[PairScores] = []
    for done, metric in enumerate(wanted):
        if progress:
            progress("scoring", done, len(wanted))
        said.append(score_pairs(pairs, metric, allow_code=allow_code))
    if progress:
        progress("scoring", len(wanted), len(wanted))
    unknown = [name for name in lower_is_better if name not in scores]
    if unknown:
        raise UnknownNameError("metric of the pairs", unknown[0], tuple(scores))
    for name, given in scores.items():
        sign = -1 if name in lower_is_better else 1
        signature = Signature(name, (("scores", "given"),), gnomon="")
        said.append(PairScores(name, sign * given, sign, signature, ()))
    controls = control_scores(pairs, how.seed)
    by_metric = {of_metric.metric: of_metric.scores for of_metric in said} | controls
    scored = ScoredPairs(
        PairGroups.from_pairs(pairs),
        {name: Outcomes(good, bad, how.tie_tolerance) for name, (good, bad) in by_metric.items()},
        tuple(controls),
        {of_metric.metric: of_metric.sign for of_metric in said},
        frozenset(of_metric.metric for of_metric in said if of_metric.reference_free),
    )
    tables, views, exhibits = tables_of_pairs(scored, _TITLE, how)
    return Finding(
        method="stress",
        title=_TITLE,
        tables=tables,
        signatures={of_metric.metric: of_metric.signature for of_metric in said},
        views=views,
        exhibits=exhibits,
        facts={
            "pairs": f"{len(pairs):,}",
            "phenomena": str(len({pair.phenomenon for pair in pairs})),
            "detected means": "scored below the same text without the error",
            "asked for": f"{how.detection_rate:g} of the pairs",
            "controls": ", ".join(controls),
        },
        notices=tuple(dict.fromkeys(text for of_metric in said for text in of_metric.notices)),
    )
