"""How many different structures trees have, by the depth that they are cut at (table 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

from gnomon.core.cache import Cache
from gnomon.core.errors import DataError, UsageError
from gnomon.core.findings import Finding, Lines, Listing
from gnomon.core.options import Metavar, Positive
from gnomon.core.records import Record, column, column_names, table
from gnomon.core.registry import method
from gnomon.core.verdicts import Claim, counted, listed
from gnomon.methods.paraphrase.codes._sentences import (
    Column,
    Files,
    LanguageCode,
    Tagger,
    file_problems,
    read_sentence_files,
)
from gnomon.methods.paraphrase.codes._trees import pruned

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gnomon.core.findings import Statement
    from gnomon.core.options import BoundOptions
    from gnomon.core.summary import Outline
    from gnomon.core.validation import Problem
    from gnomon.data.formats import Tree

#: levels that trees are cut at unless one asks for others
DEPTHS = (1, 2, 3, 4, 5, 6)
_ALL = "all"
_TITLE = "Different pruned trees by depth"

_EXAMPLES = """\
examples:
  gnomon paraphrase tree-stats --trees ref.human1.ptb ref.human2.ptb --depths 2 3 4
  gnomon paraphrase tree-stats --texts ref.txt -l en
"""


class TreeStatsRow(Record):
    """How many different trees there are at a depth."""

    set: str = column("Set", help="a file of trees; all: every one of them together")
    depth: int | None = column("Depth", help="levels that are kept; blank: the whole tree")
    trees: int = column("Trees", help="sentences that have one")
    distinct: int = column("Distinct", help="different ones among them, words left out")
    share: float | None = column("Share", kind="share", digits=4, help="different ones per tree")
    once: int = column("Once", help="that a single sentence has")
    commonest: float | None = column(
        "Commonest", kind="share", digits=4, help="share of sentences that have the commonest"
    )
    with_words: int = column("With words", help="different ones where words are kept")
    nodes: float | None = column("Nodes", digits=1, help="mean number of nodes")
    skipped: int = column("Skipped", help="sentences without a tree")


_STRUCTURES = Claim(
    "paraphrase.tree_stats.structures",
    "{trees} ({set}) have different structures: {distinct}",
    "undecided",
    "counts of trees",
)


def tree_stats_verdict(finding: Finding) -> Iterator[Statement]:
    """How many structures there are, at the smallest depth and in full."""
    every = finding.records(TreeStatsRow)
    rows = [row for row in every if row.set == every[-1].set]
    if rows:
        distinct = [
            f"{row.distinct:,}" + (" in full" if row.depth is None else f" at depth {row.depth}")
            for row in rows
        ]
        yield _STRUCTURES.said(
            finding.positions(rows),
            trees=counted(rows[0].trees, "tree"),
            set=rows[0].set,
            distinct=listed(distinct, most=5),
        )


def check_tree_stats(_outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`gnomon.paraphrase.tree_stats` refuses of options that fit each alone."""
    yield from file_problems(options.texts, {}, options.trees)


@method(
    "paraphrase.tree_stats",
    answers="how many different structures trees have, by the depth that they are cut at",
    data=(),
    given="nothing",
    examples=_EXAMPLES,
    rows={"tree stats": TreeStatsRow},
    metrics="none",
    systems=False,
    check=check_tree_stats,
    verdict=tree_stats_verdict,
    claims=(_STRUCTURES,),
)
def tree_stats(
    texts: Files | None = None,
    *,
    column: Column = None,
    trees: Files | None = None,
    depths: Annotated[Sequence[int], Metavar("N")] = DEPTHS,
    most_children: Positive | None = None,
    tagger: Tagger = None,
    language: LanguageCode = None,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """Different trees without words, pruned to some depths and whole (Bawden et al., table 5).

    Args:
        texts: files of one sentence per line, which are parsed where there are no trees.
        trees: files of bracketed trees.
        depths: levels that are kept, the root being the first.
        most_children: of a node the first ones; all by default.
        tagger: the parser of texts: spacy:NAME or stanza:LANGUAGE.

    Returns:
        A finding as of :func:`gnomon.paraphrase.codes.count_trees`.

    Raises:
        DataError: there is no tree at all.
        UsageError: a depth is below 1.
        MissingDependencyError: the parser is not installed.
    """
    from gnomon.linguistics import parse

    by_file = {
        file.name: file.trees
        or parse(file.texts, tagger=tagger, language=language, cache=cache, progress=progress)
        for file in read_sentence_files(texts, trees, column=column)
    }
    return count_trees(by_file, depths=depths, most_children=most_children)


def count_trees(
    trees: Mapping[str, Sequence[Tree | None]],
    *,
    depths: Iterable[int] = DEPTHS,
    most_children: int | None = None,
) -> Finding:
    """Count different trees, pruned to some depths and whole (Bawden et al., 2020, table 5)."""
    levels = sorted(set(depths))
    if any(level < 1 for level in levels):
        raise UsageError(f"depths count from 1, the root alone; got {levels}")
    if not any(tree is not None for each in trees.values() for tree in each):
        raise DataError("no line holds a tree, so that there is nothing to count")
    sets = dict(trees)
    if len(sets) > 1:
        sets[_ALL] = [tree for each in trees.values() for tree in each]
    rows = tuple(
        _row(name, each, level, most_children)
        for name, each in sets.items()
        for level in (*levels, None)
    )
    counted = table("tree stats", _TITLE, TreeStatsRow, rows, note="Depth 1 is the root alone.")
    views = (
        Listing("tree stats", _TITLE, column_names(TreeStatsRow)),
        Lines("tree stats", _TITLE, x="depth", y="distinct", series="set"),
    )
    return Finding("paraphrase tree-stats", _TITLE, (counted,), {}, views)


def _row(
    name: str, trees: Sequence[Tree | None], depth: int | None, most: int | None
) -> TreeStatsRow:
    parsed = [tree for tree in trees if tree is not None]
    cut = [pruned(tree, depth, most_children=most) for tree in parsed]
    counts = Counter(cut)
    return TreeStatsRow(
        set=name,
        depth=depth,
        trees=len(parsed),
        distinct=len(counts),
        share=len(counts) / len(parsed) if parsed else None,
        once=sum(count == 1 for count in counts.values()),
        commonest=max(counts.values()) / len(parsed) if parsed else None,
        with_words=len({_worded(tree, depth, most) for tree in parsed}),
        nodes=sum(tree.size for tree in cut) / len(cut) if cut else None,
        skipped=len(trees) - len(parsed),
    )


def _worded(tree: Tree, depth: int | None, most: int | None) -> str:
    """A tree cut at a depth, with the words that stand above the cut."""
    if depth == 1:
        return tree.label
    deeper = None if depth is None else depth - 1
    parts = (c if isinstance(c, str) else _worded(c, deeper, most) for c in tree.children[:most])
    return f"({' '.join([tree.label, *parts])})"
