"""Files of sentences, of what they paraphrase, and of trees of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.cli.paraphrase._coding import plain_name
from gnomon.errors import DataError, FormatError, UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from gnomon.formats import Tree

__all__ = ["Sentences", "check_counts", "read_sentences"]


@dataclass(frozen=True)
class Sentences:
    """A file of sentences, or of trees alone.

    Attributes:
        name: the file's.
        texts: the sentences; none where there are trees alone.
        sources: what they paraphrase.
        trees: of the sentences, None where there is none.
        source_trees: of what they paraphrase.
    """

    name: str
    texts: Sequence[str]
    sources: Sequence[str] | None
    trees: Sequence[Tree | None] | None
    source_trees: Sequence[Tree | None] | None

    @property
    def paraphrases(self) -> bool:
        """Whether it is known what the sentences paraphrase."""
        return self.sources is not None or self.source_trees is not None


def check_counts(args: argparse.Namespace) -> None:
    """Refuse files that are not one for one.

    Raises:
        UsageError: likewise, or there is no file.
    """
    if not args.files and not args.trees:
        raise UsageError("no sentences: name files of one sentence per line, or --trees FILE")
    count, what = (len(args.files), "sentences") if args.files else (len(args.trees), "trees")
    others = {"trees": args.trees, "sources": args.sources, "source trees": args.source_trees}
    for name, files in others.items():
        if files and len(files) != count:
            raise UsageError(f"{len(files)} files of {name} for {count} of {what}; give one each")
    if args.sources and not args.files:
        raise UsageError(
            "the sentences are trees alone: give the trees of what they paraphrase (--source-trees)"
            " in place of --sources"
        )


def read_sentences(args: argparse.Namespace) -> list[Sentences]:
    """Read the files that were named.

    Raises:
        DataError: files that belong together have unequal numbers of lines.
        FormatError: a line lacks the column.
        UsageError: two files would write codes to one.
    """
    paths = args.files or args.trees
    names = [plain_name(path) or "stdin" for path in paths]
    if len(set(names)) < len(names) and args.folder:
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"two files would be written as {twice}.codes.txt; rename one")
    return [
        _read(args, number, name, path)
        for number, (name, path) in enumerate(zip(names, paths, strict=True))
    ]


def _read(args: argparse.Namespace, number: int, name: str, path: str) -> Sentences:
    from gnomon.formats import read_lines, read_trees

    def trees(files: Sequence[str] | None) -> Sequence[Tree | None] | None:
        return read_trees(files[number]).trees if files else None

    texts = _column(read_lines(path), args.column, path) if args.files else []
    sources = read_lines(args.sources[number]) if args.sources else None
    found = Sentences(name, texts, sources, trees(args.trees), trees(args.source_trees))
    others = {"sources": sources, "trees": found.trees, "source trees": found.source_trees}
    lines = len(texts if args.files else found.trees or ())
    for what, other in others.items():
        if other is not None and len(other) != lines:
            raise DataError(
                f"{path} has {lines} lines, and its {what} have {len(other)}; they must be parallel"
            )
    return found


def _column(lines: list[str], column: int | None, path: str) -> list[str]:
    if column is None:
        return lines
    if column < 1:
        raise UsageError(f"--column counts from 1; got {column}")
    found = []
    for number, line in enumerate(lines, start=1):
        cells = line.split("\t")
        if line and len(cells) < column:
            raise FormatError(
                f"has {len(cells)} column(s), and --column is {column}", path=path, line=number
            )
        found.append(cells[column - 1] if line else "")
    return found
