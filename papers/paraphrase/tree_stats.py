"""Table 5 of Bawden et al. (2020): different trees without words, by the depth they are cut at.

python papers/paraphrase/tree_stats.py ref.A.ptb ref.human?.ptb [--depths 2 3 4 5]
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING

from gnomon import formats, paraphrase

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(given: Sequence[str] | None = None) -> None:
    """Print a line per depth, and one for whole trees."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("trees", nargs="+", help="files of a tree in brackets per line")
    parser.add_argument("--depths", type=int, nargs="+", default=[1, 2, 3, 4, 5, 6])
    args = parser.parse_args(given)
    files = [formats.read_trees(file).trees for file in args.trees]
    trees = [tree for file in files for tree in file if tree is not None]
    print("depth", "trees", "distinct", "once", "commonest", sep="\t")
    for depth in (*args.depths, None):
        counts = Counter(paraphrase.codes.pruned(tree, depth) for tree in trees)
        once = sum(count == 1 for count in counts.values())
        commonest = max(counts.values(), default=0)
        print(depth or "whole", len(trees), len(counts), once, commonest, sep="\t")


if __name__ == "__main__":
    main()
