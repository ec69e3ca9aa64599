"""Section 3.4 of Bawden et al. (2020): gains from paraphrases that other systems ask for.

    python papers/paraphrase/half_splits.py wmt19/de-en bleu --first 500 [--model FOLDER]

Systems are split into halves at random. The better half of the first one, by people's scores, gives
the n-grams that paraphrases are to hold; the gain is that of Pearson's r over the second half. This
is an oracle method: people's scores say which systems give the n-grams.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

from gnomon import TestSet, paraphrase, score, stats
from gnomon.paraphrase.generation import ConstrainedSearch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon import formats


def main(given: Sequence[str] | None = None) -> None:
    """Print a line per split, and the mean, spread and ends of the gain."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("testset")
    parser.add_argument("metric")
    parser.add_argument("--human")
    parser.add_argument("--first", type=int, help="the first segments alone")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--model", help="folder of a model; without, outputs are the paraphrases")
    parser.add_argument("--seed", type=int, default=12345)
    args = parser.parse_args(given)
    testset = TestSet.read(args.testset)
    if args.first:
        testset = testset.select(segments=range(args.first))
    kind = args.human or testset.human_kinds("system")[0]
    scores = dict(zip(testset.systems, testset.human_scores(kind, "system"), strict=True))
    people = {name: value for name, value in scores.items() if np.isfinite(value)}
    draw = np.random.default_rng(args.seed)
    gains = []
    print("split", "constraints", "paraphrases", "base", "with", "gain", sep="\t")
    for number in range(1, args.splits + 1):
        giving, judged = halves(testset, people, draw)
        asked = paraphrase.output_constraints(giving)
        made = (
            by_model(giving, asked, args.model)
            if args.model
            else paraphrase.select_outputs(giving, asked)
        )
        base = agreement(judged, args.metric, people)
        value = agreement(judged.with_paraphrases(made), args.metric, people) if made else base
        gains.append(value - base)
        row = (f"{base:.4f}", f"{value:.4f}", f"{value - base:+.4f}")
        print(number, len(asked), len(made), *row, sep="\t")
    print(f"mean {np.mean(gains):+.4f}, standard deviation {np.std(gains, ddof=1):.4f}", end=", ")
    better = sum(gain > 0 for gain in gains)
    print(f"{min(gains):+.4f} to {max(gains):+.4f}, {better} of {len(gains)} better")


def halves(
    testset: TestSet, people: Mapping[str, float], draw: np.random.Generator
) -> tuple[TestSet, TestSet]:
    """The better half of one random half of the systems, and the other half."""
    names = list(people)
    order = [names[i] for i in draw.permutation(len(names))]
    half = len(names) // 2
    best = sorted(order[:half], key=lambda name: -people[name])[: (half + 1) // 2]
    giving, judged = (
        testset.select(systems=[name for name in names if name in chosen])
        for chosen in (best, order[half:])
    )
    return giving, judged


def by_model(
    testset: TestSet, asked: Sequence[paraphrase.Constraint], model: str
) -> tuple[formats.Paraphrase, ...]:
    """A paraphrase for each n-gram that the model can reach."""
    search = ConstrainedSearch(constraints=tuple(asked))
    work = paraphrase.plan(testset, search, model=model, keep_duplicates=True)
    return tuple(dict.fromkeys(p for batch in work.batches() for g in batch.groups for p in g))


def agreement(testset: TestSet, metric: str, people: Mapping[str, float]) -> float:
    """Pearson's r of a metric with people's scores of systems."""
    scored = score(testset, metric)
    sign = 1 if scored.higher_is_better else -1
    wanted = np.array([people[name] for name in testset.systems])
    return float(stats.pearson(wanted, sign * np.asarray(scored.system)))


if __name__ == "__main__":
    main()
