"""Worlds of metrics that do not read the texts: ROUGE outside a-z, words that no space parts."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from tests.truth.scripts import damaged, sentences
from tests.truth.worlds import world

import gnomon as gn
from gnomon.core.human import HumanScores
from gnomon.core.testset import Paraphrase
from gnomon.core.verdicts import summarise_scores

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

_BARE: dict[str, Any] = {"resamples": 199, "examples": 0, "ngrams": 0}
_WORDS = "bleu(tokenize='13a')"
_RANKS = ("better", "worse", "highest", "best", "told apart", "on top", "the same")


@cache
def mixed(language: str = "ja", systems: int = 2) -> gn.TestSet:
    """Every other sentence holds names in Latin letters, which the first system leaves out.

    Otherwise the first system is the closest, and each further one has more wrong letters.
    """
    own = [
        f"{text} {name}"
        for text, name in zip(
            sentences(language, 60), ("GPU Sony", "", "London 2024", "") * 15, strict=True
        )
    ]
    outputs = {"close": [text.split(" ")[0] for text in damaged(own, language, 0.05, 2)]}
    for k in range(1, systems):
        outputs[f"far{k}"] = damaged(own, language, 0.3 + k / 20, k)
    return gn.TestSet.from_lists(outputs, own, name="mixed")


@world(
    "Japanese with names under ROUGE", says=["data.unread"], silent=["compare.*"], without=_RANKS
)
def rouge() -> Finding:
    found = gn.compare(mixed(), "rougeL", **_BARE)
    assert found.rows[1]["verdict"] is None
    assert found.rows[1]["caveat"] == "letters"
    assert "% of the letters and digits of the references" in str(found.verdict[0])
    assert found.views[1].title == "ROUGE-L of each system"
    return found


@world(
    "Japanese under ROUGE and BLEU", says=["data.unread", "compare.worse"], without=["ROUGE-L ["]
)
def rouge_and_bleu() -> Finding:
    found = gn.compare(mixed(), ["rougeL", "bleu"], **_BARE)
    assert not any("ROUGE" in str(one) for one in found.verdict[1:])
    return found


@world("Chinese under BLEU of words", says=["data.unread"], silent=["compare.*"], without=_RANKS)
def words() -> Finding:
    return gn.compare(mixed("zh", 4), _WORDS, **_BARE)


@world("Thai under BLEU of words", says=["data.unread"], silent=["score.*"], without=_RANKS)
def scores_of_words() -> Iterable[Message]:
    return summarise_scores([gn.score(mixed("th"), _WORDS)])


@world(
    "Japanese under ROUGE and chrF, as scores",
    says=["data.unread", "score.first"],
    without=["ROUGE-L, "],
)
def scores_of_two() -> Iterable[Message]:
    return summarise_scores(gn.score(mixed(), ["rougeL", "chrf"]))


@world("Japanese under the metric that fits", says=["compare.worse"], silent=["data.unread"])
def fitting() -> Finding:
    return gn.compare(mixed(), "bleu", **_BARE)


@world("English with accents under ROUGE", says=["compare.undecided"], silent=["data.unread"])
def accents() -> Finding:
    own = [f"voilà le café numéro {n % 7} de la rue {n % 5}" for n in range(60)]
    outputs = {
        name: [text.replace("rue", "zz") if (n + k) % 3 else text for n, text in enumerate(own)]
        for k, name in enumerate("AB")
    }
    return gn.compare(gn.TestSet.from_lists(outputs, own, language_pair="fr"), "rougeL", **_BARE)


@world(
    "hard words of Japanese under ROUGE and BLEU",
    says=["data.unread", "score.reranked"],
    without=["ROUGE and", "highest ROUGE"],
)
def difficulty() -> Finding:
    return gn.difficulty(mixed(), ["rouge1", "bleu"])


@world(
    "hard words of Chinese by what stands between spaces",
    says=["data.unread"],
    silent=["difficulty.words.*"],
)
def hard_words() -> Finding:
    return gn.difficulty.words(mixed("zh"), _WORDS)


@world("Japanese under BMX of ROUGE", says=["data.unread"], silent=["bmx.*"], without=_RANKS)
def boosted() -> Finding:
    return gn.bmx.score(mixed(), "rougeL")


@world(
    "Japanese under MuLER of ROUGE",
    says=["data.unread"],
    silent=["muler.better", "muler.undecided", "muler.many"],
)
def muler() -> Finding:
    return gn.muler(
        mixed(), "rougeL", features=["re:latin"], pattern={"latin": "[A-Za-z]+"}, resamples=100
    )


@cache
def _judged() -> gn.TestSet:
    own = mixed(systems=6)
    names = tuple(own.systems)
    draw = np.random.default_rng(1)
    human = -np.arange(6.0)[:, None] + draw.normal(size=(6, own.segments))
    return replace(own, human=(HumanScores("quality", "segment", names, human),))


@world("people's scores of Japanese and ROUGE", says=["data.unread"])
def agreement() -> Finding:
    """What a metric is worth is measured there: figures stay."""
    found = gn.metaeval(_judged(), ["rougeL", "chrf"], resamples=100)
    assert len(found.verdict) > 1
    return found


@world(
    "paraphrases of Japanese and ROUGE", says=["data.unread"], silent=["metaeval.gains.own_output"]
)
def gain() -> Finding:
    testset = _judged()
    (column,) = testset.references.values()
    made = [Paraphrase(n, f"{text}。", "human") for n, text in enumerate(column, 1)]
    return gn.metaeval(testset, "rougeL", made, n=[1], resamples=100)


@world("Thai under TER of words", says=["data.unread"], silent=["compare.*"], without=_RANKS)
def edits_of_words() -> Finding:
    return gn.compare(mixed("th"), "ter(tokenize='tercom')", **_BARE)
