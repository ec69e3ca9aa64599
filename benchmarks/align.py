"""Boundaries that free alignment restores, and its time, beside mweralign.

``python benchmarks/align.py`` prints the table and writes it to ``benchmarks/align.md``. It needs
WMT24 in the folder named by ``GNOMON_SHARED`` (default ``../shared``), and ``GNOMON_MWERALIGN``,
the Python of an environment with mweralign (``pip install mweralign``); without either it says so,
and writes nothing.

The segments of each document of an output, or of the whole file, are joined by a space, and by
nothing between Chinese and Japanese; who aligns gets this one line and the guide. A boundary is
restored where as many characters stand before it as in the output, spaces left out. Both programs
take turns; the least CPU time counts. mweralign runs without a model of pieces, and gets
characters, parted by spaces, for Japanese.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from itertools import groupby
from typing import TYPE_CHECKING

from _measure import ROUNDS, SHARED, keep

from gnomon.alignment.boundaries import align_boundaries, habits_of, words_of
from gnomon.alignment.joining import join_pieces

if TYPE_CHECKING:
    from pathlib import Path

#: systems of both pairs, the first of which guides
SYSTEMS = ("Unbabel-Tower70B", "Claude-3.5", "Aya23", "GPT-4", "CommandR-plus", "ONLINE-W")
REFERENCE = "reference"
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


def row(folder: Path, peer: str, guide: str, *, whole: bool) -> str:
    """One row of the table: of a whole file one system, and one turn of the peer."""
    documents = [line.split("\t")[1] for line in lines_of(folder / "documents.tsv")[1:]]
    sizes = [len(documents)] if whole else [len(list(some)) for _, some in groupby(documents)]
    path = folder / "ref.A.txt" if guide == REFERENCE else folder / "systems" / f"{guide}.txt"
    theirs = lines_of(path)
    tasks = []
    for name in SYSTEMS[1:2] if whole else SYSTEMS[1:]:
        own, start = lines_of(folder / "systems" / f"{name}.txt"), 0
        for size in sizes:
            some = slice(start, start + size)
            if size > 1 and all(map(str.strip, own[some])):
                tasks.append((own[some], theirs[some]))
            start += size
    wanted = [cuts(own) for own, _ in tasks]
    least = [float("inf")] * 2
    for turn in range(ROUNDS):
        words_of.cache_clear()
        begin = time.process_time()
        habits = habits_of(theirs)
        found = [align_boundaries([join_pieces(own)], guide, habits) for own, guide in tasks]
        least[0] = min(least[0], time.process_time() - begin)
        if guide == REFERENCE and not (whole and turn):
            given = [
                ("\n".join(spread(one, folder.name) for one in guide),
                 spread(join_pieces(own), folder.name))
                for own, guide in tasks
            ]  # fmt: skip
            seconds, texts = other(peer, given)
            least[1] = min(least[1], seconds)
    every = sum(map(len, wanted))
    doubtful = sum(len(one.uncertain) for one in found) / every
    ours = restored([list(one.texts) for one in found], wanted) / every
    beside = (
        f"{restored(texts, wanted) / every:.1%} | {least[1]:.2f}" if guide == REFERENCE else "|"
    )
    unit = "whole file" if whole else "documents"
    return (
        f"| {folder.name} | {unit} | {guide} | {every:,} | {ours:.1%} |"
        f" {doubtful:.1%} | {least[0]:.2f} | {beside} |"
    )


def restored(found: list[list[str]], wanted: list[list[int]]) -> int:
    """How many boundaries are where they were."""
    return sum(
        a == b
        for one, cut in zip(found, wanted, strict=True)
        for a, b in zip(cuts(one), cut, strict=False)
    )


def main() -> None:
    """Measure and write."""
    peer, folder = os.environ.get("GNOMON_MWERALIGN"), SHARED / "data" / "wmt24"
    if not peer or not folder.is_dir():
        print(
            f"align: left out: it needs {folder}, and GNOMON_MWERALIGN, the Python of an"
            " environment with mweralign (python -m venv ENV; ENV/bin/pip install mweralign)"
        )
        return
    lines = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    for pair in sorted(folder.iterdir()):
        for whole in (False, True):
            lines += [row(pair, peer, guide, whole=whole) for guide in (REFERENCE, SYSTEMS[0])]
    keep("align", [*lines, SAID])


COLUMNS = (
    *("pair", "joined by", "guide", "boundaries", "restored", "uncertain", "seconds"),
    *("by mweralign", "seconds"),
)
SAID = """
Outputs of WMT24 without lines, cut again: five systems by document, one as a whole file; CPU
time. Segments are joined by a space, Japanese ones by nothing; a boundary is restored where as many
characters stand before it as in the output. A guide is what outputs are aligned with. mweralign
gets words, or characters of Japanese, and no model of pieces of words."""


if __name__ == "__main__":
    sys.exit(main())
