"""Input times gradient against finite differences, in double precision."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gnomon as gn
from gnomon.bmx import Explanations, explanations
from gnomon.core.errors import UsageError
from gnomon.metrics import bind

torch = pytest.importorskip("torch", reason="pip install 'gnomon[models]'")

SYSTEMS = {
    "a": ["the unbelievable cat sat .", "a dog", "", "dog on the mat"],
    "b": ["a cat on mat", "house !", "the cat", ""],
}
REFERENCES = ["the cat sat on the mat .", "a dog , a house", "un able", "..."]
STEP = 1e-5


@pytest.fixture
def testset() -> gn.TestSet:
    return gn.TestSet.from_lists(
        SYSTEMS, REFERENCES, sources=["a house", "the mat", "cat", "dog"], language_pair="es-en"
    )


@contextmanager
def _double(model: Any) -> Iterator[None]:
    """A model in double precision."""
    model.double()
    try:
        yield
    finally:
        model.float()


def _spec(name: str, folder: Path, **more: object) -> str:
    given: dict[str, object] = {"model": str(folder), "layer": 2, "device": "cpu", **more}
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})"


@contextmanager
def _scaled(model: Any, ids: list[int], by: float) -> Iterator[None]:
    """The embeddings of some pieces grown by a factor."""
    chosen = torch.tensor(ids)

    def grow(_module: Any, given: Any, found: Any) -> Any:
        return found * (1 + by * torch.isin(given[0], chosen).double().unsqueeze(-1))

    handle = model.get_input_embeddings().register_forward_hook(grow)
    try:
        yield
    finally:
        handle.remove()


METRICS = [
    ("bertscore", {}),
    ("bertscore", {"score": "precision", "idf": True}),
    ("bertscore", {"score": "recall", "special": "exclude"}),
    ("xbertscore", {}),
    ("sbert", {}),
    ("sbert", {"prefix": "the ", "against": "source"}),
]


@pytest.mark.parametrize(("name", "options"), METRICS)
def test_importances_are_directional_derivatives(
    testset: gn.TestSet, tiny_model: Path, name: str, options: dict[str, object]
) -> None:
    _, bound = bind(testset, _spec(name, tiny_model, **options))
    assert "gradients" in bound.can
    encoder = bound.encoder
    model, tokenizer = encoder.model, encoder.tokenizer
    batch = testset.batch().select(systems=[0], segments=[0])
    ids = tokenizer.convert_tokens_to_ids(["cat", "##believ"])
    other = batch.sources[0] if "sources" in bound.needs else batch.references_of(0)[0][0]
    ends, total = [], 0.0
    with _double(model):
        found = bound.attributions(batch)
        sides = zip((found.candidate, found.other), (batch.candidates[0, 0], other), strict=True)
        for side, number in sides:
            own = encoder.pieces([str(options.get("prefix", "")) + batch.texts[number]]).ids
            total += side.value[np.isin(own, ids)].sum()
        for sign in (1, -1):
            with _scaled(model, ids, sign * STEP):
                ends.append(float(bound.attributions(batch).score[0]))
    assert total == pytest.approx((ends[0] - ends[1]) / (2 * STEP), rel=1e-6)
    assert abs(total) > 1e-4


@pytest.mark.parametrize(("name", "options"), METRICS)
def test_what_is_differentiated_is_the_metric(
    testset: gn.TestSet, tiny_model: Path, name: str, options: dict[str, object]
) -> None:
    _, bound = bind(testset, _spec(name, tiny_model, **options))
    assert "gradients" in bound.can
    batch = testset.batch()
    scores = bound.segments(batch).ravel()
    found = bound.attributions(batch)
    np.testing.assert_allclose(found.score, scores[found.cell], atol=2e-6)


def _explained(testset: gn.TestSet, folder: Path, **options: object) -> Explanations:
    return explanations(testset, _spec("bertscore", folder, **options), "gradient")


def test_a_word_sums_over_its_pieces(testset: gn.TestSet, tiny_model: Path) -> None:
    found = _explained(testset, tiny_model)
    _, bound = bind(testset, _spec("bertscore", tiny_model))
    assert "gradients" in bound.can
    side = bound.attributions(testset.batch().select(systems=[0], segments=[0])).candidate
    pieces = side.value[1:-1]  # without [CLS] and [SEP]
    own = found.sides[0]
    words = own.importance[own.rows(0)]
    # the | un ##believ ##able | cat | sat | .
    expected = [pieces[0], pieces[1:4].sum(), pieces[4], pieces[5], pieces[6]]
    np.testing.assert_allclose(words, expected, rtol=1e-4, atol=1e-7)


def test_company_changes_nothing(testset: gn.TestSet, tiny_model: Path) -> None:
    together = _explained(testset, tiny_model)
    for system in SYSTEMS:
        for segment in range(4):
            alone = explanations(
                testset,
                _spec("bertscore", tiny_model),
                "gradient",
                systems=[system],
                segments=[segment + 1],
            )
            cell = list(SYSTEMS).index(system) * 4 + segment
            for a, b in zip(together.sides, alone.sides, strict=True):
                np.testing.assert_allclose(a.importance[a.rows(cell)], b.importance, atol=1e-6)


def test_long_texts_are_explained_through_their_windows(tiny_model: Path) -> None:
    text = "the cat sat on a mat , a dog . " * 8
    ts = gn.TestSet.from_lists({"a": [text]}, ["the dog sat on a house ."])
    cut, whole = (_explained(ts, tiny_model, long=long) for long in ("truncate", "window"))
    assert not cut.sides[0].importance[-10:].any()
    assert whole.sides[0].importance.all()


def test_metrics_without_gradients_are_refused(testset: gn.TestSet) -> None:
    with pytest.raises(UsageError, match="take bertscore, xbertscore, sbert or comet"):
        explanations(testset, "chrf", "gradient")


def test_one_call_explains_a_pair(testset: gn.TestSet, tiny_model: Path) -> None:
    assert _explained(testset, tiny_model).calls == 8
