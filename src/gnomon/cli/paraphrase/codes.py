"""``gnomon paraphrase codes``: sentence codes, which a paraphraser can be trained with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.cli._options import add_command, add_output, add_page, check_outputs, show
from gnomon.cli.paraphrase._sentences import check_counts, read_sentences
from gnomon.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from gnomon.cache import Cache
    from gnomon.cli._options import Subparsers
    from gnomon.cli._progress import Stages
    from gnomon.cli.paraphrase._sentences import Sentences
    from gnomon.findings import Finding
    from gnomon.formats import Tree
    from gnomon.paraphrase.codes import Codes, Placed, TreeRecipe

__all__ = ["add", "run"]

#: gnomon.paraphrase.codes.KINDS, said again because help must not load what clusters
_KINDS = ("semantic", "syntactic", "random")
_MORE = """\
-o FOLDER gets the codes (codes.safetensors, codes.json), and NAME.codes.txt for each file: one
integer per line, and an empty line where a sentence has none (it is empty, or has no tree).

examples:
  gnomon paraphrase codes train.en --kind semantic --model sentence-transformers/LaBSE -o codes
  gnomon paraphrase codes pairs.tsv --column 2 --kind syntactic -l en --k 64 -o codes
  gnomon paraphrase codes test.en --from codes -o test-codes --html codes.html
  gnomon paraphrase codes --tree-stats --trees ref.human?.ptb --depth 2 3 4
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "codes",
        answers="which cluster of meanings or structures a sentence is in",
        more=_MORE,
    )
    data = parser.add_argument_group("data")
    data.add_argument("files", nargs="*", metavar="FILE", help="one sentence per line")
    data.add_argument(
        "--column", type=int, metavar="N", help="of files of tab-separated columns, from 1"
    )
    data.add_argument(
        "--sources",
        nargs="+",
        metavar="FILE",
        help="what the sentences paraphrase, parallel to the files: how much codes tell of theirs"
        " (trees alone: --source-trees)",
    )
    _add_codes(parser)
    _add_trees(parser)
    add_output(parser)
    # -o is a folder here, and results go to stdout
    for action in parser._actions:  # noqa: SLF001  # argparse has no other way to change an option
        if action.dest == "output":
            action.dest, action.metavar = "folder", "FOLDER"
            action.help = "write the codes, and those of every file, there"
    add_page(parser)
    parser.set_defaults(run=run, output=None, refs=[], input=None, paraphrases=None)


def _add_codes(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("codes")
    group.add_argument("--kind", choices=_KINDS, help="by meaning, by structure, by chance")
    group.add_argument("--model", metavar="NAME", help="sentence encoder of semantic codes")
    group.add_argument("--layer", type=int, metavar="N", help="of the encoder (default: the last)")
    group.add_argument("--revision", metavar="ID", help="commit, tag or branch on the hub")
    group.add_argument(
        "--any-length", action="store_true", help="vectors as they are, not of length 1"
    )
    group.add_argument("--embeddings", metavar="DIR", help="keep vectors there between runs")
    group.add_argument("--k", type=int, default=256, metavar="N", help="how many codes (256)")
    group.add_argument("--seed", type=int, default=0, metavar="N", help="(0)")
    group.add_argument(
        "--passes", type=int, default=10, metavar="N", help="most exact passes of k-means (10)"
    )
    group.add_argument("--from", dest="known", metavar="FOLDER", help="codes that were made before")
    group.add_argument(
        "--device", metavar="NAME", help="cpu, cuda (default: a GPU if there is one)"
    )


def _add_trees(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("syntactic codes")
    group.add_argument(
        "--trees", nargs="+", metavar="FILE", help="bracketed trees, parallel to the files, if any"
    )
    group.add_argument(
        "--source-trees", nargs="+", metavar="FILE", help="likewise, parallel to --sources"
    )
    group.add_argument("--parser", metavar="NAME", help="spacy:NAME or stanza:LANGUAGE")
    group.add_argument("-l", "--language", metavar="LANG", help="the standard parser of a language")
    group.add_argument(
        "--depth", type=int, nargs="+", metavar="N", help="levels that pruned trees keep (4)"
    )
    group.add_argument(
        "--most-children",
        type=int,
        metavar="N",
        help="of a node, the first ones (10; with --tree-stats all)",
    )
    group.add_argument("--hidden", type=int, default=256, metavar="N", help="of a vector (256)")
    group.add_argument(
        "--iterations", type=int, default=20, metavar="N", help="over the trees (20)"
    )
    group.add_argument("--batch", type=int, default=400, metavar="N", help="trees at once (400)")
    group.add_argument("--rate", type=float, default=0.025, metavar="X", help="of Adagrad (.025)")
    group.add_argument(
        "--decay", type=float, default=1e-4, metavar="X", help="weight decay (.0001)"
    )
    group.add_argument(
        "--tree-stats", action="store_true", help="count different pruned trees, and make no codes"
    )
    group.add_argument("--no-cache", action="store_true", help="keep no trees for later")


def run(args: argparse.Namespace) -> int:
    """Read, cluster or load, code, write, print."""
    from gnomon import report
    from gnomon.cache import Cache, default_path
    from gnomon.cli._progress import stages

    _check(args)
    check_outputs(args, args.html)
    cache = None if args.no_cache else Cache(default_path())
    with stages(quiet=args.quiet) as progress:
        files = read_sentences(args)
        progress.tick("reading")
        if args.tree_stats:
            finding = _counted(args, files, cache, progress)
        else:
            finding = _coded(args, files, cache, progress)
        if args.html:
            report.write_html(args.html, [finding])
        progress.tick("reporting")
    show(args, finding, "paraphrase codes")
    return 0


def _check(args: argparse.Namespace) -> None:
    check_counts(args)
    if args.tree_stats:
        if args.sources or args.source_trees:
            raise UsageError("--sources and --source-trees are for codes; --tree-stats makes none")
        return
    if bool(args.known) == bool(args.kind):
        raise UsageError("say which codes: --kind NAME makes some, --from FOLDER takes known ones")
    if args.known and (args.layer is not None or args.revision or args.embeddings):
        raise UsageError("--layer, --revision and --embeddings belong to new codes, not to --from")
    if args.depth and len(args.depth) > 1:
        raise UsageError("codes have one --depth; several are for --tree-stats")
    if args.kind == "semantic" and not args.model:
        raise UsageError("--kind semantic needs a sentence encoder: --model NAME")
    if args.kind and args.kind != "semantic" and args.model:
        raise UsageError(f"--model belongs to --kind semantic, not {args.kind}")
    if args.source_trees and args.kind not in (None, "syntactic"):
        raise UsageError(f"--source-trees: {args.kind} codes read no trees; leave them out")
    if args.kind == "syntactic" and args.trees and not args.parser:
        _need_source_trees(args)


def _need_source_trees(args: argparse.Namespace) -> None:
    """Refuse sources without trees, where codes are of trees that were given."""
    if args.sources and not args.source_trees:
        raise UsageError(
            "the codes are of trees that are given, and the sources have none: give theirs"
            " (--source-trees FILE), or name the parser that made the trees (--parser NAME)"
        )


def _coded(
    args: argparse.Namespace, files: list[Sentences], cache: Cache | None, progress: Stages
) -> Finding:
    from gnomon.paraphrase import codes as rooms

    made = _codes(args, files, cache, progress)
    if made.needs_trees:
        _need_source_trees(args)
    placed = [_placed(made, file.texts, file.trees, cache, progress) for file in files]
    if args.folder:
        folder = Path(args.folder)
        if args.known is None:
            made.save(folder)
        elif not folder.is_dir():
            raise UsageError(f"there is no folder {folder} for the codes of files; make it first")
        for file, found in zip(files, placed, strict=True):
            rooms.write_codes(folder / f"{file.name}.codes.txt", found.codes.tolist())
    progress.tick("coding")
    sources = {
        file.name: made.assign(file.sources or [], trees=file.source_trees, cache=cache)
        for file in files
        if file.paraphrases
    }
    return rooms.quality(
        made,
        {file.name: found for file, found in zip(files, placed, strict=True)},
        texts={file.name: _shown(file) for file in files},
        sources=sources,
    )


def _shown(file: Sentences) -> Sequence[str]:
    if file.texts or file.trees is None:
        return file.texts
    return ["" if tree is None else " ".join(tree.words) for tree in file.trees]


def _placed(
    made: Codes,
    texts: Sequence[str],
    trees: Sequence[Tree | None] | None,
    cache: Cache | None,
    progress: Stages,
) -> Placed:
    return made.place(texts, trees=trees, cache=cache, progress=progress)


def _codes(
    args: argparse.Namespace, files: list[Sentences], cache: Cache | None, progress: Stages
) -> Codes:
    from gnomon.paraphrase import codes as rooms

    if args.known:
        return rooms.load(args.known, model=args.model, parser=args.parser, device=args.device)
    trees = [tree for file in files for tree in file.trees or ()]
    syntactic = args.kind == "syntactic"
    return rooms.fit(
        [text for file in files for text in file.texts],
        encoder=f"semantic:{args.model}" if args.kind == "semantic" else args.kind,
        k=args.k,
        seed=args.seed,
        unit=not args.any_length,
        layer=args.layer,
        revision=args.revision,
        device=args.device,
        embeddings=args.embeddings,
        trees=trees if args.trees else None,
        parser=args.parser,
        language=args.language,
        recipe=_recipe(args) if syntactic else None,
        passes=args.passes,
        cache=cache,
        progress=progress,
    )


def _recipe(args: argparse.Namespace) -> TreeRecipe:
    from gnomon.paraphrase import codes as rooms

    return rooms.TreeRecipe(
        depth=(args.depth or [4])[0],
        most_children=10 if args.most_children is None else args.most_children,
        hidden=args.hidden,
        iterations=args.iterations,
        batch=args.batch,
        rate=args.rate,
        decay=args.decay,
    )


def _counted(
    args: argparse.Namespace, files: list[Sentences], cache: Cache | None, progress: Stages
) -> Finding:
    from gnomon.annotate import parse
    from gnomon.paraphrase import codes as rooms

    trees = {}
    for file in files:
        trees[file.name] = file.trees or parse(
            file.texts, tagger=args.parser, language=args.language, cache=cache, progress=progress
        )
    depths = args.depth or rooms.DEPTHS
    return rooms.tree_stats(trees, depths=depths, most_children=args.most_children)
