"""Checks of the options of errors by feature, and the choice of marked words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.scripts import unspaced_language
from gnomon.core.testset import TestSet
from gnomon.metrics.error_marks import Marking, mark_faults
from gnomon.muler._setup import WordChoice, word_faults
from gnomon.muler.uncertainty import resample_faults, unit_faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline
    from gnomon.core.validation import Problem

__all__ = ["check_errors_by_feature", "language_of"]


def language_of(given: TestSet | Outline, side: str) -> str | None:
    """The language of the side that is marked, as far as it is known."""
    pair = given.language_pair or ""
    if side == "source" and not pair:
        return unspaced_language(given.sources or ()) if isinstance(given, TestSet) else None
    return pair.partition("-")[0] if side == "source" and "-" in pair else given.target_language


def check_errors_by_feature(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`errors` that fit each alone."""
    yield from resample_faults(options.resamples, options.confidence)
    yield from unit_faults(outline, options.unit)
    if outline is not None:
        yield from mark_faults(
            outline,
            options.human,
            options.marks,
            Marking(options.side, allow_code=options.allow_code),
            alone=True,
        )
    language = None if outline is None else language_of(outline, options.side)
    yield from word_faults(options.build(WordChoice), language, known=outline is not None)
