"""Which paraphrases to keep."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.errors import UsageError
from gnomon.metrics import bind
from gnomon.paraphrase._adequacy import closeness

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.testset import Paraphrase, TestSet

__all__ = ["Filtered", "filtered"]


class Filtered(NamedTuple):
    """What is left of some paraphrases, and how many were dropped for what."""

    kept: tuple[Paraphrase, ...]
    empty: int
    copies: int
    duplicates: int
    inadequate: int


def filtered(
    testset: TestSet,
    paraphrases: Sequence[Paraphrase],
    *,
    copies: bool = True,
    duplicates: bool = True,
    metric: str | None = None,
    least: float | None = None,
    allow_code: bool = False,
) -> Filtered:
    """Drop paraphrases that add nothing, or that do not say the same.

    Args:
        testset: references.
        paraphrases: the paraphrases.
        copies: drop those that equal a reference of their segment, white space apart.
        duplicates: drop repetitions within a segment (and system).
        metric: judges them against the references, with ``least``.
        least: least score that is kept, in the metric's units (greatest, for an error rate);
            undefined scores are dropped.
        allow_code: let a spec ``python('module:function')`` run code.

    Raises:
        UsageError: metric and least do not come together.
    """
    if (metric is None) is not (least is None):
        raise UsageError("a filter needs both a metric and the least score that it lets through")
    full = [one for one in paraphrases if one.text.strip()]
    columns = testset.references.values()
    references = [
        {" ".join((c[i] or "").split()) for c in columns} for i in range(testset.segments)
    ]
    new = [
        p for p in full if not copies or " ".join(p.text.split()) not in references[p.segment - 1]
    ]
    once = {
        (p.segment, p.system, p.text if duplicates else n): p
        for n, p in reversed(list(enumerate(new)))
    }
    kept = list(reversed(once.values()))
    left = kept
    if metric is not None and least is not None and kept:
        _, bound = bind(testset, metric, allow_code=allow_code)
        sign = 1 if bound.higher_is_better else -1
        values = sign * closeness(testset, kept, metric, allow_code=allow_code)
        left = [
            one
            for one, fit in zip(kept, np.greater_equal(values, sign * least), strict=True)
            if fit
        ]
    return Filtered(
        tuple(left),
        empty=len(paraphrases) - len(full),
        copies=len(full) - len(new),
        duplicates=len(new) - len(kept),
        inadequate=len(kept) - len(left),
    )
