"""Lock files name what pyproject.toml asks for, and the scripts that make and use them."""

from __future__ import annotations

import importlib.util
import json
import sys
import tomllib
from collections.abc import Collection
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

_ROOT = Path(__file__).resolve().parents[1]
_PROJECT = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))
_EXTRAS = _PROJECT["project"]["optional-dependencies"]


def _script(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(_ROOT / "scripts"))
    spec = importlib.util.spec_from_file_location(
        f"script_{name}", _ROOT / "scripts" / f"{name}.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def lock(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return _script("lock", monkeypatch)


def _pins(lock: ModuleType, name: str) -> dict[str, dict[str, str]]:
    text = (_ROOT / "requirements" / f"{name}.lock").read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = lock.read_pins(text)
    return found


def _group(name: str) -> list[str]:
    found: list[str] = []
    for one in _PROJECT["dependency-groups"][name]:
        found += _group(one["include-group"]) if isinstance(one, dict) else [one]
    return found


def _wanted(group: str, extras: Collection[str]) -> list[Requirement]:
    own = _PROJECT["project"]["dependencies"] if extras else []
    asked = [*_group(group), *own, *(one for extra in extras for one in _EXTRAS[extra])]
    requirements = [Requirement(one) for one in asked]
    return [one for one in requirements if one.name not in ("gnomon", "torch")]


@pytest.mark.parametrize("name", ["installer", "demo", "test", "compiler"])
def test_each_lock_file_names_fitting_versions_of_what_the_project_asks_for(
    lock: ModuleType, name: str
) -> None:
    pins = _pins(lock, name)
    for one in _wanted(*lock.CONTENTS[name]):
        versions = pins.get(canonicalize_name(one.name), {}).values()
        assert versions, f"{one}: run make lock"
        assert all(Version(version) in one.specifier for version in versions), f"{one}: make lock"


@pytest.mark.parametrize("name", ["installer", "demo", "test", "compiler"])
def test_each_locked_version_has_a_hash_and_none_is_of_torch_or_for_gpus(
    lock: ModuleType, name: str
) -> None:
    text = (_ROOT / "requirements" / f"{name}.lock").read_text(encoding="utf-8")
    blocks = [block for block in text.split("\n") if block and block[0] not in "# "]
    assert len(blocks) == sum(map(len, _pins(lock, name).values()))
    assert all(block.endswith("\\") for block in blocks)  # a line with a hash follows
    assert not [one for one in blocks if one.startswith(("torch=", "nvidia", "triton", "cuda"))]


def test_what_the_demo_and_the_tests_both_need_has_one_version(lock: ModuleType) -> None:
    demo, test = _pins(lock, "demo"), _pins(lock, "test")
    differing = {
        name for name in demo if set(demo[name].values()) != set(test.get(name, {}).values())
    }
    assert differing == set()


def test_what_users_install_has_upper_bounds() -> None:
    asked = [*_PROJECT["project"]["dependencies"], *(one for e in _EXTRAS.values() for one in e)]
    loose = [
        one
        for one in asked
        if not one.startswith("gnomon[") and "<" not in str(Requirement(one).specifier)
    ]
    assert loose == []


def test_the_notebook_runs_on_what_the_demo_installs(lock: ModuleType) -> None:
    imported = set()
    for file in (_ROOT / "examples").glob("*.ipynb"):
        for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
            for line in cell["source"] if cell["cell_type"] == "code" else ():
                if line.startswith(("import ", "from ")):
                    imported.add(line.split()[1].partition(".")[0])
    standard = sys.stdlib_module_names
    assert "polars" in imported
    assert imported - {"gnomon"} - standard <= set(_pins(lock, "demo"))


def test_newer_versions_are_told_from_those_that_are_locked(lock: ModuleType) -> None:
    locked = lock.read_pins(
        "a==1 \\\n    --hash=sha256:00\nb==2 ; python_version < '3.12' \\\nc==1 \\"
    )
    newest = lock.read_pins("a==1 \\\nb==3 ; python_version < '3.12' \\\nd==1 \\")
    assert lock.find_newer(locked, newest) == {"b": ("2", "3")}


@pytest.mark.parametrize(
    ("breaks", "found"),
    [
        ({"b": {"t1"}}, {"b": ["t1"]}),
        ({"a": {"t2"}, "c": {"t1", "t2"}}, {"a": ["t2"], "c": ["t1", "t2"]}),
        ({"": {"t1"}, "b": {"t2"}}, {"": ["t1"], "b": ["t2"]}),
        ({"": {"t1", "t2"}}, {"": ["t1", "t2"]}),
        ({}, {}),
    ],
)
def test_the_package_that_breaks_tests_is_named(
    breaks: dict[str, set[str]], found: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []

    def fail(tests: list[str]) -> list[str]:
        broken = breaks.get("", set()) | breaks.get(taken[-1], set())
        return [test for test in tests if test in broken]

    newest = _script("newest", monkeypatch)
    assert newest.find_culprits(["a", "b", "c"], taken.append, fail, ["t1", "t2"]) == found


def test_failed_tests_are_read_off_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    report = "..F\nFAILED tests/a.py::test_b[x y] - Error: no\nERROR tests/c.py - what\n1 failed"
    found = _script("newest", monkeypatch).failing_tests(report)
    assert found == ["tests/a.py::test_b[x y]", "tests/c.py"]


@pytest.mark.parametrize(
    ("names", "gpu"), [(["torch"], False), (["torch", "nvidia-nccl-cu13"], True)]
)
def test_builds_for_gpus_are_told_by_their_libraries(
    names: list[str], gpu: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    report: dict[str, Any] = {"install": [{"metadata": {"name": name}} for name in names]}
    assert _script("torch_size", monkeypatch).brings_gpu_libraries(json.dumps(report)) is gpu


def test_the_oldest_libraries_are_the_lower_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    oldest = _script("oldest", monkeypatch).lower_bounds(_EXTRAS["models"])
    names = [one.partition("==")[0] for one in oldest]
    assert len(names) == len(_EXTRAS["models"]) - 1
    assert "torch" not in names
    assert "transformers" in names
