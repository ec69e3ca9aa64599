"""What differences meant, beside the comparisons of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import gnomon as gn
from gnomon import study
from gnomon.agreement.meaning import SetPairs, make_meaning, write_meanings
from gnomon.core.options import DrawOptions

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'gnomon[study]'")

_STUDY = """
metrics = ["bleu"]
store = "small.store"
[[testsets]]
path = "set"
[methods.compare]
delta_accuracy = "bleu.delta-accuracy.json"
resamples = 20
examples = 0
ngrams = 0
"""


def _write(folder: Path, testset: gn.TestSet, seed: int) -> None:
    draw = np.random.default_rng(seed)
    pairs = [
        SetPairs(f"wmt19 {k}", "es-en", 2019, "da", 9, draw.uniform(0, 90, 40), agree)
        for k, agree in enumerate(draw.random((3, 40)) < 0.8)
    ]
    drawing = DrawOptions(20, 0.95, 1)
    signature = str(gn.score(testset, ["bleu"])[0].signature)
    made = make_meaning("bleu", signature, pairs, drawing)
    write_meanings(folder / "bleu.delta-accuracy.json", [made], drawing)


def test_a_study_reads_the_file_beside_it_and_again_where_it_changed(tmp_path: Path) -> None:
    testset = gn.TestSet.read(str(gn.example.path()))
    testset = testset.select(systems=list(testset.systems)[:2])
    testset.write(tmp_path / "set")
    file = tmp_path / "study.toml"
    file.write_text(_STUDY, encoding="utf-8")

    def run() -> list[tuple[object, ...]]:
        plan = study.plan(study.read_study(file))
        store = study.Store.open(plan.study.store, create=True)
        assert study.run(plan, study.open_engine("here"), store=store).failed == {}
        return store.query("select metric, share, pairs from comparisons_meaning").rows

    _write(tmp_path, testset, 1)
    first = run()
    assert [row[0] for row in first] == ["bleu"]
    assert run() == first
    _write(tmp_path, testset, 2)
    assert run() != first
