"""Random exchanges of two metrics' scores, drawn in blocks that depend on the seed alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from gnomon.errors import UnknownNameError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Swap = Literal["cells", "rows+cols", "inputs", "systems"]
SWAPS: tuple[Swap, ...] = ("cells", "rows+cols", "inputs", "systems")
BLOCK = 64  # draws; a part of what a seed means


def check_swap(swap: Swap) -> None:
    """Refuse an unknown way to exchange scores."""
    if swap not in SWAPS:
        raise UnknownNameError("way to exchange scores", str(swap), SWAPS)


def blocks(count: int) -> list[int]:
    """Numbers of the blocks that ``count`` draws need."""
    return list(range(-(-count // BLOCK)))


def exchanged(
    swap: Swap, shape: tuple[int, int], seed: tuple[int, ...], block: int
) -> NDArray[np.uint8]:
    """1 where scores are exchanged, [draws, systems or 1, items or 1], for one block of draws."""
    generator = np.random.default_rng([*seed, block])
    systems, items = shape
    if swap == "inputs":
        return _coins(generator, items)[:, None, :]
    if swap == "systems":
        return _coins(generator, systems)[:, :, None]
    if swap == "rows+cols":
        rows, columns = _coins(generator, systems), _coins(generator, items)
        return rows[:, :, None] ^ columns[:, None, :]
    return _coins(generator, systems * items).reshape(BLOCK, systems, items)


def _coins(generator: np.random.Generator, n: int) -> NDArray[np.uint8]:
    octets = generator.integers(0, 256, size=(BLOCK, -(-n // 8)), dtype=np.uint8)
    return np.unpackbits(octets, axis=1, count=n)
