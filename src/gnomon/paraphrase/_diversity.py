"""Sets of wordings: how different they are in words and structure, and how adequate."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from gnomon.core.cache import Cache
from gnomon.core.errors import DataError, UsageError
from gnomon.core.findings import Bars, Exhibit, ExhibitText, Finding, Highlight, Listing
from gnomon.core.options import Group, Metavar
from gnomon.core.records import Record, column, column_names, table
from gnomon.core.registry import method
from gnomon.core.signature import Signature
from gnomon.core.summary import target_of
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem, problems
from gnomon.core.verdicts import LEAST, amount, counted, listed
from gnomon.data.formats import Tree, method_of, parse_tree, read_systems
from gnomon.linguistics import parser_faults, standard_parser
from gnomon.messages import message
from gnomon.metrics.diversity import LEXICAL, lexical_values, mean
from gnomon.metrics.protocol import Metrics
from gnomon.metrics.registry import check_metric
from gnomon.metrics.tokenise import check_tokeniser
from gnomon.paraphrase._wordings import (
    SYSTEMS,
    Paraphrases,
    ParserName,
    Parses,
    TreeSets,
    Wordings,
    by_parser,
    check_trees,
    chosen_of,
    cut,
    each_of,
    sets_in,
    sets_of,
    tree_sets,
    trees_of,
    wordings_of,
)
from gnomon.paraphrase.adequacy import (
    ADEQUACY_TITLE,
    AdequacyRow,
    adequacy_rows,
    adequacy_verdict,
    adequacy_views,
)
from gnomon.paraphrase.page import word_spans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.options import BoundOptions
    from gnomon.core.summary import Outline
    from gnomon.core.testset import Paraphrase
    from gnomon.messages import Message


# How different the words of paraphrases are.


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

    >>> lexical_diversity(["the cat sat here", "the cat lay here"])
    0.25
    """
    groups = [sentences] if all(isinstance(s, str) for s in sentences) else sentences
    return mean(lexical_values(groups, variant, tokenizer=tokenizer))  # type: ignore[arg-type]  # lexical_values refuses what is no group


# How alike two trees are: the subset-tree kernel, normalised.


@dataclass(frozen=True, eq=False)
class Nodes:
    """A tree as its productions, children before their parents."""

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
        by_production: dict[tuple[str, ...], list[int]] = {}
        for node, production in enumerate(self.productions):
            by_production.setdefault(production, []).append(node)
        return by_production

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

    >>> round(tree_similarity("(NP (DT a) (NN cat))", "(NP (DT a) (NN dog))"), 3)
    0.606
    """
    check_decay(decay)
    nodes, other = (_nodes(tree, decay, words) for tree in (a, b))
    return None if nodes is None or other is None else similarity(nodes, other)


def check_decay(decay: float) -> None:
    """Refuse a decay outside of (0, 1]."""
    if not 0 < decay <= 1:
        raise UsageError(f"the decay (lambda) of the tree kernel is in (0, 1]; got {decay}")


def similarity(a: Nodes, b: Nodes) -> float | None:
    """The normalised kernel of two numbered trees; ``None`` where one has no production."""
    if not a.productions or not b.productions:
        return None
    return min(1.0, math.exp(_log_kernel(a, b) - (a.own + b.own) / 2))


def _nodes(tree: Tree | str, decay: float, words: bool) -> Nodes | None:  # noqa: FBT001  # passed on
    parsed = parse_tree(tree) if isinstance(tree, str) else tree
    return None if parsed is None else Nodes.of(parsed, decay=decay, words=words)


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


Lone: TypeAlias = Literal["zero", "skip"]


def syntactic_diversity(
    trees: Sequence[Sequence[Tree | str | None]] | Sequence[Tree | str],
    *,
    decay: float = 0.4,
    words: bool = True,
    lone: Lone = "zero",
) -> float | None:
    """How different the constituency trees of paraphrases are, DS_t (Bawden et al., 2020).

    The mean over sentences of the mean over unordered pairs of 1 - :func:`tree_similarity`.

    >>> round(syntactic_diversity(["(NP (DT a) (NN cat))", "(NP (DT a) (NN dog))"]), 3)
    0.394
    """
    flat = all(isinstance(tree, (Tree, str)) for tree in trees)
    values = syntactic_values([trees] if flat else trees, decay=decay, words=words)  # type: ignore[list-item, arg-type]  # the line above tells which
    return set_mean(values, lone)


def set_mean(values: Sequence[float | None], lone: str) -> float | None:
    """The mean over sentences, those without a value counted or left out."""
    average = mean(values)
    if average is None or lone == "skip":
        return average
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


# Diversity of sets as a method


_TITLE = "How different the wordings of each set are"
_SHOWN = 10
_EXAMPLES = """\
Files that differ in a number at the end are one set: ref.human1.txt and ref.human2.txt are "human".
In JSONL a method is a set. The outputs of two systems or more are a set, too. Beside --paraphrases,
files that are named first are references; with -m, each paraphrase is scored against them as if it
were an output.

examples:
  gnomon paraphrase diversity ref.human1.txt ref.human2.txt ref.human3.txt
  gnomon paraphrase diversity -t wmt19/de-en --paraphrases made.jsonl -l en --parse
  gnomon paraphrase diversity --trees ref.human1.ptb ref.human2.ptb
  gnomon paraphrase diversity ref.txt --paraphrases made.jsonl -m chrf bertscore
"""


class DiversityRow(Record):
    """How different the wordings of a set are, by one measure."""

    set: str = column("Set", help="a method of paraphrasing, references, or the systems' outputs")
    measure: str = column("Measure", help="what is compared: words, or trees (syntactic)")
    value: float | None = column(
        "Diversity",
        kind="share",
        digits=4,
        better="higher",
        help="0: equal wordings, 1: nothing in common",
    )
    n: int = column("n", help="segments with two wordings or more")
    wordings: float | None = column(
        "Wordings", digits=1, help="mean number of wordings of these segments"
    )
    skipped: int | None = column("Skipped", help="wordings without a tree (syntactic)")


def check_diversity(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`gnomon.paraphrase.diversity` refuses of options that fit each alone."""
    yield from problems("tokenizer", check_tokeniser, options.tokenizer)
    for number, metric in enumerate(each_of(options.metrics)):
        yield from problems(
            f"metrics[{number}]", check_metric, metric, outline, allow_code=options.allow_code
        )
    for problem in parser_faults(parser=options.tagger):
        yield problem._replace(option="tagger")


def _named_sets(inputs: Any, options: dict[str, Any]) -> tuple[dict[str, Wordings], TestSet | None]:
    """The sets of wordings that a command line names, and the references if there are some."""
    given = inputs.one()
    args = given.args
    if options.get("trees"):
        options["trees"] = cut(tree_sets(options["trees"]), args.first)
    if options.get("parse") and not args.test_set and not options.get("tagger"):
        options["tagger"] = _parser_of(args.language_pair and target_of(args.language_pair))
    files = args.paraphrases or ()
    if args.table or args.test_set or (args.refs and files):
        testset = given.original() if args.table or args.test_set else given.references()
        return sets_of(testset, chosen_of(given, files, testset.segments)), testset
    files = [*args.refs, *files]
    if not (files or args.input or options.get("trees")):
        raise UsageError(
            "nothing to compare: name files of paraphrases (ref.NAME1.txt ref.NAME2.txt, or"
            " --paraphrases FILE.jsonl), a test set (-t DIR) or trees (--trees FILE.ptb)"
        )
    sets = wordings_of(chosen_of(given, files, None))
    if args.input:
        sets |= {SYSTEMS: list(zip(*read_systems(args.input).values(), strict=True))}
    return {name: groups[: args.first] for name, groups in sets.items()}, None


def _parser_of(language: str | None) -> str:
    """The standard parser of a language."""
    if not language:
        raise UsageError(
            "what parses must be known: give a language (-l en; a test set with its language pair)"
            " or a parser (--tagger spacy:NAME; tagger='spacy:NAME')"
        )
    return standard_parser(language)


def _sets_of_study(
    *, original: TestSet, chosen: Sequence[Paraphrase], **_: object
) -> tuple[dict[str, Wordings], TestSet]:
    return sets_of(original, chosen), original


#: the measures that sentences tell, and what these are called there
_DIVERSITY = {
    "lexical": "Diversity of words",
    "syntactic": "Diversity of sentence structures",
}


def diversity_verdict(finding: Finding) -> Iterator[Message]:
    """Which set differs most within itself, by each measure."""
    every = [row for row in finding.records(DiversityRow) if row.value is not None]
    for measure, what in _DIVERSITY.items():
        rows = [row for row in every if row.measure == measure]
        if not rows:
            continue
        rows.sort(key=lambda row: -(row.value or 0.0))
        sets = [
            f"{row.set} {amount(row.value or 0.0, share=True)} ({counted(row.n)})" for row in rows
        ]
        few = any(row.n < LEAST for row in rows)
        yield message(
            "paraphrase.diversity.few_segments" if few else "paraphrase.diversity.sets",
            finding.positions(rows),
            measure=what[0].lower() + what[1:] if few else what,
            sets=listed(sets),
        )
    yield from adequacy_verdict(finding)


@method(
    "paraphrase.diversity",
    purpose="measure how different paraphrases are, in words and in structure, and how adequate",
    title="Paraphrases: diversity",
    data=("sets", "references"),
    given=_named_sets,
    unread=("sources", "documents", "domains"),
    examples=_EXAMPLES,
    tables={"": "paraphrase_diversity"},
    rows={"diversity": DiversityRow, "adequacy": AdequacyRow},
    metrics="none",
    systems=False,
    from_study=_sets_of_study,
    check=check_diversity,
    verdict=diversity_verdict,
)
def diversity(
    sets: Mapping[str, Wordings] | TestSet | Paraphrases,
    references: TestSet | None = None,
    *,
    metrics: Metrics = (),
    tokenizer: Annotated[str, Metavar("NAME")] = "13a",
    trees: TreeSets | None = None,
    parse: Annotated[bool, Group("syntax trees")] = False,
    tagger: ParserName = None,
    allow_code: bool = False,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """Diversity and adequacy of sets of wordings (Bawden et al., 2020, section 5).

    Diversity is lexical and syntactic. :func:`syntactic_diversity` has the options of the kernel;
    here a segment with fewer than two trees counts 0.

    Args:
        sets: name -> one list of texts per segment (see :func:`sets_of`); a test set, whose
            references, paraphrases and outputs are sets; or paraphrases, or files of them.
        references: what paraphrases are compared with by the metrics; by default those of a test
            set that is given as the sets.
        metrics: score each paraphrase as if it were an output, for the means of each method; those
            that look at meaning say more than those that count words.
        tokenizer: of the lexical measures; a tokeniser of BLEU.
        trees: constituency trees of sets that were parsed elsewhere: name -> one list of trees per
            segment, or files of one tree in brackets per line: ref.NAME.ptb.
        parse: make the trees of the other sets, from dependencies, by the standard pipeline of the
            language of the test set.
        tagger: the parser that does that (``spacy:NAME``); it need not be asked for by ``parse``.

    Returns:
        A finding with rows ``set, measure, value, n, wordings, skipped``, the table "adequacy" of
        ``method, measure, value, low, high, n, segments`` where metrics are given, and for each set
        the segments with the most different wordings side by side.

    Raises:
        DataError: no set holds two wordings of any segment; trees are not parallel to texts; there
            is no paraphrase, or one is of a segment that is not there.
        UsageError: trees are to be made, and nothing says of which language; metrics are given, and
            no references.
    """
    if parse and tagger is None:
        known = sets if isinstance(sets, TestSet) else references
        tagger = _parser_of(None if known is None else known.outline.target_language)
    given_trees = trees_of(trees)
    by_set = sets_in(sets)
    adequate, signatures = _adequate(sets, by_set, references, metrics, allow_code=allow_code)
    lexical = {
        (name, measure): lexical_values(groups, measure, tokenizer=tokenizer)
        for name, groups in by_set.items()
        for measure in LEXICAL
    }
    rows = [
        _row(name, measure, values, mean(values), by_set[name])
        for (name, measure), values in lexical.items()
    ]
    notices: list[str] = []
    sizes = {name: len(in_set) for name, in_set in by_set.items()}
    check_trees(given_trees, _size(by_set, given_trees), sizes)
    parses = given_trees | _parsed(by_set, given_trees, tagger, cache, progress)
    for name, groups in parses.items():
        values = syntactic_values(groups)
        rows.append(_row(name, "syntactic", values, set_mean(values, "zero"), groups))
        notices += _lone(name, values)
    if not (adequate or any(row.n for row in rows)):
        raise DataError(
            "no segment has two wordings in any set, so that nothing can differ; give two or more"
            " paraphrases of a method (ref.NAME1.txt ref.NAME2.txt, or JSONL), references, or"
            " outputs of systems"
        )
    order = {name: position for position, name in enumerate(dict.fromkeys([*by_set, *given_trees]))}
    rows.sort(key=lambda row: order[row.set])
    tree_fields = {
        "decay": 0.4,
        "words": True,
        "lone": "zero",
        "trees": tagger or "files",
    }
    signature = Signature("diversity").adding({"tok": tokenizer, **(tree_fields if parses else {})})
    return Finding(
        method="paraphrase diversity",
        title=_TITLE,
        tables=(
            table("diversity", _TITLE, DiversityRow, rows),
            *([table("adequacy", ADEQUACY_TITLE, AdequacyRow, adequate)] if adequate else []),
        ),
        signatures={"diversity": signature, **signatures},
        views=(
            Listing("diversity", _TITLE, column_names(DiversityRow)),
            Bars("diversity", _TITLE, "set", "measure", ("value",), beside="n"),
            *(adequacy_views() if adequate else ()),
        ),
        exhibits=tuple(_exhibits(by_set, tokenizer)),
        notices=tuple(notices),
        facts={"sets": ", ".join(order), "segments": str(_size(by_set, given_trees))},
    )


def _adequate(
    given: Mapping[str, Wordings] | TestSet | Paraphrases,
    by_set: Mapping[str, Wordings],
    references: TestSet | None,
    metrics: Metrics,
    *,
    allow_code: bool,
) -> tuple[list[AdequacyRow], dict[str, Signature]]:
    """Adequacy of the sets that are neither references nor outputs of systems."""
    if not each_of(metrics):
        return [], {}
    if references is None and isinstance(given, TestSet):
        plain = {k: v for k, v in given.references.items() if k not in given.paraphrases}
        references = replace(given, references=plain, system_references={}, paraphrases={})
    if references is None:
        raise UsageError(
            "metrics compare paraphrases with references: name these first, and the paraphrases"
            " with --paraphrases FILE, or give a test set (-t DIR; references=...)"
        )
    others = {SYSTEMS, *map(method_of, references.references)}
    made = {name: groups for name, groups in by_set.items() if name not in others}
    return adequacy_rows(references, made, metrics, allow_code=allow_code)


def _size(*sets: Mapping[str, Sequence[object]]) -> int:
    return max((len(groups) for mapping in sets for groups in mapping.values()), default=0)


def _row(
    name: str,
    measure: str,
    values: Sequence[float | None],
    value: float | None,
    groups: Sequence[Sequence[object | None]],
) -> DiversityRow:
    sizes = [sum(wording is not None for wording in group) for group in groups]
    defined = [size for size, cell in zip(sizes, values, strict=True) if cell is not None]
    missing = sum(map(len, groups)) - sum(sizes)
    return DiversityRow(
        set=name,
        measure=measure,
        value=value,
        n=len(defined),
        wordings=sum(defined) / len(defined) if defined else None,
        skipped=missing if measure == "syntactic" else None,
    )


def _parsed(
    sets: Mapping[str, Wordings],
    known: Mapping[str, Parses],
    tagger: str | None,
    cache: Cache | None,
    progress: Callable[[str, int, int], None] | None,
) -> dict[str, Parses]:
    from gnomon.linguistics import parse

    left = {name: groups for name, groups in sets.items() if name not in known}
    if not left or tagger is None:
        return {}
    texts = list(dict.fromkeys(t for groups in left.values() for g in groups for t in g if t))
    trees = parse(texts, tagger=tagger, cache=cache, progress=progress)
    return by_parser(left, dict(zip(texts, trees, strict=True)))


def _lone(name: str, values: Sequence[float | None]) -> list[str]:
    bare = sum(value is None for value in values)
    value = set_mean(values, "skip")
    if not bare or value is None:
        return []
    statement = f"{name}: {bare} segment(s) with fewer than two trees count 0"
    return [f"{statement}; without them the value is {value:.4f}"]


def _exhibits(sets: Mapping[str, Wordings], tokenizer: str) -> list[Exhibit]:
    exhibits = []
    for name, groups in sets.items():
        values = lexical_values(groups, tokenizer=tokenizer)
        order = sorted((-v, i) for i, v in enumerate(values) if v is not None)[:_SHOWN]
        for value, segment in order:
            texts = [text for text in groups[segment] if text is not None]
            exhibits.append(_exhibit(name, segment, texts, -value))
    return exhibits


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
    spans = word_spans(text)
    return tuple(Highlight(start, end) for start, end in spans if text[start:end] not in others)
