"""Baselines that are estimated from shuffled texts: which pairs, what is kept, what is said."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.told import notes

import gnomon as gn
from gnomon.core.errors import DataError, MissingDependencyError, SpecError
from gnomon.metrics import BertScore, bind
from gnomon.metrics.baselines import PAIRS, find_baseline, random_pairs

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = ["the cat sat .", "a dog on the mat", "a house", "an unbelievable dog", "the mat"]


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def testset() -> gn.TestSet:
    pytest.importorskip("torch", reason="pip install 'gnomon[models]'")
    return gn.TestSet.from_lists({"s": TEXTS[::-1]}, TEXTS, language_pair="en")


def test_pairs_are_of_different_texts_each_once_and_all_texts_as_often() -> None:
    texts = [f"text {n}" for n in range(30)]
    pairs = random_pairs([(text, text) for text in [*texts, *texts]], seed=1)
    assert len(pairs) == len(set(pairs)) == 30 * 29
    assert all(a != b for a, b in pairs)
    many = random_pairs([(f"a{n}", f"b{n}") for n in range(1500)], seed=1)
    assert len(many) == PAIRS
    assert all(a[1:] != b[1:] for a, b in many)
    assert len({a for a, _ in many}) == 1500
    assert many == random_pairs([(f"a{n}", f"b{n}") for n in range(1500)], seed=1)
    assert many != random_pairs([(f"a{n}", f"b{n}") for n in range(1500)], seed=2)


@pytest.mark.parametrize("texts", [[], ["one"], ["one", "one"], ["one", " "]])
def test_one_text_is_not_unrelated_to_itself(texts: list[str]) -> None:
    with pytest.raises(DataError, match="too few"):
        random_pairs([(text, text) for text in texts], seed=1)


def test_an_estimate_is_kept_and_said_in_the_signature(testset, tiny_model, cache) -> None:
    metric = BertScore(model=str(tiny_model), layer=2, device="cpu", rescale="estimate")
    bound = metric.bind(testset)
    assert "rescale='estimate'" in bound.signature.spec
    assert "baseline:20-shuffled-pairs,seed-12345#" in str(bound.signature)
    before = bound.encoder.encoded
    bound.encoder.memory.clear()
    again = metric.bind(testset)
    assert again.baseline == bound.baseline
    assert again.encoder.encoded == before  # read from the cache
    assert any(cache.iterdir())


def test_unrelated_texts_score_0_on_average(testset, tiny_model, cache) -> None:
    metric = BertScore(model=str(tiny_model), layer=2, device="cpu", rescale="estimate")
    bound = metric.bind(testset)
    pairs = random_pairs([(text, text) for text in TEXTS], 12345)
    shuffled = gn.TestSet.from_lists({"s": [a for a, _ in pairs]}, [b for _, b in pairs])
    assert bound.score_parts(shuffled.batch()).mean(axis=1)[0] == pytest.approx([0, 0, 0], abs=1e-9)
    same = gn.TestSet.from_lists({"s": TEXTS}, TEXTS)
    assert bound.score_parts(same.batch()) == pytest.approx(np.ones((1, 5, 3)), abs=1e-5)


def test_a_model_without_a_published_baseline_is_refused(tiny_model) -> None:
    with pytest.raises(MissingDependencyError, match="rescale='estimate'"):
        find_baseline(str(tiny_model), "en")


def test_sources_are_paired_with_references_of_other_segments(tiny_model, cache) -> None:
    pytest.importorskip("torch", reason="pip install 'gnomon[models]'")
    spec = f"xbertscore(model='{tiny_model}', layer=2, device='cpu', rescale='estimate')"
    sources = ["un chat", "un chien", "maison"]
    both = gn.TestSet.from_lists({"s": TEXTS[:3]}, TEXTS[:3], sources=sources)
    assert bind(both, spec)[1].baseline.identity.startswith("6-shuffled")  # type: ignore[attr-defined]  # BERTScore has one
    alone = replace(both, references={})
    with pytest.raises(DataError, match="has no references"):
        bind(alone, spec)
    _, bound = bind(alone, f"difficulty(xbertscore(model='{tiny_model}', layer=2))")
    notices = notes(bound.notices(alone.batch()))  # type: ignore[attr-defined]  # difficulty has some
    assert any("similarities are not rescaled" in notice for notice in notices)


def test_difficulty_rescales_unless_it_is_told_not_to(testset, tiny_model, cache) -> None:
    base = f"bertscore(model='{tiny_model}', layer=2, device='cpu')"
    batch = testset.batch()
    scores = {}
    for options in ("", ", rescale=False"):
        _, bound = bind(testset, f"difficulty({base}{options})")
        scores[options] = bound.score_parts(batch)  # type: ignore[attr-defined]  # of tokens
        warned = any("not rescaled" in one for one in notes(bound.notices(batch)))  # type: ignore[attr-defined]  # likewise
        assert warned is bool(options)
        assert ("shuffled-pairs" in str(bound.signature)) is not bool(options)
    for more in ("", ", variant='authors'"):
        _, bound = bind(testset, f"difficulty({base}, rescale='estimate'{more})")
        assert "shuffled-pairs" in str(bound.signature)
        same = np.allclose(bound.score_parts(batch), scores[""])  # type: ignore[attr-defined]  # as above
        assert same is not bool(more)
    # rescaling moves the recall of all outputs of a segment alike, and so changes no agreement
    floor = bind(testset, base.replace(")", ", special='exclude', rescale='estimate')"))[1]
    factor = (1 - floor.baseline.f) ** 2  # type: ignore[attr-defined]  # BERTScore has one
    assert not np.allclose(scores[""], scores[", rescale=False"])
    moved = scores[""][..., 1] * factor - scores[", rescale=False"][..., 1]
    assert np.ptp(moved, axis=0) == pytest.approx(np.zeros(5), abs=1e-6)


def test_a_baseline_in_a_file_is_no_estimate() -> None:
    with pytest.raises(SpecError, match="add rescale=True"):
        BertScore(rescale="estimate", baseline="x.tsv")
