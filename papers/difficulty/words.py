"""Table 3 and figure 3 of Zhan et al. (2021): words across systems, and how hard words are.

    python papers/difficulty/words.py table-3 wmt19/en-de "bertscore(model='FOLDER')" --segment 12
    python papers/difficulty/words.py figure-3 wmt19/en-de "bertscore(model='FOLDER')" -o f3.pdf

Table 3 has a line per word: its difficulty, and each system's similarity, in brackets where the
best match is another word. Figure 3 counts the words by difficulty, for all systems and the best.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon import TestSet, difficulty, metrics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

#: edges of the bars of figure 3
EDGES = np.arange(21) / 20


def main(given: Sequence[str] | None = None) -> None:
    """Print the numbers, and draw the figure where a file is named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("what", choices=("table-3", "figure-3"))
    parser.add_argument("testset")
    parser.add_argument("metric")
    parser.add_argument("--segment", type=int, default=1)
    parser.add_argument("--top", default="30%")
    parser.add_argument("--human")
    parser.add_argument("-o", "--output")
    args = parser.parse_args(given)
    testset = TestSet.read(args.testset)
    bound: Any = metrics.bind(testset, f"difficulty({args.metric})")[1]
    words = difficulty.reference_words(bound, testset.batch())
    if args.what == "table-3":
        print_segment(words, args.segment, list(testset.systems))
        return
    best = difficulty.choose_pool(testset, f"top:{args.top}", args.human)
    rows = [list(testset.systems).index(name) for name in best.systems]
    curves = {
        "all systems": words.difficulty[words.is_compared],
        best.how: words.difficulty_for(rows)[words.is_compared],
    }
    print_curves(curves)
    if args.output:
        draw(curves, args.output)


def print_segment(words: difficulty.ReferenceWords, segment: int, systems: Sequence[str]) -> None:
    """Print the words of the references of a segment (from 1)."""
    print("word", "difficulty", *systems, sep="\t")
    for at in np.flatnonzero(words.segment == segment - 1).tolist():
        cells = [
            f"{best:.3f}" if same else f"[{best:.3f}]"
            for best, same in zip(words.best[:, at], words.exact[:, at], strict=True)
        ]
        print(words.words.text[at], f"{words.difficulty[at]:.3f}", *cells, sep="\t")


def print_curves(curves: Mapping[str, NDArray[np.float64]]) -> None:
    """Print the share of the words in each interval of difficulty."""
    print("difficulty", *curves, sep="\t")
    shares = [np.histogram(values.clip(0, 1), EDGES)[0] / len(values) for values in curves.values()]
    for low, *row in zip(EDGES[:-1], *shares, strict=True):
        print(f"{low:.2f}", *(f"{share:.4f}" for share in row), sep="\t")


def draw(curves: Mapping[str, NDArray[np.float64]], output: str) -> None:
    """Draw the distributions beside each other."""
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots()
    axes.hist([values.clip(0, 1) for values in curves.values()], EDGES.tolist(), label=list(curves))
    axes.set_xlabel("difficulty")
    axes.set_ylabel("words")
    axes.legend()
    figure.savefig(output)


if __name__ == "__main__":
    main()
