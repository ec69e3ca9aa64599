"""A generated test set whose figures of agreement are known from other code, for tests."""

from __future__ import annotations

import numpy as np

from gnomon import TestSet
from gnomon.core.human import HumanScores, Ranking
from gnomon.core.testset import Paraphrase

_WORDS = [
    *("the", "a", "cat", "dog", "house", "tree", "runs", "sits", "sees", "old", "new", "red"),
    *("on", "under", "with", "and", "not", "it", "they", "we"),
]
_QUALITY = {"alpha": 0.9, "beta": 0.75, "delta": 0.6, "eta": 0.5, "gamma": 0.35, "theta": 0.2}


def generated() -> tuple[TestSet, list[Paraphrase]]:
    """Six judged systems on 60 segments of 12 documents, and paraphrases by two methods."""
    rng = np.random.default_rng(7)

    def noisy(text: str, share: float) -> str:
        return " ".join(
            word if rng.random() < share else str(rng.choice(_WORDS)) for word in text.split()
        )

    references = [" ".join(rng.choice(_WORDS, size=rng.integers(4, 12))) for _ in range(60)]
    systems = {
        name: [noisy(text, share) for text in references] for name, share in _QUALITY.items()
    }
    made = [
        Paraphrase(segment, noisy(text, 0.7), method)
        for method in ("one", "two")
        for segment, text in enumerate(references, start=1)
        for _ in range(2)
    ]
    human = np.array(list(_QUALITY.values()))[:, None] + rng.normal(scale=0.4, size=(6, 60))
    human[rng.random((6, 60)) < 0.1] = np.nan
    names, ranked = list(systems), []
    for i in range(60):
        a, b = rng.choice(6, size=2, replace=False)
        if human[a, i] > human[b, i]:
            ranked.append((i, names[a], names[b]))
        elif human[b, i] > human[a, i]:
            ranked.append((i, names[b], names[a]))
    whole = HumanScores("da", "system", tuple(names), np.nanmean(human, axis=1)[:, None])
    testset = TestSet(
        name="generated",
        references={"A": references},
        systems=systems,
        language_pair="de-en",
        human=(whole, HumanScores("da", "segment", tuple(names), human)),
        rankings=(Ranking("darr", tuple(ranked)),),
        documents=[f"d{i // 5}" for i in range(60)],
    )
    return testset, made
