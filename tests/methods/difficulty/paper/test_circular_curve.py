"""Figure 2 as the authors draw it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.methods.difficulty.sets import contest, rows

import gnomon as gn
from gnomon import difficulty, stats
from gnomon.metrics import BertScore

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = {"other_metrics": []}


@pytest.fixture(scope="module")
def small() -> gn.TestSet:
    return contest()


@pytest.fixture
def tokens(tiny_model: Path) -> str:
    pytest.importorskip("torch", reason="pip install 'gnomon[models]'")
    return f"bertscore(model='{tiny_model}', layer=2, device='cpu')"


@pytest.mark.parametrize("inner", ["tokens", "rouge1"])
def test_the_curve_of_the_authors_binds_to_the_best_k_systems(inner, small, request) -> None:
    spec = request.getfixturevalue("tokens") if inner == "tokens" else inner
    found = difficulty.score(small, spec, allow_circular=True, **PLAIN)
    curve = [
        row
        for row in rows(found, "curves", statistic="pearson")
        if row["metric"].endswith("same K systems (circular)")
    ]
    for row in curve[:3]:
        best = small.select(systems=[f"s{i}" for i in range(row["k"])])
        scores = gn.score(best, f"difficulty({spec})").system
        expected = stats.pearson(-np.arange(float(row["k"])), scores)
        assert row["value"] == pytest.approx(expected, abs=1e-6)
    assert any(notice.startswith("CIRCULAR, as was allowed") for notice in found.notices)


def test_the_authors_curve_is_left_out_with_a_notice_unless_allowed(small) -> None:
    found = difficulty.score(small, "rouge1", **PLAIN)
    assert not any("circular" in str(row["metric"]) for row in rows(found, "curves"))
    assert any("--allow-circular" in notice for notice in found.notices)


def test_nothing_is_encoded_again_for_curves(small, tokens) -> None:
    options = BertScore(**_options(tokens))
    encoder = options.bind(small).encoder
    encoder.memory.clear()  # of other tests, which share the encoder
    before = encoder.encoded
    weighted = difficulty.Difficulty(options, rescale=False)
    difficulty.score(small, weighted, curves=False, **PLAIN)
    once = encoder.encoded - before
    encoder.memory.clear()
    difficulty.score(small, weighted, allow_circular=True, **PLAIN)
    assert encoder.encoded - before == 2 * once


def _options(tokens: str) -> dict:
    from gnomon.metrics import parse

    metric = parse(tokens)
    return {name: getattr(metric, name) for name in ("model", "layer", "device")}
