"""Checks of the options of both methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

from gnomon.core.errors import GnomonError, UsageError
from gnomon.core.options import Help, OutputFile
from gnomon.core.validation import Problem, problems
from gnomon.difficulty.sides import wrapped
from gnomon.difficulty.word_matches import no_words
from gnomon.metrics.base import list_metrics
from gnomon.metrics.registry import check_metric, check_once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline
    from gnomon.metrics.base import AnyMetric

SavedDifficulties: TypeAlias = Annotated[
    OutputFile,
    Help("a file for the difficulties, which ``difficulty(METRIC, frozen=FILE)`` reads."),
]


def check_score(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`gnomon.difficulty.score` that fit each alone."""
    yield from _metric_faults(outline, options)
    if len(list_metrics(options.metrics)) > 1 and options.save:
        yield Problem("save", UsageError("a file holds the difficulties of one metric; name one"))


def check_words(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`gnomon.difficulty.words` that fit each alone."""
    for argument, metric in _arguments(options):
        yield from problems(argument, _check_tells_words, metric, allow_code=options.allow_code)
    yield from _metric_faults(outline, options)


def _metric_faults(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Metrics that cannot be weighed, and pools that cannot be chosen."""
    yield from problems("metrics", check_once, options.metrics, allow_code=options.allow_code)
    for argument, metric in _arguments(options):
        yield from problems(
            argument, _check_weighed, metric, outline, allow_code=options.allow_code
        )


def _arguments(options: BoundOptions) -> Iterator[tuple[str, AnyMetric]]:
    """Every metric, with the name of its argument."""
    several = isinstance(options.metrics, list | tuple)
    for number, metric in enumerate(list_metrics(options.metrics)):
        yield f"metrics[{number}]" if several else "metrics", metric


def _check_tells_words(metric: AnyMetric, *, allow_code: bool) -> None:
    try:
        weighted = wrapped(metric, allow_code=allow_code)
    except GnomonError:
        return  # reported by the other checks
    if not weighted.weighs_words:
        raise UsageError(no_words(weighted.spec))


def _check_weighed(metric: AnyMetric, outline: Outline | None, *, allow_code: bool) -> None:
    check_metric(metric, outline, allow_code=allow_code)  # type: ignore[arg-type]  # what is none is refused
    wrapped(metric, allow_code=allow_code).check_outline(outline)
