"""The most probable targets, and probable ones that differ from each other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gnomon.core.errors import UsageError
from gnomon.models.decoding.requests import (
    Hypothesis,
    SearchPlan,
    answers,
    decode_unique,
    make_requests,
)
from gnomon.models.decoding.search import search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.models.decoding.requests import FinishedTarget, Request
    from gnomon.models.seq2seq import Seq2Seq

__all__ = ["beam", "diverse", "make_plan", "proposals"]


# The most probable targets.


def beam(
    model: Seq2Seq,
    texts: Sequence[str],
    *,
    beam: int = 20,
    n: int | None = None,
    length_penalty: float = 1.0,
    prefixes: Sequence[Sequence[int]] | None = None,
    limit: int | None = None,
) -> list[list[Hypothesis]]:
    """The most probable targets of each text, by beam search.

    In every step the continuations of all hypotheses of a text are ranked by log-probability. Among
    the first ``beam`` of them those that end are finished; the first ``beam`` that do not end go
    on. Finished hypotheses are ranked by ``score`` = log-probability / length ** length_penalty,
    where length counts ``</s>``; of equal ones that which ended earlier is first. At the limit all
    hypotheses must end, at the probability that the model gives to it. A text is done when no
    unfinished hypothesis could come among the ``n`` best, whatever follows, so that going on would
    change nothing.

    Args:
        model: what decodes.
        texts: the sources; each distinct one is decoded once.
        beam: hypotheses that are followed.
        n: targets wanted of each text, at most ``beam``; by default all of them.
        length_penalty: 0 ranks by probability, 1 by its mean over the pieces; higher is longer.
        prefixes: per text, pieces that every target begins with, such as a sentence code. Their
            probability counts.
        limit: most pieces of a target, prefix included; by default ten more than twice those of
            the source, and never more than the model takes.

    Returns:
        Of each text at most ``n`` hypotheses, the best first; none of empty texts, and fewer where
        the search finished fewer.

    Raises:
        LengthMismatchError: there are not as many prefixes as texts.
        UsageError: an option is out of its range.
        ScoringError: memory does not suffice for a single text, or the model gives no numbers.

    Source: Sutskever, Vinyals and Le (2014), section 3.2; length as in Wu et al. (2016), with the
    plain power of the length.
    """
    plan = make_plan(beam, n, length_penalty)
    requests = make_requests(model, texts, prefixes=prefixes, limit=limit)

    def decode(batch: list[Request]) -> list[Sequence[Hypothesis]]:
        return [proposals(model, targets) for targets in search(model, batch, plan)]

    return decode_unique(
        requests, lambda distinct: answers(model, distinct, decode, rows=plan.beam)
    )


def make_plan(width: int, n: int | None, length_penalty: float) -> SearchPlan:
    """A plan without groups."""
    if width < 1:
        raise UsageError(f"beam={width} is no number of hypotheses; it must be 1 or more")
    if n is not None and not 1 <= n <= width:
        raise UsageError(f"n={n} targets are asked of a beam of {width}; n is from 1 to the beam")
    return SearchPlan(width, width if n is None else n, float(length_penalty))


def proposals(model: Seq2Seq, targets: Sequence[FinishedTarget]) -> list[Hypothesis]:
    """Finished hypotheses with their texts."""
    return [Hypothesis(model.text(target.pieces), *target) for target in targets]


# Probable targets that differ from each other.


def diverse(
    model: Seq2Seq,
    texts: Sequence[str],
    *,
    beam: int = 20,
    groups: int = 5,
    strength: float = 0.5,
    length_penalty: float = 1.0,
    limit: int | None = None,
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
        length_penalty: as for :func:`beam`.
        limit: as for :func:`beam`.

    Returns:
        Of each text at most ``beam`` hypotheses: the best of each group in the order of their
        scores, then the second of each, and so on; each target once.

    Raises:
        UsageError: an option is out of its range.
        ScoringError: memory does not suffice for a single text, or the model gives no numbers.

    Source: Vijayakumar et al. (2018), Diverse Beam Search for Improved Description of Complex
    Scenes, AAAI, algorithm 1.
    """
    plan = make_plan(beam, None, length_penalty)
    if groups < 1 or beam % groups:
        raise UsageError(f"a beam of {beam} cannot be divided into {groups} equal groups")
    if strength < 0:
        raise UsageError(f"strength={strength} would draw groups together; it must be 0 or more")
    width = beam // groups
    plan = replace(plan, beam=width, n=width, groups=groups, strength=float(strength))
    requests = make_requests(model, texts, limit=limit)

    def decode(batch: list[Request]) -> list[Sequence[Hypothesis]]:
        slots = search(model, batch, plan)
        some = (slots[first : first + groups] for first in range(0, len(slots), groups))
        return [proposals(model, _merge_by_rank(text_groups)) for text_groups in some]

    return decode_unique(requests, lambda distinct: answers(model, distinct, decode, rows=beam))


def _merge_by_rank(groups: Sequence[Sequence[FinishedTarget]]) -> list[FinishedTarget]:
    """Merge the results of the groups, rank by rank; each target once, where it comes first."""
    ranked = [
        (rank, -target.score, target) for group in groups for rank, target in enumerate(group)
    ]
    distinct: dict[tuple[int, ...], FinishedTarget] = {}
    for *_, target in sorted(ranked):
        distinct.setdefault(target.pieces, target)
    return list(distinct.values())
