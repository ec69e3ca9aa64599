"""Runs the tests of decoding, generation, local judges and embeddings under the oldest libraries.

    python scripts/oldest.py            tests that are quick
    python scripts/oldest.py -m verify  further arguments go to pytest

The oldest are the lower bounds of the extra ``models`` in pyproject.toml, in a folder of their own
(.venv-oldest) before those of this environment; torch stays as it is.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".venv-oldest"
TESTS = (
    *("tests/models", "tests/methods/paraphrase/generation", "tests/metrics/judges"),
    *("tests/metrics/test_bertscore.py", "tests/metrics/test_sentence_vectors.py"),
    "tests/metrics/learned",
)
#: transformers before 5.24 reads DeBERTa's code through a function that torch 2.10 deprecates
_THEIRS = "ignore:`torch.jit.script` is deprecated:DeprecationWarning"
_BOUND = re.compile(r"([\w-]+)>=([\w.]+)")


def lower_bounds(extra: list[str]) -> list[str]:
    """The oldest version of each package but torch, as pip takes it.

    >>> lower_bounds(["pyyaml>=6,<7", "torch>=2.10,<3"])
    ['pyyaml==6']
    """
    bounds = (found.groups() for found in map(_BOUND.match, extra) if found)
    return [f"{name}=={version}" for name, version in bounds if name != "torch"]


def main() -> int:
    """Install them, and run the tests with them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = lower_bounds(project["optional-dependencies"]["models"])
    stamp = FOLDER / "made-of"
    if not stamp.is_file() or stamp.read_text().split() != wanted:
        pip = [sys.executable, "-m", "pip", "install", "-qq", "--no-deps", "--upgrade"]
        subprocess.run([*pip, "--target", FOLDER, *wanted], check=True)  # noqa: S603  # pip
        stamp.write_text("\n".join(wanted))
    print("under", ", ".join(wanted), flush=True)
    paths = [str(FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])]
    pytest = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "worksteal", "-q"]
    options = sys.argv[1:] or ["-m", "not verify"]
    return subprocess.run(  # noqa: S603  # pytest, of this environment
        [*pytest, "-W", _THEIRS, *options, *TESTS],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        cwd=ROOT,
        check=False,
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
