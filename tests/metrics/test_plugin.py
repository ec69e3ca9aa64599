from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

_EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "plugin-metric"
_PROGRAM = """
import json, sys
import gnomon as gn
from gnomon.metrics import names
early = "gnomon_word_overlap" in sys.modules
listed = [name for name in names() if name in ("word-overlap", "same-length")]
ts = gn.TestSet.from_lists({"a": ["The cat sat"]}, ["the cat sat"])
asked = ("word-overlap", "word-overlap:lowercase=true", "same-length")
scores = {m: gn.score(ts, m) for m in asked}
print(json.dumps({
    "early": early,
    "listed": listed,
    "scores": {m: s.system.tolist() for m, s in scores.items()},
    "signatures": [str(s.signature).rsplit("|gnomon:", 1)[0] for s in scores.values()],
}))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    sources = tmp_path_factory.mktemp("sources") / "plugin"
    # a build leaves files beside the sources: build a copy
    for path in _EXAMPLE.rglob("*"):
        if path.is_file() and path.suffix in {".py", ".toml", ".md"}:
            copy = sources / path.relative_to(_EXAMPLE)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--disable-pip-version-check", "--target", str(target)]
    subprocess.run([*command, str(sources)], check=True, capture_output=True, text=True)
    return target


def test_an_installed_package_adds_metrics_that_load_when_named(installed: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        env=environment,
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    found = json.loads(done.stdout)
    assert found["early"] is False
    assert found["listed"] == ["same-length", "word-overlap"]
    assert found["scores"] == {
        "word-overlap": [0.5],
        "word-overlap:lowercase=true": [1.0],
        "same-length": [1.0],
    }
    first, second, third = found["signatures"]
    assert first.startswith("word-overlap|code:")
    assert second.startswith("word-overlap(lowercase=True)|code:")
    assert third == "same-length|package:gnomon-word-overlap 1.0.0|refs:1"
