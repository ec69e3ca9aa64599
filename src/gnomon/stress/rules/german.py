"""Errors and harmless changes of German texts, by closed lists; no tagger is needed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gnomon.core.data_files import data_beside
from gnomon.linguistics import begins_sentence
from gnomon.stress.perturbations import Crossed, perturbation
from gnomon.stress.rules._lists import endings, pairs, words
from gnomon.stress.rules._marks import other_dashes, other_quotes
from gnomon.stress.rules.any_language import other_number
from gnomon.stress.rules.numbers import VALUES, spell_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from gnomon.stress.outputs import OtherOutputs, Output, Word
    from gnomon.stress.perturbations import Change, Site

_LISTS = data_beside(__file__)


def _neighbours(output: Output) -> Iterator[tuple[str, Word, str]]:
    """Each word with the words before and behind it, which no punctuation parts from it."""
    words = output.words
    text = output.text
    for position, word in enumerate(words):
        before, after = "", ""
        if position and not text[words[position - 1].end : word.start].strip():
            before = words[position - 1].text
        if position + 1 < len(words) and not text[word.end : words[position + 1].start].strip():
            after = words[position + 1].text
        yield before, word, after


def _is_common(output: Output, word: Word) -> bool:
    """True if a word is written in lower case, or begins a sentence."""
    return word.text.islower() or (
        word.text[1:].islower() and begins_sentence(output.text, word.start)
    )


# Negation and modality.

_BEFORE_NICHT = words("noch gar überhaupt oder ob wenn warum weshalb auch und längst nicht")
_AFTER_NICHT = words(*_LISTS["after_nicht"])
#: without a negation these cannot stay
_WITH_NICHT = words("sondern mehr weder geschweige bevor bis brauchen braucht brauchte")
_KEIN = {"kein": "ein", "keinen": "einen", "keinem": "einem", "keines": "eines"}
_FEMININE = re.compile(r"(?:ung|heit|keit|schaft|tät|ion)$")
_PLURAL = re.compile(r"(?:ungen|heiten|keiten|schaften|täten|ionen|nisse|innen)$")
_DENIED = pairs("ein kein, eine keine, einen keinen", both=False)
_BEFORE_EIN = words("ist war wird hat hatte habe haben hatten sind gibt gab bietet enthält")
_NO_NOUN = words("paar bisschen wenig mal von der")


@perturbation("negation de", phenomenon="wrong negation", severity="critical", languages="de")
def negation(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Leaves "nicht" out, or makes "ein" of "kein" or "kein" of "ein"."""
    for before, word, after in _neighbours(output):
        if not _is_common(output, word):
            continue
        folded = word.text.lower()
        if folded == "nicht":
            if _can_drop(output, before, word, after):
                yield word.start, word.end, ""
        elif folded in _KEIN:
            if after and after not in ("einziger", "einzigen", "einziges", "bisschen"):
                yield word.start, word.end, _KEIN[folded]
        elif folded == "keine" and (_FEMININE.search(after) or _PLURAL.search(after)):
            yield word.start, word.end, "eine" if _FEMININE.search(after) else "einige"
        elif folded in _DENIED and _can_deny(output, before, after):
            yield word.start, word.end, _DENIED[folded]


_NEGATIVE = words("nicht kein keine keinen keiner nie niemals niemand nichts kaum")


def _can_deny(output: Output, before: str, after: str) -> bool:
    noun = bool(after) and after.lower() not in _NO_NOUN
    return noun and before in _BEFORE_EIN and not _denies(output)


def _can_drop(output: Output, before: str, word: Word, after: str) -> bool:
    if before.lower() in _BEFORE_NICHT or after.lower() in _AFTER_NICHT or not before:
        return False
    rest = {other.text.lower() for other in output.words if other.start != word.start}
    end = _END.search(output.text, word.end)
    asked = end is not None and end[0] == "?"  # where "nicht" may deny nothing
    return not asked and not rest & _WITH_NICHT


_END = re.compile(r"[.!?]")


def _denies(output: Output) -> bool:
    return bool(output.folded & _NEGATIVE)


_MODALS = pairs(
    "kann muss, können müssen, konnte musste, konnten mussten, könnte müsste, könnten müssten",
) | pairs("darf muss, dürfen müssen, durfte musste, durften mussten, könne müsse", both=False)


@perturbation("modality de", phenomenon="wrong modal verbs", severity="major", languages="de")
def modality(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Makes what can be necessary, and what must be possible."""
    for before, word, after in _neighbours(output):
        new = _MODALS.get(word.text.lower())
        if new is not None and _is_common(output, word) and after != "wie" and before != "zu":
            yield word.start, word.end, new


# Opposites and gender.

_ENDINGS = ("e", "en", "er", "es", "em")
_STEMS = pairs(*_LISTS["stems"])
_OPPOSITES = (
    endings(_STEMS, *_ENDINGS)
    | endings(pairs(*_LISTS["stems_one_way"], both=False), *_ENDINGS)
    | pairs(*_LISTS["pairs"])
    | pairs(*_LISTS["pairs_one_way"], both=False)
)
#: words before and behind an opposite where it is part of a phrase
_PHRASES = {
    "mehr": (words("nicht nie kein keine niemand nichts immer noch"), {"oder"}),
    "weniger": (words("nicht immer viel umso je mehr oder"), {"oder"}),
    "immer": (
        words("nicht noch für wie wer was wo schon"),
        {"noch", "wieder", "mehr", "wenn"},
    ),
    "nie": (frozenset(("noch", "wie")), {"wieder", "mehr", "zuvor", "da"}),
    "viele": (words("so wie zu"), frozenset()),
    "früher": (frozenset(), {"oder"}),
}
_AGES = words(
    "Jahr Jahre Jahren Monat Monate Monaten Wochen Tage Tagen Stunden Jahrzehnte Jahrhunderte",
    "Jahrtausende",
)
_TEMPORAL = re.compile(r"\b([Vv]or|[Nn]ach) (?=(?:dem|der|den|seinem|seiner|ihrem|ihrer) [A-ZÄÖÜ])")
_TIMES = re.compile(
    r"(?:dem|der|den|seinem|seiner|ihrem|ihrer) (?:\w*(?:krieg|spiel|wahl|wahlen|treffen|sitzung|"
    r"besuch|tod|geburt|operation|unfall|angriff|ende|beginn|ausbruch|krise|pandemie|reise|pause|"
    r"hochzeit|sommer|winter|ferien|abstimmung|start|abschluss|saison|konzert|essen|arbeit|schule))\b",
    re.IGNORECASE,
)


@perturbation(
    "polarity de",
    phenomenon="reversed comparisons and directions",
    severity="critical",
    languages="de",
)
def polarity(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Puts the opposite of a word of a list (mehr: weniger, stieg: sank, vor dem: nach dem)."""
    for before, word, after in _neighbours(output):
        folded = word.text.lower()
        new = _opposite(output, word)
        outside, behind = _PHRASES.get(folded, (frozenset(), frozenset()))
        if new is None or before.lower() in outside or after.lower() in behind:
            continue
        if before.lower() in ("so", "wie", "am", "zu", "als") or after.lower() in ("wie", "und"):
            continue
        if after[:1].islower() and folded in ("immer", "nie") and after.endswith("er"):
            continue  # "immer größer"
        if folded == "mehr" and after != "als" and _denies(output):
            continue  # "keine Zeit mehr"
        if folded.startswith("alt") and before in _AGES:
            continue  # "zehn Monate alte Kinder"
        yield word.start, word.end, new
    for match in _TEMPORAL.finditer(output.text):
        if _TIMES.match(output.text, match.end()):
            yield (*match.span(1), "nach" if match[1].lower() == "vor" else "vor")


def _opposite(output: Output, word: Word) -> str | None:
    if word.text in _OPPOSITES:
        new = _OPPOSITES[word.text]
        # a noun of the same letters is another word ("Die Alten")
        return new if word.text.islower() or word.text.istitle() else None
    if begins_sentence(output.text, word.start):
        return _OPPOSITES.get(word.text.lower())
    return None


_GENDER = pairs("er sie, ihn sie, ihm ihr", both=False) | endings({"sein": "ihr"}, *_ENDINGS)


@perturbation(
    "gender de", phenomenon="pronouns of the wrong gender", severity="critical", languages="de"
)
def gender(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Makes "sie" of "er" and "ihre" of "seine", where a noun or title says that it is a man."""
    if not any(word.text in _MALE for word in output.words):
        return
    for word in output.words:
        if word.text.lower() in _GENDER and _is_common(output, word):
            yield word.start, word.end, _GENDER[word.text.lower()]


#: in each case of the singular that is none of the plural
_MALE = words(*_LISTS["male"])


# Harmless changes of wording.

_COUNTED = re.compile(
    r"(?<![\w.,:/–-])(?P<before>(?:[a-zäöü]+ )?)(?P<number>\d{1,2}|[a-zäöüß]+)"
    r" (?P<noun>(?:[a-zäöü]+en )?[A-ZÄÖÜ][a-zäöüß]{3,})\b"
)
_NOT_COUNTED = words(*_LISTS["not_counted"])
_SMALL = 12


def _numbers(output: Output, largest: int) -> Iterator[tuple[int, int, int]]:
    """Numbers that count a noun behind them: start, end and value."""
    for match in _COUNTED.finditer(output.text):
        number = match["number"]
        value = int(number) if number.isdigit() else VALUES["de"].get(number, 0)
        noun = match["noun"].rpartition(" ")[2]
        if noun in _NOT_COUNTED or not 1 < value <= largest or number.startswith("0"):
            continue
        if match["before"].strip() not in ("bis", "oder", "und", "zu", "zwischen", "komma", "mal"):
            yield (*match.span("number"), value)


@perturbation(
    "number word de",
    phenomenon="small numbers in words or in digits",
    kind="harmless",
    languages="de",
)
def number_word(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Writes "sieben" for "7", or "7" for "sieben"."""
    for start, end, value in _numbers(output, _SMALL):
        digits = output.text[start].isdigit()
        yield start, end, spell_number(value, "de") if digits else str(value)


@perturbation(
    "crossed number de",
    phenomenon="wrong numbers, crossed",
    kind="crossed",
    languages="de",
)
def crossed_number(
    output: Output, pool: OtherOutputs, rng: np.random.Generator
) -> Iterator[Crossed]:
    """Better: "vierunddreißig" for "34", or the other way; worse: a wrong figure."""
    for start, end, value in _numbers(output, 99):
        wrong = int(other_number(str(value), rng))
        if not 1 < wrong < 100:
            continue
        words, digits = spell_number(value, "de"), str(value)
        if output.text[start].isdigit():
            yield Crossed((start, end, words), (start, end, str(wrong)))
        else:
            yield Crossed((start, end, digits), (start, end, spell_number(wrong, "de")))


_PERCENT = re.compile(r"(?<=\d)([ \u00a0\u202f]?%| Prozent)(?![\w-])")


@perturbation(
    "percent de", phenomenon="other signs for per cent", kind="harmless", languages="de", exact=True
)
def percent(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Writes "12 Prozent" for "12 %", or "12 %" for "12 Prozent"."""
    for match in _PERCENT.finditer(output.text):
        yield (*match.span(), " Prozent" if match[1].endswith("%") else " %")


#: words that mean something else with "ss"
_OTHER_SENSE = re.compile(r"\b\w*(?:[Mm]aß|[Bb]uß|[Ff]loß)\w*")


@perturbation(
    "swiss spelling",
    phenomenon="Swiss spelling",
    kind="harmless",
    languages="de",
    exact=True,
)
def swiss_spelling(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Site]:
    """Writes "ss" for "ß", as in Switzerland."""
    if not _OTHER_SENSE.search(output.text):
        changes = [(n, n + 1, "ss") for n, letter in enumerate(output.text) if letter == "ß"]
        if changes:
            yield changes


@perturbation(
    "quotes de", phenomenon="other quotation marks", kind="harmless", languages="de", exact=True
)
def quotes(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Site]:
    """Writes quotation marks straight for typographic, or the other way."""
    changes = other_quotes(output.text, "„", "“")
    if changes:
        yield changes


@perturbation("dashes de", phenomenon="other dashes", kind="harmless", languages="de", exact=True)
def dashes(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Site]:
    """Writes hyphens for dashes between words, or dashes for hyphens."""
    changes = other_dashes(output.text)
    if changes:
        yield changes
