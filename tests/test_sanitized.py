"""The sanitizers find faults that were planted, and nothing where there is none."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from scripts.sanitized import ROOT, build, environment

pytestmark = [
    pytest.mark.verify,
    pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc and its sanitizers"),
]

_PROJECT = """
[project]
name = "planted"
version = "1"

[tool.setuptools.packages.find]
where = ["src"]
"""

_PLANTED = """
from libc.stdlib cimport calloc, free

def write(Py_ssize_t size, Py_ssize_t place):
    cdef char *memory = <char *>calloc(size, 1)
    with nogil:
        memory[place] = 1
    cdef int written = memory[place]
    free(memory)
    return written

def shift(int bits):
    cdef int one = 1
    return one << bits

def entry(long[::1] numbers, Py_ssize_t place):
    cdef long number
    with nogil:
        number = numbers[place]
    return number
"""


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package with faults, compiled as the project's own."""
    project = tmp_path_factory.mktemp("planted")
    native = project / "src" / "gnomon" / "native"
    native.mkdir(parents=True)
    for folder in (native, native.parent):
        (folder / "__init__.py").touch()
    (native / "planted.pyx").write_text(_PLANTED)
    shutil.copy(ROOT / "setup.py", project)
    (project / "README.md").touch()
    (project / "pyproject.toml").write_text(_PROJECT)
    return build(project)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("write(8, 7)", ""),
        ("write(8, 8)", "AddressSanitizer: heap-buffer-overflow"),
        ("write(8, -1)", "AddressSanitizer: heap-buffer-overflow"),
        ("shift(30)", ""),
        ("shift(32)", "runtime error: shift exponent 32 is too large"),
        ("entry(array('l', [1, 2]), 1)", ""),
        ("entry(array('l', [1, 2]), 2)", "IndexError: Out of bounds on buffer access"),
    ],
)
def test_a_planted_fault_ends_the_process(planted: Path, call: str, said: str) -> None:
    program = f"from array import array; from gnomon.native.planted import *; {call}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(planted),
        capture_output=True,
        text=True,
        check=False,
    )
    assert said in done.stderr
    assert (done.returncode != 0) == bool(said), done.stderr
