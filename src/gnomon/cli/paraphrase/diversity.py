"""``gnomon paraphrase diversity``: how different paraphrases are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli._options import (
    add_command,
    add_data,
    add_output,
    check_outputs,
    load_original,
    show,
)
from gnomon.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers
    from gnomon.paraphrase import Wordings
    from gnomon.testset import Paraphrase

__all__ = ["add", "run"]

#: gnomon.paraphrase.MEASURES, said again because help must not load what measures
_MEASURES = ("lexical", "lexical-tokens", "syntactic")
_MORE = """\
Files that differ in a number at the end are one set: ref.human1.txt and ref.human2.txt are "human".
In JSONL a method is a set. The outputs of two systems or more are a set, too.

examples:
  gnomon paraphrase diversity ref.human1.txt ref.human2.txt ref.human3.txt
  gnomon paraphrase diversity -t wmt19/de-en --paraphrases made.jsonl -l en --parse
  gnomon paraphrase diversity --trees ref.human1.ptb ref.human2.ptb
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "diversity",
        answers="how different paraphrases are, in words and in structure",
        more=_MORE,
    )
    add_data(parser)
    add_output(parser)
    _add_measures(parser)
    parser.add_argument("--html", metavar="FILE", help="write a page with wordings side by side")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read, measure, print, write the page."""
    from gnomon import paraphrase, report
    from gnomon.cache import Cache, default_path
    from gnomon.cli._progress import stages

    check_outputs(args, args.html)
    if args.parse and not (args.tagger or args.language_pair):
        raise UsageError("--parse needs a language (-l en) or a parser (--tagger spacy:NAME)")
    with stages(quiet=args.quiet) as progress:
        sets = _sets(args)
        trees = {
            name: parses[: args.first] for name, parses in paraphrase.tree_sets(args.trees).items()
        }
        progress.tick("reading")
        finding = paraphrase.diversity(
            sets,
            trees=trees,
            measures=args.measures,
            parser=args.tagger if args.parse else None,
            language=args.language_pair if args.parse else None,
            tokenizer=args.tokenize,
            decay=args.decay,
            words=not args.no_words,
            lone=args.lone,
            cache=None if args.no_cache or not args.parse else Cache(default_path()),
            progress=progress,
        )
        if args.html:
            report.write_html(args.html, [finding])
        progress.tick("reporting")
    show(args, finding, "paraphrase diversity")
    return 0


def _add_measures(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("measures")
    group.add_argument("--measures", nargs="+", choices=_MEASURES, default=list(_MEASURES))
    group.add_argument("-tok", "--tokenize", default="13a", metavar="NAME", help="(default: 13a)")
    group.add_argument(
        "--trees",
        nargs="+",
        default=[],
        metavar="FILE",
        help="constituency trees, one in brackets per line: ref.NAME.ptb",
    )
    group.add_argument(
        "--parse", action="store_true", help="make trees from dependencies, by spaCy"
    )
    group.add_argument("--tagger", metavar="NAME", help="spacy:NAME (default: one for -l)")
    group.add_argument("--no-cache", action="store_true", help="keep no trees for later")
    group.add_argument(
        "--decay", type=float, default=0.4, metavar="X", help="lambda of the tree kernel (.4)"
    )
    group.add_argument("--no-words", action="store_true", help="trees end at parts of speech")
    group.add_argument(
        "--lone",
        choices=("zero", "skip"),
        default="zero",
        help="a segment with fewer than two trees counts 0, or is left out (default: zero)",
    )


def _sets(args: argparse.Namespace) -> dict[str, Wordings]:
    from gnomon import paraphrase
    from gnomon.formats import read_systems

    if args.table or args.test_set:
        testset = load_original(args)
        return paraphrase.sets_of(testset, _chosen(args, testset.segments))
    if not (args.refs or args.paraphrases or args.input or args.trees):
        raise UsageError(
            "nothing to compare: name files of paraphrases (ref.NAME1.txt ref.NAME2.txt, or"
            " --paraphrases FILE.jsonl), a test set (-t DIR) or trees (--trees FILE.ptb)"
        )
    sets = paraphrase.wordings_of(_chosen(args, None))
    if args.input:
        outputs = list(zip(*read_systems(args.input).values(), strict=True))
        sets |= {paraphrase.SYSTEMS: outputs}
    return {name: groups[: args.first] for name, groups in sets.items()}


def _chosen(args: argparse.Namespace, segments: int | None) -> list[Paraphrase]:
    from gnomon.formats import read_paraphrases
    from gnomon.paraphrase import first_of

    files = [*args.refs, *(args.paraphrases or ())]
    return first_of(read_paraphrases(files, segments=segments), n=args.n, methods=args.methods)
