"""``gnomon.check``: rates, the floor, costs, the gate and notes."""

from __future__ import annotations

import csv

import pytest

import gnomon as gn
from gnomon.check.figures import FaultDifferenceRow, HitRow, RateRow
from gnomon.core.errors import UnknownNameError, UsageError

SOURCES = [f"the {n} dogs ran through the garden and barked at {n + 1} cats" for n in range(40)]
REFERENCE = [f"die {n} Hunde liefen im Garten und bellten {n + 1} Katzen an" for n in range(40)]
GOOD = [text.replace("liefen", "rannten") for text in REFERENCE]


def planted(**systems):
    """References and systems, of which ``good`` has no fault."""
    return gn.TestSet.from_lists(
        {"good": GOOD, **systems}, REFERENCE, sources=SOURCES, language_pair="en-de"
    )


def bad(count=8):
    """So many empty outputs, and the source in the next one."""
    return [*[""] * count, SOURCES[count], *[f"{text}!" for text in GOOD[count + 1 :]]]


def rate(finding, system, kind):
    """The row of a system and a kind."""
    [row] = [r for r in finding.records(RateRow) if (r.system, r.kind) == (system, kind)]
    return row


def test_rates_stand_beside_those_of_references():
    finding = gn.check(planted(bad=bad()), resamples=100)
    row = rate(finding, "bad", "untranslated")
    assert (row.hits, row.segments, row.share) == (9, 40, 9 / 40)
    assert row.ends("share")[0] < 9 / 40 < row.ends("share")[1]
    assert rate(finding, "bad", "empty").hits == 8
    assert rate(finding, "bad", "copied").hits == 1
    assert rate(finding, "reference:A", "untranslated").hits == 0
    hits = finding.records(HitRow, "hits")
    assert {row.kind for row in hits if row.system == "good"} == set()
    assert [row.segment for row in hits if row.kind == "empty"] == list(range(1, 9))


def test_what_the_reference_has_or_half_of_the_others_does_not_count():
    reference = ["", *REFERENCE[1:]]
    some = gn.TestSet.from_lists({"a": ["", "", *GOOD[2:]]}, reference, sources=SOURCES)
    assert [row.segment for row in gn.check(some).records(HitRow, "hits")] == [2]
    one, two = ["", *GOOD[1:]], ["", "", *GOOD[2:]]
    systems = {"a": one, "b": one, "c": one, "d": two, "e": GOOD}
    some = gn.TestSet.from_lists(systems, REFERENCE, sources=SOURCES)
    kinds = ["empty"]
    hits = gn.check(some, kinds=kinds, resamples=0).records(HitRow, "hits")
    assert [(row.system, row.segment) for row in hits] == [("d", 2)]


def test_an_output_counts_for_one_kind():
    answer = "I cannot translate this text, for it is the work of somebody else."
    finding = gn.check(planted(bad=[answer, *[f"{text}!" for text in GOOD[1:]]]), resamples=0)
    assert rate(finding, "bad", "not-a-translation").hits == 1
    assert rate(finding, "bad", "language").hits == 0
    assert rate(finding, "bad", "too-long").hits == 0


def test_costs_are_told_on_all_segments_and_on_those_that_both_translated():
    finding = gn.check(planted(bad=bad(12)), "chrf", resamples=200)
    whole, part = [
        row for row in finding.records(FaultDifferenceRow, "differences") if row.kind == "chrf"
    ]
    assert (whole.on, whole.segments, part.on, part.segments) == ("all", 40, "translated", 27)
    assert whole.difference < part.difference < 0


def test_the_gate_says_which_systems_fail():
    some = planted(bad=bad())
    finding = gn.check(some, fail_above=["untranslated=25%", "empty=0.1"], resamples=0)
    assert finding.failure.startswith("bad: 8 of 40 segments are hit by empty")
    passed = gn.check(some, fail_above=["empty=20%", "empty=50%", "tag=0"], resamples=0)
    assert not passed.failure
    # up to 34.8 % of others like them may be empty; none is asked of these alone
    outcomes = [case.outcome for case in passed.gate if case.system == "bad"]
    assert outcomes == ["undecided", "passed", "passed"]
    for wrong in ("empty", "empty=x", "empty=200%"):
        with pytest.raises(UsageError, match="no limit"):
            gn.check(some, fail_above=[wrong])
    with pytest.raises(UnknownNameError):
        gn.check(some, fail_above=["emty=1%"])


def test_notes_are_a_table_of_hits(tmp_path):
    path = tmp_path / "faults.csv"
    gn.check(planted(bad=bad(1)), notes=path, resamples=0)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["kind"], row["segment"]) for row in rows[:2]] == [("empty", "1"), ("copied", "2")]


def test_kinds_that_lack_something_are_told():
    some = gn.TestSet.from_lists({"a": GOOD}, REFERENCE, language_pair="en-de")
    finding = gn.check(some, kinds=["copied", "empty"])
    assert [str(note) for note in finding.notices] == [
        "not looked for: copied (needs a source: -s)."
    ]
    assert {row.kind for row in finding.records(RateRow)} == {"untranslated", "empty"}


def test_documents_that_are_alike_widen_intervals():
    systems = {"good": GOOD, "bad": [*[""] * 4, *GOOD[4:]]}
    documents = [f"d{n // 2}" for n in range(40)]
    some = gn.TestSet.from_lists(
        systems, REFERENCE, sources=SOURCES, language_pair="en-de", documents=documents
    )
    kinds = ["empty"]
    wide = rate(gn.check(some, kinds=kinds, unit="document", resamples=0), "bad", "empty")
    narrow = rate(gn.check(some, kinds=kinds, unit="segment", resamples=0), "bad", "empty")
    assert wide.ends("share")[1] > narrow.ends("share")[1]


def test_an_unknown_baseline_is_refused():
    with pytest.raises(UnknownNameError, match="baseline"):
        gn.check(planted(bad=bad()), baseline="worse")


def test_glossaries_rules_and_judges_are_kinds_like_the_others(tmp_path):
    glossary, rules = tmp_path / "terms.csv", tmp_path / "rules.csv"
    glossary.write_text("source,target\ndogs,Hunde\n", encoding="utf-8")
    rules.write_text("segment,must,at-most\n,,60\n3,Katzen,\n", encoding="utf-8")
    outputs = ["die Katzen liefen"] * 2 + ["die Hunde " * 7, *GOOD[3:]]
    finding = gn.check(
        planted(bad=outputs),
        kinds=["empty"],
        glossary=glossary,
        match="forms",
        rules=rules,
        fail_above=["term=10%", "rule=0"],
        resamples=0,
    )
    assert rate(finding, "bad", "term").hits == 2
    hits = finding.records(HitRow, "hits")
    assert [(row.kind, row.segment) for row in hits] == [("term", 1), ("term", 2), ("rule", 3)]
    assert finding.failure.startswith("bad: 1 of 40 segments are hit by rule")
    with pytest.raises(UsageError, match="rule asks yes or no"):
        gn.check(planted(bad=outputs), kinds=["empty"], judge="chrf")


def test_comparisons_are_sliced_by_what_all_systems_translated():
    rows = gn.compare(planted(bad=bad(8)), "chrf", by="check", resamples=0).rows
    sizes = {row["slice"]: row["segments"] for row in rows if row["system"] == "bad"}
    assert sizes == {None: 40, "all translated": 31, "some untranslated": 9}


def test_a_limit_on_what_was_not_looked_for_is_refused():
    with pytest.raises(UsageError, match="'tag' was not looked for"):
        gn.check(planted(), kinds=["empty"], fail_above=["tag=0"])
    with pytest.raises(UsageError, match="'term' was not looked for"):
        gn.check(planted(), kinds=["empty"], fail_above=["term=0"])


def test_as_many_as_the_limit_allows_pass():
    few = gn.TestSet.from_lists({"bad": [""] * 7 + ["x"] * 993}, ["x"] * 1000)
    assert gn.check(few, kinds=["empty"], resamples=0, fail_above=["empty=0.7%"]).failure == ""


def test_a_reference_is_not_told_where_systems_have_the_same():
    same = [*SOURCES[:5], *REFERENCE[5:]]
    some = gn.TestSet.from_lists({"a": same}, same, sources=SOURCES, language_pair="en-de")
    finding = gn.check(some, kinds=["copied"], resamples=0)
    assert rate(finding, "reference:A", "copied").listed == 0
    alone = gn.TestSet.from_lists({"a": GOOD}, same, sources=SOURCES, language_pair="en-de")
    assert rate(gn.check(alone, kinds=["copied"]), "reference:A", "copied").listed == 5


def test_what_is_undecided_with_and_without_is_no_cost():
    nearly = ["", *GOOD[1:]]
    finding = gn.check(planted(bad=nearly), kinds=["empty"], resamples=200)
    assert not any(one.code == "check.cost" for one in finding.verdict)


def test_rows_for_segments_that_are_not_there_are_refused(tmp_path):
    path = tmp_path / "rules.csv"
    path.write_text("segment,must\n41,x\n", "utf-8")
    with pytest.raises(UsageError, match="row for segment 41, and the test set has 40"):
        gn.check(planted(), kinds=["empty"], rules=path)


def test_each_kind_is_judged_by_its_own_documents():
    lost = [n // 10 in (3, 7, 11) for n in range(200)]
    kept = [f"die <b>{n}</b> Hunde" for n in range(200)]
    without = [t.replace("<b>", "") if x else t for t, x in zip(kept, lost, strict=True)]
    some = gn.TestSet.from_lists(
        {"a": kept, "b": without},
        kept,
        sources=[f"the <b>{n}</b> dogs" for n in range(200)],
        documents=[str(n // 10) for n in range(200)],
    )
    wide, narrow = (gn.check(some, kinds=["empty", "tag"], unit=u) for u in ("auto", "segment"))
    assert rate(wide, "b", "tag").ends("share")[1] > rate(narrow, "b", "tag").ends("share")[1]
    assert [row.decided for row in narrow.records(FaultDifferenceRow, "differences")][-1]
    assert not any(row.decided for row in wide.records(FaultDifferenceRow, "differences"))


def test_the_same_answer_everywhere_is_no_translation_of_another_segment():
    answers = ["I'm sorry, but I cannot translate this."] * 40
    finding = gn.check(planted(bad=answers), resamples=0)
    assert rate(finding, "bad", "not-a-translation").listed == 40
    assert rate(finding, "bad", "other-segment").listed == 0


def test_documents_are_drawn_however_few_they_are():
    lost = [n // 20 in (1, 3) for n in range(120)]
    kept = [f"die <b>{n}</b> Hunde" for n in range(120)]
    without = [t.replace("<b>", "") if x else t for t, x in zip(kept, lost, strict=True)]
    some = gn.TestSet.from_lists(
        {"a": kept, "b": without},
        kept,
        sources=[f"the <b>{n}</b> dogs" for n in range(120)],
        documents=[str(n // 20) for n in range(120)],
    )
    finding = gn.check(some, kinds=["tag"])
    assert not any(row.decided for row in finding.records(FaultDifferenceRow, "differences"))


def test_outputs_in_the_language_of_neither_are_told_without_a_language_pair():
    japanese = [f"{n} 匹の犬が庭を走り、{n + 1} 匹の猫に吠えた" for n in range(40)]
    french = [f"{n} chiens ont couru dans le jardin, vers {n + 1} chats" for n in range(40)]
    some = {"references": REFERENCE, "sources": SOURCES}
    finding = gn.check(gn.TestSet.from_lists({"a": japanese, "b": japanese}, **some))
    assert rate(finding, "a", "script").hits == 40
    finding = gn.check(gn.TestSet.from_lists({"a": french}, **some))
    assert [one.params["what"] for one in finding.verdict if one.code == "data.doubtful"] == [
        "language"
    ]


def test_shares_differ_by_no_more_than_all():
    finding = gn.check(planted(bad=[*GOOD[:4], *[""] * 36]), resamples=100)
    rows = finding.records(FaultDifferenceRow, "differences")
    ends = [end for row in rows if row.kind == "empty" for end in row.ends("difference")]
    assert max(abs(end) for end in ends) == 1
