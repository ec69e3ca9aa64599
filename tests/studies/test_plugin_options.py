"""Options of a package's method are treated as those of built-in ones: by what their types say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'gnomon[study]'")

_METHOD = '''
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Annotated

from gnomon.core.findings import Finding
from gnomon.core.registry import method
from gnomon.core.dependencies import Dependency
from gnomon.core.options import InputFile, Needs, NotInStudies, OutputFile, Positive, Specs
from gnomon.core.records import SYSTEM, Record, column, table
from gnomon.core.testset import TestSet


def engines(value, language, options):
    yield Dependency("package", value)


class Said(Record):
    system: str = SYSTEM
    words: int = column("Words", help="that are listed")


@method("own.words", purpose="how many words are listed", tables={"": "own_words"}, by_system=True)
def words(
    testset: TestSet,
    *,
    lists: Annotated[Sequence[str | PathLike[str]] | None, InputFile()] = None,
    judge: Annotated[str, Specs()] = "bleu",
    engine: Annotated[str, Needs(engines)] = "numpy",
    most: Positive = 9,
    loud: Annotated[bool, NotInStudies()] = False,
    save: OutputFile = None,
) -> Finding:
    """Words of lists in outputs.

    Args:
        testset: the outputs.
        lists: files of words.
        judge: a metric.
        engine: what counts.
        most: at most so many.
        loud: say it loudly.
        save: write the rows there.
    """
    known = {one for file in lists or () for one in Path(file).read_text().split()}
    rows = [
        Said(system=name, words=sum(w in known for text in texts for w in text.split()))
        for name, texts in testset.systems.items()
    ]
    return Finding("own words", "Words", (table("words", "Words", Said, rows),), {})
'''
_HEAD = "[[testsets]]\npath = 'set'\n[methods.own.words]\n"
_RUN = """
import json, sys
from gnomon import study
from gnomon.core.errors import GnomonError
try:
    made = study.plan(study.read_study("s.toml"))
    assert study.run(made, study.open_engine("here")).failed == {}
    store = study.Store.open("s.store")
    said = [[one.key, one.made_with] for one in made.tasks]
    print(json.dumps([said, store.query("select system, words from own_words order by 1").rows]))
except GnomonError as error:
    print(json.dumps(str(error)))
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A test set, and where a package with a method is installed."""
    info = tmp_path / "site" / "own_words-2.5.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: own-words\nVersion: 2.5\n")
    (info / "entry_points.txt").write_text("[gnomon.methods]\nown.words = own_words:words\n")
    (tmp_path / "site" / "own_words.py").write_text(_METHOD)
    (tmp_path / "set" / "systems").mkdir(parents=True)
    (tmp_path / "set" / "ref.A.txt").write_text("a cat sat\n")
    (tmp_path / "set" / "systems" / "x.txt").write_text("a cat\n")
    (tmp_path / "set" / "systems" / "y.txt").write_text("a dog\n")
    return tmp_path


def _run(place: Path, options: str) -> object:
    import json

    (place / "s.toml").write_text(_HEAD + options)
    path = os.pathsep.join([str(place / "site"), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", _RUN],
        env={**os.environ, "PYTHONPATH": path},
        cwd=place,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_files_packages_and_metrics_of_its_options_count(place: Path) -> None:
    (place / "a.txt").write_text("cat dog\n")
    (place / "x.words").write_text("a\n")
    (place / "y.words").write_text("b\n")
    options = "lists = ['a.txt', '{system}.words']\n"
    tasks, rows = _run(place, options)
    assert rows == [["x", 2], ["y", 1]]
    first, other = ({*said} for _, said in tasks)
    every = {"package own-words", "package numpy", "package sacrebleu", "file a.txt"}
    assert first == {*every, "file x.words"}
    assert other == {*every, "file y.words"}
    (place / "x.words").write_text("b\n")
    again, rows = _run(place, options)
    assert rows == [["x", 1], ["y", 1]]
    assert [one[0] == two[0] for one, two in zip(tasks, again, strict=True)] == [False, True]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("lists = ['none.txt']", "methods.own.words.lists: there is no file"),
        ("lists = [3]", "methods.own.words.lists[0]: must be a text; got 3"),
        ("most = 0", "methods.own.words.most: most must be a whole number, 1 or more; got 0"),
        ("loud = true", "unknown key 'loud'"),
        ("save = 'out.tsv'", "unknown key 'save'"),
        ("metrics = ['bleu']", "own.words takes no metrics"),
    ],
)
def test_what_is_wrong_with_them_is_told_with_its_key(place: Path, options: str, said: str) -> None:
    assert said in str(_run(place, options))
