"""``gnomon run``, ``query`` and ``export`` as a user meets them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gnomon import example

pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'gnomon[study]'")


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "study.toml"
    file.write_text(
        f'metrics = ["bleu"]\n[[testsets]]\npath = "{example.path()}"\nfirst = 10\n',
        encoding="utf-8",
    )
    return file


def test_a_dry_run_prints_the_plan_and_makes_nothing(gnomon: Callable, study: Path) -> None:
    answer = gnomon("run", study, "--dry-run", "-f", "json")
    assert answer.code == 0
    (row,) = answer.json()["rows"]
    assert (row["method"], row["metrics"], row["left"]) == ("score", "bleu", row["tasks"])
    assert not (study.parent / "study.store").exists()


def test_a_dry_run_tells_all_that_is_wrong(gnomon: Callable, study: Path) -> None:
    wrong = "[methods.compare]\nresamples = -3\n[methods.bmx.explain]\nexplainers = ['lomo']\n"
    study.write_text(study.read_text("utf-8") + wrong, encoding="utf-8")
    answer = gnomon("run", study, "--dry-run")
    assert answer.code == 1
    assert "study.toml has 2 errors:" in answer.err
    assert "methods.compare.resamples: intervals of a confidence" in answer.err
    assert "methods.bmx.explain.explainers[0]: unknown explainer 'lomo'" in answer.err
    assert not (study.parent / "study.store").exists()


def test_run_query_export_and_forget(gnomon: Callable, study: Path) -> None:
    assert gnomon("run", study, "--engine", "here").code == 0
    scores = gnomon("score", "-t", example.path(), "--first", 10, "-m", "bleu", "-f", "json")
    found = gnomon("query", "select system, metric, score, signature from scores", "-f", "json")
    keys = ("system", "metric", "score", "signature")
    expected = [{key: row[key] for key in keys} for row in scores.json()["rows"]]
    assert sorted(found.json()["rows"], key=str) == sorted(expected, key=str)
    assert gnomon("run", study, "--dry-run", "-f", "json").json()["rows"][0]["left"] == 0
    assert "segments" in gnomon("query").out
    columns = gnomon("query", "--columns", "-f", "json").json()["rows"]
    assert {"table": "scores", "column": "score", "type": "DOUBLE"}.items() <= next(
        row for row in columns if (row["table"], row["column"]) == ("scores", "score")
    ).items()
    first = gnomon("query", "select system, score from leaderboard where rank = 1", "-f", "json")
    assert first.json()["rows"][0]["score"] == max(row["score"] for row in expected)
    assert gnomon("export", "all.duckdb").code == 0
    assert Path("all.duckdb").stat().st_size > 0
    name = found.json() and gnomon("query", "select distinct testset from tasks", "-f", "json")
    assert gnomon("run", study, "--forget", name.json()["rows"][0]["testset"]).code == 0
    assert gnomon("query", "select * from tasks", "-f", "json").json()["rows"] == []


def test_a_test_set_can_be_forgotten_when_it_is_gone(
    gnomon: Callable, study: Path, tmp_path: Path
) -> None:
    shutil.copytree(example.path(), tmp_path / "gone")
    more = f'{study.read_text()}[[testsets]]\npath = "gone"\nname = "gone"\nfirst = 5\n'
    study.write_text(more)
    assert gnomon("run", study, "--engine", "here").code == 0
    shutil.rmtree(tmp_path / "gone")
    study.write_text("wrong = 1\n" + more.replace('"bleu"', "\"python('x:y')\""))
    answer = gnomon("run", study, "--forget", "gone", "-f", "json")
    assert (answer.code, answer.json()["rows"][0]["tasks"] > 0) == (0, True)
    sets = gnomon("query", "select testset from testsets", "-f", "json").json()["rows"]
    assert [row["testset"] for row in sets] == ["example/es-en"]
    study.write_text("store = 1\n")
    answer = gnomon("run", study, "--forget", "gone")
    assert (answer.code, "store: must be a string" in answer.err) == (1, True)


def test_mistakes_are_told(gnomon: Callable, study: Path) -> None:
    assert "gnomon run" in gnomon("query", "--store", "nowhere", "select 1").err
    assert "there is none here" in gnomon("query", "select 1").err
    assert "leave out the query" in gnomon("query", "--columns", "select 1").err
    answer = gnomon("run", study, "--engine", "here", "--workers", 3)
    assert (answer.code, "--workers" in answer.err) == (2, True)
    study.write_text("metrics = [\n")
    answer = gnomon("run", study)
    assert (answer.code, "study.toml:" in answer.err) == (1, True)


def test_a_task_that_fails_makes_exit_code_1(gnomon: Callable, study: Path) -> None:
    study.with_name("none.tsv").write_text("system\tsegment\tscore\n")  # of no system
    study.write_text(study.read_text().replace('["bleu"]', '["bleu", "scores(\'none.tsv\')"]'))
    answer = gnomon("run", study, "--engine", "here")
    assert answer.code == 1
    assert "none.tsv" in answer.err
    assert " and 4 more tasks failed: " in answer.err  # one reason is told once
    assert gnomon("query", "select count(*) as n from scores", "-f", "json").json()["rows"]
