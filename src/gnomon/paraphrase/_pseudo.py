"""Pseudo-references: what other systems said, where it is good enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.errors import DataError, UsageError
from gnomon.metrics import score
from gnomon.testset import Paraphrase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.testset import TestSet

__all__ = ["pseudo_references"]


def pseudo_references(
    testset: TestSet,
    metric: str = "chrf",
    *,
    n: int = 1,
    least: float | None = None,
    share: float = 1.0,
    shared: bool = False,
    allow_code: bool = False,
) -> tuple[Paraphrase, ...]:
    """Outputs of other systems as further references (Albrecht and Hwa, 2007), which cost nothing.

    For every system and segment, the n outputs of the *other* systems that the metric likes best
    against the references, so that no system is its own reference. An output that several systems
    have counts once, and an output equal to a reference is left out.

    Args:
        testset: references and outputs of two systems or more.
        metric: what good means, by segment.
        n: how many for each system and segment.
        least: least score, in the metric's units (greatest, for an error rate).
        share: of the systems, the best ones by the metric, whose outputs may serve, in (0, 1].
        shared: give all systems the same ones (and so each its own, too): for use outside of the
            systems that gave them.
        allow_code: let a spec ``python('module:function')`` run code.

    Returns:
        Paraphrases of the method "pseudo" with their scores, best first within each system (or
        segment, if shared).

    Raises:
        DataError: there are fewer than two systems.
        UsageError: a number is out of its range.
    """
    if n < 1:
        raise UsageError(f"at least 1 pseudo-reference is asked for; got {n}")
    if not 0 < share <= 1:
        raise UsageError(f"the share of systems is in (0, 1]; got {share}")
    if len(testset.systems) < 2:
        raise DataError("pseudo-references are other systems' outputs; give two systems or more")
    found = score(testset, metric, allow_code=allow_code)
    sign = 1.0 if found.higher_is_better else -1.0
    quality = sign * np.asarray(found.segments)
    givers = _best(sign * np.asarray(found.system), share)
    floor = -np.inf if least is None else sign * least
    names = list(testset.systems)
    made = []
    for i in range(testset.segments):
        ranked = _ranked(testset, i, givers, quality[:, i], floor)
        for k in [None] if shared else range(len(names)):
            system = None if k is None else names[k]
            texts: dict[str, float] = {}
            for text, giver in ranked:
                if giver != k and len(texts) < n:
                    texts.setdefault(text, sign * float(quality[giver, i]))
            made += [
                Paraphrase(i + 1, t, "pseudo", system, v, model=metric) for t, v in texts.items()
            ]
    return tuple(made)


def _best(system: NDArray[np.float64], share: float) -> list[int]:
    size = max(2, round(share * len(system)))
    order = np.argsort(-system, kind="stable")[:size]
    return sorted(int(k) for k in order)


def _ranked(
    testset: TestSet,
    segment: int,
    givers: Sequence[int],
    quality: NDArray[np.float64],
    floor: float,
) -> list[tuple[str, int]]:
    """Texts and their systems, best first; undefined scores, copies and empty texts left out."""
    columns = list(testset.systems.values())
    references = {texts[segment] for texts in testset.references.values()}
    fit = [
        k
        for k in givers
        if quality[k] >= floor
        and columns[k][segment] not in references
        and columns[k][segment].strip()
    ]
    fit.sort(key=lambda k: -float(quality[k]))
    return [(columns[k][segment], k) for k in fit]
