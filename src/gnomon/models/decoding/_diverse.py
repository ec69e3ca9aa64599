"""Probable targets that differ from each other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gnomon.errors import UsageError
from gnomon.models.decoding._beam import make_plan, proposals
from gnomon.models.decoding._requests import answers, each_once, make_requests
from gnomon.models.decoding._search import search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.models.decoding._hypotheses import Hypothesis
    from gnomon.models.decoding._plan import Found, Stopping
    from gnomon.models.decoding._requests import Request
    from gnomon.models.seq2seq import Seq2Seq

__all__ = ["diverse"]


def diverse(
    model: Seq2Seq,
    texts: Sequence[str],
    *,
    beam: int = 20,
    groups: int = 5,
    strength: float = 0.5,
    n: int | None = None,
    length_penalty: float = 1.0,
    prefixes: Sequence[Sequence[int]] | None = None,
    limit: int | None = None,
    stopping: Stopping = "exact",
) -> list[list[Hypothesis]]:
    """Targets from groups of hypotheses that avoid each other's pieces, by diverse beam search.

    The beam is divided into groups, each searched as by :func:`beam`. Within a step the groups
    choose one after the other, and a piece costs ``strength`` for every hypothesis of an earlier
    group that has just taken it (Hamming diversity). The price decides the choice alone: it is not
    carried along, and log-probabilities and scores are those of the model.

    Args:
        model: what decodes.
        texts: the sources; each distinct one is decoded once.
        beam: hypotheses that are followed, those of all groups together.
        groups: a divisor of ``beam``.
        strength: price in units of log-probability; 0 and one group give :func:`beam`.
        n: targets wanted of each text, at most ``beam``; by default all of them.
        length_penalty: as for :func:`beam`.
        prefixes: as for :func:`beam`.
        limit: as for :func:`beam`.
        stopping: as for :func:`beam`, of each group by itself.

    Returns:
        Of each text at most ``n`` hypotheses: the best of each group in the order of their scores,
        then the second of each, and so on; each target once.

    Raises:
        LengthMismatchError: there are not as many prefixes as texts.
        UsageError: an option is out of its range.
        ScoringError: memory does not suffice for a single text, or the model gives no numbers.

    Source: Vijayakumar et al. (2018), Diverse Beam Search for Improved Description of Complex
    Scenes, AAAI, algorithm 1.
    """
    plan = make_plan(beam, n, length_penalty, stopping)
    if groups < 1 or beam % groups:
        raise UsageError(f"a beam of {beam} cannot be divided into {groups} equal groups")
    if strength < 0:
        raise UsageError(f"strength={strength} would draw groups together; it must be 0 or more")
    width, wanted = beam // groups, plan.n
    plan = replace(plan, beam=width, n=min(width, wanted), groups=groups, strength=float(strength))
    requests = make_requests(model, texts, prefixes=prefixes, limit=limit)

    def decode(batch: list[Request]) -> list[Sequence[Hypothesis]]:
        slots = search(model, batch, plan)
        some = (slots[first : first + groups] for first in range(0, len(slots), groups))
        return [proposals(model, _by_rank(one)[:wanted]) for one in some]

    return each_once(requests, lambda distinct: answers(model, distinct, decode, rows=beam))


def _by_rank(groups: Sequence[Sequence[Found]]) -> list[Found]:
    """What the groups found, rank by rank; each target once, where it stands first."""
    ranked = [(rank, -one.score, one) for group in groups for rank, one in enumerate(group)]
    found: dict[tuple[int, ...], Found] = {}
    for *_, one in sorted(ranked):
        found.setdefault(one.pieces, one)
    return list(found.values())
