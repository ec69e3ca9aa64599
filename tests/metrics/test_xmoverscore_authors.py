"""XMoverScore as its authors' program computes it, against plain loops and a linear program."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gnomon as gn
from gnomon.core.errors import SpecError
from gnomon.metrics import bind, parse
from gnomon.models import load_causal, load_encoder

pytest.importorskip("torch", reason="pip install 'gnomon[models]'")
pytest.importorskip("ot", reason="needs POT: pip install 'gnomon[models]'")

SOURCES = ["a cat on the mat .", "un !", "the house", "dog , dog"]
SYSTEMS = {
    "a": ["the cat sat .", "unbelievable !", "", "a dog on the mat"],
    "b": ["a cat sat on mat", "the dog sat", "house", "dog"],
}


@pytest.fixture
def testset() -> gn.TestSet:
    return gn.TestSet.from_lists(SYSTEMS, ["r"] * 4, sources=SOURCES, language_pair="es-en")


def _spec(model: Path, lm: Path) -> str:
    given = f"model={str(model)!r}, layer=2, device='cpu', lm={str(lm)!r}"
    return f"xmoverscore({given}, variant='authors')"


def _vectors(model: Path, text: str) -> np.ndarray:
    encoder = load_encoder(str(model), layer=2, device="cpu")
    found: np.ndarray = encoder.embed(encoder.pieces([text]), np.array([0])).vectors.double()
    return np.asarray(found)


def _moved(x: np.ndarray, y: np.ndarray) -> float:
    """1 - what a flow costs, without its smallest parts."""
    from scipy.optimize import linprog

    cost = np.linalg.norm(x[:, None] - y[None], axis=-1)
    rows = np.kron(np.eye(len(x)), np.ones(len(y)))
    columns = np.kron(np.ones(len(x)), np.eye(len(y)))
    margins = np.concatenate([np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y))])
    flow = linprog(cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=margins).x
    parts = sorted(part for part in flow if part > 1e-9)
    least = parts[max(int(len(parts) * 0.3), 1) - 1]
    return 1 - sum(
        part * c for part, c in zip(flow, cost.ravel(), strict=True) if part > least - 1e-9
    )


def test_it_is_the_thinned_flow_and_a_tenth_of_the_language_model(
    testset: gn.TestSet, tiny_model: Path, tiny_gpt2: Path
) -> None:
    pytest.importorskip("scipy", reason="the linear program is scipy's")
    found = gn.score(testset, _spec(tiny_model, tiny_gpt2))
    lm = load_causal(str(tiny_gpt2), device="cpu")
    for k, texts in enumerate(SYSTEMS.values()):
        fluency = lm.log_probabilities(texts)
        for n, text in enumerate(texts):
            moved = _moved(_vectors(tiny_model, text), _vectors(tiny_model, SOURCES[n]))
            assert found.segments[k, n] == pytest.approx(moved + 0.1 * fluency[n], abs=1e-3)
    assert "|variant:authors|lm:gpt2#" in str(found.signature)
    np.testing.assert_allclose(found.system, found.segments.mean(axis=1))


def test_the_language_model_reads_every_text_once(
    testset: gn.TestSet, tiny_model: Path, tiny_gpt2: Path
) -> None:
    _, bound = bind(testset, _spec(tiny_model, tiny_gpt2))
    batch = testset.batch()
    lm = load_causal(str(tiny_gpt2), device="cpu")
    before = lm.scored
    whole = bound.segments(batch)
    part = bound.segments(batch.select(systems=[1], segments=[3, 0]))
    np.testing.assert_allclose(part, whole[1:][:, [3, 0]])
    assert lm.scored - before == len(np.unique(batch.candidates))


def test_the_variant_takes_pieces_of_equal_weight() -> None:
    with pytest.raises(SpecError, match="pieces of equal weight"):
        parse("xmoverscore(variant='authors', idf=True)")


def test_a_language_model_belongs_to_the_variant() -> None:
    with pytest.raises(SpecError, match="lm belongs to variant='authors'"):
        parse("xmoverscore(lm='gpt2')")
