"""The full report of a study, which takes longer than a page may: ``gnomon report``, run beside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from gnomon.serve import index as _index
from gnomon.serve.background import Background

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["REPORT", "Build", "begin", "build_of"]


Build: TypeAlias = Literal["none", "running", "done", "failed"]
#: in the folder of the study
REPORT = "report.html"
_work = Background("gnomon.cli.job", "report")


def build_of(folder: Path) -> Build:
    """How far the report of a study is."""
    if _work.runs(folder):
        return "running"
    if (folder / REPORT).is_file():
        return "done"
    return "failed" if _work.ran(folder) else "none"


def begin(store: Path, folder: Path) -> None:
    """Begin to make the report, unless it is being made."""
    if _work.runs(folder):
        return
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    (folder / REPORT).unlink(missing_ok=True)
    _work.start(folder, {"store": str(store.resolve()), "file": str(folder.resolve() / REPORT)})


def stop(folder: Path) -> None:
    """End all that is being made for a study, which is to be deleted; its index, too."""
    _index.stop(folder / "index")
    _work.stop(folder)
