"""A process that is killed at any of its writes loses no result, and leaves no half one."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.serve.comparisons import BETTER, choices, two_systems, upload

from gnomon.serve.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

#: forks that end themselves at their n-th look at, or change of, the file system
_KILLER = """
import json, os, shutil, signal, sys
from pathlib import Path
from tests.serve.comparisons import choices
from gnomon.cli import serve_job
from gnomon.serve.comparison import FileChoice
from gnomon.serve.workspace import Workspace
from gnomon.studies import Store

kind, original, copies, step = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
WRITES = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.truncate", "os.link"}
count = 0

def run(folder, id):
    workspace = Workspace(folder)
    if kind == "create":
        workspace.create(id, choices("compare", "score"))
    if kind == "add":
        (draft,) = (path.name for path in (folder / "drafts").iterdir())
        choice = FileChoice(file=0, name="new.txt", role="output", title="c")
        workspace.add_system(id, draft, choice)
    if kind == "delete":
        workspace.delete(id)
    if kind == "job":
        for places in ([0], [0, 1]):
            assert serve_job.run_step(folder / "studies" / id, places) == 0

def entries(folder, id):
    store = folder / "studies" / id / "store"
    return set(Store(store).entries) if Store.is_at(store) else set()

def forked(folder, id, at):
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    def hook(event, given):
        global count
        write = event in WRITES
        if event == "open":
            write = bool(set(str(given[1] or "")) & set("wxa+") or (given[2] or 0) & os.O_WRONLY)
        if write and str(folder) in str(given[0]):
            if count == at:
                os.kill(os.getpid(), signal.SIGKILL)
            count += 1
    code = 70
    try:
        sys.addaudithook(hook)
        run(folder, id)
        code = 0
    finally:
        os._exit(code)

id, at, said = sys.argv[5], 0, []
while True:
    folder = copies / str(at)
    shutil.copytree(original, folder)
    code = forked(folder, id, at)
    done = entries(folder, id) if kind == "job" else set()
    if kind != "job" or code == 0:
        again = 0
    else:
        again = forked(folder, id, -1)
    kept = done <= entries(folder, id) if kind == "job" else True
    said.append({"at": at, "code": code, "again": again, "kept": kept, "folder": str(folder)})
    if code == 0:
        break
    at += step
print(json.dumps(said))
"""


def killed(
    kind: str, workspace: Workspace, copies: Path, key: str, step: int
) -> list[dict[str, object]]:
    """What became of copies of a workspace after a process was killed at each of its writes."""
    copies.mkdir()
    command = [
        sys.executable,
        "-c",
        _KILLER,
        kind,
        str(workspace.folder),
        str(copies),
        str(step),
        key,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    outcomes: list[dict[str, object]] = json.loads(done.stdout.splitlines()[-1])
    assert outcomes[-1]["code"] == 0, done.stderr
    assert {outcome["code"] for outcome in outcomes[:-1]} == {-9}, outcomes
    return outcomes


def _outcome_of_job(folder: Path) -> tuple[object, ...]:
    manifest = [
        json.loads(line) for line in (folder / "store/manifest.jsonl").read_text().splitlines()
    ]
    results = {entry["key"]: entry["checksums"] for entry in manifest}
    assert len(results) == len(manifest)
    left = sorted(path.name for path in folder.rglob("*") if path.name.startswith("."))
    return (folder / "study.toml").read_text(), results, left


@pytest.mark.parametrize("step", [120, pytest.param(1, marks=pytest.mark.verify)])
def test_a_worker_killed_at_any_write_loses_nothing(
    workspace: Workspace, tmp_path: Path, step: int
) -> None:
    comparison = workspace.create(two_systems(workspace), choices("compare", "score"))
    outcomes = killed("job", workspace, tmp_path / "copies", comparison.id, step)
    assert len(outcomes) > 40 // step
    assert all(outcome["kept"] and outcome["again"] == 0 for outcome in outcomes)
    folders = [tmp_path / "copies" / str(o["at"]) / "studies" / comparison.id for o in outcomes]
    undisturbed = _outcome_of_job(folders[-1])
    for folder in folders:
        assert _outcome_of_job(folder)[:2] == undisturbed[:2], folder


def _whole(workspace: Workspace) -> None:
    for comparison in workspace.studies():
        assert not comparison.damaged
        assert comparison.job.state == "queued"
        assert comparison.about.choices.steps


@pytest.mark.parametrize("kind", ["create", "delete", "add"])
def test_a_server_killed_at_any_write_leaves_a_comparison_whole_or_none(
    workspace: Workspace, tmp_path: Path, kind: str
) -> None:
    id = two_systems(workspace)  # noqa: A001
    if kind != "create":
        made = workspace.create(id, choices())
        folder, (step,) = made.folder, made.job.steps
        step.state = "done"
        workspace.jobs.change(id, 0, step)
        (folder / "texts").mkdir()
        (folder / "texts" / "testset.json").write_text("{}")
    if kind == "add":
        upload(workspace, {"new.txt": BETTER})
    for outcome in killed(kind, workspace, tmp_path / "copies", id, 1):
        copy = Workspace(tmp_path / "copies" / str(outcome["at"]))
        ids = {comparison.id for comparison in copy.studies()}
        last = outcome["code"] == 0
        if kind == "create":
            assert ids <= {id}
            _whole(copy)
            assert copy.create(id, choices()).id == id  # the same again is harmless
            _whole(copy)
        if kind == "delete":
            assert ids in ({id}, set())
            copy.hold()  # what is half deleted goes
            copy.release()
            assert {entry.name for entry in (copy.folder / "studies").iterdir()} == ids
        if kind == "add":
            assert ids == {id}
            names = [file.title for file in copy.study(id).about.choices.files]
            assert names in (["ref", "a", "b"], ["ref", "a", "b", "c"])
            if "c" in names:
                assert (copy.study(id).folder / "uploads" / "3").is_file()
            assert last <= ("c" in names)
