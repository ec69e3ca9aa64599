"""Metrics on vectors beside BERTScore, against their definitions in plain loops."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gnomon as gn
from gnomon.core.errors import DataError, MaskingError, MissingDependencyError, SpecError
from gnomon.metrics import bind, make_maskable
from gnomon.models import load_encoder

pytest.importorskip("torch", reason="pip install 'gnomon[models]'")

SOURCES = ["a cat on the mat .", "un !", "the house", "dog , dog"]
SYSTEMS = {
    "a": ["the cat sat .", "unbelievable !", "", "a dog on the mat"],
    "b": ["a cat sat on mat", "the dog sat", "house", "dog"],
}
REFERENCES = [
    ["the cat sat on the mat .", "a cat"],
    ["an unbelievable dog", "un able"],
    ["a house", "the mat"],
    ["a dog , on the mat .", "..."],
]


@pytest.fixture
def testset() -> gn.TestSet:
    return gn.TestSet.from_lists(SYSTEMS, REFERENCES, sources=SOURCES, language_pair="es-en")


def _options(folder: Path, **more: object) -> str:
    given: dict[str, object] = {"model": str(folder), "layer": 2, "device": "cpu", **more}
    return ", ".join(f"{key}={value!r}" for key, value in given.items())


def _scores(testset: gn.TestSet, name: str, folder: Path, **more: object) -> Any:
    return gn.score(testset, f"{name}({_options(folder, **more)})").segments


def test_xbertscore_is_bertscore_with_the_source_for_a_reference(
    testset: gn.TestSet, tiny_model: Path
) -> None:
    swapped = gn.TestSet.from_lists(SYSTEMS, [[s] for s in SOURCES], language_pair="en")
    for idf in (False, True):
        found = _scores(testset, "xbertscore", tiny_model, idf=idf)
        expected = _scores(swapped, "bertscore", tiny_model, idf=idf)
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_metrics_against_the_source_need_one(tiny_model: Path) -> None:
    testset = gn.TestSet.from_lists(SYSTEMS, REFERENCES)
    for name in ("xbertscore", "xmoverscore"):
        with pytest.raises(DataError, match="needs sources"):
            _scores(testset, name, tiny_model)
    with pytest.raises(DataError, match="needs sources"):
        _scores(testset, "sbert", tiny_model, against="source")


def test_xbertscore_cannot_be_masked_for_muler(testset: gn.TestSet, tiny_model: Path) -> None:
    _, bound = bind(testset, f"xbertscore({_options(tiny_model)})")
    with pytest.raises(MaskingError):
        make_maskable(bound, testset.batch())


def test_xbertscore_has_no_published_baselines() -> None:
    with pytest.raises(SpecError, match="baseline='FILE'"):
        gn.metrics.parse("xbertscore(rescale=True)")


def _mean_vector(folder: Path, text: str) -> np.ndarray:
    encoder = load_encoder(str(folder), layer=2, device="cpu")
    pieces = encoder.pieces([text])
    return encoder.pooled(pieces, np.array([0]))[0].astype(np.float64)


@pytest.mark.parametrize("against", ["reference", "source"])
@pytest.mark.parametrize("prefix", ["", "the "])
def test_sbert_is_the_cosine_of_mean_vectors(
    testset: gn.TestSet, tiny_model: Path, against: str, prefix: str
) -> None:
    found = _scores(testset, "sbert", tiny_model, against=against, prefix=prefix)
    for k, texts in enumerate(SYSTEMS.values()):
        for n, text in enumerate(texts):
            others = REFERENCES[n] if against == "reference" else [SOURCES[n]]
            mine = _mean_vector(tiny_model, prefix + text)
            cosines = []
            for other in others:
                theirs = _mean_vector(tiny_model, prefix + other)
                norm = np.linalg.norm(mine) * np.linalg.norm(theirs)
                cosines.append(float(mine @ theirs / norm) if text else 0.0)
            assert found[k, n] == pytest.approx(max(cosines), abs=1e-5)


def test_sbert_encodes_every_text_once(testset: gn.TestSet, tiny_model: Path) -> None:
    _, bound = bind(testset, f"sbert({_options(tiny_model)})")
    batch = testset.batch()
    used = np.union1d(batch.candidates, batch.references.indices)
    before = bound.encoder.encoded  # type: ignore[attr-defined]
    bound.segments(batch)
    bound.system(batch.select(systems=[0]))
    assert bound.encoder.encoded - before == len(used)  # type: ignore[attr-defined]


def test_sbert_refuses_models_of_another_pooling(
    testset: gn.TestSet, tiny_model: Path, tmp_path: Path
) -> None:
    for file in tiny_model.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": false}')
    with pytest.raises(SpecError, match="another pooling"):
        _scores(testset, "sbert", tmp_path)
    (tmp_path / "1_Pooling" / "config.json").write_text("[" * 100_000)
    with pytest.raises(DataError, match=r"1_Pooling.config\.json cannot be read"):
        _scores(testset, "sbert", tmp_path)


class PlainMover:
    """MoverScore of one pair: words, and a linear program for the transport."""

    def __init__(self, folder: Path, idf_texts: list[str] | None) -> None:
        self.encoder = load_encoder(str(folder), layer=2, device="cpu")
        self.weights: dict[int, float] | None = None
        if idf_texts is not None:
            m = len(idf_texts) + 1
            sets = [set(self.encoder.pieces([text]).ids.tolist()) for text in idf_texts]
            types = set().union(*sets)
            self.weights = {i: math.log(m / (sum(i in s for s in sets) + 1)) for i in types}
            self.unseen = math.log(m)

    def words(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        pieces = self.encoder.pieces([text])
        vectors = self.encoder.embed(pieces, np.array([0])).vectors.double().numpy()
        rows = [i for i, special in enumerate(pieces.special) if not special]
        first = [i for i in rows if pieces.word[i] != pieces.word[i - 1]]
        kept = [i for i in first if text[pieces.start[i] : pieces.end[i]] not in ".,!"] or rows
        ids = pieces.ids[kept].tolist()
        w = [1.0 if self.weights is None else self.weights.get(i, self.unseen) for i in ids]
        chosen = vectors[kept].reshape(-1, vectors.shape[1])
        lengths = np.maximum(np.linalg.norm(chosen, axis=1, keepdims=True), 1e-30)
        return chosen / lengths, np.array(w)

    def score(self, candidate: str, other: str) -> float:
        from scipy.optimize import linprog

        (x, a), (y, b) = self.words(candidate), self.words(other)
        if not (a.sum() > 0 and b.sum() > 0):
            return 0.0
        a, b = a / a.sum(), b / b.sum()
        cost = np.linalg.norm(x[:, None] - y[None], axis=-1)
        rows = np.kron(np.eye(len(a)), np.ones(len(b)))
        columns = np.kron(np.ones(len(a)), np.eye(len(b)))
        found = linprog(cost.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.concatenate([a, b]))
        return float(1 - found.fun)


@pytest.mark.parametrize("idf", [False, True])
def test_moverscore_is_the_cost_of_an_optimal_transport(
    testset: gn.TestSet, tiny_model: Path, idf: bool
) -> None:
    pytest.importorskip("ot", reason="needs POT: pip install 'gnomon[models]'")
    pytest.importorskip("scipy", reason="the linear program is scipy's")
    columns = [row[k] for k in (0, 1) for row in REFERENCES]
    plain = PlainMover(tiny_model, columns if idf else None)
    found = _scores(testset, "moverscore", tiny_model, idf=idf)
    for k, texts in enumerate(SYSTEMS.values()):
        for n, text in enumerate(texts):
            expected = max(plain.score(text, reference) for reference in REFERENCES[n])
            assert found[k, n] == pytest.approx(expected, abs=1e-3)


def test_moverscore_of_equal_texts_is_one(tiny_model: Path) -> None:
    pytest.importorskip("ot", reason="needs POT: pip install 'gnomon[models]'")
    texts = ["the cat sat on the mat .", "un able house", "..."]
    testset = gn.TestSet.from_lists({"a": texts}, texts)
    found = _scores(testset, "moverscore", tiny_model, idf=False)
    assert found[0] == pytest.approx(1, abs=1e-9)


def test_xmoverscore_compares_with_the_source(testset: gn.TestSet, tiny_model: Path) -> None:
    pytest.importorskip("ot", reason="needs POT: pip install 'gnomon[models]'")
    plain = PlainMover(tiny_model, None)
    found = _scores(testset, "xmoverscore", tiny_model)
    for k, texts in enumerate(SYSTEMS.values()):
        for n, text in enumerate(texts):
            assert found[k, n] == pytest.approx(plain.score(text, SOURCES[n]), abs=1e-3)


def test_defaults_are_the_models_of_the_papers(
    testset: gn.TestSet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("ot", reason="needs POT: pip install 'gnomon[models]'")
    monkeypatch.delenv("GNOMON_ALLOW_DOWNLOADS", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    for spec, model in {
        "bertscore": "roberta-large",
        "xbertscore": "joeddav/xlm-roberta-large-xnli",
        "sbert": "sentence-transformers/stsb-xlm-r-multilingual",
        "xmoverscore": "bert-base-multilingual-cased",
    }.items():
        with pytest.raises(MissingDependencyError, match=f"hf download {model}"):
            bind(testset, spec)
