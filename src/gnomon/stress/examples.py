"""Pairs to read: those on which metrics are wrong first, with the words that differ marked."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.findings import Exhibit, ExhibitText, Highlight
from gnomon.core.records import Record, column

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gnomon.core.minimal_pairs import Pair
    from gnomon.stress.outcomes import ScoredPairs

__all__ = [
    "StressExampleRow",
    "choose_examples",
    "differing_words",
    "example_exhibits",
    "example_rows",
]


_WORD = re.compile(r"\S+")


class StressExampleRow(Record):
    """A pair to read."""

    phenomenon: str = column("Phenomenon", help="in what the two texts of the pair differ")
    good: str = column("Better text", help="without the error; of harmless changes, as it was")
    bad: str = column("Worse text", help="with the error, or the harmless change")
    reference: str = column("Reference", help="the first; blank without one")
    wrong: str = column(
        "Wrong",
        help="metrics that do not score the worse text lower; of harmless changes, those that do",
    )


def choose_examples(scored: ScoredPairs, *, most: int, seed: int) -> dict[int, tuple[str, ...]]:
    """Pairs of each kind, drawn by the seed, with the metrics that are wrong on them.

    Of each metric those on which it is wrong come first; where these are fewer than asked for,
    other pairs are added.
    """
    chosen: dict[int, tuple[str, ...]] = {}
    for numbers in scored.groups.group_by_name().values():
        drawn = np.array(numbers)[np.random.default_rng(seed).permutation(len(numbers))]
        lowers = scored.groups.pairs[numbers[0]].kind == "harmless"
        wrong = {
            metric: drawn[outcome.scored[drawn] & (outcome.detected[drawn] == lowers)].tolist()
            for metric, outcome in scored.metrics.items()
        }
        some = {number for of_metric in wrong.values() for number in of_metric[:most]}
        others = [number for number in drawn.tolist() if number not in some]
        some.update(others[: max(0, most - len(some))])
        for number in sorted(some):
            chosen[number] = tuple(name for name, of_metric in wrong.items() if number in of_metric)
    return chosen


def example_rows(
    chosen: Mapping[int, tuple[str, ...]], scored: ScoredPairs
) -> Iterator[StressExampleRow]:
    """A row per pair."""
    for number, wrong in chosen.items():
        pair = scored.groups.pairs[number]
        yield StressExampleRow(
            phenomenon=scored.groups.names[number],
            good=pair.good,
            bad=pair.bad,
            reference=pair.references[0] if pair.references else "",
            wrong=", ".join(wrong),
        )


def example_exhibits(
    chosen: Mapping[int, tuple[str, ...]], scored: ScoredPairs
) -> Iterator[Exhibit]:
    """A segment per pair, with all scores; cells of metrics that are wrong lead to it."""
    for number, wrong in chosen.items():
        pair = scored.groups.pairs[number]
        good, bad = (
            {name: scored.signs[name] * float(scores[number]) for name, scores in of_side.items()}
            for of_side in (
                {name: outcome.good for name, outcome in scored.metrics.items()},
                {name: outcome.bad for name, outcome in scored.metrics.items()},
            )
        )
        yield Exhibit(
            group=scored.groups.names[number],
            kind="pair",
            segment=number + 1,
            texts=tuple(_texts(pair, good, bad)),
            systems=wrong,
            document=pair.document or None,
        )


def _texts(
    pair: Pair, good: Mapping[str, float], bad: Mapping[str, float]
) -> Iterator[ExhibitText]:
    marks = differing_words(pair.good, pair.bad)
    if pair.source is not None:
        yield ExhibitText("source", "", pair.source)
    for number, text in enumerate(pair.references, start=1):
        yield ExhibitText("reference", str(number) if len(pair.references) > 1 else "", text)
    yield ExhibitText("candidate", "better", pair.good, marks[0], good)
    yield ExhibitText("candidate", "worse", pair.bad, marks[1], bad)


def differing_words(good: str, bad: str) -> tuple[tuple[Highlight, ...], tuple[Highlight, ...]]:
    """Marks on the words of each text that the other one lacks.

    >>> differing_words("two red cats", "two cats")[0]
    (Highlight(start=4, end=7, label='differs', weight=None, flagged=False),)
    """
    words = [list(_WORD.finditer(text)) for text in (good, bad)]
    first, second = ([word[0] for word in of_text] for of_text in words)
    marks: tuple[list[Highlight], list[Highlight]] = ([], [])
    for tag, *ends in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        for of_text, side, (start, end) in zip(words, marks, (ends[:2], ends[2:]), strict=True):
            if tag != "equal" and end > start:
                span = of_text[start].start(), of_text[end - 1].end()
                side.append(Highlight(*span, label="differs"))
    return tuple(marks[0]), tuple(marks[1])
