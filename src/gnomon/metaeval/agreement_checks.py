"""Refusals of meta-evaluation, before and while it reads its scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gnomon.agreement.judging import best_count
from gnomon.agreement.measures import Preset, PresetName, measures, preset_of
from gnomon.agreement.pairing import circular, kinds_of, metric_faults, title_of
from gnomon.agreement.significance import refuse_unknown_documents, resample_faults
from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.core.slices import check_slices
from gnomon.core.validation import Problem, problems
from gnomon.data.formats import human_files
from gnomon.messages.audiences import Named
from gnomon.metrics import resolve
from gnomon.metrics.base import list_metrics
from gnomon.metrics.functions import FunctionMetric
from gnomon.metrics.registry import check_metric
from gnomon.metrics.spec import read_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.agreement.files import Files
    from gnomon.agreement.measures import Measure
    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline
    from gnomon.core.testset import TestSet

__all__ = [
    "check_metaeval",
    "check_named",
    "default_metrics",
    "document_faults",
    "judged_faults",
    "name_of",
    "refuse_missing_scores",
    "shared_task",
]


def check_metaeval(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`gnomon.metaeval` that fit each alone.

    What people said in files is not known yet, and of several test sets that are judged together
    each may lack some of what is asked for.
    """
    chosen = shared_task(options.preset)
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
    wanted = default_metrics(options.metrics, options.scores)
    yield from metric_faults(outline, wanted, allow_code=options.allow_code)
    if outline is not None:
        yield from problems("by", check_slices, outline, options.by)
        if options.unit == "document" and not outline.slices.get("document"):
            yield Problem("unit", refuse_unknown_documents(title_of(outline)))
    if options.baseline is not None and not options.scores:
        yield from problems(
            "baseline", check_named, wanted, options.baseline, allow_code=options.allow_code
        )
    files, kinds = human_files(options.human)
    if outline is None or files or options.sets > 1:
        return
    yield from judged_faults(
        outline, kinds, asked, options.darr_threshold, single=isinstance(options.human, str)
    )
    if not options.allow_circular:
        yield from _circular_faults(outline, kinds, wanted, allow_code=options.allow_code)


def default_metrics(metrics: object, scores: Files) -> Any:
    """The metrics, or those that are taken where none is named."""
    return (() if scores else ("bleu",)) if metrics is None else metrics


def shared_task(preset: PresetName | None) -> Preset | None:
    """The measures and formulas of a shared task; None where the usual ones are taken."""
    return None if preset == "outliers" else preset_of(preset)


def check_named(metrics: object, baseline: str, *, allow_code: bool) -> None:
    """Refuse a baseline that is none of the metrics, where their names are known."""
    if isinstance(metrics, Mapping):
        names = [str(name) for name in metrics]
    else:
        every = list_metrics(metrics)
        if not all(isinstance(spec, str) for spec in every):
            return  # scores and functions bring their names
        names = [name_of(str(spec), allow_code=allow_code) for spec in every]
    if baseline not in names:
        raise UnknownNameError("metric (as baseline)", baseline, sorted(names))


def name_of(spec: str, *, allow_code: bool) -> str:
    """The name that a metric has in tables."""
    metric = resolve(spec, allow_code=allow_code)
    return metric.name if isinstance(metric, FunctionMetric) else str(read_spec(spec))


def judged_faults(
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
        yield Problem("", refuse_missing_scores({title_of(outline): outline.human}))


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
    for number, given in enumerate(list_metrics(metrics)):
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
    (
        "give a table of them with the columns system, seg and score (seg counts from 1; without it"
        " the scores are of whole systems): add it ("
    ),
    Named("--human scores.tsv", "TestSet.with_human"),
    "); published judgements come by `gnomon data fetch mt-metrics-eval/wmt22 -l en-de`",
)


def refuse_missing_scores(there: Mapping[str, Sequence[tuple[str, str]]]) -> DataError:
    """People said nothing that is to be measured."""
    if not any(there.values()):
        return DataError(
            f"nobody has judged {', '.join(there)}: there are no human scores to hold metrics"
            " against; ",
            _ATTACHING,
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
            " segments and systems; give scores of segments (columns system, seg and the score)"
            " or of systems (system and the score) in a file (",
            Named("--human FILE", "TestSet.with_human(FILE)"),
            ")",
        )
    return DataError(
        f"there are no human scores for what is to be measured; human scores are: {listed};"
        " attach some (",
        Named("--human FILE", "TestSet.with_human(FILE)"),
        ")",
    )


def document_faults(sets: Sequence[TestSet]) -> Iterator[Problem]:
    """Test sets whose documents nobody knows."""
    for testset in sets:
        if not testset.documents:
            yield Problem("unit", refuse_unknown_documents(title_of(testset)))
