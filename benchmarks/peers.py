"""Beside the fastest public packages for single scores and explanations, where they are installed.

``python benchmarks/peers.py`` prints the table and writes it to ``benchmarks/peers.md``. Nothing of
it is needed to use or to test gnomon: install what is to be compared beside it
(``pip install --no-deps bleuscore fastchrf rapidrouge rapidfuzz captum``); what is missing is said
and left out. Where a package defines a score in another way, the table says how many scores differ.
"""

from __future__ import annotations

import os

os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")

import statistics
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from _measure import ROUNDS, cpu, fresh, keep, wmt

import gnomon as gn
from gnomon.bmx import explanations
from gnomon.metrics import bind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Peer = Callable[[list[str], list[str]], list[float]]

_SYSTEMS, _SEGMENTS = 22, 1997
_PAIR = 2  # segments that are explained at once
_SOME = 20  # times as many segments for gnomon as for peers that take milliseconds
_CLOSE = 1e-9
_SAME = 1e-4  # of scores in single precision
_NOTE = (
    f"WMT19 en-de (explanations: de-en); CPU time of one thread per output, medians of {ROUNDS}"
    f" interleaved rounds, all {_SYSTEMS} systems. fastchrf scores a twentieth of the segments."
)


@dataclass(frozen=True)
class Comparison:
    """One task, beside one package.

    Attributes:
        task: what was done.
        package: by whom else.
        spec: how gnomon is asked for it.
        peer: the package's scores of candidates beside references.
        share: of the segments, how many the package is given.
    """

    task: str
    package: str
    spec: str
    peer: Callable[[Any], Peer]
    share: float = 1.0


def _bleu(package: Any) -> Peer:
    def scores(candidates: list[str], references: list[str]) -> list[float]:
        pairs = zip(candidates, references, strict=True)
        return [100 * package.compute([[r]], [c], 4, False, "closest")["bleu"] for c, r in pairs]  # noqa: FBT003  # it takes no names

    return scores


def _chrf(package: Any) -> Peer:
    def scores(candidates: list[str], references: list[str]) -> list[float]:
        matrix = package.pairwise_chrf([[c] for c in candidates], [[r] for r in references])
        return [row[0][0] for row in matrix]

    return scores


def _rouge(package: Any) -> Peer:
    def scores(candidates: list[str], references: list[str]) -> list[float]:
        scorer = package.RougeScorer(["rougeL"])
        pairs = zip(candidates, references, strict=True)
        return [scorer.score(r, c)["rougeL"].fmeasure for c, r in pairs]

    return scores


def _edits(package: Any) -> Peer:
    distance = import_module(f"{package.__name__}.distance").Levenshtein.distance

    def scores(candidates: list[str], references: list[str]) -> list[float]:
        pairs = (
            (c.lower().split(), r.lower().split())
            for c, r in zip(candidates, references, strict=True)
        )
        return [100 * distance(c, r) / len(r) for c, r in pairs]

    return scores


COMPARISONS = (
    Comparison(
        "sentence BLEU without smoothing, from raw text",
        "bleuscore",
        "bleu(smooth_method='none', effective_order=False)",
        _bleu,
    ),
    Comparison("sentence chrF2", "fastchrf", "chrf", _chrf, 1 / _SOME),
    Comparison("sentence ROUGE-L", "rapidrouge", "rouge(type='rougeL')", _rouge),
    Comparison(
        "TER, which also shifts blocks, beside edits of words alone", "rapidfuzz", "ter", _edits
    ),
)


def scored(data: gn.TestSet, one: Comparison) -> str:
    """A row of the table."""
    package = import_module(one.package)
    peer = one.peer(package)
    chosen = np.linspace(0, data.segments - 1, int(one.share * data.segments)).astype(int)
    some = data.select(segments=chosen.tolist())
    references = [str(text) for text in some.references["A"]]

    def theirs() -> object:
        return [peer(list(texts), references) for texts in some.systems.values()]

    spent: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(ROUNDS):
        again = fresh(data)
        seconds, scores = cpu(lambda a=again: gn.score(a, one.spec).segments)
        spent["ours"].append(seconds / data.segments)
        seconds, expected = cpu(theirs)
        spent["theirs"].append(seconds / some.segments)
    gaps = np.abs(np.asarray(scores)[:, chosen] - np.asarray(expected))
    differ = f"{(gaps > _CLOSE).mean():.1%}"
    return _line(one.task, one.package, spent, len(data.systems), differ)


def _line(task: str, package: str, spent: dict[str, list[float]], outputs: int, differ: str) -> str:
    ours, theirs = (statistics.median(spent[side]) / outputs for side in ("ours", "theirs"))
    ratio = theirs / ours
    shown = f"{ratio:.0f}" if ratio >= 20 else f"{ratio:.1f}"
    return f"| {task} | {package} | {1e6 * ours:.0f} | {1e6 * theirs:.0f} | {shown}x | {differ} |"


def explained() -> str:
    """Erasure of every word under BERTScore, beside captum's ablation of features."""
    import torch
    from captum.attr import FeatureAblation
    from explanations import METRIC, _scorer

    whole = wmt("wmt19/de-en", systems=10)
    scores = _scorer()
    scores(["a b"], ["a"])
    few = whole.select(segments=[whole.segments - 1])
    explanations(few, bind(few, METRIC)[1], "erasure")

    def ablated(words: list[str], beside: Callable[[list[str]], np.ndarray]) -> np.ndarray:
        def forward(kept: torch.Tensor) -> torch.Tensor:
            texts = [" ".join(w for w, k in zip(words, row, strict=True) if k) for row in kept]
            return torch.tensor(beside(texts), dtype=torch.float64)

        every = torch.ones((1, len(words)), dtype=torch.float64)
        return FeatureAblation(forward).attribute(every, perturbations_per_eval=64)[0].numpy()

    def theirs(data: gn.TestSet) -> list[np.ndarray]:
        references = [str(text) for text in data.references["A"]]
        explained_sides = []
        for texts in data.systems.values():
            for c, r in zip(texts, references, strict=True):
                explained_sides.append(
                    ablated(c.split(), lambda some, r=r: scores(some, [r] * len(some)))
                )
                explained_sides.append(
                    ablated(r.split(), lambda some, c=c: scores([c] * len(some), some))
                )
        return explained_sides

    spent: dict[str, list[float]] = {"ours": [], "theirs": []}
    gaps = []
    for number in range(ROUNDS):
        # other texts each time: what was encoded once is remembered
        data = whole.select(segments=[_PAIR * number + i for i in range(_PAIR)])
        _, bound = bind(data, METRIC)
        seconds, explained_sides = cpu(lambda d=data, b=bound: explanations(d, b, "erasure"))
        spent["ours"].append(seconds)
        seconds, expected = cpu(lambda d=data: theirs(d))
        spent["theirs"].append(seconds)
        sides: Any = explained_sides.sides  # type: ignore[attr-defined]  # explanations
        gaps += [
            np.abs(sides[side].importance - np.concatenate(expected[side::2]))  # type: ignore[index]
            for side in (0, 1)
        ]
    differ = f"{(np.concatenate(gaps) > _SAME).mean():.1%}"
    outputs = len(whole.systems) * _PAIR
    task = "BERTScore without each word (erasure), ten systems that share references"
    return _line(task, "captum and bert-score", spent, outputs, differ)


def rows() -> Iterator[str]:
    """The rows that can be measured here; what cannot is said."""
    data = wmt("wmt19/en-de", systems=_SYSTEMS, segments=_SEGMENTS)
    few = wmt("wmt19/en-de", systems=3, segments=20)
    for one in COMPARISONS:
        if find_spec(one.package) is None:
            print(f"{one.package} is not installed: left out")
            continue
        gn.score(few, one.spec)
        yield scored(data, one)
    missing = [name for name in ("captum", "bert_score", "torch") if find_spec(name) is None]
    if missing:
        print(f"{', '.join(missing)} not installed: explanations are left out")
        return
    yield explained()


def main() -> None:
    """Measure, print, write the table."""
    lines = [
        "| task | package | gnomon, µs | package, µs | gnomon is faster by | scores that differ |",
        "|---|---|---|---|---|---|",
        *rows(),
        "",
        _NOTE,
    ]
    keep("peers", lines)


if __name__ == "__main__":
    main()
