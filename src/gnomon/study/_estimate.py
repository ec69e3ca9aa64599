"""How long what is left of a plan will take, by what such tasks took before."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gnomon.study._plan import Plan
    from gnomon.study._store import Store
    from gnomon.study._tasks import Task

__all__ = ["Left", "left_of", "said"]


class Left(NamedTuple):
    """What is left of one method with its metrics.

    Attributes:
        method: as in the study.
        metrics: specs.
        testsets: on how many test sets.
        tasks: how many there are.
        left: how many of them are not done.
        seconds: of one core, for these; None where no such task was ever done.
    """

    method: str
    metrics: str
    testsets: int
    tasks: int
    left: int
    seconds: float | None


def left_of(plan: Plan, store: Store | None) -> list[Left]:
    """What is left, method by method.

    Seconds are those per output (systems x segments) that tasks of the same method and metrics took
    before, also such as the study no longer asks for.
    """
    sizes = {one.name: one.sketch.segments for one in plan.sets}
    rates = _rates(store, sizes)
    groups: dict[tuple[str, str], list[Task]] = {}
    for task in plan.tasks:
        groups.setdefault((task.method, ", ".join(task.metrics)), []).append(task)
    done = store.entries if store else {}
    found = []
    for group, tasks in groups.items():
        left = [task for task in tasks if task.key not in done]
        rate = rates.get(group)
        outputs = sum(max(1, len(task.systems)) * sizes[task.testset] for task in left)
        seconds = 0.0 if not left else None if rate is None else rate * outputs
        sets = len({task.testset for task in tasks})
        found.append(Left(*group, sets, len(tasks), len(left), seconds))
    return found


def said(left: Iterable[Left], workers: int = 1) -> str:
    """The estimate in words."""
    groups = [one for one in left if one.left]
    if not groups:
        return "nothing is left to do"
    unknown = [_named(one) for one in groups if one.seconds is None]
    known = sum(one.seconds for one in groups if one.seconds is not None) / workers
    by = "one worker" if workers == 1 else f"{workers} workers"
    parts = [f"about {_time(known)} with {by}"] if len(unknown) < len(groups) else []
    if unknown:
        parts.append(f"unknown, as never done here: {_listed(unknown)}")
    return "; ".join(parts)


def _rates(store: Store | None, sizes: Mapping[str, int]) -> dict[tuple[str, str], float]:
    spent: dict[tuple[str, str], tuple[float, int]] = {}
    for entry in store.entries.values() if store else ():
        if entry.testset in sizes:
            group = (entry.method, ", ".join(entry.metrics))
            seconds, outputs = spent.get(group, (0.0, 0))
            own = max(1, len(entry.systems)) * sizes[entry.testset]
            spent[group] = (seconds + entry.seconds, outputs + own)
    return {group: seconds / outputs for group, (seconds, outputs) in spent.items() if outputs}


def _named(one: Left) -> str:
    return f"{one.method} ({one.metrics})" if one.metrics else one.method


def _time(seconds: float) -> str:
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
