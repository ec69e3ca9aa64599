"""Checks of a request to explain, before a metric is bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.bmx.explainers import check_explainer, explainer_names, find_explainer, is_blind
from gnomon.bmx.judging import check_errors
from gnomon.core.errors import UsageError
from gnomon.core.validation import Problem, problems
from gnomon.messages.audiences import parameter
from gnomon.metrics import resolve
from gnomon.metrics.registry import check_metric, check_once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline

__all__ = ["check_explain", "explainer_faults", "listed"]


def check_explain(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`gnomon.bmx.explain` that fit each alone."""
    if (
        options.save_explanations
        and len(listed(options.metrics)) * len(listed(options.explainers)) > 1
    ):
        reason = " is for one metric and one explainer; name one of each"
        named = parameter("save_explanations")
        yield Problem("save_explanations", UsageError(named, reason))
    if outline is not None:
        for number, segment in enumerate(options.segments or ()):
            yield from problems(f"segments[{number}]", _check_segment, segment, outline.segments)
    if options.errors and outline is not None:
        yield from problems("errors", check_errors, outline, ("candidate", "source"))
    yield from explainer_faults(
        outline,
        options.metrics,
        options.explainers,
        allow_code=options.allow_code,
        changed=options.faithfulness,
    )


def explainer_faults(
    outline: Outline | None,
    metrics: object,
    explainers: object,
    *,
    allow_code: bool,
    changed: bool = False,
) -> Iterator[Problem]:
    """Metrics and explainers, and whether they go together."""
    explaining = explainers if isinstance(explainers, list | tuple) else None
    good = []
    if not listed(explainers):
        said = f"no explainer is asked for; name some of {', '.join(explainer_names())}"
        yield Problem("explainers", UsageError(said))
    for number, explainer in enumerate(listed(explainers)):
        option = "explainers" if explaining is None else f"explainers[{number}]"
        wrong = list(problems(option, find_explainer, explainer))
        yield from wrong
        if not wrong:
            good.append((option, explainer))
    specs = [find_explainer(explainer).spec for _, explainer in good]
    if len(set(specs)) < len(specs):
        said = f"an explainer is named twice: {', '.join(specs)}; name each once"
        yield Problem("explainers", UsageError(said))
    yield from problems("metrics", check_once, metrics, allow_code=allow_code)
    changed = changed or not all(is_blind(find_explainer(explainer)) for _, explainer in good)
    for metric in listed(metrics):
        wrong = list(
            problems(
                "metrics", check_metric, metric, outline, allow_code=allow_code, changed=changed
            )
        )
        yield from wrong
        if wrong or not (isinstance(metric, str) or callable(getattr(metric, "bind", None))):
            continue  # it is bound already
        resolved = resolve(metric, allow_code=allow_code)
        for option, explainer in good:
            yield from problems(option, check_explainer, explainer, resolved)


def listed(what: Any) -> list[Any]:
    """One thing, or several of them, as a list."""
    return list(what) if isinstance(what, (list, tuple)) else [what]


def _check_segment(segment: int, segments: int) -> None:
    if segment > segments:
        raise UsageError(f"segment {segment} is not there; the test set has 1 to {segments}")
