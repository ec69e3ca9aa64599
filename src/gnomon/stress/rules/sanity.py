"""Texts that are no translation, for sanity checks of metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.scripts import FULL_STOPS
from gnomon.stress.perturbations import perturbation

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from gnomon.stress.outputs import OtherOutputs, Output
    from gnomon.stress.perturbations import Change


@perturbation("empty", phenomenon="a full stop alone", kind="sanity", exact=True)
def empty(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Leaves everything out but a full stop."""
    yield 0, len(output.text), FULL_STOPS.get(pool.script, ".")


@perturbation(
    "other output",
    phenomenon="the output of another segment",
    kind="sanity",
    needs=("others",),
    exact=True,
)
def other_output(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Puts the output of another segment there."""
    other = pool.other(output, rng)
    if other is not None:
        yield 0, len(output.text), other.text


@perturbation("twice", phenomenon="the output said twice", kind="sanity", exact=True)
def twice(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Says everything twice."""
    yield len(output.text), len(output.text), output.gap + output.text


@perturbation("half", phenomenon="the first half of the output", kind="sanity", exact=True)
def half(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Keeps the first half of the words."""
    if len(output.words) > 1:
        yield output.words[len(output.words) // 2 - 1].end, len(output.text), ""


@perturbation(
    "source", phenomenon="the source instead", kind="sanity", needs=("source",), exact=True
)
def source(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Puts the source there."""
    yield 0, len(output.text), output.source or ""
