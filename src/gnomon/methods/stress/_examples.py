"""Pairs that a metric does not see, with the words that differ."""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from gnomon.core.findings import Exhibit, ExhibitText, Highlight
from gnomon.core.records import METRIC, Record, column

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.pairs import Pair
    from gnomon.methods.stress._outcomes import ScoredPairs

_WORD = re.compile(r"\S+")


class ExampleRow(Record):
    """A pair that a metric does not see."""

    metric: str = METRIC
    phenomenon: str = column("Phenomenon", help="in what the two texts of the pair differ")
    good: str = column("Better text", help="without the error")
    bad: str = column("Worse text", help="with it")
    reference: str = column("Reference", help="the first; blank without one")
    good_score: float | None = column("Score", help="of the better text")
    bad_score: float | None = column("Score with the error", help="of the worse text")


def unseen_pairs(scored: ScoredPairs, *, most: int) -> Iterator[tuple[str, int]]:
    """The first pairs that each metric does not see, of each kind of errors: metric and number."""
    groups = scored.groups
    for metric, outcome in scored.metrics.items():
        left: Counter[str] = Counter()
        for number, pair in enumerate(groups.pairs):
            name = groups.names[number]
            unseen = outcome.scored[number] and not outcome.seen[number]
            wrong = pair.kind in ("error", "crossed")
            if wrong and unseen and left[name] < most:
                left[name] += 1
                yield metric, number


def example_rows(unseen: Sequence[tuple[str, int]], scored: ScoredPairs) -> Iterator[ExampleRow]:
    """Rows of pairs, with scores in the units of the metric."""
    groups, outcomes, signs = scored.groups, scored.outcomes, scored.signs
    for metric, number in unseen:
        pair = groups.pairs[number]
        yield ExampleRow(
            metric=metric,
            phenomenon=groups.names[number],
            good=pair.good,
            bad=pair.bad,
            reference=pair.references[0] if pair.references else "",
            good_score=signs[metric] * outcomes[metric].good[number],
            bad_score=signs[metric] * outcomes[metric].bad[number],
        )


def example_exhibits(unseen: Sequence[tuple[str, int]], scored: ScoredPairs) -> Iterator[Exhibit]:
    """A segment per pair, with the metrics that do not see it; words that differ are marked."""
    groups, outcomes, signs = scored.groups, scored.outcomes, scored.signs
    metrics: dict[int, list[str]] = {}
    for metric, number in unseen:
        metrics.setdefault(number, []).append(metric)
    for number, names in metrics.items():
        pair = groups.pairs[number]
        good, bad = (
            {name: signs[name] * float(scores[number]) for name, scores in of_side.items()}
            for of_side in (
                {name: outcomes[name].good for name in names},
                {name: outcomes[name].bad for name in names},
            )
        )
        yield Exhibit(
            group=groups.names[number],
            kind="not seen",
            segment=number + 1,
            texts=tuple(_texts(pair, good, bad)),
            systems=tuple(names),
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
    yield ExhibitText("candidate", "without the error", pair.good, marks[0], good)
    yield ExhibitText("candidate", "with the error", pair.bad, marks[1], bad)


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
