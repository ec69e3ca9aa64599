"""Comparisons that are refused before any work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.agreement.pairing import metric_faults
from gnomon.comparison.gate import gate_faults
from gnomon.comparison.paired_tests import plan_faults
from gnomon.core.errors import DataError, UnknownNameError
from gnomon.core.slices import check_slices
from gnomon.core.validation import problems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline
    from gnomon.core.validation import Problem

__all__ = ["check_compare", "check_documents", "check_systems"]


def check_compare(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`gnomon.compare` that fit each alone."""
    yield from plan_faults(options.resamples, options.confidence)
    yield from gate_faults(options)
    yield from metric_faults(outline, options.metrics, allow_code=options.allow_code, pairs=True)
    if outline is not None:
        option = "baseline" if len(outline.systems) > 1 else ""
        yield from problems(option, check_systems, outline, options.baseline)
        yield from problems("by", check_slices, outline, options.by, scored=True)
        if options.unit == "document":
            yield from problems("unit", check_documents, outline)


def check_systems(outline: Outline, baseline: str | None) -> None:
    """Refuse a test set without two systems, or without the baseline; errors as above."""
    names = outline.systems
    if len(names) < 2:
        given = f"{names[0]!r} alone" if names else "none"
        raise DataError(
            f"a comparison takes two systems or more; test set {outline.name!r} gives {given}"
        )
    if baseline is not None and baseline not in names:
        raise UnknownNameError("system (baseline)", baseline, names)


def check_documents(outline: Outline) -> None:
    """Refuse a test set without documents."""
    if not outline.slices.get("document"):
        raise DataError(
            f"test set {outline.name!r} names no documents, which are asked for as the unit; give"
            " the document of each segment (documents.tsv in its folder, documents= in Python), or"
            " take segments as the unit"
        )
