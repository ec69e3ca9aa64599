"""Judges as steps of a study: their spread, whom they prefer, what talks them over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.methods.metaeval.marked import marked_set
from tests.metrics.judges.chat_server import Chat, serving
from tests.metrics.judges.test_metric import fenced
from tests.metrics.judges.test_requests import answered, read, write

from gnomon import study
from gnomon.cli import main
from gnomon.studies import pages

pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'gnomon[study]'")


def says(body: dict) -> str:
    """Scores by the length of the candidate; of two, the longer one."""
    first, second = len(fenced(body, "first")), len(fenced(body, "second"))
    better = "tie" if first == second else "first" if first > second else "second"
    length = len(fenced(body)) + body.get("seed", 0) % 2
    return json.dumps({"better": better} if first else {"score": min(100, length)})


def test_a_dry_run_of_a_study_says_what_its_judges_are_asked_and_a_batch_answers_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    marked_set().write(tmp_path / "marked")
    with serving(Chat(says)) as chat:
        asked = f"model='m', endpoint='{chat.url}'"
        panel = f"judge(['gemba-da', 'gemba-sqm'], {asked})"
        Path("study.toml").write_text(
            f'metrics = ["chrf", "{panel}"]\n[[testsets]]\npath = "marked"\n[methods.score]\n'
            f'[methods.judges.reliability]\ninjections = 0\nmetrics = ["{panel}"]\n'
            "[methods.compare]\n"
            f"metrics = [\"judge('pairwise', {asked})\"]\n"
        )
        assert main(["run", "study.toml", "--dry-run", "-f", "json", "-q"]) == 0
        shown = json.loads(capsys.readouterr().out)
        (row,) = shown["tables"]["requests"]
        assert row["requests"] == 12 + 4
        assert not Path("study.store").exists()
        assert main(["run", "study.toml", "--batch-write", "requests.jsonl", "-q"]) == 0
        write("results.jsonl", answered(read("requests.jsonl"), says))
        read_now = ["--batch-read", "results.jsonl"]
        assert main(["run", "study.toml", "--engine", "here", "-q", *read_now]) == 0
        assert chat.bodies == []
        capsys.readouterr()
        assert main(["run", "study.toml", "--dry-run", "-q"]) == 0
        assert "requests would be sent" not in capsys.readouterr().out  # all tasks are done
        store = study.Store.open("study.store")
        assert len(store.query("select * from judge_reliability where measure = 'alpha'").rows) == 1
        assert len(store.query("select * from comparisons").rows) == 2


def test_judges_are_steps_that_ask_nothing_twice(tmp_path: Path) -> None:
    marked_set().write(tmp_path / "marked")
    with serving(Chat(says)) as chat:
        asked = f"model='m', endpoint='{chat.url}'"
        steps = {
            "compare": f"judge('pairwise', {asked})",
            "judges.calibrate": f"judge('gemba-da', {asked})",
            "judges.reliability": f"judge('gemba-da', {asked}, repeats=2, temperature=1.0)",
        }
        lines = ['metrics = ["chrf"]', "[[testsets]]", 'path = "marked"']
        for name, spec in steps.items():
            lines += [f"[methods.{name}]", f'metrics = ["{spec}"]']
        file = tmp_path / "study.toml"
        file.write_text("\n".join([*lines, "injections = 2"]), encoding="utf-8")
        plan = study.plan(study.read_study(file))
        store = study.Store.open(plan.study.store, create=True)
        assert study.run(plan, study.open_engine("here"), store=store).failed == {}
        given, bodies = chat.answered, len(chat.bodies)
        assert study.run(plan, study.open_engine("here"), store=store).failed == {}
        assert (len(chat.bodies), chat.most) == (bodies, 1)
    # 6 distinct texts twice, and 2 of them in 7 other forms; 2 pairs of 4 in both orders; 6 texts
    # by a judge of temperature 0
    assert given == 12 + 2 * 14 + 4 + 6
    scores = "select subject, answers, n from judge_reliability where measure = 'score' order by 1"
    assert store.query(scores).rows == (("alpha", 8, 4), ("beta", 8, 4))
    told = store.query("select system, wins, losses, ties from comparisons where wins >= 0").rows
    assert told == (("beta", 1, 1, 2),)
    fitted = store.query("select kind, outputs from judge_calibration").rows
    assert fitted == (("esa", 8),)
    [[points]] = store.query("select count(*) from judge_calibration_points").rows
    assert points == 8
    counted = "select count(*) from judge_reliability where measure = 'injection'"
    assert store.query(counted).rows == ((6,),)
    assert pages(store).testsets[0].name == "marked/en"


def test_a_step_of_judges_refuses_other_metrics_when_it_is_planned(tmp_path: Path) -> None:
    marked_set().write(tmp_path / "marked")
    file = tmp_path / "study.toml"
    lines = [
        'metrics = ["chrf"]',
        "[[testsets]]",
        'path = "marked"',
        "[methods.judges.reliability]",
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(Exception, match="'chrf' is no judge"):
        study.plan(study.read_study(file))
