"""Files of sentences, or of their trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

from gnomon.core.errors import DataError
from gnomon.core.options import Group, InputFile, Metavar

if TYPE_CHECKING:
    from gnomon.data.formats import Tree

__all__ = ["Files", "SentenceFile", "read_sentence_files", "text_name"]


Files: TypeAlias = Annotated[
    Sequence[str | PathLike[str]], InputFile(), Metavar("FILE"), Group("data")
]


@dataclass(frozen=True)
class SentenceFile:
    """A file of sentences, or of trees alone."""

    name: str
    texts: Sequence[str]
    trees: Sequence[Tree | None] | None = None

    @property
    def shown(self) -> Sequence[str]:
        """The sentences, or the words of their trees."""
        if self.texts or self.trees is None:
            return self.texts
        return ["" if tree is None else " ".join(tree.words) for tree in self.trees]


def text_name(path: str | PathLike[str]) -> str:
    """The name of a file without what says how it is written.

    >>> text_name("trees/ref.A.ptb.gz")
    'ref.A'
    """
    name = Path(path).name.removesuffix(".gz")
    for ending in (".txt", ".ptb", ".mrg", ".tsv"):
        name = name.removesuffix(ending)
    return name


def read_sentence_files(texts: Files | None, trees: Files | None) -> list[SentenceFile]:
    """Read the files that were named."""
    from gnomon.data.formats import read_lines, read_trees

    files = []
    for number, path in enumerate(texts or trees or ()):
        lines = read_lines(path) if texts else []
        parses = read_trees(trees[number]).trees if trees else None
        if texts and parses is not None and len(parses) != len(lines):
            raise DataError(
                f"{path} has {len(lines)} lines, and its trees have {len(parses)}; they must be"
                " parallel"
            )
        files.append(SentenceFile(text_name(path) or "stdin", lines, parses))
    return files
