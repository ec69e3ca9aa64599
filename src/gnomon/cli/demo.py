"""``gnomon demo``: the main job on the bundled example."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.cli._options import add_command

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers

__all__ = ["add", "run"]


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(commands, "demo", answers="what gnomon shows, on a bundled example")
    parser.add_argument(
        "--html", default="gnomon-demo.html", metavar="FILE", help="where the report goes"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run MuLER on the bundled example and write the report."""
    from gnomon import cache, example, report
    from gnomon.cli._progress import stages
    from gnomon.metrics import score
    from gnomon.muler import muler
    from gnomon.testset import TestSet

    testset = TestSet.read(example.path(), language_pair="es-en")
    scores = [score(testset, metric) for metric in ("bleu", "chrf", "ter")]
    sys.stdout.write(report.render(scores, "text", command="score") + "\n")
    with stages(quiet=args.quiet) as progress:
        finding = muler(
            testset,
            ["bleu", "chrf"],
            ["pos:*", "ent:*", "morph:Tense=*", "morph:Number=*", "re:number"],
            patterns={"number": r"\d+(?:[.,]\d+)*"},
            cache=cache.Cache(cache.default_path()),
            progress=progress,
        )
        report.write_html(args.html, [finding], title="gnomon demo: Spanish-English by Apertium")
        progress.tick("reporting")
    sys.stdout.write(report.render(finding, "text", command="muler score"))
    sys.stdout.write(f"\nThe report, to open in a browser: {Path(args.html).resolve()}\n")
    return 0
