"""Codes of outputs, and trees of them, as commands read them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import LengthMismatchError, UnknownNameError, UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from gnomon.cli._progress import Stages
    from gnomon.formats import Tree
    from gnomon.paraphrase.codes import SentenceCoder
    from gnomon.testset import TestSet

__all__ = ["add_coder", "coder", "plain_name"]


def add_coder(group: argparse._ArgumentGroup) -> None:
    """Add what finds the codes of outputs."""
    group.add_argument(
        "--codes", metavar="FOLDER", help="output-codes: the codes that the model was trained with"
    )
    group.add_argument(
        "--codes-model", metavar="MODEL", help="where the encoder of semantic codes lies now"
    )
    group.add_argument(
        "--parser", metavar="NAME", help="of syntactic codes that were made from given trees"
    )
    group.add_argument(
        "--output-trees",
        nargs="+",
        metavar="FILE",
        help="or trees of the outputs, one file per system: SYSTEM.ptb, or SYSTEM=FILE",
    )


def coder(args: argparse.Namespace, testset: TestSet, progress: Stages) -> SentenceCoder | None:
    """What gives outputs their codes, if any was named.

    Raises:
        UsageError: the outputs have no trees, and the codes need some; or trees that no code needs.
        LengthMismatchError: trees are not parallel to the outputs.
    """
    if not args.codes:
        return None
    from gnomon.cache import Cache, default_path
    from gnomon.paraphrase import codes

    made = codes.load(args.codes, model=args.codes_model, parser=args.parser, device=args.device)
    if args.output_trees:
        if made.kind != "syntactic":
            raise UsageError(f"--output-trees: {made.kind} codes read no trees; leave them out")
        return codes.SentenceCoder(made, _output_trees(args, testset))
    if made.needs_trees:
        raise UsageError(
            f"the codes in {args.codes} were made from trees that were given: give those of the"
            " outputs, too (--output-trees SYSTEM.ptb ...), or name the parser that made them"
            " (--parser spacy:NAME)"
        )
    cache = Cache(default_path()) if made.kind == "syntactic" else None
    return codes.SentenceCoder(made, cache=cache, progress=progress)


def plain_name(path: str) -> str:
    """The name of a file without what says how it is written.

    >>> plain_name("trees/ref.A.ptb.gz")
    'ref.A'
    """
    name = Path(path).name.removesuffix(".gz")
    for ending in (".txt", ".ptb", ".mrg", ".tsv"):
        name = name.removesuffix(ending)
    return name


def _output_trees(args: argparse.Namespace, testset: TestSet) -> dict[str, Tree | None]:
    from gnomon.formats import read_trees

    files = _by_system(args.output_trees, testset.systems)
    found: dict[str, Tree | None] = {}
    for name, texts in testset.systems.items():
        trees = read_trees(files[name]).trees[: args.first]
        if len(trees) != len(texts):
            raise LengthMismatchError(
                f"{files[name]} has {len(trees)} trees, and {name} has {len(texts)} outputs; give"
                " one tree per line, (()) where there is none"
            )
        found |= {t: tree for t, tree in zip(texts, trees, strict=True) if found.get(t) is None}
    return found


def _by_system(items: Sequence[str], systems: Iterable[str]) -> dict[str, str]:
    known = tuple(systems)
    found = {}
    for item in items:
        name, given, path = item.partition("=")
        if not given or name not in known:
            name, path = plain_name(item), item
        if name not in known:
            raise UnknownNameError("system", name, known, remedy="write SYSTEM=FILE")
        found[name] = path
    if missing := [name for name in known if name not in found]:
        raise UsageError(
            f"--output-trees: no trees of {', '.join(missing)}; give one file per system, named"
            " SYSTEM.ptb, or SYSTEM=FILE"
        )
    return found
