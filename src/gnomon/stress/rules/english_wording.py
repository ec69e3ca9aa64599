"""English texts reworded without harm, and errors set against them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gnomon.core.data_files import data_beside
from gnomon.linguistics import begins_sentence
from gnomon.stress.perturbations import Crossed, perturbation
from gnomon.stress.rules._clauses import text_at
from gnomon.stress.rules._lists import endings, pairs, words
from gnomon.stress.rules._marks import other_apostrophes, other_dashes, other_quotes
from gnomon.stress.rules.any_language import other_number
from gnomon.stress.rules.english_meaning import drop_negation, negations
from gnomon.stress.rules.numbers import VALUES, spell_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from gnomon.stress.outputs import OtherOutputs, Output
    from gnomon.stress.perturbations import Change, Site

_LISTS = data_beside(__file__)


# Contractions.

_SHORT_NOT = pairs(*_LISTS["short_not"], both=False)
_LONG_NOT = {short: long.replace("can not", "cannot") for long, short in _SHORT_NOT.items()}
_SHORT = {"am": "'m", "are": "'re", "is": "'s", "have": "'ve", "will": "'ll"}
_PRONOUNS = {
    "am": ("i",),
    "are": ("we", "you", "they"),
    "is": ("he", "she", "it", "that"),
    "have": ("i", "we", "you", "they"),
    "will": ("i", "we", "you", "they", "he", "she", "it"),
}
_LONG = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will"}


@perturbation(
    "contraction",
    phenomenon="contractions, made or written out",
    kind="harmless",
    languages="en",
    needs=("tokens",),
    exact=True,
)
def contraction(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Writes "don't" for "do not" or "it is" for "it's"."""
    tokens = output.tokens
    for position in range(1, len(tokens)):
        negation = _not_otherwise(output, position)
        if negation is not None:
            yield negation
            continue
        before, token = tokens[position - 1], tokens[position]
        word = token.text.replace("’", "'").casefold()
        subject = before.text.casefold()
        if token.pos != "AUX" or before.pos != "PRON":
            continue
        if word in _LONG or (word == "'s" and subject != "let"):
            long = _LONG.get(word) or _is_or_has(output, position)
            if long and before.end == token.start:
                yield token.start, token.end, f" {long}"
        elif subject in _PRONOUNS.get(word, ()) and before.end + 1 == token.start:
            following = text_at(output, position + 1)
            helps = token.relation in ("aux", "auxpass") or word in ("am", "are", "is")
            # nothing is contracted before a pause, nor before "not", which would change the form
            if helps and following.isalpha() and following != "not" and token.text.islower():
                yield before.end, token.end, _SHORT[word]


def _is_or_has(output: Output, position: int) -> str:
    """Verb that the auxiliary "'s" stands for; "" where it may be either ("it's gone")."""
    token = output.tokens[position]
    if text_at(output, position + 1) == "been" or text_at(output, position + 2) == "been":
        return "has"
    perfect = "Aspect=Perf" in output.tokens[token.head].morph
    return "" if perfect and token.relation in ("aux", "auxpass") else "is"


def _not_otherwise(output: Output, position: int) -> Change | None:
    """An auxiliary and the "not" behind it, written otherwise; None: they are no such pair."""
    before, token = output.tokens[position - 1], output.tokens[position]
    both = output.text[before.start : token.end].replace("’", "'")
    if before.pos not in ("AUX", "VERB") or token.text.casefold() not in ("not", "n't", "n’t"):
        return None
    new = _SHORT_NOT.get(both.casefold()) or _LONG_NOT.get(both.casefold())
    following = text_at(output, position + 1)
    subjects = (output.tokens[n] for n in output.children[before.head])
    asked = any(s.relation.startswith("nsubj") and s.start > token.start for s in subjects)
    if new is None or asked or not following.isalpha() or following in ("only", "to", "just"):
        return None
    if not output.is_whole(before.start, token.end) or both.isupper():
        return None
    return before.start, token.end, new.capitalize() if both[0].isupper() else new


@perturbation(
    "crossed negation",
    phenomenon="wrong negation, crossed",
    kind="crossed",
    languages="en",
    needs=("tokens",),
    exact=True,
)
def crossed_negation(
    output: Output, pool: OtherOutputs, rng: np.random.Generator
) -> Iterator[Crossed]:
    """Better: "don't" for "do not", or the other way; worse: the negation is left out."""
    for _, position in negations(output):
        change = _not_otherwise(output, position)
        if change is not None:
            yield Crossed(change, drop_negation(output, position))


# Numbers.

_DIGITS = re.compile(r"[1-9]\d?")
#: nouns of numbers that stay in digits: units, times of day, parts of dates
_UNITS = words(*_LISTS["units"])
_SMALL = 12  # up to here both ways of writing are usual


def _numbers(output: Output, largest: int) -> Iterator[tuple[int, int, int]]:
    """Numbers that count a common noun behind them: start, end and value."""
    for position, token in enumerate(output.tokens):
        word = token.text.casefold()
        value = VALUES["en"].get(word, 0)
        if _DIGITS.fullmatch(word):
            value = int(word)
        if not 1 < value <= largest or token.relation != "nummod" or token.text.istitle():
            continue
        head = output.tokens[token.head]
        plain = head.pos == "NOUN" and len(head.text) > 2 and head.text.isalpha()
        near = position < token.head <= position + 3
        if not plain or not near or not head.text.islower() or head.text in _UNITS:
            continue
        before = output.tokens[position - 1] if position else None
        counts = before is None or (
            before.pos not in ("NUM", "PROPN", "SYM", "NOUN")
            and before.text.casefold() not in ("to", "or", "and", "between", "-", "–")
        )
        between = range(position + 1, token.head)
        spaced = output.text[token.end : token.end + 1] == " "
        spaced &= output.text[token.start - 1 : token.start] in ("", " ", "(", "“", '"')
        if counts and spaced and all(output.tokens[n].pos in ("ADJ", "NOUN") for n in between):
            yield token.start, token.end, value


@perturbation(
    "number word",
    phenomenon="small numbers in words or in digits",
    kind="harmless",
    languages="en",
    needs=("tokens",),
)
def number_word(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Writes "seven" for "7", or "7" for "seven"."""
    for start, end, value in _numbers(output, _SMALL):
        if output.text[start].isdigit():
            yield start, end, spell_number(value, "en")
        elif not begins_sentence(output.text, start):
            yield start, end, str(value)


@perturbation(
    "crossed number",
    phenomenon="wrong numbers, crossed",
    kind="crossed",
    languages="en",
    needs=("tokens",),
)
def crossed_number(
    output: Output, pool: OtherOutputs, rng: np.random.Generator
) -> Iterator[Crossed]:
    """Better: "thirty-four" for "34", or the other way; worse: a wrong figure."""
    for start, end, value in _numbers(output, 99):
        wrong = other_number(str(value), rng)
        if int(wrong) <= 1:
            continue
        if output.text[start].isdigit():
            yield Crossed((start, end, spell_number(value, "en")), (start, end, wrong))
        elif int(wrong) < 100 and not begins_sentence(output.text, start):
            yield Crossed((start, end, str(value)), (start, end, spell_number(int(wrong), "en")))


_PERCENT = re.compile(r"(?<=\d)( ?%| per ?cent)(?![\w-])")


@perturbation(
    "percent", phenomenon="other signs for per cent", kind="harmless", languages="en", exact=True
)
def percent(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Writes "12 percent" for "12%", or "12%" for "12 percent"."""
    for match in _PERCENT.finditer(output.text):
        yield (*match.span(), " percent" if match[1].endswith("%") else "%")


_THOUSANDS = re.compile(r"(?<![\w.,$€£])([1-9]\d{0,2}),(\d{3})(?![\w,]|\.\d)")


@perturbation(
    "thousands",
    phenomenon="thousands without a comma",
    kind="harmless",
    languages="en",
    exact=True,
)
def thousands(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Writes "12000" for "12,000"."""
    for match in _THOUSANDS.finditer(output.text):
        yield (*match.span(), match[1] + match[2])


_MONTH = "(January|February|March|April|May|June|July|August|September|October|November|December)"
_DATE = re.compile(
    rf"(?<![\w.,-])(?:{_MONTH} ([1-3]?\d)|(?<!\d )([1-3]?\d) {_MONTH})(?![\w,]|-|–| \d)"
)


@perturbation(
    "date", phenomenon="dates in the other order", kind="harmless", languages="en", exact=True
)
def date(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Writes "3 May" for "May 3", or "May 3" for "3 May"."""
    for match in _DATE.finditer(output.text):
        month, day = match[1] or match[4], match[2] or match[3]
        text = output.text
        in_list = re.match(rf" (?:and|to|or) (?:\d|{_MONTH})", text[match.end() :])
        between = text[: match.start()].endswith(("the ", "and ", "to ", "or ", "between "))
        if not in_list and not between and int(day):
            yield (*match.span(), f"{day} {month}" if match[1] else f"{month} {day}")


# Marks and spelling.


@perturbation(
    "quotes", phenomenon="other quotation marks", kind="harmless", languages="en", exact=True
)
def quotes(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Site]:
    """Writes quotation marks and apostrophes straight for typographic, or the other way."""
    changes = other_quotes(output.text, "“", "”") + other_apostrophes(output.text)
    if changes:
        yield changes


@perturbation("dashes", phenomenon="other dashes", kind="harmless", languages="en", exact=True)
def dashes(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Site]:
    """Writes hyphens for dashes between words, or dashes for hyphens."""
    changes = other_dashes(output.text)
    if changes:
        yield changes


_NOUNS = pairs(*_LISTS["nouns"])
_VERBS = pairs(*_LISTS["verbs"])
_SPELLINGS = {
    word: other
    for words in (
        _NOUNS,
        endings(_NOUNS, "s"),
        _VERBS,
        endings(_VERBS, "s", "d"),
        endings({a[:-1]: b[:-1] for a, b in _VERBS.items()}, "ing"),
        endings(pairs("colour color, favour favor, honour honor, labour labor"), "ed", "ing"),
        pairs(*_LISTS["other_spellings"]),
    )
    for word, other in words.items()
}
_LETTERS = re.compile(r"(?<![\w'’-])[A-Za-z]{4,}(?![\w’-])")


@perturbation(
    "spelling",
    phenomenon="British or American spelling",
    kind="harmless",
    languages="en",
    exact=True,
)
def spelling(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Spells a word in the British way for the American, or the other way."""
    for match in _LETTERS.finditer(output.text):
        new = _SPELLINGS.get(match[0].lower())
        if new is None:
            continue
        if match[0].islower():
            yield (*match.span(), new)
        elif match[0].istitle() and begins_sentence(output.text, match.start()):
            yield (*match.span(), new.capitalize())
