"""Figures of a study under different kinds of mask: which metrics have which, by signatures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gnomon.core import registry as methods
from gnomon.metrics.masking import MASKS_USED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gnomon.studies._folder import FinishedTask

__all__ = ["mask_kinds", "mask_words"]


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
