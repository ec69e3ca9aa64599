"""Worlds of difficulty: hard words that people hear, noise, circular pools, empty outputs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from tests.methods.difficulty.sets import contest, judged, sentences
from tests.truth import scripts
from tests.truth.worlds import bundled, outputs, planted, references, world

import gnomon as gn
from gnomon.difficulty import score as scored
from gnomon.difficulty import words as hard_words

if TYPE_CHECKING:
    from gnomon.core.findings import Finding

#: of 12 systems, how much of the hard words each has right, and how much of the easy ones
_HARD = np.linspace(0.0, 0.95, 12)
_EASY = np.random.default_rng(5).permutation(np.linspace(0.3, 0.9, 12))


@cache
def hard_words_that_people_hear(segments: int = 120, *, people: str = "hard") -> gn.TestSet:
    """Twelve systems that have unlike shares of easy and of hard words.

    Args:
        segments: how many.
        people: what people judge by: "hard" words, or "nothing" (their scores are drawn).
    """
    draw = np.random.default_rng(3)
    easy = [f"easy{n}" for n in range(30)]
    own = [[*draw.choice(easy, 6), f"rare{i}x", f"rare{i}y"] for i in range(segments)]
    outputs = {}
    for k in range(12):
        share = [_EASY[k]] * 6 + [_HARD[k]] * 2
        outputs[f"s{k}"] = [
            " ".join(
                word if draw.random() < known else f"easy{draw.integers(100, 1099)}"
                for word, known in zip(words, share, strict=True)
            )
            for words in own
        ]
    made = gn.TestSet.from_lists(
        outputs, [" ".join(words) for words in own], language_pair="de-en", name="planted"
    )
    drawn = np.random.default_rng(7).permutation(12)
    worth = _HARD if people == "hard" else drawn
    return judged(made, {name: float(worth[k]) for k, name in enumerate(outputs)})


def gain(testset: gn.TestSet, metric: str = "difficulty(rouge1)", **options: object) -> Finding:
    """What difficulty adds to ROUGE-1, which is quick, at system level."""
    given = {"levels": ["system"], "statistics": ["pearson"], "resamples": 300, **options}
    return gn.metaeval(testset, ["rouge1", metric], baseline="rouge1", **given)


@world(
    "people hear hard words alone",
    says=["metaeval.gains.differ"],
    silent=["metaeval.gains.undecided"],
)
def heard() -> Finding:
    return gain(hard_words_that_people_hear())


@world(
    "people's scores are drawn at random",
    says=["metaeval.gains.undecided"],
    silent=["metaeval.gains.differ"],
)
def drawn_people() -> Finding:
    return gain(hard_words_that_people_hear(people="nothing"))


@world(
    "four systems were judged",
    says=["data.few"],
    silent=["metaeval.gains.differ", "metaeval.gains.undecided"],
)
def four_systems() -> Finding:
    return gain(contest(systems=4, segments=20))


@world(
    "people's scores chose the pool that they judge",
    says=["metaeval.circular"],
    silent=["metaeval.gains.differ", "metaeval.gains.undecided"],
)
def circular_pool() -> Finding:
    pooled = "difficulty(rouge1, pool='top:5', by='da')"
    return gain(hard_words_that_people_hear(), pooled, allow_circular=True)


@world(
    "people's scores are rates of edits",
    says=["metaeval.edits"],
    silent=["metaeval.gains.differ", "metaeval.gains.undecided"],
)
def rates_of_edits() -> Finding:
    testset = hard_words_that_people_hear()
    (own,) = testset.human
    return gain(replace(testset, human=(replace(own, kind="hter"),)))


@world(
    "a third of a system's outputs are empty",
    says=["difficulty.empty", "score.reranked"],
    silent=["difficulty.words.hardest"],
)
def empty_outputs() -> Finding:
    texts = {name: list(own)[:60] for name, own in bundled().systems.items()}
    first = next(iter(texts))
    texts[first] = ["" if n % 3 == 0 else text for n, text in enumerate(texts[first])]
    return scored(planted(texts, segments=60), "rouge1")


@world("the reference among the systems", says=["data.copied"])
def copied_reference() -> Finding:
    return scored(
        planted({"copy": references(), "B": outputs(), "C": outputs("apertium-french")}), "rouge1"
    )


@world(
    "systems that write what the reference says",
    says=["difficulty.words.hardest"],
    silent=["difficulty.*"],
    without=["miss these"],
)
def nothing_hard() -> Finding:
    own = references()
    return hard_words(planted({"a": own, "b": own}), "rouge1", examples=0)


@world(
    "words that all systems miss, and a mark that they write otherwise",
    says=["difficulty.words.hardest", "difficulty.words.nearest"],
    silent=["difficulty.empty", "score.reranked"],
    without=["none is hard", "nearest to the references"],
)
def missed_by_all() -> Finding:
    own = [f"{text} “" for text in sentences(60)]
    outputs = [text.replace("river", "stream").replace("“", '"') for text in own]
    testset = gn.TestSet.from_lists({"a": outputs, "b": outputs}, own, language_pair="de-en")
    return hard_words(testset, "bleu", examples=0)


@world(
    "one system has hard words that the others miss",
    says=["difficulty.words.hardest", "difficulty.words.nearest"],
    silent=["difficulty.*"],
)
def one_has_hard_words() -> Finding:
    return hard_words(hard_words_that_people_hear(), "rouge1", examples=0)


@world(
    "a few words",
    says=["data.few"],
    silent=["difficulty.words.nearest"],
    without=["punctuation"],
)
def few_words() -> Finding:
    testset = gn.TestSet.from_lists(
        {"a": ["cat", "mat"], "b": ["dog", "mat"]}, ["cat", "mat"], language_pair="de-en"
    )
    return hard_words(testset, "rouge1", examples=0)


@world(
    "Chinese outputs that miss characters",
    says=["difficulty.words.hardest"],
    without=["none is hard", " words"],
)
def chinese_characters() -> Finding:
    own = scripts.sentences("zh", 60)
    outputs_made = {name: scripts.damaged(own, "zh", 0.3, n) for n, name in enumerate("甲乙丙")}
    return hard_words(gn.TestSet.from_lists(outputs_made, own, name="planted"), "bleu", examples=0)
