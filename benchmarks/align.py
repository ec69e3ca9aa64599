"""Boundaries that free alignment restores, and its time, beside mweralign (``align.md``).

    python benchmarks/align.py WMT24 [--systems 3] [--mweralign PYTHON]

``WMT24`` holds folders of language pairs. The segments of each document of an output, or of the
whole file, are joined by a space, and by nothing between Chinese and Japanese; who aligns gets
this one line and the reference, and a boundary is restored where as many characters stand before
it as in the output, spaces left out. Both programs take turns, three times each; the least CPU
time counts. ``mweralign`` runs without a model of pieces, and gets characters, parted by spaces,
for Japanese.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from itertools import groupby, islice
from pathlib import Path

from gnomon.alignment.boundaries import align_boundaries, habits_of, words_of
from gnomon.alignment.joining import join_pieces

ROUNDS = 3
#: of both pairs
SYSTEMS = (
    "Claude-3.5",
    "Aya23",
    "GPT-4",
    "CommandR-plus",
    "ONLINE-W",
    "Unbabel-Tower70B",
    "IOL-Research",
)
OTHER = """
import json, sys, time
import mweralign
tasks = json.load(sys.stdin)
found, begin = [], time.process_time()
for reference, output in tasks:
    found.append(mweralign.align_texts(reference, output))
json.dump([time.process_time() - begin, found], sys.stdout)
"""


def lines_of(path: Path) -> list[str]:
    """The lines of a file."""
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def cuts(texts: list[str]) -> list[int]:
    """How many characters stand before each text but the first."""
    lengths = [len("".join(text.split())) for text in texts]
    return [sum(lengths[:k]) for k in range(1, len(lengths))]


def spread(text: str, pair: str) -> str:
    """A text as mweralign takes it: words, or characters of Japanese, parted by spaces."""
    return " ".join("".join(text.split())) if pair.endswith(("ja", "zh")) else text


def other(python: str, tasks: list[tuple[str, str]]) -> tuple[float, list[list[str]]]:
    """The time of mweralign, and what it found."""
    run = subprocess.run(
        [python, "-c", OTHER], input=json.dumps(tasks), capture_output=True, text=True, check=True
    )
    seconds, found = json.loads(run.stdout[run.stdout.index("[") :])
    return seconds, [one.split("\n") if isinstance(one, str) else one for one in found]


def row(folder: Path, args: argparse.Namespace, guide: str, *, whole: bool) -> str:
    """One row of the table."""
    documents = [line.split("\t")[1] for line in lines_of(folder / "documents.tsv")[1:]]
    sizes = [len(documents)] if whole else [len(list(some)) for _, some in groupby(documents)]
    path = folder / "ref.A.txt" if guide == "reference" else folder / "systems" / f"{guide}.txt"
    theirs = lines_of(path)
    tasks = []
    for name in islice((one for one in SYSTEMS if one != guide), args.systems):
        own, start = lines_of(folder / "systems" / f"{name}.txt"), 0
        for size in sizes:
            some = slice(start, start + size)
            if size > 1 and all(map(str.strip, own[some])):
                tasks.append((own[some], theirs[some]))
            start += size
    wanted = [cuts(own) for own, _ in tasks]
    least = [float("inf")] * 2
    restored = [0, 0]
    for _ in range(ROUNDS):
        words_of.cache_clear()
        begin = time.process_time()
        habits = habits_of(theirs)
        found = [align_boundaries([join_pieces(own)], guide, habits) for own, guide in tasks]
        least[0] = min(least[0], time.process_time() - begin)
        results = [[list(one.texts) for one in found]]
        if args.mweralign:
            given = [
                ("\n".join(spread(one, folder.name) for one in guide),
                 spread(join_pieces(own), folder.name))
                for own, guide in tasks
            ]  # fmt: skip
            seconds, texts = other(args.mweralign, given)
            least[1] = min(least[1], seconds)
            results.append(texts)
        restored = [
            sum(
                a == b
                for one, cut in zip(result, wanted, strict=True)
                for a, b in zip(cuts(one), cut, strict=False)
            )
            for result in results
        ] + [0]
    every = sum(map(len, wanted))
    doubtful = sum(len(one.uncertain) for one in found) / every
    peer = f"{restored[1] / every:.1%} | {least[1]:.2f}" if args.mweralign else "- | -"
    unit = "whole file" if whole else "documents"
    return (
        f"| {folder.name} | {unit} | {guide} | {every:,} | {restored[0] / every:.1%} |"
        f" {doubtful:.1%} | {least[0]:.2f} | {peer} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wmt24", type=Path)
    parser.add_argument("--systems", type=int, default=3)
    parser.add_argument("--mweralign", help="a Python that has it")
    parser.add_argument("--guide", default="reference", help="or the name of a system")
    parser.add_argument("--documents", action="store_true", help="no whole files")
    args = parser.parse_args()
    print(
        "| pair | joined by | guide | boundaries | restored | uncertain | s | mweralign | s |\n"
        "|---|---|---|---|---|---|---|---|---|"
    )
    for folder in sorted(args.wmt24.iterdir()):
        for whole in (False,) if args.documents else (False, True):
            print(row(folder, args, args.guide, whole=whole), flush=True)


if __name__ == "__main__":
    sys.exit(main())
