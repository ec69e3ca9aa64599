"""Targets that hold words which were asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gnomon.errors import LengthMismatchError
from gnomon.models.decoding._allocation import Allocation
from gnomon.models.decoding._beam import make_plan
from gnomon.models.decoding._hypotheses import Hypothesis
from gnomon.models.decoding._phrases import Machines, held
from gnomon.models.decoding._requests import answers, each_once, make_requests
from gnomon.models.decoding._search import search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.models.decoding._plan import Found, Stopping
    from gnomon.models.decoding._requests import Request
    from gnomon.models.seq2seq import Seq2Seq

__all__ = ["constrained"]


def constrained(
    model: Seq2Seq,
    texts: Sequence[str],
    constraints: Sequence[Sequence[str]],
    *,
    beam: int = 20,
    n: int | None = None,
    length_penalty: float = 1.0,
    prefixes: Sequence[Sequence[int]] | None = None,
    limit: int | None = None,
    stopping: Stopping = "exact",
) -> list[list[Hypothesis]]:
    """The most probable targets that hold some phrases, by dynamic beam allocation.

    A phrase is held where its pieces, as the tokeniser cuts the phrase standing alone, follow one
    another and the word that ends there ends: "cat" is not held by "cats". Phrases may overlap,
    begin alike or hold one another; one that is given twice must begin at two places.

    In every step each hypothesis is also continued with the pieces that its constraints want next
    and with the most probable one, and the beam is shared out among banks of hypotheses that have
    met equally many pieces of their constraints. A phrase that breaks off falls back to the longest
    end of it that begins a phrase. A hypothesis may end only when all is met, and none is followed
    that could no longer meet all within the limit, so that every phrase that can be met is met
    whatever the beam. Ranking and stopping are those of :func:`beam`, and without constraints the
    result is the same.

    Args:
        model: what decodes.
        texts: the sources; each distinct request is decoded once.
        constraints: of each text its phrases. What cannot be met is left out before the search,
            reported as not met, and noted in ``model.notices``: a phrase without pieces or with a
            piece that the model never produces (unknown words) or that is a sentence code, and a
            phrase for which, with those before it, the limit leaves no room.
        beam: hypotheses that are followed.
        n: targets wanted of each text, at most ``beam``; by default all of them.
        length_penalty: as for :func:`beam`.
        prefixes: as for :func:`beam`; phrases may lie in them.
        limit: as for :func:`beam`.
        stopping: as for :func:`beam`.

    Returns:
        Of each text at most ``n`` hypotheses, the best first, with ``met``, parallel to the
        constraints of the text.

    Raises:
        LengthMismatchError: there are not as many lists of constraints, or prefixes, as texts.
        UsageError: an option is out of its range.
        ScoringError: memory does not suffice for a single text, or the model gives no numbers.

    Source: Post and Vilar (2018), Fast Lexically Constrained Decoding with Dynamic Beam Allocation
    for Neural Machine Translation, NAACL, with an automaton over the phrases (Aho and Corasick,
    1975) in the place of their array of constraints.
    """
    if len(constraints) != len(texts):
        raise LengthMismatchError(
            f"constraints are given for {len(constraints)} texts, and there are {len(texts)}; give"
            " one list of phrases per text, [] where there is none"
        )
    plan = make_plan(beam, n, length_penalty, stopping)
    plain = make_requests(model, texts, prefixes=prefixes, limit=limit)
    phrases = [[tuple(model.phrase_pieces(phrase)) for phrase in row] for row in constraints]
    machines = Machines(model.continuing)
    requests = [
        request and replace(request, phrases=_reachable(model, machines, row, request))
        for request, row in zip(plain, phrases, strict=True)
    ]
    _say_unreachable(model, constraints, phrases, requests)

    def decode(batch: list[Request]) -> list[Sequence[Found]]:
        return [*search(model, batch, plan, Allocation(model, machines, batch))]

    found = each_once(requests, lambda distinct: answers(model, distinct, decode, rows=plan.beam))
    return [
        [
            Hypothesis(model.text(one.pieces), *one, met=held(row, one.pieces, model.continuing))
            for one in some
        ]
        for some, row in zip(found, phrases, strict=True)
    ]


def _reachable(
    model: Seq2Seq, machines: Machines, phrases: Sequence[tuple[int, ...]], request: Request
) -> tuple[tuple[int, ...], ...]:
    """The phrases that can be met together, those before others first."""
    said = tuple(phrase for phrase in phrases if phrase and _can_be_said(model, phrase))
    if _fit(machines, said, request):
        return said
    kept: tuple[tuple[int, ...], ...] = ()
    for phrase in said:
        kept = (*kept, phrase) if _fit(machines, (*kept, phrase), request) else kept
    return kept


def _can_be_said(model: Seq2Seq, phrase: Sequence[int]) -> bool:
    within = {model.end, *model.codes.values()}.isdisjoint(phrase)
    return within and not model.silent[list(phrase)].any()


def _fit(machines: Machines, phrases: tuple[tuple[int, ...], ...], request: Request) -> bool:
    """Whether all phrases can be held within the limit."""
    room = request.limit - len(request.prefix)
    if sum(map(len, phrases)) <= room:
        return True
    machine = machines.of(phrases)
    state = machine.first()
    for piece in request.prefix:
        known = piece if piece in machine.alphabet else None
        inner = machine.is_inner(piece) if known is not None else machines.is_continuing(piece)
        state = machine.after(state, known, inner=inner)
    return machine.needed(state) <= room


def _say_unreachable(
    model: Seq2Seq,
    constraints: Sequence[Sequence[str]],
    phrases: Sequence[Sequence[tuple[int, ...]]],
    requests: Sequence[Request | None],
) -> None:
    lost, total = [], 0
    for words, pieces, request in zip(constraints, phrases, requests, strict=True):
        if request is None:
            continue
        total += len(words)
        kept = list(request.phrases)
        for phrase, own in zip(words, pieces, strict=True):
            if own in kept:
                kept.remove(own)
            else:
                lost.append(phrase)
    if lost:
        shown = ", ".join(map(repr, dict.fromkeys(lost[:3])))
        model.say(
            f"{len(lost)} of {total} constraints cannot be met, for want of pieces or of room"
            f" ({shown}{', ...' if len(lost) > 3 else ''})"
        )
