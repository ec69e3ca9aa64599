"""MuLER's intervals by document beside plain loops, and how often it calls noise a finding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.noise import is_mostly_undecided
from tests.told import notes
from tests.truth.worlds import noised
from tests.truth.worlds_errors import found, marks
from tests.truth.worlds_muler import PATTERN, lines, scored, wrong_beside

import gnomon as gn
from gnomon.core.errors import UsageError
from gnomon.stats.jackknife import jackknife


def _documents(segments: int, size: int = 4) -> tuple[str, ...]:
    return tuple(f"d{n // size}" for n in range(segments))


def _testset(segments: int = 80, seed: int = 1) -> gn.TestSet:
    systems, reference = lines({"A": {"animal": 0.2}, "B": {"animal": 0.5}}, segments, seed)
    return gn.TestSet.from_lists(systems, reference, documents=list(_documents(segments)))


def _scored(testset: gn.TestSet, **options: object) -> gn.Finding:
    asked: dict[str, object] = {"features": ["re:animal"], "pattern": PATTERN, "examples": 0}
    return gn.muler.score(testset, "bleu", **asked | options)  # type: ignore[arg-type]  # as they are


def test_intervals_by_document_are_the_jackknife_of_muler_without_each_document() -> None:
    testset = _testset()
    finding = _scored(testset, unit="document")
    whole = {r["system"]: r["muler"] for r in finding.rows if r["variant"] == "ratio"}
    names = list(dict.fromkeys(testset.documents or ()))
    without = []
    for name in names:
        kept = [n for n, own in enumerate(testset.documents or ()) if own != name]
        rest = _scored(testset.select(segments=kept), resamples=0)
        without.append([r["muler"] for r in rest.rows if r["variant"] == "ratio"])
    left = np.array(without, dtype=np.float64)
    sizes = np.full(len(names), 4)
    for k, system in enumerate("AB"):
        want = jackknife(whole[system], left[:, k], sizes)
        (row,) = (r for r in finding.rows if r["system"] == system and r["variant"] == "ratio")
        assert [row["muler_low"], row["muler_high"]] == pytest.approx(
            [float(want.low), float(want.high)], abs=1e-9
        )
    want = jackknife(whole["A"] - whole["B"], left[:, 0] - left[:, 1], sizes)
    (row,) = (r for r in finding.table("differences").rows if r["variant"] == "ratio")
    width = float(want.high) - float(want.low)
    assert row["high"] - row["low"] == pytest.approx(width, rel=0.2)  # documents drawn as wholes
    assert "unit:document" in str(finding.signatures["bleu"])
    assert "bs:" not in str(finding.signatures["bleu"])


def test_of_fewer_than_15_documents_there_is_no_interval_and_the_notice_says_why() -> None:
    finding = _scored(_testset(40), unit="document")
    assert all(r["muler_low"] is None for r in finding.rows)
    assert any("10 documents are too few" in one for one in notes(finding.notices))


def test_documents_that_nobody_names_are_no_unit() -> None:
    systems, reference = lines({"A": {}})
    with pytest.raises(UsageError, match=r"unit 'document' needs documents"):
        _scored(gn.TestSet.from_lists(systems, reference), unit="document")


def test_segments_of_documents_that_go_together_are_told_of() -> None:
    draw = np.random.default_rng(1)
    good = np.repeat(draw.random(20) < 0.5, 4)  # whole documents are right, or wrong
    systems, reference = lines({"A": {"animal": 0.0}, "B": {"animal": 1.0}}, 80)
    mixed = [a if fine else b for a, b, fine in zip(*systems.values(), good, strict=True)]
    testset = gn.TestSet.from_lists({"A": mixed}, reference, documents=list(_documents(80)))
    finding = _scored(testset)
    assert "unit:document" in str(finding.signatures["bleu"])
    assert any("20 documents are left out" in one for one in notes(finding.notices))
    assert any(
        "wider (median of 1): take documents as the unit" in one
        for one in notes(_scored(testset, unit="segment").notices)
    )
    apart = _scored(_testset())
    assert "unit:document" not in str(apart.signatures["bleu"])
    assert not any("documents" in one for one in notes(apart.notices))


def test_slices_of_too_few_documents_are_compared_by_segment() -> None:
    systems, reference = lines({"A": {"animal": 0.1}, "B": {"animal": 0.6}}, 160)
    good = np.repeat(np.random.default_rng(2).random(40) < 0.5, 4)
    bad = [text.replace("the small", "zzq") for text in systems["B"]]
    mixed = [a if fine else b for a, b, fine in zip(systems["A"], bad, good, strict=True)]
    testset = gn.TestSet.from_lists(
        {"A": systems["A"], "B": mixed}, reference, documents=list(_documents(160))
    )
    testset = replace(testset, domains=tuple("x" if n < 130 else "y" for n in range(160)))
    finding = _scored(testset, by="domain", variants=["ratio"])
    assert "unit:document" in str(finding.signatures["bleu"])
    ends = {(r["slice"], r["system"]): r["muler_low"] for r in finding.rows}
    assert all(low is not None for (_, system), low in ends.items() if system == "B")


def test_of_people_s_marks_documents_are_the_unit() -> None:
    testset = replace(marks({"a": [0.3] * 6, "b": [0.3] * 6}), documents=_documents(120))
    finding = found(testset)
    assert "unit:document" in str(next(iter(finding.signatures.values())))
    assert any("30 documents are left out one at a time" in one for one in notes(finding.notices))
    (row,) = (
        r
        for r in finding.rows
        if (r["system"], r["feature"], r["severity"]) == (None, "words", "any")
    )
    hit = np.zeros((30, 2))
    for one in testset.errors:
        hit[one.segment // 4] += [1, 0]
    hit[:, 1] = 2 * 4 * 6
    total = hit.sum(axis=0)
    left = total - hit
    want = jackknife(100 * total[0] / total[1], 100 * left[:, 0] / left[:, 1], np.full(30, 8))
    assert [row["rate_low"], row["rate_high"]] == pytest.approx(
        [float(want.low), float(want.high)], abs=1e-9
    )
    assert "bs:" in str(next(iter(found(testset, unit="segment").signatures.values())))


def test_rates_without_an_error_end_by_the_rule_of_three() -> None:
    testset = marks({"a": [0.3, 0.0, *[0.3] * 4]})
    for units, options in ((30, {}), (120, {"unit": "segment"})):
        rows = found(replace(testset, documents=_documents(120)), **options).rows
        (row,) = (
            r for r in rows if (r["system"], r["feature"], r["severity"]) == ("a", "re:cat", "any")
        )
        assert (row["rate"], row["rate_low"]) == (0.0, 0.0)
        assert row["rate_high"] == pytest.approx(-100 * np.log(0.05) / units)


@pytest.mark.parametrize("draws", [25, pytest.param(1000, marks=pytest.mark.verify)])
def test_systems_that_err_equally_often_by_documents_are_told_apart_as_rarely_as_tests_say(
    draws: int,
) -> None:
    undecided = 0
    for seed in range(draws):
        draw = np.random.default_rng(seed)
        # how often a document goes wrong is its own, and each system's
        rates = {name: 0.6 * draw.random(30) for name in "ab"}
        parts = [
            marks({name: [float(own[d])] * 6 for name, own in rates.items()}, 4, 1000 * seed + d)
            for d in range(30)
        ]
        errors = tuple(
            replace(one, segment=one.segment + 4 * d)
            for d, part in enumerate(parts)
            for one in part.errors
        )
        testset = replace(marks({"a": [0.0] * 6, "b": [0.0] * 6}), errors=errors)
        testset = replace(testset, documents=_documents(120))
        finding = found(testset, features=["re:dog", "re:cat"])
        undecided += not any(one.code == "errors.systems" for one in finding.verdict)
    assert is_mostly_undecided(undecided, draws)


@pytest.mark.parametrize(("share", "words"), [(0.2, 120), (0.03, 60)])
@pytest.mark.parametrize("draws", [20, pytest.param(1000, marks=pytest.mark.verify)])
def test_errors_by_chance_are_on_no_word_more_often(draws: int, share: float, words: int) -> None:
    undecided = 0
    for seed in range(draws):
        finding = found(marks({"a": [share] * 6}, words, seed), resamples=99)
        undecided += not any("often on" in str(one) for one in finding.verdict)
    assert is_mostly_undecided(undecided, draws)


@pytest.mark.parametrize("unit", ["segment", "document"])
@pytest.mark.parametrize("draws", [10, pytest.param(1000, marks=pytest.mark.verify)])
def test_two_noised_copies_of_one_output_are_told_apart_as_rarely_as_tests_say(
    draws: int, unit: str
) -> None:
    undecided = 0
    for seed in range(draws):
        systems, reference = lines({"A": {}}, 80, seed)
        copies = {name: noised(systems["A"], 0.1, 2 * seed + k) for k, name in enumerate("AB")}
        testset = gn.TestSet.from_lists(copies, reference, documents=list(_documents(80)))
        asked = {"features": ["re:animal", "re:place"], "unit": unit, "resamples": 199}
        claims = {one.code for one in _scored(testset, **asked).verdict}
        undecided += not claims & {"muler.better", "muler.carried"}
    assert is_mostly_undecided(undecided, draws)


def test_words_that_are_the_same_are_no_finding_however_their_neighbours_change() -> None:
    for seed in range(30):
        systems, reference = lines({"A": {}}, 80, seed)
        draw = np.random.default_rng(seed)
        other = [
            one if draw.random() < 0.5 else one.replace("the small", "zzq") for one in systems["A"]
        ]
        testset = gn.TestSet.from_lists({"A": systems["A"], "B": other}, reference)
        finding = _scored(testset, resamples=199)
        assert not any(one.code == "muler.better" for one in finding.verdict)
        (row,) = (r for r in finding.table("differences").rows if r["variant"] == "ratio")
        assert (row["words"], row["p"], row["decided"]) == (0, None, None)


def test_what_other_words_add_to_a_difference_is_computed_and_said() -> None:
    """Alone, the words of the feature make the difference that is left without the spill-over."""
    alone, both = (
        scored(wrong_beside(spoilt=spoilt), features=["re:animal"]) for spoilt in (False, True)
    )
    (own,), (whole,) = (
        [row for row in one.table("differences").rows if row["variant"] == "ratio"]
        for one in (alone, both)
    )
    assert own["spill_over"] == pytest.approx(0, abs=1e-12)
    assert "are equal" not in str(alone.verdict[0])
    assert whole["spill_over"] / whole["difference"] > 0.3
    left = whole["difference"] - whole["spill_over"]
    assert left == pytest.approx(own["difference"], rel=0.2)
    said = f"{abs(whole['spill_over']):.2f} of it where these words are equal"
    assert said[1:] in str(both.verdict[0])
