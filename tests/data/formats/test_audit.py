"""References made from a system's output, planted, and genuine ones."""

from __future__ import annotations

import random
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import gnomon as gn
from gnomon.core.verdicts import summarise_scores
from gnomon.data.formats.audit import favoured
from gnomon.metrics.scoring import compare_other_references

if TYPE_CHECKING:
    from pathlib import Path

_EXAMPLE = gn.TestSet.read(gn.example.path())


def _edited(text: str, draw: random.Random) -> str:
    """A post-edit: one in three stays as it is, of the others some words are replaced."""
    if draw.random() < 1 / 3:
        return text
    words = text.split(" ") if " " in text else list(text)
    rate = draw.choice([0.05, 0.1, 0.2])
    changed = [draw.choice(words) if draw.random() < rate else word for word in words]
    return (" " if " " in text else "").join(changed)


def _planted(testset: gn.TestSet, system: str, share: float, *, seed: int) -> gn.TestSet:
    """Some references of a test set are post-edits of a system's outputs."""
    draw = random.Random(seed)
    (references,) = testset.references.values()
    output = testset.systems[system]
    made = [
        _edited(own, draw) if draw.random() < share else reference
        for own, reference in zip(output, references, strict=True)
    ]
    return gn.TestSet.from_lists(testset.systems, made, name="planted", language_pair="es-en")


def _accused(testset: gn.TestSet) -> list[str]:
    return [found.system for found in favoured(testset)]


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_post_edited_references_are_found(share: float) -> None:
    systems = list(_EXAMPLE.systems)
    found = [
        systems[n % len(systems)]
        in _accused(_planted(_EXAMPLE, systems[n % len(systems)], share, seed=n))
        for n in range(40)
    ]
    assert sum(found) >= 38


def test_references_of_people_are_not_suspected() -> None:
    assert _accused(_EXAMPLE) == []
    assert _accused(_planted(_EXAMPLE, next(iter(_EXAMPLE.systems)), 0.0, seed=1)) == []


def _chinese(draw: random.Random, length: int) -> str:
    return "".join(
        draw.choices("今天气很好我们去公园散步他昨买了一本新书这里有人说话水火山田", k=length)
    )


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_characters_count_where_no_space_parts_words(share: float) -> None:
    draw = random.Random(7)
    output = [_chinese(draw, 24) for _ in range(100)]
    references = [own if draw.random() < share else _chinese(draw, 24) for own in output]
    systems = {"甲": output, "乙": [_chinese(draw, 24) for _ in range(100)]}
    testset = gn.TestSet.from_lists(systems, references, name="planted", language_pair="en-zh")
    assert _accused(testset) == (["甲"] if share else [])


def test_short_lines_and_names_do_not_count() -> None:
    references = [f"Chapter {n}" for n in range(200)]
    testset = gn.TestSet.from_lists({"A": references, "B": ["-"] * 200}, references, name="short")
    assert _accused(testset) == []


def test_counts_and_segments_are_told() -> None:
    words = [
        "the",
        "old",
        "house",
        "and",
        "a",
        "river",
        "that",
        "runs",
        "slowly",
        "past",
        "green",
        "hills",
    ]
    draw = random.Random(3)
    references = [" ".join(draw.choices(words, k=14)) for _ in range(100)]
    references[30:50] = [f"{text}." for text in references[30:50]]
    own = [*references[:30], *(text[:-1] for text in references[30:50]), *["no"] * 50]
    testset = gn.TestSet.from_lists({"A": own, "B": ["no"] * 100}, references, name="half")
    (found,) = favoured(testset)
    assert (found.system, found.equal, found.near, found.counted) == ("A", 30, 20, 100)
    assert found.own.tolist() == [True] * 50 + [False] * 50


_GENUINE = "wmt17/de-en wmt18/de-en wmt19/kk-en wmt19/en-de wmt21/en-de wmt24/en-ja realsumm"


@pytest.mark.parametrize("path", _GENUINE.split())
def test_references_of_published_sets_are_not_suspected(shared: Path, path: str) -> None:
    assert _accused(gn.TestSet.read(shared / "data" / path)) == []


@pytest.mark.parametrize("share", [0.0, 0.3, 0.95])
def test_a_system_alone_is_held_against_its_references_and_stops_nothing(share: float) -> None:
    said = []
    for n, name in enumerate(_EXAMPLE.systems):
        alone = _planted(_EXAMPLE.select(systems=[name]), name, share, seed=n)
        said += alone.anomalies
    assert [one.params["stops"] for one in said] == [False] * (len(_EXAMPLE.systems) * (share > 0))


def test_of_several_references_those_answer_that_are_nobodys() -> None:
    names = list(_EXAMPLE.systems)[:2]
    testset = _planted(_EXAMPLE.select(systems=names), names[0], 0.6, seed=1)
    (people,) = _EXAMPLE.references.values()
    both = replace(testset, references={**testset.references, "people": people})
    scores = gn.score(_EXAMPLE.select(systems=names), "bleu")
    best = scores.systems[int(scores.system.argmax())]
    answer = f"by people, {best} has the best BLEU, {scores.system.max():.1f}"
    muler = gn.muler.score(both, pattern={"a": "a"}, features=["re:a"], resamples=0, examples=0)
    for found in (summarise_scores([gn.score(both, "bleu")]), muler.verdict):
        (said,) = (one for one in found if one.code == "data.favoured")
        assert answer in str(said)
    assert not list(compare_other_references(testset, "bleu", "bleu"))


@pytest.mark.parametrize(("share", "finding"), [(0.35, True), (0.6, False)])
def test_the_other_segments_answer_beside_the_caution(share: float, finding: bool) -> None:
    """Of many references nothing is said on the whole."""
    names = list(_EXAMPLE.systems)[:2]
    testset = _planted(_EXAMPLE.select(systems=names), names[0], share, seed=1)
    found = gn.compare(testset, "bleu", resamples=200)
    codes = [said.code for said in found.verdict]
    (caution,) = (said for said in found.verdict if said.code == "data.favoured")
    (rest,) = caution.params["beside"]["rest"]
    assert codes.count("compare.worse") == finding
    assert rest["other"] == names[1]
    assert rest["difference"] < -found.tables[0].rows[1]["difference"]
    assert [n for n in found.notices if n.code == caution.code] == [caution]


def test_damaged_outputs_make_no_other_system_the_references_own() -> None:
    own = [f"the little house number {n} stood by the river Größe" for n in range(60)]
    near = [text if n % 2 else text.replace("little", "old") for n, text in enumerate(own)]
    apart = [unicodedata.normalize("NFD", text) for text in near]
    testset = gn.TestSet.from_lists({"near": near, "apart": apart}, own)
    assert [one.code for one in testset.anomalies] == ["data.damaged"]
