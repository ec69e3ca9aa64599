"""What is wrong with a request, before a metric is bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.annotate import feature_faults, tagger_faults
from gnomon.difficulty._agreement import best_count
from gnomon.difficulty._omission import check_resamples
from gnomon.difficulty._people import circular
from gnomon.difficulty._pools import check_pool
from gnomon.difficulty._setup import wrapped
from gnomon.errors import UnknownNameError, UsageError
from gnomon.faults import Fault, faults
from gnomon.metrics.registry import check_metric
from gnomon.slices import check_slices

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.difficulty.metric import Difficulty
    from gnomon.metrics import Metric
    from gnomon.outline import Outline

__all__ = ["check_score", "check_words"]


def check_score(
    outline: Outline | None,
    metric: str | Metric = "bertscore",
    *,
    pool: str | tuple[str, ...] | None = None,
    pool_by: str | None = None,
    leave_one_out: bool = False,
    frozen: str | None = None,
    beside: Sequence[str] | None = None,
    human: str | None = None,
    top: str = "30%",
    allow_circular: bool = False,
    by: str | None = None,
    omit: bool = False,
    tagger: str | None = None,
    seed: int = 12345,
    bootstrap: int = 1000,
    confidence: float = 0.95,
    allow_code: bool = False,
) -> Iterator[Fault]:
    """What :func:`gnomon.difficulty.score` refuses of its arguments, which are as there.

    The outline says what the test set holds; without, that is not known yet.
    """
    yield from _drawn(top, seed, bootstrap, confidence)
    if omit:  # nothing else is tagged
        yield from _of_tagger(outline, tagger)
    for number, spec in enumerate(beside or ()):
        yield from faults(f"beside[{number}]", check_metric, spec, outline)
    yield from _weighed(
        outline, metric, pool, pool_by, frozen,
        leave_one_out=leave_one_out, human=human, allow_circular=allow_circular,
        allow_code=allow_code,
    )  # fmt: skip
    if outline is not None:
        yield from faults("by", check_slices, outline, by, scored=True)
        yield from faults("human", _check_kind, outline, human)


def check_words(
    outline: Outline | None,
    metric: str | Metric = "bertscore",
    *,
    pool: str | tuple[str, ...] | None = None,
    pool_by: str | None = None,
    frozen: str | None = None,
    segments: Sequence[int] = (),
    min_count: int | None = None,
    human: str | None = None,
    top: str = "30%",
    examples: int = 0,
    tagger: str | None = None,
    seed: int = 12345,
    bootstrap: int = 1000,
    confidence: float = 0.95,
    allow_code: bool = False,
) -> Iterator[Fault]:
    """What :func:`gnomon.difficulty.words` refuses of its arguments; as :func:`check_score`."""
    yield from _drawn(top, seed, bootstrap, confidence)
    yield from _of_tagger(outline, tagger)
    if min_count is not None and min_count < 1:
        said = f"a word must occur at least once to be listed; got {min_count}"
        yield Fault("min_count", UsageError(said))
    if examples < 0:
        said = f"examples is a number of segments, 0 or more; got {examples}"
        yield Fault("examples", UsageError(said))
    yield from _weighed(outline, metric, pool, pool_by, frozen, allow_code=allow_code)
    if outline is not None:
        yield from faults("human", _check_kind, outline, human)
        for place, number in enumerate(segments):
            yield from faults(f"segments[{place}]", _check_segment, outline, number)


def _drawn(top: str, seed: int, bootstrap: int, confidence: float) -> Iterator[Fault]:
    yield from faults("top", best_count, top, 0)
    yield from faults("bootstrap", check_resamples, bootstrap, 0.95)
    yield from faults("confidence", check_resamples, 0, confidence)
    if seed < 0:
        yield Fault("seed", UsageError(f"a seed is a whole number, 0 or more; got {seed}"))


def _of_tagger(outline: Outline | None, tagger: str | None) -> Iterator[Fault]:
    """The tagger that tells word classes: one by name, or that of the language."""
    if tagger == "auto":
        known = outline is not None
        language = None if outline is None else outline.target_language
        yield from feature_faults(["pos:*"], language=language, known=known)
    else:
        yield from tagger_faults("tagger", tagger)


def _weighed(
    outline: Outline | None,
    metric: str | Metric,
    pool: str | tuple[str, ...] | None,
    pool_by: str | None,
    frozen: str | None,
    *,
    leave_one_out: bool = False,
    human: str | None = None,
    allow_circular: bool = True,
    allow_code: bool,
) -> Iterator[Fault]:
    """The metric under difficulty, its pool, and whether people who chose it are to judge it."""
    wrong = list(faults("metric", _check_words, metric, outline, allow_code=allow_code))
    if pool is not None:
        wrong += faults("pool", check_pool, pool)
    yield from wrong
    if wrong:
        return
    try:
        found = wrapped(
            metric, allow_code=allow_code, pool=pool, by=pool_by, frozen=frozen,
            leave_one_out=leave_one_out,
        )  # fmt: skip
    except UsageError as error:
        yield Fault("", error)
        return
    if outline is None:
        return
    wrong = list(faults("frozen" if frozen else "pool", found.check_pool, outline))
    yield from wrong
    if not wrong and human is not None and not allow_circular:
        yield from faults("human", _check_judge, outline, found, human)


def _check_words(metric: str | Metric, outline: Outline | None, *, allow_code: bool) -> None:
    check_metric(metric, outline, allow_code=allow_code)
    wrapped(metric, allow_code=allow_code).check_metric(outline)


def _check_kind(outline: Outline, kind: str | None) -> None:
    kinds = outline.human_kinds("system")
    if kind is not None and kind not in kinds:
        raise UnknownNameError("kind of human system scores", kind, kinds)


def _check_judge(outline: Outline, metric: Difficulty, kind: str) -> None:
    """Refuse people as judges whose scores choose the pool."""
    if kind in metric.will_see(outline):
        raise UsageError(f"{circular(kind)}; take another pool, or allow it (--allow-circular)")


def _check_segment(outline: Outline, number: int) -> None:
    if not 1 <= number <= outline.segments:
        raise UsageError(
            f"there is no segment {number}; {outline.name!r} has segments 1 to {outline.segments}"
        )
