"""`metaeval delta-accuracy` and `compare --delta-accuracy`: what is found, said and refused."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from tests.methods.metaeval.contests import contest, scores

import gnomon as gn
from gnomon.core.errors import DataError, FormatError, UsageError
from gnomon.core.human import HumanScores
from gnomon.core.options import DrawOptions

SHARED = Path(os.environ.get("GNOMON_SHARED", Path(__file__).resolve().parents[4] / "shared"))
DATA = SHARED / "data"
SYSTEMS = tuple(f"s{k}" for k in range(10))


def planted(sets: int = 4, *, noise: float = 1.0) -> tuple[list[gn.TestSet], list[gn.Scores]]:
    """Sets of ten systems with people's scores of systems, and scores of a metric."""
    made, judged = [], []
    for number in range(sets):
        draw = np.random.default_rng(number)
        people = draw.normal(size=10)
        values = people + noise * draw.normal(size=10)
        testset = contest(
            people[:, None],
            SYSTEMS,
            level="system",
            name=f"wmt1{number}",
            pair=f"{'abcdef'[number]}a-en",
        )
        made.append(testset)
        judged.append(scores(np.repeat(values[:, None], 20, axis=1), SYSTEMS))
    return made, judged


def test_pairs_are_counted_as_by_hand() -> None:
    sets, judged = planted()
    finding = gn.metaeval.delta_accuracy(sets, [judged], resamples=50)
    pairs = agree = 0
    for testset, of_set in zip(sets, judged, strict=True):
        people = testset.human_scores("da", "system", systems=SYSTEMS).ravel()
        for i, j in combinations(range(10), 2):
            pairs += 1
            agree += (people[i] > people[j]) == (of_set.system[i] > of_set.system[j])
    rows = finding.table("delta_accuracy").rows
    assert sum(row["pairs"] for row in rows) == pairs == 180
    assert round(sum(row["share"] * row["pairs"] for row in rows)) == agree
    assert [row["pairs"] for row in finding.table("sets").rows] == [45] * 4
    assert rows[0]["smallest"] == 0


def test_equal_scores_of_either_side_make_no_pair() -> None:
    sets, judged = planted()
    people = np.array(sets[0].human[0].values)
    people[1] = people[0]
    sets[0] = replace(sets[0], human=(HumanScores("da", "system", SYSTEMS, people),))
    values = np.array(judged[1].system)
    values[1] = values[0]
    judged[1] = replace(judged[1], system=values, segments=np.repeat(values[:, None], 20, axis=1))
    rows = gn.metaeval.delta_accuracy(sets, [judged], resamples=0).table("sets").rows
    assert [row["pairs"] for row in rows] == [44, 44, 45, 45]


def test_an_error_rate_is_turned() -> None:
    sets, judged = planted()
    turned = [
        replace(s, system=-s.system, segments=-s.segments, higher_is_better=False) for s in judged
    ]
    upright = gn.metaeval.delta_accuracy(sets, [judged], resamples=0).table("delta_accuracy").rows
    assert (
        gn.metaeval.delta_accuracy(sets, [turned], resamples=0).table("delta_accuracy").rows
        == upright
    )


def test_results_are_the_same_in_any_order_of_systems() -> None:
    sets, judged = planted()
    first = gn.metaeval.delta_accuracy(sets, [judged], resamples=50)
    turned = [each.select(systems=SYSTEMS[::-1]) for each in sets]
    again = gn.metaeval.delta_accuracy(turned, [judged], resamples=50)
    assert again.table("delta_accuracy").rows == first.table("delta_accuracy").rows
    assert again.table("curve").rows == first.table("curve").rows


def test_too_few_sets_kinds_that_are_several_and_a_set_twice_are_refused() -> None:
    sets, judged = planted()
    with pytest.raises(DataError, match="takes 3 test sets or more"):
        gn.metaeval.delta_accuracy(sets[:2], [judged[:2]])
    with pytest.raises(UsageError, match="is given twice"):
        gn.metaeval.delta_accuracy([*sets, sets[0]], [[*judged, judged[0]]])
    with pytest.raises(UsageError, match="is given twice"):
        gn.metaeval.delta_accuracy([*sets, replace(sets[0])], [[*judged, judged[0]]])
    several = HumanScores("mqm", "system", SYSTEMS, sets[0].human[0].values - 9)
    two = [replace(sets[0], human=(*sets[0].human, several)), *sets[1:]]
    with pytest.raises(UsageError, match=r"several kinds of human scores \(da, mqm\)"):
        gn.metaeval.delta_accuracy(two, [judged])
    assert gn.metaeval.delta_accuracy(two, [judged], human="da", resamples=0).table("sets").rows
    with pytest.raises(DataError, match="has no human scores of systems"):
        gn.metaeval.delta_accuracy([replace(sets[0], human=()), *sets[1:]], [judged])


def test_metrics_that_differ_between_sets_are_refused() -> None:
    sets, judged = planted()
    other = replace(judged[2], signature=judged[2].signature.adding(tok="char"))
    with pytest.raises(DataError, match="tok:char in place of tok:none"):
        gn.metaeval.delta_accuracy(sets, [[*judged[:2], other, judged[3]]])


def test_people_as_a_metric_are_refused() -> None:
    sets, judged = planted(noise=0.0)
    with pytest.raises(DataError, match="people's scores cannot judge m"):
        gn.metaeval.delta_accuracy(sets, [judged])


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> tuple[gn.TestSet, Path]:
    """Two systems of the example, and a meaning of BLEU of planted sets with the same signature."""
    from gnomon.agreement.meaning import SetPairs, make_meaning, write_meanings

    ts = gn.TestSet.read(str(gn.example.path()))
    ts = ts.select(systems=list(ts.systems)[:3])
    draw = np.random.default_rng(1)
    pairs = [
        SetPairs(f"wmt19 {k}", "es-en", 2019, "da-z", 12, size, draw.random(60) < 0.8)
        for k, size in enumerate(draw.uniform(0, 50, size=(3, 60)))
    ]
    drawing = DrawOptions(100, 0.95, 1)
    signature = str(gn.score(ts, ["bleu"])[0].signature)
    file = tmp_path_factory.mktemp("meaning") / "bleu.delta-accuracy.json"
    write_meanings(file, [make_meaning("bleu", signature, pairs, drawing)], drawing)
    return ts, file


def test_compare_has_a_row_for_each_system_and_changes_nothing_else(
    example: tuple[gn.TestSet, Path],
) -> None:
    ts, file = example
    plain = gn.compare(ts, ["bleu", "chrf"], resamples=50)
    meant = gn.compare(ts, ["bleu", "chrf"], delta_accuracy=file, resamples=50)
    rows = meant.table("meaning").rows
    assert [(row["metric"], row["baseline"]) for row in rows] == [("bleu", rows[0]["baseline"])] * 2
    differences = {
        row["system"]: abs(row["difference"])
        for row in plain.table("systems").rows
        if row["metric"] == "bleu" and row["difference"] is not None
    }
    for row in rows:
        assert row["difference"] == differences[row["system"]]
        assert row["smallest"] <= row["difference"] < row["largest"]
        assert row["published"] is not None
    assert [table.name for table in meant.tables if table.name != "meaning"] == [
        table.name for table in plain.tables
    ]
    for table in plain.tables:
        assert meant.table(table.name).rows == table.rows
    assert plain.signatures == meant.signatures
    (said,) = [one for one in meant.verdict if one.code == "metaeval.delta_accuracy.classes"]
    assert str(said).startswith("In WMT19, people agreed with a difference ")
    assert "direct assessment" in str(said)


def test_compare_refuses_a_meaning_of_another_metric_and_names_what_differs(
    example: tuple[gn.TestSet, Path], tmp_path: Path
) -> None:
    ts, file = example
    with pytest.raises(DataError, match="differences of bleu mean, and compared are chrf"):
        gn.compare(ts, "chrf", delta_accuracy=file)
    data = json.loads(file.read_text())
    meaning = data["meanings"][0]
    meaning["signature"] = meaning["signature"].replace("tok:13a", "tok:zh")
    other = tmp_path / "other.json"
    other.write_text(json.dumps(data))
    with pytest.raises(DataError, match="tok:13a in place of tok:zh"):
        gn.compare(ts, "bleu", delta_accuracy=other)
    other.write_text("{}")
    with pytest.raises(FormatError, match="says nothing of what differences mean"):
        gn.compare(ts, "bleu", delta_accuracy=other)


def test_identical_outputs_and_human_scores_have_no_meaning(
    example: tuple[gn.TestSet, Path],
) -> None:
    ts, file = example
    texts = list(next(iter(ts.systems.values())))
    references = list(next(iter(ts.references.values())))
    same = gn.TestSet.from_lists({"a": texts, "b": texts}, references, language_pair="es-en")
    found = gn.compare(same, "bleu", delta_accuracy=file, resamples=50)
    assert "meaning" not in [table.name for table in found.tables]


@pytest.fixture(scope="module")
def wmt() -> list[gn.TestSet]:
    """The sets of WMT17 to 19, and of WMT24 with ESA."""
    if not (DATA / "wmt24").is_dir():
        pytest.skip("needs the shared test sets (GNOMON_SHARED)")
    folders = [path for year in (17, 18, 19) for path in sorted((DATA / f"wmt{year}").iterdir())]
    sets = [gn.TestSet.read(str(folder)) for folder in folders]
    for pair in ("en-cs", "en-ja"):
        folder = DATA / "wmt24" / pair
        sets.append(gn.TestSet.read(str(folder)).with_human(str(folder / "esa.csv")))
    return sets


@pytest.mark.filterwarnings("ignore")
@pytest.mark.verify
def test_one_to_two_points_of_bleu_in_wmt17_to_19(wmt: list[gn.TestSet]) -> None:
    finding = gn.metaeval.delta_accuracy(wmt[:10], ["bleu"], resamples=100)
    rows = {row["smallest"]: row for row in finding.table("delta_accuracy").rows}
    assert (rows[1.0]["largest"], rows[1.0]["pairs"], rows[1.0]["share"]) == (2.0, 94, 70 / 94)
    assert sum(row["pairs"] for row in rows.values()) == 700


@pytest.mark.filterwarnings("ignore")
@pytest.mark.verify
def test_a_curve_of_older_years_promises_too_much_for_wmt24(wmt: list[gn.TestSet]) -> None:
    finding = gn.metaeval.delta_accuracy(wmt, ["chrf"], resamples=50)
    (newest,) = [row for row in finding.table("years").rows if row["year"] == 2024]
    assert newest["promised"] == pytest.approx(0.889, abs=0.005)
    assert newest["share"] < 0.74
    assert newest["p"] < 0.01
    (said,) = [one for one in finding.verdict if one.code == "metaeval.delta_accuracy.newer"]
    assert "in 2024 people agreed in 7" in str(said)
