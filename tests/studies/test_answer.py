"""What queries give: rows and data frames, the same however large."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gnomon import study
from gnomon.core.errors import UsageError
from gnomon.studies import query as _query

pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
pl = pytest.importorskip("polars", reason="needs polars: pip install 'gnomon[study]'")


@pytest.fixture
def store(tmp_path: Path) -> study.Store:
    return study.Store.open(tmp_path / "empty.store", create=True)


_KINDS = """
select i, if(i < 5, null, i / 4) as later, if(i < 5, null, 'x' || i) as text, i % 2 = 0 as even,
  null::varchar as never, sum(i) over () as total, [i, null] as list, i::float as single,
  i / 8::decimal(9, 3) as exact, date '2026-01-01' + i::int as day, null as nothing
from range(8) t(i) order by i
"""


def test_frames_are_the_same_in_parts_and_whole(
    store: study.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = store.query(_KINDS)
    rows, frame = whole.rows, whole.to_frame()
    monkeypatch.setattr(_query, "_ROWS", 3)
    parted = store.query(_KINDS)
    assert parted.to_frame().equals(frame)
    assert parted.to_frame().schema == frame.schema
    assert parted.rows == rows == store.query(_KINDS).rows
    assert frame.rows() == list(rows)
    assert [str(frame.schema[name]) for name in ("i", "text", "even", "never", "single")] == [
        "Int64",
        "String",
        "Boolean",
        "String",
        "Float64",
    ]


def test_columns_of_one_name_get_names_of_their_own(store: study.Store) -> None:
    answer = store.query("select 1 as a, 2 as a, 3 as a_2, 4 as b, 5 as a")
    assert answer.columns == ("a", "a", "a_2", "b", "a")
    assert answer.names == ("a", "a_3", "a_2", "b", "a_4")
    assert answer.to_frame().to_dicts() == [{"a": 1, "a_3": 2, "a_2": 3, "b": 4, "a_4": 5}]


def test_an_answer_without_rows_has_its_columns(store: study.Store) -> None:
    answer = store.query("select 1 as a, 'x' as b where false")
    assert answer.rows == ()
    assert answer.to_frame().schema == {"a": pl.Int64, "b": pl.String}


@pytest.mark.parametrize("rows", [10, 200_000])
def test_what_goes_wrong_on_the_way_is_told(store: study.Store, rows: int) -> None:
    sql = f"select cast(if(range < {rows} - 1, '1', 'x') as int) as a from range({rows})"
    for read in (lambda answer: answer.rows, lambda answer: answer.to_frame()):
        with pytest.raises(UsageError, match="the query failed"):
            read(store.query(sql))


@pytest.mark.parametrize(
    ("name", "step"),
    [("leaderboard", "score"), ("Scores", "score"), ("best_metrics", "metaeval"),
     ("muler_features", "muler")],
)  # fmt: skip
def test_a_view_of_a_method_that_the_study_lacks_names_the_step(
    store: study.Store, name: str, step: str
) -> None:
    with pytest.raises(UsageError) as caught:
        store.query(f"select * from {name}")
    assert f"{name.lower()} holds what the method {step} finds" in str(caught.value)
    assert f"write [methods.{step}] into the study" in str(caught.value)
    with pytest.raises(UsageError, match="there are the tables tasks, testsets"):
        store.query("from nope")


_LARGE = """
import resource, sys
from gnomon import study
store = study.Store.open(sys.argv[1])
sql = "select 'sys' || i % 200 as system, 'chrf(word_order=2), of some length' as metric, i from "
store.query(sql + "range(1000) t(i)").to_frame()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
frame = store.query(sql + "range(1000000) t(i)").to_frame()
assert frame.height == 1000000
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_a_million_rows_fit_into_little_memory(store: study.Store) -> None:
    pytest.importorskip("resource", reason="needs what Unix tells of memory")
    said = subprocess.run(
        [sys.executable, "-c", _LARGE, str(store.path)], capture_output=True, text=True, check=True
    )
    assert int(said.stdout) < 250  # megabytes, and nothing else; tuples alone take more


def test_queries_print_no_progress(store: study.Store) -> None:
    assert store.query("select current_setting('enable_progress_bar')").rows == ((False,),)
