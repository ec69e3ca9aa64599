"""Paraphrases that are outputs of other systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.errors import DataError, UsageError
from gnomon.core.testset import Paraphrase
from gnomon.metrics import score
from gnomon.metrics.tokenise import fitting_tokeniser
from gnomon.paraphrase._constraints import check_share, contains, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from gnomon.core.testset import TestSet
    from gnomon.paraphrase._constraints import Constraint

# Pseudo-references: what other systems said, where it is good enough.


def pseudo_references(
    testset: TestSet,
    metric: str = "chrf",
    *,
    n: int = 1,
    least: float | None = None,
    share: float = 1.0,
    shared: bool = False,
    allow_code: bool = False,
) -> tuple[Paraphrase, ...]:
    """Outputs of other systems as further references (Albrecht and Hwa, 2007), which cost nothing.

    For every system and segment, the n outputs of the *other* systems that the metric likes best
    against the references, so that no system is its own reference. An output that several systems
    have counts once, and an output equal to a reference is left out.
    """
    if n < 1:
        raise UsageError(f"at least 1 pseudo-reference is asked for; got {n}")
    check_share(share)
    if len(testset.systems) < 2:
        raise DataError("pseudo-references are other systems' outputs; give two systems or more")
    scores = score(testset, metric, allow_code=allow_code)
    sign = 1.0 if scores.higher_is_better else -1.0
    quality = sign * np.asarray(scores.segments)
    givers = _best(sign * np.asarray(scores.system), share)
    floor = -np.inf if least is None else sign * least
    names = list(testset.systems)
    made = []
    for i in range(testset.segments):
        ranked = _rank_outputs(testset, i, givers, quality[:, i], floor)
        for k in [None] if shared else range(len(names)):
            system = None if k is None else names[k]
            texts: dict[str, float] = {}
            for text, giver in ranked:
                if giver != k and len(texts) < n:
                    texts.setdefault(text, sign * float(quality[giver, i]))
            made += [
                Paraphrase(i + 1, t, "pseudo", system, v, model=metric) for t, v in texts.items()
            ]
    return tuple(made)


def _best(system: NDArray[np.float64], share: float) -> list[int]:
    size = max(2, round(share * len(system)))
    order = np.argsort(-system, kind="stable")[:size]
    return sorted(int(k) for k in order)


def _rank_outputs(
    testset: TestSet,
    segment: int,
    givers: Sequence[int],
    quality: NDArray[np.float64],
    floor: float,
) -> list[tuple[str, int]]:
    """Texts and their systems, best first; undefined scores, copies and empty texts left out."""
    columns = list(testset.systems.values())
    references = {texts[segment] for texts in testset.references.values()}
    fit = [
        k
        for k in givers
        if quality[k] >= floor
        and columns[k][segment] not in references
        and columns[k][segment].strip()
    ]
    fit.sort(key=lambda k: -float(quality[k]))
    return [(columns[k][segment], k) for k in fit]


# Outputs that hold what is asked for.


def select_outputs(
    testset: TestSet,
    asked: Sequence[Constraint],
    *,
    metric: str = "chrf",
    tokenizer: str | None = None,
) -> tuple[Paraphrase, ...]:
    """For each constraint the output that holds it and is closest to the reference.

    A paraphrase that costs nothing: the best of the given systems' own words. Copies of a
    reference and repetitions are left out.
    """
    scored = score(testset, metric)
    sign = 1 if scored.higher_is_better else -1
    columns = list(testset.systems.values())
    tokeniser = fitting_tokeniser(testset, tokenizer).name
    words = words_of([text for texts in columns for text in texts], tokeniser)
    made = []
    for constraint in asked:
        i = constraint.segment - 1
        references = {texts[i] for texts in testset.references.values()}
        holding = [
            k
            for k, texts in enumerate(columns)
            if contains(words[texts[i]].tokens, constraint.tokens) and texts[i] not in references
        ]
        if holding:
            best = max(holding, key=lambda k: sign * float(scored.segments[k, i]))
            value = float(scored.segments[best, i])
            made.append(
                Paraphrase(constraint.segment, columns[best][i], "constrained", score=value)
            )
    return tuple(dict.fromkeys(made))
