"""Commands on studies: run one, ask its store, make pages and files of it."""

from __future__ import annotations

import logging
import shlex
from dataclasses import replace
from functools import partial
from itertools import chain, groupby, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

from gnomon.cli._options import (
    add_batch_read,
    add_command,
    add_format,
    add_output,
    add_store,
    emit,
    is_workbook,
    show,
    show_rows,
)
from gnomon.cli._requests import are_planned, write_requests
from gnomon.core.errors import GnomonError, UsageError
from gnomon.messages import rendered

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    from gnomon.cli._options import Subparsers
    from gnomon.core.findings import Cell, Column, Table
    from gnomon.core.page_data import PageVerdict
    from gnomon.messages import Message
    from gnomon.studies import (
        QueryResult,
        RunOutcome,
        Store,
        Study,
        StudyPlan,
        TaskEngine,
    )

__all__ = ["add", "exit_code", "print_found", "write_report"]


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands."""
    _add_run(commands)
    _add_query(commands)
    _add_report(commands)
    _add_export(commands)


# ``gnomon run``: a study, as a file says.


_log = logging.getLogger(__name__)

_RUN_EXAMPLES = """\
examples:
  gnomon run study.toml --dry-run
  gnomon run study.toml --workers 4
  gnomon run study.toml --engine dask://10.0.0.1:8786
  gnomon run study.toml --prune
"""


def _add_run(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "run",
        purpose="run metrics and methods on many test sets, and keep the results",
        more=_RUN_EXAMPLES,
    )
    parser.add_argument(
        "study", metavar="STUDY.toml", help="the study: its test sets, metrics and methods"
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print the plan, and compute nothing; of judges also the number of requests and cost",
    )
    parser.add_argument(
        "--batch-write",
        metavar="FILE",
        help="ask no judge: write the requests for its server's batch endpoint, JSON by line",
    )
    add_batch_read(parser)
    parser.add_argument(
        "--engine",
        default="pool",
        metavar="NAME",
        help="where tasks run: here (this process), pool (processes of this machine; default), or"
        " dask://HOST:PORT",
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="processes of the pool (default: one per core)"
    )
    parser.add_argument(
        "--allow-code",
        action="store_true",
        help="let metrics and taggers that are functions (file.py:function) run their code",
    )
    parser.add_argument(
        "--allow-network",
        action="store_true",
        help="let the metric judge(...) send texts to servers on other machines",
    )
    parser.add_argument(
        "--prune", action="store_true", help="delete results that the study no longer asks for"
    )
    parser.add_argument(
        "--progress",
        choices=("json",),
        help="print a line of JSON for each finished task, with its results, for programs",
    )
    add_output(parser)
    kept_tasks = "finished tasks are kept in the store; the same command goes on with the others"
    parser.set_defaults(run=_run, kept=kept_tasks)


def _run(args: argparse.Namespace) -> int:
    """Check, plan, run, report."""
    from gnomon import studies as study

    if args.workers is not None and args.engine != "pool":
        raise UsageError(f"--workers are those of the pool, and the engine is {args.engine}")
    if args.progress and not are_planned(args):
        return _run_in_lines(args)
    wanted = study.read_study(args.study, allow_code=args.allow_code)
    if are_planned(args):
        return _show_plan(args, wanted)
    engine = study.open_engine(args.engine, workers=args.workers)
    try:
        if not study.Store.is_at(wanted.store):  # otherwise there may be nothing to do
            engine.prepare({step.method for step in wanted.steps})
        made = study.plan(wanted, allow_code=args.allow_code)
        return _finish(args, made, engine)
    finally:
        engine.close()


def _run_in_lines(args: argparse.Namespace) -> int:
    """Run, and say how far it is in lines of JSON, and what was found, refused or failed."""
    from gnomon import studies as study
    from gnomon.cli.progress import ProgressLines, print_line

    try:
        wanted = study.read_study(args.study, allow_code=args.allow_code)
        store = study.Store.open(wanted.store, create=True)
        made = study.plan(wanted, allow_code=args.allow_code)
        lines = ProgressLines(store)
        with study.reporting(lines):
            engine = study.open_engine(args.engine, workers=args.workers)
            try:
                outcome = study.run(made, engine, store=store, prune=args.prune, progress=lines)
            finally:
                engine.close()
    except GnomonError as error:
        print_line({}, refused=error.messages)
        raise
    if outcome.failed:
        print_line({}, failed=outcome.failed.values())
    return exit_code(outcome)


def _show_plan(args: argparse.Namespace, wanted: Study) -> int:
    """Show what is left to do, and what of it judges are asked; or write the latter to files."""
    from gnomon import studies as study

    made = study.plan(wanted, allow_code=args.allow_code)
    store = study.Store.open(wanted.store) if study.Store.is_at(wanted.store) else None
    requests = study.study_requests(made, store)
    if args.batch_write:
        return write_requests(args, requests)
    finding = made.finding(store)
    if requests.servers or requests.folders:
        asked = requests.finding("run")
        finding = replace(
            finding,
            tables=(*finding.tables, *asked.tables),
            notices=(*finding.notices, requests.summary(), *asked.notices),
        )
    show(args, finding, "run")
    return 0


def _finish(args: argparse.Namespace, made: StudyPlan, engine: TaskEngine) -> int:
    from gnomon import studies as study
    from gnomon.cli.progress import stages

    with stages("running the study", quiet=args.quiet) as progress:
        store = study.Store.open(made.study.store, create=True)
        outcome = study.run(made, engine, store=store, prune=args.prune, progress=progress)
    if args.prune:
        _log.info("%d tasks deleted that the study no longer asks for", outcome.pruned)
    verdicts = study.verdicts(store)
    finding = made.finding(store)
    if args.format == "text":
        show(args, finding, "run", after=partial(print_found, verdicts, verbose=args.verbose))
    else:
        failed = outcome.failed.values() if args.format == "json" else ()
        show(args, replace(finding, verdict=(*_list_messages(verdicts), *failed)), "run")
    _log.info("%d tasks done, %d kept from before", outcome.done, outcome.kept)
    code = exit_code(outcome)
    if store.files():
        _say_next(made.study.store, store)
    return code


#: test sets whose findings are printed, the first ones
_SETS = 10


def print_found(
    verdicts: Sequence[PageVerdict], file: IO[str] | None, *, verbose: bool = False
) -> None:
    """Print the findings, test set by test set."""
    from gnomon.core.registry import title_of
    from gnomon.report import print_verdict

    print(file=file)
    sets = list(dict.fromkeys(verdict.testset for verdict in verdicts))
    for verdict in verdicts:
        if verdict.testset in sets[:_SETS]:
            what = "Scores" if verdict.section == "systems" else title_of(verdict.section)
            title = f"{verdict.testset}: {what}"
            print_verdict(title, verdict.verdict, verbose=verbose, file=file)
    if len(sets) > _SETS:
        left = f"What was found on {len(sets) - _SETS} more test sets stands in the report."
        print_verdict(left, (), file=file)


def _list_messages(verdicts: Sequence[PageVerdict]) -> Iterator[Message]:
    """All that was found, for programs; what it rests on is in the store, not in the plan."""
    several = len({verdict.testset for verdict in verdicts}) > 1
    for verdict in verdicts:
        for said in verdict.verdict:
            subjects = {"testsets": (verdict.testset,)} if several else {}
            yield replace(said, subjects=subjects, rows={})


def _say_next(place: str | PathLike[str], store: Store) -> None:
    """The next two commands, as they can be typed."""
    store_path = shlex.quote(str(place))
    leaders = "select testset, metric, system, score from leaderboard where rank = 1"
    asked = f' "{leaders}"' if "scores" in store.files() else ""
    _log.info("next: gnomon report %s -o report.html", store_path)
    _log.info("next: gnomon query %s%s", store_path, asked)


def exit_code(outcome: RunOutcome) -> int:
    """The exit status of a run, after a word on each kind of failure."""
    tasks: dict[str, list[str]] = {}
    for said in outcome.failed.values():
        tasks.setdefault(rendered(said), []).extend(said.subjects["tasks"])
    for reason, (first, *others) in tasks.items():
        more = f" and {len(others)} more tasks" if others else ""
        _log.error("%s%s failed: %s", first, more, reason)
    return 1 if outcome.failed else 0


# ``gnomon query``: SQL over what a study kept.


#: rows of the formats for people, who read no more
_SHOWN = 10_000

_QUERY_EXAMPLES = """\
The tables are those of `gnomon query STORE` without a query; the views leaderboard,
muler_features and best_metrics answer common questions. Formats for people show the first
10000 rows, -f tsv and -f json all, however many.

examples:
  gnomon query wmt.store
  gnomon query wmt.store --columns
  gnomon query wmt.store 'select * from leaderboard where rank = 1'
  gnomon query wmt.store 'select system, score from scores order by score desc limit 5'
  gnomon query wmt.store "select * from muler where feature = 'pos:NOUN'" -f tsv
"""


def _add_query(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "query",
        purpose="query the results of a study with SQL",
        more=_QUERY_EXAMPLES,
    )
    add_store(parser)
    parser.add_argument(
        "sql",
        nargs="?",
        metavar="SQL",
        help="a SELECT statement; without one the tables are listed",
    )
    parser.add_argument(
        "--columns", action="store_true", help="describe the columns of all tables and views"
    )
    add_output(parser)
    parser.set_defaults(run=_query)


def _query(args: argparse.Namespace) -> int:
    """Ask, print; however many rows there are, few are held at a time."""
    from gnomon import report
    from gnomon.core.findings import Finding, Listing, Table
    from gnomon.studies import Store

    if args.columns and args.sql:
        raise UsageError("--columns describes all tables; leave out the query")
    if args.sql is None and len(args.store.split()) > 1 and not Path(args.store).exists():
        raise UsageError(f"the store comes first: gnomon query STORE {shlex.quote(args.store)}")
    store = Store.open(args.store)
    if args.sql:
        result = store.query(args.sql, timeout=None)
    else:
        result = store.describe() if args.columns else store.tables()
    columns = tuple(_columns(result))
    rows = _rows(result)
    if args.format in ("json", "tsv"):
        emit(args, report.render_rows(columns, rows, args.format, command="query"))
        return 0
    shown = tuple(islice(rows, None if is_workbook(args) else _SHOWN))
    cut = next(rows, None) is not None
    note = f"The first {_SHOWN} rows; -f tsv and -f json give all." if cut else ""
    if args.format != "text" or args.sql:
        tables = [Table("query", "Query" if args.sql else "Tables", columns, shown, note)]
    else:
        tables = _meanings(shown) if args.columns else [_overview(shown)]
    listings = tuple(
        Listing(table.name, table.title, tuple(column.name for column in table.columns))
        for table in (tables if len(tables) > 1 else ())
    )
    finding = Finding("query", tables[0].title, tuple(tables), signatures={}, views=listings)
    show(args, finding, "query")
    return 0


# What text shows of an answer, so that 80 columns are enough.


#: names of columns that an overview tells
_FEW = 5


def _overview(rows: Sequence[Mapping[str, Cell]]) -> Table:
    """Which tables there are: the first columns of each stand for all of them."""
    from gnomon.core.findings import Column, Table

    shown: list[Mapping[str, Cell]] = []
    for row in rows:
        names = str(row["columns"]).split(", ")
        more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
        shown.append({**row, "columns": ", ".join(names[:_FEW]) + more})
    columns = tuple(Column(name, name) for name in ("table", "rows", "columns"))
    note = "Every column, and what it means: --columns."
    return Table("query", "Tables", columns, tuple(shown), note)


def _meanings(rows: Sequence[Mapping[str, Cell]]) -> list[Table]:
    """List the meanings of the columns, table by table."""
    from gnomon.core.findings import Column, Table

    names = [name for name in rows[0] if name != "table"] if rows else []
    columns = tuple(Column(name, name) for name in names)
    tables = [
        Table(str(name), str(name), columns, tuple(some))
        for name, some in groupby(rows, lambda row: row["table"])
    ]
    return tables or [Table("query", "Tables", columns, ())]


def _rows(answer: QueryResult) -> Iterator[Mapping[str, Cell]]:
    names = answer.names
    for row in chain.from_iterable(answer.parts):
        yield dict(zip(names, map(_cell, row), strict=True))


def _columns(answer: QueryResult) -> list[Column]:
    from gnomon.core.findings import Column

    kinds = zip(answer.names, answer.kinds, strict=True)
    return [Column(name, name, kind) for name, kind in kinds]


def _cell(value: object) -> Cell:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return None if value != value else value  # noqa: PLR0124  # NaN
    return str(value)


# ``gnomon report``: the pages of a study.


#: above this many megabytes one file is slow to open
_LARGE = 40

_REPORT_EXAMPLES = """\
examples:
  gnomon report wmt.store -o report.html
  gnomon report wmt.store -o report       (a folder: open report/index.html)
  gnomon report wmt.store -o report.html --no-texts
"""


def _add_report(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "report",
        purpose="write the results of a study as pages",
        more=_REPORT_EXAMPLES,
    )
    add_store(parser)
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE.html|FOLDER",
        help="one file for all, or a folder of pages, which opens faster for large studies",
    )
    parser.add_argument(
        "--no-texts", action="store_true", help="leave out the texts of the test sets"
    )
    parser.set_defaults(run=_report)


def _report(args: argparse.Namespace) -> int:
    """Read the store, write the pages."""
    from gnomon.studies import Store

    store = Store.open(args.store)
    write_report(store, args.output, texts=not args.no_texts, quiet=args.quiet)
    return 0


def write_report(
    store: Store,
    output: str | PathLike[str],
    *,
    texts: bool = True,
    quiet: bool = False,
) -> None:
    """The pages of a store, and where they are."""
    from gnomon.cli.progress import stages
    from gnomon.core.cache import Cache, default_path
    from gnomon.report.site import write_site
    from gnomon.studies import pages

    if not store.files():
        raise UsageError(f"nothing is in the store {store.path} yet; run the study: gnomon run")
    with stages("reading the results", quiet=quiet) as progress:
        content = pages(store, texts=texts, cache=Cache(default_path()), progress=progress)
        write_site(output, content, progress=progress)
    _say_where(Path(output))


def _say_where(target: Path) -> None:
    if target.is_dir():
        _log.info("open %s", target / "index.html")
        return
    _log.info("open %s", target)
    size = target.stat().st_size / 1e6
    if size > _LARGE:
        _log.warning(
            "%s has %.0f MB, which browsers open slowly; a folder opens at once: -o %s",
            target, size, target.with_suffix(""),
        )  # fmt: skip


# ``gnomon export``: what a study kept, as files for other tools.


_EXPORT_EXAMPLES = """\
examples:
  gnomon export wmt.store -o wmt.duckdb
  gnomon export wmt.store -o tables --tables scores muler
"""


def _add_export(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "export",
        purpose="write the results of a study as a DuckDB file or CSV",
        more=_EXPORT_EXAMPLES,
    )
    add_store(parser)
    parser.add_argument(
        "-o",
        "--output",
        dest="to",
        required=True,
        metavar="FILE|DIR",
        help="a new .duckdb file, or a new or empty folder of CSV",
    )
    parser.add_argument(
        "--tables", nargs="+", metavar="NAME", help="only these tables (default: all)"
    )
    add_format(parser)
    parser.set_defaults(run=_export)


def _export(args: argparse.Namespace) -> int:
    """Write, and say what."""
    from gnomon.studies import Store

    written = Store.open(args.store).export(args.to, tables=args.tables)
    rows: list[Mapping[str, Cell]] = [
        {"table": name, "rows": count} for name, count in written.items()
    ]
    show_rows(args, "export", f"Written to {args.to}", rows)
    return 0
