"""What a metric refuses of a test set, told before anything is bound or scored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.errors import DataError, UsageError
from gnomon.faults import Fault, faults
from gnomon.metrics._own_texts import changed_texts
from gnomon.metrics._registry import is_metric, resolve
from gnomon.metrics.protocol import BoundMetric, Checking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gnomon.metrics.protocol import Metric
    from gnomon.outline import Outline

__all__ = ["check_metric", "check_needs", "check_score"]


def check_metric(
    what: str | Metric | BoundMetric | Callable[..., float],
    outline: Outline | None,
    *,
    allow_code: bool = False,
    changed: bool = False,
) -> None:
    """Refuse a metric that does not exist, or that a test set lacks something for.

    Args:
        what: a spec, a metric or a function.
        outline: what the test set holds; None: it is not known yet.
        allow_code: let a spec ``python('module:function')`` import and run the module.
        changed: it is to score changed texts.

    Raises:
        SpecError, UnknownNameError: there is no such metric or argument.
        UsageError: it cannot do what is asked for.
        DataError: the test set lacks what it needs.
    """
    if isinstance(what, BoundMetric) and not is_metric(what):
        return
    metric = resolve(what, allow_code=allow_code)
    if changed and getattr(metric, "own_texts", False):
        raise UsageError(changed_texts(metric.spec))
    if outline is not None:
        check_needs(metric, outline)
    if isinstance(metric, Checking):
        metric.check_outline(outline)


def check_score(
    outline: Outline | None,
    metric: str | Metric | BoundMetric | Callable[..., float],
    *,
    allow_code: bool = False,
) -> Iterator[Fault]:
    """What :func:`gnomon.metrics.score` refuses of its arguments; as :func:`check_metric`."""
    yield from faults("metric", check_metric, metric, outline, allow_code=allow_code)
    if outline is not None and not outline.systems:
        yield Fault("", DataError(f"test set {outline.name!r} holds no system outputs"))


def check_needs(metric: Metric, outline: Outline) -> None:
    """Refuse a test set without what candidates are scored against.

    Raises:
        DataError: it has no references, or no sources.
    """
    there = {"references": outline.has_references, "sources": outline.sources}
    for need in sorted(metric.needs):
        if not there[need]:
            raise DataError(f"metric {metric.spec!r} needs {need}; {outline.name!r} has none")
