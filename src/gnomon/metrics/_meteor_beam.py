"""Which words METEOR 1.5 aligns: all stages together, resolved by beam search.

Denkowski and Lavie (2011), section 2: every word is in at most one match; the weight of the words
covered is maximal; then there are fewest chunks; then the matches lie at the nearest places.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Match", "best_alignment"]

#: partial alignments that are kept, as in METEOR
_BEAM = 40


class Match(NamedTuple):
    """A word of a candidate and one of a reference that may be aligned.

    Attributes:
        candidate: place in the candidate.
        reference: place in the reference.
        stage: "exact", "stem" or "synonym".
    """

    candidate: int
    reference: int
    stage: str


class _Partial(NamedTuple):
    """What is aligned so far; smaller is better.

    Attributes:
        lost: weight that was left uncovered, of what could be covered.
        chunks: runs so far.
        distance: sum over matches of the distance between the two places.
        used: reference places that are taken, as bits.
        last: the last match, or (-2, -2).
        chosen: the matches, last first, as a chain.
    """

    lost: float
    chunks: int
    distance: int
    used: int
    last: tuple[int, int]
    chosen: tuple[Match, object] | None


def best_alignment(matches: Sequence[Match], weights: Mapping[str, float]) -> list[Match]:
    """The matches that METEOR chooses among all possible ones.

    Args:
        matches: possible matches, at most one per pair of places, by place in the candidate.
        weights: stage -> what covering two words by it counts.

    Returns:
        The chosen ones, by place in the candidate.
    """
    options: dict[int, list[Match]] = {}
    for match in matches:
        options.setdefault(match.candidate, []).append(match)
    rivals = Counter(match.reference for match in matches)
    beam = [_Partial(0.0, 0, 0, 0, (-2, -2), None)]
    for choices in options.values():
        contested = len(choices) > 1 or rivals[choices[0].reference] > 1
        most = max(weights[match.stage] for match in choices)
        beam = _extended(beam, choices, weights, most, contested=contested)
    return _unwound(beam[0].chosen)


def _extended(
    beam: list[_Partial],
    choices: list[Match],
    weights: Mapping[str, float],
    most: float,
    *,
    contested: bool,
) -> list[_Partial]:
    """The best partial alignments with one more word of the candidate."""
    found: dict[tuple[int, tuple[int, int]], _Partial] = {}
    for partial in beam:
        if contested:
            _keep(found, partial._replace(lost=partial.lost + most))
        for match in choices:
            if not partial.used >> match.reference & 1:
                _keep(found, _with(partial, match, most - weights[match.stage]))
    return sorted(found.values(), key=_rank)[:_BEAM]


def _with(partial: _Partial, match: Match, lost: float) -> _Partial:
    place = match.candidate, match.reference
    joins = (partial.last[0] + 1, partial.last[1] + 1) == place
    return _Partial(
        partial.lost + lost,
        partial.chunks + (not joins),
        partial.distance + abs(place[0] - place[1]),
        partial.used | 1 << match.reference,
        place,
        (match, partial.chosen),
    )


def _keep(found: dict[tuple[int, tuple[int, int]], _Partial], partial: _Partial) -> None:
    """Of partial alignments that go on alike, keep the best."""
    key = partial.used, partial.last
    if key not in found or _rank(partial) < _rank(found[key]):
        found[key] = partial


def _rank(partial: _Partial) -> tuple[float, int, int]:
    return round(partial.lost, 9), partial.chunks, partial.distance


def _unwound(chosen: object) -> list[Match]:
    found: list[Match] = []
    while isinstance(chosen, tuple):
        match, chosen = chosen
        found.append(match)
    return found[::-1]
