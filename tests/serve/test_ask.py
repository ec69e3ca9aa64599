"""Questions in SQL read the tables of a study, and reach nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gnomon.serve import _ask
from gnomon.serve._ask import Refused, ask, check
from gnomon.serve._store_pages import open_store
from gnomon.studies import Store
from gnomon.studies.reading import names

if TYPE_CHECKING:
    from pathlib import Path

duckdb = pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")

#: what a study is asked, and what must come back
ALLOWED = (
    "select * from leaderboard where rank = 1",
    "from scores limit 2",
    "with best as (select * from scores) select system from best",
    "with recursive r as (select 1 a union all select a + 1 from r where a < 5) select * from r",
    "pivot scores on metric in ('bleu') using first(score)",
    "select * from Scores tablesample 2 rows",
    "select max(s.score) from scores s, range(10) t",
    "summarize scores",
    "describe scores",
    "values (1), (2)",
    "select unnest([1, 2])",
    "select list_transform([1, 2], x -> x + 1)",
    "select count(*) from (select * from segments where system like 'apertium%')",
)
#: what reaches for the disk, the network, other stores, extensions, settings, the environment
ATTACKS = (
    "select * from '/etc/passwd'",
    "select * from 'other.store/tables/scores/*.parquet'",
    "select * from read_text('/etc/passwd')",
    "select * from read_csv('/etc/passwd')",
    "select * from read_blob('/proc/self/environ')",
    "select * from read_parquet('s3://bucket/file')",
    "select * from parquet_scan('/tmp/x')",
    "select * from parquet_metadata('/tmp/x')",
    "select * from glob('/*')",
    "select * from sniff_csv('/etc/passwd')",
    "select * from sqlite_scan('/tmp/x', 'y')",
    "select content from scores, read_text('/etc/passwd')",
    "select (select content from read_text('/etc/passwd')) from scores",
    "select * from scores where exists (from read_text('/etc/passwd'))",
    "with a as (from read_text('/etc/passwd')) select * from a",
    "from scores union all by name from read_text('/etc/passwd')",
    "select * from query('select 1')",
    "select * from query_table('scores')",
    "from json_execute_serialized_sql(json_serialize_sql('select 1'))",
    "select * from duckdb_settings()",
    "select * from duckdb_views()",
    "select * from duckdb_secrets()",
    "select * from duckdb_databases()",
    "select * from information_schema.tables",
    "select * from pg_catalog.pg_tables",
    "select * from sqlite_master",
    "select * from system.main.duckdb_tables",
    "select * from temp.main.scores",
    "select * from other.scores",
    "show tables",
    "show all tables",
    "select * from pragma_database_list()",
    "select * from pragma_table_info('scores')",
    "select current_setting('home_directory')",
    "select current_database()",
    "select getenv('HOME')",
    "select version()",
    "select sleep_ms(1000)",
    "select getvariable('x')",
    "attach '/tmp/x.db' as y",
    "copy scores to '/tmp/x.csv'",
    "copy (select 1) to '/tmp/x.csv'",
    "export database '/tmp/x'",
    "import database '/tmp/x'",
    "install httpfs",
    "load httpfs",
    "set threads = 3",
    "reset all",
    "pragma database_list",
    "call pragma_version()",
    "create table x as select 1",
    "create macro f() as 1",
    "insert into tasks select * from tasks",
    "drop view scores",
    "delete from tasks",
    "update tasks set method = 'x'",
    "checkpoint",
    "begin transaction",
    "prepare x as select 1",
    "execute x",
    "explain analyze select 1",
    "use memory",
    "vacuum",
    "select 1; select 2",
    "select 1; copy scores to '/tmp/x.csv'",
    "/* */ copy scores to '/tmp/x.csv' -- select",
    "selec",
    "",
    ";",
)


def _serialized(sql: str) -> str:
    with duckdb.connect() as connection:
        return str(connection.execute("select json_serialize_sql(?::varchar)", [sql]).fetchone()[0])


@pytest.mark.parametrize("sql", ALLOWED)
def test_what_reads_the_study_may_be_asked(finished: Path, sql: str) -> None:
    check(_serialized(sql), names(Store(finished)))


@pytest.mark.parametrize("sql", ATTACKS)
def test_what_reaches_for_more_is_refused_before_it_runs(finished: Path, sql: str) -> None:
    with pytest.raises(Refused) as refused:
        check(_serialized(sql), names(Store(finished)))
    assert "/etc" not in str(refused.value)


def test_all_that_duckdb_knows_is_judged() -> None:
    """Functions that make rows are refused but for a few, whatever a newer DuckDB brings."""
    with duckdb.connect() as connection:
        asked = "select distinct function_name from duckdb_functions() where function_type = ?"
        makes_rows = [name for (name,) in connection.execute(asked, ["table"]).fetchall()]
    passed = set()
    for name in makes_rows:
        try:
            check(_serialized(f'select * from "{name}"(1)'), ())
        except Refused:
            continue
        passed.add(name)
    assert passed <= {"unnest", "range", "generate_series", "json_each", "json_tree"}


def test_an_answer_has_columns_rows_and_kinds(finished: Path) -> None:
    answer = ask(
        finished, "select system, score, 3 as n from leaderboard where rank = 1 order by 2"
    )
    assert answer.columns == ("system", "score", "n")
    assert answer.kinds == ("text", "number", "count")
    assert [row[0] for row in answer.rows] == ["apertium-direct", "apertium-direct"]
    assert not answer.cut


def test_rows_beyond_what_is_wanted_are_cut_and_said(finished: Path) -> None:
    answer = ask(finished, "select * from range(1000)", rows=10)
    assert len(answer.rows) == 10
    assert answer.cut


def test_where_texts_are_stays_with_the_server(finished: Path) -> None:
    assert ask(finished, "select path from testsets").rows == ((None,),)


def test_a_question_that_runs_on_is_ended(finished: Path) -> None:
    with pytest.raises(Refused, match="took more than"):
        ask(finished, "select count(*) from range(10000000) a, range(1000000) b where a.range <"
            " b.range + 1", seconds=1)  # fmt: skip


def test_a_question_that_takes_all_memory_is_ended(finished: Path) -> None:
    with pytest.raises(Refused, match="memory"):
        ask(finished, "select list(range) from range(300000000)")


def test_a_single_cell_is_cut(finished: Path) -> None:
    (row,) = ask(finished, "select repeat('x', 1000000)").rows
    assert len(str(row[0])) == 10_000


def test_the_process_itself_cannot_write_or_read_elsewhere(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB is closed even where the check of the question is not made."""
    monkeypatch.setattr(_ask, "check", lambda *_: None)
    secret, target = tmp_path / "secret.csv", tmp_path / "written.csv"
    secret.write_text("a\nb\n")
    for sql in (
        f"select * from '{secret}'",
        f"select * from read_text('{secret}')",
        f"copy (select 1) to '{target}'",
        f"attach '{tmp_path / 'x.db'}' as x",
        "set enable_external_access = true",
        "install httpfs",
    ):
        connection = _ask._connection(Store(finished))
        with pytest.raises(duckdb.Error):
            connection.execute(sql).fetchall()
    assert not target.exists()


def test_tables_are_listed_with_what_their_columns_mean(finished: Path) -> None:
    tables = {table.name: table for table in _ask.tables(open_store(finished))}
    assert {"scores", "segments", "muler", "leaderboard", "tasks"} <= tables.keys()
    assert "path" not in [column.name for column in tables["testsets"].columns]
    for table in tables.values():
        assert all(column.meaning for column in table.columns), table.name


def test_examples_can_be_asked(finished: Path) -> None:
    store = Store(finished)
    examples = _ask.examples(open_store(finished))
    assert len(examples) == len(_ask.EXAMPLES)
    for _, sql in examples:
        check(_serialized(sql), names(store))
    assert ask(finished, examples[0][1]).rows
