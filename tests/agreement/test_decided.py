"""Which pairs of systems people decide: by hand, by an oracle, and by what compare says."""

from __future__ import annotations

import csv
import json
import os
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_rel
from tests.methods.metaeval.contests import contest, scores

import gnomon as gn
from gnomon.agreement import significance
from gnomon.agreement.decided import decided_agreement, human_decisions, paired_test

SHARED = Path(os.environ.get("GNOMON_SHARED", Path(__file__).resolve().parents[3] / "shared"))
ORACLE = SHARED / "oracles" / "people" / "oracle_wmt24.en-cs.json"


def test_over_segments_it_is_the_paired_t_test() -> None:
    draw = np.random.default_rng(1)
    a, b = draw.normal(size=(2, 60))
    test = paired_test(a - b, np.arange(60))
    expected = ttest_rel(a, b)
    low, high = expected.confidence_interval()
    assert float(test.estimate) == pytest.approx((a - b).mean())
    assert float(test.p) == pytest.approx(expected.pvalue)
    assert (float(test.low), float(test.high)) == pytest.approx((low, high))


def test_over_documents_the_variance_is_that_of_leaving_each_out() -> None:
    sizes = np.array([1, 2, 3] * 6)
    documents = np.repeat(np.arange(18), sizes)
    d = np.random.default_rng(2).normal(size=len(documents)) + documents % 5
    test = paired_test(d, documents)
    left = np.array([d[documents != g].mean() for g in range(18)])
    error = np.sqrt(17 / 18 * ((left - left.mean()) ** 2).sum())
    df = sizes.sum() ** 2 / (sizes**2).sum() - 1
    assert float(test.error) == pytest.approx(error)
    assert float(test.p) == pytest.approx(2 * student.sf(abs(d.mean()) / error, df))


def test_missing_scores_leave_a_pair_the_segments_that_both_have() -> None:
    a = np.arange(40.0)
    a[:4] = np.nan
    b = np.zeros(40)
    b[-4:] = np.nan
    assert float(paired_test(a - b, np.arange(40)).estimate) == pytest.approx(np.mean(range(4, 36)))


def test_pairs_of_too_few_documents_or_segments_are_not_tested() -> None:
    people = np.array([np.arange(29.0) + 100, np.arange(29.0) % 3])
    assert not human_decisions(people, None).tested.any()
    fourteen = [f"d{k % 14}" for k in range(29)]
    assert not human_decisions(people, fourteen).tested.any()
    fifteen = human_decisions(people, [f"d{k % 15}" for k in range(29)])
    assert fifteen.tested[0, 1]
    assert fifteen.unit == "document"
    assert fifteen.units == 15


def test_agreement_counts_the_decided_pairs_and_a_tie_of_the_metric_is_none() -> None:
    noise = np.random.default_rng(3).normal(size=(4, 50))
    # a and b are alike, c and d are far above and far below
    people = noise + np.array([0.0, 0.0, 9.0, -9.0])[:, None]
    decisions = human_decisions(people, None)
    assert decisions.signs[2].tolist() == [1, 1, 0, 1]
    assert decisions.signs[0, 1] == 0
    right = decided_agreement(
        decisions, np.array([1.0, 2.0, 3.0, 0.0]), significance.Testing(resamples=0)
    )
    assert right[:3] == (6, 5, 5)
    tied = decided_agreement(
        decisions, np.array([1.0, 2.0, 2.0, 0.0]), significance.Testing(resamples=0)
    )
    assert tied[:3] == (6, 5, 4)
    missing = decided_agreement(
        decisions, np.array([1.0, np.nan, 2.0, 0.0]), significance.Testing(resamples=0)
    )
    assert missing[:3] == (3, 3, 3)


def test_a_system_drawn_twice_makes_no_pair_with_itself() -> None:
    people = np.random.default_rng(4).normal(size=(8, 50)) + np.arange(8.0)[:, None] * 5
    decisions = human_decisions(people, None)
    metric = np.array([0, 1, 2, 3, 5, 4, 7, 6.0])
    found = decided_agreement(decisions, metric, significance.Testing(resamples=400, seed=1))
    assert found[:3] == (28, 28, 26)
    draws = np.random.default_rng(5).integers(0, 8, size=(4000, 8))
    shares = []
    for drawn in draws:
        pairs = [(i, j) for i, j in combinations(drawn, 2) if i != j]
        shares.append(np.mean([(i < j) == (metric[i] < metric[j]) for i, j in pairs]))
    assert (found.low, found.high) == pytest.approx(np.quantile(shares, [0.025, 0.975]), abs=0.03)


def test_all_right_has_no_interval() -> None:
    people = np.random.default_rng(4).normal(size=(8, 50)) + np.arange(8.0)[:, None] * 5
    found = decided_agreement(human_decisions(people, None), np.arange(8.0), significance.Testing())
    assert found[:3] == (28, 28, 28)
    assert np.isnan([found.low, found.high]).all()


def test_the_table_decides_as_compare_does() -> None:
    draw = np.random.default_rng(6)
    human = draw.normal(size=(5, 60)) + 0.2 * np.arange(5)[:, None]
    documents = [f"d{k // 3}" for k in range(60)]
    names = tuple("abcde")
    ts = gn.TestSet.from_lists(
        {name: [f"w{k}" for k in range(60)] for name in names},
        [f"w{k}" for k in range(60)],
        documents=documents,
        name="set",
    )
    decided = 0
    for k in range(5):
        by = gn.Scores(
            "p", names, human.mean(axis=1), human, True, gn.core.signature.Signature("p"),
            from_people=True,
        )  # fmt: skip
        found = gn.compare(ts, by, baseline=names[k], examples=0, ngrams=0)
        rows = found.table("systems").rows
        p = [1.0 if row["p"] is None else row["p"] for row in rows]  # of each pair alone
        decided += sum(one <= 0.05 for one in p)
    decisions = human_decisions(human, documents)
    assert (decisions.signs != 0).sum() == decided > 0


def test_people_and_metrics_of_systems_alone_have_no_such_row() -> None:
    human = np.linspace(0, 1, 6)[:, None]
    finding = gn.metaeval(contest(human, level="system"), scores(np.tile(human, 20)))
    assert finding.table("decided").rows == ()
    segments = np.random.default_rng(7).normal(size=(6, 40)) + 3 * human
    of_segments = contest(segments)
    by = scores(segments + np.random.default_rng(8).normal(size=(6, 40)))
    (row,) = gn.metaeval(of_segments, by, levels=["system"]).table("decided").rows
    assert (row["pairs"], row["unit"], row["units"]) == (15, "segment", 40)
    assert gn.metaeval(of_segments, by, levels=["segment"]).table("decided").rows == ()


@pytest.mark.skipif(not ORACLE.exists(), reason="needs the shared oracles (GNOMON_SHARED)")
def test_decisions_over_documents_are_those_of_an_oracle() -> None:
    oracle = json.loads(ORACLE.read_text())
    names = oracle["systems"]
    folder = SHARED / "data" / "wmt24" / "en-cs"
    by_output = defaultdict(list)
    with (folder / "esa.csv").open(newline="") as file:
        for row in csv.reader(file):
            if row[3] == "TGT" and row[1] in names:
                by_output[row[1], int(row[2])].append(float(row[6]))
    testset = gn.TestSet.read(str(folder))
    assert testset.documents is not None
    people = np.full((len(names), testset.segments), np.nan)
    for (name, line), values in by_output.items():
        people[names.index(name), line] = np.mean(values)
    people[:, np.isnan(people).any(axis=0)] = np.nan
    decisions = human_decisions(people, testset.documents)
    assert np.triu(decisions.tested).sum() == 105
    assert np.triu(decisions.signs != 0).sum() == 52
    assert decisions.units == oracle["documents"] == 85
    _, which = np.unique(testset.documents, return_inverse=True)
    for pair, expected in oracle["pairs"].items():
        i, j = (names.index(name) for name in pair.split(" - "))
        test = paired_test(people[i] - people[j], which)
        assert float(test.estimate) == pytest.approx(expected["difference"], abs=1e-9)
        assert float(test.error) == pytest.approx(expected["se_documents"], abs=1e-6)
        by_segment = paired_test(people[i] - people[j], np.arange(testset.segments))
        assert float(by_segment.error) == pytest.approx(expected["se_segments"], abs=1e-6)
