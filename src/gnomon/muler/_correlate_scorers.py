"""Sentence scorers among what is correlated: minus their mean absolute difference."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from gnomon.muler._correlate_points import SCORER
from gnomon.muler._sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from gnomon.annotate.scorers import SentenceScorer
    from gnomon.findings import Cell
    from gnomon.muler._correlate_gather import Gathered
    from gnomon.muler._correlate_points import Point
    from gnomon.muler._correlate_sets import Member
    from gnomon.muler._setup import Options

    AnyScorer: TypeAlias = str | SentenceScorer | Callable[[str], float | None]

__all__ = ["AnyScorer", "add_scorers"]


def add_scorers(
    gathered: Gathered,
    member: Member,
    scorers: Sequence[AnyScorer],
    *,
    by: str | None,
    options: Options,
) -> None:
    """Add the points of sentence scorers (features ``scorer:NAME``) to those of a test set.

    Args:
        gathered: holds the points of the test set's features, whose scores are taken over.
        member: the test set.
        scorers: as for :func:`gnomon.muler.sentences`.
        by: the slices.
        options: tagger, cache and progress.
    """
    found = sentences(
        member.testset,
        scorers,
        tagger=options.get("tagger"),
        by=by,
        bootstrap=0,
        examples=0,
        cache=options.get("cache"),
        progress=options.get("progress"),
    )
    gathered.notices += [f"{member.name}: {notice}" for notice in found.notices]
    gathered.signatures |= {(name, member.name): text for name, text in found.signatures.items()}
    own = [point for point in gathered.points if point.test_set == member.name]
    gathered.points += _points(own, found.rows)


def _points(points: Sequence[Point], rows: Sequence[Mapping[str, Cell]]) -> Iterator[Point]:
    """One point per scorer, system and slice for each metric and variant there is."""
    places = {(p.metric, p.variant, p.part, p.system): p for p in points}
    for row in rows:
        absolute, n = row["absolute"], row["n"]
        for (_, _, part, system), point in places.items():
            if (part, system) == (row["slice"], row["system"]):
                yield replace(
                    point,
                    feature=f"{SCORER}{row['scorer']}",
                    segments=None if n is None else int(n),
                    loss=None if absolute is None else float(absolute),
                    indices=None,
                    spread=None,
                )
