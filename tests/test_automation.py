"""What runs by itself (workflows, hooks before a commit) is what a person runs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

_ROOT = Path(__file__).resolve().parent.parent
_GITHUB = _ROOT / ".github"
_PROJECT = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))
_PYTHONS = [
    name.rpartition(" ")[2]
    for name in _PROJECT["project"]["classifiers"]
    if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", name)
]


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _steps(workflow: str) -> list[dict[str, Any]]:
    jobs = _read(_GITHUB / "workflows" / workflow)["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


def _recipe(target: str) -> list[str]:
    makefile = (_ROOT / "Makefile").read_text(encoding="utf-8")
    found = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert found is not None
    return found.group(1).strip().replace("$(BIN)", ".venv/bin").split("\n\t")


def test_every_python_that_is_supported_is_tested() -> None:
    jobs = _read(_GITHUB / "workflows" / "tests.yml")["jobs"]
    assert jobs["tests"]["strategy"]["matrix"]["python"] == _PYTHONS
    assert "make test PYTHON=python" in [step.get("run") for step in _steps("tests.yml")]


def test_every_python_that_is_supported_has_wheels() -> None:
    wheels = _PROJECT["tool"]["cibuildwheel"]
    assert wheels["build"] == [f"cp{version.replace('.', '')}-*" for version in _PYTHONS]
    assert wheels["test-command"] == "gnomon selftest"
    machines = _read(_GITHUB / "workflows" / "release.yml")["jobs"]["wheels"]["strategy"]["matrix"]
    systems = {machine.partition("-")[0] for machine in machines["machine"]}
    assert systems == {"ubuntu", "macos", "windows"}
    assert any(machine.endswith("-arm") for machine in machines["machine"])


def test_only_a_tag_is_published_and_without_a_password() -> None:
    workflow = _read(_GITHUB / "workflows" / "release.yml")
    # YAML reads a bare "on" as true
    assert workflow[True]["push"] == {"tags": ["v*"]}
    publish = workflow["jobs"]["publish"]
    assert publish["if"] == "github.ref_type == 'tag'"
    assert set(publish["needs"]) == set(workflow["jobs"]) - {"publish"}
    assert publish["permissions"] == {"id-token": "write"}
    assert "password" not in str(publish)


@pytest.mark.parametrize("path", sorted(_GITHUB.glob("workflows/*")), ids=lambda path: path.name)
def test_a_workflow_may_do_little_and_runs_no_action_that_others_can_change(path: Path) -> None:
    assert _read(path)["permissions"] == {"contents": "read"}
    for step in _steps(path.name):
        assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", step.get("uses", f"a/b@{'0' * 40}"))
        assert re.fullmatch(r"(?s)(?!.*pip install [\w-]+(\s|$)).*", step.get("run", ""))


def test_hooks_before_a_commit_are_what_make_lint_runs() -> None:
    (repository,) = _read(_ROOT / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    assert [hook["entry"] for hook in repository["hooks"]] == _recipe("lint")
    assert not any(hook["pass_filenames"] for hook in repository["hooks"])


def test_forms_of_issues_ask_for_something() -> None:
    forms = [path for path in _GITHUB.glob("ISSUE_TEMPLATE/*.yml") if path.name != "config.yml"]
    assert len(forms) == 2
    for form in map(_read, forms):
        assert {"name", "description", "body"} <= form.keys()
        assert any(field.get("validations", {}).get("required") for field in form["body"])
