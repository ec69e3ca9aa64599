"""How different the wordings in each set are: words, structure, and the segments to look at."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from gnomon.errors import DataError
from gnomon.faults import refuse
from gnomon.findings import (
    Bars,
    Column,
    Exhibit,
    ExhibitText,
    Finding,
    Highlight,
    Listing,
    Table,
)
from gnomon.paraphrase._lexical import LEXICAL, lexical_values, mean
from gnomon.paraphrase._requests import MEASURES, check_diversity
from gnomon.paraphrase._sets import SYSTEMS, by_parser, check_trees
from gnomon.paraphrase._syntactic import counted, syntactic_values
from gnomon.signature import Signature

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gnomon.cache import Cache
    from gnomon.findings import Cell
    from gnomon.paraphrase._sets import Parses, Wordings

__all__ = ["MEASURES", "diversity"]

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
