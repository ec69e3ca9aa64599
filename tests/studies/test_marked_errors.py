"""Errors that people marked in a study: held beside others' marks, counted by feature, shown."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.methods.metaeval.marked import marked_set
from tests.metrics.judges.chat_server import Chat, serving
from tests.metrics.judges.test_metric import fenced

from gnomon import study
from gnomon.studies import pages

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'gnomon[study]'")


def test_a_method_may_have_options_and_methods_of_its_own(tmp_path: Path) -> None:
    marked_set(repeat=32).write(tmp_path / "marked")
    file = tmp_path / "study.toml"
    file.write_text(
        """
metrics = ["chrf"]
[[testsets]]
path = "marked"
[methods.metaeval]
resamples = 0
[methods.metaeval.spans]
resamples = 0
thresholds = [80.0]
[methods.errors]
resamples = 0
features = ["re:*"]
pattern = {animal = "dogs?|cats?", weather = "rains?", place = "mats"}
""",
        encoding="utf-8",
    )
    plan = study.plan(study.read_study(file))
    store = study.Store.open(plan.study.store, create=True)
    outcome = study.run(plan, study.open_engine("here"), store=store)
    assert outcome.failed == {}
    assert store.query("select distinct threshold from error_free").rows == ((80.0,),)
    rate = "select rate from error_rates where feature = 're:animal' and severity = 'any'"
    assert store.query(f"{rate} and system is null").rows == ((50.0,),)
    for table in ("error_counts", "agreement"):
        [[count]] = store.query(f"select count(*) from {table}").rows
        assert isinstance(count, int)
        assert count > 0


def test_errors_are_marked_on_pages_in_a_layer_of_each_rater(tmp_path: Path) -> None:
    marked_set().write(tmp_path / "marked")
    file = tmp_path / "study.toml"
    file.write_text(
        'metrics = ["chrf"]\n[[testsets]]\npath = "marked"\n[methods.metaeval.spans]\n'
        "resamples = 0\n",
        encoding="utf-8",
    )
    plan = study.plan(study.read_study(file))
    store = study.Store.open(plan.study.store, create=True)
    assert study.run(plan, study.open_engine("here"), store=store).failed == {}
    testset = pages(store).testsets[0]
    titles = [layer.title for layer in testset.layers]
    assert titles == ["errors: esa (ann)", "errors: esa (bob)"]
    seen = [
        (number, titles[layer][-4:-1], text.text[a:b], value)
        for number, one in enumerate(testset.read(), start=1)
        for text in one.texts
        for layer, ends, values in text.marks
        for a, b, value in zip(ends[::2], ends[1::2], values, strict=True)
    ]
    # major errors at the end of the scale; the omission has no place
    assert sorted(seen) == [
        (1, "ann", "dog", -1.0), (1, "bob", "sits", -0.4),
        (2, "ann", "cat", -0.4), (3, "bob", "rains", -1.0),
    ]  # fmt: skip


def test_marks_without_scores_are_enough_and_metrics_may_mark_in_a_study(tmp_path: Path) -> None:
    replace(marked_set(), human=()).write(tmp_path / "marked")
    replace(marked_set(), name="bare", human=(), errors=()).write(tmp_path / "bare")
    error = {"quote": "dog", "side": "translation", "category": "", "severity": "major"}
    marking = Chat(lambda body: json.dumps({"errors": [error] if "dog" in fenced(body) else []}))
    with serving(marking) as chat:
        judge = f"judge('gemba-mqm', model='m', endpoint='{chat.url}')"
        steps = [
            f'[methods.{name}]\nresamples = 0\nmarks = ["{judge}"]\n'
            for name in ("metaeval.spans", "errors")
        ]
        sets = [f'[[testsets]]\npath = "{name}"\n' for name in ("marked", "bare")]
        file = tmp_path / "study.toml"
        file.write_text("".join(['metrics = ["chrf"]\n', *sets, *steps]), encoding="utf-8")
        plan = study.plan(study.read_study(file))
        store = study.Store.open(plan.study.store, create=True)
        assert study.run(plan, study.open_engine("here"), store=store).failed == {}
    found = store.query("select testset, marks, sum(errors) from error_counts group by all").rows
    assert sorted(found) == [
        ("bare/en", judge, 2.0),
        ("marked/en", "esa", 2.5),  # both looked at everything, where no score says otherwise
        ("marked/en", judge, 2.0),
    ]
    assert chat.most == 1
    told = store.query("select distinct testset from span_agreement where not ceiling").rows
    assert told == (("marked/en",),)
