"""Folders in which models are trained: a description of the run, by which it is known again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import DataError, FormatError, UsageError
from gnomon.data.formats import atomic_write, explain_failure
from gnomon.messages.audiences import flag

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["describe_run", "open_run", "read_json"]

#: what a folder holds where a model was made in it
_MADE = {"config.json", "model.safetensors"}


def open_run(folder: Path, facts: Mapping[str, object], *, resume: bool) -> bool:
    """Make the folder of a run, or check that the run in it is this one; whether there is one.

    Raises:
        DataError: the run in the folder is another one.
        FormatError: its description is damaged.
        OutputError: the folder cannot be made.
        UsageError: the folder holds a run and ``resume`` is not given, or something else.
    """
    run = _file(folder)
    if not run.is_file():
        there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
        # a run that ended before its description was written leaves a vocabulary at most
        if there and ("training" not in there or there & _MADE):
            raise UsageError(
                f"{folder} holds something else, and no run to go on with; name a new or an empty"
                " folder (",
                flag("save"),
                ")",
            )
        with explain_failure(folder):
            run.parent.mkdir(parents=True, exist_ok=True)
        return False
    if not resume:
        raise UsageError(
            f"{folder} holds a run; go on with it (", flag("resume"), "), or name another folder"
        )
    before = read_json(run)
    for name, value in facts.items():
        now = json.loads(json.dumps(value))
        if before.get(name) != now:
            raise DataError(
                f"the run in {folder} has another {name}: {_changes(before.get(name), now)}; give"
                " the same, or name another folder"
            )
    return True


def describe_run(folder: Path, facts: Mapping[str, object]) -> None:
    """Write what must be the same when the run is resumed."""
    with atomic_write(_file(folder)) as file:
        file.write(json.dumps(facts, indent=2) + "\n")


def _file(folder: Path) -> Path:
    return folder / "training" / "run.json"


def _changes(before: Any, now: Any) -> str:
    """List the differences of two descriptions."""
    if not (isinstance(before, dict) and isinstance(now, dict)):
        return f"{before}, now {now}"
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    return "; ".join(f"{name} {before.get(name)}, now {now.get(name)}" for name in names)


def read_json(path: Path) -> dict[str, Any]:
    """Read what a run wrote about itself.

    Raises:
        FormatError: it is damaged.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"is no JSON: {error}; train into another folder", path=path) from error
    if not isinstance(content, dict):
        raise FormatError("is no JSON object; train into another folder", path=path)
    return content
