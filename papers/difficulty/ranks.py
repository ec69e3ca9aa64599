"""Table 2 of Zhan et al. (2021): ranks of systems by people, without weights, and with them.

python papers/difficulty/ranks.py wmt19/de-en "bertscore(model='FOLDER')" [--human da-z]
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from gnomon import TestSet, metaeval

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(given: Sequence[str] | None = None) -> None:
    """Print a line per system, best first by people, and the sums of the differences."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("testset")
    parser.add_argument("metric")
    parser.add_argument("--human")
    args = parser.parse_args(given)
    metrics = [f"difficulty({args.metric}, weighted=False)", f"difficulty({args.metric})"]
    found = metaeval.metaeval(
        TestSet.read(args.testset),
        {"base": metrics[0], "weighted": metrics[1]},
        human=[args.human] if args.human else (),
        levels=["system"],
        statistics=["pearson"],
        resamples=0,
    )
    rows = found.table("systems").rows
    columns: dict[str, dict[Any, Any]] = {
        "people": {row["system"]: row["human_score"] for row in rows},
        "base": {row["system"]: row["score"] for row in rows if row["metric"] == "base"},
        "weighted": {row["system"]: row["score"] for row in rows if row["metric"] == "weighted"},
    }
    ranks = {name: places(scores) for name, scores in columns.items()}
    print("system", "human", "base", "(off by)", "weighted", "(off by)", sep="\t")
    for system, place in ranks["people"].items():
        base, weighted = ranks["base"][system], ranks["weighted"][system]
        print(system, place, base, place - base, weighted, place - weighted, sep="\t")
    for name in ("base", "weighted"):
        off = sum(abs(place - ranks[name][system]) for system, place in ranks["people"].items())
        print(f"sum of differences, {name}: {off}")


def places(scores: dict[str, float]) -> dict[str, int]:
    """Systems from the highest score on, with their places."""
    order = sorted(scores, key=lambda system: (-scores[system], system))
    return {system: place for place, system in enumerate(order, start=1)}


if __name__ == "__main__":
    main()
