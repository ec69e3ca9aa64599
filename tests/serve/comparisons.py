from __future__ import annotations

import time
from typing import TYPE_CHECKING

from gnomon.serve.comparison import ComparisonChoices, FileChoice, StepChoice

if TYPE_CHECKING:
    from collections.abc import Callable

    from gnomon.serve.workspace import Comparison, Workspace

REFERENCE = [f"the cat number {n} sat on the mat and looked at {n} birds" for n in range(30)]
BETTER = [f"the cat number {n} sat on the mat and saw {n} birds" for n in range(30)]
WORSE = [f"a cat {n} sits at mats and it looks for {n} bird" for n in range(30)]


def wait_for(condition: Callable[[], object], *, seconds: float = 120) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


def upload(workspace: Workspace, files: dict[str, list[str]], owner: str = "ann") -> str:
    id, uploads = workspace.new_draft(owner)  # noqa: A001
    for number, lines in enumerate(files.values()):
        (uploads / str(number)).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    workspace.name_files(id, list(files))
    return id


def two_systems(workspace: Workspace, owner: str = "ann") -> str:
    return upload(workspace, {"ref.txt": REFERENCE, "a.txt": BETTER, "b.txt": WORSE}, owner)


def choices(*methods: str, **more: object) -> ComparisonChoices:
    roles = (("reference", "ref"), ("output", "a"), ("output", "b"))
    files = [
        FileChoice(file=n, name=f"{title}.txt", role=role, title=title)
        for n, (role, title) in enumerate(roles)
    ]
    steps = [step(method) for method in methods or ("compare",)]
    return ComparisonChoices(files=files, language_pair="de-en", steps=steps, **more)


def step(method: str) -> StepChoice:
    """A method that draws little."""
    options = {"resamples": 100} if method in ("compare", "muler") else {}
    return StepChoice(method=method, options=options)


def finished(workspace: Workspace, id: str) -> Comparison:  # noqa: A002
    wait_for(lambda: not workspace.study(id).job.active)
    return workspace.study(id)
