"""``gnomon run``: a study, as a file says."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from gnomon.cli._options import add_command, add_output, show, show_rows
from gnomon.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from gnomon.cli._options import Subparsers
    from gnomon.study import RunOutcome, Study, StudyPlan, TaskEngine

__all__ = ["add", "run"]

_log = logging.getLogger(__name__)

_MORE = """\
examples:
  gnomon run study.toml --dry-run
  gnomon run study.toml --workers 4 --html report
  gnomon run study.toml --engine dask://10.0.0.1:8786
  gnomon run study.toml --forget wmt18/de-en
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "run",
        answers="what many metrics and methods say of many test sets, computed once and kept",
        more=_MORE,
    )
    parser.add_argument("study", metavar="STUDY.toml")
    parser.add_argument("--dry-run", action="store_true", help="print the plan, compute nothing")
    parser.add_argument(
        "--engine",
        default="pool",
        metavar="NAME",
        help="here, pool (processes of this machine; default), or dask://HOST:PORT",
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="processes of the pool (default: one per core)"
    )
    parser.add_argument("--allow-code", action="store_true", help="let python(...) run code")
    kept = parser.add_argument_group("what is kept")
    kept.add_argument(
        "--forget", metavar="TESTSET", help="delete all that came from a test set, compute nothing"
    )
    kept.add_argument(
        "--prune", action="store_true", help="delete what the study no longer asks for"
    )
    add_output(parser)
    parser.add_argument(
        "--html",
        metavar="FILE.html|FOLDER",
        help="write the report of the study too, as gnomon report does (or: report = ... in it)",
    )
    kept_tasks = "finished tasks are kept in the store; the same command goes on with the others"
    parser.set_defaults(run=run, kept=kept_tasks)


def run(args: argparse.Namespace) -> int:
    """Check, plan, run, report."""
    from gnomon import study

    if args.forget and (args.dry_run or args.prune):
        raise UsageError("--forget only deletes; run the study afterwards")
    if args.workers is not None and args.engine != "pool":
        raise UsageError(f"--workers are those of the pool, and the engine is {args.engine}")
    if args.forget:  # a study whose test sets are gone is not right any more
        count = study.Store.open(study.store_of(args.study)).forget(args.forget)
        show_rows(args, "run", "Deleted", [{"testset": args.forget, "tasks": count}])
        return 0
    wanted = study.read_study(args.study, allow_code=args.allow_code)
    page = _page(args, wanted)
    made = study.plan(wanted, allow_code=args.allow_code)
    if args.dry_run:
        store = study.Store.open(wanted.store) if study.Store.is_at(wanted.store) else None
        show(args, made.finding(store, workers=_workers(args)), "run")
        return 0
    engine = study.open_engine(args.engine, workers=args.workers)
    try:
        return _finish(args, made, engine, page)
    finally:
        engine.close()


def _page(args: argparse.Namespace, wanted: Study) -> str | Path | None:
    """Where a report is wanted; refused before any work where it cannot be written."""
    from gnomon.report.site import check_place

    page = args.html or wanted.report
    if page is not None and not args.dry_run:
        check_place(page)
    return page


def _finish(
    args: argparse.Namespace, made: StudyPlan, engine: TaskEngine, page: str | Path | None
) -> int:
    from gnomon import study
    from gnomon.cli._progress import stages
    from gnomon.cli.report import write_report

    with stages(quiet=args.quiet) as progress:
        store = study.Store.open(made.study.store, create=True)
        outcome = study.run(made, engine, store=store, prune=args.prune, progress=progress)
    if args.prune:
        _log.info("%d tasks deleted that the study no longer asks for", outcome.pruned)
    show(args, made.finding(store), "run")
    if page is not None:
        write_report(store, page, quiet=args.quiet)
    return _told(outcome)


def _told(outcome: RunOutcome) -> int:
    _log.info("%d tasks done, %d kept from before", outcome.done, outcome.kept)
    labels: dict[str, list[str]] = {}
    for key, said in outcome.failed.items():
        labels.setdefault(said, []).append(outcome.labels[key])
    for said, (first, *others) in labels.items():
        more = f" and {len(others)} more tasks" if others else ""
        _log.error("%s%s failed: %s", first, more, said)
    return 1 if outcome.failed else 0


def _workers(args: argparse.Namespace) -> int:
    """How many there will be, as far as that is known without starting them."""
    import os

    return args.workers or (len(os.sched_getaffinity(0)) if args.engine == "pool" else 1)
