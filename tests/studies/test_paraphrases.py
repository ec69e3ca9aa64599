"""Paraphrases in studies: further references for all methods, and methods about themselves."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import gnomon
from gnomon import example, paraphrase, study
from gnomon.core.errors import DataError
from gnomon.core.testset import Paraphrase, TestSet
from gnomon.data.formats import read_paraphrases
from gnomon.metrics import score

pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'gnomon[study]'")

_FIRST = 15


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The example with drawn judgements."""
    place = tmp_path / "es-en"
    shutil.copytree(example.path(), place)
    (place / "human").mkdir()
    draw = random.Random(3)
    whole = TestSet.read(place)
    lines = [
        f"{name}\t{number}\t{draw.randint(0, 100)}"
        for name in whole.systems
        for number in range(1, whole.segments + 1)
    ]
    (place / "human" / "da.seg.tsv").write_text("\n".join(["system\tseg\tscore", *lines, ""]))
    return tmp_path


def _file(folder: Path, methods: str, more: str = "n = 2") -> Path:
    file = folder / "study.toml"
    file.write_text(
        f"""
metrics = ["bleu"]
[[testsets]]
path = "es-en"
first = {_FIRST}
paraphrases = ["es-en/paraphrases/*.txt"]
{more}
{methods}
"""
    )
    return file


def _run(file: Path) -> study.Store:
    made = study.plan(study.read_study(file))
    assert study.run(made, study.open_engine("here")).failed == {}
    return study.Store.open(made.study.store)


def _set(folder: Path) -> TestSet:
    return TestSet.read(folder / "es-en").select(segments=range(_FIRST))


def _made(folder: Path) -> list[Paraphrase]:
    files = sorted((folder / "es-en" / "paraphrases").glob("*.txt"))
    return [one for one in read_paraphrases(files) if one.segment <= _FIRST]


def _kept(store: study.Store, table: str) -> list[dict[str, Any]]:
    found = store.query(f'select * exclude (testset, task) from "{table}"')
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def _rows(rows: Sequence[Any]) -> list[dict[str, Any]]:
    return [dict(row) for row in rows]


def test_scores_are_those_beside_n_paraphrases(folder: Path) -> None:
    store = _run(_file(folder, "[methods.score]"))
    wide = _set(folder).with_paraphrases(_made(folder), n=2)
    direct = score(wide, "bleu")
    found = {row["system"]: row["score"] for row in _kept(store, "scores")}
    assert found == dict(zip(direct.systems, direct.system.tolist(), strict=True))
    assert {row["signature"] for row in _kept(store, "scores")} == {str(direct.signature)}


def test_another_number_of_paraphrases_is_another_task(folder: Path) -> None:
    keys = []
    for more in ("n = 2", "n = 3", "", "n = 2\nmethods = ['round-trip']"):
        made = study.plan(study.read_study(_file(folder, "", more)))
        keys.append({task.key for task in made.tasks})
    assert not keys[0] & keys[1]
    assert not keys[1] & keys[2]
    assert keys[0] == keys[3]  # the only method there is


def test_gains_of_a_study_are_those_of_the_method(folder: Path) -> None:
    store = _run(_file(folder, "[methods.metaeval]\nresamples = 20\nn = [1, 2]\n"))
    direct = gnomon.metaeval(_set(folder), ["bleu"], _made(folder), resamples=20, n=[1, 2])
    assert _kept(store, "agreement_gains") == _rows(direct.table("gains").rows)
    assert {row["paraphrases"] for row in _kept(store, "agreement_gains")} == {1, 2}


def test_the_diversity_of_a_study_is_that_of_the_method(folder: Path) -> None:
    store = _run(_file(folder, "[methods.paraphrase.diversity]\n", more=""))
    sets = paraphrase.sets_of(_set(folder), _made(folder))
    direct = paraphrase.diversity(sets)
    assert _kept(store, "paraphrase_diversity") == _rows(direct.rows)


def test_the_coverage_of_a_study_is_that_of_the_method(folder: Path) -> None:
    store = _run(_file(folder, "[methods.paraphrase.coverage]\n", more=""))
    testset = _set(folder)
    wide = testset.with_paraphrases(_made(folder))
    direct = paraphrase.coverage(testset, wide)
    assert _kept(store, "paraphrase_coverage") == _rows(direct.rows)


def test_methods_about_paraphrases_need_some(folder: Path) -> None:
    file = _file(folder, "[methods.paraphrase.coverage]\n")
    text = file.read_text().replace('paraphrases = ["es-en/paraphrases/*.txt"]\n', "")
    file.write_text(text.replace("n = 2\n", ""))
    with pytest.raises(DataError, match=r"coverage needs paraphrases.*paraphrases = "):
        study.plan(study.read_study(file))
