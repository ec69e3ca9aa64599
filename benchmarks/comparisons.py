"""What a comparison of uploaded files costs: from files to a verdict.

``python benchmarks/comparisons.py`` prints a table and writes it to ``benchmarks/comparisons.md``.
Files of the bundled example, its lines again and again, are looked at and compared (BLEU and chrF,
intervals and tests) by the queue of a server in this process. Times are of the wall
clock, from when files are on disk; memory is what a process takes then.
"""

from __future__ import annotations

import itertools
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from _measure import keep

from gnomon import TestSet, example
from gnomon.serve.comparison import ComparisonChoices, FileChoice, StepChoice
from gnomon.serve.jobs import Queue
from gnomon.serve.workers import memory_of
from gnomon.serve.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_TIMES = 7
_MEGABYTE = 1_000_000


def upload(workspace: Workspace, segments: int, systems: int) -> tuple[str, list[str]]:
    """A draft of a reference and outputs, and what its files are called."""
    testset = TestSet.read(example.path())
    columns: dict[str, Iterable[str | None]] = {"ref": next(iter(testset.references.values()))}
    columns |= dict(itertools.islice(testset.systems.items(), systems))
    draft, uploads = workspace.new_draft("somebody")
    for number, lines in enumerate(columns.values()):
        repeated = itertools.islice(itertools.cycle(lines), segments)
        (uploads / str(number)).write_text("".join(f"{line or ''}\n" for line in repeated))
    workspace.name_files(draft, [f"{name}.txt" for name in columns])
    return draft, list(columns)


def verdict(queue: Queue, segments: int, systems: int, *methods: str) -> tuple[float, float, float]:
    """Seconds until files are looked at, then to the verdict, and to the end."""
    draft, names = upload(queue.workspace, segments, systems)
    start = time.perf_counter()
    queue.inspect(draft)
    inspected = time.perf_counter()
    files = [
        FileChoice(file=n, name=name, title=name, role="output" if n else "reference")
        for n, name in enumerate(names)
    ]
    steps = [StepChoice(method=method) for method in methods]
    choices = ComparisonChoices(files=files, language_pair="es-en", steps=steps)
    made = queue.create(draft, choices)
    wait(lambda: queue.workspace.study(made.id).job.steps[0].state == "done")
    found = time.perf_counter()
    wait(lambda: not queue.workspace.study(made.id).job.active)
    return inspected - start, found - inspected, time.perf_counter() - found


def wait(condition: Callable[[], bool]) -> None:
    """Wait until something holds."""
    while not condition():
        time.sleep(0.005)


def main() -> None:
    """Measure, print and keep."""
    rows: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        queue = Queue(Workspace(Path(folder)))
        start = time.perf_counter()
        queue.start()
        verdict(queue, 209, 2, "compare")
        rows.append(
            ("209 segments, 2 systems, from the start of a server", _s(time.perf_counter() - start))
        )
        runs = [verdict(queue, 209, 2, "compare") for _ in range(_TIMES)]
        for what, times in zip(
            ("files looked at", "verdict"), zip(*runs, strict=True), strict=False
        ):
            rows.append((f"209 segments, 2 systems: {what}", _s(statistics.median(times))))
        rows.append(("20 comparisons at once, until the last verdict", _s(_at_once(queue, 20))))
        looked, found, rest = verdict(queue, 209, 2, "compare", "muler")
        rows.append(("with MuLER: verdict", _s(found)))
        rows.append(("with MuLER: all of it", _s(found + rest)))
        looked, found, _ = verdict(queue, 2000, 5, "compare")
        rows.append(("2,000 segments, 5 systems: files looked at", _s(looked)))
        rows.append(("2,000 segments, 5 systems: verdict", _s(found)))
        before = memory_of(os.getpid())
        draft, uploads = queue.workspace.new_draft("somebody")
        line = (example.path() / "ref.A.txt").read_bytes()
        (uploads / "0").write_bytes(line * (50 * _MEGABYTE // len(line)))
        queue.workspace.name_files(draft, ["ref.txt"])
        start, before = time.perf_counter(), memory_of(os.getpid())
        queue.inspect(draft)
        rows.append(("a file of 50 MB: looked at", _s(time.perf_counter() - start)))
        more = memory_of(os.getpid()) - before
        rows.append(("a file of 50 MB: what the server takes more", f"{max(0, more) / 1e6:.0f} MB"))
        rows.append(("the server itself (this process)", f"{memory_of(os.getpid()) / 1e6:.0f} MB"))
        queue.stop()
    keep("comparisons", ["| | |", "|---|---|", *(f"| {what} | {value} |" for what, value in rows)])


def _at_once(queue: Queue, count: int) -> float:
    drafts = [upload(queue.workspace, 209, 2) for _ in range(count)]
    start = time.perf_counter()
    made = []
    for number, (draft, names) in enumerate(drafts):
        files = [
            FileChoice(file=n, name=name, title=name, role="output" if n else "reference")
            for n, name in enumerate(names)
        ]
        steps = [StepChoice(method="compare")]
        choices = ComparisonChoices(files=files, steps=steps, title=f"{number}")
        made.append(queue.create(draft, choices).id)
    wait(lambda: not any(queue.workspace.study(each).job.active for each in made))
    return time.perf_counter() - start


def _s(seconds: float) -> str:
    return f"{seconds:.2f} s"


if __name__ == "__main__":
    main()
