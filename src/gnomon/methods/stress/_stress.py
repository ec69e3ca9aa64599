"""Which errors metrics see, by texts that differ in one way (``gnomon stress``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np

from gnomon.core.cache import Cache
from gnomon.core.errors import DataError, UsageError
from gnomon.core.findings import Finding, HeatMap, Listing
from gnomon.core.options import (
    CONFIDENCE,
    SEED,
    Confidence,
    Count,
    InputFile,
    Limits,
    Metavar,
    Seed,
    Share,
    with_fields,
)
from gnomon.core.records import table
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem, problems
from gnomon.data.formats import read_pairs
from gnomon.linguistics import FeatureSources
from gnomon.methods.stress._examples import (
    ExampleRow,
    example_exhibits,
    example_rows,
    unseen_pairs,
)
from gnomon.methods.stress._figures import (
    SeenContrastRow,
    SeenOverallRow,
    StressRow,
    contrast_rows,
    overall_rows,
    stress_rows,
)
from gnomon.methods.stress._outcomes import FEW_PAIRS, Outcomes, PairGroups
from gnomon.methods.stress._own_texts import TextChoice, own_pairs
from gnomon.methods.stress._verdict import CLAIMS, stress_verdict
from gnomon.methods.stress.perturbations import find_perturbations
from gnomon.metrics.protocol import Metrics, Noticing, each_metric
from gnomon.metrics.registry import check_metric
from gnomon.metrics.scoring import bind, signature_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from gnomon.core.options import BoundOptions
    from gnomon.core.pairs import Pair
    from gnomon.core.summary import Outline
    from gnomon.metrics.protocol import AnyMetric

    Progress: TypeAlias = "Callable[[str, int, int], None] | None"

PairFiles: TypeAlias = Annotated[Sequence[str | PathLike[str]], InputFile(), Metavar("FILE")]
Ties: TypeAlias = Annotated[float, Limits(0), Metavar("X")]

_TITLE = "Which errors the metrics see"
_EXAMPLES = """\
examples:
  gnomon stress ref.txt -i sys.txt -m chrf bleu -l en
  gnomon stress ref.txt -i sys.txt -s src.txt -l en --perturb number 'delete pos:*' 'replace ent:*'
  gnomon stress --pairs demetr/*.json -m bleu chrf
  gnomon stress --pairs challenge.tsv -m chrf bertscore --seen 0.9 --html stress.html
"""
_RANDOM, _LENGTH, _NEAREST = "random scores", "candidate length", "nearest length"
_NOTHING = (
    "there is nothing to change: give texts (ref.txt -i sys.txt, or -t DIR; testset=), or files of"
    " minimal pairs (--pairs FILE; pairs=)"
)


def _test_set(inputs: Any, options: dict[str, Any]) -> tuple[TestSet | None]:
    """The test set that a command line names; none, where pairs alone are given."""
    if not inputs.has_testset and not options.get("pairs"):
        raise UsageError(_NOTHING)
    return (inputs.one().testset() if inputs.has_testset else None,)


def check_stress(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`gnomon.stress` refuses of options that fit each alone."""
    language = None if outline is None else outline.target_language
    if options.perturb is not None:
        yield from problems("perturb", find_perturbations, options.perturb, language)
    for metric in each_metric(options.metrics):
        # scores that are given are looked at when they are bound to the pairs
        yield from problems("metrics", check_metric, metric, outline, allow_code=options.allow_code)  # type: ignore[arg-type]


@method(
    "stress",
    answers="which kinds of errors metrics see, and which they miss",
    title=_TITLE,
    given=_test_set,
    examples=_EXAMPLES,
    rows={
        "stress": StressRow,
        "overall": SeenOverallRow,
        "contrasts": SeenContrastRow,
        "examples": ExampleRow,
    },
    metrics="all",
    systems=False,
    check=check_stress,
    verdict=stress_verdict,
    claims=CLAIMS,
)
@with_fields(texts=TextChoice, sources=FeatureSources)
def stress(
    testset: TestSet | None = None,
    metrics: Metrics = "bleu",
    *,
    texts: TextChoice,
    pairs: PairFiles = (),
    seen: Share = 0.8,
    ties: Ties = 1e-6,
    examples: Count = 3,
    sources: FeatureSources,
    confidence: Confidence = CONFIDENCE,
    seed: Seed = SEED,
    cache: Cache | None = None,
    allow_code: bool = False,
    progress: Progress = None,
) -> Finding:
    """Score texts beside the same texts with an error: which errors does a metric see?

    The outputs of a system are changed by rules (``gnomon list perturbations``), or minimal pairs
    are read. A metric sees an error where it scores the text with the error below the same text
    without it. A status (sees, misses, blind) rests on intervals that hold for all rows together
    (Bonferroni).

    Args:
        testset: outputs, references or sources; None: the pairs of files alone.
        metrics: specs, metrics or functions, as in :func:`gnomon.score`.
        pairs: files of minimal pairs: DEMETR's .json files, or .tsv tables with ACES's columns.
        seen: the share of pairs that a metric must see, for it to be said that it sees an error.
        ties: scores that differ by as much or less are equal: encoders differ by about 1e-7 from
            run to run.
        examples: unseen pairs that are shown of each kind.

    Returns:
        A finding with a row per metric and phenomenon, means over the phenomena, exact tests of
        each two metrics (McNemar, Holm) and unseen pairs. Random scores and two lengths stand
        beside the metrics as controls.

    Raises:
        DataError: there is no pair, or the pairs lack what a metric needs.
        FormatError: a file cannot be read.
    """
    if testset is None and not pairs:
        raise UsageError(_NOTHING)
    found = [pair for path in pairs for pair in read_pairs(path)]
    own = None
    if testset is not None:
        own = own_pairs(testset, texts, sources, seed=seed, cache=cache, progress=progress)
        found += own.pairs
    finding = stress_pairs(
        found,
        metrics,
        seen=seen,
        ties=ties,
        examples=examples,
        confidence=confidence,
        seed=seed,
        allow_code=allow_code,
        progress=progress,
    )
    if own is None:
        return finding
    return replace(
        finding, facts={**own.facts, **finding.facts}, notices=(*own.notices, *finding.notices)
    )


def stress_pairs(
    pairs: Sequence[Pair],
    metrics: AnyMetric | Sequence[AnyMetric] = "bleu",
    *,
    seen: float = 0.8,
    ties: float = 1e-6,
    examples: int = 3,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
    allow_code: bool = False,
    progress: Progress = None,
) -> Finding:
    """Score minimal pairs that are at hand; as :func:`gnomon.stress`.

    Args:
        pairs: the pairs.
        metrics: specs, metrics or functions, as in :func:`gnomon.score`.
        seen: the share of pairs that a metric must see, for it to be said that it sees an error.
        ties: scores that differ by as much or less are equal: encoders differ by about 1e-7 from
            run to run.
        examples: unseen pairs that are shown of each kind.
        confidence: of the intervals.
        seed: of the random scores, a control.
        allow_code: let a spec ``python('module:function')`` import and run the module.
        progress: called with a stage, what is done and the total.

    Returns:
        A finding as of :func:`gnomon.stress`, without a verdict.

    Raises:
        DataError: there is no pair, or the pairs lack what a metric needs.
    """
    if not pairs:
        raise DataError("there are no pairs to score")
    wanted: list[Any] = list(metrics) if isinstance(metrics, list | tuple) else [metrics]
    outcomes: dict[str, Outcomes] = {}
    signs: dict[str, int] = {}
    signatures: dict[str, str] = {}
    notices: list[str] = []
    for done, metric in enumerate(wanted):
        if progress:
            progress("scoring", done, len(wanted))
        name, scores, signs_of, signature = _scores(pairs, metric, notices, allow_code=allow_code)
        outcomes[name] = Outcomes(scores[0], scores[1], ties)
        signs[name], signatures[name] = signs_of, signature
    if progress:
        progress("scoring", len(wanted), len(wanted))
    controls = _controls(pairs, seed)
    outcomes |= {name: Outcomes(good, bad, ties) for name, (good, bad) in controls.items()}
    names = tuple(controls)
    every = PairGroups.of(pairs)
    lowest = every.lowest_doses()
    groups = every.at(lowest)
    outcomes = {name: outcome.at(lowest) for name, outcome in outcomes.items()}
    rows = list(stress_rows(outcomes, groups, names, wanted=seen, confidence=confidence))
    overall = list(overall_rows(rows, outcomes, groups, confidence=confidence))
    contrasts = contrast_rows(outcomes, groups, names)
    chosen = list(unseen_pairs(outcomes, groups, names, most=examples))
    unseen = list(example_rows(chosen, outcomes, groups, signs))
    tables = [
        table("stress", _TITLE, StressRow, rows, confidence=confidence),
        table(
            "overall", "Over all kinds of errors", SeenOverallRow, overall, confidence=confidence
        ),
    ]
    views: list[HeatMap | Listing] = [
        HeatMap(
            "stress",
            _TITLE,
            "phenomenon",
            "metric",
            "seen",
            beside="pairs",
            low=0,
            high=1,
            few=("pairs", FEW_PAIRS),
        ),
        Listing("overall", "Over all kinds of errors", _overall_columns(overall)),
    ]
    if contrasts:
        tables.append(table("contrasts", "Metrics against each other", SeenContrastRow, contrasts))
        views.append(_listing("contrasts", "Metrics against each other", contrasts[0]))
    if unseen:
        tables.append(table("examples", "Pairs that are not seen", ExampleRow, unseen))
        views.append(_listing("examples", "Pairs that are not seen", unseen[0]))
    return Finding(
        method="stress",
        title=_TITLE,
        tables=tuple(tables),
        signatures=signatures,
        views=tuple(views),
        exhibits=tuple(example_exhibits(chosen, outcomes, groups, signs)),
        facts={
            "pairs": f"{len(pairs):,}",
            "phenomena": str(len({pair.phenomenon for pair in pairs})),
            "seen means": "scored below the same text without the error",
            "asked for": f"{seen:g} of the pairs",
            "controls": ", ".join(names),
        },
        notices=tuple(dict.fromkeys(notices)),
    )


def _overall_columns(rows: Sequence[SeenOverallRow]) -> tuple[str, ...]:
    """Those of which something is known."""
    prices = ("critical_priced", "harmless_lowered", "in_order")
    priced = [name for name in prices if any(getattr(row, name) is not None for row in rows)]
    return "metric", "phenomena", "pairs", "seen", *priced


def _listing(name: str, title: str, row: SeenContrastRow | ExampleRow) -> Listing:
    return Listing(name, title, tuple(row.cells()))


def _scores(
    pairs: Sequence[Pair], metric: AnyMetric, notices: list[str], *, allow_code: bool
) -> tuple[str, NDArray[np.float64], int, str]:
    """Name, scores of better and worse texts ([2, pairs], higher is better), sign and signature."""
    scores = np.full((2, len(pairs)), np.nan)
    by_language: dict[str | None, list[int]] = {}
    for number, pair in enumerate(pairs):
        by_language.setdefault(pair.language_pair, []).append(number)
    name, sign, signature = "", 1, ""
    for language_pair, numbers in by_language.items():
        testset = _as_systems([pairs[n] for n in numbers], language_pair)
        name, bound = bind(testset, metric, allow_code=allow_code)  # type: ignore[arg-type]  # no scores
        batch = testset.batch()
        sign = 1 if bound.higher_is_better else -1
        scores[:, numbers] = sign * bound.segments(batch)
        signature = str(signature_of(bound, batch))
        notices += bound.notices(batch) if isinstance(bound, Noticing) else ()
    return name, scores, sign, signature


def _as_systems(pairs: Sequence[Pair], language_pair: str | None) -> TestSet:
    """Better and worse texts as two systems."""
    sources = [pair.source for pair in pairs]
    known = [text for text in sources if text is not None]
    return TestSet.from_lists(
        {"good": [pair.good for pair in pairs], "bad": [pair.bad for pair in pairs]},
        [list(pair.references) for pair in pairs],
        sources=known if len(known) == len(pairs) else None,
        language_pair=language_pair,
    )


def _controls(
    pairs: Sequence[Pair], seed: int
) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Random scores and lengths, of better and worse texts."""
    draws = np.random.default_rng(seed).random((2, len(pairs)))
    good = np.array([len(pair.good) for pair in pairs], dtype=np.float64)
    bad = np.array([len(pair.bad) for pair in pairs], dtype=np.float64)
    controls = {_RANDOM: (draws[0], draws[1]), _LENGTH: (good, bad)}
    if any(pair.references for pair in pairs):
        reference = np.array(
            [len(pair.references[0]) if pair.references else np.nan for pair in pairs]
        )
        controls[_NEAREST] = (-abs(good - reference), -abs(bad - reference))
    return controls
