"""What runs by itself (workflows, hooks before a commit) is what a person runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
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
    assert workflow[True]["push"] == {"tags": ["v*.*.*"]}
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


_WORDS = (
    "compare ref.txt -i old.txt 'new $(touch made) `touch made`; touch made.txt' -m chrf"
    " --fail-if-worse chrf -q -o out.txt"
)


def _run(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A step of automation, run as its shell runs it, in a folder with a python of its own."""
    for python in (folder / "gnomon" / "bin" / "python", folder / "bin" / "python3"):
        python.parent.mkdir(parents=True, exist_ok=True)
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        python.chmod(0o755)
    numbers = list(map(str, range(60)))
    texts = {
        "ref": numbers,
        "old": numbers,
        "new $(touch made) `touch made`; touch made": ["x"] * 60,
    }
    for name, lines in texts.items():
        (folder / f"{name}.txt").write_text("".join(f"{line} and so on\n" for line in lines))
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_action_of_github_ends_as_the_gate_does_and_runs_nothing_else(tmp_path: Path) -> None:
    action = _read(_ROOT / "action.yml")
    install, gate = action["runs"]["steps"]
    for step in (install, gate):
        assert "${{" not in step["run"]  # what is put in there is run
        assert "$GITHUB_ACTION_PATH" in step["run"] or step is gate
    assert gate["env"] == {"COMMAND": "${{ inputs.command }}"}
    files = {name: str(tmp_path / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    done = _run(gate["run"], tmp_path, RUNNER_TEMP=str(tmp_path), COMMAND=_WORDS, **files)
    assert done.returncode == 3, done.stderr
    assert not list(tmp_path.glob("made*"))
    said = dict(
        line.split("=", 1) for line in Path(files["GITHUB_OUTPUT"]).read_text().split("\n")[:2]
    )
    assert said["exit-code"] == "3"
    assert 'failures="1"' in Path(said["junit"]).read_text()
    assert Path(files["GITHUB_STEP_SUMMARY"]).read_text().startswith("### The gate failed")
    outputs = {output["value"].split(".")[-1].rstrip(" }") for output in action["outputs"].values()}
    assert outputs == set(said)


def test_the_template_of_gitlab_ends_as_the_gate_does_and_runs_nothing_else(tmp_path: Path) -> None:
    text = (_ROOT / "templates" / "gate.yml").read_text(encoding="utf-8")
    spec, filled = yaml.safe_load_all(
        text.replace("$[[ inputs.command ]]", _WORDS).replace(
            "$[[ inputs.package ]]", "gnomon[check]"
        )
    )
    inputs = spec["spec"]["inputs"]
    assert set(re.findall(r"\$\[\[ inputs\.(\w+) \]\]", text)) == set(inputs)
    (job,) = filled.values()
    variables = {name: given["value"] for name, given in job["variables"].items()}
    assert variables == {"GNOMON_COMMAND": _WORDS, "GNOMON_PACKAGE": "gnomon[check]"}
    assert not any(given["expand"] for given in job["variables"].values())
    assert not any("$[[" in line for line in job["script"])
    done = _run(job["script"][1], tmp_path, **variables)
    assert done.returncode == 3, done.stderr
    assert not list(tmp_path.glob("made*"))
    assert 'failures="1"' in (tmp_path / job["artifacts"]["reports"]["junit"]).read_text()
    assert (tmp_path / job["artifacts"]["paths"][0]).read_text().startswith("### The gate failed")


def test_the_image_installs_what_there_is() -> None:
    image = (_ROOT / "Dockerfile").read_text(encoding="utf-8")
    extras = re.search("^ARG EXTRAS=(.*)$", image, re.MULTILINE)
    assert extras is not None
    assert set(extras[1].split(",")) <= set(_PROJECT["project"]["optional-dependencies"])
    assert set(re.findall(r"^FROM python:([\d.]+)-slim", image, re.MULTILINE)) <= set(_PYTHONS)
    sent = (_ROOT / ".dockerignore").read_text(encoding="utf-8").split("\n")
    needed = {"src", "README.md", "pyproject.toml", "setup.py"}
    needed |= {*_PROJECT["project"]["license-files"]}
    assert {name[1:] for name in sent if name[:1] == "!"} == needed


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
