"""Features that the form of words shows, in any language and without a tagger."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gnomon.core.scripts import UNSPACED, main_script, unspaced_language
from gnomon.linguistics.facts import Mark, columns
from gnomon.linguistics.faults.marks import ADDRESS, EMOJI, ENTITY, PLACEHOLDER, TAG
from gnomon.linguistics.feature_names import WORD_FORMS
from gnomon.linguistics.tagging import MarkSource

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

__all__ = ["BY_REFERENCES", "RARE", "mark_forms"]


#: words that are rare in the references; rare words of an output that these lack are none of them
RARE = "form:rare"
#: features that are known beside all references alone
BY_REFERENCES = frozenset({"form:long", RARE})

_KIND = "form"
_NAMES = frozenset(f"{_KIND}:{name}" for name in WORD_FORMS)
_LONG = 0.1  # of the words of the references, the longest
_LETTERS = 5  # a long word has more in any language
_JOINING = "['\u2019\u2010-]"
_BEFORE_CAPITALS = ",;"  # signs that end no sentence


@lru_cache
def _pattern() -> Any:
    """Pattern of marks, numbers and words from left to right; each group is a kind."""
    import regex

    letters = r"[\p{L}--[%s]--\p{Latin}][[\p{L}\p{M}]--[%s]--\p{Latin}]*" % (UNSPACED, UNSPACED)  # noqa: UP031
    latin = r"\p{Latin}[\p{Latin}\p{M}]*"
    kinds = {
        "address": ADDRESS.pattern,
        "placeholder": "|".join(marks.pattern for marks in (PLACEHOLDER, TAG, ENTITY)),
        "emoji": f"(?:{EMOJI.pattern})+",
        "number": r"\p{N}+(?:[.,:\u066b\u066c]\p{N}+)*",
        "katakana": r"[\p{Katakana}\u30fc]+",
        "latin": rf"{latin}(?:{_JOINING}{latin})*",
        "word": rf"{letters}(?:{_JOINING}{letters})*",
        "punctuation": r"[\p{P}\p{S}]",
    }
    return regex.compile(
        "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in kinds.items()),
        flags=regex.VERSION1,
    )


def mark_forms(
    kinds: Collection[str], texts: Sequence[str], references: Sequence[str]
) -> Iterator[MarkSource]:
    """The forms of words, if they are asked for.

    Args:
        kinds: the kinds of features that are asked for.
        texts: distinct texts.
        references: the references, one text per segment; none: no word is rare.
    """
    if _KIND not in kinds:
        return
    forms = _Forms.collect(references, texts)
    marks = columns("named", [tuple(forms.marks(text)) for text in texts])
    yield MarkSource({"named": marks}, _NAMES, forms.signature)


@dataclass(frozen=True)
class _Forms:
    """The forms of words that depend on a language, as references show them."""

    latin: bool  # words are written so
    long: int  # letters of a long word at least; 0: no word is long
    rare: frozenset[str]  # words of one segment of the references alone

    @classmethod
    def collect(cls, references: Sequence[str], texts: Sequence[str]) -> _Forms:
        shown = references or texts
        joined = "\n".join(shown)
        latin = main_script(joined) == "LATIN"
        if unspaced_language(shown) is not None:
            return cls(latin, 0, frozenset())
        segments: Counter[str] = Counter()
        lengths: Counter[int] = Counter()
        for text in shown:
            words = [word.casefold() for word in _words(text)]
            segments.update(set(words))
            lengths.update(map(_letters, words))
        rare = [word for word, count in segments.items() if references and count == 1]
        return cls(latin, _fewest(lengths), frozenset(rare))

    @property
    def signature(self) -> str:
        """``forms-1`` and what the references decide."""
        return f"forms-1/latin:{'all' if self.latin else 'foreign'}/long:{self.long}"

    def marks(self, text: str) -> Iterator[Mark]:
        """The marks of a text."""
        for match in _pattern().finditer(text):
            kind = match.lastgroup
            start, end = match.span()
            if kind not in ("latin", "word"):
                yield Mark(start, end, f"{_KIND}:{kind}")
                continue
            word = match[0]
            if kind == "latin" and not self.latin:
                yield Mark(start, end, "form:latin")
            elif word[0].isupper() and _goes_on(text[max(start - 2, 0) : start]):
                yield Mark(start, end, "form:capitalised")
            if 0 < self.long <= _letters(word):
                yield Mark(start, end, "form:long")
            if word.casefold() in self.rare:
                yield Mark(start, end, RARE)


def _words(text: str) -> Iterator[str]:
    for match in _pattern().finditer(text):
        if match.lastgroup in ("latin", "word"):
            yield match[0]


def _letters(word: str) -> int:
    return sum(map(str.isalpha, word))


def _fewest(lengths: Counter[int]) -> int:
    """So many letters have at most a tenth of the words."""
    left = _LONG * lengths.total()
    fewest = max(lengths, default=0) + 1
    while fewest - 1 > _LETTERS and lengths[fewest - 1] <= left:
        fewest -= 1
        left -= lengths[fewest]
    return fewest


def _goes_on(before: str) -> bool:
    """True if a sentence goes on after these two characters."""
    return (
        len(before) == 2
        and before[1] == " "
        and (before[0].isalnum() or before[0] in _BEFORE_CAPITALS)
    )
