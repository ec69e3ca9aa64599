"""Requests to judges that a command plans or writes to files in place of sending them."""

from __future__ import annotations

import json
import logging
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any

from gnomon.cli import _options
from gnomon.core.errors import UsageError
from gnomon.messages import noted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

    from gnomon.core.findings import Cell
    from gnomon.judges.planned import RequestPlan

_log = logging.getLogger(__name__)


def are_planned(args: argparse.Namespace) -> bool:
    """True if requests are wanted, and no results."""
    if not hasattr(args, "batch_write"):  # it asks nobody
        return False
    dry, path = args.dry_run, args.batch_write
    if dry and path:
        raise UsageError("--dry-run writes nothing; leave it out, or --batch-write")
    unwritten = [f"--{name}" for name in ("html", "figure") if getattr(args, name, None)]
    if path and unwritten:
        raise UsageError(f"--batch-write writes requests alone yet: leave out {unwritten[0]}")
    return bool(dry or path)


def read_batches(args: argparse.Namespace) -> None:
    """Keep the answers of files that a batch endpoint gave, before any work; say what came."""
    for path in getattr(args, "batch_read", ()):
        from gnomon.judges import read_batch

        _log.warning("%s", read_batch(path))


def elsewhere(options: dict[str, Any], outcomes: Iterable[str], folder: str) -> dict[str, Any]:
    """Options whose files lie in a folder that nobody keeps."""
    moved = {
        name: str(Path(folder) / Path(value).name)
        for name in outcomes
        if isinstance(value := options.get(name), str)
    }
    return {**options, **moved}


def plan_requests(
    args: argparse.Namespace,
    command: str,
    options: dict[str, Any],
    outcomes: Iterable[str],
    work: Callable[[dict[str, Any]], object],
) -> int:
    """Do the work of a command without asking, and show or write what it would have asked."""
    from gnomon.judges.planned import planned_requests

    with (
        planned_requests(made_up=True) as plan,  # what comes of it is thrown away
        warnings.catch_warnings(),
        TemporaryDirectory() as folder,
    ):
        warnings.simplefilter("ignore")
        try:
            work(elsewhere(options, outcomes, folder))
        except Exception as error:  # a method may fail in any way for lack of answers
            if not plan.requests and not plan.computed:
                raise
            plan.ended = str(error)
    if args.batch_write:
        return write_requests(args, plan)
    finding = plan.finding(command)

    def first(file: IO[str] | None) -> None:
        body = plan.first()
        if body is not None:
            shown = json.dumps(body, ensure_ascii=False, indent=2)
            print(f"\nThe first request:\n{shown}", file=file)  # of a command

    _options.show(args, finding, command, after=first if args.format == "text" else None)
    return 0


def write_requests(args: argparse.Namespace, plan: RequestPlan) -> int:
    """Write requests to files for batches, and say which."""
    files = plan.write_batches(args.batch_write)
    finding = plan.finding("batch-write")
    for notice in finding.notices:
        _log.info("%s", noted(notice))
    rows: list[dict[str, Cell]] = [
        {"file": str(path), "model": model, "requests": n} for path, model, n in files
    ]
    title = (
        f"Nothing was asked. {sum(n for _, _, n in files):,} requests are written; send them to the"
        " server's batch endpoint, then give the same command --batch-read RESULTS.jsonl"
    )
    _options.show_rows(args, "batch-write", title, rows)
    return 0
