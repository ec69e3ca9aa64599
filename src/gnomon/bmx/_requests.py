"""What is wrong with a request to explain, before a metric is bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.bmx._errors import check_errors
from gnomon.bmx._explain import MAX_CALLS, check_sides
from gnomon.bmx._explainers import EXPLAINERS, check_explainer, find_explainer
from gnomon.errors import UsageError
from gnomon.faults import Fault, faults
from gnomon.metrics import resolve
from gnomon.metrics.registry import check_metric
from gnomon.stats.significance import check_confidence, check_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gnomon.bmx._protocol import Explainer
    from gnomon.metrics.protocol import BoundMetric, Metric
    from gnomon.outline import Outline

    AnyMetric = str | Metric | BoundMetric | Callable[..., float]

__all__ = ["check_examine", "listed"]


def check_examine(
    outline: Outline | None,
    metrics: AnyMetric | Sequence[AnyMetric] = "bleu",
    explainers: str | Explainer | Sequence[str | Explainer] = "erasure",
    *,
    sides: str = "both",
    segments: Sequence[int] | None = None,
    sample: int | None = None,
    errors: bool = False,
    errors_kind: str | None = None,
    show: int = 3,
    least: int = 3,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    max_calls: int = MAX_CALLS,
    allow_code: bool = False,
) -> Iterator[Fault]:
    """What :func:`gnomon.bmx.examine` refuses of its arguments, which are as there.

    The outline says what the test set holds; without, that is not known yet.
    """
    yield from faults("show", _at_least, "outputs to show are", show, 0)
    yield from faults("least", _at_least, "occurrences of a listed word are", least, 1)
    yield from faults("resamples", check_count, resamples)
    yield from faults("confidence", check_confidence, confidence)
    yield from faults("seed", _at_least, "a seed is", seed, 0)
    yield from faults("max_calls", _at_least, "metric calls are", max_calls, 1)
    yield from faults("sides", check_sides, sides)
    if sample is not None:
        yield from faults("sample", _at_least, "the segments of a sample are", sample, 1)
    if outline is not None:
        for number, segment in enumerate(segments or ()):
            yield from faults(f"segments[{number}]", _check_segment, segment, outline.segments)
    if errors and outline is not None:
        option = "errors" if errors_kind is None else "errors_kind"
        yield from faults(option, check_errors, outline, ("candidate", "source"), kind=errors_kind)
    yield from _explained(outline, metrics, explainers, allow_code=allow_code)


def _explained(
    outline: Outline | None, metrics: object, explainers: object, *, allow_code: bool
) -> Iterator[Fault]:
    """Metrics and explainers, and whether they go together."""
    explaining = explainers if isinstance(explainers, list | tuple) else None
    good = []
    if not listed(explainers):
        said = f"no explainer is asked for; name some of {', '.join(EXPLAINERS)}"
        yield Fault("explainers", UsageError(said))
    for number, one in enumerate(listed(explainers)):
        place = "explainers" if explaining is None else f"explainers[{number}]"
        wrong = list(faults(place, find_explainer, one))
        yield from wrong
        if not wrong:
            good.append((place, one))
    for one in listed(metrics):
        wrong = list(
            faults("metrics", check_metric, one, outline, allow_code=allow_code, changed=True)
        )
        yield from wrong
        if wrong or not _is_unbound(one):
            continue
        metric = resolve(one, allow_code=allow_code)
        for place, explainer in good:
            yield from faults(place, check_explainer, explainer, metric)


def listed(what: Any) -> list[Any]:
    """One thing, or several of them, as a list."""
    return list(what) if isinstance(what, (list, tuple)) else [what]


def _is_unbound(what: object) -> bool:
    return isinstance(what, str) or callable(getattr(what, "bind", None))


def _at_least(what: str, given: int, least: int) -> None:
    if given < least:
        raise UsageError(f"{what} {least} or more; got {given}")


def _check_segment(segment: int, segments: int) -> None:
    if not 0 <= segment < segments:
        raise UsageError(
            f"segment {segment + 1} is not there; the test set has 1 to {segments} (numbers from 0)"
        )
