"""Stores of studies: hostile queries, and damage inside their files.

The law of queries: what does more than read the store's tables is refused, and nothing outside the
store is read or written, nothing inside it changed. The law of damage: what a query answers is what
it answered before, or it is refused; and the next run gives the undamaged results.
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.robustness import damage
from tests.robustness.examples import judged

from gnomon import study
from gnomon.core.errors import DataError, GnomonError
from gnomon.studies import query

pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'gnomon[study]'")

_STUDY = """
metrics = ["chrf", "bleu"]
[[testsets]]
path = "set"
[methods.score]
"""
CANARY = "canary-5b1f"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a study that was run, and a file that no query may read."""
    folder = tmp_path_factory.mktemp("stores")
    judged().write(folder / "set")
    (folder / "study.toml").write_text(_STUDY, encoding="utf-8")
    (folder / "canary.csv").write_text(f"a,b\n{CANARY},2\n", encoding="utf-8")
    (folder / "canary.json").write_text(f'{{"a": "{CANARY}"}}\n', encoding="utf-8")
    assert not _run(folder).failed
    return folder


def _run(folder: Path) -> study.RunOutcome:
    return study.run(study.plan(study.read_study(folder / "study.toml")), study.open_engine("here"))


def _bytes(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


READS = (
    "read_csv('{f}.csv')", "read_csv_auto('{f}.csv')", "read_text('{f}.csv')", "'{f}.csv'",
    "read_blob('{f}.csv')", "read_json('{f}.json')", "read_json_auto('{f}.json')", "'{f}.json'",
    "read_ndjson('{f}.json')", "read_json_objects('{f}.json')", "glob('{d}/*')", '"{f}.csv"',
    "read_parquet('{d}/*.parquet')", "parquet_scan('{d}/x.parquet')", "sniff_csv('{f}.csv')",
    "parquet_metadata('{d}/x.parquet')", "parquet_schema('{d}/x.parquet')", "'/etc/passwd'",
    "read_text('/etc/passwd')", "read_csv('/proc/self/environ')", "read_text('/dev/stdin')",
    "read_text('{d}/../*')", "read_csv('http://127.0.0.1:9/x.csv')", "'s3://bucket/x.parquet'",
    "read_text(['{f}.csv'])", "sqlite_scan('{f}.csv', 'x')", "postgres_scan('', '', '')",
    "read_xlsx('{f}.xlsx')", "iceberg_scan('{d}')", "delta_scan('{d}')", "st_read('{f}.csv')",
    "query('select 1')", "query_table('scores')", "query_table(['{f}.csv'])",
    "json_execute_serialized_sql('{{}}')", "which_secret('s3://x', 's3')", "duckdb_secrets()",
)  # fmt: skip
STATEMENTS = (
    "copy scores to '{d}/o.csv'", "copy (select 1) to '{d}/o.parquet' (format parquet)",
    "copy scores from '{f}.csv'", "copy from database memory to x", "attach '{d}/o.db'",
    "attach '{d}/o.db' as x (type sqlite)", "attach ':memory:' as x", "detach memory",
    "export database '{d}/o'", "import database '{d}'", "install httpfs", "load httpfs",
    "load '{d}/evil.duckdb_extension'", "force install sqlite", "update extensions",
    "pragma database_list", "pragma enable_profiling", "pragma memory_limit='1TB'",
    "set memory_limit = '1TB'", "set enable_external_access = true", "reset enable_external_access",
    "set lock_configuration = false", "set allowed_directories = ['/']", "set variable x = 1",
    "set temp_directory = '{d}'", "set extension_directory = '{d}'", "set search_path = 'x'",
    "set log_query_path = '{d}/log'", "set home_directory = '{d}'", "create table x (a int)",
    "create table x as from scores", "create view x as select 1", "create macro x() as 1",
    "create or replace view scores as select 1", "create schema x", "create sequence x",
    "create type x as enum ('a')", "create secret (type s3)",
    "create persistent secret s (type s3)",
    "insert into scores select * from scores", "update scores set score = 0", "delete from scores",
    "truncate scores", "drop table scores", "drop view if exists scores",
    "alter table scores rename to x",
    "begin transaction", "commit", "rollback", "checkpoint", "vacuum", "analyze scores",
    "call pragma_version()", "prepare x as select 1", "execute x", "deallocate x", "use memory",
    "explain analyze copy scores to '{d}/o.csv'", "comment on table scores is 'x'",
    "select 1; copy scores to '{d}/o.csv'", "copy scores to '{d}/o.csv'; select 1",
    "select 1 /* ; */ ; drop view scores --", "with x as (select 1) insert into scores from x",
    "with x as (delete from scores) select 1",
    "merge into scores using scores s on true when matched then delete",
    "select writefile('x', '{d}/o')", "select load_extension('x')", "select getenv('HOME')",
)  # fmt: skip


def queries(folder: Path) -> Iterator[str]:
    for part in READS:
        yield f"select * from {part}"
    yield from STATEMENTS
    yield "select (select content from read_text('{f}.csv'))"
    yield "select * from scores, read_text('{f}.csv')"
    yield "select * from scores where metric in (select a from '{f}.csv')"


def test_hostile_queries_read_and_write_nothing_outside(place: Path) -> None:
    store = study.Store.open(place / "study.store")
    before, answered, refused, count = _bytes(place), [], [], 0
    for sql in queries(place):
        count += 1
        given = sql.format(f=place / "canary", d=place)
        try:
            rows = store.query(given).rows
        except GnomonError as error:
            refused.append(str(error))
            continue
        finally:
            assert _bytes(place) == before, sql
        answered.append(sql)
        assert CANARY not in str(rows), sql
        assert "root:" not in str(rows), sql
    assert count >= 88
    asked = "trying to automatically install"  # of the network
    assert not [said for said in refused if asked in said]
    quiet = ("duckdb_secrets()", "query_table('scores')", "query('select 1')")
    assert not [sql for sql in answered if not sql.endswith(quiet)], answered
    assert store.query("select count(*) from scores").rows[0][0] > 0


def test_what_reads_queries_asks_nobody_on_the_network(place: Path) -> None:
    asked = "select value from duckdb_settings() where name like 'auto%known_extensions'"
    for connection in (query.alone(), query.connect(study.Store.open(place / "study.store"))):
        assert connection.execute(asked).fetchall() == [("false",)] * 2
    opened = re.findall(r"duckdb\.connect\(", Path(query.__file__).read_text(encoding="utf-8"))
    assert len(opened) == 1  # by alone()


def _answers(path: Path) -> dict[str, tuple[tuple[object, ...], ...]]:
    store = study.Store.open(path)
    names = sorted(store.files())
    return {name: store.query(f'select * from "{name}" order by all').rows for name in names}


def _holed(data: bytes, draw: random.Random) -> bytes:
    """Bytes inside, between the marks of both ends, are nothing."""
    at = draw.randrange(4, len(data) // 2)
    return data[:at] + bytes(min(40, len(data) // 4)) + data[at + min(40, len(data) // 4) :]


@pytest.mark.parametrize(
    ("way", "times"),
    [
        (damage.flip, 5),
        (_holed, 1),
        pytest.param(damage.flip, 60, marks=pytest.mark.verify),
        pytest.param(_holed, 8, marks=pytest.mark.verify),
    ],
)
def test_damage_inside_a_table_changes_no_answer_and_is_mended_by_the_next_run(
    place: Path, tmp_path: Path, way: damage.Way, times: int
) -> None:
    whole = _answers(place / "study.store")
    draw, problems = random.Random(3), []
    for number in range(times):
        folder = tmp_path / str(number)  # a place that nobody has looked at before
        shutil.copytree(place, folder)
        files = sorted((folder / "study.store" / "tables").rglob("*.parquet"))
        file = draw.choice(files)
        data = file.read_bytes()
        file.write_bytes(damaged := way(data, draw))
        at = next((i for i, (a, b) in enumerate(zip(data, damaged, strict=True)) if a != b), -1)
        try:
            same = _answers(folder / "study.store") == whole
        except DataError:
            same = True
        problems += [] if same else [f"{file.parent.name}, byte {at} of {len(data)}: other answers"]
        outcome = _run(folder)
        if at >= 0 and (outcome.failed or _kept(folder) != _kept(place)):
            problems.append(f"{file.parent.name}, byte {at} of {len(data)}: kept by the next run")
        shutil.rmtree(folder)
    assert not problems, f"{len(problems)} in {times}: {problems}"


def _kept(folder: Path) -> dict[str, object]:
    """The answers of a store in another place, without what names the place."""
    try:
        return dict(_answers(folder / "study.store"))
    except DataError as error:
        return {"damaged": str(error)}
