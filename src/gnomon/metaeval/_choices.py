"""What can be chosen of tests, by name."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

__all__ = ["CORRECTIONS", "TESTS", "Correction", "Test"]

Test: TypeAlias = Literal["auto", "williams", "permutation", "bootstrap"]
Correction: TypeAlias = Literal["holm", "benjamini-hochberg"]
TESTS: tuple[Test, ...] = get_args(Test)
CORRECTIONS: tuple[Correction, ...] = get_args(Correction)
