"""Making and scoring minimal pairs, against sacreBLEU's scores of the same pairs.

``python benchmarks/stress.py`` prints the table and writes it to ``benchmarks/stress.md``. It puts
all usual perturbations for English into one system's outputs of WMT19 de-en where the folder named
by ``GNOMON_SHARED`` (default ``../shared``) holds it, else of the bundled example. Tags are kept
from a run before.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from _measure import ROUNDS, compare, cpu, wmt, write
from sacrebleu.metrics import BLEU, CHRF

import gnomon as gn
from gnomon.core.cache import Cache
from gnomon.core.options import SEED
from gnomon.linguistics import FeatureSources
from gnomon.stress.figures import StressRow
from gnomon.stress.own_texts import TextChoice, make_own_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.core.findings import Finding
    from gnomon.core.minimal_pairs import Pair

_SEGMENTS = 1000
_PHENOMENON = "missing letters"
_TIES = 1e-6  # as large a difference is none


def sacrebleu_counts(pairs: Sequence[Pair]) -> tuple[int, int]:
    """How many pairs sentence BLEU and chrF of sacreBLEU score in the right order."""
    metrics = (BLEU(effective_order=True), CHRF())
    bleu, chrf = (
        sum(
            metric.sentence_score(pair.good, [*pair.references]).score
            - metric.sentence_score(pair.bad, [*pair.references]).score
            > _TIES
            for pair in pairs
        )
        for metric in metrics
    )
    return bleu, chrf


def counts(finding: Finding) -> tuple[int, ...]:
    """The same counts in gnomon's table."""
    rows = [
        row
        for row in finding.records(StressRow)
        if row.phenomenon == _PHENOMENON and not row.control
    ]
    return tuple(round((row.detected or 0.0) * row.pairs) for row in rows)


def main() -> None:
    """Measure, print, write the table."""
    data = wmt("wmt19/de-en", systems=1, segments=_SEGMENTS)
    testset = gn.TestSet.from_lists(
        dict(data.systems), [*next(iter(data.references.values()))], language_pair="de-en"
    )
    with tempfile.TemporaryDirectory() as folder:
        cache = Cache(Path(folder))

        def ours() -> Finding:
            return gn.stress(testset, ["bleu", "chrf"], limit=_SEGMENTS, cache=cache)

        first, _ = cpu(ours)
        spent, _ = cpu(ours)
        choice = TextChoice(limit=_SEGMENTS)
        pairs = make_own_pairs(testset, choice, FeatureSources(), seed=SEED, cache=cache).pairs
        some = [pair for pair in pairs if pair.phenomenon == _PHENOMENON]
        phenomena = len({pair.phenomenon for pair in pairs})
        row = compare(
            f"BLEU and chrF of {len(pairs):,} pairs of {phenomena} perturbations, which it makes",
            "sacreBLEU's sentence scores of the same pairs",
            "pair",
            (ours, len(pairs)),
            (lambda: sacrebleu_counts(some), len(some)),
            same=lambda one, other: float(counts(one) != other),
        )
    note = (
        f"{data.name}, {testset.segments} segments of one system; CPU time per pair, medians of"
        f" {ROUNDS} interleaved rounds; sacreBLEU scores the {len(some):,} pairs with"
        f" {_PHENOMENON}, and both detect the same number of them. gnomon's time has everything:"
        " changing texts, scores, controls, intervals and penalties. One run took"
        f" {spent:.1f} s of CPU with tags kept, and {first:.1f} s with tagging and loading."
    )
    write("stress", [row], note)


if __name__ == "__main__":
    main()
