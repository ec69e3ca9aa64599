"""How well lists of lines are aligned, by operations that are planted in outputs of published sets.

    python scripts/align_figures.py FOLDER... [--systems 8] [--lines 100000]

Two in 100 lines of each system are joined with the next, as many cut near their middle, left out,
and preceded by a line of another text. The figures: precision and recall of these operations, lines
whose text is the right one, boundaries that are uncertain, and wrong lines beside these. Then a
merged line in each of twelve files of 209 lines, files without any operation, and the time for
many lines.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import gnomon as gn
from gnomon.alignment.joining import join_pieces
from gnomon.alignment.lines import align_lines
from gnomon.core.alignments import LARGEST_DOUBT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.core.alignments import Alignment

KINDS = ("merge", "split", "drop", "add")
RATE = 0.02
_TRIALS, _FEW = 12, 209
_LONG_ENOUGH = 20  # characters of a line that is cut


class Planted(NamedTuple):
    """An output with operations."""

    lines: list[str]
    texts: list[str]  # the right text of each segment
    operations: set[tuple[str, int]]  # kind, and segment or line


def plant(texts: Sequence[str], others: Sequence[str], rate: float, draw: random.Random) -> Planted:
    """An output in which lines are joined, cut, left out and added."""
    made = Planted([], list(texts), set())
    i = 0
    while i < len(texts):
        drawn = int(draw.random() / rate) if rate else len(KINDS)
        kind = KINDS[drawn] if drawn < len(KINDS) and texts[i].strip() else ""
        cut = _middle(texts[i])
        if kind == "merge" and i + 1 < len(texts) and texts[i + 1].strip():
            made.lines.append(join_pieces(texts[i : i + 2]))
            made.operations.update({(kind, i), (kind, i + 1)})
            i += 2
            continue
        if kind == "split" and len(texts[i]) > _LONG_ENOUGH and cut:
            made.lines.extend([texts[i][:cut].strip(), texts[i][cut:].strip()])
            made.operations.add((kind, i))
        elif kind == "drop":
            made.operations.add((kind, i))
            made.texts[i] = ""
        else:
            if kind == "add":
                made.operations.add((kind, len(made.lines)))
                made.lines.append(draw.choice(others))
            made.lines.append(texts[i])
        i += 1
    return made


def _middle(text: str) -> int:
    """Where a text is cut: behind a sign, else at a space, next to its middle; 0 for nowhere."""
    places = [i for i in range(1, len(text)) if text[i - 1] in ".!?。！？,、;:"]
    places = places or [i for i in range(1, len(text)) if text[i].isspace()]
    near = min(places or [0], key=lambda i: abs(i - len(text) / 2))
    return near if text[near:].strip() else 0


class Counts(Counter[str]):
    """What was found of what was planted."""

    def add(self, planted: Planted, found: Alignment) -> None:
        """Count one output."""
        there: set[tuple[str, int]] = {
            (kind, i)
            for i, kind in enumerate(found.operations)
            if kind != "match" and (planted.texts[i].strip() or ("drop", i) in planted.operations)
        }
        there |= {("add", number) for number in found.added}
        for kind in KINDS:
            self[f"{kind} right"] += sum(one[0] == kind for one in there & planted.operations)
            self[f"{kind} found"] += sum(one[0] == kind for one in there)
            self[f"{kind} planted"] += sum(one[0] == kind for one in planted.operations)
        pairs = zip(found.texts, planted.texts, strict=True)
        wrong = [i for i, (a, b) in enumerate(pairs) if a.split() != b.split()]
        self["lines"] += len(found.texts)
        self["wrong"] += len(wrong)
        self["wrong, uncertain"] += sum(i in found.uncertain_segments for i in wrong)
        self["uncertain"] += len(found.uncertain)

    def __str__(self) -> str:
        def share(a: str, b: str) -> float:
            return self[a] / max(1, self[b])

        for word in ("right", "found", "planted"):
            self[word] = sum(self[f"{kind} {word}"] for kind in KINDS)
        kinds = ", ".join(
            f"{k} {share(f'{k} right', f'{k} found'):.2f} {share(f'{k} right', f'{k} planted'):.2f}"
            for k in KINDS
        )
        return (
            f"precision {share('right', 'found'):.3f}, recall {share('right', 'planted'):.3f}"
            f" ({kinds}); right text {1 - share('wrong', 'lines'):.1%};"
            f" uncertain {share('uncertain', 'lines'):.1%}, of wrong lines"
            f" {share('wrong, uncertain', 'wrong'):.0%}"
        )


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--systems", type=int, default=8)
    parser.add_argument("--lines", type=int, default=0, help="also the time for so many lines")
    args = parser.parse_args()
    for folder in args.folders:
        ts = gn.TestSet.read(folder, human="readable")
        reference = [text or "" for text in next(iter(ts.references.values()))]
        names = list(ts.systems)
        names = names[:: max(1, len(names) // args.systems)][: args.systems]
        others = [
            a[len(a) // 3 :] + b[: len(b) // 3]
            for a, b in zip(reference[::7], reference[3::7], strict=False)
            if len(a) > 2 * _LONG_ENOUGH
        ]
        counts, untouched, draw = Counts(), Counts(), random.Random(1)  # noqa: S311
        begin, refused = time.perf_counter(), []
        for name in names:
            planted = plant(ts.systems[name], others, RATE, draw)
            found = align_lines(planted.lines, reference)
            if found.doubt > LARGEST_DOUBT:
                print(f"{name} is refused: {found.doubt:.0%} of its boundaries are uncertain")
                refused.append(name)
            else:
                counts.add(planted, found)
        took = (time.perf_counter() - begin) / (len(names) * len(reference) / 1000)
        print(f"{folder} ({len(names)} systems): {counts}; {took:.2f} s for 1,000 lines")
        names = [name for name in names if name not in refused]
        for name in names:
            planted = plant(ts.systems[name], others, 0.0, draw)
            untouched.add(planted, align_lines(planted.lines, reference))
        print(f"  without operations: {untouched}, {untouched['found']} found")
        print(f"  one merged line: {_one_merge(ts, reference, names, draw)} of {_TRIALS} trials")
        if args.lines:
            times = -(-args.lines // len(reference))
            many = [f"{text} {k}" for k in range(times) for text in reference]
            texts = [f"{text} {k}" for k in range(times) for text in ts.systems[names[0]]]
            planted = plant(texts, others, RATE, draw)
            begin = time.perf_counter()
            several = Counts()
            several.add(planted, align_lines(planted.lines, many))
            print(f"  {len(many):,} lines: {time.perf_counter() - begin:.1f} s, {several}")


def _one_merge(
    ts: gn.TestSet, reference: Sequence[str], names: Sequence[str], draw: random.Random
) -> int:
    """In how many files of some lines one merged line is found, and nothing else."""
    found = 0
    for trial in range(_TRIALS):
        start = draw.randrange(max(1, len(reference) - _FEW))
        texts = ts.systems[names[trial % len(names)]][start : start + _FEW]
        filled = [i for i in range(len(texts) - 1) if texts[i].strip() and texts[i + 1].strip()]
        at = draw.choice(filled)
        lines = [*texts[:at], join_pieces(texts[at : at + 2]), *texts[at + 2 :]]
        aligned = align_lines(lines, reference[start : start + _FEW])
        there = {i for i, kind in enumerate(aligned.operations) if kind != "match"}
        empty = {i for i, text in enumerate(texts) if not text.strip()}
        found += there - empty == {at, at + 1} and not aligned.added
    return found


if __name__ == "__main__":
    main()
