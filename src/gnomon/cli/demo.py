"""``gnomon demo``: a study of the bundled example by all methods."""

from __future__ import annotations

import importlib.util
import logging
import re
import sys
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.cli._options import add_command
from gnomon.core.errors import DataError, MissingDependencyError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from gnomon.cli._options import Subparsers
    from gnomon.core.findings import Finding
    from gnomon.studies import RunOutcome, Store, Study

__all__ = ["add", "run"]


# The questions that ``gnomon demo`` asks of its study, in SQL.


@dataclass(frozen=True)
class DemoAnswer:
    """A question and how to ask it.

    Attributes:
        title: the question.
        tables: the tables of the store that it needs.
        sql: how ``gnomon query`` asks it.
        note: what a reader should know.
    """

    title: str
    tables: tuple[str, ...]
    sql: str
    note: str = ""

    def finding(self, store: Store) -> Finding:
        """The answer of a store, as a table."""
        from gnomon.core.findings import Column, Finding, Table

        found = store.query(self.sql)
        columns = tuple(
            Column(name, name, kind) for name, kind in zip(found.columns, found.kinds, strict=True)
        )
        rows = tuple(dict(zip(found.columns, row, strict=True)) for row in found.rows)
        table = Table("answer", self.title, columns, rows, note=self.note)
        return Finding("query", self.title, (table,), signatures={})


ANSWERS = (
    DemoAnswer(
        "Which system scores best?",
        ("scores",),
        """
        pivot (
          select system, regexp_extract(metric, '^\\w+') as metric, score from scores
          where testset = 'apertium/es-en'
        ) on metric using first(score) order by bleu desc
        """,
    ),
    DemoAnswer(
        "What does each part of speech cost under BLEU?",
        ("muler",),
        """
        select feature, avg(muler) as muler, min(muler) as best, max(muler) as worst,
          arg_max(system, muler) as worst_system
        from muler
        where metric = 'bleu' and variant = 'ratio' and feature like 'pos:%' and segments >= 5
        group by feature order by muler desc limit 8
        """,
        "MuLER: 0 where nothing is lost on the feature, 1 where all is; means of all systems.",
    ),
    DemoAnswer(
        "Which words were hard for all of them?",
        ("difficulty_words",),
        "select word, difficulty, count from difficulty_words order by difficulty desc limit 8",
        "1 minus the mean similarity of the best matches in the systems' outputs.",
    ),
    DemoAnswer(
        "Which words of the outputs lower chrF?",
        ("importance",),
        """
        select token, count(*) as count, avg(importance) as importance
        from importance where metric = 'chrf' and side = 'candidate' and length(token) > 1
        group by token having count(*) >= 10 order by importance limit 8
        """,
        "Points of chrF that its segment loses without the word; negative: it gains.",
    ),
    DemoAnswer(
        "What do paraphrased references bring?",
        ("paraphrase_gain",),
        """
        select metric, method, paraphrases, base_score as reference_alone,
          score as with_paraphrases, diversity
        from paraphrase_gain order by metric, paraphrases
        """,
        "Means of all systems. The bundled paraphrases are round trips by the engine that made the"
        " outputs: scores rise for errors that both share, too; people's judgements, which this"
        " example lacks, tell what paraphrases are worth.",
    ),
)


_log = logging.getLogger(__name__)

#: without which the study of the example cannot run
_PACKAGES = ("spacy", "duckdb", "pyarrow")
_PACKAGE = re.compile(r"'package:(\w+)/")
_MORE = """\
examples:
  gnomon demo
  gnomon demo --keep mine     (then change mine/study.toml, and: gnomon run mine/study.toml)
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands, "demo", answers="what gnomon shows, on a bundled example", more=_MORE
    )
    parser.add_argument(
        "--html", default="gnomon-demo.html", metavar="FILE", help="where the report goes"
    )
    parser.add_argument(
        "--keep",
        metavar="FOLDER",
        help="put the study, its texts and its results here, to start from",
    )
    parser.add_argument(
        "--engine", default="pool", metavar="NAME", help="as for gnomon run (default: pool)"
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="processes (default: one per core)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the study, print answers to a few questions, write the report.

    Raises:
        MissingDependencyError: a package that the study needs is not installed.
    """
    from gnomon import studies as study
    from gnomon.cli.studies import write_report

    lacking = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    if lacking:
        raise MissingDependencyError(
            f"the demo needs {' and '.join(lacking)}, not installed here; run: pip install"
            " 'gnomon[spacy,study]', then: gnomon setup en"
        )
    with _study_file(args.keep) as file:
        wanted = _possible(study.read_study(file))
        store, outcome = _run(wanted, args)
        _print_answers(store)
        write_report(store, args.html, quiet=args.quiet)
    if args.keep:
        sys.stdout.write(f"The study, to start from: {file.resolve()}\n")
    sys.stdout.write(f"The report, to open in a browser: {Path(args.html).resolve()}\n")
    for key, said in outcome.failed.items():
        _log.error("%s failed: %s", outcome.labels[key], said)
    return 1 if outcome.failed else 0


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
    """The study without metrics whose models are not installed, which is said."""
    lacking: dict[str, None] = {}
    steps = []
    for step in wanted.steps:
        fine = tuple(spec for spec in step.metrics if _installed(spec))
        lacking |= dict.fromkeys(spec for spec in step.metrics if spec not in fine)
        if fine or not step.metrics:
            steps.append(replace(step, metrics=fine))
    if not steps:
        raise DataError(f"{wanted.path}: no metric of this study can run here")
    if lacking:
        _log.warning(
            "left out, since its model is not installed: %s; run: pip install 'gnomon[models]' %s",
            ", ".join(lacking),
            " ".join(sorted({name for spec in lacking for name in _PACKAGE.findall(spec)})),
        )
    return replace(wanted, steps=tuple(steps))


def _installed(spec: str) -> bool:
    packages = _PACKAGE.findall(spec)
    wanted = [*packages, "torch", "transformers"] if packages else []
    return all(importlib.util.find_spec(name) is not None for name in wanted)


def _run(wanted: Study, args: argparse.Namespace) -> tuple[Store, RunOutcome]:
    from gnomon import studies as study
    from gnomon.cli._progress import stages

    made = study.plan(wanted)
    workers = args.workers if args.engine == "pool" else None
    engine = study.open_engine(args.engine, workers=workers)
    try:
        with stages("running the study", quiet=args.quiet) as progress:
            store = study.Store.open(wanted.store, create=True)
            return store, study.run(made, engine, store=store, progress=progress)
    finally:
        engine.close()


#: methods whose verdicts the demo prints: which system is better, and on which words
_TOLD = ("compare", "muler.score")


def _print_answers(store: Store) -> None:
    """What the study found, and what it says to a few questions in tables."""
    from gnomon import report
    from gnomon import studies as study
    from gnomon.cli.studies import print_found

    told = [one for one in study.verdicts(store) if one.section in _TOLD]
    print_found(sorted(told, key=lambda one: _TOLD.index(one.section)), None)
    sys.stdout.write("\n")
    tables = store.files()
    for answer in ANSWERS:
        found = answer.finding(store) if all(name in tables for name in answer.tables) else None
        if found and found.rows:
            sys.stdout.write(f"{report.render(found, 'text', command='query')}\n")
