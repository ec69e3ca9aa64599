"""The most probable targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.errors import UsageError
from gnomon.models.decoding._hypotheses import Hypothesis
from gnomon.models.decoding._plan import Plan
from gnomon.models.decoding._requests import answers, each_once, make_requests
from gnomon.models.decoding._search import search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.models.decoding._plan import Found, Stopping
    from gnomon.models.decoding._requests import Request
    from gnomon.models.seq2seq import Seq2Seq

__all__ = ["beam", "make_plan", "proposals"]


def beam(
    model: Seq2Seq,
    texts: Sequence[str],
    *,
    beam: int = 20,
    n: int | None = None,
    length_penalty: float = 1.0,
    prefixes: Sequence[Sequence[int]] | None = None,
    limit: int | None = None,
    stopping: Stopping = "exact",
) -> list[list[Hypothesis]]:
    """The most probable targets of each text, by beam search.

    In every step the continuations of all hypotheses of a text are ranked by log-probability. Among
    the first ``beam`` of them those that end are finished; the first ``beam`` that do not end go
    on. Finished hypotheses are ranked by ``score`` = log-probability / length ** length_penalty,
    where length counts ``</s>``; of equal ones that which ended earlier is first. At the limit all
    hypotheses must end, at the probability that the model gives to it.

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
        stopping: when a text is done. "exact": when no unfinished hypothesis could come among the
            ``n`` best, whatever follows (with a positive length penalty: if nothing more were lost
            up to the limit), so that going on would change nothing. "usual": when none is better,
            at its present length, than the worst of ``beam`` finished ones, as transformers
            stops by default; faster, and with a positive length penalty not always the same.

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
    plan = make_plan(beam, n, length_penalty, stopping)
    requests = make_requests(model, texts, prefixes=prefixes, limit=limit)

    def decode(batch: list[Request]) -> list[Sequence[Hypothesis]]:
        return [proposals(model, found) for found in search(model, batch, plan)]

    return each_once(requests, lambda distinct: answers(model, distinct, decode, rows=plan.beam))


def make_plan(width: int, n: int | None, length_penalty: float, stopping: Stopping) -> Plan:
    """A plan without groups.

    Raises:
        UsageError: an option is out of its range.
    """
    if width < 1:
        raise UsageError(f"beam={width} is no number of hypotheses; it must be 1 or more")
    if n is not None and not 1 <= n <= width:
        raise UsageError(f"n={n} targets are asked of a beam of {width}; n is from 1 to the beam")
    if stopping not in {"exact", "usual"}:
        raise UsageError(f"stopping={stopping!r} is not known; there are 'exact' and 'usual'")
    return Plan(width, width if n is None else n, float(length_penalty), stopping)


def proposals(model: Seq2Seq, found: Sequence[Found]) -> list[Hypothesis]:
    """Finished hypotheses with their texts."""
    return [Hypothesis(model.text(one.pieces), *one) for one in found]
