"""Systems by people's scores: the shared figures of every pair, refusals, and what is asked for."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import t as student
from tests.methods.human.simulations import frame_of
from tests.told import notes
from tests.truth.campaigns import campaign, judged, with_judgements

import gnomon as gn
from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.core.human import Ranking
from gnomon.human.campaign import campaigns
from gnomon.human.estimates import estimates

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon.core.findings import Finding

_TOLERANCE = 1e-6


def _known(shared: Path, name: str) -> dict[str, Any]:
    known: dict[str, Any] = json.loads((shared / f"oracles/people/oracle_{name}.json").read_text())
    return known


def _wmt24(shared: Path, pair: str) -> gn.TestSet:
    folder = shared / "data/wmt24" / pair
    return gn.TestSet.read(folder).with_human(folder / "esa.csv")


def _of(known: dict[str, Any], row: Any, name: str) -> float:
    """The known figure of a pair, turned where that has the systems the other way round."""
    pair = known["pairs"].get(f"{row['system']} - {row['other']}")
    if pair is not None:
        return float(pair[name])
    value = float(known["pairs"][f"{row['other']} - {row['system']}"][name])
    return -value if name.startswith("difference") else value


@pytest.mark.parametrize("lp", ["en-cs", pytest.param("en-ja", marks=pytest.mark.verify)])
def test_every_pair_of_wmt24_has_the_known_figures(shared: Path, lp: str) -> None:
    known, testset = _known(shared, f"wmt24.{lp}"), _wmt24(shared, lp)
    plain = gn.human.compare(testset, raters="ignore")
    assert len(plain.rows) == len(known["pairs"])
    for row in plain:
        assert row["segments"] == known["items"]
        assert row["documents"] == known["documents"]
        assert row["difference"] == pytest.approx(_of(known, row, "difference"), rel=_TOLERANCE)
        for mine, theirs in (
            ("se_segments", "se_segments"),
            ("se", "se_documents"),
            ("design_effect", "design_effect"),
        ):
            assert row[mine] == pytest.approx(_of(known, row, theirs), rel=_TOLERANCE)
    systems = plain.table("systems").rows
    assert sum(int(str(row["judgements"])) for row in systems) == known["judgements"]
    assert len(plain.table("raters").rows) == known["raters"]
    (of_people,) = campaigns(testset)
    found = estimates(of_people, frame_of(of_people), adjust=True, ridge=8)
    assert found.raters is not None
    for number, (a, b) in enumerate(found.pairs.tolist()):
        row = {"system": of_people.systems[a], "other": of_people.systems[b]}
        wanted = _of(known, row, "difference_raters")
        assert found.raters.estimate[number] == pytest.approx(wanted, rel=_TOLERANCE)
        wanted = _of(known, row, "se_raters")
        assert found.raters.error[number] == pytest.approx(wanted, rel=_TOLERANCE)
    assert (found.segments.p <= 0.05).sum() == known["decided"]["segments"]
    assert (found.raters.p <= 0.05).sum() == known["decided"]["raters"]


def test_documents_decide_52_pairs_of_english_to_czech(shared: Path) -> None:
    testset = _wmt24(shared, "en-cs")
    plain = gn.human.compare(testset, raters="ignore")
    assert sum(row["p"] <= 0.05 for row in plain) == 52
    found = gn.human.compare(testset)
    assert sum(row["p"] <= 0.05 for row in found) == 59
    first = str(found.verdict[0])
    assert first.startswith("People prefer Claude-3.5 to ")
    assert "cannot be told apart from Claude-3.5" in first
    assert "(85 documents, 4,720 judgements of 61 people)" in first


def test_every_pair_of_mqm_without_documents_has_the_known_figures(shared: Path) -> None:
    known = _known(shared, "wmt21.en-de")
    found = gn.human.compare(gn.TestSet.read(shared / "data/wmt21/en-de"))
    assert len(found.rows) == len(known["pairs"])
    for row in found:
        assert row["segments"] == known["items"]
        assert row["difference"] == pytest.approx(_of(known, row, "difference"), rel=_TOLERANCE)
        assert row["se"] == pytest.approx(_of(known, row, "se_segments"), rel=_TOLERANCE)
        assert row["documents"] is None
    claims = {said.code for said in found.verdict}
    assert {"human.no_documents", "human.compare.leniency"} <= claims


def _pair(found: Finding, a: str, b: str) -> Any:
    return next(row for row in found if {row["system"], row["other"]} == {a, b})


def test_raters_are_adjusted_where_they_link_all_systems() -> None:
    testset = campaign({"A": 70, "B": 70}, documents=40, leniency=20)
    auto, ignored = (gn.human.compare(testset, raters=how) for how in ("auto", "ignore"))
    assert auto.rows[0]["se"] < ignored.rows[0]["se"]
    assert auto.rows[0]["saved"] > 0.1
    assert ignored.table("raters").rows[0]["shrunk"] is None


def test_raters_who_do_not_link_the_systems_are_not_adjusted_for() -> None:
    said = judged([70, 60], documents=40)
    apart = with_judgements(["A", "B"], said._replace(rater=said.rater + 100 * said.system))
    assert gn.human.compare(apart).rows[0]["saved"] == 0
    with pytest.raises(DataError, match="leniency cannot be separated from quality"):
        gn.human.compare(apart, raters="adjust")
    anonymous = campaign({"A": 1, "B": 2}, named_raters=False)
    with pytest.raises(DataError, match="nothing says who judged"):
        gn.human.compare(anonymous, raters="adjust")


def test_a_look_takes_the_level_of_obrien_and_fleming() -> None:
    testset = campaign({"A": 70, "B": 66}, documents=70)
    found = gn.human.compare(testset, interim="1/2")
    assert [found.facts[f] for f in ("analysis", "analyses", "level")] == ["1", "2", "0.00517"]
    plain = gn.human.compare(testset)
    wide = found.rows[0]["high"] - found.rows[0]["low"]
    assert wide > 1.3 * (plain.rows[0]["high"] - plain.rows[0]["low"])


@pytest.mark.parametrize("analysis", ["6/5", "0/5", "2", "two of five"])
def test_analyses_that_were_not_planned_are_refused(analysis: str) -> None:
    with pytest.raises(UsageError, match="an analysis that was not planned"):
        gn.human.compare(campaign({"A": 1, "B": 2}), interim=analysis)


def test_a_first_look_at_few_documents_is_refused() -> None:
    with pytest.raises(DataError, match="plan the first analysis at 30 documents"):
        gn.human.compare(campaign({"A": 1, "B": 2}, documents=58), interim="2/4")


def test_fewer_than_fifteen_documents_have_no_interval() -> None:
    (row,) = gn.human.compare(campaign({"A": 80, "B": 60}, documents=14, length=9)).rows
    assert (row["low"], row["high"], row["p"], row["verdict"]) == (None, None, None, "too few")


def test_fewer_than_thirty_segments_have_no_interval() -> None:
    (row,) = gn.human.compare(campaign({"A": 80, "B": 60}, documents=28, length=1)).rows
    assert (row["low"], row["p_corrected"], row["verdict"]) == (None, None, "too few")


def test_documents_that_are_not_known_are_refused_as_the_unit() -> None:
    with pytest.raises(DataError, match="are not known"):
        gn.human.compare(campaign({"A": 1, "B": 2}, named_documents=False), unit="document")


def test_a_baseline_stands_second_in_every_pair() -> None:
    testset = campaign({"A": 80, "B": 60, "C": 50}, documents=60)
    found = gn.human.compare(testset, baseline="B")
    assert [(row["system"], row["other"], row["verdict"]) for row in found] == [
        ("A", "B", "better"),
        ("C", "B", "worse"),
    ]
    with pytest.raises(UnknownNameError, match="'X'"):
        gn.human.compare(testset, baseline="X")


def test_systems_that_few_segments_were_judged_of_are_left_out() -> None:
    said = judged([70, 60, 50], documents=40)
    testset = with_judgements(
        ["A", "B", "C"], said, without=(said.system == 2) & (said.segment > 50)
    )
    found = gn.human.compare(testset)
    assert {row["system"] for row in found.table("systems").rows} == {"A", "B"}
    assert any(
        "left out" in notice and "C (51 segments)" in notice for notice in notes(found.notices)
    )


def test_rankings_become_shares_of_comparisons_won() -> None:
    draw = np.random.default_rng(1)
    rows = []
    for segment in range(200):
        a_wins = draw.random() < 0.8
        rows.append((segment, "A", "B") if a_wins else (segment, "B", "A"))
    plain = campaign({"A": 1, "B": 2}, documents=50)
    ranked = replace(plain, human=(), rankings=(Ranking("rr", tuple(rows)),))
    found = gn.human.compare(ranked)
    won = sum(better == "A" for _, better, _ in rows) / 200
    assert found.rows[0]["difference"] == pytest.approx(2 * won - 1)
    assert found.rows[0]["verdict"] == "better"
    assert "of the comparisons won" in str(found.verdict[0])
    assert "human.compare.leniency" not in {said.code for said in found.verdict}


def test_segments_that_one_system_has_alone_are_said_of_every_pair() -> None:
    said = judged([50, 90, 70], documents=60)
    part = np.array([-1, 0, 1])[said.system]
    away = (part >= 0) & (part != said.document // 20)
    found = gn.human.compare(with_judgements(["A", "B", "C"], said, without=away))
    assert [row["segments"] for row in found] == [160, 240, 240]
    assert [row["documents"] for row in found] == [20, 20, 20]
    assert "different segments, 80 to 240: this holds if" in str(found.verdict[0])


def test_pairs_that_nothing_links_are_told_one_by_one() -> None:
    said = judged([90, 70, 50, 30], documents=60)
    apart = said._replace(rater=said.rater + 100 * (said.system > 1))
    found = gn.human.compare(with_judgements(["A", "B", "C", "D"], apart))
    told = [str(one) for one in found.verdict if one.code == "human.compare.prefers"]
    assert [one[: one.index(" by")] for one in told] == [
        "People prefer A to B",
        "People prefer C to D",
    ]
    assert all("(60 documents, 480 judgements)" in one for one in told)


_HEAD = "segment\tdocument\tinclusion\tstratum\tanalysis\n"


def _sample(path: Path, testset: gn.TestSet, inclusion: Any, stratum: Any, analysis: Any) -> Path:
    documents = list(testset.documents or ())
    number = {name: k for k, name in enumerate(dict.fromkeys(documents))}
    rows = [
        f"{n}\t{name}\t{inclusion(number[name])}\t{stratum(number[name])}\t{analysis(number[name])}\n"
        for n, name in enumerate(documents, start=1)
    ]
    file = path / "sample.tsv"
    file.write_text(_HEAD + "".join(rows), encoding="utf-8")
    return file


def test_a_sample_with_equal_chances_changes_nothing(tmp_path: Path) -> None:
    testset = campaign({"A": 80, "B": 70, "C": 60}, documents=40)
    file = _sample(tmp_path, testset, lambda _: 0.2, lambda _: "", lambda _: 1)
    assert gn.human.compare(testset, sample=file).rows == gn.human.compare(testset).rows


def test_segments_count_with_one_over_their_chance_to_be_drawn(tmp_path: Path) -> None:
    said = judged([70, 70], documents=60, leniency=0, together=1, noise=1)
    # system A is better in the documents that were drawn four times as often
    often = said.document < 48
    testset = with_judgements(
        ["A", "B"],
        said._replace(score=said.score + 10.0 * (often & (said.system == 0))),
    )
    file = _sample(tmp_path, testset, lambda k: 0.8 if k < 48 else 0.2, lambda _: "", lambda _: 1)
    plain, weighted = (gn.human.compare(testset, sample=one) for one in (None, file))
    assert plain.rows[0]["difference"] == pytest.approx(8, abs=0.6)
    assert weighted.rows[0]["difference"] == pytest.approx(5, abs=0.6)


def test_strata_vary_less_than_what_was_drawn_from_all(tmp_path: Path) -> None:
    said = judged([70, 70], documents=60, leniency=0, together=2, noise=1)
    apart = said.score + 20.0 * ((said.document % 2 == 0) & (said.system == 0))
    testset = with_judgements(["A", "B"], said._replace(score=apart))
    file = _sample(tmp_path, testset, lambda _: 0.5, lambda k: "ab"[k % 2], lambda _: 1)
    plain, stratified = (gn.human.compare(testset, sample=one) for one in (None, file))
    assert stratified.rows[0]["se"] < 0.5 * plain.rows[0]["se"]
    assert stratified.rows[0]["difference"] == pytest.approx(plain.rows[0]["difference"])


def test_a_sample_with_analyses_counts_what_they_hold(tmp_path: Path) -> None:
    testset = campaign({"A": 80, "B": 70}, documents=90)
    file = _sample(tmp_path, testset, lambda _: 0.5, lambda _: "", lambda k: 1 + k // 30)
    found = gn.human.compare(testset, sample=file, interim="2/3")
    assert found.rows[0]["documents"] == 60
    with pytest.raises(UsageError, match=r"plans 3 analyses"):
        gn.human.compare(testset, sample=file, interim="1/2")


def test_judged_segments_that_a_sample_lacks_are_refused(tmp_path: Path) -> None:
    testset = campaign({"A": 80, "B": 70}, documents=40)
    file = _sample(tmp_path, testset, lambda _: 0.5, lambda _: "", lambda _: 1)
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[:-4]), encoding="utf-8")
    with pytest.raises(DataError, match="nothing says how likely"):
        gn.human.compare(testset, sample=file)


def test_a_sample_is_held_against_the_kind_that_is_compared(tmp_path: Path) -> None:
    said = judged([70, 60], documents=60)
    points, marks = (
        with_judgements(["A", "B"], said, kind=kind, without=said.document >= documents)
        for kind, documents in (("points", 60), ("marks", 20))
    )
    both = replace(points, human=points.human + marks.human)
    file = _sample(tmp_path, both, lambda _: 0.5, lambda _: "", lambda _: 1)
    rows = file.read_text(encoding="utf-8").splitlines(keepends=True)
    told = [one.params for one in gn.human.compare(both, sample=file).verdict]
    lacking = {one["human"]: one["unjudged"] for one in told if "unjudged" in one}
    assert lacking == {"points": None, "marks": 160}
    file.write_text("".join(rows[:81]), encoding="utf-8")
    (row,) = gn.human.compare(both, human="marks", sample=file)
    assert row["segments"] == 80
    with pytest.raises(DataError, match="160 judged segments are not in the sample"):
        gn.human.compare(both, sample=file)


def test_several_kinds_of_judgements_are_compared_each_for_itself() -> None:
    one, other = (
        campaign({"A": a, "B": 60}, documents=40, kind=kind)
        for a, kind in ((80, "coherence"), (60, "fluency"))
    )
    both = replace(one, human=one.human + other.human)
    assert [row["human"] for row in gn.human.compare(both)] == ["coherence", "fluency"]
    assert [row["human"] for row in gn.human.compare(both, human="fluency")] == ["fluency"]
    with pytest.raises(UnknownNameError, match="kind of judgements"):
        gn.human.compare(both, human="adequacy")


def test_intervals_hold_0_where_and_only_where_nothing_is_decided(shared: Path) -> None:
    found = gn.human.compare(_wmt24(shared, "en-cs"))
    assert any(row["p"] <= 0.05 < row["p_corrected"] for row in found)
    for row in found:
        assert row["decided"] == (not row["low"] <= 0 <= row["high"])
        assert row["decided"] == (row["p_corrected"] <= 0.05)


def test_the_interval_of_holm_is_students_t_at_the_level_of_its_step() -> None:
    found = gn.human.compare(campaign({"A": 80, "B": 70, "C": 60}, documents=60))
    ranked = sorted(found.rows, key=lambda row: float(row["p"]))
    df = 59.0
    for row, left in zip(ranked, (3, 2, 1), strict=True):
        half = student.ppf(1 - 0.05 / left / 2, df) * row["se"]
        assert row["decided"]
        assert row["low"] == pytest.approx(row["difference"] - half, rel=1e-6)
