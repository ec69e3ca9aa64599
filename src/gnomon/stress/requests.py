"""Inputs of ``gnomon stress`` on a command line, and checks of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import UsageError
from gnomon.core.validation import Problem, problems
from gnomon.messages.audiences import flag, parameter
from gnomon.metrics.base import list_metrics
from gnomon.metrics.registry import check_metric
from gnomon.stress.own_texts import check_perturbations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline
    from gnomon.core.testset import TestSet

__all__ = ["NOTHING", "check_stress", "read_test_set"]


NOTHING = (
    (
        "there is nothing to change: give texts (ref.txt -i sys.txt, or -t DIR; testset=), or files"
        " of minimal pairs ("
    ),
    flag("pairs", "FILE", ""),
    ")",
)


def read_test_set(inputs: Any, options: dict[str, Any]) -> tuple[TestSet | None]:
    """The test set that a command line names; none, where pairs alone are given."""
    if not inputs.has_testset and not options.get("pairs"):
        raise UsageError(NOTHING)
    return (inputs.only().testset() if inputs.has_testset else None,)


def check_stress(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Problems of options that fit each alone."""
    yield from check_perturbations(outline, options)
    if options.save_pairs and not os.fspath(options.save_pairs).endswith((".tsv", ".tsv.gz")):
        wrong = f" must be a file name in .tsv; got {os.fspath(options.save_pairs)}"
        yield Problem("save_pairs", UsageError(parameter("save_pairs"), wrong))
    for metric in list_metrics(options.metrics):
        # scores that are given are looked at when they are bound to the pairs
        yield from problems("metrics", check_metric, metric, outline, allow_code=options.allow_code)  # type: ignore[arg-type]
