"""Figures of a study under different kinds of mask: which metrics have which, by signatures."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from gnomon.core import registry as methods
from gnomon.metrics import parse
from gnomon.metrics.masking import MASKS_USED
from gnomon.metrics.protocol import own_masks
from gnomon.studies._needs import located_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from gnomon.studies._folder import FinishedTask
    from gnomon.studies._study import Step

__all__ = ["mask_kinds", "mask_words", "masked_alike", "own_tokens"]

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
        kinds = {kind for spec in located for kind in own_masks(parse(spec, allow_code=allow_code))}
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
    """Whether a step leaves it to gnomon what stands for words."""
    options = methods.find(step.method).step_options
    asked = step.options.get("masking", "auto")
    return "masking" in options and asked == "auto"


def mask_kinds(entries: Iterable[FinishedTask]) -> dict[str, dict[str, list[str]]]:
    """By method that masks and by kind of mask (:data:`MASKS_USED`), the metrics of some tasks."""
    kinds: dict[str, dict[str, list[str]]] = {}
    for entry in entries:
        method = methods.installed(entry.method)
        if method is None or "masking" not in method.step_options:
            continue
        for metric, signature in entry.signatures.items():
            if "|method:sentences" in signature:  # of a sentence scorer, which masks nothing
                continue
            metrics = kinds.setdefault(entry.method, {}).setdefault(_kind(signature), [])
            if metric not in metrics:
                metrics.append(metric)
    return {
        method: {kind: some[kind] for kind in MASKS_USED if kind in some}
        for method, some in kinds.items()
    }


def own_tokens(kinds: Mapping[str, list[str]]) -> bool:
    """Whether metrics of several classes mask their tokens, each its own."""
    specs = kinds.get("tokens", []) if len(kinds) == 1 else []
    return len({re.split(r"\W", spec, maxsplit=1)[0] for spec in specs}) > 1


def _kind(signature: str) -> str:
    """What stood for words, by what a signature says of it."""
    named = re.search(r"\|masking:([\w-]+)", signature)
    if named:
        return named[1]
    return "mask words" if "|mask:" in signature else "tokens"


def mask_words(kinds: Mapping[str, list[str]], titles: Mapping[str, str] | None = None) -> str:
    """Which metrics have which masks, in words."""
    return "; ".join(
        f"{', '.join(titles[metric] if titles else metric for metric in some)}: {MASKS_USED[kind]}"
        for kind, some in kinds.items()
    )
