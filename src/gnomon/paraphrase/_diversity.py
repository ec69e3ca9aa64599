"""How different the wordings in each set are: words, structure, and the segments to look at."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from gnomon.annotate import parser_faults
from gnomon.errors import DataError, FormatError, UnknownNameError, UsageError
from gnomon.faults import Fault, faults, refuse
from gnomon.findings import Bars, Column, Exhibit, ExhibitText, Finding, Highlight, Listing, Table
from gnomon.formats import Tree, method_of, parse_tree, read_trees
from gnomon.metrics.tokenise import check_tokeniser
from gnomon.paraphrase._constraints import check_longest
from gnomon.signature import Signature

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from os import PathLike

    from gnomon.cache import Cache
    from gnomon.findings import Cell
    from gnomon.outline import Outline
    from gnomon.testset import Paraphrase, TestSet


# How different the words of paraphrases are.


LEXICAL = ("lexical", "lexical-tokens")
_NO_SENTENCE = "sentences must be texts, or lists of texts (one list per sentence); got {!r:.60}"


def lexical_diversity(
    sentences: Sequence[Sequence[str | None]] | Sequence[str],
    variant: str = "lexical",
    *,
    tokenizer: str = "13a",
) -> float | None:
    """How different the words of paraphrases are, DS_x (Bawden et al., 2020).

    The mean over sentences of the mean over unordered pairs of 1 - (common distinct words) / (mean
    length). By default lengths count distinct words, so that this is Dice's coefficient and equal
    texts do not differ; with ``lexical-tokens`` they count all words, as the authors do, and equal
    texts with a repeated word do differ. Two empty texts do not differ.

    Args:
        sentences: the paraphrases of one sentence, or one list of paraphrases for each sentence;
            ``None`` is a missing one.
        variant: "lexical" or "lexical-tokens".
        tokenizer: a tokeniser of BLEU; case counts.

    Returns:
        0 (equal) to 1 (no word in common); ``None`` where no sentence has two paraphrases.

    Raises:
        UnknownNameError: there is no such variant or tokeniser.
        UsageError: the sentences are neither texts nor lists of texts.

    >>> lexical_diversity(["the cat sat here", "the cat lay here"])
    0.25
    """
    groups = [sentences] if all(isinstance(s, str) for s in sentences) else sentences
    return mean(lexical_values(groups, variant, tokenizer=tokenizer))  # type: ignore[arg-type]  # lexical_values refuses what is no group


def lexical_values(
    groups: Sequence[Sequence[str | None]], variant: str = "lexical", *, tokenizer: str = "13a"
) -> list[float | None]:
    """DS_x of each sentence; ``None`` where it has fewer than two paraphrases."""
    from gnomon.metrics.tokenise import tokenise

    if variant not in LEXICAL:
        raise UnknownNameError("variant of lexical diversity", variant, LEXICAL)
    for group in groups:
        if isinstance(group, str) or not all(t is None or isinstance(t, str) for t in group):
            raise UsageError(_NO_SENTENCE.format(group))
    texts = list(dict.fromkeys(t for group in groups for t in group if t is not None))
    table = tokenise(texts, tokenizer)
    rows = [table.ids[a:b].tolist() for a, b in zip(table.offsets, table.offsets[1:], strict=False)]
    words = {text: frozenset(row) for text, row in zip(texts, rows, strict=True)}
    lengths = {
        text: len(row) if variant == "lexical-tokens" else len(words[text])
        for text, row in zip(texts, rows, strict=True)
    }

    def apart(a: str, b: str) -> float:
        both = lengths[a] + lengths[b]
        return 1 - 2 * len(words[a] & words[b]) / both if both else 0.0

    return [_over_pairs([t for t in group if t is not None], apart) for group in groups]


def mean(values: Sequence[float | None]) -> float | None:
    """The mean of the defined values; ``None`` without any."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _over_pairs(texts: Sequence[str], apart: Callable[[str, str], float]) -> float | None:
    return mean([apart(a, b) for a, b in combinations(texts, 2)])


# How alike two trees are: the subset-tree kernel, normalised.


@dataclass(frozen=True, eq=False)
class Nodes:
    """A tree as its productions, children before their parents.

    Attributes:
        productions: label, and labels of the children, of each node; a word stands after an empty
            string, so that it never equals a label.
        children: the nodes below each node, in order.
        decay: lambda of :attr:`own`.
    """

    productions: tuple[tuple[str, ...], ...]
    children: tuple[tuple[int, ...], ...]
    decay: float

    @classmethod
    def of(cls, tree: Tree, *, decay: float, words: bool) -> Nodes:
        """Number the nodes of a tree; without words, its lowest constituents are no nodes."""
        productions: list[tuple[str, ...]] = []
        children: list[tuple[int, ...]] = []
        _number(tree, words, productions, children)
        return cls(tuple(productions), tuple(children), decay)

    @cached_property
    def by_production(self) -> Mapping[tuple[str, ...], list[int]]:
        """The nodes of each production."""
        found: dict[tuple[str, ...], list[int]] = {}
        for node, production in enumerate(self.productions):
            found.setdefault(production, []).append(node)
        return found

    @cached_property
    def own(self) -> float:
        """Logarithm of the kernel of the tree with itself."""
        return _log_kernel(self, self)


def tree_similarity(
    a: Tree | str, b: Tree | str, *, decay: float = 0.4, words: bool = True
) -> float | None:
    """How alike two constituency trees are (Moschitti, 2006; kernel of Collins and Duffy, 2002).

    K(a, b) is the sum over pairs of nodes of C; C = 0 where the productions differ, else decay
    times the product over the children of 1 + C. The result is K(a, b) / sqrt(K(a, a) K(b, b)).

    Args:
        a: a tree, or one in brackets.
        b: likewise.
        decay: lambda in (0, 1]; what a fragment counts less for each production in it.
        words: whether words are parts of the trees; without them the lowest constituents (parts of
            speech) are the leaves.

    Returns:
        0 (no common production) to 1 (equal trees); ``None`` where a tree has no production:
        it is ``(())``, or a single part of speech without words.

    Raises:
        FormatError: brackets do not balance.
        UsageError: the decay is not in (0, 1].

    >>> round(tree_similarity("(NP (DT a) (NN cat))", "(NP (DT a) (NN dog))"), 3)
    0.606
    """
    check_decay(decay)
    one, other = (_nodes(tree, decay, words) for tree in (a, b))
    return None if one is None or other is None else similarity(one, other)


def check_decay(decay: float) -> None:
    """Refuse a decay outside of (0, 1].

    Raises:
        UsageError: it is.
    """
    if not 0 < decay <= 1:
        raise UsageError(f"the decay (lambda) of the tree kernel is in (0, 1]; got {decay}")


def similarity(a: Nodes, b: Nodes) -> float | None:
    """The normalised kernel of two numbered trees; ``None`` where one has no production."""
    if not a.productions or not b.productions:
        return None
    return min(1.0, math.exp(_log_kernel(a, b) - (a.own + b.own) / 2))


def _nodes(tree: Tree | str, decay: float, words: bool) -> Nodes | None:  # noqa: FBT001  # passed on
    found = parse_tree(tree) if isinstance(tree, str) else tree
    return None if found is None else Nodes.of(found, decay=decay, words=words)


def _number(
    tree: Tree,
    words: bool,  # noqa: FBT001  # passed on
    productions: list[tuple[str, ...]],
    children: list[tuple[int, ...]],
) -> int | None:
    """Append a constituent after those below it; its number, or nothing for a leaf."""
    below = [
        _number(child, words, productions, children) for child in tree if isinstance(child, Tree)
    ]
    names = [tree.label]
    for child in tree:
        if isinstance(child, Tree):
            names.append(child.label)
        elif words:
            names += ["", child]
    if len(names) == 1:
        return None
    productions.append(tuple(names))
    children.append(tuple(-1 if node is None else node for node in below))
    return len(productions) - 1


def _log_kernel(a: Nodes, b: Nodes) -> float:
    """Logarithm of the sum over pairs of nodes; minus infinity where none match."""
    decay, total = a.decay, 0.0
    counts: dict[tuple[int, int], float] = {}
    theirs = b.by_production
    for i, production in enumerate(a.productions):
        for j in theirs.get(production, ()):
            count = decay
            for pair in zip(a.children[i], b.children[j], strict=True):
                count *= 1.0 + counts.get(pair, 0.0)
            counts[i, j] = count
            total += count
    if math.isinf(total):  # trees of a thousand nodes and more have too many fragments in common
        return _log_kernel_of_large(a, b)
    return math.log(total) if total else -math.inf


def _log_kernel_of_large(a: Nodes, b: Nodes) -> float:
    decay, logs = math.log(a.decay), dict[tuple[int, int], float]()
    theirs = b.by_production
    for i, production in enumerate(a.productions):
        for j in theirs.get(production, ()):
            pairs = zip(a.children[i], b.children[j], strict=True)
            logs[i, j] = decay + sum(_log_one_more(logs[pair]) for pair in pairs if pair in logs)
    largest = max(logs.values())
    return largest + math.log(sum(math.exp(value - largest) for value in logs.values()))


def _log_one_more(log: float) -> float:
    """log(1 + exp(log)) without overflow."""
    return max(log, 0.0) + math.log1p(math.exp(-abs(log)))


# How different the structures of paraphrases are.


LONE = ("zero", "skip")


def syntactic_diversity(
    trees: Sequence[Sequence[Tree | str | None]] | Sequence[Tree | str],
    *,
    decay: float = 0.4,
    words: bool = True,
    lone: str = "zero",
) -> float | None:
    """How different the constituency trees of paraphrases are, DS_t (Bawden et al., 2020).

    The mean over sentences of the mean over unordered pairs of 1 - :func:`tree_similarity`.

    Args:
        trees: the trees of one sentence's paraphrases, or one list of trees for each sentence;
            trees in brackets are read. ``None`` and ``(())`` are left out.
        decay: lambda in (0, 1]. The published figures need about .4, which the paper does not say.
        words: whether words are parts of the trees.
        lone: what a sentence counts that has fewer than two trees left: "zero" (as published) or
            "skip", which leaves it out.

    Returns:
        0 (equal) to 1 (no production in common); ``None`` where no sentence has two trees.

    Raises:
        FormatError: brackets do not balance.
        UsageError: the decay is not in (0, 1].
        UnknownNameError: ``lone`` is neither "zero" nor "skip".

    >>> round(syntactic_diversity(["(NP (DT a) (NN cat))", "(NP (DT a) (NN dog))"]), 3)
    0.394
    """
    if lone not in LONE:
        raise UnknownNameError("way to count a lone tree", lone, LONE)
    flat = all(isinstance(tree, (Tree, str)) for tree in trees)
    values = syntactic_values([trees] if flat else trees, decay=decay, words=words)  # type: ignore[list-item, arg-type]  # told apart by the line above
    return counted(values, lone)


def counted(values: Sequence[float | None], lone: str) -> float | None:
    """The mean over sentences, those without a value counted or left out."""
    found = mean(values)
    if found is None or lone == "skip":
        return found
    return sum(value or 0.0 for value in values) / len(values)


def syntactic_values(
    groups: Sequence[Sequence[Tree | str | None]], *, decay: float = 0.4, words: bool = True
) -> list[float | None]:
    """DS_t of each sentence; ``None`` where it has fewer than two trees."""
    check_decay(decay)
    return [_apart(group, decay, words) for group in groups]


def _apart(group: Sequence[Tree | str | None], decay: float, words: bool) -> float | None:  # noqa: FBT001  # passed on
    read = (parse_tree(tree) if isinstance(tree, str) else tree for tree in group)
    nodes = [Nodes.of(tree, decay=decay, words=words) for tree in read if tree is not None]
    alike = [similarity(a, b) for a, b in combinations(nodes, 2)]
    return mean([None if value is None else 1 - value for value in alike])


# Sets of wordings: what lies beside each other for every segment.


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


# What is wrong with a request, before anything is scored or parsed.


MEASURES = (*LEXICAL, "syntactic")


def check_diversity(
    outline: Outline | None,  # noqa: ARG001  # as of all checks; nothing depends on it
    *,
    measures: Sequence[str] = MEASURES,
    parser: str | None = None,
    language: str | None = None,
    tokenizer: str = "13a",
    decay: float = 0.4,
    lone: str = "zero",
) -> Iterator[Fault]:
    """What :func:`gnomon.paraphrase.diversity` refuses; arguments are as there."""
    if not measures:
        said = f"no measure is asked for; name some of {', '.join(MEASURES)}"
        yield Fault("measures", UsageError(said))
    for number, measure in enumerate(measures):
        if measure not in MEASURES:
            error = UnknownNameError("measure of diversity", measure, MEASURES)
            yield Fault(f"measures[{number}]", error)
    if lone not in LONE:
        yield Fault("lone", UnknownNameError("way to count a lone tree", lone, LONE))
    yield from _tokeniser(tokenizer)
    yield from faults("decay", check_decay, decay)
    if "syntactic" in measures:
        yield from parser_faults(parser=parser, language=language)


def check_coverage(
    outline: Outline | None, *, longest: int = 4, most: int = 20, tokenizer: str = "13a"
) -> Iterator[Fault]:
    """What :func:`gnomon.paraphrase.coverage` refuses; arguments are as there."""
    yield from faults("longest", check_longest, longest)
    if most < 0:
        yield Fault("most", UsageError(f"n-grams to list are 0 or more; got {most}"))
    yield from _tokeniser(tokenizer)
    if outline is not None and not outline.systems:
        said = "coverage is of the outputs of systems, and the test set has none"
        yield Fault("", DataError(said))


def _tokeniser(name: str) -> Iterator[Fault]:
    yield from faults("tokenizer", check_tokeniser, name)


_TITLE = "How different the wordings of each set are"
_SHOWN = 10
_COLUMNS = (
    Column("set", "Set", help="a method of paraphrasing, references, or the systems' outputs"),
    Column("measure", "Measure"),
    Column("value", "Diversity", "share", 4, "higher", "0: equal wordings, 1: nothing in common"),
    Column("n", "n", "count", help="segments with two wordings or more"),
    Column("wordings", "Wordings", "number", 1, help="mean number of wordings of these segments"),
    Column("skipped", "Skipped", "count", help="wordings without a tree (syntactic)"),
)


def diversity(
    sets: Mapping[str, Wordings],
    *,
    trees: Mapping[str, Parses] | None = None,
    measures: Sequence[str] = MEASURES,
    parser: str | None = None,
    language: str | None = None,
    tokenizer: str = "13a",
    decay: float = 0.4,
    words: bool = True,
    lone: str = "zero",
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """Lexical and syntactic diversity of sets of wordings (Bawden et al., 2020, section 5).

    Args:
        sets: name -> one list of texts per segment; see :func:`sets_of`.
        trees: name -> one list of trees per segment, for sets that were parsed elsewhere.
        measures: among "lexical", "lexical-tokens" and "syntactic", which is left out where there
            are neither trees nor a parser nor a language.
        parser: ``spacy:NAME``, whose dependencies make the trees of sets that come without.
        language: likewise by the standard pipeline of a language.
        tokenizer: of the lexical measures.
        decay: lambda of the tree kernel.
        words: whether words are parts of the trees.
        lone: what a segment with fewer than two trees counts: "zero" or "skip".
        cache: where trees are kept between runs.
        progress: called with a stage, what is done, and the total.

    Returns:
        A finding with rows ``set, measure, value, n, wordings, skipped``, and for each set the
        segments with the most different wordings side by side.

    Raises:
        DataError: no set holds two wordings of any segment; trees are not parallel to texts.
        UnknownNameError: there is no such measure.
    """
    refuse(
        check_diversity(
            None, measures=measures, parser=parser, language=language, tokenizer=tokenizer,
            decay=decay, lone=lone,
        )
    )  # fmt: skip
    lexical = {
        (name, measure): lexical_values(groups, measure, tokenizer=tokenizer)
        for name, groups in sets.items()
        for measure in LEXICAL
        if measure in measures
    }
    rows = [
        _row(name, measure, values, mean(values), sets[name])
        for (name, measure), values in lexical.items()
    ]
    notices: list[str] = []
    if "syntactic" in measures:
        parses = dict(trees or {})
        check_trees(parses, _size(sets, parses), {name: len(own) for name, own in sets.items()})
        parses |= _parsed(sets, parses, parser, language, cache, progress)
        for name, groups in parses.items():
            values = syntactic_values(groups, decay=decay, words=words)
            rows.append(_row(name, "syntactic", values, counted(values, lone), groups))
            notices += _lone(name, values, lone)
    if not any(row["n"] for row in rows):
        raise DataError(
            "no segment has two wordings in any set, so that nothing can differ; give two or more"
            " paraphrases of a method (ref.NAME1.txt ref.NAME2.txt, or JSONL), references, or"
            " outputs of systems"
        )
    order = {name: place for place, name in enumerate(dict.fromkeys([*sets, *(trees or {})]))}
    rows.sort(key=lambda row: order[str(row["set"])])
    tree_fields = {
        "decay": decay,
        "words": words,
        "lone": lone,
        "trees": parser or language or "files",
    }
    signature = Signature("diversity").adding(
        {"tok": tokenizer, **(tree_fields if "syntactic" in measures else {})}
    )
    return Finding(
        method="paraphrase diversity",
        title=_TITLE,
        tables=(Table("diversity", _TITLE, _COLUMNS, tuple(rows)),),
        signatures={"diversity": str(signature)},
        views=(
            Listing("diversity", _TITLE, tuple(column.name for column in _COLUMNS)),
            Bars("diversity", _TITLE, "set", "measure", ("value",), beside="n"),
        ),
        exhibits=tuple(_exhibits(sets, tokenizer)),
        notices=tuple(notices),
        facts={"sets": ", ".join(order), "segments": str(_size(sets, trees or {}))},
    )


def _size(*sets: Mapping[str, Sequence[object]]) -> int:
    return max(len(groups) for mapping in sets for groups in mapping.values())


def _row(
    name: str,
    measure: str,
    values: Sequence[float | None],
    value: float | None,
    groups: Sequence[Sequence[object | None]],
) -> dict[str, Cell]:
    sizes = [sum(one is not None for one in group) for group in groups]
    known = [size for size, found in zip(sizes, values, strict=True) if found is not None]
    missing = sum(map(len, groups)) - sum(sizes)
    return {
        "set": name,
        "measure": measure,
        "value": value,
        "n": len(known),
        "wordings": sum(known) / len(known) if known else None,
        "skipped": missing if measure == "syntactic" else None,
    }


def _parsed(
    sets: Mapping[str, Wordings],
    known: Mapping[str, Parses],
    parser: str | None,
    language: str | None,
    cache: Cache | None,
    progress: Callable[[str, int, int], None] | None,
) -> dict[str, Parses]:
    from gnomon.annotate import parse

    left = {name: groups for name, groups in sets.items() if name not in known}
    if not left or (parser is None and language is None):
        return {}
    texts = list(dict.fromkeys(t for groups in left.values() for g in groups for t in g if t))
    trees = parse(texts, tagger=parser, language=language, cache=cache, progress=progress)
    return by_parser(left, dict(zip(texts, trees, strict=True)))


def _lone(name: str, values: Sequence[float | None], lone: str) -> list[str]:
    bare = sum(value is None for value in values)
    other = "skip" if lone == "zero" else "zero"
    value = counted(values, other)
    if not bare or value is None:
        return []
    counts = "count 0" if lone == "zero" else "are left out"
    said = f"{name}: {bare} segment(s) with fewer than two trees {counts}"
    return [f"{said}; with lone={other!r} the value is {value:.4f}"]


def _exhibits(sets: Mapping[str, Wordings], tokenizer: str) -> list[Exhibit]:
    found = []
    for name, groups in sets.items():
        values = lexical_values(groups, tokenizer=tokenizer)
        order = sorted((-v, i) for i, v in enumerate(values) if v is not None)[:_SHOWN]
        for value, segment in order:
            texts = [text for text in groups[segment] if text is not None]
            found.append(_exhibit(name, segment, texts, -value))
    return found


def _exhibit(name: str, segment: int, texts: Sequence[str], value: float) -> Exhibit:
    return Exhibit(
        group=name,
        kind="most different words",
        segment=segment + 1,
        texts=tuple(
            ExhibitText(
                "candidate" if name == SYSTEMS else "reference",
                f"{name}.{number}",
                text,
                _not_common(text, texts),
            )
            for number, text in enumerate(texts, start=1)
        ),
        weight=value,
        caption=f"diversity {value:.2f} over {len(list(combinations(texts, 2)))} pairs; marked:"
        " words that no other wording has",
    )


def _not_common(text: str, texts: Sequence[str]) -> tuple[Highlight, ...]:
    """The white-space words that no other wording has."""
    others = {word for other in texts if other is not text for word in other.split()}
    marks, at = [], 0
    for word in text.split():
        start = text.index(word, at)
        at = start + len(word)
        if word not in others:
            marks.append(Highlight(start, at))
    return tuple(marks)
