"""How often MuLER is wrong somewhere, over features of unequal frequency and all pairs of systems.

    python scripts/muler_levels.py --draws 400 > table.md

Every system loses its own share of what each segment with a feature could give, drawn alike for all
systems: none is better on anything. A row counts the draws in which any comparison of any feature
and pair is decided, and those in which any is a finding: decided where the words differ, too.
"""

from __future__ import annotations

import argparse
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gnomon.core.options import DrawOptions
from gnomon.core.verdicts import LEAST
from gnomon.muler.pairs import FeatureRatios, Units, compared

#: frequent features, and rare ones: shares of the segments that have them
FREQUENT, RARE = (0.9, 0.6, 0.4), (0.12, 0.06, 0.03)
_CONFIDENCE = 0.95


class LevelCounts(NamedTuple):
    """Draws in which anything is decided, and a finding; comparisons that are tested in a draw."""

    decided: int
    found: int
    tested: float


def level_counts(
    systems: int, segments: int, *, draws: int, documents: int = 0, resamples: int = 999
) -> LevelCounts:
    """The counts of one row; the seeds are 0, 1, 2, ...

    Args:
        systems: how many there are.
        segments: likewise.
        draws: how often.
        documents: of so many segments each, which lose alike; 0: none.
        resamples: of the segments, or of the documents.
    """
    decided = found = tested = 0
    pairs = list(combinations(range(systems), 2))
    for seed in range(draws):
        draw = np.random.default_rng(seed)
        document = np.arange(segments) // documents if documents else None
        units = Units.create(segments, document)
        features = []
        for number, share in enumerate((*FREQUENT, *RARE)):
            there = draw.random(segments) < share
            inside = np.broadcast_to(there, (systems, segments))
            spread = draw.gamma(2, 0.1, segments) * np.ones((systems, 1))
            lost = _lost(draw, (systems, segments), document)
            differ = np.array([(lost[a] != lost[b]) & there for a, b in pairs])
            features.append(
                FeatureRatios.select(str(number), (lost * spread, spread), inside, differ, units)
            )
        result = compared(features, units, DrawOptions(resamples, _CONFIDENCE, seed), LEAST)
        said = np.array([one is True for one in result.family.decided])
        holds = np.concatenate([one.p_words for one in features]) <= 1 - _CONFIDENCE
        decided += bool(said.any())
        found += bool((said & holds).any())
        tested += sum(one is not None for one in result.family.decided)
    return LevelCounts(decided, found, tested / draws)


def _lost(
    draw: np.random.Generator, shape: tuple[int, int], document: np.ndarray | None
) -> np.ndarray:
    """Shares that are lost: nothing in half of the segments, as words are right or wrong."""
    odds = draw.random(shape)
    if document is not None:
        odds = (odds + draw.random((shape[0], int(document.max()) + 1))[:, document]) / 2
    return np.where(odds < 0.5, 0.0, draw.beta(1, 2, shape))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=400)
    args = parser.parse_args()
    print("| systems | segments | unit | draws | tested | any decided | any finding |")
    print("|---|---|---|---|---|---|---|")
    cells = [(k, n, 0) for k in (2, 5) for n in (30, 100, 300, 2000)]
    for k, n, documents in (*cells, (2, 300, 5), (5, 300, 5)):
        draws = args.draws // (4 if n == 2000 and k == 5 else 1)
        found = level_counts(k, n, draws=draws, documents=documents)
        unit = f"{n // documents} documents" if documents else "segments"
        print(
            f"| {k} | {n:,} | {unit} | {draws} | {found.tested:.1f} | {found.decided / draws:.3f}"
            f" | {found.found / draws:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
