"""What is wrong with a request, before anything is scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gnomon.errors import DataError, UnknownNameError, UsageError
from gnomon.faults import Fault, faults
from gnomon.metaeval._choices import CORRECTIONS
from gnomon.metaeval._compare_options import plan_faults
from gnomon.metaeval._compare_scored import check_systems
from gnomon.metaeval._contest import circular, kinds_of, title_of
from gnomon.metaeval._measures import LEVELS, measure_faults, measures, preset_of
from gnomon.metaeval._testing import testing_faults
from gnomon.metrics import resolve
from gnomon.metrics.functions import FunctionMetric
from gnomon.metrics.protocol import Choosing
from gnomon.metrics.registry import check_metric
from gnomon.metrics.spec import read_spec
from gnomon.slices import check_slices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.metaeval._measures import Measure
    from gnomon.outline import Outline

__all__ = ["check_compare", "check_metaeval", "without_scores"]


def check_metaeval(
    outline: Outline | None,
    metrics: object = (),
    *,
    human: str | Sequence[str] = (),
    levels: Sequence[str] = LEVELS,
    statistics: Sequence[str] | None = None,
    groupings: Sequence[str] | None = None,
    preset: str | None = None,
    top: Sequence[int] = (),
    baseline: str | None = None,
    test: str = "auto",
    alternative: str = "greater",
    correction: str | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    alpha: float = 0.05,
    seed: int = 0,
    darr_threshold: float | None = None,
    allow_circular: bool = False,
    allow_code: bool = False,
) -> Iterator[Fault]:
    """What :func:`gnomon.metaeval` refuses of its arguments on one test set; these are as there.

    The outline says what the test set holds; without, that is not known yet.
    """
    wrong = list(_names(levels, statistics, groupings, preset))
    yield from wrong
    if preset is not None and (statistics or groupings):
        said = f"preset {preset!r} brings its statistics and groupings; leave them out"
        yield Fault("preset", UsageError(said))
    for number, k in enumerate(top):
        if k < 2:
            said = f"the top K systems need K of at least 2; got {k}"
            yield Fault(f"top[{number}]", UsageError(said))
    if correction is not None and correction not in CORRECTIONS:
        yield Fault("correction", UnknownNameError("correction", str(correction), CORRECTIONS))
    if darr_threshold is not None and not darr_threshold >= 0:
        said = f"the threshold of DaRR is a difference, 0 or more; got {darr_threshold}"
        yield Fault("darr_threshold", UsageError(said))
    yield from testing_faults(test, alternative, resamples, seed, confidence, alpha)
    yield from _metrics(outline, metrics, baseline, allow_code=allow_code)
    if outline is not None:
        wanted = () if wrong else measures(levels, statistics, groupings, preset_of(preset))
        yield from _judged(outline, human, wanted, darr_threshold)
        if not allow_circular:
            yield from _seen(outline, human, metrics, allow_code=allow_code)


def check_compare(
    outline: Outline | None,
    metrics: object = (),
    *,
    baseline: str | None = None,
    test: str = "bootstrap",
    resamples: int | None = None,
    null: str = "sign",
    alternative: str = "two-sided",
    confidence: float = 0.95,
    by: str | None = None,
    fail_if_worse: Sequence[str] = (),
    min_drop: float = 0.0,
    allow_code: bool = False,
) -> Iterator[Fault]:
    """What :func:`gnomon.compare` refuses of options that fit each alone."""
    yield from plan_faults(1000 if resamples is None else resamples, null, alternative, confidence)
    if test == "ar" and null == "sacrebleu":
        said = "null 'sacrebleu' goes with the test 'bootstrap', not with 'ar'"
        yield Fault("null", UsageError(said))
    if min_drop and not fail_if_worse:
        said = "min_drop goes with fail_if_worse, which names metrics and is not given"
        yield Fault("min_drop", UsageError(said))
    if fail_if_worse and alternative == "greater":
        said = (
            "fail_if_worse asks whether a system is worse, and alternative 'greater' whether it is"
            " better; take two-sided (the default) or less"
        )
        yield Fault("fail_if_worse", UsageError(said))
    specs = [metrics] if isinstance(metrics, str) else metrics
    if isinstance(specs, list | tuple) and all(isinstance(one, str) for one in specs):
        for one in fail_if_worse:
            if one not in specs:
                unknown = UnknownNameError(
                    "metric to fail on", one, specs, remedy="name it with -m"
                )
                yield Fault("fail_if_worse", unknown)
    yield from _metrics(outline, metrics, None, allow_code=allow_code)
    if outline is not None:
        option = "baseline" if len(outline.systems) > 1 else ""
        yield from faults(option, check_systems, outline, baseline)
        yield from faults("by", check_slices, outline, by, scored=True)


def without_scores(there: Mapping[str, Sequence[tuple[str, str]]]) -> DataError:
    """People said nothing that is to be measured.

    Args:
        there: kinds of human scores with their levels, by test set.
    """
    told = {
        name: sorted({f"{kind} ({level})" for kind, level in kinds})
        for name, kinds in there.items()
    }
    listed = "; ".join(f"{name}: {', '.join(kinds) or 'none'}" for name, kinds in told.items())
    return DataError(
        f"there are no human scores for what is to be measured; human scores are: {listed}; attach"
        " some (--human FILE; TestSet.with_human(FILE))"
    )


def _names(
    levels: Sequence[str],
    statistics: Sequence[str] | None,
    groupings: Sequence[str] | None,
    preset: str | None,
) -> Iterator[Fault]:
    """Names that do not exist, each for itself; then what cannot be together."""
    wrong = [
        *faults("preset", preset_of, preset),
        *measure_faults(levels, statistics, groupings),
    ]
    option = "statistics" if statistics else "levels"
    yield from wrong or faults(option, measures, levels, statistics, groupings, preset_of(preset))


def _metrics(
    outline: Outline | None, metrics: object, baseline: str | None, *, allow_code: bool
) -> Iterator[Fault]:
    """Metrics that do not exist or cannot score the test set, and a baseline that is none."""
    names = set(metrics) if isinstance(metrics, Mapping) else set()
    known = True
    for number, one in enumerate(_every(metrics)):
        if not isinstance(one, str):
            known &= isinstance(metrics, Mapping)  # scores and functions bring their names
            continue
        wrong = list(
            faults(f"metrics[{number}]", check_metric, one, outline, allow_code=allow_code)
        )
        yield from wrong
        if not wrong and not isinstance(metrics, Mapping):
            names.add(_name(one, allow_code=allow_code))
    if baseline is not None and known and baseline not in names:
        yield Fault("baseline", UnknownNameError("metric (as baseline)", baseline, sorted(names)))


def _name(spec: str, *, allow_code: bool) -> str:
    found = resolve(spec, allow_code=allow_code)
    return found.name if isinstance(found, FunctionMetric) else str(read_spec(spec))


def _judged(
    outline: Outline,
    human: str | Sequence[str],
    wanted: Sequence[Measure],
    threshold: float | None,
) -> Iterator[Fault]:
    """Kinds of human scores that are not there or are several, and measures that need others."""
    kinds = [human] if isinstance(human, str) else list(human)
    there = (*outline.human_kinds(), *outline.rankings)
    wrong = [
        Fault(
            "human" if isinstance(human, str) else f"human[{number}]",
            UnknownNameError("kind of human scores", kind, tuple(dict.fromkeys(there))),
        )
        for number, kind in enumerate(kinds)
        if kind not in there
    ]
    wrong = wrong or list(faults("human", kinds_of, outline, kinds))
    yield from wrong
    if wrong or not wanted:
        return
    found = kinds_of(outline, kinds)
    if not any(_is_possible(one, found, threshold) for one in wanted):
        yield Fault("", without_scores({title_of(outline): outline.human}))


def _seen(
    outline: Outline, human: str | Sequence[str], metrics: object, *, allow_code: bool
) -> Iterator[Fault]:
    """Metrics whose judges would choose the systems that they look at."""
    kinds = [human] if isinstance(human, str) else list(human)
    if list(faults("human", kinds_of, outline, kinds)):
        return
    judges = tuple(dict.fromkeys(kinds_of(outline, kinds).values()))
    for number, one in enumerate(_every(metrics)):
        if not isinstance(one, str) or list(
            faults("", check_metric, one, outline, allow_code=allow_code)
        ):
            continue
        metric = resolve(one, allow_code=allow_code)
        seen = metric.will_see(outline) if isinstance(metric, Choosing) else ()
        both = [kind for kind in judges if kind in seen]
        if both:
            yield Fault(f"metrics[{number}]", circular(title_of(outline), one, both))


def _every(metrics: object) -> list[object]:
    if isinstance(metrics, Mapping):
        return list(metrics.values())
    return list(metrics) if isinstance(metrics, list | tuple) else [metrics]


def _is_possible(measure: Measure, kinds: Mapping[str, str], threshold: float | None) -> bool:
    if measure.statistic == "darr":
        return "ranking" in kinds or (threshold is not None and "segment" in kinds)
    return measure.human_level in kinds
