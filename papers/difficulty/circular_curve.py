"""Figure 2 of Zhan et al. (2021), as the authors draw it: the K best systems weigh and are judged.

    python papers/difficulty/circular_curve.py wmt19/de-en "bertscore(model='FOLDER')"

People choose the systems that say what is hard, and judge by the same scores: it is circular.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from gnomon import TestSet, metaeval

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(given: Sequence[str] | None = None) -> None:
    """Print Pearson's r over the K best systems, for every K from 3."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("testset")
    parser.add_argument("metric")
    parser.add_argument("--human")
    args = parser.parse_args(given)
    testset = TestSet.read(args.testset)
    kind = args.human or testset.human_kinds("system")[0]
    people = dict(zip(testset.systems, testset.human_scores(kind, "system"), strict=True))
    order = sorted(people, key=lambda system: (-people[system], system))
    print("K", "Pearson", sep="\t")
    for k in range(3, len(order) + 1):
        best = testset.select(systems=[name for name in testset.systems if name in order[:k]])
        found = metaeval.metaeval(
            best,
            f"difficulty({args.metric})",
            human=[kind],
            levels=["system"],
            statistics=["pearson"],
            resamples=0,
        )
        print(k, f"{found.rows[0]['value']:.4f}", sep="\t")


if __name__ == "__main__":
    main()
