"""Numbers that were published, from texts and from score files.

Sources: WMT19 metrics task (Ma et al., 2019) and the tables of "A Study in Improving BLEU Reference
Coverage with Diverse Automatic Paraphrasing" (Bawden et al., 2020), as given by the files
``oracles/paraphrase/*.tsv`` (Pearson, Williams's p, marks), which were made without gnomon.
"""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.methods.metaeval.contests import contest, scores
from tests.told import notes

import gnomon as gn
from gnomon import stats
from gnomon.data.formats import read_lines
from gnomon.metaeval import STATISTICS

PAIRS = ("de-en", "fi-en", "gu-en", "kk-en", "lt-en", "ru-en", "zh-en")
BASELINE = "baseline"
SYSTEM_PEARSON: dict[str, Any] = {"levels": ["system"], "statistics": ["pearson"]}


def oracle(shared: Path, name: str) -> dict[str, dict[str, str]]:
    with (shared / "oracles" / "paraphrase" / name).open(encoding="utf-8") as file:
        return {row["file"]: row for row in csv.DictReader(file, delimiter="\t")}


def judged(shared: Path, table: dict[str, dict[str, str]], baseline: str, pairs: tuple[str, ...]):
    folder = shared / "data/paraphrases/wmt19-de-en-500/published"
    human = [folder / "human-scores" / f"{pair}.da-z.sys.tsv" for pair in pairs]
    files = {name: folder / (baseline if name == BASELINE else name) for name in table}
    return gn.metaeval(human=human, scores=files, baseline=BASELINE, resamples=0, **SYSTEM_PEARSON)


@pytest.fixture(scope="module")
def full(shared: Path):
    table = oracle(shared, "wmt19_syslevel_pearson_bleu.tsv")
    return table, judged(shared, table, "sacreBLEU-syslevel.tsv", PAIRS)


@pytest.fixture(scope="module")
def first500(shared: Path):
    table = oracle(shared, "wmt19_deen500_syslevel_pearson_bleu.tsv")
    return table, judged(shared, table, "sacreBLEU-syslevel.500.tsv", ("de-en",))


@pytest.mark.parametrize("which", [pytest.param("full", marks=pytest.mark.verify), "first500"])
def test_every_row_of_the_paraphrase_tables_is_met_with_its_williams_decision(
    which: str, request: pytest.FixtureRequest
) -> None:
    table, found = request.getfixturevalue(which)
    rows = {
        (r["metric"], r["language_pair"]): r
        for r in found
        if r["test_set"] not in ("average", "all")
    }
    pairs = [pair for pair in PAIRS if f"{pair}.r" in next(iter(table.values()))]
    assert len(rows) == len(table) * len(pairs)
    for name, expected in table.items():
        for pair in pairs:
            row, base = rows[name, pair], rows[BASELINE, pair]
            assert row["value"] == pytest.approx(float(expected[f"{pair}.r"]), abs=1e-6)
            assert row["n"] == int(expected[f"{pair}.n"])
            if name == BASELINE:
                assert row["p"] is None
            elif row["value"] > base["value"]:
                p = float(expected[f"{pair}.williams_p"])
                if pair != "gu-en":  # see the next test
                    assert row["p"] == pytest.approx(p, abs=1e-6)
                marks = "*" * sum(row["p"] <= alpha for alpha in (0.05, 0.01, 0.001))
                assert marks == (expected[f"{pair}.sig"] or "")
            else:  # the oracle writes 1 where r is not above the baseline
                assert row["p"] >= 0.5


@pytest.mark.verify
def test_the_oracle_correlates_metrics_over_a_system_that_nobody_judged(full, shared) -> None:
    # gu-en: 12 systems have metric scores, 11 human ones. The oracle takes the correlation between
    # the metrics over all 12; Williams's test is defined on the cells that all three have
    table, found = full
    rows = {r["metric"]: r for r in found if r["language_pair"] == "gu-en"}
    folder = shared / "data/paraphrases/wmt19-de-en-500/published"
    scores = {
        name: {
            fields[3]: float(fields[-1])
            for fields in map(str.split, read_lines(folder / file))
            if fields[1] == "gu-en"
        }
        for name in rows
        for file in ["sacreBLEU-syslevel.tsv" if name == BASELINE else name]
    }
    systems = sorted(scores[BASELINE])
    better = [n for n in rows if rows[n]["value"] > rows[BASELINE]["value"]]
    assert (len(systems), len(better)) == (12, 10)
    for name in better:
        between = stats.pearson(*([scores[n][s] for s in systems] for n in (name, BASELINE)))
        whole = stats.williams_from_correlations(
            rows[name]["value"], rows[BASELINE]["value"], between, 11
        )
        assert whole.p == pytest.approx(float(table[name]["gu-en.williams_p"]), abs=1e-6)
        assert rows[name]["p"] < whole.p


@pytest.mark.verify
def test_averages_and_gains_over_language_pairs_are_those_of_the_tables(full) -> None:
    table, found = full
    averages = {r["metric"]: r for r in found if r["language_pair"] == "average"}
    gains = {row["metric"]: row for row in found.table("averages").rows}
    for name, expected in table.items():
        assert averages[name]["value"] == pytest.approx(float(expected["ave_r"]), abs=1e-6)
        assert averages[name]["n"] == len(PAIRS)
        if name == BASELINE:
            continue
        each = [float(expected[f"{p}.r"]) - float(table[BASELINE][f"{p}.r"]) for p in PAIRS]
        assert gains[name]["gain"] == pytest.approx(sum(each) / len(each), abs=2e-6)
        assert gains[name]["gain_min"] == pytest.approx(min(each), abs=2e-6)
        assert gains[name]["gain_max"] == pytest.approx(max(each), abs=2e-6)
        bases = [float(table[BASELINE][f"{pair}.r"]) for pair in PAIRS]
        percent = [100 * gain / base for gain, base in zip(each, bases, strict=True)]
        assert [gains[name][f"percent{end}"] for end in ("", "_min", "_max")] == pytest.approx(
            [sum(percent) / len(percent), min(percent), max(percent)], abs=3e-4
        )
        marked = sum(bool(expected[f"{pair}.sig"]) for pair in PAIRS)
        assert gains[name]["better"] == marked


@pytest.mark.verify
def test_a_system_without_a_human_score_is_left_out_and_said(full) -> None:
    _, found = full
    assert any("online-B.0" in n and n.startswith("gu-en") for n in notes(found.notices))


@pytest.mark.parametrize(("pair", "r"), [("de-en", 0.890), ("kk-en", 0.943), ("lt-en", 0.969)])
def test_bleu_from_texts_correlates_with_people_as_wmt19_reports(
    shared: Path, pair: str, r: float
) -> None:
    testset = gn.TestSet.read(shared / "data/wmt19" / pair)
    (row,) = gn.metaeval(testset, ["bleu"], resamples=0, **SYSTEM_PEARSON).rows
    assert row["value"] == pytest.approx(r, abs=5e-4)


def test_human_paraphrases_raise_the_correlation_of_bleu(shared: Path) -> None:
    whole = gn.TestSet.read(shared / "data/wmt19/de-en")
    folder = shared / "data/paraphrases/wmt19-de-en-500"
    names = ("A", "human1", "human2", "human3", "human4", "human5")
    references = {n: read_lines(folder / f"ref.{n}.txt") for n in names}
    testset = replace(
        whole,
        references=references,
        systems={name: texts[:500] for name, texts in whole.systems.items()},
        sources=whole.sources[:500],
        human=tuple(h for h in whole.human if h.level == "system"),
    )
    one = gn.score(testset.select(references=["A"]), "bleu")
    six = gn.score(testset, "bleu")
    found = gn.metaeval(testset, {"one": one, "six": six}, baseline="one", **SYSTEM_PEARSON)
    rows = {row["metric"]: row for row in found}
    assert rows["one"]["value"] == pytest.approx(0.895, abs=5e-4)
    assert rows["six"]["value"] == pytest.approx(0.948, abs=5e-4)
    assert rows["six"]["p"] == pytest.approx(0.00375314, abs=1e-3)  # the oracle's Williams p
    assert six.system.mean() == pytest.approx(48.93, abs=5e-3)


def test_darr_of_kk_en_is_that_of_the_task_over_seven_systems(shared: Path) -> None:
    testset = gn.TestSet.read(shared / "data/wmt19/kk-en")
    found = gn.metaeval(
        testset, ["chrf", "bleu"], levels=["segment"], statistics=["darr"], resamples=0
    )
    rows = {row["metric"]: row for row in found}
    assert rows["chrf"]["value"] == pytest.approx(0.322985, abs=5e-7)
    assert rows["bleu"]["value"] == pytest.approx(0.284539, abs=5e-7)
    assert rows["bleu"]["n"] == 9728
    assert any("repeats 3" in n and "contradicts itself on 2" in n for n in notes(found.notices))


def test_one_outlier_makes_the_correlation_of_en_de(shared: Path) -> None:
    testset = gn.TestSet.read(shared / "data/wmt19/en-de")
    found = gn.metaeval(
        testset, ["bleu"], top=[6], preset="outliers", resamples=0, **SYSTEM_PEARSON
    )
    values = {row["subset"]: (round(row["value"], 4), row["n"]) for row in found}
    assert values == {
        "all": (0.9588, 22),
        "top 6": (-0.3602, 6),
        "without outliers": (0.8273, 20),
    }
    curve = {row["k"]: row["value"] for row in found.table("top_k").rows}
    assert round(curve[6], 4) == -0.3602
    assert sum(row["outlier"] for row in found.table("systems").rows) == 2


@pytest.mark.verify
def test_more_references_do_not_always_help_on_wmt21_en_de(shared: Path) -> None:
    testset = gn.TestSet.read(shared / "data/wmt21/en-de")
    metrics = {
        name: gn.score(testset.select(references=references), "bleu")
        for name, references in {"A": ["A"], "C": ["C"], "D": ["D"], "all": ["A", "C", "D"]}.items()
    }
    found = gn.metaeval(testset, metrics, human="mqm", resamples=0, **SYSTEM_PEARSON)
    values = {row["metric"]: round(row["value"], 3) for row in found}
    assert values == {"A": 0.939, "C": 0.828, "D": 0.654, "all": 0.789}
    assert {row["n"] for row in found} == {8}


@pytest.mark.verify
def test_williams_test_rejects_too_often_where_a_system_that_nobody_judged_takes_part() -> None:
    # what the published p-values of gu-en do: metrics correlated over one system more, far out
    rng = np.random.default_rng(1)
    root = np.linalg.cholesky(np.array([[1, 0.9, 0.9], [0.9, 1, 0.97], [0.9, 0.97, 1]]))
    rejected = {11: 0, 12: 0}
    draws = 3000
    for _ in range(draws):
        human, first, second = root @ rng.normal(size=(3, 11))
        more = [np.append(one, 3.5) for one in (first, second)]
        r = [stats.pearson(human, one) for one in (first, second)]
        for systems, between in ((11, stats.pearson(first, second)), (12, stats.pearson(*more))):
            found = stats.williams_from_correlations(*r, between, 11)
            rejected[systems] += found.p <= 0.05
    assert rejected[11] / draws == pytest.approx(0.05, abs=0.01)
    assert rejected[12] / draws > 0.1


def p_values_in_float32(scores: np.ndarray) -> np.ndarray:
    """The published algorithm of soft pairwise accuracy, in the precision that it was run in."""
    draws = np.random.default_rng(4).random(size=(1000, scores.shape[1]), dtype=np.float32)
    signs = 2 * np.rint(draws) - 1
    x = scores.astype(np.float32)
    flipped, totals = signs @ x.T, x.sum(axis=1)
    first, second = np.triu_indices(len(x), 1)
    null = flipped[:, first] - flipped[:, second]
    return (null >= totals[first] - totals[second]).mean(axis=0)


def test_p_values_of_systems_are_the_published_ones_but_where_float32_breaks_ties(
    shared: Path,
) -> None:
    found = {}
    esa = shared / "data/wmt24/en-cs"
    for name, testset in (
        ("mqm", gn.TestSet.read(shared / "data/wmt21/en-de")),
        ("esa", gn.TestSet.read(esa).with_human(esa / "esa.csv")),
    ):
        people = testset.human_scores(name, "segment", systems=sorted(testset.systems))
        people = people[~np.isnan(people).all(axis=1)]
        people = people[:, ~np.isnan(people).any(axis=0)]
        ours = stats.system_p_values(people, seed=4)[np.triu_indices(len(people), 1)]
        off = np.abs(ours - p_values_in_float32(people))
        found[name] = (len(off), int((off > 0).sum()), round(float(off.max()), 3))
    assert found == {"mqm": (28, 2, 0.002), "esa": (105, 0, 0.0)}


def test_the_fixture_of_mt_metrics_eval_is_met_through_the_front_door(shared: Path) -> None:
    fixture = json.loads((shared / "oracles/mtme/fixture.json").read_text(encoding="utf-8"))
    human = np.array(fixture["human"])
    names = tuple(f"s{k}" for k in range(len(human)))
    found = gn.metaeval(
        contest(human, names),
        {name: scores(np.array(fixture[name]), names) for name in ("m1", "m2", "m3")},
        statistics=list(STATISTICS),
        groupings=["none", "item", "system"],
        darr_threshold=1.0,
        resamples=0,
    )
    theirs = {
        "kendall_b": "tau_b",
        "kendall_c": "tau_c",
        "pairwise_difference_pearson": "pdp",
        "darr": "kendall_like@1",
    }
    at_system_level = {"pearson": "pearson_sys", "pairwise_accuracy": "pairwise_acc_sys"}
    met = 0
    for row in found:
        grouping = {"system": "sys"}.get(row["grouping"], row["grouping"])
        key = f"{theirs.get(row['statistic'], row['statistic'])}/{grouping}"
        if row["level"] == "system":
            key = at_system_level.get(row["statistic"], row["statistic"])
        expected = fixture["expected"].get(row["metric"], {}).get(key)  # none of controls
        if expected is not None:
            tolerance = 0.01 if row["statistic"] == "spa" else 1e-9  # theirs draws without a seed
            assert row["value"] == pytest.approx(expected, abs=tolerance), key
            met += 1
    assert met == 3 * (4 * 3 + 3 + 2 + 3)
