"""``gnomon report`` as a user meets it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gnomon import example

pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'gnomon[study]'")

_STUDY = f"""
metrics = ["bleu"]
[[testsets]]
path = "{example.path()}"
first = 5
[methods.score]
[methods.muler]
features = ["re:capital"]
pattern = {{capital = "[A-Z][a-z]+"}}
resamples = 0
"""


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "study.toml"
    file.write_text(_STUDY, encoding="utf-8")
    return file


def test_a_report_is_a_file_or_a_folder(gnomon: Callable, study: Path) -> None:
    assert gnomon("run", study, "--engine", "here").code == 0
    answer = gnomon("report", "study.store", "-o", "now")
    assert answer.code == 0
    assert str(Path("now") / "index.html") in answer.err
    answer = gnomon("report", "study.store", "-o", "later.html")
    assert (answer.code, answer.out) == (0, "")
    assert "open later.html" in answer.err
    assert 'id="part-text-0-0"' in Path("later.html").read_text(encoding="utf-8")
    assert gnomon("report", "study.store", "-o", "now", "-q").err == ""
    assert (Path("now") / "data" / "where-0-0.js").is_file()


def test_texts_can_be_left_out(gnomon: Callable, study: Path) -> None:
    assert gnomon("run", study, "--engine", "here").code == 0
    assert gnomon("report", "study.store", "-o", "bare", "--no-texts").code == 0
    assert not list(Path("bare/data").glob("text-*"))


def test_what_cannot_be_written_is_refused(gnomon: Callable, study: Path) -> None:
    Path("taken").mkdir()
    Path("taken/thesis.tex").write_text("years of work")
    assert gnomon("run", study, "--engine", "here").code == 0
    answer = gnomon("report", "study.store", "-o", "no/such/place")
    assert (answer.code, "does not exist" in answer.err) == (1, True)
    answer = gnomon("report", "study.store", "-o", "taken")
    assert (answer.code, "holds something else" in answer.err) == (1, True)


def test_mistakes_are_told(gnomon: Callable, study: Path) -> None:
    assert "there is no store in x.store" in gnomon("report", "x.store", "-o", "r.html").err
    answer = gnomon("report", "x.store")
    assert (answer.code, "-o" in answer.err) == (2, True)
