"""The process of a job of ``gnomon serve``: it looks at files, runs a method, or writes a report.

It ends with the server, and is limited in computing by itself, in memory and time by the server. A
lock on the folder of a comparison ensures that one process alone works there.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core.errors import GnomonError
from gnomon.core.processes import exit_with_parent
from gnomon.serve.comparison import (
    NAMES,
    STUDY,
    ComparisonRecord,
    locked,
    read_record,
    study_text,
    write_whole,
)
from gnomon.serve.job_files import BROKEN, BUSY, inspect_draft, make_texts
from gnomon.serve.problems import word_error

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main", "make_index", "run_step", "write_report", "write_workbook"]

#: the study file of a step that is not done yet
_TRIAL = ".step.toml"


def main() -> None:
    """Run the process: ``TASK FOLDER PARENT SECONDS [PLACE ... | STORE | LIMIT ...]``."""
    import resource  # not on all systems

    task, folder, parent, seconds, *given = sys.argv[1:]
    exit_with_parent(int(parent), True)  # noqa: FBT003  # the thread that started it outlives it
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if task == "run":
        sys.exit(run_step(Path(folder), [*map(int, given)]))
    if task == "inspect":
        sys.exit(inspect_draft(Path(folder), *map(int, given)))
    os.nice(10)
    makers = {"index": make_index, "report": write_report, "workbook": write_workbook}
    sys.exit(makers[task](Path(folder), Path(given[0])))


def run_step(folder: Path, places: Sequence[int]) -> int:
    """Run the command on the study of some methods: those that are done, and the next one."""
    from gnomon.cli.entry import main as run_command

    with locked(folder / "lock") as mine:
        if not mine:
            return BUSY
        about = read_record(folder / NAMES, ComparisonRecord)
        if about is None:
            return BROKEN
        try:
            said = make_texts(folder, about)
        except GnomonError as error:
            _tell(unfit=word_error(error))
            return error.exit_code
        if said:
            _tell(said=said)
        trial = folder / _TRIAL
        steps = [about.choices.steps[place] for place in places]
        write_whole(trial, study_text(about, steps).encode(), durable=False)
        asked = ["run", str(trial), "--engine", "here", "--prune", "--progress", "json"]
        code = run_command(asked)
        if code == 0:
            trial.replace(folder / STUDY)
        trial.unlink(missing_ok=True)
        return code


def _tell(**line: str) -> None:
    sys.stdout.write(f"{json.dumps(line)}\n")
    sys.stdout.flush()


def make_index(folder: Path, store: Path) -> int:
    """Make the index of the texts of a store."""
    from gnomon.serve.index import make
    from gnomon.studies import Store

    make(Store(store), folder)
    return 0


def write_report(folder: Path, store: Path) -> int:
    """Write the full report of a store."""
    from gnomon.cli.entry import main as run_command

    return run_command(["report", str(store), "-o", str(folder / "report.html"), "--quiet"])


def write_workbook(folder: Path, store: Path) -> int:
    """Write all tables of a store, and its texts, as worksheets."""
    from gnomon.report import write_xlsx
    from gnomon.serve.store_pages import open_store, read_finding

    write_xlsx(folder / "results.xlsx", read_finding(open_store(store)))
    return 0


if __name__ == "__main__":
    main()
