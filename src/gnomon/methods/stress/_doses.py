"""How scores fall with the number of errors in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.records import METRIC, Record, column
from gnomon.methods.stress._outcomes import share_interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.methods.stress._outcomes import ScoredPairs


class DoseRow(Record):
    """Sentences with so many errors of one kind, under one metric."""

    metric: str = METRIC
    phenomenon: str = column("Phenomenon", help="in what the two texts of a pair differ")
    dose: int = column("Dose", help="at how many places the worse text differs")
    pairs: int = column("Pairs", help="with this dose, of sentences that have several doses")
    drop: float | None = column(
        "Drop", help="by how much the worse texts score lower on average, in the metric's units"
    )
    never_rises: float | None = column(
        "Never rises",
        kind="share",
        better="higher",
        interval=True,
        help="share of sentences whose score rises at no dose up to this one",
    )
    control: bool = column("Control", help="random scores, or lengths of texts alone")


def dose_rows(scored: ScoredPairs, *, confidence: float) -> Iterator[DoseRow]:
    """A row per metric, phenomenon and dose, of sentences with pairs of several doses."""
    groups = scored.groups
    series: dict[tuple[str, int], dict[int, int]] = {}
    for number, (name, sentence) in enumerate(
        zip(groups.names, groups.sentences.tolist(), strict=True)
    ):
        series.setdefault((name, sentence), {}).setdefault(groups.pairs[number].dose, number)
    several = {key: dict(sorted(doses.items())) for key, doses in series.items() if len(doses) > 1}
    for metric, outcome in scored.outcomes.items():
        at_dose: dict[tuple[str, int], list[tuple[int, bool]]] = {}
        for (name, _), doses in several.items():
            never = True
            numbers = list(doses.values())
            before = float(outcome.good[numbers[0]])
            if not outcome.scored[numbers].all():
                continue
            for dose, number in doses.items():
                score = float(outcome.bad[number])
                never = never and score <= before + outcome.ties
                at_dose.setdefault((name, dose), []).append((number, never))
                before = score
        for name, dose in sorted(at_dose, key=lambda key: (groups.names.index(key[0]), key[1])):
            numbers = [number for number, _ in at_dose[name, dose]]
            never_rises = np.array([never for _, never in at_dose[name, dose]])
            share = share_interval(never_rises, groups.clusters[numbers], level=confidence)
            yield DoseRow(
                metric=metric,
                phenomenon=name,
                dose=dose,
                pairs=len(numbers),
                drop=float(outcome.drops[numbers].mean()),
                never_rises=share.estimate,
                control=metric in scored.controls,
                intervals={"never_rises": share[1:]},
            )
