"""Outputs that are the source, whole or in part, or in another script or language than asked."""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from typing import TYPE_CHECKING

from gnomon.core.scripts import main_script, script_counts
from gnomon.linguistics.faults.kinds import MANY_SEGMENTS, Hit, fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gnomon.linguistics.faults.texts import Texts

_FEW = 4  # words in lower case of a source, below which only an equal text is a copy
_A_NAME = 12  # words without case, below which they may be a name that stays as it is
_OF_SOURCE, _OF_OUTPUT = 0.8, 0.6
_EQUAL_WORDS = 3
_IN_A_ROW = ((6, 4), (8, 3))  # words of a source, and how many of them are in lower case
_SOME_LETTERS = 12
_DIGIT = re.compile(r"\d")
_LETTERS, _WORDS = 25, 5  # of an output whose language is told
_FAR, _NEAR = 0.25, 0.6  # of the words are known
_KNOW = 2  # other outputs that know a word
#: languages that models fall into
_FREQUENT = ("de", "en", "es", "fr", "it", "pt", "ru")
#: languages that are taken for each other
_ALIKE = [
    {"ru", "uk", "be", "bg"},
    {"cs", "sk", "pl"},
    {"hr", "sr", "bs", "sl"},
    {"da", "nb", "no", "nn", "sv"},
    {"es", "pt", "gl", "ca"},
    {"id", "ms"},
    {"hi", "mr", "ne"},
]


@fault("copied", group="untranslated", cheap=True, needs=["source"])
def copied(texts: Texts) -> Iterator[Hit]:
    """The source instead of a translation: most of its lower-case words, and few others."""
    for column, segment in _copies(texts):
        yield Hit(column, segment, 0, len(texts.columns[column][segment] or ""))


def _copies(texts: Texts) -> Iterator[tuple[str, int]]:
    known: dict[str, tuple[set[str], list[str]]] = {}
    for column, segment, text, source in texts.outputs():
        if source not in known:
            some = set() if _may_be_a_name(texts, source) else _lower_case(texts, source)
            # no copy lacks them all
            enough = int(len(some) * (1 - _OF_SOURCE)) + 1
            known[source] = some, sorted(some, key=len)[-enough:]
        words, longest = known[source]
        if len(words) < _FEW:
            if text.strip().lower() == source.strip().lower():
                every = texts.plain_words(source)
                if len(every) >= _EQUAL_WORDS and 2 * len(words) > len(every):
                    yield column, segment
        elif any(word in text for word in longest) and _are_in(words, text):
            own = _lower_case(texts, text)
            both = len(words & own)
            if both >= _OF_SOURCE * len(words) and both >= _OF_OUTPUT * len(own):
                yield column, segment


def _are_in(words: set[str], text: str) -> bool:
    """True if enough words stand in a text, if only as parts of others: a quick look."""
    return sum(word in text for word in words) >= _OF_SOURCE * len(words)


def _lower_case(texts: Texts, text: str) -> set[str]:
    """Its words that have neither capitals nor digits: names and numbers stay as they are."""
    return {
        word
        for word in texts.plain_words(text)
        if word[0].isalpha() and word == word.lower() and not _DIGIT.search(word)
    }


def _may_be_a_name(texts: Texts, source: str) -> bool:
    """True if a source is a few words of a script without case, which the target language has."""
    if source.lower() != source.upper():
        return False
    script = main_script(source)
    shared = script in (None, texts.script) or (script, texts.script) == ("HAN", "KANA")
    return shared and len(texts.plain_words(source)) < _A_NAME


@fault("half-copied", group="untranslated", needs=["source"])
def half_copied(texts: Texts) -> Iterator[Hit]:
    """Six words of the source in a row, at most two of them with a capital, or eight with five."""
    whole = set(_copies(texts))
    fewest = _IN_A_ROW[0][0]
    for column, segment, text, source in texts.outputs():
        if (column, segment) in whole:
            continue
        words = texts.plain_words(source)
        # a row of six holds one of every six words
        if not any(word in text for word in words[fewest - 1 :: fewest]):
            continue
        own = texts.plain_words(text)
        if any(
            sum(word[0].islower() for word in row) >= lower
            for length, lower in _IN_A_ROW
            for row in set(_rows(words, length)).intersection(_rows(own, length))
        ):
            yield Hit(column, segment)


def _rows(words: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    return zip(*(words[at:] for at in range(length)), strict=False)


@fault("script", group="untranslated", cheap=True)
def script(texts: Texts) -> Iterator[Hit]:
    """More than half of the letters are of another script than the target language.

    Letters of names, addresses and tags, which may stay as they are, do not count.
    """
    wanted = texts.script
    quick = _looks_foreign(wanted)
    for column, segment, text, _ in texts.outputs() if wanted else ():
        if len(text) < _SOME_LETTERS or not quick(text):
            continue
        words = [word for word in texts.plain_words(text) if not "A" <= word[0] <= "Z"]
        counts = script_counts("".join(words))
        if counts.total() >= _SOME_LETTERS and 2 * counts[wanted] < counts.total():
            yield Hit(column, segment, 0, len(text))


def _looks_foreign(wanted: str) -> Callable[[str], object]:
    """A quick look: whether letters of other scripts may be half of a text."""
    own = {"LATIN": r"[\u0370-\u1dff\u2c00-\ua71f\ua800-\uffff]{2}", "KANA": r"[\u3040-\u30ff]"}
    if wanted not in own:
        return lambda text: 3 * len(text.encode("ascii", "ignore")) >= len(text)
    find = re.compile(own[wanted]).findall
    if wanted == "LATIN":
        return find
    return lambda text: 4 * len(find(text)) < len(text)


@fault("language", group="untranslated", needs=["others"])
def language(texts: Texts) -> Iterator[Hit]:
    """Words that neither the references nor two other outputs know.

    Of languages that are near each other, and in small test sets, where few words are known,
    py3langid tells which one it is.
    """
    if texts.unspaced:
        return
    everywhere = Counter(word for column in texts.vocabularies.values() for word in column)
    references = [texts.vocabularies[name] for name in texts.references]
    identify, enough = _identifier(texts), texts.segments >= MANY_SEGMENTS
    for column, segment, text, _ in texts.outputs():
        if sum(map(str.isalpha, text)) < _LETTERS:
            continue
        own = texts.vocabularies[column]
        words = [word.lower() for word in texts.plain_words(text) if not word[0].isupper()]
        if len(words) < _WORDS:
            continue
        others = [one for one in references if one is not own]
        known = sum(
            everywhere[word] > _KNOW or any(word in one for one in others) for word in words
        )
        sure = enough and (column in texts.systems or len(texts.systems) > _KNOW + 1)
        if sure and known < _FAR * len(words):
            yield Hit(column, segment, 0, len(text))
        elif identify and known < _NEAR * len(words):
            other = identify(text)
            if other != texts.language:
                yield Hit(column, segment, 0, len(text), params={"language": other})


def _identifier(texts: Texts) -> Callable[[str], str] | None:
    """Identifier of languages that are near the target language, or the source's."""
    if not texts.language or importlib.util.find_spec("py3langid") is None:
        return None
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    near = {one for some in _ALIKE if texts.language in some for one in some}
    known = LanguageIdentifier.from_model_file(MODEL_FILE)
    languages = {texts.language, texts.source_language, *near, *_FREQUENT} & set(known.labels)
    if texts.language not in languages or len(languages) < 2:
        return None
    known.set_languages(sorted(languages))

    def identify(text: str) -> str:
        name: str = known.classify(text)[0]
        return name

    return identify
