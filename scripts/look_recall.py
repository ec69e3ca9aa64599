"""How often wrong files are found that were planted in published sets, by how much is wrong.

    python scripts/look_recall.py FOLDER...    # test sets; some of benchmarks/wrong-files.md

In each set every system, up to eight of them, is damaged in turn, in a share of its lines.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

import gnomon as gn
from gnomon.core.data_cautions import doubtful_systems

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SHARES = (0.05, 0.1, 0.2, 0.3, 0.6)
SYSTEMS = 8


def shuffled(texts: Sequence[str], _source: Sequence[str], some: list[int]) -> list[str]:
    """Some lines stand in each other's place."""
    made, turned = list(texts), [*some[1:], *some[:1]]
    for place, line in zip(some, turned, strict=True):
        made[place] = texts[line]
    return made


def shifted(texts: Sequence[str], _source: Sequence[str], some: list[int]) -> list[str]:
    """As many lines at the end stand one line up."""
    first = len(texts) - len(some)
    return [*texts[:first], *texts[first + 1 :], texts[-1]]


def doubled(texts: Sequence[str], _source: Sequence[str], some: list[int]) -> list[str]:
    """Some lines hold their text twice."""
    return [f"{text} {text}" if n in set(some) else text for n, text in enumerate(texts)]


def untranslated(texts: Sequence[str], source: Sequence[str], some: list[int]) -> list[str]:
    """Some lines are the source."""
    return [source[n] if n in set(some) else text for n, text in enumerate(texts)]


PLANTED: dict[str, Callable[[Sequence[str], Sequence[str], list[int]], list[str]]] = {
    "lines in another order": shuffled,
    "lines shifted by one, to the end of the file": shifted,
    "texts doubled within their line": doubled,
    "source in place of the output": untranslated,
    "the same, and the sources are not given": untranslated,
}


def recall(folders: Sequence[str]) -> tuple[dict[str, list[int]], int]:
    """How many systems are found with each kind of damage, share by share; of how many."""
    found: Counter[tuple[str, float]] = Counter()
    tried = 0
    for folder in folders:
        whole = gn.TestSet.read(folder)
        source, references = list(whole.sources or ()), dict(whole.references)
        wrong = doubtful_systems(whole.anomalies)
        for number, name in enumerate([n for n in whole.systems if n not in wrong][:SYSTEMS]):
            tried += 1
            texts = list(whole.systems[name])
            order = np.random.default_rng(number).permutation(len(texts)).tolist()
            for what, damage in PLANTED.items():
                given = None if "not given" in what else source
                for share in SHARES:
                    made = damage(texts, source, sorted(order[: round(share * len(texts))]))
                    planted = gn.TestSet(
                        name="planted", systems={name: made}, references=references, sources=given
                    )
                    found[what, share] += name in doubtful_systems(planted.anomalies)
    return {what: [found[what, share] for share in SHARES] for what in PLANTED}, tried


def main(folders: Sequence[str]) -> None:
    """Print a row for each kind of damage."""
    found, tried = recall(folders)
    print("|", " | ".join(["planted", *(f"{100 * share:.0f} %" for share in SHARES)]), "|")
    for what, counts in found.items():
        print("|", " | ".join([what, *map(str, counts)]), "|")
    print(f"of {tried} systems in {len(folders)} sets")


if __name__ == "__main__":
    main(sys.argv[1:])
