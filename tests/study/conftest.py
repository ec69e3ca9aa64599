"""A small study over the bundled example, and ways to disturb it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnomon import example

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
