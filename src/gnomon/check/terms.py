"""Uses of a glossary's terms in outputs, and the kinds of faults that follow from them.

A term is found as whole words, one after the other, which agree in form or in base form; under
``match="forms"`` in form alone, and under ``match="wmt25"`` by the rule of WMT25's terminology
task: the base forms of a term, joined, are a part of those of a text, or the term is a part of the
text; upper and lower case alike. Base forms are those of the package simplemma, of outputs those of
a tagger that is named.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cached_property, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from gnomon.core.errors import UnknownNameError
from gnomon.core.scripts import word_pattern
from gnomon.linguistics import annotate
from gnomon.linguistics.faults import Fault, Hit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from gnomon.check.glossary import Glossary, Term
    from gnomon.linguistics.annotators import Annotator
    from gnomon.linguistics.faults import Texts

__all__ = ["Match", "Terminology"]

Match: TypeAlias = Literal["lemmas", "forms", "wmt25"]
_JOIN = "|||"  # between base forms, as WMT25 has it
_STARRED = re.compile(r"\S+")
#: simplemma's codes where they are others
_CODES = {"no": "nb", "hr": "hbs", "sr": "hbs", "bs": "hbs"}


class _TermWord(NamedTuple):
    """A word of a text, or of a term; ``pattern`` of a term's word with a star."""

    start: int
    end: int
    form: str
    lemma: str
    pattern: re.Pattern[str] | None = None

    def agrees(self, word: _TermWord) -> bool:
        """True if a word of a text is this one, maybe inflected."""
        if self.pattern is not None:
            return self.pattern.fullmatch(word.form) is not None
        return self.form == word.form or self.lemma == word.lemma


class _TermUse(NamedTuple):
    """A term that a segment is to have, and which alternatives each column has there."""

    term: Term
    segment: int
    place: tuple[int, int]
    used: dict[str, tuple[str, ...]]
    forbidden: dict[str, tuple[int, int]]


class Terminology:
    """A glossary beside texts.

    Attributes:
        faults: the kinds ``term``, ``forbidden-term`` and ``consistency`` of this glossary.
    """

    def __init__(
        self, glossary: Glossary, match: Match = "lemmas", tagger: str | Annotator | None = None
    ) -> None:
        if match not in get_args(Match):
            raise UnknownNameError("way of finding terms", match, get_args(Match))
        self._terms, self._match, self._tagger = glossary.terms, match, tagger
        parts = (part for one in self._terms for part in (*one.targets, *one.forbidden, one.source))
        self._starred = {part for part in parts if "*" in part}
        self._words: dict[tuple[str, str], _TermWords] = {}
        self._read: tuple[Texts, list[_TermUse]] | None = None

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """The kinds of faults of this glossary."""
        package = () if self._match == "forms" or self._tagger else ("simplemma",)
        needs = ("source", *package)
        return (
            Fault(
                name="term",
                rule=self._missing,
                group="prescribed",
                floor=False,
                needs=needs,
                at_stake=self._prescribed,
                about="A term of the glossary whose translation the output lacks.",
            ),
            Fault(
                name="forbidden-term",
                rule=self._forbidden,
                group="prescribed",
                floor=False,
                needs=needs,
                at_stake=self._forbids,
                about="A translation that the glossary forbids.",
            ),
            Fault(
                name="consistency",
                rule=self._inconsistent,
                group="prescribed",
                floor=False,
                needs=(*needs, "document"),
                at_stake=self._repeated,
                about="Another alternative of a term than elsewhere in the document.",
            ),
        )

    def success(self, texts: Texts) -> dict[str, tuple[int, int]]:
        """Number of terms kept, and of terms prescribed, by column."""
        found = [one for one in self._find_terms(texts) if one.term.targets]
        return {
            column: (sum(bool(one.used[column]) for one in found), len(found))
            for column in texts.columns
        }

    # Hits

    def _missing(self, texts: Texts) -> Iterator[Hit]:
        for one in self._find_terms(texts):
            for column, used in one.used.items():
                if one.term.targets and not used and texts.columns[column][one.segment]:
                    said = {"term": one.term.source, "expected": list(one.term.targets)}
                    yield Hit(column, one.segment, -1, -1, *one.place, said)

    def _forbidden(self, texts: Texts) -> Iterator[Hit]:
        for one in self._find_terms(texts):
            for column, place in one.forbidden.items():
                yield Hit(column, one.segment, *place, *one.place, {"term": one.term.source})

    def _inconsistent(self, texts: Texts) -> Iterator[Hit]:
        for some in self._repetitions(texts):
            for column in texts.columns:
                uses = Counter(one.used[column][0] for one in some if one.used[column])
                if len(uses) > 1:
                    usual = uses.most_common(1)[0][0]
                    for one in some:
                        if one.used[column] and usual not in one.used[column]:
                            said = {"term": one.term.source, "expected": [usual]}
                            yield Hit(column, one.segment, -1, -1, *one.place, said)

    # Segments that may be hit

    def _prescribed(self, texts: Texts) -> NDArray[np.bool_]:
        return _mark_segments(
            texts, (one.segment for one in self._find_terms(texts) if one.term.targets)
        )

    def _forbids(self, texts: Texts) -> NDArray[np.bool_]:
        return _mark_segments(
            texts, (one.segment for one in self._find_terms(texts) if one.term.forbidden)
        )

    def _repeated(self, texts: Texts) -> NDArray[np.bool_]:
        return _mark_segments(
            texts, (one.segment for some in self._repetitions(texts) for one in some)
        )

    def _repetitions(self, texts: Texts) -> list[list[_TermUse]]:
        """Terms with alternatives that stand in several segments of a document."""
        documents = texts.documents or [""] * texts.segments
        places: dict[tuple[str, str], list[_TermUse]] = defaultdict(list)
        for one in self._find_terms(texts):
            if len(one.term.targets) > 1:
                places[documents[one.segment], one.term.source].append(one)
        return [some for some in places.values() if len(some) > 1]

    # Terms in texts

    def _find_terms(self, texts: Texts) -> list[_TermUse]:
        """The terms that segments are to have; read once for all kinds."""
        if self._read is None or self._read[0] is not texts:
            self._read = texts, list(self._search(texts))
        return self._read[1]

    def _search(self, texts: Texts) -> Iterator[_TermUse]:
        language, kept = texts.language, self._match != "wmt25"
        places = list(self._search_sources(texts))
        parts = {part for _, term, _ in places for part in (*term.targets, *term.forbidden)}
        segments = dict.fromkeys(segment for segment, _, _ in places)
        outputs = [column[one] or "" for column in texts.columns.values() for one in segments]
        self._read_words([*parts, *outputs], language, self._tagger)
        for segment, term, place in places:
            columns = {name: column[segment] or "" for name, column in texts.columns.items()}
            used: dict[str, tuple[str, ...]] = {}
            forbidden: dict[str, tuple[int, int]] = {}
            for name, text in columns.items():
                if term.is_kept and kept:
                    used[name] = term.targets if term.source in text else ()
                else:
                    found = (part for part in term.targets if self._place(text, part, language))
                    used[name] = tuple(found)
                wrong = (self._place(text, part, language) for part in term.forbidden)
                first = next(filter(None, wrong), None)
                if first is not None:
                    forbidden[name] = first
            yield _TermUse(term, segment, place, used, forbidden)

    def _search_sources(self, texts: Texts) -> Iterator[tuple[int, Term, tuple[int, int]]]:
        """Segment, term and place of the terms in sources; inside a longer one, none is."""
        language, sources = texts.source_language, texts.sources or ()
        everywhere = [term for term in self._terms if term.segment is None]
        own: dict[int | None, list[Term]] = defaultdict(list)
        for term in self._terms:
            own[term.segment].append(term)
        self._read_words([*sources, *(one.source for one in self._terms)], language)
        for segment, source in enumerate(sources):
            found = []
            for term in (*everywhere, *own[segment]):
                place: tuple[int, int] | None = (-1, -1)
                if term.source:
                    place = self._place(source, term.source, language, exactly=term.is_kept)
                if place is not None:
                    found.append((segment, term, place))
            for one in found:
                if self._match == "wmt25" or not any(_inside(one[2], other[2]) for other in found):
                    yield one

    def _place(
        self, text: str, term: str, language: str, *, exactly: bool = False
    ) -> tuple[int, int] | None:
        """Where a text has a term first, or first as it is written; None where it has not."""
        words, wanted = self._words[text, language], self._words[term, language]
        if self._match == "wmt25":
            return _part(text, words, term, wanted)
        if wanted.known.isdisjoint(words.known) and not wanted.starred:
            return None
        count = len(wanted.words)
        for at in range(len(words.words) - count + 1 if count else 0):
            row = words.words[at : at + count]
            if all(one.agrees(word) for one, word in zip(wanted.words, row, strict=True)):
                start, end = row[0].start, row[-1].end
                if not exactly or text[start:end] == term:
                    return start, end
        return None

    def _read_words(
        self, texts: Iterable[str], language: str, tagger: str | Annotator | None = None
    ) -> None:
        """Read texts as words, each once; Korean as syllables, unless a tagger parts particles."""
        new = [text for text in dict.fromkeys(texts) if (text, language) not in self._words]
        starred = [text for text in new if text in self._starred]
        plain = [text for text in new if text not in self._starred]
        read = [[(*one.span(), one[0], "") for one in _STARRED.finditer(text)] for text in starred]
        if tagger and self._match != "forms":
            tagged = annotate(plain, [], tagger=tagger, language=language, tokens=True)
            read += [
                [(one.start, one.end, one.text, one.lemma) for one in sentence.tokens]
                for sentence in tagged.sentences
            ]
        else:
            lemma = _no_lemma if self._match == "forms" else _lemmatizer(language)
            finder = word_pattern(syllables=language == "ko")
            read += [
                [(*one.span(), one[0], lemma(one[0])) for one in finder.finditer(text)]
                for text in plain
            ]
        for text, words in zip(starred + plain, read, strict=True):
            self._words[text, language] = _read([_word(*word) for word in words])


class _TermWords(NamedTuple):
    """The words of a text or a term."""

    words: list[_TermWord]
    known: frozenset[str]  # forms and base forms
    starred: bool


def _read(words: list[_TermWord]) -> _TermWords:
    known = frozenset(one for word in words for one in (word.form, word.lemma))
    return _TermWords(words, known, any(word.pattern for word in words))


def _word(start: int, end: int, form: str, lemma: str) -> _TermWord:
    form = form.casefold()
    starred = "*" in form and form.strip("*")
    pattern = re.compile(r"\w*".join(map(re.escape, form.split("*")))) if starred else None
    return _TermWord(start, end, form, (lemma or form).casefold(), pattern)


def _no_lemma(_: str) -> str:
    return ""


def _lemmatizer(language: str) -> Callable[[str], str]:
    """The base forms of a language's words; of languages that simplemma lacks, none."""
    if find_spec("simplemma") is None:  # of a source, beside a tagger
        return _no_lemma
    import simplemma
    from simplemma.strategies.dictionaries import dictionary_factory

    code = _CODES.get(language, language)
    known = code in dictionary_factory.SUPPORTED_LANGUAGES
    return partial(simplemma.lemmatize, lang=code) if known else _no_lemma


def _part(text: str, words: _TermWords, term: str, wanted: _TermWords) -> tuple[int, int] | None:
    """Where a term is a part of a text, or its base forms of the text's, as WMT25 has it."""
    at = text.lower().find(term.lower())
    if at >= 0:
        return at, at + len(term)
    lemmas = _JOIN.join(word.lemma for word in words.words)
    at = lemmas.find(_JOIN.join(word.lemma for word in wanted.words))
    if at < 0 or not wanted.words:
        return None
    first = lemmas.count(_JOIN, 0, at)
    last = min(first + len(wanted.words), len(words.words)) - 1
    return words.words[first].start, words.words[last].end


def _inside(place: tuple[int, int], other: tuple[int, int]) -> bool:
    """True if a place is a part of a longer one."""
    return other[0] <= place[0] and place[1] <= other[1] and place != other and other[0] >= 0


def _mark_segments(texts: Texts, segments: Iterable[int]) -> NDArray[np.bool_]:
    found = np.zeros(texts.segments, dtype=bool)
    found[list(segments)] = True
    return found
