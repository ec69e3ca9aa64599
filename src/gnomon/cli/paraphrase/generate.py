"""``gnomon paraphrase generate``: further references."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli._options import (
    add_command,
    add_data,
    add_output,
    check_outputs,
    load_original,
    show_rows,
)
from gnomon.cli.paraphrase import _generating
from gnomon.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from gnomon.cli._options import Subparsers
    from gnomon.cli._progress import Stages
    from gnomon.findings import Cell
    from gnomon.paraphrase.generation import PlainWork
    from gnomon.testset import TestSet

__all__ = ["add", "run"]

_MORE = """\
methods:
  pseudo        for each system, what other systems said, where a metric likes it (--n of them)
  round-trip    the references translated there and back, by commands that read lines or by models
  variants      the references with one variant of a list for another (U.S. / United States)
with --model, any encoder-decoder that paraphrases:
  beam          the n best of a search
  diverse       of a search in groups that avoid each other's words
  sampled       drawn, from the most probable 80 % of what may come next
  codes         the best under each of the n most probable sentence codes
  random-codes  under n codes drawn for each segment: the control for codes
  output-codes  for each system, under the code of its output
  constrained   one for each n-gram that most systems have and the reference lacks

examples:
  gnomon paraphrase generate -t wmt19/de-en --method pseudo --n 3 --save pseudo.jsonl
  gnomon paraphrase generate ref.txt --method round-trip --save there-and-back.jsonl \\
    --forward 'apertium -u -f line eng-spa' --back 'apertium -u -f line spa-eng'
  gnomon paraphrase generate ref.txt --method codes --n 5 --model FOLDER --save codes.jsonl
  gnomon paraphrase generate -t wmt19/de-en --method constrained --model FOLDER --save c.jsonl
"""
_METHODS = ("pseudo", "round-trip", "variants", *_generating.METHODS)


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands, "generate", answers="how to get further references, as JSONL", more=_MORE
    )
    add_data(parser)
    add_output(parser)
    parser.add_argument("--method", choices=_METHODS, required=True)
    parser.add_argument("--save", metavar="FILE", required=True, help="the paraphrases: .jsonl")
    parser.add_argument(
        "--resume", action="store_true", help="keep what the file holds, make what is missing"
    )
    _add_methods(parser)
    _generating.add_models(parser)
    group = parser.add_argument_group("what is kept")
    group.add_argument("--keep-copies", action="store_true", help="also of a reference")
    group.add_argument("--keep-duplicates", action="store_true")
    group.add_argument("--filter", metavar="METRIC", help="judge them against the references")
    group.add_argument(
        "--least", type=float, metavar="X", help="least score of --filter (or of pseudo --quality)"
    )
    group.add_argument("--allow-code", action="store_true", help="let python(...) run code")
    made = "finished paraphrases are kept; the same command with --resume makes the others"
    parser.set_defaults(run=run, kept=made)


def run(args: argparse.Namespace) -> int:
    """Make, filter, write; say how many."""
    from gnomon.cli._progress import stages

    _check(args)
    check_outputs(args, args.save)
    with stages(quiet=args.quiet) as progress:
        testset = _testset(args)
        if args.method in _generating.METHODS or args.forward_model:
            progress.tick("reading")
            _generating.show(args, *_generating.make(args, testset, progress))
            return 0
        row = _made(args, testset, progress)
    show_rows(args, "paraphrase generate", f"Paraphrases in {args.save}", [row])
    return 0


def _made(args: argparse.Namespace, testset: TestSet, progress: Stages) -> dict[str, Cell]:
    """Write paraphrases that need no model; the counts."""
    from gnomon.paraphrase import generation

    work = _work(args, testset)
    progress.tick("reading")
    counts = generation.save_generated(
        args.save, work, resume=args.resume, batch=args.batch or 500, progress=progress
    )
    names = ("paraphrases", "segments", "empty", "copies", "duplicates", "inadequate")
    return {"method": args.method, **{name: counts[name] for name in names}}


def _work(args: argparse.Namespace, testset: TestSet) -> PlainWork:
    from gnomon import paraphrase
    from gnomon.paraphrase import generation

    kept = generation.Kept(
        copies=args.keep_copies,
        duplicates=args.keep_duplicates,
        metric=args.filter,
        least=args.least if args.filter else None,
        allow_code=args.allow_code,
    )
    if args.method == "round-trip":
        trip = (args.forward, args.back)
        return generation.by_commands(testset, *trip, timeout=args.timeout, kept=kept)
    if args.method == "variants":
        return generation.by_variants(testset, paraphrase.read_variants(args.variants), kept=kept)
    return generation.by_pool(
        testset,
        args.quality,
        n=args.n or 1,
        least=None if args.filter else args.least,
        share=args.share,
        shared=args.shared,
        kept=kept,
    )


def _add_methods(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("pseudo")
    group.add_argument(
        "--quality", default="chrf", metavar="METRIC", help="which outputs are good (chrf)"
    )
    group.add_argument(
        "--share", type=float, default=1.0, metavar="X", help="outputs of the best X of the systems"
    )
    group.add_argument(
        "--shared", action="store_true", help="the same for all systems, and so each its own, too"
    )
    group = parser.add_argument_group("round-trip")
    group.add_argument(
        "--forward", metavar="COMMAND", help="reads lines, writes their translations"
    )
    group.add_argument(
        "--back", metavar="COMMAND", help="likewise, into the language of references"
    )
    group.add_argument("--timeout", type=float, default=600.0, metavar="SECONDS", help="(600)")
    group.add_argument(
        "--batch", type=int, metavar="N", help="segments at once (500; with models 32)"
    )
    group.add_argument("--forward-model", metavar="MODEL", help="a folder or a name: translates")
    group.add_argument("--back-model", metavar="MODEL", help="likewise, back")
    group = parser.add_argument_group("variants, constrained")
    group.add_argument("--variants", metavar="FILE", help="lines such as: U.S. / United States")


def _check(args: argparse.Namespace) -> None:
    by_models = bool(args.forward_model or args.back_model)
    needed = {"round-trip": () if by_models else ("forward", "back"), "variants": ("variants",)}
    for option in needed.get(args.method, ()):
        if not getattr(args, option):
            raise UsageError(f"--method {args.method} needs --{option}")
    owners = {
        "forward": () if by_models else ("round-trip",),
        "back": () if by_models else ("round-trip",),
        "variants": ("variants", "constrained"),
    }
    for option, methods in owners.items():
        if getattr(args, option) and args.method not in methods:
            said = f"--method {' or '.join(methods)}" if methods else "commands, not models"
            raise UsageError(f"--{option} belongs to {said}; the method is {args.method}")
    _generating.check(args)
    if args.save.endswith(".gz") or not args.save.endswith((".jsonl", ".ndjson")):
        raise UsageError(f"--save {args.save}: give a file name that ends in .jsonl")
    if args.filter and args.least is None:
        raise UsageError("--filter METRIC needs the least score that it lets through: --least X")


def _testset(args: argparse.Namespace) -> TestSet:
    outputs = args.method == "pseudo" or _generating.needs_outputs(args)
    if outputs and not (args.test_set or args.table or args.input):
        other = "; or name the phrases: --constraints FILE, --variants FILE"
        raise UsageError(
            f"--method {args.method} reads the outputs of systems: give them with -i FILE ... or a"
            f" test set (-t DIR){other if args.method == 'constrained' else ''}"
        )
    if outputs or args.test_set or args.table or args.input:
        return load_original(args)
    from gnomon.testset import TestSet

    if not args.refs:
        raise UsageError("no references: name files, or a test set with -t DIR")
    made = TestSet.from_files(
        references=args.refs, systems=[], source=args.source, language_pair=args.language_pair
    )
    return made if args.first is None else made.select(segments=range(args.first))
