"""``gnomon muler``: what the metric charges each linguistic feature for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich_argparse import RawDescriptionRichHelpFormatter

from gnomon.cli._options import (
    add_command,
    add_data,
    add_metrics,
    add_output,
    check_outputs,
    load_outputs,
    metrics,
    show,
)
from gnomon.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from gnomon.annotate import Labels
    from gnomon.cache import Cache
    from gnomon.cli._options import Subparsers

__all__ = ["add", "run_score"]

_MORE = """\
examples:
  gnomon muler score ref.txt -i sysA.txt sysB.txt -m bleu -l en --features 'pos:*' 'ent:*'
  gnomon muler score -t newstest2019/de-en --features pos:NOUN ent:PERSON --html report.html
  gnomon muler score ref.txt -i sys.txt --features lex:food --lexicon food=food.txt
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands of the method."""
    group = commands.add_parser(
        "muler",
        help="which word classes, names and forms cost you BLEU (or any metric)",
        formatter_class=RawDescriptionRichHelpFormatter,
    )
    inner = group.add_subparsers(title="commands", metavar="COMMAND", required=True)
    parser = add_command(
        inner,
        "score",
        answers="which word classes, names and forms cost each system its score",
        more=_MORE,
    )
    add_data(parser)
    add_metrics(parser)
    add_output(parser)
    _add_features(parser)
    _add_scoring(parser)
    parser.set_defaults(run=run_score)


def run_score(args: argparse.Namespace) -> int:
    """Annotate, mask, score, print, write the page."""
    from gnomon import report
    from gnomon.cli._progress import stages
    from gnomon.muler import muler

    lexicons, patterns = _pairs(args.lexicon, "--lexicon"), _pairs(args.pattern, "--pattern")
    chosen, labels = metrics(args), _labels(args.labels)
    check_outputs(args, args.html)
    testset = load_outputs(args)
    with stages(quiet=args.quiet) as progress:
        progress.tick("reading")
        finding = muler(
            testset,
            chosen,
            args.features or _default_features(args, labels),
            tagger=args.tagger,
            lexicons=lexicons,
            patterns=patterns,
            labels=labels,
            variants=args.variant,
            by=args.by,
            overlap=args.overlap,
            granularity=args.granularity,
            examples=args.examples if args.html else 0,
            allow_code=args.allow_code,
            cache=_cache(args),
            progress=progress,
        )
        if args.html:
            report.write_html(args.html, [finding], title=f"{finding.title} ({testset.name})")
        progress.tick("reporting")
    show(args, finding, "muler score")
    return 0


def _add_features(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("features")
    group.add_argument(
        "--features",
        nargs="+",
        metavar="FEATURE",
        help="pos:NOUN ent:PERSON morph:Gender=Fem dep:nsubj 'dep:long>=5' lex:NAME re:NAME;"
        " wildcards 'pos:*' (default: 'pos:*' 'ent:*', and the lists and patterns given)",
    )
    group.add_argument("--tagger", metavar="NAME", help="spacy:NAME (default: one for -l)")
    group.add_argument(
        "--lexicon", action="append", default=[], metavar="NAME=FILE", help="a word list"
    )
    group.add_argument(
        "--pattern", action="append", default=[], metavar="NAME=REGEX", help="a regular expression"
    )
    group.add_argument(
        "--labels", nargs="+", default=[], metavar="FILE", help="your labels: .conllu or .jsonl"
    )
    group.add_argument("--no-cache", action="store_true", help="neither use nor keep annotations")


def _add_scoring(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("scoring")
    group.add_argument(
        "--variant",
        nargs="+",
        choices=("ratio", "segment-clipped"),
        default=["ratio", "segment-clipped"],
        help="which definitions of MuLER (default: both, in rows of their own)",
    )
    group.add_argument("--by", metavar="KIND", help="slices: domain, document, length, or a label")
    group.add_argument("--overlap", choices=("any", "majority", "inside"), default="any")
    group.add_argument("--granularity", choices=("token", "span"), default="token")
    group.add_argument("--html", metavar="FILE", help="write a report that opens by double click")
    group.add_argument(
        "--examples",
        type=int,
        default=3,
        metavar="N",
        help="segments shown in the report per feature and system (default: 3)",
    )


def _pairs(items: Sequence[str], option: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not (name and equals and value):
            raise UsageError(f"{option} takes NAME=VALUE; got {item!r}")
        if name in found:
            raise UsageError(f"{option} names {name!r} twice")
        found[name] = value
    return found


def _default_features(args: argparse.Namespace, labels: Labels | None) -> list[str]:
    """What was given of one's own; parts of speech and entities where a tagger can be had."""
    own = ["lex:*"] * bool(args.lexicon) + ["re:*"] * bool(args.pattern)
    own += [f"{kind}:*" for kind in sorted(labels.kinds)] if labels else []
    if args.tagger and not args.tagger.startswith("spacy:"):
        from gnomon.annotate import describe

        return [*(f"{kind}:*" for kind in describe(args.tagger)), *own]
    if own and not (args.tagger or args.language_pair):
        return own
    return list(dict.fromkeys(["pos:*", "ent:*", *own]))


def _labels(paths: Sequence[str]) -> Labels | None:
    if not paths:
        return None
    from gnomon.annotate import Labels

    return Labels.read(paths)


def _cache(args: argparse.Namespace) -> Cache | None:
    if args.no_cache:
        return None
    from gnomon import cache

    return cache.Cache(cache.default_path())
