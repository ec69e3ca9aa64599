"""What a report is told of a store: its tables, its texts where they are still those, its marks."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.told import notes

from gnomon import example, muler
from gnomon.bmx.importance_tables import words_table
from gnomon.core.errors import UnknownNameError
from gnomon.core.findings import Bars
from gnomon.core.store_views import words_in
from gnomon.core.testset import TestSet
from gnomon.report.site import write_site
from gnomon.studies import Store, open_engine, pages, plan, read_study, run, verdicts
from gnomon.studies.page_rows import PageSource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from gnomon.core.findings import Cell, Table
    from gnomon.core.page_data import StudyPages

_STUDY = """
name = "told"
metrics = ["bleu", "ter"]
[[testsets]]
path = "set"
first = 6
[methods.score]
[methods.compare]
metrics = ["bleu"]
resamples = 99
ngrams = 0
[methods.muler]
metrics = ["bleu"]
features = ["re:capital", "lex:article"]
pattern = {capital = "[A-Z][a-z]+"}
lexicon = {article = ["the", "a"]}
resamples = 0
[methods.difficulty.words]
metrics = ["rouge1"]
min_count = 1
[methods.bmx.explain]
metrics = ["bleu"]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that is done, beside its test set."""
    place = tmp_path_factory.mktemp("told")
    shutil.copytree(example.path(), place / "set")
    (place / "s.toml").write_text(_STUDY, encoding="utf-8")
    outcome = run(plan(read_study(place / "s.toml")), open_engine("here"))
    assert outcome.failed == {}
    return place


@pytest.fixture
def told(folder: Path) -> StudyPages:
    return pages(Store.open(folder / "s.store"))


def test_every_table_of_the_store_is_told_with_its_rows(folder: Path, told: StudyPages) -> None:
    store = Store.open(folder / "s.store")
    tables = {table.name: table for table in told.tables}
    assert set(store.files()) - {"segments"} <= set(tables)
    names = [column.name for column in tables["scores"].columns]
    told_rows = [row for part in tables["scores"].parts(2) for row in zip(*part, strict=True)]
    asked = store.query(f"select {', '.join(names)} from scores").rows
    assert sorted(told_rows, key=repr) == sorted(asked, key=repr)
    assert told.title == "told"
    assert told.lower_is_better == ("ter",)


def test_what_was_found_is_told_test_set_by_test_set(folder: Path, told: StudyPages) -> None:
    by_section = {one.section: one for one in told.verdicts}
    assert {"compare", "systems"} <= set(by_section)
    compared, scored = by_section["compare"], by_section["systems"]
    assert {one.testset for one in told.verdicts} == {one.name for one in told.testsets}
    (said,) = compared.verdict
    assert said.level == "caution"  # of six segments nothing is found
    table = Store.open(folder / "s.store").query("select * from comparisons")
    ((name, rows),) = said.rows.items()
    assert name == "comparisons"
    assert all(0 <= row < len(table.rows) for row in rows)
    # bleu was compared; of ter it is said which system has the lowest
    assert " TER, " in str(scored.verdict[0])
    assert all("BLEU" not in str(one) for one in scored.verdict)


def test_what_tasks_of_a_method_say_alike_is_said_once(
    folder: Path, told: StudyPages, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.open(folder / "s.store")
    twice = [*store.planned(), *store.planned()]
    monkeypatch.setattr(Store, "planned", lambda _: twice)
    (again,) = [one for one in verdicts(store) if one.section == "compare"]
    assert [again] == [one for one in told.verdicts if one.section == "compare"]


def test_where_systems_were_taken_one_by_one_it_is_said_how_they_are_taken_together(
    told: StudyPages,
) -> None:
    by_section = {one.section: one for one in told.verdicts}
    (said,) = by_section["muler"].verdict
    assert said.level == "undecided"
    assert "5 systems were scored one at a time" in str(said)
    assert "together = true" not in str(said)


_SETS = """
name = "several"
metrics = ["chrf", "ter"]
[[testsets]]
path = "set"
name = "long"
first = 60
[[testsets]]
path = "set"
name = "short"
first = 2
[methods.score]
[methods.compare]
resamples = 99
ngrams = 0
"""


def test_places_on_several_test_sets_say_who_has_or_shares_the_first(tmp_path: Path) -> None:
    shutil.copytree(example.path(), tmp_path / "set")
    (tmp_path / "s.toml").write_text(_SETS, encoding="utf-8")
    assert run(plan(read_study(tmp_path / "s.toml")), open_engine("here")).failed == {}
    store = Store.open(tmp_path / "s.store")
    table = next(table for table in pages(store).tables if table.name == "places")
    (cells,) = table.parts(1000)
    rows = [tuple(row) for row in zip(*cells, strict=True)]
    assert [view.where for view in table.views] == [{"metric": "chrf"}, {"metric": "ter"}]
    compared = {
        (metric, testset.split("/")[0], system): (verdict, beaten)
        for metric, testset, system, verdict, beaten in store.query(
            "select metric, testset, system, verdict, beaten_by from comparisons"
        ).rows
    }
    assert len(rows) == len(compared) == 20
    for metric, testset, system, rank, score, first in rows:
        of = [row[4] for row in rows if row[:2] == (metric, testset)]
        better = [one for one in of if (one < score if metric == "ter" else one > score)]
        assert rank == 1 + len(better)
        verdict, beaten = compared[metric, testset.split("/")[0], system]
        assert first == (verdict == "baseline" or (verdict == "undecided" and not beaten))
    assert sum(row[5] for row in rows if row[1].startswith("short")) > 2  # of so few segments
    report = tmp_path / "report"
    write_site(report, pages(store))
    number = [table.name for table in pages(store).tables].index("places")
    assert (report / "data" / f"chart-{number}-all.js").exists()


def test_tables_come_part_by_part(told: StudyPages) -> None:
    table = next(one for one in told.tables if one.name == "importance")
    parts = list(table.parts(50))
    (whole,) = table.parts(10**9)  # of one test set and metric
    assert [len(part[0]) for part in parts[:-1]] == [50] * (len(parts) - 1)
    assert [cell for part in parts for cell in part[0]] == whole[0]


def test_scores_of_segments_are_those_of_the_store(folder: Path, told: StudyPages) -> None:
    testset = told.testsets[0]
    scores = testset.scores("bleu")
    asked = "select system, segment, score from segments where metric = 'bleu'"
    for system, segment, score in Store.open(folder / "s.store").query(asked).rows:
        assert scores[testset.systems.index(system), segment - 1] == score
    assert scores.shape == (5, 6)
    assert not np.isnan(scores).any()


def test_scores_of_segments_are_there_however_a_metric_is_spelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "def agree(candidate, reference):\n    return float(candidate == reference)\n"
    (tmp_path / "asked.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    text = f"""
metrics = ["bleu(tokenize = '13a')", "chrf:word_order=2", "python('asked:agree')"]
[[testsets]]
path = "{example.path()}"
first = 4
"""
    (tmp_path / "s.toml").write_text(text)
    read = read_study(tmp_path / "s.toml", allow_code=True)
    # what another gnomon kept, or a study that was not read from a file, has specs as they came
    spelled = ("bleu(tokenize = '13a')", "chrf:word_order=2", "python('asked:agree')")
    for metrics in (read.steps[0].metrics, spelled):
        steps = (replace(read.steps[0], metrics=metrics),)
        outcome = run(plan(replace(read, steps=steps), allow_code=True), open_engine("here"))
        assert outcome.failed == {}
        (testset,) = pages(Store.open(tmp_path / "s.store")).testsets
        assert testset.metrics == ("bleu(tokenize='13a')", "chrf(word_order=2)", "agree")
        for metric in testset.metrics:
            assert not np.isnan(testset.scores(metric)).any(), metric


def test_texts_are_those_of_the_test_set(told: StudyPages) -> None:
    whole = TestSet.read(example.path())
    found = list(told.testsets[0].read())
    assert len(found) == 6
    for i, one in enumerate(found):
        assert one.source is not None
        assert whole.sources is not None
        assert one.texts[one.source].text == whole.sources[i]
        for name, number in zip(whole.references, one.references, strict=True):
            assert number is not None
            assert one.texts[number].text == whole.references[name][i]
        for name, number in zip(told.testsets[0].systems, one.outputs, strict=True):
            assert number is not None
            assert one.texts[number].text == whole.systems[name][i]


def test_marks_are_those_words(told: StudyPages) -> None:
    testset = told.testsets[0]
    kinds = {layer[:3]: number for number, layer in enumerate(testset.layers)}
    assert set(kinds) == {
        ("spans", "lex:article", "lex:article"), ("spans", "re:capital", "re:capital"),
        ("values", "rouge1", "difficulty: rouge1"),
        ("values", "bleu, erasure", "importance: bleu, erasure"),
    }  # fmt: skip
    seen: dict[int, list[str]] = {}
    for one in testset.read():
        for text in one.texts:
            for layer, ends, values in text.marks:
                words = [text.text[a:b] for a, b in zip(ends[::2], ends[1::2], strict=True)]
                seen.setdefault(layer, []).extend(words)
                assert not values or len(values) == len(words)
    assert {word.lower() for word in seen[kinds["spans", "lex:article", "lex:article"]]} == {
        "the",
        "a",
    }
    assert all(word[0].isupper() for word in seen[kinds["spans", "re:capital", "re:capital"]])
    assert all(word.strip() for word in seen[kinds["values", "rouge1", "difficulty: rouge1"]])


_OF_SETS = """
metrics = ["bleu"]
[[testsets]]
path = "{place}"
name = "one"
first = 4
[[testsets]]
path = "{place}"
name = "two"
first = 4
[[methods.muler]]
testsets = ["one/*"]
features = ["re:number"]
pattern = {{number = 'the'}}
resamples = 0
[[methods.muler]]
testsets = ["two/*"]
features = ["re:number"]
pattern = {{number = 'of'}}
resamples = 0
[[methods.muler]]
testsets = ["two/*"]
features = ["label:*"]
labels = "labels/{{testset}}.jsonl"
resamples = 0
"""


def _label_first_letters(file: Path) -> None:
    whole = TestSet.read(example.path())
    columns = [*whole.references.values(), *whole.systems.values()]
    span = {"start": 0, "end": 1, "label": "first"}
    texts = dict.fromkeys(text for column in columns for text in column[:4])
    file.parent.mkdir(parents=True)
    file.write_text("".join(f"{json.dumps({'text': t, 'spans': [span]})}\n" for t in texts))


def test_texts_are_marked_as_the_methods_of_their_set_ask(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(_OF_SETS.format(place=example.path()))
    _label_first_letters(tmp_path / "labels" / "two" / "es-en.jsonl")
    assert run(plan(read_study(tmp_path / "s.toml")), open_engine("here")).failed == {}
    told = pages(Store.open(tmp_path / "s.store"))
    assert notes(told.notices) == ()
    marked = {}
    for testset in told.testsets:
        number = [layer.name for layer in testset.layers].index("re:number")
        marked[testset.name.partition("/")[0]] = {
            text.text[a:b]
            for one in testset.read()
            for text in one.texts
            for layer, ends, _ in text.marks
            for a, b in zip(ends[::2], ends[1::2], strict=True)
            if layer == number
        }
    assert marked == {"one": {"the"}, "two": {"of"}}


def test_importances_are_those_of_the_store(folder: Path, told: StudyPages) -> None:
    testset = told.testsets[0]
    layer = [one.name for one in testset.layers].index("bleu, erasure")
    store = Store.open(folder / "s.store")
    one = list(testset.read())[3]
    for system, number in zip(testset.systems, one.outputs, strict=True):
        assert number is not None
        asked = store.query(
            "select token, importance from importance where segment = 4 and side = 'candidate'"
            f" and system = '{system}' order by position"
        )
        text = one.texts[number]
        mark = next(mark for mark in text.marks if mark[0] == layer)
        ends = zip(mark[1][::2], mark[1][1::2], strict=True)
        assert [(text.text[a:b], value) for (a, b), value in zip(ends, mark[2], strict=True)] == [
            (token, importance) for token, importance in asked.rows
        ]


@pytest.mark.parametrize("named", [True, False])
def test_each_reference_has_the_importances_of_the_systems_held_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, named: bool
) -> None:
    outputs = {
        "a": "the old black cat sits here", "b": "the cat sits", "c": "an old black cat lay here",
        "d": "a cat sat",
    }  # fmt: skip
    references = {"A": "the old black cat sat here", "B": "the cat sat"}
    (tmp_path / "set" / "systems").mkdir(parents=True)
    for name, text in outputs.items():
        (tmp_path / "set" / "systems" / f"{name}.txt").write_text(f"{text}\n")
    for name, text in references.items():
        (tmp_path / "set" / f"ref.{name}.txt").write_text(f"{text}\n")
    (tmp_path / "s.toml").write_text(
        'metrics = ["rouge1"]\n[[testsets]]\npath = "set"\n[methods.bmx.explain]\n'
    )
    if not named:  # as in the stores of earlier gnomons

        def without(rows: Sequence[Mapping[str, Cell]]) -> Table:
            found = words_table(rows)
            columns = tuple(one for one in found.columns if one.name != "reference")
            return replace(found, columns=columns)

        monkeypatch.setattr("gnomon.bmx.importance.words_table", without)
    assert run(plan(read_study(tmp_path / "s.toml")), open_engine("here")).failed == {}
    store = Store.open(tmp_path / "s.store")
    columns = store.query("select * from importance limit 1").columns
    assert ("reference" in columns) == named
    (one,) = pages(store).testsets[0].read()
    for name, systems in {"A": "('a', 'c')", "B": "('b', 'd')"}.items():
        asked = store.query(
            "select any_value(token), avg(importance) from importance where side = 'reference'"
            f" and system in {systems} group by position order by position"
        )
        number = one.references["AB".index(name)]
        assert number is not None
        text = one.texts[number]
        ((_, ends, values),) = text.marks
        words = [text.text[a:b] for a, b in zip(ends[::2], ends[1::2], strict=True)]
        assert list(zip(words, values, strict=True)) == list(asked.rows)
        assert words == references[name].split()


def test_texts_that_changed_or_are_gone_are_not_shown(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "copy"
    shutil.copytree(folder, place)
    file = place / "set" / "systems" / "apertium-direct.txt"
    run(plan(read_study(place / "s.toml")), open_engine("here"))
    assert notes(pages(Store.open(place / "s.store")).notices) == ()
    file.write_text(file.read_text().replace("the", "zhe", 1))
    changed = pages(Store.open(place / "s.store"))
    assert "holds other texts" in str(changed.testsets[0].missing)
    assert changed.testsets[0].missing in changed.notices
    assert list(changed.testsets[0].read()) == []
    assert changed.testsets[0].scores("bleu").shape == (5, 6)
    shutil.rmtree(place / "set")
    gone = pages(Store.open(place / "s.store"))
    assert "cannot be read again" in str(gone.testsets[0].missing)


def test_without_texts_there_is_nothing_to_say_of_them(folder: Path) -> None:
    told = pages(Store.open(folder / "s.store"), texts=False)
    assert list(told.testsets[0].read()) == []
    assert told.testsets[0].layers == ()
    assert notes(told.notices) == ()


def test_words_are_found_one_after_the_other() -> None:
    assert words_in("a cat, a dog", ["a", "cat", "a"]) == [(0, 1), (2, 5), (7, 8)]
    assert words_in("a cat", ["dog"]) is None


def test_only_files_that_hold_the_rows_are_opened(folder: Path, told: StudyPages) -> None:
    store = Store.open(folder / "s.store")
    source = PageSource.read_store(store)
    of_ter = source.rows("segments", testset=told.testsets[0].name, metric="ter")
    keys = [key for key, one in store.entries.items() if one.metrics == ("ter",)]
    assert of_ter.count(".parquet") == len(keys) == 5
    assert all(key in of_ter for key in keys)
    assert source.testsets("nothing") == ()


def test_tables_are_shown_as_their_methods_declared_them(folder: Path, told: StudyPages) -> None:
    testset = TestSet.read(example.path()).select(segments=range(6))
    options: dict[str, Any] = {
        "metrics": "bleu",
        "features": ["re:capital", "lex:article"],
        "pattern": {"capital": "[A-Z][a-z]+"},
        "lexicon": {"article": ["the", "a"]},
        "resamples": 0,
        "examples": 0,
    }
    each = [muler(testset.select(systems=[name]), **options) for name in testset.systems]
    direct = each[0]
    store = Store.open(folder / "s.store")
    schema = store.schema("muler")
    assert schema.table.title == direct.tables[0].title
    assert schema.method == direct.method
    assert schema.columns[1:] == direct.tables[0].columns
    views = [view for one in each for view in one.views if view.table == direct.tables[0].name]
    shared = [view for view in views if "system" not in view.where]
    many = [replace(view, shown=()) if isinstance(view, Bars) else view for view in shared]
    assert many
    assert list(schema.views) == [one for n, one in enumerate(many) if one not in many[:n]]
    table = next(one for one in told.tables if one.name == "muler")
    assert (table.title, table.columns[:-1]) == (schema.table.title, schema.columns)
    kinds = {one.name: one.kind for one in table.columns}
    assert kinds["outside"] == "truth"


def test_what_was_declared_goes_along_with_an_export(folder: Path, tmp_path: Path) -> None:
    import duckdb

    store = Store.open(folder / "s.store")
    store.export(tmp_path / "all.duckdb")
    with duckdb.connect(str(tmp_path / "all.duckdb"), read_only=True) as found:
        asked = "select table_name, column_name, comment from duckdb_columns() where not internal"
        comments = {row[:2]: row[2] for row in found.execute(asked).fetchall()}
    told = {row[:2]: row[3] for row in store.describe().rows}
    assert {key: said for key, said in told.items() if key in comments} == comments
    assert ("leaderboard", "rank") in comments


def test_an_unknown_table_is_told_with_those_that_there_are(folder: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"nothing.*comparisons"):
        Store.open(folder / "s.store").schema("nothing")
