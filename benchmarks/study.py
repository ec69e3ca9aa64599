"""How time, memory and store of a study grow, and what its engines cost.

    python benchmarks/study.py growth            # a small ladder, minutes
    python benchmarks/study.py growth --whole    # up to 500 systems x 3000 segments, hours
    python benchmarks/study.py speed             # wants a quiet machine of two cores

The texts are real outputs with a tenth of their words or more changed, and labels of 40 features
come from files (``scripts/study_corpus.py``). The study is BLEU and its MuLER without intervals.
Prints the tables and writes them to ``benchmarks/study.md`` (``--whole``), ``study_small.md`` and
``study_speed.md``.
"""

from __future__ import annotations

import argparse
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from _measure import ROOT, ROUNDS, command, keep, program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.studies import Store

_STUDY = """
name = "growth"
metrics = ["bleu"]
[[testsets]]
path = "testset"
{chosen}
[methods.score]
[methods.muler]
features = ["label:*"]
labels = ["labels/ref.jsonl", "labels/{{system}}.jsonl"]
resamples = 0
"""
_FEATURES = 40
_SMALL = {
    "systems": [(systems, 300) for systems in (10, 20, 40, 80)],
    "segments": [(20, segments) for segments in (300, 1000, 3000)],
}
_WHOLE = {
    "systems": [(systems, 3000) for systems in (25, 50, 100, 200, 500)],
    "segments": [(100, segments) for segments in (300, 1000, 3000)],
}
#: systems and segments on which engines are compared; the larger ones are as many as WMT has
_COMPARED, _LARGER = (48, 1000), (48, 3000)
_AGAIN_SECONDS = 2.0


class Cost(NamedTuple):
    """What a run took.

    Attributes:
        seconds: CPU time of the command and its children.
        megabytes: peak memory of its largest process.
        stored: bytes of the store.
    """

    seconds: float
    megabytes: float
    stored: int


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("what", choices=("growth", "speed"))
    parser.add_argument("--whole", action="store_true", help="up to 500 systems x 3000 segments")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if args.what == "growth":
            growth(Path(folder), whole=args.whole)
        else:
            speed(Path(folder))


def growth(folder: Path, *, whole: bool) -> None:
    """Time, memory and store along systems and along segments, relative to the smallest."""
    ladders = _WHOLE if whole else _SMALL
    sizes = list(zip(*(step for steps in ladders.values() for step in steps), strict=True))
    largest = corpus(folder, max(sizes[0]), max(sizes[1]))
    _cost(largest, folder, 2, 300)  # what is loaded once does not count
    measured: dict[tuple[int, int], Cost] = {}
    lines = ["| grows | size | by | time | memory | store |", "|---|---|---|---|---|---|"]
    said = []
    for name, steps in ladders.items():
        for step in steps:
            if step not in measured:
                measured[step] = _cost(largest, folder, *step)
                print(f"{step[0]} x {step[1]}: {measured[step]}", file=sys.stderr, flush=True)
        works = [systems * segments for systems, segments in steps]
        costs = [measured[step] for step in steps]
        lines += [
            f"| {name} | {step[0]} x {step[1]} | x{work / works[0]:.1f} |"
            f" {_relative(cost, costs[0])} |"
            for step, work, cost in zip(steps, works, costs, strict=True)
        ]
        said.append(_exponents(name, works, costs))
    note = (
        f"Systems x segments, {_FEATURES} features; scores and MuLER of BLEU from label files, one"
        " worker; CPU time and peak memory of the whole command, start-up included, and bytes of"
        " the store, relative to the smallest of each group."
    )
    keep("study" if whole else "study_small", [*lines, "", *said, "", note])


def _cost(largest: Path, folder: Path, systems: int, segments: int) -> Cost:
    part_folder = folder / "part"
    for file in largest.rglob("*.*"):
        number = file.stem.partition("-")[2]
        if file.is_file() and not (number and int(number) >= systems):
            target = part_folder / file.relative_to(largest)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(_head(file, segments), encoding="utf-8")
    seconds, megabytes = command(_run(part_folder / "study.toml", "--engine", "here"))
    stored = sum(file.stat().st_size for file in (part_folder / "study.store").rglob("*.*"))
    shutil.rmtree(part_folder)
    return Cost(seconds, megabytes, stored)


def _head(file: Path, segments: int) -> str:
    with file.open(encoding="utf-8", newline="\n") as lines:
        return "".join(lines if file.suffix == ".toml" else islice(lines, segments))


def _relative(cost: Cost, first: Cost) -> str:
    return " | ".join(f"x{value / other:.1f}" for value, other in zip(cost, first, strict=True))


def _exponents(name: str, works: Sequence[int], costs: Sequence[Cost]) -> str:
    """How each cost grows: the slope of logarithms, over all steps and over the last one."""
    parts = []
    for field, values in zip(("time", "memory", "store"), zip(*costs, strict=True), strict=True):
        x, y = [math.log(work) for work in works], [math.log(value) for value in values]
        whole = statistics.linear_regression(x, y).slope
        (x0, x1), (y0, y1) = list(pairwise(x))[-1], list(pairwise(y))[-1]
        parts.append(f"{field} {whole:.2f} (last step {(y1 - y0) / (x1 - x0):.2f})")
    return f"- along {name}, cost ~ size^e with e: {', '.join(parts)}"


def corpus(folder: Path, systems: int, segments: int, *, chosen: str = "") -> Path:
    """A folder with a test set, its labels and a study of both."""
    folder_of_corpus = folder / "corpus"
    script = ROOT / "scripts" / "study_corpus.py"
    sizes = ("--systems", systems, "--segments", segments, "--features", _FEATURES)
    subprocess.run([sys.executable, script, folder_of_corpus, *map(str, sizes)], check=True)
    (folder_of_corpus / "study.toml").write_text(_STUDY.format(chosen=chosen), encoding="utf-8")
    return folder_of_corpus


def speed(folder: Path) -> None:
    """Two workers and one, Dask and the pool, an unchanged study, one more system."""
    study_folder = corpus(folder, *_COMPARED)
    lines = ["| what | measured | wanted | results |", "|---|---|---|---|"]
    one, two, dask = _engines(study_folder, "one", "two", "dask")
    larger = corpus(folder / "larger", *_LARGER)
    longer, halved = _engines(larger, "one", "two")
    again, alone, more = _more(study_folder)
    unchanged = f"{again / _AGAIN_SECONDS:.2f} of {_AGAIN_SECONDS:.0f} s"
    lines += [
        f"| one worker / two workers | {one / two:.2f}x | - | the same |",
        f"| the same, {_LARGER[1]} segments | {longer / halved:.2f}x | at least 1.8x | the same |",
        f"| Dask / pool, two workers each | {dask / two:.2f}x | at most 1.3x | the same |",
        f"| unchanged study | {unchanged} | at most 1 | nothing is done |",
        f"| one more system / a study of it alone | {alone:.2f}x | about 1x | the same |",
        f"| one more / one of the first, start-up aside | {more:.2f}x | at most 2x | its own |",
    ]
    note = (
        f"{_COMPARED[0]} systems x {_COMPARED[1]} segments x {_FEATURES} features, BLEU and its"
        f" MuLER; whole commands in turn, medians of {ROUNDS} rounds; engines by wall clock, the"
        " rest by CPU time. The cluster is new in each round, and its start does not count."
    )
    keep("study_speed", [*lines, "", note])


def _engines(place: Path, *names: str) -> list[float]:
    """Seconds with one worker, with two, with two of a Dask cluster; their results are equal."""
    spent: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(ROUNDS):
        rows = []
        for name, seconds in spent.items():
            shutil.rmtree(place / "study.store", ignore_errors=True)
            seconds.append(_on(name, place / "study.toml"))
            rows.append(results(place / "study.store"))
        if any(one != rows[0] for one in rows):
            raise SystemExit("results differ between engines")
    return [statistics.median(seconds) for seconds in spent.values()]


def _on(name: str, study: Path) -> float:
    if name != "dask":
        return wall(_run(study, "--workers", "1" if name == "one" else "2"))
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address.removeprefix("tcp://")
        return wall(_run(study, "--engine", f"dask://{address}"))


def _more(place: Path) -> tuple[float, float, float]:
    """CPU seconds of an unchanged study; a further system in shares of itself alone, of another."""
    fewer = _COMPARED[0] - 1
    name = f"system-{fewer:03d}"
    late, kept = place / "testset" / "systems" / f"{name}.txt", place / f"{name}.txt"
    (place / "alone.toml").write_text(_STUDY.format(chosen=f'systems = ["{name}"]'))
    late.replace(kept)
    spent = []
    for _ in range(ROUNDS):
        for store in place.glob("*.store"):
            shutil.rmtree(store)
        whole, same = _here(place / "study.toml"), _here(place / "study.toml")
        shutil.copyfile(kept, late)
        added, alone = _here(place / "study.toml"), _here(place / "alone.toml")
        if _of(place / "study.store", name) != results(place / "alone.store"):
            raise SystemExit("results differ between a system alone and among others")
        late.unlink()
        spent.append((same, added / alone, (added - same) / ((whole - same) / fewer)))
    again, lone, share = (statistics.median(values) for values in zip(*spent, strict=True))
    return again, lone, share


def _here(study: Path) -> float:
    return command(_run(study, "--engine", "here"))[0]


def _of(store: Path, system: str) -> list[tuple[object, ...]]:
    return [row for row in results(store) if system in row]


def _run(study: Path, *options: str) -> list[str | Path]:
    return [program("gnomon"), "run", study, *options, "-q", "-f", "json"]


def wall(arguments: Sequence[str | Path]) -> float:
    """Wall-clock seconds of a command."""
    begun = time.perf_counter()
    subprocess.run(list(map(str, arguments)), check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def results(folder: Path) -> list[tuple[object, ...]]:
    """All scores and figures of a store."""
    from gnomon.studies import Store

    store: Store = Store.open(folder)
    tables = ("scores", "segments", "muler")
    return [row for name in tables for row in store.query(f"from {name} order by all").rows]


if __name__ == "__main__":
    main()
