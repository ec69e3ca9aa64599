"""``gnomon score``: how good the systems are, under any metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli._options import (
    BARE,
    add_command,
    add_data,
    add_metrics,
    add_output,
    add_page,
    check_outputs,
    emit,
    load_outputs,
    metrics,
    paraphrase_sections,
    show,
    tell,
)

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers

__all__ = ["add", "run"]

_MORE = """\
examples:
  gnomon score ref.txt -i sysA.txt sysB.txt -m bleu chrf
  gnomon score ref1.txt ref2.txt -i sys.txt -m 'bleu(tokenize="intl")' -b
  gnomon score -t newstest2019/de-en -m bleu ter --segments scores.tsv
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands, "score", answers="how good each system is under any metrics", more=_MORE
    )
    add_data(parser)
    add_metrics(parser)
    add_output(parser)
    parser.add_argument("-b", "--score-only", action="store_true", help="print the number only")
    parser.add_argument(
        "-sl", "--sentence-level", action="store_true", help="print a score per segment"
    )
    parser.add_argument(
        "--segments",
        metavar="FILE",
        help="write segment scores: .tsv, .jsonl, .wmt, or .seg.score (mt-metrics-eval)",
    )
    add_page(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Score, print, write segment scores."""
    from gnomon.metrics import score

    chosen, code = metrics(args), args.allow_code
    check_outputs(args, args.segments, args.html)
    testset = load_outputs(args)
    scores = [score(testset, metric, allow_code=code) for metric in chosen]
    if args.segments:
        from gnomon.formats import write_segment_scores

        write_segment_scores(args.segments, scores, testset)
    if args.html:
        from gnomon import report

        page = [report.scores_finding(scores, testset.name), *paraphrase_sections(testset)]
        report.write_html(args.html, page)
    if args.score_only:
        digits = 1 if args.width is None else args.width
        values = [s.segments.ravel() if args.sentence_level else s.system for s in scores]
        emit(args, (f"{value:.{digits}f}\n" for row in values for value in row))
        tell(scores)
    elif args.sentence_level:
        from gnomon import report

        text = report.render_segments(scores, args.format, command="score", digits=args.width)
        emit(args, [text])
        tell(scores if args.format in BARE else ())
    else:
        show(args, scores, "score")
    return 0
