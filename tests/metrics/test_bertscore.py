"""BERTScore against its definition in plain loops, on a tiny model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.told import notes

import gnomon as gn
from gnomon.core.errors import DataError, FormatError, MissingDependencyError, SpecError
from gnomon.core.spans import SpanTable
from gnomon.metrics import BertScore, MaskPlan, signature_of
from gnomon.metrics import embeddings as _embeddings
from gnomon.models import load_encoder

if TYPE_CHECKING:
    from gnomon.metrics.bertscore import BoundBertScore

pytest.importorskip("torch", reason="pip install 'gnomon[models]'")

SYSTEMS = {
    "a": ["the cat sat .", "unbelievable !", "", "a dog on the mat", "the cat sat ."],
    "b": ["a cat sat on mat", "the dog sat", "house", "a dog on the mat", "dog"],
}
REFERENCES = [
    ["the cat sat on the mat .", "a cat"],
    ["an unbelievable dog", "un able"],
    ["a house", "the mat"],
    ["a dog on the mat", "a dog , on the mat ."],
    ["the cat sat .", "house"],
]


@pytest.fixture
def testset() -> gn.TestSet:
    return gn.TestSet.from_lists(SYSTEMS, REFERENCES, language_pair="en")


@pytest.fixture
def options(tiny_model: Path) -> dict[str, Any]:
    return {"model": str(tiny_model), "layer": 2, "device": "cpu"}


def _bound(testset: gn.TestSet, **options: Any) -> BoundBertScore:
    return BertScore(**options).bind(testset)


class Plain:
    """BERTScore of one pair, token by token."""

    def __init__(self, options: dict[str, Any], *, match_special: bool = True) -> None:
        self.encoder = load_encoder(options["model"], layer=options["layer"], device="cpu")
        self.match_special = match_special

    def parts(
        self,
        candidate: str,
        reference: str,
        weights: dict[int, float] | None = None,
        masks: Sequence[dict[int, int]] = ({}, {}),
    ) -> tuple[float, float, float]:
        """Masks: per side, piece -> 1 (shared) or 2 (private)."""
        pieces = self.encoder.pieces([candidate, reference])
        vectors = self.encoder.embed(pieces, np.arange(2)).vectors.numpy()
        split = pieces.offsets[1]
        sim = vectors[:split] @ vectors[split:].T
        for i in range(sim.shape[0]):
            for j in range(sim.shape[1]):
                pair = masks[0].get(i, 0), masks[1].get(j, 0)
                if 2 in pair:
                    sim[i, j] = 0
                elif pair == (1, 1):
                    sim[i, j] = 1
        if not self.match_special:
            special = pieces.special
            plain = np.flatnonzero(~special[:split]), np.flatnonzero(~special[split:])
            if not (len(plain[0]) and len(plain[1])):
                return 0.0, 0.0, 0.0
            best = np.zeros(split), np.zeros(sim.shape[1])
            best[0][:] = sim[:, plain[1]].max(axis=1)
            best[1][:] = sim[plain[0]].max(axis=0)
        else:
            best = sim.max(axis=1), sim.max(axis=0)
        means = []
        for values, rows in zip(best, (slice(0, split), slice(split, None)), strict=True):
            ids, special = pieces.ids[rows].tolist(), pieces.special[rows]
            w = [
                0.0 if s else 1.0 if weights is None else weights.get(i, weights[-1])
                for i, s in zip(ids, special, strict=True)
            ]
            if not sum(w):
                return 0.0, 0.0, 0.0
            means.append(float(np.dot(values, w) / sum(w)))
        p, r = means
        return p, r, 2 * p * r / (p + r) if p + r else 0.0


def _expected(plain: Plain, **more: Any) -> np.ndarray:
    found = [
        [
            np.max([plain.parts(c, r, **more) for r in refs], axis=0)
            for c, refs in zip(texts, REFERENCES, strict=True)
        ]
        for texts in SYSTEMS.values()
    ]
    return np.array(found)


@pytest.mark.parametrize("special", ["match", "exclude"])
def test_parts_equal_the_definition(
    testset: gn.TestSet, options: dict[str, Any], special: str
) -> None:
    found = _bound(testset, special=special, **options).score_parts(testset.batch())
    expected = _expected(Plain(options, match_special=special == "match"))
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_idf_weights_count_references_that_have_the_piece(
    testset: gn.TestSet, options: dict[str, Any]
) -> None:
    plain = Plain(options)
    texts = [r for row in REFERENCES for r in row]
    frequency: dict[int, int] = {}
    for text in texts:
        for piece in set(plain.encoder.pieces([text]).ids.tolist()):
            frequency[piece] = frequency.get(piece, 0) + 1
    m = len(texts) + 1
    weights = {i: np.log(m / (n + 1)) for i, n in frequency.items()} | {-1: np.log(m)}
    found = _bound(testset, idf=True, **options).score_parts(testset.batch())
    np.testing.assert_allclose(found, _expected(plain, weights=weights), atol=1e-5)


def test_rescaling_maps_the_baseline_to_zero_and_one_to_one(
    testset: gn.TestSet, options: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "base.tsv"
    file.write_text("LAYER,P,R,F\n0,0,0,0\n2,0.5,0.25,0.4\n", encoding="utf-8")
    raw = _bound(testset, **options).score_parts(testset.batch())
    bound = _bound(testset, rescale=True, baseline=str(file), **options)
    base = np.array([0.5, 0.25, 0.4])
    np.testing.assert_allclose(bound.score_parts(testset.batch()), (raw - base) / (1 - base))
    assert "base.tsv#" in str(bound.signature)


def test_every_distinct_text_is_cut_and_encoded_once(
    testset: gn.TestSet, options: dict[str, Any]
) -> None:
    bound = _bound(testset, **options)
    batch = testset.batch()
    bound.encoder.memory.clear()
    before = bound.encoder.tokenised, bound.encoder.encoded
    bound.segments(batch)
    bound.system(batch)
    bound.segments(batch.select(systems=[1], segments=[2, 0]))
    bound.masked(batch, _plan(testset)[0])
    assert bound.encoder.tokenised - before[0] == len(batch.texts)
    assert bound.encoder.encoded - before[1] == len(batch.texts)


def test_metrics_that_share_an_encoder_share_what_it_found(
    testset: gn.TestSet, options: dict[str, Any]
) -> None:
    plain = _bound(testset, **options)
    plain.encoder.memory.clear()
    before = plain.encoder.encoded
    scores = [plain.score_parts(testset.batch())]
    scores += [
        _bound(testset, idf=i, **options).score_parts(testset.batch()) for i in (True, False)
    ]
    assert plain.encoder.encoded - before == len(testset.batch().texts)
    assert (scores[0] == scores[2]).all()
    assert (scores[0] != scores[1]).any()


def test_small_budgets_change_nothing_and_encode_nothing_twice(
    testset: gn.TestSet, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    batch, (plan, _) = testset.batch(), _plan(testset)
    whole = _bound(testset, **options)
    expected = whole.score_parts(batch), whole.masked(batch, plan)
    monkeypatch.setattr(_embeddings, "_VECTORS", {"cpu": 1})
    monkeypatch.setattr(_embeddings, "_PADDED", {"cpu": 1})
    monkeypatch.setattr(_embeddings, "_MATRICES", 0)
    bound = _bound(testset, **options)
    bound.encoder.memory.clear()
    before = bound.encoder.encoded
    np.testing.assert_allclose(bound.score_parts(batch), expected[0], atol=1e-6)
    np.testing.assert_allclose(bound.masked(batch, plan), expected[1], atol=1e-6)
    assert bound.encoder.encoded - before == len(batch.texts)


def _plan(testset: gn.TestSet) -> tuple[MaskPlan, list[dict[str, list[tuple[int, int]]]]]:
    """Words as features: "the", "cat", and the three pieces of "unbelievable"."""
    import re

    features = {"the": r"\bthe\b", "cat": r"\bcat\b|\bdog\b", "un": r"\bunbelievable\b|\bun\b"}
    marks = [
        {name: [m.span() for m in re.finditer(rule, text)] for name, rule in features.items()}
        for text in testset.batch().texts
    ]
    return MaskPlan.oracles(SpanTable.build(marks, list(features))), marks


@pytest.mark.parametrize("special", ["match", "exclude"])
def test_masked_scores_equal_an_edited_matrix(
    testset: gn.TestSet, options: dict[str, Any], special: str
) -> None:
    batch, (plan, marks) = testset.batch(), _plan(testset)
    # beside oracles and anti-oracles: one group shared, another private at once
    mixed = np.array([[1, 2, 0], [2, 1, 1], [0, 0, 0]], dtype=np.int8)
    plan = MaskPlan(plan.spans, np.concatenate([plan.actions, mixed]))
    plain = Plain(options, match_special=special == "match")
    found = _bound(testset, special=special, **options).masked(batch, plan)
    features = plan.spans.features

    def masks(text: str, actions: np.ndarray) -> dict[int, int]:
        pieces = plain.encoder.pieces([text])
        acts: dict[int, int] = {}
        for name, action in zip(features, actions.tolist(), strict=True):
            for low, high in marks[batch.texts.index(text)][name]:
                for i, (a, b) in enumerate(zip(pieces.start, pieces.end, strict=True)):
                    if min(b, high) > max(a, low):
                        acts[i] = max(acts.get(i, 0), action)
        return acts

    for variant, actions in enumerate(plan.actions):
        for k, texts in enumerate(SYSTEMS.values()):
            for n, text in enumerate(texts):
                expected = max(
                    plain.parts(text, r, masks=(masks(text, actions), masks(r, actions)))[2]
                    for r in REFERENCES[n]
                )
                assert found[variant, k, n] == pytest.approx(expected, abs=1e-5)


def test_all_pieces_of_a_tagged_word_are_masked(
    testset: gn.TestSet, options: dict[str, Any]
) -> None:
    batch, (plan, _) = testset.batch(), _plan(testset)
    bound = _bound(testset, **options)
    (base,) = bound.matches(batch)
    anti = list(bound.matches(batch, plan))[5]  # the anti-oracle of "unbelievable"
    text = batch.texts.index("unbelievable !")
    rows = base.tokens.rows(text)
    inside = np.isin(anti.candidate.token, np.arange(rows.start + 1, rows.start + 4))
    assert inside.sum() == 2 * 3  # two references
    assert (anti.candidate.best[inside] == 0).all()
    assert (base.candidate.best[inside] > 0).all()


def test_where_nothing_is_tagged_masked_scores_are_the_scores(
    testset: gn.TestSet, options: dict[str, Any]
) -> None:
    batch = testset.batch()
    plan = MaskPlan.oracles(SpanTable.build([{} for _ in batch.texts], ["none"]))
    bound = _bound(testset, **options)
    masked = bound.masked(batch, plan)
    assert (masked == bound.segments(batch)).all()


def test_matches_name_tokens_types_words_and_places(
    testset: gn.TestSet, options: dict[str, Any]
) -> None:
    bound = _bound(testset, **options)
    batch = testset.batch()
    assert "match" in bound.can
    (matches,) = bound.matches(batch)
    tokens = matches.tokens
    for side, other in ((matches.candidate, 1), (matches.reference, 0)):
        owner = np.searchsorted(tokens.offsets, side.at, "right") - 1
        assert (owner == matches.texts[side.pair, other]).all()
    same = [d for d, (c, r) in enumerate(matches.texts.tolist()) if c == r]
    for d in same:
        slots = slice(*matches.candidate.offsets[d : d + 2].tolist())
        assert (matches.candidate.at[slots] == matches.candidate.token[slots]).all()
        assert matches.candidate.best[slots] == pytest.approx(1, abs=1e-5)
    text = batch.texts.index("unbelievable !")
    assert tokens.word[tokens.rows(text)].tolist() == [-1, 0, 0, 0, 1, -1]


def test_equal_outputs_share_one_pair(testset: gn.TestSet, options: dict[str, Any]) -> None:
    (matches,) = _bound(testset, **options).matches(testset.batch())
    assert len(matches.pair) == 20
    assert len(matches.texts) == 18  # "a dog on the mat" twice, with two references


def test_empty_texts_score_zero_and_segments_without_reference_nothing(
    options: dict[str, Any],
) -> None:
    testset = gn.TestSet(
        name="t",
        references={"r": ["the cat", "", None]},
        systems={"a": ["", "the cat", "dog"]},
        language_pair="en",
    )
    found = _bound(testset, **options).segments(testset.batch())[0]
    assert found[:2].tolist() == [0, 0]
    assert np.isnan(found[2])


def test_permuting_systems_permutes_scores(testset: gn.TestSet, options: dict[str, Any]) -> None:
    batch = testset.batch()
    found = _bound(testset, **options).segments(batch)
    turned = _bound(testset, **options).segments(batch.select(systems=[1, 0]))
    assert found[::-1] == pytest.approx(turned, abs=1e-6)


def test_precision_and_recall_can_be_the_score(
    testset: gn.TestSet, options: dict[str, Any]
) -> None:
    parts = _bound(testset, **options).score_parts(testset.batch())
    for number, part in enumerate(("precision", "recall", "f")):
        scores = gn.score(testset, BertScore(score=part, **options))  # type: ignore[arg-type]
        np.testing.assert_allclose(scores.segments, parts[..., number])
        np.testing.assert_allclose(scores.system, parts[..., number].mean(axis=1))


def test_signatures_name_model_layer_and_idf(testset: gn.TestSet, options: dict[str, Any]) -> None:
    bound = _bound(testset, idf=True, **options)
    shown = str(signature_of(bound, testset.batch()))
    assert "|model:tiny#" in shown
    assert "|layer:2|" in shown
    assert "|idf:10#" in shown
    assert "|refs:2|" in shown
    assert str(gn.metrics.parse(shown).spec) == bound.metric.spec


def test_long_and_foreign_texts_are_said(options: dict[str, Any]) -> None:
    testset = gn.TestSet.from_lists({"a": ["the cat " * 40]}, [["\u6771 \u4eac \u5317 \u6d77"]])
    notices = notes(gn.score(testset, BertScore(**options)).notices)
    assert "1 of 2 texts are longer than the model takes (40 pieces)" in notices[0]
    assert "unknown to the model's vocabulary" in notices[1]


def test_unknown_best_layer_is_refused(testset: gn.TestSet, tiny_model: Path) -> None:
    with pytest.raises(SpecError, match="layer=N"):
        _bound(testset, model=str(tiny_model))


def test_default_models_follow_the_language(
    testset: gn.TestSet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("GNOMON_ALLOW_DOWNLOADS", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(MissingDependencyError, match="hf download"):
        _bound(testset)


def test_rescaling_without_a_baseline_says_what_is_missing(
    testset: gn.TestSet, options: dict[str, Any]
) -> None:
    with pytest.raises(MissingDependencyError, match="baseline='FILE'"):
        _bound(testset, rescale=True, **options)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [("LAYER,P,R,F\n1,0.1,0.1,0.1\n", "no baseline of layer 2"), ("L\n2,x,0,0\n", "LAYER,P,R,F")],
)
def test_damaged_baselines_are_refused(
    testset: gn.TestSet, options: dict[str, Any], tmp_path: Path, lines: str, problem: str
) -> None:
    file = tmp_path / "base.tsv"
    file.write_text(lines, encoding="utf-8")
    with pytest.raises(FormatError, match=problem):
        _bound(testset, rescale=True, baseline=str(file), **options)


def test_a_baseline_needs_rescaling() -> None:
    with pytest.raises(SpecError, match="rescale=True"):
        BertScore(baseline="x.tsv")


def test_references_are_needed(options: dict[str, Any]) -> None:
    testset = gn.TestSet(name="t", references={}, sources=["a"], systems={"a": ["b"]})
    with pytest.raises(DataError, match="needs references"):
        _bound(testset, **options)
