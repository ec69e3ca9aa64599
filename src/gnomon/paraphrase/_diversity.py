"""Sets of wordings: their diversity in words and structure, and their adequacy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Annotated

from gnomon.core.errors import DataError, UsageError
from gnomon.core.findings import Bars, Exhibit, ExhibitText, Finding, Highlight, Listing
from gnomon.core.options import Group, expand_fields
from gnomon.core.records import column_names, table
from gnomon.core.registry import method
from gnomon.core.run_settings import Run
from gnomon.core.scripts import spaced_words, split_words
from gnomon.core.signature import Signature
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem, problems
from gnomon.data.formats import method_of
from gnomon.linguistics import find_parser
from gnomon.messages import message
from gnomon.messages.audiences import Named, flag
from gnomon.metrics.base import Metrics, list_metrics
from gnomon.metrics.diversity import LEXICAL, lexical_values
from gnomon.metrics.means import mean
from gnomon.metrics.registry import check_metric
from gnomon.metrics.tokenise import check_tokeniser, text_tokeniser
from gnomon.paraphrase._constraints import Tokeniser
from gnomon.paraphrase._wordings import (
    SYSTEMS,
    Paraphrases,
    ParserName,
    Parses,
    TreeSets,
    Wordings,
    check_trees,
    parse_wordings,
    sets_in,
    trees_of,
)
from gnomon.paraphrase.adequacy import ADEQUACY_TITLE, AdequacyRow, adequacy_rows, adequacy_views
from gnomon.paraphrase.diversity_verdict import DiversityRow, diversity_verdict
from gnomon.paraphrase.set_diversity import set_mean, syntactic_values
from gnomon.paraphrase.set_inputs import _parser_of, read_sets, wordings_of_study

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.cache import Cache
    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline
    from gnomon.messages import Message

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


def check_diversity(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`gnomon.paraphrase.diversity` that fit each alone."""
    if options.tokenizer is not None:
        yield from problems("tokenizer", check_tokeniser, options.tokenizer)
    for number, metric in enumerate(list_metrics(options.metrics)):
        place, allow_code = f"metrics[{number}]", options.allow_code
        yield from problems(place, check_metric, metric, outline, allow_code=allow_code)  # type: ignore[arg-type]
    if options.tagger is not None:
        yield from problems("tagger", find_parser, options.tagger)


@dataclass(frozen=True)
class SyntaxTrees:
    """Where the trees of the wordings come from.

    Attributes:
        trees: files of constituency trees that were parsed elsewhere, ref.NAME.ptb, with one
            bracketed tree per line; in Python also lists of trees per segment by name.
        parse: parse the other sets into trees, from dependencies, by the standard pipeline of the
            test set's language.
        tagger: the parser to use in its place (``spacy:NAME``); it implies ``parse``.
    """

    trees: TreeSets | None = None
    parse: Annotated[bool, Group("syntax trees")] = False
    tagger: ParserName = None


@method(
    "paraphrase.diversity",
    purpose="measure how different paraphrases are, in words and in structure, and how adequate",
    title="Paraphrases: diversity",
    data=("sets", "references"),
    given=read_sets,
    unread=("sources", "documents", "domains"),
    examples=_EXAMPLES,
    tables={"": "paraphrase_diversity"},
    rows={"diversity": DiversityRow, "adequacy": AdequacyRow},
    metrics="none",
    systems=False,
    from_study=wordings_of_study,
    check=check_diversity,
    verdict=diversity_verdict,
)
@expand_fields(syntax=SyntaxTrees, run=Run)
def diversity(
    sets: Mapping[str, Wordings] | TestSet | Paraphrases,
    references: TestSet | None = None,
    *,
    metrics: Metrics = (),
    tokenizer: Tokeniser = None,
    syntax: SyntaxTrees,
    run: Run,
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
    tagger = syntax.tagger
    if syntax.parse and tagger is None:
        known = sets if isinstance(sets, TestSet) else references
        tagger = _parser_of(None if known is None else known.outline.target_language)
    given_trees = trees_of(syntax.trees)
    by_set = sets_in(sets)
    adequate, signatures = _adequate(sets, by_set, references, metrics, allow_code=run.allow_code)
    texts = [text for groups in by_set.values() for group in groups for text in group]
    tokeniser = text_tokeniser(texts, tokenizer)
    lexical = {
        (name, measure): lexical_values(groups, measure, tokenizer=tokeniser)
        for name, groups in by_set.items()
        for measure in LEXICAL
    }
    rows = [
        _row(name, measure, values, mean(values), by_set[name])
        for (name, measure), values in lexical.items()
    ]
    notices: list[Message] = []
    sizes = {name: len(in_set) for name, in_set in by_set.items()}
    check_trees(given_trees, _size(by_set, given_trees), sizes)
    parses = given_trees | _parse_sets(by_set, given_trees, tagger, run.cache, run.progress)
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
    signature = Signature("diversity").adding({"tok": tokeniser, **(tree_fields if parses else {})})
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
        exhibits=tuple(_exhibits(by_set, tokeniser)),
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
    if not list_metrics(metrics):
        return [], {}
    if references is None and isinstance(given, TestSet):
        plain = {k: v for k, v in given.references.items() if k not in given.paraphrases}
        references = replace(given, references=plain, system_references={}, paraphrases={})
    if references is None:
        raise UsageError(
            "metrics compare paraphrases with references: name these first, and the paraphrases"
            " with ",
            flag("paraphrases", "FILE"),
            ", or give a test set (",
            Named("-t DIR", "references=..."),
            ")",
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


def _parse_sets(
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
    return parse_wordings(left, dict(zip(texts, trees, strict=True)))


def _lone(name: str, values: Sequence[float | None]) -> list[Message]:
    bare = sum(value is None for value in values)
    value = set_mean(values, "skip")
    if not bare or value is None:
        return []
    return [message("note.paraphrase.lone", set=name, segments=bare, value=value)]


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
    """The words that no other wording has."""
    rest = (other for other in texts if other is not text)
    others = {word for other in rest for word in split_words(other)}
    return tuple(
        Highlight(start, end) for start, end in spaced_words(text) if text[start:end] not in others
    )
