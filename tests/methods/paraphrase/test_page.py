"""Paraphrases side by side, and those that a score was made with."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import gnomon
from gnomon.cli import main
from gnomon.core.errors import DataError, UsageError
from gnomon.core.human import HumanScores, Ranking
from gnomon.core.testset import Paraphrase, TestSet
from gnomon.methods.paraphrase import paraphrases_used, show
from gnomon.methods.paraphrase._page import changed
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
    wide = _judged().with_paraphrases(_MADE)
    found = show(wide, most=2, outputs=True)
    assert [(r["segment"], r["method"], r["number"]) for r in found] == [
        (1, "good", 1),
        (1, "bad", 1),
        (2, "good", 1),
        (2, "good", 2),
    ]
    assert [(e.group, e.segment) for e in found.exhibits] == [
        ("all methods", 1),
        ("all methods", 2),
        ("good", 1),
        ("good", 2),
        ("bad", 1),
    ]
    names = [(t.role, t.name) for t in found.exhibits[0].texts]
    assert names[:3] == [("reference", "A"), ("reference", "good.1"), ("reference", "bad.1")]
    assert ("candidate", "d") in names
    assert found.notices
    first = show(wide, most=1, order="change").rows[0]
    assert first["segment"] == 3
    with pytest.raises(DataError):
        show(_judged())
    with pytest.raises(UsageError):
        show(wide, most=0)


def test_hostile_paraphrases_stay_text() -> None:
    hostile = "</script><img src=x onerror=alert(1)>"
    wide = _judged().with_paraphrases([Paraphrase(1, hostile, "<b>evil</b>")])
    judged = gnomon.metaeval(_judged(), "chrf", [Paraphrase(1, hostile, "<b>e</b>")], resamples=0)
    page = to_html([show(wide), judged])
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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for pair in ("de-en", "lt-en"):
        ts = TestSet.from_lists(_OUTPUTS, _REFERENCES, language_pair=pair)
        ts.write(tmp_path / pair)
        people = "system\tz\na\t1\nb\t2\nc\t.5\nd\t0\n"
        (tmp_path / pair / "human").mkdir(exist_ok=True)
        (tmp_path / pair / "human" / "da-z.sys.tsv").write_text(people, encoding="utf-8")
        rows = [{"segment": p.segment, "text": p.text, "method": p.method} for p in _MADE]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{pair}.made.jsonl").write_text(lines, encoding="utf-8")
    return tmp_path


def test_the_command_shows_wordings_side_by_side(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = str(folder / "de-en.made.jsonl")
    base = ["paraphrase", "show", "-t", str(folder / "de-en")]
    page = folder / "page.html"
    assert main([*base, "--paraphrases", made, "--html", str(page), "-f", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 5
    assert "the hound fled" in page.read_text(encoding="utf-8")
    assert main(base) == 2
