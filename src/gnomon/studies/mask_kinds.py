"""Figures of a study under different kinds of mask: which metrics have which, by signatures."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from gnomon.core import registry as methods
from gnomon.core.signature import Signature
from gnomon.metrics import parse
from gnomon.studies.needs import located_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from gnomon.studies.definition import Step
    from gnomon.studies.folder import FinishedTask

__all__ = ["mask_own_tokens", "masked_alike"]

_log = logging.getLogger(__name__)


def masked_alike(steps: Sequence[Step], folder: Path, *, allow_code: bool) -> tuple[Step, ...]:
    """The steps of a study, all metrics of a method under one kind of mask where "auto" is asked.

    A task, which may be of one metric, cannot tell what stands beside it in the tables of a study.

    Args:
        steps: as the study has them.
        folder: that files are named from.
        allow_code: specs may run code.
    """
    metrics: dict[str, set[str]] = {}
    chosen = [step for step in steps if _choose_alike(step)]
    for step in chosen:
        metrics.setdefault(step.method, set()).update(step.metrics)
    differ = set()
    for method, specs in metrics.items():
        located = (located_spec(spec, folder) for spec in specs)
        kinds = {kind for spec in located for kind in parse(spec, allow_code=allow_code).masks}
        if len(specs) > 1 and len(kinds) > 1:
            differ.add(method)
            _log.info(
                "%s: other words stand for words under all metrics (masking = 'substitute'), as"
                " metrics of the study have masks of several kinds",
                method,
            )
    return tuple(
        replace(step, options={**step.options, "masking": "substitute"})
        if step in chosen and step.method in differ
        else step
        for step in steps
    )


def _choose_alike(step: Step) -> bool:
    """True if a step leaves it to gnomon what stands for words."""
    options = methods.find(step.method).step_options
    asked = step.options.get("masking", "auto")
    return "masking" in options and asked == "auto"


def mask_own_tokens(entries: Iterable[FinishedTask]) -> list[str]:
    """Methods under which metrics of several classes all mask their tokens, each its own."""
    kinds: dict[str, set[str]] = {}
    classes: dict[str, set[str]] = {}
    for entry in entries:
        method = methods.installed(entry.method)
        if method is None or "masking" not in method.step_options:
            continue
        for metric, signature in entry.signatures.items():
            fields = Signature.parse(signature)
            if fields.get("method") != "sentences":  # a sentence scorer masks nothing
                other = "mask words" if "mask" in fields else "tokens"
                kinds.setdefault(entry.method, set()).add(fields.get("masking", other))
                classes.setdefault(entry.method, set()).add(re.split(r"\W", metric, maxsplit=1)[0])
    return [name for name, some in kinds.items() if some == {"tokens"} and len(classes[name]) > 1]
