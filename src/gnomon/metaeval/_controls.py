"""What tie-aware figures are compared with: constants, chance, lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.metaeval._contest import Entry, has_texts
from gnomon.signature import content_hash

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnomon.metaeval._contest import Contest

__all__ = ["PREFIX", "controls"]

PREFIX = "control: "


def controls(contest: Contest, *, seed: int = 0) -> tuple[Entry, ...]:
    """Scores that know nothing of quality, for comparison with metrics.

    A constant; uniform random numbers; the length of the output and of the (first) reference in
    characters. Lengths are left out where there are no texts. System scores are means. Systems
    that no metric scored are left out.

    Args:
        contest: the test set.
        seed: seed of the random numbers, which depend on the system's name and not on its place.
    """
    shape = (len(contest.systems), contest.testset.segments)
    found = {"constant": np.zeros(shape), "random": _random(contest, seed)}
    if has_texts(contest.testset):
        found["candidate length"] = _candidate_lengths(contest)
        lengths = _reference_lengths(contest)
        if lengths is not None:
            found["reference length"] = np.tile(lengths, (shape[0], 1))
    outside = ~_scored(contest)
    for scores in found.values():
        scores[outside] = np.nan
    return tuple(
        Entry(PREFIX + name, _means(scores), scores, control=True) for name, scores in found.items()
    )


def _scored(contest: Contest) -> NDArray[np.bool_]:
    found = np.zeros(len(contest.systems), dtype=bool)
    for entry in contest.entries:
        found |= ~np.isnan(entry.system) | (~np.isnan(entry.segments)).any(axis=1)
    return found


def _random(contest: Contest, seed: int) -> NDArray[np.float64]:
    rows = []
    for system in contest.systems:
        own = int(content_hash(contest.name, system), 16)
        rows.append(np.random.default_rng([seed, own]).random(contest.testset.segments))
    return np.array(rows, dtype=np.float64).reshape(len(rows), contest.testset.segments)


def _candidate_lengths(contest: Contest) -> NDArray[np.float64]:
    texts = contest.testset.systems
    missing = [float("nan")] * contest.testset.segments
    rows = [[float(len(t)) for t in texts[s]] if s in texts else missing for s in contest.systems]
    return np.array(rows, dtype=np.float64).reshape(len(rows), contest.testset.segments)


def _reference_lengths(contest: Contest) -> NDArray[np.float64] | None:
    references = list(contest.testset.references.values())
    if not references:
        return None
    firsts = [
        next((t for t in each if t is not None), None) for each in zip(*references, strict=True)
    ]
    return np.array([np.nan if t is None else float(len(t)) for t in firsts])


def _means(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    known = (~np.isnan(scores)).sum(axis=1)
    return np.asarray(np.nansum(scores, axis=1) / np.where(known == 0, np.nan, known))
