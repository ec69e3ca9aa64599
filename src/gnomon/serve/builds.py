"""The full report of a study, which takes longer than a page may: made in a process of its own.

How far it is stands in ``made-report.json`` of the study's folder, so that nothing is lost when the
server ends.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from gnomon import studies
from gnomon.core.errors import GnomonError, UsageError
from gnomon.serve import index as _index
from gnomon.serve._background import Background, begin_work
from gnomon.serve.comparison import read_record, write_record

__all__ = ["REPORT", "Build", "begin", "build_of"]


State = Literal["none", "running", "done", "failed"]
#: in the folder of the study
REPORT = "report.html"


class Build(msgspec.Struct):
    """How far the report is."""

    state: State = "none"
    stage: str = ""
    done: int = 0
    total: int = 0
    said: str = ""


_work = Background(__name__)
#: how often progress is written: every so many steps
_STEPS = 20


def build_of(folder: Path) -> Build:
    """How far the report of a study is; what was begun by a server that ended is none."""
    build = read_record(_file(folder), Build) or Build()
    if build.state == "running" and not _work.runs(folder):
        return Build("failed", said="It was interrupted; make it again.")
    return build


def _file(folder: Path) -> Path:
    return folder / "made-report.json"


def begin(store: Path, folder: Path) -> Build:
    """Begin to make the report, unless it is being made."""
    if _work.runs(folder):
        return build_of(folder)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    build = Build("running")
    _keep(folder, build)
    _work.start(folder, {"store": str(store.resolve()), "folder": str(folder.resolve())})
    return build


def stop(folder: Path) -> None:
    """End all that is being made for a study, which is to be deleted; its index, too."""
    _index.stop(folder / "index")
    _work.stop(folder)


def _keep(folder: Path, build: Build) -> None:
    write_record(_file(folder), build, durable=False)


# Making: what the process does.


def main() -> None:
    """Make the report; what the process runs."""
    given = begin_work(niceness=5)
    make(Path(given["store"]), Path(given["folder"]))


def make(store: Path, folder: Path) -> Build:
    """Make the report, here and now."""
    from gnomon.serve._worker import refusal

    build = Build("running")

    def progress(stage: str, done: int, total: int) -> None:
        if stage != build.stage or done - build.done >= max(1, total // _STEPS) or done == total:
            build.stage, build.done, build.total = stage, done, total
            _keep(folder, build)

    try:
        _report(studies.Store(store), folder, progress)
        build.state = "done"
    except GnomonError as error:
        said, remedy = refusal(error, "")
        words = [said, remedy.text if remedy else ""]
        build.state, build.said = "failed", " ".join(filter(None, words))
    except BaseException:
        build.state, build.said = "failed", "Something went wrong; the log of the server says more."
        _keep(folder, build)
        raise
    _keep(folder, build)
    return build


def _report(store: studies.Store, folder: Path, progress: Any) -> None:
    """The page of ``gnomon report``, as one file."""
    from gnomon.core.cache import Cache, default_path
    from gnomon.report.site import write_site

    if not store.files():
        raise UsageError("nothing was computed yet, so that there is nothing to report")
    content = studies.pages(store, cache=Cache(default_path()), progress=progress)
    write_site(folder / REPORT, content, progress=progress)
