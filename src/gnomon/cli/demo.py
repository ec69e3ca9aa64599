"""``gnomon demo``: the main job on the bundled example."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.cli._options import add_command

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers
    from gnomon.findings import Finding
    from gnomon.testset import TestSet

__all__ = ["add", "run"]

_SAME_ENGINE = (
    "the bundled paraphrases are round trips by the engine that made the outputs: scores rise for"
    " errors that both share, too; people's judgements, which this example lacks, tell what"
    " paraphrases are worth"
)


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(commands, "demo", answers="what gnomon shows, on a bundled example")
    parser.add_argument(
        "--html", default="gnomon-demo.html", metavar="FILE", help="where the report goes"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run MuLER and score with paraphrases on the bundled example, and write the report."""
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
        wider = _paraphrased(testset)
        title = "gnomon demo: Spanish-English by Apertium"
        report.write_html(args.html, [finding, *wider], title=title)
        progress.tick("reporting")
    sys.stdout.write(report.render(finding, "text", command="muler score") + "\n")
    sys.stdout.write(report.render(wider[0], "text", command="paraphrase gain"))
    sys.stdout.write(f"\nThe report, to open in a browser: {Path(args.html).resolve()}\n")
    return 0


def _paraphrased(testset: TestSet) -> list[Finding]:
    """Scores with and without the bundled paraphrases, and these side by side."""
    from gnomon import example, paraphrase
    from gnomon.formats import read_paraphrases

    made = read_paraphrases(example.paraphrases(), segments=testset.segments)
    kept = paraphrase.filtered(testset, made).kept
    gained = paraphrase.gain(testset, kept, ["bleu", "chrf"], n=[1, 2, 4], resamples=0)
    used = paraphrase.paraphrases_used(testset.with_paraphrases(kept))
    found = replace(gained, notices=(*gained.notices, _SAME_ENGINE))
    return [found, *([] if used is None else [used])]
