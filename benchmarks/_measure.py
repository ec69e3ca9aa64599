"""Measuring beside a named peer: one run, interleaved, medians of CPU time, equal results."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import gnomon as gn
from gnomon.data import example

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("GNOMON_SHARED", ROOT.parent / "shared"))
ROUNDS = 3


@dataclass(frozen=True)
class Row:
    """One comparison.

    Attributes:
        task: what was done.
        peer: who else did it.
        ours: CPU seconds per unit of work, median over the rounds.
        theirs: likewise.
        unit: the unit.
        difference: largest difference of the results; None where there are none to compare.
    """

    task: str
    peer: str
    ours: float
    theirs: float
    unit: str
    difference: float | None = None

    def line(self) -> str:
        """A row of the table."""
        ratio = self.theirs / self.ours
        shown = f"{ratio:.0f}" if ratio >= 20 else f"{ratio:.1f}" if ratio >= 2 else f"{ratio:.2f}"
        equal = "" if self.difference is None else f"{self.difference:.1g}"
        return f"| {self.task} | {self.peer} | {shown}x | {equal} |"


def wmt(name: str, *, systems: int | None = None, segments: int | None = None) -> gn.TestSet:
    """A shared test set, or some of it; the bundled example where the shared data are not."""
    folder = SHARED / "data" / name
    whole = gn.TestSet.read(folder if folder.is_dir() else example.path())
    chosen = list(whole.systems.items())[:systems]
    return gn.TestSet.from_lists(
        {system: list(texts[:segments]) for system, texts in chosen},
        [str(text) for text in next(iter(whole.references.values()))[:segments]],
        language_pair=whole.target_language,
        name=whole.name,
    )


def fresh(data: gn.TestSet) -> gn.TestSet:
    """The same data without anything remembered of them."""
    references = [str(text) for text in next(iter(data.references.values()))]
    return gn.TestSet.from_lists(
        dict(data.systems), references, language_pair=data.language_pair, name=data.name
    )


def cpu(run: Callable[[], object]) -> tuple[float, object]:
    """CPU seconds of this process, and the result."""
    begun = time.process_time()
    result = run()
    return time.process_time() - begun, result


def compare(
    task: str,
    peer: str,
    unit: str,
    ours: tuple[Callable[[], object], float],
    theirs: tuple[Callable[[], object], float],
    *,
    same: Callable[[object, object], float] | None = None,
    prepare: Callable[[], object] = lambda: None,
) -> Row:
    """Run both in turn; each comes with its amount of work. Results must agree to 1e-9."""
    seconds: dict[str, list[float]] = {"ours": [], "theirs": []}
    difference = 0.0
    for _ in range(ROUNDS):
        results = {}
        for name, (run, work) in (("ours", ours), ("theirs", theirs)):
            prepare()
            spent, results[name] = cpu(run)
            seconds[name].append(spent / work)
        difference = max(difference, (same or largest)(results["ours"], results["theirs"]))
    if not difference <= 1e-9:
        raise SystemExit(f"{task}: results differ by {difference}")
    return Row(task, peer, *(statistics.median(seconds[k]) for k in seconds), unit, difference)


def largest(ours: object, theirs: object) -> float:
    """The largest difference of two arrays of scores."""
    return float(np.nanmax(np.abs(np.asarray(ours) - np.asarray(theirs))))


def command(arguments: Sequence[str | Path], **environment: str) -> tuple[float, float]:
    """CPU seconds and peak memory (MB) of a command, from its start to its end."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    wrapper = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL,"
        " stderr=subprocess.DEVNULL)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss)\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", wrapper, *map(str, arguments)],
        check=True,
        capture_output=True,
        text=True,
        env=kept | environment,
    )
    seconds, kilobytes = answer.stdout.split()
    return float(seconds), float(kilobytes) / 1024


def commands(
    task: str, peer: str, ours: Sequence[str | Path], theirs: Sequence[str | Path], rounds: int = 5
) -> Row:
    """Whole commands, start-up and all, in turn; the first run of each does not count."""
    seconds: dict[str, list[float]] = {"ours": [], "theirs": []}
    for number in range(rounds + 1):
        for name, arguments in (("ours", ours), ("theirs", theirs)):
            spent, _ = command(arguments)
            if number:
                seconds[name].append(spent)
    return Row(task, peer, *(statistics.median(seconds[k]) for k in seconds), "command")


def program(name: str) -> Path:
    """A command beside this Python."""
    return Path(sys.executable).with_name(name)


def memory() -> float:
    """Peak memory of this process so far, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def write(name: str, rows: Sequence[Row], note: str) -> None:
    """Print the table and keep it beside the programs."""
    lines = [
        "| task | peer | gnomon is faster by | largest difference |",
        "|---|---|---|---|",
        *(row.line() for row in rows),
    ]
    keep(name, [*lines, "", note])


def keep(name: str, lines: Sequence[str]) -> None:
    """Print lines and write them to ``benchmarks/NAME.md``."""
    text = "\n".join([*lines, ""])
    (ROOT / "benchmarks" / f"{name}.md").write_text(text, encoding="utf-8")
    print(text)
