"""How often a metric that was trained is said to agree worse than another that is as good."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from tests.noise import is_mostly_undecided
from tests.truth.worlds_train import row

from gnomon.core.findings import Finding
from gnomon.core.records import table
from gnomon.train.held_out import agreement_rows
from gnomon.train.rows import HeldOutRow, LearnedSetRow, TrainedMetricRow
from gnomon.train.verdict import train_metric_verdict

if TYPE_CHECKING:
    from gnomon.train.judged import JudgedOutputs
    from gnomon.train.runs import TrainingRequest


@pytest.mark.parametrize("draws", [20, pytest.param(1000, marks=pytest.mark.verify)])
def test_noise_of_held_out_documents_is_no_loss(draws: int) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install 'gnomon[learned]'")
    of = np.arange(150) // 5
    undecided = 0
    for seed in range(draws):
        draw = np.random.default_rng(seed)
        label = draw.normal(size=30)[of] + draw.normal(size=150)
        own, other = (label + draw.normal(size=30)[of] + draw.normal(size=150) for _ in range(2))
        whole = np.ones(150, bool)
        held = SimpleNamespace(label=label, judged=np.zeros(150, int), group=of, held_out=whole)
        asked = SimpleNamespace(resamples=200, confidence=0.95, recipe=SimpleNamespace(seed=seed))
        rows = agreement_rows(
            cast("TrainingRequest", asked),
            cast("JudgedOutputs", held),
            {"comet('m')": own, "chrf": other},
            whole,
            ("set", "da"),
        )
        made = row(TrainedMetricRow, folder="m", stopped="patience", best=1, passes=5)
        tables = (
            table("metric", "", TrainedMetricRow, [made]),
            table("held_out", "", HeldOutRow, rows, confidence=0.95),
            table("sets", "", LearnedSetRow, [row(LearnedSetRow, test_set="set")]),
        )
        told = train_metric_verdict(Finding("train metric", "", tables, {}))
        undecided += all(one.level != "finding" for one in told)
    assert is_mostly_undecided(undecided, draws)
