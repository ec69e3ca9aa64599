"""What is wrong with a request, before a text is tagged or a metric is bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from gnomon.annotate import feature_faults, tagger_faults
from gnomon.errors import MaskingError
from gnomon.faults import faults
from gnomon.metrics import resolve
from gnomon.metrics.registry import check_metric
from gnomon.muler._checks import (
    check_examples,
    check_groups,
    check_masks,
    check_sides,
    check_variants,
)
from gnomon.muler._sentence_names import scorer_faults
from gnomon.muler._setup import DEFAULT_FEATURES, Options
from gnomon.muler._significance import SEED, bootstrap_faults
from gnomon.muler._tables import VARIANTS
from gnomon.muler._validate_letters import checked_alphas
from gnomon.slices import check_slices

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.annotate import Annotator
    from gnomon.faults import Fault
    from gnomon.muler._sentence_names import AnyScorer
    from gnomon.muler._setup import AnyMetric
    from gnomon.outline import Outline

__all__ = [
    "check_frequency",
    "check_muler",
    "check_range",
    "check_sentences",
    "check_specificity",
]


def check_muler(
    outline: Outline | None,
    metric: AnyMetric | Sequence[AnyMetric] = "bleu",
    features: Sequence[str] = DEFAULT_FEATURES,
    *,
    scorers: Sequence[AnyScorer] = (),
    variants: Sequence[str] = VARIANTS,
    by: str | None = None,
    examples: int = 3,
    bootstrap: int = 1000,
    confidence: float = 0.95,
    seed: int = SEED,
    **options: Unpack[Options],
) -> Iterator[Fault]:
    """What :func:`gnomon.muler.muler` refuses of its arguments, which are as there.

    The outline says what the test set holds; without, that is not known yet, and only what no test
    set could mend is told. Labels may be names of files, which are not read.
    """
    yield from faults("variants", check_variants, variants)
    yield from faults("examples", check_examples, examples)
    yield from bootstrap_faults(bootstrap, confidence, seed)
    if scorers:
        yield from scorer_faults(scorers, allow_code=options.get("allow_code", False))
    yield from _masked(outline, metric, features, options)
    if outline is not None:
        yield from faults("by", check_slices, outline, by)


def check_sentences(
    outline: Outline | None,
    scorers: Sequence[AnyScorer] = ("sentiment", "concreteness"),
    *,
    tagger: str | Annotator | None = None,
    by: str | None = None,
    bootstrap: int = 1000,
    confidence: float = 0.95,
    seed: int = SEED,
    examples: int = 3,
    allow_code: bool = False,
) -> Iterator[Fault]:
    """What :func:`gnomon.muler.sentences` refuses of its arguments; as :func:`check_muler`."""
    yield from bootstrap_faults(bootstrap, confidence, seed)
    yield from scorer_faults(scorers, allow_code=allow_code)
    yield from faults("examples", check_examples, examples)
    yield from tagger_faults("tagger", tagger if isinstance(tagger, str) else None)
    if outline is not None:
        yield from faults("", check_sides, outline, "sentence scorers compare with references")
        yield from faults("by", check_slices, outline, by)


def check_range(
    outline: Outline | None,
    metric: AnyMetric | Sequence[AnyMetric] = "bleu",
    features: Sequence[str] = DEFAULT_FEATURES,
    *,
    alphas: Sequence[float] = (0.3, 0.4, 0.5),
    **options: Unpack[Options],
) -> Iterator[Fault]:
    """What :func:`gnomon.muler.validate_range` refuses; as :func:`check_muler`."""
    yield from faults("alphas", checked_alphas, alphas)
    yield from _masked(outline, metric, features, options)


def check_frequency(
    outline: Outline | None,
    metric: AnyMetric | Sequence[AnyMetric] = "bleu",
    features: Sequence[str] = DEFAULT_FEATURES,
    *,
    alphas: Sequence[float] = (0.5, 1.0),
    **options: Unpack[Options],
) -> Iterator[Fault]:
    """What :func:`gnomon.muler.validate_frequency` refuses; as :func:`check_muler`."""
    yield from check_range(outline, metric, features, alphas=alphas, **options)


def check_specificity(
    outline: Outline | None,
    metric: AnyMetric | Sequence[AnyMetric] = "bleu",
    features: Sequence[str] = DEFAULT_FEATURES,
    *,
    draws: int = 1000,
    groups: Sequence[int] = (2, 3, 4, 5, 6),
    seed: int = 0,
    **options: Unpack[Options],
) -> Iterator[Fault]:
    """What :func:`gnomon.muler.validate_specificity` refuses; as :func:`check_muler`."""
    yield from faults("draws", check_groups, draws=draws)
    yield from faults("groups", check_groups, groups=groups)
    yield from faults("seed", check_groups, seed=seed)
    yield from _masked(outline, metric, features, options)


def _check_seen(metric: AnyMetric, *, allow_code: bool) -> None:
    if isinstance(metric, str) and resolve(metric, allow_code=allow_code).needs == {"sources"}:
        raise MaskingError(
            f"MuLER masks references, and metric {metric!r} looks at sources instead: its oracle"
            " equals its anti-oracle"
        )


def _masked(
    outline: Outline | None,
    metric: AnyMetric | Sequence[AnyMetric],
    features: Sequence[str],
    options: Options,
) -> Iterator[Fault]:
    """What all that mask share."""
    overlap, granularity = options.get("overlap", "any"), options.get("granularity", "token")
    yield from faults("overlap", check_masks, overlap, "token")
    yield from faults("granularity", check_masks, "any", granularity)
    if outline is not None:
        yield from faults("", check_sides, outline, "MuLER masks references")
    for one in metric if isinstance(metric, list | tuple) else (metric,):
        allowed = options.get("allow_code", False)
        wrong = list(faults("metric", check_metric, one, outline, allow_code=allowed, changed=True))
        yield from wrong or faults("metric", _check_seen, one, allow_code=allowed)
    yield from feature_faults(
        features,
        tagger=options.get("tagger"),
        language=None if outline is None else outline.target_language,
        known=outline is not None,
        lexicons=options.get("lexicons"),
        patterns=options.get("patterns"),
        labels=options.get("labels"),
    )
