"""``gnomon run``, ``query`` and ``export`` as a user meets them."""

from __future__ import annotations

import json
import os
import shlex
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gnomon import example
from gnomon.core.errors import UsageError
from gnomon.studies import Store
from gnomon.studies import query as _query

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
    assert "methods.compare.resamples: resamples must be a whole number" in answer.err
    assert "methods.bmx.explain.explainers[0]: unknown explainer 'lomo'" in answer.err
    assert not (study.parent / "study.store").exists()


def test_a_program_gets_a_line_for_each_task_and_what_it_found(
    gnomon: Callable, study: Path
) -> None:
    answer = gnomon("run", study, "--engine", "here", "--progress", "json")
    lines = [json.loads(line) for line in answer.out.splitlines()]
    assert answer.code == 0
    counts = [(line["done"], line["total"]) for line in lines if line["stage"] == "tasks"]
    assert counts == [(n, len(counts)) for n in range(1, len(counts) + 1)]
    assert Store("study.store").files()
    assert gnomon("run", study, "--dry-run", "--progress", "json").out.startswith("study")
    study.write_text('metrics = ["blue"]\n[[testsets]]\npath = "nowhere"\n', encoding="utf-8")
    answer = gnomon("run", study, "--progress", "json")
    (line,) = answer.out.splitlines()
    assert answer.code
    assert [said["level"] for said in json.loads(line)["refused"]] == ["error", "error"]


def test_run_query_and_export(gnomon: Callable, study: Path) -> None:
    assert gnomon("run", study, "--engine", "here").code == 0
    scores = gnomon("score", "-t", example.path(), "--first", 10, "-m", "bleu", "-f", "json")
    found = gnomon(
        "query", "study.store", "select system, metric, score, signature from scores", "-f", "json"
    )
    keys = ("system", "metric", "score", "signature")
    expected = [{key: row[key] for key in keys} for row in scores.json()["rows"]]
    assert sorted(found.json()["rows"], key=str) == sorted(expected, key=str)
    assert gnomon("run", study, "--dry-run", "-f", "json").json()["rows"][0]["left"] == 0
    assert "segments" in gnomon("query", "study.store").out
    columns = gnomon("query", "study.store", "--columns", "-f", "json").json()["rows"]
    assert {"table": "scores", "column": "score", "type": "DOUBLE"}.items() <= next(
        row for row in columns if (row["table"], row["column"]) == ("scores", "score")
    ).items()
    first = gnomon(
        "query", "study.store", "select system, score from leaderboard where rank = 1", "-f", "json"
    )
    assert first.json()["rows"][0]["score"] == max(row["score"] for row in expected)
    assert gnomon("export", "study.store", "-o", "all.duckdb").code == 0
    assert Path("all.duckdb").stat().st_size > 0


def test_a_run_ends_with_what_was_found_set_by_set_and_two_commands_that_work(
    gnomon: Callable, study: Path
) -> None:
    text = study.read_text("utf-8")
    sets = "[[testsets]]" + text.partition("[[testsets]]")[2]
    text = f'store = "of two.store"\n{text}name = "one"\n{sets}name = "two"\n'
    methods = "[methods.score]\nmetrics = ['ter']\n[methods.compare]\nresamples = 50\n"
    study.write_text(text + methods, encoding="utf-8")
    answer = gnomon("run", study, "--engine", "here")
    plan, found = answer.out.split("one/es-en: Comparison of systems\n")
    assert "Plan of study" in plan
    first, second = found.split("two/es-en: Comparison of systems\n")
    for part, name in ((first, "one"), (second, "two")):
        assert "10 segments are too few for a finding" in part
        assert f"{name}/es-en: Scores\n" in part
        assert " TER" in part
    commands = [line.partition("next: ")[2] for line in answer.err.splitlines() if "next: " in line]
    assert len(commands) == 2
    assert answer.err.splitlines()[-1].endswith(commands[1])
    for command in commands:
        assert gnomon(*shlex.split(command)[1:]).code == 0
    assert Path("report.html").is_file()
    again = gnomon("run", study, "--engine", "here", "-f", "json").json()["messages"]
    assert {one["text"].partition(": ")[0] for one in again} == {"one/es-en", "two/es-en"}


@pytest.mark.parametrize("form", ["tsv", "json"])
def test_rows_of_a_query_are_let_go_once_they_are_printed(
    gnomon: Callable, study: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    class Part(list):
        """Some rows, of which it can be asked whether anybody holds them."""

    held: list[weakref.ref[Part]] = []
    most = 0

    def parts(*_: object) -> Iterator[Part]:
        nonlocal most
        for number in range(20):
            part = Part([(f"{number}-{row}",) for row in range(100)])
            held.append(weakref.ref(part))
            most = max(most, sum(one() is not None for one in held))
            yield part

    assert gnomon("run", study, "--engine", "here").code == 0
    monkeypatch.setattr("gnomon.studies.query._fetch_parts", parts)
    for where in ((), ("-o", "out")):
        answer = gnomon("query", "study.store", "select 'x' as x", "-f", form, *where)
        text = Path("out").read_text() if where else answer.out
        rows = json.loads(text)["rows"] if form == "json" else text.splitlines()[1:]
        assert (len(rows), len(held)) == (2000, 20)
        assert most <= 3  # one that is printed, the one before, the first
        held.clear()


@pytest.mark.verify
def test_memory_does_not_grow_with_the_rows_of_a_query(
    gnomon: Callable, process: Callable, study: Path
) -> None:
    assert gnomon("run", study, "--engine", "here").code == 0
    peaks = []
    for rows in (10, 150_000):  # held as records and text these take 500 MB
        sql = f"select range as n, repeat('text ', 200) || range as text from range({rows})"
        with process("query", "study.store", sql, "-f", "tsv", "-o", "out") as run:
            _, status, used = os.wait4(run.pid, 0)
        assert (status, Path("out").read_bytes().count(b"\n")) == (0, rows + 1)
        peaks.append(used.ru_maxrss / 1024)
    assert peaks[1] < peaks[0] + 150


def test_formats_for_people_say_where_they_end(
    gnomon: Callable, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert gnomon("run", study, "--engine", "here").code == 0
    monkeypatch.setattr("gnomon.cli.studies._SHOWN", 3)
    sql = "select range + 100 as n from range({})"
    for form in ("text", "markdown", "latex"):
        cut = gnomon("query", "study.store", sql.format(4), "-f", form).out
        whole = gnomon("query", "study.store", sql.format(3), "-f", form).out
        assert ("102" in cut, "103" in cut, "first 3 rows" in cut) == (True, False, True)
        assert ("102" in whole, "first 3 rows" in whole) == (True, False)


def test_what_cannot_go_on_on_the_disk_gets_more_memory(
    gnomon: Callable, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert gnomon("run", study, "--engine", "here").code == 0
    monkeypatch.setitem(_query._FRUGAL, "memory_limit", "4MB")
    sql = "select len(string_agg(range::varchar, ' ')) as n from range(2000000)"
    assert gnomon("query", "study.store", sql, "-f", "tsv").out == "n\n14888889\n"


def test_nobody_reads_on(gnomon: Callable, process: Callable, study: Path) -> None:
    assert gnomon("run", study, "--engine", "here").code == 0
    sql = "select range from range(1000000)"
    with process("query", "study.store", sql, "-f", "tsv") as run:
        assert run.stdout.readline() == "range\n"
        run.stdout.close()
        assert (run.wait(), run.stderr.read()) == (0, "")


def test_what_is_in_the_way_of_an_export_is_not_to_be_taken_away(
    gnomon: Callable, study: Path
) -> None:
    assert gnomon("run", study, "--engine", "here").code == 0
    answer = gnomon("export", "study.store", "-o", "study.store")
    assert (answer.code, answer.err) == (
        1, "gnomon: error: study.store is there already; name a new one\n"
    )  # fmt: skip


def test_mistakes_are_told(gnomon: Callable, study: Path) -> None:
    assert "gnomon run" in gnomon("query", "nowhere", "select 1").err
    answer = gnomon("query", "select 1")
    assert (answer.code, "the store comes first" in answer.err) == (2, True)
    assert "leave out the query" in gnomon("query", "x.store", "select 1", "--columns").err
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
    assert gnomon("query", "study.store", "select count(*) as n from scores", "-f", "json").json()[
        "rows"
    ]


def _made(gnomon: Callable, study: Path) -> None:
    study.write_text(study.read_text("utf-8").replace('["bleu"]', '["bleu", "chrf"]'), "utf-8")
    assert gnomon("run", study, "-q", "--engine", "here").code == 0


def test_answers_can_be_read_at_80_columns(
    gnomon: Callable, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _made(gnomon, study)
    monkeypatch.setenv("COLUMNS", "80")
    for sql in ((), ("--columns",), ("select * from scores",), ("select * from segments",)):
        table = gnomon("query", "study.store", *sql).out
        assert max(map(len, table.splitlines()), default=0) <= 80


def test_columns_that_were_named_are_all_shown(gnomon: Callable, study: Path) -> None:
    _made(gnomon, study)
    answer = gnomon("query", "study.store", "select system, metric, signature, task from scores")
    for name in ("system", "metric", "signature", "task"):
        assert name in answer.out


def test_an_answer_without_rows_is_an_empty_table(gnomon: Callable, study: Path) -> None:
    _made(gnomon, study)
    answer = gnomon("query", "study.store", "select * from scores where score < 0")
    assert answer.code == 0, answer.err
    assert "system" in answer.out


def test_a_query_that_takes_too_long_is_ended_and_says_what_to_do(gnomon, study) -> None:
    assert gnomon("run", study, "--engine", "here").code == 0
    store = Store.open(study.with_suffix(".store"))
    endless = "select count(*) from range(10000000000) a, range(1000) b where a.range * b.range = 1"
    with pytest.raises(UsageError, match=r"has taken 0\.2 s, and was ended: .*\(timeout=\)"):
        store.query(endless, timeout=0.2)
    assert store.query("select 1 as one", timeout=None).rows == ((1,),)
