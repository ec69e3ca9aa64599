"""``gnomon paraphrase generate``: further references."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self

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
    from collections.abc import Iterator, Sequence

    from gnomon.cli._options import Subparsers
    from gnomon.cli._progress import Stages
    from gnomon.findings import Cell
    from gnomon.testset import Paraphrase, TestSet

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
    parser.set_defaults(run=run)


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
    from gnomon import paraphrase

    done = _done(args, testset)
    progress.tick("reading")
    dropped = dict.fromkeys(("empty", "copies", "duplicates", "inadequate"), 0)
    count, segments = len(done), {one.segment for one in done}
    with _Appended(args.save, done) as file:
        for made in _batches(args, testset, segments.copy()):
            found = paraphrase.filtered(
                testset,
                made,
                copies=not args.keep_copies,
                duplicates=not args.keep_duplicates,
                metric=args.filter,
                least=args.least if args.filter else None,
                allow_code=args.allow_code,
            )
            file.add(found.kept)
            count += len(found.kept)
            segments |= {one.segment for one in found.kept}
            dropped = {name: dropped[name] + getattr(found, name) for name in dropped}
            progress.tick("making")
    return {"method": args.method, "paraphrases": count, "segments": len(segments), **dropped}


class _Appended:
    """A file that grows batch by batch, so that what was made outlives an interruption."""

    def __init__(self, path: str, done: Sequence[Paraphrase]) -> None:
        from gnomon.formats import write_paraphrases

        write_paraphrases(path, done)
        self._path = Path(path)

    def __enter__(self) -> Self:
        self._file = self._path.open("a", encoding="utf-8", newline="\n")
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, paraphrases: Sequence[Paraphrase]) -> None:
        from gnomon.formats import to_json

        self._file.writelines(to_json(one) + "\n" for one in paraphrases)
        self._file.flush()


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
    if outputs or args.test_set or args.table or args.input:
        return load_original(args)
    from gnomon.testset import TestSet

    if not args.refs:
        raise UsageError("no references: name files, or a test set with -t DIR")
    made = TestSet.from_files(
        references=args.refs, systems=[], source=args.source, language_pair=args.language_pair
    )
    return made if args.first is None else made.select(segments=range(args.first))


def _done(args: argparse.Namespace, testset: TestSet) -> list[Paraphrase]:
    """What the file holds already; a last line that an interruption cut off is dropped."""
    from gnomon.formats import read_lines, read_paraphrases, write_lines

    if not (args.resume and Path(args.save).is_file()):
        return []
    lines = read_lines(args.save)
    if lines and not lines[-1].endswith("}"):
        write_lines(args.save, lines[:-1])
    return list(read_paraphrases([args.save], segments=testset.segments))


def _batches(
    args: argparse.Namespace, testset: TestSet, done: set[int]
) -> Iterator[Sequence[Paraphrase]]:
    from gnomon import paraphrase

    if args.method == "round-trip":
        yield from paraphrase.round_trip(
            testset,
            args.forward,
            args.back,
            timeout=args.timeout,
            batch=args.batch or 500,
            skip=done,
        )
        return
    if args.method == "variants":
        made = paraphrase.variant_paraphrases(testset, paraphrase.read_variants(args.variants))
    else:
        made = paraphrase.pseudo_references(
            testset,
            args.quality,
            n=args.n or 1,
            least=None if args.filter else args.least,
            share=args.share,
            shared=args.shared,
            allow_code=args.allow_code,
        )
    yield [one for one in made if one.segment not in done]
