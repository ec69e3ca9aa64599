"""What every analysis refuses before any work is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.errors import DataError, UnknownNameError, UsageError
from gnomon.muler._tables import VARIANTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.outline import Outline

__all__ = [
    "check_examples",
    "check_groups",
    "check_masks",
    "check_sides",
    "check_variants",
]


def check_sides(outline: Outline, needs: str) -> None:
    """Refuse a test set without references or without outputs.

    Args:
        outline: what the test set holds.
        needs: who needs references, and what for: "MuLER masks references".

    Raises:
        DataError: a side is missing.
    """
    if not outline.has_references:
        raise DataError(f"{needs}, but test set {outline.name!r} has none")
    if not outline.systems:
        raise DataError(f"test set {outline.name!r} holds no system outputs; name some with -i")


def check_masks(overlap: str, granularity: str) -> None:
    """Refuse ways of masking that do not exist.

    Raises:
        UnknownNameError: there is no such way.
    """
    for name, value, allowed in (
        ("overlap", overlap, ("any", "majority", "inside")),
        ("granularity", granularity, ("token", "span")),
    ):
        if value not in allowed:
            raise UnknownNameError(name, value, allowed)


def check_groups(*, draws: int = 2, groups: Sequence[int] = (), seed: int = 0) -> None:
    """Refuse draws of random features that cannot be made.

    Raises:
        UsageError: a number is out of its range.
    """
    if draws < 2:
        raise UsageError(f"a variance needs 2 draws or more; got {draws}")
    if seed < 0:
        raise UsageError(f"a seed is a whole number, 0 or more; got {seed}")
    wrong = [number for number in groups if number < 2]
    if wrong:
        raise UsageError(
            f"a vocabulary is split into 2 groups or more; got {', '.join(map(str, wrong))}"
        )


def check_variants(variants: Sequence[str]) -> None:
    """Refuse definitions of MuLER that do not exist, and none at all.

    Raises:
        UsageError: a variant is unknown, or none is given.
    """
    unknown = [v for v in variants if v not in VARIANTS]
    if unknown or not variants:
        raise UsageError(f"variants are {' and '.join(VARIANTS)}; got {list(variants)}")


def check_examples(examples: int) -> None:
    """Refuse a negative number of segments to show.

    Raises:
        UsageError: it is negative.
    """
    if examples < 0:
        raise UsageError(f"examples is a number of segments, 0 or more; got {examples}")
