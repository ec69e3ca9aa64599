"""Sets of wordings: what lies beside each other for every segment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from gnomon.errors import DataError, FormatError, UnknownNameError, UsageError
from gnomon.formats import Tree, method_of, read_trees

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from gnomon.testset import Paraphrase, TestSet

__all__ = [
    "SYSTEMS",
    "Parses",
    "Wordings",
    "by_parser",
    "check_trees",
    "first_of",
    "sets_of",
    "tree_sets",
    "wordings_of",
]

#: one list of texts per segment
Wordings: TypeAlias = Sequence[Sequence[str | None]]
#: one list of trees per segment
Parses: TypeAlias = Sequence[Sequence[Tree | None]]
#: the set that the outputs of all systems make
SYSTEMS = "systems"


def wordings_of(
    paraphrases: Sequence[Paraphrase], segments: int | None = None
) -> dict[str, Wordings]:
    """The paraphrases of each method, segment by segment.

    Args:
        paraphrases: all of them; those of single systems lie beside the others.
        segments: how many segments there are; by default as many as the paraphrases name.
    """
    size = segments or max((p.segment for p in paraphrases), default=0)
    found: dict[str, list[list[str | None]]] = {}
    for one in paraphrases:
        group = found.setdefault(one.method, [[] for _ in range(size)])
        group[one.segment - 1].append(one.text)
    return dict(found)


def first_of(
    paraphrases: Sequence[Paraphrase],
    *,
    n: int | None = None,
    methods: Sequence[str] | None = None,
) -> list[Paraphrase]:
    """The first n paraphrases of each method, segment and system; all by default.

    Raises:
        UnknownNameError: there is no such method.
        UsageError: n is below 1.
    """
    if n is not None and n < 1:
        raise UsageError(f"n, the number of paraphrases of each method, is at least 1; got {n}")
    known = tuple(dict.fromkeys(one.method for one in paraphrases))
    for method in methods or ():
        if method not in known:
            raise UnknownNameError("method of paraphrases", method, known)
    counts: dict[tuple[str, int, str | None], int] = {}
    kept = []
    for one in paraphrases:
        key = (one.method, one.segment, one.system)
        counts[key] = counts.get(key, 0) + 1
        if one.method in (methods or known) and (n is None or counts[key] <= n):
            kept.append(one)
    return kept


def sets_of(testset: TestSet, paraphrases: Sequence[Paraphrase] = ()) -> dict[str, Wordings]:
    """Paraphrases by method, references (of one kind: ``1``, ``2``), and the systems' outputs.

    References and outputs are sets only where there are two or more.
    """
    found = wordings_of(paraphrases, testset.segments)
    kinds: dict[str, list[Sequence[str | None]]] = {}
    for name, texts in testset.references.items():
        kinds.setdefault(method_of(name), []).append(texts)
    for name, columns in kinds.items():
        if len(columns) > 1:
            found.setdefault(name, list(zip(*columns, strict=True)))
    if len(testset.systems) > 1:
        found.setdefault(SYSTEMS, list(zip(*testset.systems.values(), strict=True)))
    return found


def tree_sets(paths: Sequence[str | PathLike[str]]) -> dict[str, Parses]:
    """Trees by method from files such as ``ref.human1.ptb``, ``ref.human2.ptb``.

    Raises:
        MissingFileError: a file is missing.
        FormatError: files of a method have unequal numbers of lines.
    """
    columns: dict[str, list[tuple[Tree | None, ...]]] = {}
    first: dict[str, str] = {}
    for path in paths:
        name = method_of(_plain(path))
        found = read_trees(path)
        known = columns.setdefault(name, [])
        if known and len(known[0]) != len(found.trees):
            raise FormatError(
                f"has {len(found.trees)} lines, and {first[name]} has {len(known[0])}; files of"
                f" trees of one set ({name!r}) must be parallel",
                path=found.path,
                line=min(len(found.trees), len(known[0])) + 1,
            )
        first.setdefault(name, found.path)
        known.append(found.trees)
    return {name: list(zip(*parallel, strict=True)) for name, parallel in columns.items()}


def check_trees(
    trees: Mapping[str, Parses], segments: int, lengths: Mapping[str, int] | None = None
) -> None:
    """Refuse trees that are not parallel to what they are the trees of.

    Args:
        trees: name -> one list of trees per segment; those after the last segment may be empty.
        segments: how many segments there are.
        lengths: name -> segments of the set of that name, where sets differ.

    Raises:
        DataError: a set of trees has more or fewer segments.
    """
    for name, groups in trees.items():
        wanted = (lengths or {}).get(name, segments)
        after = any(tree is not None for group in groups[wanted:] for tree in group)
        if len(groups) < wanted or after:
            raise DataError(
                f"the trees of {name!r} are of {len(groups)} segments, and there are {wanted}; give"
                " files with one tree (or an empty line) for each segment"
            )


def by_parser(sets: Mapping[str, Wordings], trees: Mapping[str, Tree | None]) -> dict[str, Parses]:
    """The trees of sets of wordings, by text."""
    return {
        name: [[trees[text] if text else None for text in group] for group in groups]
        for name, groups in sets.items()
    }


def _plain(path: str | PathLike[str]) -> str:
    return Path(path).name.removesuffix(".gz").removesuffix(".ptb").removesuffix(".mrg")
