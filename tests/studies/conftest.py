"""A small study over the bundled example, and ways to disturb it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gnomon import example, study

_STUDY = """
name = "small"
metrics = ["bleu", "chrf"]
[[testsets]]
path = "{path}"
first = 12
[methods.score]
[methods.compare]
resamples = 20
"""


@pytest.fixture
def study_file(tmp_path: Path) -> Path:
    """A study of two metrics over the first segments of the example."""
    file = tmp_path / "study.toml"
    file.write_text(_STUDY.format(path=example.path()), encoding="utf-8")
    return file


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], study.Store]:
    """What a study gives: run once for all tests, each of which gets a copy in its place."""
    pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
    pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'gnomon[study]'")
    stores: dict[str, Path] = {}

    def copied(file: Path) -> study.Store:
        text = file.read_text(encoding="utf-8")
        if text not in stores:
            first = tmp_path_factory.mktemp("finished") / file.name
            first.write_text(text, encoding="utf-8")
            plan = study.plan(study.read_study(first))
            assert not study.run(plan, study.open_engine("here")).failed
            stores[text] = plan.study.store
        return study.Store.open(shutil.copytree(stores[text], study.read_study(file).store))

    return copied
