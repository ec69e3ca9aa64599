"""Commands that other packages offer by the entry point ``gnomon.commands``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_COMMAND = """
def add(commands):
    parser = commands.add_parser("greet", help="whom to greet")
    parser.add_argument("name")
    parser.set_defaults(run=lambda args: print("hello", args.name) or 7)
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder in which packages are installed."""
    info = tmp_path / "greeting-1.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: greeting\nVersion: 1.5\n")
    (info / "entry_points.txt").write_text("[gnomon.commands]\ngreet = greeting:add\n")
    (tmp_path / "greeting.py").write_text(_COMMAND)
    return tmp_path


def gnomon(site: Path, *args: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(site), *sys.path])
    return subprocess.run(
        [sys.executable, "-m", "gnomon", *args],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_package_adds_a_command(site: Path) -> None:
    done = gnomon(site, "greet", "world")
    assert (done.stdout, done.returncode) == ("hello world\n", 7)
    assert "whom to greet" in gnomon(site, "--help").stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import no_such_module", "No module named 'no_such_module'"),
        ("add = lambda commands: commands.add_parser('list')", "conflicting"),
    ],
)
def test_a_command_that_cannot_be_added_stops_no_other(site: Path, text: str, said: str) -> None:
    (site / "greeting.py").write_text(text)
    done = gnomon(site, "list", "metrics")
    assert done.returncode == 0
    assert "bleu" in done.stdout
    assert "the command greet of the package greeting cannot be added: " in done.stderr
    assert said in done.stderr
