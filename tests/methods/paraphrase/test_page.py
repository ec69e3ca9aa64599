"""Paraphrases side by side, and those that a score was made with."""

from __future__ import annotations

import numpy as np

import gnomon
from gnomon.core.human import HumanScores, Ranking
from gnomon.core.testset import Paraphrase, TestSet
from gnomon.paraphrase import coverage, paraphrases_used
from gnomon.paraphrase.page import changed
from gnomon.report import to_html

_OUTPUTS = {
    "a": ["the cat sat", "a dog ran off", "it rains now"],
    "b": ["the cat is sitting", "a hound ran away", "rain falls"],
    "c": ["cat the", "dog off", "it now"],
    "d": ["cats", "off ran", "now"],
}
_REFERENCES = ["the cat sat", "a dog ran off", "it rains now"]
_MADE = [
    Paraphrase(1, "the cat is sitting", "good"),
    Paraphrase(2, "a hound ran away", "good"),
    Paraphrase(2, "the hound fled", "good"),
    Paraphrase(3, "rain falls", "good"),
    Paraphrase(1, "cats", "bad"),
]


def _judged(values: tuple[float, ...] = (1.0, 2.0, 0.5, 0.0)) -> TestSet:
    plain = TestSet.from_lists(_OUTPUTS, _REFERENCES, language_pair="de-en")
    system = HumanScores("da", "system", tuple(_OUTPUTS), np.array(values)[:, None])
    rng = np.random.default_rng(0)
    segment = HumanScores("da", "segment", tuple(_OUTPUTS), rng.normal(size=(4, 3)))
    ranking = Ranking("darr", ((0, "b", "a"), (1, "b", "c"), (2, "a", "d")))
    return TestSet(
        name="set",
        references=plain.references,
        systems=plain.systems,
        language_pair="de-en",
        human=(system, segment),
        rankings=(ranking,),
    )


def test_changed_words_are_marked() -> None:
    text = "the black cat  sat down"
    marks = [text[m.start : m.end] for m in changed(text, "the cat sat on it")]
    assert marks == ["black", "down"]
    assert changed("the cat", "the cat") == ()


def test_wordings_stand_side_by_side_and_by_method() -> None:
    ts = _judged()
    found = coverage(ts, _MADE, examples=2)
    shown = [exhibit for exhibit in found.exhibits if exhibit.kind == "paraphrases"]
    assert [(e.group, e.segment) for e in shown] == [
        ("all methods", 1),
        ("all methods", 2),
        ("good", 1),
        ("good", 2),
        ("bad", 1),
    ]
    names = [(t.role, t.name) for t in shown[0].texts]
    assert names == [("reference", "A"), ("reference", "good.1"), ("reference", "bad.1")]
    assert not [e for e in coverage(ts).exhibits if e.kind == "paraphrases"]


def test_hostile_paraphrases_stay_text() -> None:
    hostile = "</script><img src=x onerror=alert(1)>"
    wide = _judged().with_paraphrases([Paraphrase(1, hostile, "<b>evil</b>")])
    judged = gnomon.metaeval(_judged(), "chrf", [Paraphrase(1, hostile, "<b>e</b>")], resamples=0)
    page = to_html([coverage(_judged(), wide), judged])
    assert hostile not in page
    assert "<b>e" not in page


def test_the_paraphrases_of_a_score_are_told() -> None:
    assert paraphrases_used(_judged()) is None
    wide = _judged().with_paraphrases([*_MADE, Paraphrase(1, "a cat", "own", system="a")])
    found = paraphrases_used(wide)
    assert found is not None
    told = {row["set"]: (row["n"], row["count"], row["segments"]) for row in found}
    assert told == {"good": (2, 4, 3), "bad": (1, 1, 1), "own": (1, 1, 1)}
    assert all(str(row["identity"]) in str(wide.paraphrase_sets) for row in found)
