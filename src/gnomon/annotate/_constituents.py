"""Constituents from dependencies: the trees of sentences where no treebank parser is at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.annotate._protocol import find, for_language
from gnomon.annotate._spacy import SpacyAnnotator
from gnomon.cache import keys
from gnomon.errors import FormatError, UsageError
from gnomon.formats import Tree, parse_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gnomon.cache import Cache

__all__ = ["constituents", "parse"]

_VERSION = "constituents-1"
_BATCH = 1000


def constituents(words: Sequence[str], tags: Sequence[str], heads: Sequence[int]) -> Tree | None:
    """A tree of constituents from a tree of dependencies.

    Each word that has dependents heads a phrase, named after its tag (``NOUN`` -> ``NOUNP``), over
    itself and theirs, in the order of the text; a word alone is its tag over the word. Crossing
    arcs are lifted first: a dependent whose arc crosses another moves up to its head's head
    (Nivre and Nilsson, 2005), the shortest arc first, until no arcs cross.

    Args:
        words: the words.
        tags: a part of speech for each.
        heads: position of each word's head; its own for a root.

    Returns:
        The tree, several roots side by side under a label "S"; ``None`` without words.
    """
    lifted = _projective(list(heads))
    below: list[list[int]] = [[] for _ in words]
    roots: list[int] = []
    for place, head in enumerate(lifted):
        (roots if head == place else below[head]).append(place)
    made: dict[int, Tree] = {}
    for place in _upwards(roots, below):
        word = Tree(tags[place], (words[place],))
        parts = {**{child: made[child] for child in below[place]}, place: word}
        phrase = Tree(f"{tags[place]}P", tuple(parts[p] for p in sorted(parts)))
        made[place] = phrase if below[place] else word
    if not roots:
        return None
    return Tree("S", tuple(made[root] for root in roots))


def parse(
    texts: Sequence[str],
    *,
    tagger: str | None = None,
    language: str | None = None,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[Tree | None]:
    """Trees of texts by a spaCy pipeline's dependencies; see :func:`constituents`.

    Args:
        texts: the texts; equal ones are parsed once.
        tagger: ``spacy:NAME``; by default the standard one of the language.
        language: "en", or a pair "de-en", of which the target counts.
        cache: where trees are kept between runs.
        progress: called with "parsing", texts done, texts to do.

    Returns:
        One tree per text; ``None`` for a text without words, or nested deeper than 300.

    Raises:
        UsageError: neither tagger nor language was given, or the tagger is no spaCy pipeline.
        MissingDependencyError: the pipeline is not installed.
    """
    if tagger is None and language is None:
        raise UsageError(
            "trees need a parser: name the language (-l en; language='en'), or a tagger (--tagger"
            " spacy:en_core_web_sm), or give trees of your own in brackets (--trees FILE.ptb)"
        )
    annotator = find(tagger) if tagger is not None else for_language(str(language))
    if not isinstance(annotator, SpacyAnnotator):
        raise UsageError(f"trees are made from spaCy's dependencies; {annotator.name} is not spaCy")
    distinct = list(dict.fromkeys(texts))
    names = dict(zip(distinct, keys([_VERSION, annotator.signature], distinct), strict=True))
    kept = cache.get_many(list(names.values())) if cache is not None else {}
    known = {t: kept[key].decode() for t, key in names.items() if key in kept}
    missing = [text for text in distinct if text not in known]
    for start in range(0, len(missing), _BATCH):
        part = missing[start : start + _BATCH]
        rows = annotator.dependencies(part)
        new = {
            text: str(constituents(*row) or "(())") for text, row in zip(part, rows, strict=True)
        }
        known |= new
        if cache is not None:
            cache.put_many({names[text]: tree.encode() for text, tree in new.items()})
        if progress is not None:
            progress("parsing", start + len(part), len(missing))
    trees = {text: _read(tree) for text, tree in known.items()}
    return [trees[text] for text in texts]


def _read(text: str) -> Tree | None:
    try:
        return parse_tree(text)
    except FormatError:  # nested too deeply: a text of hundreds of words without a structure
        return None


def _upwards(roots: Sequence[int], below: Sequence[Sequence[int]]) -> list[int]:
    """All words, each after those below it."""
    order: list[int] = []
    stack = list(roots)
    while stack:
        place = stack.pop()
        order.append(place)
        stack.extend(below[place])
    return order[::-1]


def _projective(heads: list[int]) -> list[int]:
    """The heads after crossing arcs have been lifted."""
    while True:
        crossing = [place for place in range(len(heads)) if _crosses(place, heads)]
        if not crossing:
            return heads
        place = min(crossing, key=lambda p: abs(p - heads[p]))
        head = heads[place]
        heads[place] = heads[head] if heads[head] != head else head
        if heads[place] == head:  # its head is a root: the word becomes a root beside it
            heads[place] = place


def _crosses(place: int, heads: Sequence[int]) -> bool:
    """Whether a word between a word and its head is not below that head."""
    head = heads[place]
    low, high = sorted((place, head))
    return any(not _below(between, head, heads) for between in range(low + 1, high))


def _below(place: int, head: int, heads: Sequence[int]) -> bool:
    while place != head and heads[place] != place:
        place = heads[place]
    return place == head
