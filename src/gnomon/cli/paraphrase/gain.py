"""``gnomon paraphrase gain``: what paraphrased references bring."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from gnomon.cli._options import (
    add_command,
    add_data,
    add_metrics,
    add_output,
    add_page,
    check_outputs,
    load_original,
    metrics,
    show,
)
from gnomon.errors import MissingFileError, UsageError

if TYPE_CHECKING:
    from gnomon.cli._options import Subparsers
    from gnomon.paraphrase import Parses
    from gnomon.testset import Paraphrase, TestSet

__all__ = ["add", "run"]

_MORE = """\
Every metric scores with the references as they are and with n paraphrases of one method beside
them, and both are held against people's judgements: over systems (Pearson's r, Williams's test,
decisions) and over segments (rankings, or scores).

With several test sets (-t), names of files hold {pair}, which stands for each one's language pair.

examples:
  gnomon paraphrase gain -t wmt19/de-en --paraphrases beam.jsonl codes.jsonl -m bleu meteor chrf
  gnomon paraphrase gain ref.txt -i *.sys.txt --human de-en.da-z.sys.tsv --paraphrases ref.p?.txt
  gnomon paraphrase gain -t wmt19/de-en wmt19/lt-en --paraphrases '{pair}.beam.jsonl' --html g.html
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "gain",
        answers="what paraphrases bring: agreement with people with and without them",
        more=_MORE,
    )
    add_data(parser, several=True)
    add_metrics(parser)
    add_output(parser)
    _add_study(parser)
    add_page(parser)
    # here n are several numbers
    for action in parser._actions:  # noqa: SLF001  # argparse has no public way to change an option
        if action.dest == "n":
            action.nargs, action.default = "+", [1, 5, 20]
            action.help = "numbers of paraphrases of each method (default: 1 5 20)"
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read, score, judge, print, write the page."""
    from gnomon import paraphrase, report
    from gnomon.cache import Cache, default_path
    from gnomon.cli._progress import stages

    chosen = metrics(args)
    _check(args)
    check_outputs(args, args.html)
    with stages(quiet=args.quiet) as progress:
        sets, kinds = _sets(args)
        progress.tick("reading")
        finding = paraphrase.gain(
            sets,
            metrics=chosen,
            n=args.n,
            methods=args.methods,
            human=kinds,
            adequacy=None if args.adequacy == "none" else args.adequacy,
            trees=_trees(args, [testset for testset, _ in sets]),
            parse=args.parse,
            parser=args.tagger if args.parse else None,
            language=args.language_pair if args.parse and not args.tagger else None,
            over=args.over,
            resamples=args.resamples,
            confidence=args.confidence,
            seed=args.seed,
            allow_code=args.allow_code,
            cache=None if args.no_cache or not args.parse else Cache(default_path()),
            progress=progress,
        )
        if args.html:
            report.write_html(args.html, [finding])
        progress.tick("reporting")
    show(args, finding, "paraphrase gain")
    return 0


def _add_study(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("judgements and intervals")
    group.add_argument(
        "--human",
        nargs="+",
        default=[],
        metavar="KIND|FILE",
        help="kinds of human scores (da-z, darr), or files of them (default: the only kind)",
    )
    group.add_argument(
        "--over",
        choices=("segments", "systems"),
        default="segments",
        help="what is resampled for intervals of the gain over systems (default: segments)",
    )
    group.add_argument(
        "--resamples", type=int, default=1000, metavar="N", help="(default: 1000); 0: no intervals"
    )
    group.add_argument("--confidence", type=float, default=0.95, metavar="X", help="(.95)")
    group.add_argument("--seed", type=int, default=0, metavar="N", help="(0)")
    group = parser.add_argument_group("the paraphrases themselves")
    group.add_argument(
        "--adequacy",
        default="chrf",
        metavar="METRIC",
        help="of them against the references; none: not measured (default: chrf)",
    )
    group.add_argument(
        "--trees", nargs="+", default=[], metavar="FILE", help="of them, in brackets: ref.NAME.ptb"
    )
    group.add_argument("--parse", action="store_true", help="make trees by spaCy (syntactic)")
    group.add_argument(
        "--tagger", metavar="NAME", help="spacy:NAME (default: one for the language)"
    )
    group.add_argument("--no-cache", action="store_true", help="keep no trees for later")


def _check(args: argparse.Namespace) -> None:
    if not args.paraphrases:
        raise UsageError("a gain needs paraphrases: name files with --paraphrases FILE")
    if args.no_original:
        raise UsageError("a gain compares with the original references; leave out --no-original")
    several = len(args.test_set or ()) > 1
    if args.tagger and not args.parse:
        raise UsageError("--tagger makes trees, which takes --parse")
    if several and not all("{pair}" in name for name in (*args.paraphrases, *args.trees)):
        raise UsageError(
            "-t names several test sets, and each has its own paraphrases: write {pair} where file"
            " names differ, as in --paraphrases '{pair}.beam.jsonl'; likewise for --trees"
        )


def _sets(
    args: argparse.Namespace,
) -> tuple[list[tuple[TestSet, tuple[Paraphrase, ...]]], tuple[str, ...]]:
    """Test sets with judgements and paraphrases, and the kinds of judgement that were named."""
    from pathlib import Path

    from gnomon.formats import read_paraphrases

    files = [name for name in args.human if Path(name).is_file()]
    for name in args.human:
        if name not in files and ("/" in name or name.endswith((".tsv", ".csv", ".score", ".gz"))):
            raise MissingFileError(f"--human {name}: there is no such file")
    found = []
    for name in args.test_set or [None]:
        one = argparse.Namespace(**{**vars(args), "test_set": name})
        testset = load_original(one)
        for file in files:
            testset = testset.with_human(file)
        pair = testset.language_pair or testset.name
        paths = [path.replace("{pair}", pair) for path in args.paraphrases]
        found.append((testset, read_paraphrases(paths, segments=testset.segments)))
    return found, tuple(name for name in args.human if name not in files)


def _trees(args: argparse.Namespace, testsets: list[TestSet]) -> list[dict[str, Parses]] | None:
    """The trees of each test set's paraphrases, cut to the segments that are asked for."""
    from gnomon import paraphrase

    if not args.trees:
        return None
    found = []
    for testset in testsets:
        pair = testset.language_pair or testset.name
        made = paraphrase.tree_sets([path.replace("{pair}", pair) for path in args.trees])
        found.append({name: parses[: args.first] for name, parses in made.items()})
    return found
