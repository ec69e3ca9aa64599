"""Running the command line as a user does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gnomon import example
from gnomon.cli import main


@dataclass
class Answer:
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str

    def json(self) -> dict[str, Any]:
        return json.loads(self.out)


@pytest.fixture
def gnomon(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable:
    """Run a command in this process; standard input is a closed terminal unless given."""

    def run(*arguments: object, stdin: bytes | None = None) -> Answer:
        import io

        class Terminal(io.StringIO):
            def isatty(self) -> bool:
                return True

        stream = Terminal() if stdin is None else io.TextIOWrapper(io.BytesIO(stdin))
        monkeypatch.setattr(sys, "stdin", stream)
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    return run


@pytest.fixture
def process(tmp_path: Path) -> Callable:
    """Start a command as a process of its own."""

    def start(*arguments: object, **more: Any) -> subprocess.Popen[str]:
        environment = {**os.environ, "COLUMNS": "120", **more.pop("env", {})}
        return subprocess.Popen(
            [sys.executable, "-m", "gnomon", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=tmp_path,
            **more,
        )

    return start


@pytest.fixture(scope="session")
def es_en() -> Path:
    """The bundled example."""
    return example.path()


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A reference and two systems, three segments each."""
    texts = {
        "ref.txt": "the cat sat on the mat .\na dog barked .\nit was 7 o'clock in 1999 .\n",
        "a.txt": "the cat sat on a mat .\na dog barked .\nit was 7 o'clock in 1999 .\n",
        "b.txt": "cat sits on mat .\nthe dogs bark .\nit is 8 o'clock in 1998 .\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path
