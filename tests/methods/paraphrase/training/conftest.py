"""A few hundred pairs made of few words, and a recipe small enough for tests."""

from __future__ import annotations

import pytest

REASON = "needs torch, transformers, accelerate and sentencepiece: pip install 'gnomon[training]'"


@pytest.fixture(scope="session")
def tiny() -> dict[str, object]:
    """Options of a recipe that trains in seconds."""
    for package in ("torch", "transformers", "tokenizers", "sentencepiece", "accelerate"):
        pytest.importorskip(package, reason=REASON)
    return {
        "vocabulary": 44,
        "dimensions": 16,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "heads": 2,
        "feed_forward": 32,
        "batch_size": 8,
        "dev": 10,
        "bleu_pairs": 1,
        "validate_every": 5,
        "warmup": 5,
    }


@pytest.fixture(scope="session")
def rows() -> list[tuple[str, str]]:
    """Sentences, and the same ones fronted."""
    people = ["the cat", "a dog", "the old man", "my friend", "her sister"]
    acts = ["sat", "slept", "sang", "waited"]
    places = ["on the mat", "in the house", "at home", "under a tree", "by the sea"]
    times = ["today", "again"]
    return [
        (f"{w} {a} {p} {t}.", f"{t}, {p}, {w} {a}.")
        for w in people
        for a in acts
        for p in places
        for t in times
    ]
