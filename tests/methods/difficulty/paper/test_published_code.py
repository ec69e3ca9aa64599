"""The authors' own runs (shared/oracles/da), end to end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gnomon as gn
from gnomon.difficulty.matched import corpus_parts, part_statistics
from gnomon.metrics import bind

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("torch", reason="pip install 'gnomon[models]'")

RUNS = ("default", "range_one", "ref_diff+softmax_norm+range_one")


@pytest.fixture(scope="module")
def oracle(shared: Path) -> dict[str, Any]:
    path = shared / "oracles" / "da" / "e2e_tinybert.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def testset(shared: Path, oracle: dict[str, Any]) -> gn.TestSet:
    whole = gn.TestSet.read(shared / "data" / "wmt19" / "en-de", systems=oracle["systems"])
    low, high = oracle["texts"]["segments"]
    own = {name: texts[low - 1 : high] for name, texts in whole.systems.items()}
    references = [text or "" for text in whole.references["A"][low - 1 : high]]
    return gn.TestSet.from_lists(own, references, language_pair="en-de")


def _spec(shared: Path, score: str, options: str = "") -> str:
    folder = shared / "oracles" / "da"
    inner = f"model='{folder / 'tinybert'}', layer=2, baseline='{folder / 'base.tsv'}'"
    return (
        f"difficulty(bertscore({inner}, rescale=True, score='{score}'), variant='authors'{options})"
    )


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(("score", "part"), [("precision", "P"), ("recall", "R"), ("f", "F")])
def test_system_scores_are_those_of_the_published_code(
    shared, testset, oracle, run, score, part
) -> None:
    expected = oracle["results"][run]
    options = "".join(f", {name}=True" for name in expected["options"])
    found = gn.score(testset, _spec(shared, score, options))
    wanted = [expected["scores"][name][f"DA_{part}"] for name in found.systems]
    assert found.system == pytest.approx(wanted, abs=1e-6)


def test_base_scores_are_those_of_the_published_code(shared, testset, oracle) -> None:
    _, bound = bind(testset, _spec(shared, "f", ", weighted=False"))
    parts = bound.score_parts(testset.batch())  # type: ignore[attr-defined]  # a matching metric
    found = corpus_parts(part_statistics(parts).sum(axis=1), 1.0)
    scores = oracle["results"]["default"]["scores"]
    wanted = [[scores[name][part] for part in "PRF"] for name in testset.systems]
    assert np.allclose(found, wanted, atol=1e-6)


def test_the_largest_weight_divides_all_under_max_norm(shared, testset) -> None:
    plain = gn.score(testset, _spec(shared, "recall", ", range_one=True"))
    divided = gn.score(testset, _spec(shared, "recall", ", range_one=True, max_norm=True"))
    # weighted means do not change when all weights of a text are divided by one number
    assert divided.system == pytest.approx(plain.system, abs=1e-9)
    raised = gn.score(testset, _spec(shared, "recall", ", max_norm=True")).system
    assert (raised > gn.score(testset, _spec(shared, "recall")).system).all()
