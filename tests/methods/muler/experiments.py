"""The experiments of ``gnomon muler validate``, one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gnomon as gn

if TYPE_CHECKING:
    from gnomon.core.findings import Finding


def hybrids(testset: gn.TestSet, *given: Any, **options: Any) -> Finding:
    """Words masked alike up to a letter."""
    return gn.muler.validate(testset, *given, experiments=["range"], **options)


def parts(testset: gn.TestSet, *given: Any, **options: Any) -> Finding:
    """A part of a feature beside all of it."""
    return gn.muler.validate(testset, *given, experiments=["frequency"], **options)


def random_words(testset: gn.TestSet, *given: Any, **options: Any) -> Finding:
    """A feature beside random words."""
    return gn.muler.validate(testset, *given, experiments=["random"], **options)
