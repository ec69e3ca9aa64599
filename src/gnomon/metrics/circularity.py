"""Human scores that cannot judge a metric: computed from the reference, or the metric's own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.errors import GnomonError
from gnomon.core.human import are_of_same_judgements
from gnomon.metrics import resolve, score
from gnomon.stats import pearson

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from gnomon.core.scores import Scores
    from gnomon.core.testset import TestSet
    from gnomon.metrics.base import Metric

#: names of human scores that count edits, that do not, and of references that are post-edits
_EDITS = frozenset({"hter", "ter", "hbleu", "hmeteor", "edits", "postedit", "postedits"})
_JUDGEMENTS = frozenset({"da", "mqm", "esa", "sqm", "psqm", "wmt", "rr", "darr", "likert"})
_POST_EDITS = frozenset({"pe", "postedit", "postedits", "postedited"})
#: segments that are compared with TER, and its correlation from which scores count as edits
_FEWEST, _MOST, _ALIKE = 20, 200, 0.95
_IDENTICAL, _SEVERAL = 1 - 1e-9, 4
#: of so many points at least, a correlation that no metric reaches but one made of the scores
_COPIED, _ENOUGH = 0.9999, 10


def _words(name: str) -> set[str]:
    words = re.split(r"[^a-z]+", name.lower())
    return {*words, "".join(words)}


def counts_edits(
    testset: TestSet,
    kinds: Collection[str],
    systems: Sequence[str],
    segments: NDArray[np.float64],
) -> bool:
    """True if human scores are rates of edits: by their name, or because TER gives the same."""
    words = {word for kind in kinds for word in _words(kind)}
    if words & _EDITS:
        return True
    if words & _JUDGEMENTS or not testset.references:
        return False
    scored = ~np.isnan(segments)
    rows = [
        k
        for k, name in enumerate(systems)
        if name in testset.systems and scored[k].sum() >= _FEWEST
    ]
    if not rows:
        return False
    chosen = np.flatnonzero(scored[rows[0]])[:_MOST]
    selection = testset.select(systems=[systems[rows[0]]], segments=chosen.tolist())
    edits = score(selection, "ter").segments[0]
    return abs(pearson(segments[rows[0], chosen], edits)) >= _ALIKE


def has_post_edits(testset: TestSet) -> bool:
    """True if all references are called post-edits."""
    return bool(testset.references) and all(_words(n) & _POST_EDITS for n in testset.references)


def metric_of_scores(scores: Scores) -> Metric | None:
    """The metric that scores are of, if its name is that of one and it points the same way."""
    try:
        metric = resolve(scores.metric)
    except GnomonError:
        return None
    return metric if metric.higher_is_better == scores.higher_is_better else None


def is_informed(scores: Scores, kind: str) -> bool:
    """True if human scores of a kind, raw or standardised, went into a metric's scores."""
    return any(are_of_same_judgements(kind, informing) for informing in scores.informed_by)


def circularity(
    scores: Scores,
    kinds: Collection[str],
    *,
    pairs: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]],
    edits: bool,
    post_edits: bool,
) -> str | None:
    """Why human scores cannot judge a metric, in one word; None: they can.

    "informed": it was made with them; "people": people gave its scores; "same": they are the human
    scores; "edits": the human scores count edits, as TER to a post-edit does; "post-edits": the
    references are post-edits of outputs.
    """
    if any(is_informed(scores, kind) for kind in kinds):
        return "informed"
    for human, metric in pairs:
        both = ~(np.isnan(human) | np.isnan(metric))
        if both.sum() >= _SEVERAL:
            least = _COPIED if both.sum() >= _ENOUGH else _IDENTICAL
            if pearson(human[both], metric[both]) >= least:
                return "same"
            break  # segments say it more surely than systems do
    if scores.from_people:
        return "people"
    if edits:
        return "edits"
    if not post_edits:
        return None
    metric_ = metric_of_scores(scores)
    return "post-edits" if metric_ is not None and "references" in metric_.needs else None
