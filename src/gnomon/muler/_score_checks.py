"""Checks of MuLER's options, and of the things asked for: features, scorers, or both."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, TypeAlias

from gnomon.core.errors import GnomonError, UsageError
from gnomon.core.options import Metavar, Specs
from gnomon.core.slices import check_slices
from gnomon.core.validation import Problem, problems
from gnomon.linguistics import standard_tagger, tagger_faults
from gnomon.metrics.base import list_metrics
from gnomon.muler._sentences import Scorers, scorer_faults
from gnomon.muler._setup import WordChoice, check_masked, side_faults, word_faults
from gnomon.muler.discrepancy import Unscored
from gnomon.muler.uncertainty import resample_faults, unit_faults

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline
    from gnomon.metrics.base import AnyMetric


#: one or several, as every method takes them; or "none"
Metrics: TypeAlias = Annotated[
    "AnyMetric | Sequence[AnyMetric]", Metavar("METRIC"), Specs(words=(Unscored.name,))
]


def check_score(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`score` that fit each alone."""
    yield from resample_faults(options.resamples, options.confidence)
    yield from unit_faults(outline, options.unit)
    if options.scorers:
        yield from scorer_faults(options.scorers, allow_code=options.allow_code)
    language = None if outline is None else outline.target_language
    words = options.build(WordChoice)
    if are_scorers_alone(options.metrics, words, options.scorers, language):
        yield from side_faults(outline, "sentence scorers compare with references")
        tagger = words.tagger if isinstance(words.tagger, str) else None
        yield from tagger_faults(tagger)
    elif Unscored.name in list_metrics(options.metrics):
        if not has_no_metric(options.metrics):
            message = "'none' is no metric among others: give it alone, or leave it out"
            yield Problem("metrics", UsageError(message))
        yield from side_faults(outline, "discrepancies are between candidates and references")
        yield from word_faults(words, language, known=outline is not None)
    else:
        yield from check_masked(outline, options)
    if outline is not None:
        yield from problems("by", check_slices, outline, options.by)


def has_no_metric(metrics: Metrics) -> bool:
    """True if features are counted alone."""
    return list_metrics(metrics) == [Unscored.name]


def are_scorers_alone(
    metrics: Metrics, words: WordChoice, scorers: Scorers, language: str | None
) -> bool:
    """True if nothing but sentence scorers is asked for, or can be had: no feature is named."""
    if not scorers or replace(words, tagger=None) != WordChoice():
        return False
    if has_no_metric(metrics):
        return True
    if words.tagger is not None:
        return False
    try:
        standard_tagger(language or "")
    except GnomonError:
        return True
    return False
