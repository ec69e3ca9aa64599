"""How time and memory grow: of MuLER with segments, systems and features, of others with segments.

``python benchmarks/growth.py`` prints tables and writes them to ``benchmarks/growth.md`` and
``benchmarks/memory.md``. Tags are
remembered from an earlier run, so that scoring, not tagging, is what grows. Costs are relative to
the first row of each group; a cost that is linear grows as its factor does, or slower where a
fixed part (start-up, about a second) weighs.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from _measure import command, keep, program, wmt

import gnomon as gn

if TYPE_CHECKING:
    from collections.abc import Sequence

_FEATURES = ("pos:*", "ent:*", "morph:*")


def run(
    folder: Path, systems: int, segments: int, features: tuple[str, ...]
) -> tuple[float, float]:
    """CPU seconds and peak memory of one warm run."""
    data = wmt("wmt19/de-en", systems=systems, segments=segments)
    path = folder / f"{systems}-{segments}"
    if not path.exists():
        data.write(path)
    arguments = [
        *(program("gnomon"), "muler", "-t", path, "-l", "en", "-f", "json", "-q"),
        *("--features", *features),
    ]
    command(arguments)
    return command(arguments)


def main() -> None:
    """Measure, print, write the table."""
    names = features()
    groups = [
        ("segments", [(16, n, _FEATURES) for n in (125, 500, 2000)]),
        ("systems", [(k, 2000, _FEATURES) for k in (1, 4, 16)]),
        ("features", [(16, 2000, tuple(names[:f])) for f in (6, 24, 96)]),
    ]
    lines = ["| grows | by | time | memory |", "|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        for name, steps in groups:
            costs = [run(Path(folder), *step) for step in steps]
            for number, (seconds, megabytes) in enumerate(costs):
                time, size = seconds / costs[0][0], megabytes / costs[0][1]
                lines.append(f"| {name} | x{4**number} | x{time:.1f} | x{size:.1f} |")
    note = (
        "WMT19 de-en, up to 16 systems x 2000 segments x all features; `gnomon muler` with"
        " bootstrap intervals, tags remembered, CPU time and peak memory of the whole command."
    )
    keep("growth", [*lines, "", note])
    memory()


def memory() -> None:
    """Peak memory of commands on 4 systems x 5000 and x 20,000 segments."""
    lines = ["| command | 5000 segments | 20,000 segments | ratio |", "|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        for segments in (5000, 20000):
            enlarged(segments).write(Path(folder, str(segments)))
        for arguments in (
            ("compare", "-m", "bleu"),
            ("compare", "-m", "chrf"),
            ("difficulty", "score", "-m", "bleu"),
            ("difficulty", "words", "-m", "bleu"),
        ):
            megabytes = []
            for name in ("5000", "20000"):
                data = ("-t", Path(folder, name), "-f", "json", "-q")
                megabytes.append(command([program("gnomon"), *arguments, *data])[1])
            name, (small, large) = " ".join(arguments), megabytes
            lines.append(f"| `{name}` | {small:.0f} MB | {large:.0f} MB | {large / small:.2f} |")
    keep("memory", [*lines, "", "Texts of WMT19 de-en, repeated with a word of each changed."])


def enlarged(segments: int) -> gn.TestSet:
    """A test set of any length: real texts, repeated with another word in the place of one."""
    data = wmt("wmt19/de-en", systems=4)

    def texts(given: Sequence[str]) -> list[str]:
        longer = []
        for number in range(segments):
            words = given[number % len(given)].split() or ["-"]
            if number >= len(given):
                words[number % len(words)] = f"w{number % 3000}"
            longer.append(" ".join(words))
        return longer

    [reference] = data.references.values()
    return gn.TestSet.from_lists(
        {name: texts(outputs) for name, outputs in data.systems.items()},
        texts([str(text) for text in reference]),
        language_pair="en",
        name=f"{data.name} x {segments}",
    )


def features() -> list[str]:
    """The features of the whole set, the most frequent first."""
    import numpy as np

    from gnomon.core import cache
    from gnomon.linguistics import annotate

    texts = wmt("wmt19/de-en").batch().texts
    kept = cache.Cache(cache.default_path())
    spans = annotate(texts, _FEATURES, language="en", cache=kept).spans
    counts = np.bincount(spans.feature, minlength=len(spans.features))
    return [spans.features[i] for i in np.argsort(-counts, kind="stable")]


if __name__ == "__main__":
    main()
