"""The table of segments, intervals that say nothing, scores of systems as means of segments."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.methods.muler.experiments import hybrids

import gnomon as gn
from gnomon import cli, study

if TYPE_CHECKING:
    from pathlib import Path

ANIMAL = {"animal": r"\b(cat|dog|horse)\b"}
WORDS = ["cat", "dog", "horse", "the", "sat", "ran", "home", "red", "on"]


def _sentences(seed: int, count: int) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(4, 9))) for _ in range(count)]


def _testset(count: int = 30, systems: str = "ab") -> gn.TestSet:
    outputs = {name: _sentences(number, count) for number, name in enumerate(systems)}
    return gn.TestSet.from_lists(outputs, _sentences(99, count))


def _muler(testset: gn.TestSet, metric: Any = "rouge1", **more: Any) -> gn.Finding:
    return gn.muler(testset, metric, ["re:animal"], pattern=ANIMAL, **more)


def test_segments_are_listed_with_what_both_sides_have_by_hand() -> None:
    testset = gn.TestSet.from_lists(
        {"s": ["the cat sat", "no", "a dog and a dog", "red"]},
        [["the dog sat", "a cow sat"], ["no", "no"], ["home", "a dog"], ["the cat red", "red"]],
    )
    found = _muler(testset, per_segment=True, resamples=0)
    rows = [tuple(row.values())[3:] for row in found.table("segments").rows]
    assert rows == [
        (1, pytest.approx(2 / 3), 1.0, pytest.approx(2 / 3), 1, 0.5),
        (3, pytest.approx(4 / 7), pytest.approx(4 / 7), pytest.approx(2 / 7), 2, 0.5),
        (4, 1.0, 1.0, 1.0, 0, 0.5),
    ]
    assert [t.name for t in _muler(testset, resamples=0).tables] == ["muler", "negative"]


def test_means_over_the_segments_that_both_have_are_the_figures() -> None:
    found = _muler(_testset(), ["rouge1", "ter"], per_segment=True, resamples=0)
    for row in found:
        own = [
            one for one in found.table("segments").rows
            if (one["system"], one["metric"]) == (row["system"], row["metric"])
            and one["candidate_count"] and one["reference_count"]
        ]  # fmt: skip
        assert len(own) == row["segments"]
        for name in ("base", "oracle", "anti_oracle"):
            mean = sum(float(str(one[name])) for one in own) / len(own)
            assert row[name] == pytest.approx(mean, abs=1e-12)


def test_the_command_writes_them(tmp_path: Path) -> None:
    (tmp_path / "ref.txt").write_text("the dog sat\nred\n")
    (tmp_path / "sys.txt").write_text("the cat sat\nred\n")
    out = tmp_path / "out.json"
    table = tmp_path / "segments.tsv"
    code = cli.main(
        ["muler", str(tmp_path / "ref.txt"), "-i", str(tmp_path / "sys.txt"), "-q",
         "--pattern", "animal=cat|dog", "--features", "re:animal", "--per-segment", "-f", "json",
         "--tables", f"segments={table}", "-o", str(out)]
    )  # fmt: skip
    assert code == 0
    assert json.loads(out.read_text())["rows"]
    assert table.read_text().splitlines()[1].split("\t")[:4] == ["sys", "bleu", "re:animal", "1"]


def test_intervals_wider_than_half_the_scale_are_marked() -> None:
    found = _muler(_testset(26), "bleu")
    for row in found:
        low, high = row["muler_low"], row["muler_high"]
        wide = low is not None and high is not None and float(str(high)) - float(str(low)) > 0.5
        assert row["uninformative"] is wide
    assert not any(row["uninformative"] for row in _muler(_testset(26), "bleu", resamples=0))


def test_a_rare_feature_of_a_single_system_is_marked() -> None:
    draw = random.Random(2)
    references = [
        " ".join([draw.choice(WORDS[:3]), *draw.choices(WORDS[3:], k=draw.randint(2, 8))])
        for _ in range(12)
    ]
    outputs = []
    for reference in references:
        words = reference.split()
        if draw.random() > 0.5:
            words[0] = draw.choice(WORDS[:3])
        words[1:] = [one if draw.random() < 0.5 else draw.choice(WORDS[3:]) for one in words[1:]]
        outputs.append(" ".join(words))
    found = _muler(gn.TestSet.from_lists({"s": outputs}, references), "bleu")
    row = next(row for row in found if row["variant"] == "ratio")
    assert float(str(row["muler_high"])) - float(str(row["muler_low"])) > 2
    assert row["uninformative"]


def test_the_range_stands_beside_base_and_muler() -> None:
    testset = _testset()
    scored = {
        row["system"]: row for row in _muler(testset, "bleu", resamples=0, variants=["ratio"])
    }
    for row in hybrids(testset, "bleu", ["re:animal"], pattern=ANIMAL):
        own = scored[row["system"]]
        for name in ("base", "muler", "oracle", "anti_oracle"):
            assert row[name] == pytest.approx(own[name], abs=1e-12)


@pytest.mark.parametrize("metric", ["bleu", "ter"])
def test_correlations_are_with_corpus_scores(metric: str) -> None:
    testset = _testset(systems="abcde")
    values = gn.score(testset, metric).system
    found = gn.muler.correlate(testset, metric, ["re:animal"], pattern=ANIMAL)
    rows = [r for r in found.table("systems").rows if r["variant"] == "ratio"]
    assert [r["score"] for r in rows] == pytest.approx(list(values), abs=1e-9)
    losses = [float(str(r["muler"])) for r in rows]
    sign = 1 if metric == "bleu" else -1
    r = np.corrcoef([-one for one in losses], sign * np.asarray(values))[0, 1]
    (own,) = (one["r"] for one in found if one["against"] == metric and one["variant"] == "ratio")
    assert own == pytest.approx(r)


def test_a_study_keeps_them_in_a_table_of_their_own(tmp_path: Path) -> None:
    _testset(8).write(tmp_path / "set")
    (tmp_path / "study.toml").write_text(
        "metrics = ['rouge1']\n[[testsets]]\npath = 'set'\n[methods.muler]\n"
        "features = ['re:animal']\npattern = {animal = 'cat|dog|horse'}\nresamples = 0\n"
        "per_segment = true\n"
    )
    made = study.plan(study.read_study(tmp_path / "study.toml"))
    assert not study.run(made, study.open_engine("here")).failed
    store = study.Store.open(made.study.store)
    rows = store.query("select system, segment, oracle - base as left from muler_segments").rows
    assert {row[0] for row in rows} == {"a", "b"}
    columns = store.schema("muler_segments").table.columns
    assert any("how often the candidate has the feature" in one.help for one in columns)
