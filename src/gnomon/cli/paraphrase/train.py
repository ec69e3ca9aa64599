"""``gnomon paraphrase train``: a model that paraphrases, from pairs."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.cli._options import add_command, add_output, show_rows
from gnomon.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from gnomon.cli._options import Subparsers
    from gnomon.paraphrase.training import CodeKind, Filters, Recipe, SentencePair

__all__ = ["add", "run"]

_MORE = """\
A line of a file is: source TAB target, or source TAB target TAB sentence code. The best model so
far is in the folder from the first validation on. Ctrl-C is safe: --resume goes on from the last
checkpoint, and ends in the same weights. Codes are those of a folder that 'gnomon paraphrase codes'
made; pairs without a code are dropped.

examples:
  gnomon paraphrase train pairs.tsv --save paraphraser --chrf 30 90 --max-minutes 60
  gnomon paraphrase train pairs.tsv --save paraphraser --dry-run
  gnomon paraphrase train pairs.tsv --save paraphraser --resume --max-steps 20000
  gnomon paraphrase train pairs.tsv --codes codes/pairs.codes.txt --save coded
  gnomon paraphrase train coded-pairs.tsv --codes-folder codes --save coded
"""
_INTEGERS = {
    "vocabulary": "pieces (8000)",
    "dimensions": "of the vectors (256)",
    "encoder-layers": "(4)",
    "decoder-layers": "(4)",
    "heads": "of attention (4)",
    "feed-forward": "width of the layers between (1024)",
    "limit": "most pieces of a side (256)",
    "warmup": "steps of growing learning rate (500)",
    "batch-size": "pairs of a batch, on each device (128)",
    "accumulate": "batches per step (1)",
    "dev": "pairs held out (1000)",
    "bleu-pairs": "of them, decoded for BLEU (200)",
    "validate-every": "steps between validations and checkpoints (500)",
    "patience": "validations without a better one, then stop (10)",
    "average": "last checkpoints whose mean is tried (1)",
    "epochs": "passes over the data at most",
    "max-steps": "steps at most",
    "seed": "(12345)",
}
_FLOATS = {
    "dropout": "(0.1)",
    "label-smoothing": "(0.1)",
    "learning-rate": "the highest (7e-4)",
    "clip": "greatest norm of the gradient (1)",
    "max-minutes": "minutes at most",
}


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands, "train", answers="how to get a model that paraphrases", more=_MORE
    )
    parser.add_argument("pairs", nargs="+", metavar="TSV", help="pairs of sentences")
    parser.add_argument("--save", metavar="FOLDER", required=True, help="the model")
    parser.add_argument("--resume", action="store_true", help="go on with the run in the folder")
    parser.add_argument("--dry-run", action="store_true", help="count, and train nothing")
    parser.add_argument("--device", metavar="NAME", help="cpu or cuda (a GPU if there is one)")
    add_output(parser)
    _add_codes(parser)
    _add_filters(parser)
    _add_recipe(parser)
    last = "the last checkpoint is kept; the same command with --resume goes on from there"
    parser.set_defaults(run=run, kept=last)


def run(args: argparse.Namespace) -> int:
    """Read, filter, train; say what came of it."""
    from gnomon.cli._progress import stages
    from gnomon.paraphrase import training

    recipe, filters = _recipe(args), _filters(args)
    with stages(quiet=args.quiet) as progress:
        pairs = training.read_pairs(args.pairs, codes=args.codes)
        codes = _codes(args, pairs)
        progress.tick("reading")
        kept, dropped = training.select(pairs, filters)
        progress.tick("filtering")
        if args.dry_run:
            found = training.plan(kept, recipe=recipe, codes=codes)._asdict()
            row = {"read": len(pairs), **dropped, **found}
            show_rows(args, "paraphrase train", "What would be trained", [row])
            return 0
        done = training.train(
            kept,
            args.save,
            recipe=recipe,
            codes=codes,
            device=args.device,
            resume=args.resume,
            progress=progress,
        )
    if os.environ.get("RANK", "0") != "0":  # of several processes, the first one answers
        return 0
    row = {"read": len(pairs), **dropped, **done._asdict(), "folder": str(done.folder)}
    show_rows(args, "paraphrase train", f"The paraphraser in {args.save}", [row])
    return 0


def _add_codes(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("sentence codes")
    group.add_argument("--codes", metavar="FILE", help="one per pair, in place of a third column")
    group.add_argument(
        "--codes-folder",
        metavar="FOLDER",
        help="where they come from: their kind, number and identity (default: that of --codes, if"
        " codes.json is there)",
    )
    group.add_argument(
        "--code-kind",
        choices=("semantic", "syntactic", "random"),
        help="what they stand for, without a folder",
    )
    group.add_argument("--code-count", type=int, metavar="N", help="(the highest, and 1)")
    group.add_argument("--code-identity", metavar="HASH", help="of the folder with the clusters")


def _add_filters(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("which pairs are kept")
    group.add_argument("--keep-duplicates", action="store_true")
    group.add_argument("--keep-copies", action="store_true", help="pairs of equal sides")
    group.add_argument("--words", type=int, default=100, metavar="N", help="of a side (100)")
    group.add_argument(
        "--first-only", action="store_true", help="of each source, its first paraphrase"
    )
    group.add_argument(
        "--chrf",
        type=float,
        nargs=2,
        metavar=("LEAST", "MOST"),
        help="of the source against the target, such as 30 90",
    )
    group.add_argument("--ratio", type=float, metavar="X", help="of lengths in words, at most")


def _add_recipe(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("recipe")
    for name, text in _INTEGERS.items():
        group.add_argument(f"--{name}", type=int, metavar="N", help=text)
    for name, text in _FLOATS.items():
        group.add_argument(f"--{name}", type=float, metavar="X", help=text)
    group.add_argument("--stop-on", choices=("bleu", "loss"), help="(bleu)")
    group.add_argument("--precision", choices=("fp32", "bf16", "fp16"), help="(fp32)")


def _recipe(args: argparse.Namespace) -> Recipe:
    from gnomon.paraphrase.training import Recipe

    names = [one.name for one in fields(Recipe)]
    return Recipe(**{n: getattr(args, n) for n in names if getattr(args, n) is not None})


def _filters(args: argparse.Namespace) -> Filters:
    from gnomon.paraphrase.training import Filters

    return Filters(
        duplicates=args.keep_duplicates,
        copies=args.keep_copies,
        words=args.words,
        first_only=args.first_only,
        chrf=tuple(args.chrf) if args.chrf else None,
        ratio=args.ratio,
    )


def _codes(args: argparse.Namespace, pairs: Sequence[SentencePair]) -> CodeKind | None:
    from gnomon.paraphrase.training import CodeKind

    codes = [pair.code for pair in pairs if pair.code is not None]
    said = {name: getattr(args, f"code_{name}") for name in ("kind", "count", "identity")}
    given = {name: value for name, value in said.items() if value is not None}
    if not codes:
        if given or args.codes_folder:
            raise UsageError(
                "--codes-folder, --code-kind and the like need codes: a third column, or --codes"
                " FILE"
            )
        return None
    if folder := args.codes_folder or _folder_beside(args.codes):
        return _agreeing(CodeKind.of(folder), given, folder)
    if args.code_kind is None:
        raise UsageError(
            "the pairs have codes; say where they come from with --codes-folder FOLDER, or what"
            " they stand for with --code-kind"
        )
    return CodeKind(args.code_kind, args.code_count or max(codes) + 1, args.code_identity)


def _folder_beside(codes: str | None) -> Path | None:
    """The folder of a file of codes, if it is one that 'paraphrase codes' made."""
    beside = None if codes is None else Path(codes).parent
    return beside if beside and (beside / "codes.json").is_file() else None


def _agreeing(codes: CodeKind, given: Mapping[str, object], folder: str | Path) -> CodeKind:
    for name, value in given.items():
        if value != getattr(codes, name):
            raise UsageError(
                f"--code-{name} {value}, and the codes in {folder} have the {name}"
                f" {getattr(codes, name)}; leave it out, or name the folder that they come from"
                " with --codes-folder"
            )
    return codes
