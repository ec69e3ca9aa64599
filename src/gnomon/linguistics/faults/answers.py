"""Outputs in which a model answers, introduces or remarks instead of translating."""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

from gnomon.core.scripts import split_words, unspaced_language
from gnomon.linguistics.faults.kinds import Hit, fault
from gnomon.linguistics.faults.phrases import find_phrase, phrase_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from gnomon.linguistics.faults.texts import Texts

_REMARK, _FUNCTION = 10, 4  # words in a row, and those of them that are function words
_COMMON = 60  # the commonest words of the sources
_SELDOM = 0.05  # as common in the references
_OPENING, _OPENING_LETTERS = 4, 8
_SHARE, _LEAST = 0.003, 3  # of the outputs begin alike
_FEW, _SHARE_BESIDE_FEW = 4, 0.05  # other texts, that a turn of phrase may be missing in
_ALIKE, _BEGIN = 0.2, 4  # of their sources begin with the same characters
_BEGINNING = 80  # characters that hold an opening
_MARK = re.compile(r"[.:!…](?!\w)|[。：！\n]")  # where an introduction may end
_ESCAPED = {"&amp;", "&apos;", "&quot;"}


@fault("not-a-translation", group="untranslated", cheap=True)
def not_a_translation(texts: Texts) -> Iterator[Hit]:
    """A refusal, an introduction, a remark or a code fence that the source does not have."""
    hit = set()
    for found in (*_find_listed(texts), *_remarks(texts), *_openings(texts)):
        if (found.column, found.segment) not in hit:
            hit.add((found.column, found.segment))
            yield found


def _find_listed(texts: Texts) -> Iterator[Hit]:
    """Phrases of the lists that the source does not have."""
    pattern = phrase_pattern(texts.language, texts.source_language)
    of_sources = phrase_pattern(texts.source_language)
    for column, segment, text, source in texts.outputs():
        span = find_phrase(pattern, text)
        if span is None or text[slice(*span)].lower() in source.lower():
            continue
        if not find_phrase(of_sources, source):
            yield Hit(column, segment, *span)


def _remarks(texts: Texts) -> Iterator[Hit]:
    """Ten words in a row in the source's language that are no copy of the source."""
    # words of the source's language are looked for
    cut = split_words if unspaced_language(texts.sources or ()) else str.split
    common = _function_words(texts, cut)
    if len(common) < _FUNCTION:
        return
    for column, segment, text, source in texts.outputs():
        words = cut(text.lower())
        if len(words) < _REMARK or len(common.intersection(words)) < 2:
            continue
        marks = [word in common for word in words]
        own = set(cut(source.lower()))
        for at in range(len(words) - _REMARK + 1):
            row = words[at : at + _REMARK]
            if sum(marks[at : at + _REMARK]) >= _FUNCTION and sum(w in own for w in row) <= 6:
                yield Hit(column, segment)
                break


def _function_words(texts: Texts, cut: Callable[[str], list[str]]) -> set[str]:
    """The commonest words of the sources that are rare in the references, or else in the pool."""
    beside = _count_words(chain(*(texts.references or texts.systems).values()), cut)
    of_sources = _count_words(texts.sources or (), cut)
    share = _SELDOM * max(beside.total(), 1) / max(of_sources.total(), 1)
    return {
        word
        for word, count in of_sources.most_common(_COMMON)
        if word.isalpha() and beside[word] < share * count
    }


def _count_words(texts: Iterable[str | None], cut: Callable[[str], list[str]]) -> Counter[str]:
    return Counter(chain.from_iterable(cut(text.lower()) for text in texts if text))


def _openings(texts: Texts) -> Iterator[Hit]:
    """An opening that returns in one column, of other sources each time, and that no other has."""
    if texts.sources is None:
        return
    columns: dict[str, dict[tuple[str, ...], list[int]]] = {}
    for column, segment, text, _ in texts.outputs():
        opening = _opening(texts, text)
        if opening:
            columns.setdefault(column, {}).setdefault(opening, []).append(segment)
    beside = {_opening(texts, text) for text in texts.sources}
    begins = [text[:_BEGIN].lower() for text in texts.sources]
    share = _SHARE if len(texts.columns) > _FEW else _SHARE_BESIDE_FEW
    for column, openings in columns.items() if len(texts.columns) > 1 else ():
        others = [one for name, one in columns.items() if name != column]
        for opening, segments in openings.items():
            if len(segments) < max(_LEAST, share * texts.segments) or opening in beside:
                continue
            alike = max(Counter(begins[one] for one in segments).values())
            if alike > max(_ALIKE * len(segments), 1) or _ESCAPED & {*opening}:
                continue
            if any(opening in one for one in others):
                continue
            if _introduces([texts.columns[column][segment] or "" for segment in segments]):
                yield from (Hit(column, segment) for segment in segments)


def _introduces(outputs: Sequence[str]) -> bool:
    """True if half of the outputs begin alike up to a mark, and go on: else weak systems repeat."""
    begun = Counter(
        text[: mark.end()]
        for text in outputs
        for mark in _MARK.finditer(text[:_BEGINNING])
        if text[mark.end() :].strip()
    )
    return 2 * max(begun.values(), default=0) >= len(outputs)


def _opening(texts: Texts, text: str) -> tuple[str, ...]:
    """The first words of a text, in lower case; empty of shorter texts."""
    begin = text[:_BEGINNING].lower()
    if texts.unspaced:
        return (begin[:_OPENING_LETTERS],) if len(begin) >= _OPENING_LETTERS else ()
    words = begin.split(None, _OPENING)[:_OPENING]
    return tuple(words) if len(words) == _OPENING else ()
