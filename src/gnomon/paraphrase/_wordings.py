"""Sets of wordings and of trees, parallel by segment, and files of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from gnomon.core.dependencies import Dependency
from gnomon.core.errors import DataError, FormatError, UnknownNameError, UsageError
from gnomon.core.options import Group, InputFile, Metavar, Needs
from gnomon.core.testset import Paraphrase, TestSet
from gnomon.data.formats import Tree, method_of, read_paraphrases, read_trees
from gnomon.linguistics import TAGGER_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


#: one list of texts per segment
Wordings: TypeAlias = Sequence[Sequence[str | None]]
#: one list of trees per segment
Parses: TypeAlias = Sequence[Sequence[Tree | None]]
#: the set that the outputs of all systems make
SYSTEMS = "systems"
#: paraphrases, or files of them (:func:`gnomon.formats.read_paraphrases`)
Paraphrases: TypeAlias = Sequence[Paraphrase] | Sequence[str | PathLike[str]]
#: trees by set, or files of them (:func:`gnomon.paraphrase.tree_sets`)
TreeSets: TypeAlias = Annotated[
    Mapping[str, Parses] | Sequence[str | PathLike[str]],
    InputFile(),
    Metavar("FILE"),
    Group("syntax trees"),
]


def _parser_needs(
    name: object, _: str | None, _options: Mapping[str, object]
) -> Iterator[Dependency]:
    """The parser, by its name."""
    if isinstance(name, str):
        yield Dependency("tagger", name)


ParserName: TypeAlias = Annotated[
    str | None, Metavar("spacy:NAME"), Needs(_parser_needs), TAGGER_NAME, Group("syntax trees")
]


def wordings_of(
    paraphrases: Sequence[Paraphrase], segments: int | None = None
) -> dict[str, Wordings]:
    """The paraphrases of each method, segment by segment."""
    size = segments or max((p.segment for p in paraphrases), default=0)
    by_method: dict[str, list[list[str | None]]] = {}
    for paraphrase in paraphrases:
        group = by_method.setdefault(paraphrase.method, [[] for _ in range(size)])
        group[paraphrase.segment - 1].append(paraphrase.text)
    return dict(by_method)


def first_of(
    paraphrases: Sequence[Paraphrase],
    *,
    n: int | None = None,
    methods: Sequence[str] | None = None,
) -> list[Paraphrase]:
    """The first n paraphrases of each method, segment and system; all by default."""
    if n is not None and n < 1:
        raise UsageError(f"n, the number of paraphrases of each method, is at least 1; got {n}")
    there = tuple(dict.fromkeys(paraphrase.method for paraphrase in paraphrases))
    for method in methods or ():
        if method not in there:
            raise UnknownNameError("method of paraphrases", method, there)
    counts: dict[tuple[str, int, str | None], int] = {}
    kept = []
    for paraphrase in paraphrases:
        key = (paraphrase.method, paraphrase.segment, paraphrase.system)
        counts[key] = counts.get(key, 0) + 1
        if paraphrase.method in (methods or there) and (n is None or counts[key] <= n):
            kept.append(paraphrase)
    return kept


def sets_of(testset: TestSet, paraphrases: Sequence[Paraphrase] = ()) -> dict[str, Wordings]:
    """Paraphrases by method, references (of one kind: ``1``, ``2``), and the systems' outputs.

    References and outputs are sets only where there are two or more.
    """
    sets = wordings_of(paraphrases, testset.segments)
    kinds: dict[str, list[Sequence[str | None]]] = {}
    for name, texts in testset.references.items():
        kinds.setdefault(method_of(name), []).append(texts)
    for name, columns in kinds.items():
        if len(columns) > 1:
            sets.setdefault(name, list(zip(*columns, strict=True)))
    if len(testset.systems) > 1:
        sets.setdefault(SYSTEMS, list(zip(*testset.systems.values(), strict=True)))
    return sets


def tree_sets(paths: Sequence[str | PathLike[str]]) -> dict[str, Parses]:
    """Trees by method from files such as ``ref.human1.ptb``, ``ref.human2.ptb``."""
    columns: dict[str, list[tuple[Tree | None, ...]]] = {}
    first: dict[str, str] = {}
    for path in paths:
        name = method_of(_plain(path))
        file = read_trees(path)
        trees_of_set = columns.setdefault(name, [])
        if trees_of_set and len(trees_of_set[0]) != len(file.trees):
            raise FormatError(
                f"has {len(file.trees)} lines, and {first[name]} has {len(trees_of_set[0])}; files"
                f" of trees of one set ({name!r}) must be parallel",
                path=file.path,
                line=min(len(file.trees), len(trees_of_set[0])) + 1,
            )
        first.setdefault(name, file.path)
        trees_of_set.append(file.trees)
    return {name: list(zip(*parallel, strict=True)) for name, parallel in columns.items()}


def check_trees(
    trees: Mapping[str, Parses], segments: int, lengths: Mapping[str, int] | None = None
) -> None:
    """Refuse trees that are not parallel to what they are the trees of."""
    for name, groups in trees.items():
        wanted = (lengths or {}).get(name, segments)
        after = any(tree is not None for group in groups[wanted:] for tree in group)
        if len(groups) < wanted or after:
            raise DataError(
                f"the trees of {name!r} are of {len(groups)} segments, and there are {wanted}; give"
                " files with one tree (or an empty line) for each segment"
            )


def parse_wordings(
    sets: Mapping[str, Wordings], trees: Mapping[str, Tree | None]
) -> dict[str, Parses]:
    """The trees of sets of wordings, by text."""
    return {
        name: [[trees[text] if text else None for text in group] for group in groups]
        for name, groups in sets.items()
    }


def _plain(path: str | PathLike[str]) -> str:
    return Path(path).name.removesuffix(".gz").removesuffix(".ptb").removesuffix(".mrg")


# Files in their place.


def paraphrases_of(given: Paraphrases, segments: int | None = None) -> Sequence[Paraphrase]:
    """Paraphrases, read where files are given."""
    files = [item for item in given if isinstance(item, str | PathLike)]
    if files:
        return read_paraphrases(files, segments=segments)
    return [item for item in given if isinstance(item, Paraphrase)]


def trees_of(given: TreeSets | None) -> dict[str, Parses]:
    """Trees by set, read where files are given."""
    if not given:
        return {}
    return dict(given) if isinstance(given, Mapping) else tree_sets(given)


def sets_in(given: Mapping[str, Wordings] | TestSet | Paraphrases) -> Mapping[str, Wordings]:
    """Sets of wordings: as they are, of a test set and its paraphrases, or of paraphrases."""
    if isinstance(given, TestSet):
        return _sets_of_wide(given)
    return given if isinstance(given, Mapping) else wordings_of(paraphrases_of(given))


def _sets_of_wide(testset: TestSet) -> dict[str, Wordings]:
    """As :func:`sets_of`, where the paraphrases are among the references."""
    made = testset.paraphrases
    of_systems = [*testset.system_references.items()]
    groups: dict[str, list[list[str | None]]] = {
        name: [[] for _ in range(testset.segments)] for name in dict.fromkeys(made.values())
    }
    for references in (testset.references, *(more for _, more in of_systems)):
        for name, texts in references.items():
            for i, text in enumerate(texts):
                if name in made and text is not None:
                    groups[made[name]][i].append(text)
    plain = {name: texts for name, texts in testset.references.items() if name not in made}
    bare = TestSet(name=testset.name, references=plain, systems=testset.systems)
    return dict(groups) | {k: v for k, v in sets_of(bare).items() if k not in groups}


# Inputs of the command line: ``inputs`` are its data, ``options`` those of the method.


def select_paraphrases(inputs: Any, files: Iterable[str], segments: int | None) -> list[Paraphrase]:
    """The paraphrases in files that ``--n`` and ``--methods`` choose."""
    paraphrases = read_paraphrases(list(files), segments=segments)
    return first_of(paraphrases, n=inputs.args.n, methods=inputs.args.methods)


def cut(trees: Mapping[str, Parses], first: int | None) -> dict[str, Parses]:
    """The trees of the first segments."""
    return {name: parses[:first] for name, parses in trees.items()}
