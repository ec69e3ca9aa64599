"""Questions to judges of pairs, and readings of their answers: either output stands first once."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.judges.metric import BoundChatJudge
    from gnomon.judges.replies import JudgeReply

#: values of answers for the text that stands first
_FIRST = {"first": 1.0, "tie": 0.5, "second": 0.0}


def pair_questions(
    bound: BoundChatJudge, batch: Batch
) -> dict[tuple[int, int, int], tuple[str, ...]]:
    """Questions by systems a, b and segment: the one with a first, then b first.

    None of equal outputs, or without a reference where the rubric shows one.
    """
    pairs = combinations(range(len(batch.systems)), 2)
    places = [(a, b, i) for a, b in pairs for i in range(batch.shape[1])]
    return {cell: _questions(bound, batch, *cell) for cell in places}


def _questions(bound: BoundChatJudge, batch: Batch, a: int, b: int, i: int) -> tuple[str, ...]:
    texts = [batch.texts[int(batch.candidates[k, i])] for k in (a, b)]
    if texts[0] == texts[1]:
        return ()
    shown = {}
    if "sources" in bound.needs and batch.sources is not None:
        shown["source"] = batch.texts[int(batch.sources[i])]
    if "references" in bound.needs:
        references = batch.references[i].tolist()
        if not references:
            return ()
        shown["reference"] = "\n".join(batch.texts[number] for number in references)
    return tuple(
        bound.question_about({**shown, "first": first, "second": second})
        for first, second in (texts, texts[::-1])
    )


def users_of(asked: Mapping[tuple[int, int, int], Sequence[str]]) -> list[str]:
    """All questions, one after the other."""
    return [user for users in asked.values() for user in users]


def preferences(
    batch: Batch,
    asked: Mapping[tuple[int, int, int], Sequence[str]],
    replies: Mapping[str, Sequence[JudgeReply]],
) -> NDArray[np.float64]:
    """Preference for a in an answer where it stands first, less the one for b where b does."""
    systems, segments = batch.shape
    values = np.zeros((systems, systems, segments))
    for (a, b, i), users in asked.items():
        if users:
            each = zip(*(replies[user] for user in users), strict=True)
            gains = [_FIRST[x.choice] - _FIRST[y.choice] for x, y in each if x.choice and y.choice]
            values[a, b, i] = np.mean(gains) if gains else np.nan
            values[b, a, i] = -values[a, b, i]
    return values


def share_of_first(
    asked: Mapping[tuple[int, int, int], Sequence[str]],
    replies: Mapping[str, Sequence[JudgeReply]],
) -> float | None:
    """The share of preferences for the text that stands first; None where there are none."""
    both = [
        zip(*(replies[user] for user in users), strict=True) for users in asked.values() if users
    ]
    choices = [
        reply.choice for each in both for x, y in each if x.choice and y.choice for reply in (x, y)
    ]
    decided = [choice for choice in choices if choice != "tie"]
    return decided.count("first") / len(decided) if decided else None
