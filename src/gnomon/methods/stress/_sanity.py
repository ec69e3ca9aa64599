"""Texts that are no translation: whether a metric scores them below the output."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.records import METRIC, Record, column
from gnomon.methods.stress._outcomes import share_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.methods.stress._corpus import CorpusScores
    from gnomon.methods.stress._outcomes import ScoredPairs


class SanityRow(Record):
    """A text that is no translation in place of each output, under one metric."""

    metric: str = METRIC
    input: str = column("Input", help="what stands in place of the output")
    pairs: int = column("Pairs", help="of which the metric scored both texts")
    below: float | None = column(
        "Scored below",
        kind="share",
        better="higher",
        interval=True,
        help="share of pairs in which it scores below the output",
    )
    ties: float | None = column("Ties", kind="share", help="share of pairs with equal scores")
    score_share: float | None = column(
        "Share of the score", help="mean of its scores, as a share of the mean of the outputs'"
    )
    corpus: float | None = column("Corpus score", help="with this input in place of each output")
    output_corpus: float | None = column("Of the outputs", help="corpus score of the same outputs")
    systems: int | None = column("Systems", help="whose corpus scores are known; blank without any")
    beaten: int | None = column(
        "Beaten", better="lower", help="systems whose corpus score is no better than the input's"
    )
    control: bool = column("Control", help="random scores, or lengths of texts alone")


def sanity_rows(scored: ScoredPairs, *, confidence: float) -> Iterator[SanityRow]:
    """A row per metric and input."""
    groups = scored.groups
    sanity = groups.of_kind("sanity")
    names = list(dict.fromkeys(groups.names[n] for n in np.flatnonzero(sanity).tolist()))
    of_name = {name: np.array([other == name for other in groups.names]) for name in names}
    for metric, outcome in scored.outcomes.items():
        for name in names:
            there = np.flatnonzero(of_name[name] & outcome.scored)
            if not len(there):
                continue
            below = share_interval(outcome.seen[there], groups.clusters[there], level=confidence)
            good, bad = float(outcome.good[there].mean()), float(outcome.bad[there].mean())
            # of scores around 0, as those of many learned metrics, a share means nothing
            sign = scored.signs.get(metric, 1)
            every = sign * np.concatenate([outcome.good[there], outcome.bad[there]])
            is_scale = bool(good) and every.min() >= 0
            corpus = scored.corpora.get(metric, {}).get(name)
            scores = scored.systems.get(metric) if corpus else None
            yield SanityRow(
                metric=metric,
                input=name,
                pairs=len(there),
                below=below.estimate,
                ties=float(outcome.tied[there].mean()),
                score_share=bad / good if is_scale and metric not in scored.controls else None,
                corpus=corpus.bad if corpus else None,
                output_corpus=corpus.good if corpus else None,
                systems=len(scores) if scores else None,
                beaten=_beaten(corpus, scores) if scores and corpus else None,
                control=metric in scored.controls,
                intervals={"below": below[1:]},
            )


def _beaten(corpus: CorpusScores, scores: Sequence[float]) -> int | None:
    if not math.isfinite(corpus.bad):
        return None
    return sum(corpus.sign * score <= corpus.sign * corpus.bad for score in scores)
