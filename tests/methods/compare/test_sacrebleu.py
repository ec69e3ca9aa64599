"""The paired tests beside sacreBLEU's own (sacrebleu.significance.PairedTest)."""

from __future__ import annotations

import math

import pytest
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

import gnomon
from gnomon import example
from gnomon.core.testset import TestSet

PEERS = {"bleu": BLEU, "chrf": CHRF, "ter": TER}


@pytest.fixture(scope="module")
def ts() -> TestSet:
    return TestSet.read(example.path())


def _sacrebleu(testset: TestSet, metrics, test: str, draws: int):
    references = [list(texts) for texts in testset.references.values()]
    systems = [(name, list(texts)) for name, texts in testset.systems.items()]
    peers = {name: PEERS[name]() for name in metrics}
    _, found = PairedTest(systems, peers, references, test, draws)()
    names = [key for key in found if key != "System"]
    return {
        (metric, system): found[name][row]
        for metric, name in zip(metrics, names, strict=True)
        for row, system in enumerate(testset.systems)
    }


@pytest.mark.parametrize("metric", PEERS)
def test_bootstrap_p_values_equal_sacrebleu_s_and_intervals_do_nearly(
    ts, metric, monkeypatch
) -> None:
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)
    theirs = _sacrebleu(ts, [metric], "bs", 500)
    ours = gnomon.compare(ts, metric, test="sacrebleu", resamples=500, examples=0, ngrams=0)
    for row in ours.rows:
        peer = theirs[metric, row["system"]]
        assert row["score"] == pytest.approx(peer.score, abs=1e-9)
        # they take the 13th smallest and largest of 500, we the quantiles between them
        assert (row["score_high"] - row["score_low"]) / 2 == pytest.approx(peer.ci, abs=0.05)
        if peer.p_value is not None:
            assert row["p"] == peer.p_value


def test_randomisation_p_values_lie_within_sacrebleu_s_spread(ts, monkeypatch) -> None:
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)
    pair = ts.select(systems=["apertium-catalan", "apertium-galician", "apertium-direct"])
    draws = 2000
    theirs = _sacrebleu(pair, ["bleu", "ter"], "ar", draws)
    options = {"baseline": "apertium-catalan", "test": "ar", "resamples": draws}
    ours = gnomon.compare(pair, ["bleu", "ter"], examples=0, ngrams=0, **options)
    compared = [row for row in ours.rows if row["p"] is not None]
    assert len(compared) == 4
    for row in compared:
        p = theirs[row["metric"], row["system"]].p_value
        spread = math.sqrt(2 * max(p * (1 - p), 1 / draws) / draws)
        assert abs(row["p"] - p) < 4 * spread


def test_on_real_outputs_p_values_equal_sacrebleu_s(shared, monkeypatch) -> None:
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)
    names = ["JHU.6819", "UCAM.6731", "NEU.6763"]
    ts = TestSet.read(shared / "data/wmt19/en-de", systems=names)
    theirs = _sacrebleu(ts, ["bleu"], "bs", 1000)
    ours = gnomon.compare(ts, "bleu", test="sacrebleu", examples=0, ngrams=0)
    for row in ours.rows:
        assert row["p"] == theirs["bleu", row["system"]].p_value
