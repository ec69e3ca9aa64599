"""What those see who have not installed the packages of the extra ``models``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gnomon.core.errors import MissingDependencyError
from gnomon.metrics.wordnet import find_wordnet

PROGRAM = """
import sys
for name in {missing!r}:
    sys.modules[name] = None
import gnomon as gn
gn.metrics.describe()
assert not {{"torch", "transformers", "ot", "nltk"}} & {{m for m in sys.modules if sys.modules[m]}}
testset = gn.TestSet.from_lists({{"a": ["the cat"]}}, ["the cat"], language_pair="en")
assert gn.score(testset, "chrf").system[0] == 100
try:
    gn.score(testset, {spec!r})
except gn.errors.MissingDependencyError as error:
    print(error)
"""


def _said(spec: str, *missing: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM.format(missing=missing, spec=spec)],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize(
    "package",
    [
        "torch",
        *(
            pytest.param(one, marks=pytest.mark.verify)
            for one in ("transformers", "huggingface_hub")
        ),
    ],
)
def test_missing_packages_are_named_with_the_command_that_installs_them(
    package: str, tiny_model: Path
) -> None:
    model = "some/model" if package == "huggingface_hub" else str(tiny_model)
    said = _said(f"bertscore(model={model!r}, layer=1)", package)
    assert package in said
    assert "pip install 'gnomon[models]'" in said


def test_exact_transport_is_named_when_missing(tiny_model: Path) -> None:
    assert "POT" in _said(f"moverscore(model={str(tiny_model)!r})", "ot", "ot.lp")


def test_stems_are_named_when_missing() -> None:
    try:
        find_wordnet()
    except MissingDependencyError as error:
        pytest.skip(str(error))
    assert "pip install" in _said("meteor", "nltk", "nltk.stem.porter")
