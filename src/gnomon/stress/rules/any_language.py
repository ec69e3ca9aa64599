"""Errors that need no word of a language: deleted, replaced, exchanged and misspelt words."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from gnomon.linguistics import FINAL_MARKS, exchange
from gnomon.stress.outputs import mark_places
from gnomon.stress.perturbations import perturbation

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from gnomon.stress.outputs import OtherOutputs, Output
    from gnomon.stress.perturbations import Change, Site

#: persons, places and organisations, by the labels of several taggers
_NAMES = frozenset(("PERSON", "PER", "ORG", "GPE", "LOC", "NORP", "FAC"))


# Words that are lost, and words that are wrong.


@perturbation(
    "delete",
    phenomenon="deleted",
    severity="critical",
    features=("pos:NOUN", "pos:VERB", "pos:ADJ", "pos:ADV", "pos:CCONJ"),
    needs=("feature",),
)
def delete(
    output: Output, pool: OtherOutputs, rng: np.random.Generator, feature: str
) -> Iterator[Change]:
    """Leaves a word of a feature out."""
    for start, end in output.spans(feature):
        yield start, end, ""


@perturbation(
    "replace",
    phenomenon="wrong",
    severity="critical",
    features=("pos:NOUN", "pos:ADP"),
    needs=("feature", "others"),
)
def replace_words(
    output: Output, pool: OtherOutputs, rng: np.random.Generator, feature: str
) -> Iterator[Change]:
    """Puts another word of the feature there, of the same form, from elsewhere."""
    forms = {(token.start, token.end): token for token in output.tokens}
    for start, end in output.spans(feature):
        token = forms.get((start, end)) if feature.startswith("pos:") else None
        new = pool.word(feature, output, rng) if token is None else pool.like(token, output, rng)
        if new is not None:
            yield start, end, new


def _names(output: Output) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """The label and all places of each name."""
    for feature in output.marked:
        if feature.removeprefix("ent:") not in _NAMES:
            continue
        places: dict[str, list[tuple[int, int]]] = {}
        for start, end in output.spans(feature):
            places.setdefault(output.text[start:end], []).append((start, end))
        for spans in places.values():
            yield feature, spans


@perturbation(
    "name",
    phenomenon="wrong names",
    severity="critical",
    features=("ent:*",),
    needs=("others",),
)
def name(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Site]:
    """Puts another name of the same kind there, wherever a name stands."""
    for feature, spans in _names(output):
        new = pool.word(feature, output, rng)
        if new is not None and not any(word in output.folded for word in new.casefold().split()):
            yield [(start, end, new) for start, end in spans]


@perturbation(
    "no name",
    phenomenon="deleted names",
    severity="critical",
    features=("ent:*",),
)
def no_name(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Site]:
    """Leaves a name out, wherever it stands."""
    for _, spans in _names(output):
        yield [(start, end, "") for start, end in spans]


#: letters that make one word with digits ("A350", "3rd")
_ALPHABETS = r"\p{Latin}\p{Greek}\p{Cyrillic}"
_NUMBER = rf"(?<![{_ALPHABETS}\d_.,])\d+(?:[.,:]\d+)*(?![{_ALPHABETS}\d_]|[.,:]\d)"


@perturbation("number", phenomenon="wrong numbers", severity="critical")
def number(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Puts another number of like size there."""
    import regex

    for match in regex.finditer(_NUMBER, output.text):
        yield (*match.span(), other_number(match[0], rng))


_MANY_DIGITS = 4  # behind the first


def other_number(digits: str, rng: np.random.Generator) -> str:
    """Another number of like size, written in the same way.

    Small whole numbers are drawn from half to twice as much; of longer ones two digits change:
    the last two of up to four (a year stays in its century), else any but the first.
    """
    zero = chr(ord(digits[0]) - int(digits[0]))
    if zero != "0":  # digits of another script
        plain = "".join(str(int(one)) if one.isdigit() else one for one in digits)
        new = other_number(plain, rng)
        return "".join(chr(ord(zero) + int(one)) if one.isdigit() else one for one in new)
    if digits.isdigit() and len(digits) <= 2:  # a number in words of daily life
        value = int(digits)
        choices = [n for n in range(max(1, value // 2), 2 * value + 3) if n != value]
        new = str(choices[int(rng.integers(len(choices)))])
        return new.zfill(len(digits)) if digits.startswith("0") else new
    letters = list(digits)
    places = [n for n, letter in enumerate(letters) if letter.isdigit()][1:]
    chosen = places[-2:] if len(places) < _MANY_DIGITS else rng.permutation(places).tolist()[:2]
    for place in chosen:
        letters[place] = str((int(letters[place]) + int(rng.integers(1, 10))) % 10)
    return "".join(letters)


@perturbation(
    "add",
    phenomenon="inserted adjectives",
    severity="critical",
    needs=("tokens", "others"),
    exact=True,
)
def add(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Puts an adjective from elsewhere before a noun that has none."""
    before = None
    for token in output.tokens:
        bare = before is not None and before.pos in ("DET", "ADP", "VERB")
        if token.pos == "NOUN" and bare and output.text[token.start - 1 : token.start] == " ":
            new = pool.draw_word("ADJ", output, rng)
            article = before is not None and before.text.casefold() in ("a", "an")
            if new is not None and not article:
                yield token.start, token.start, f"{new} "
        before = token


@perturbation(
    "untranslated",
    phenomenon="untranslated words",
    severity="critical",
    needs=("source",),
)
def untranslated(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Puts a longer word of the source in the place of one about as far on in the sentence."""
    least = 2 if output.source_places else _LONG
    source = [w.text for w in output.source_words if least <= len(w.text) <= _LONGEST]
    least = 2 if pool.script in _NO_LETTERS else _LONG
    words = [w for w in output.words if len(w.text) >= least and pool.is_in_script(w.text)]
    for position, word in enumerate(words):
        if source:
            new = source[position * len(source) // len(words)]
            if new.casefold() not in output.folded:
                yield word.start, word.end, new


_LONG, _LONGEST = 4, 20  # letters


@perturbation("cut", phenomenon="missing ends", severity="critical", exact=True)
def cut(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Leaves the last third of the words out, and keeps the final punctuation."""
    words = output.words
    if len(words) >= _SHORT:
        yield words[2 * len(words) // 3 - 1].end, words[-1].end, ""


_SHORT = 3  # words


# The order of words, and words that are said again.


@perturbation("swap", phenomenon="exchanged neighbours", severity="minor", exact=True)
def swap(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Site]:
    """Exchanges two words that stand beside each other."""
    words = output.words
    for first, second in pairwise(words):
        if not output.text[first.end : second.start].strip():
            yield list(exchange(output.text, first[:2], second[:2]))


@perturbation("shuffle", phenomenon="shuffled words", severity="critical", exact=True)
def shuffle(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Site]:
    """Puts all words in another order; punctuation and the capital at the beginning stay."""
    words = output.words
    if len(words) < _SHORT:
        return
    texts = [word.text for word in words]
    if texts[0][:1].isupper() and texts[0][1:].islower():
        texts[0] = texts[0].lower()
    order = rng.permutation(len(words)).tolist()
    drawn = [texts[place] for place in order]
    if words[0].text[:1].isupper():
        drawn[0] = drawn[0][:1].upper() + drawn[0][1:]
    yield [(word.start, word.end, new) for word, new in zip(words, drawn, strict=True)]


@perturbation("repeat", phenomenon="repeated words", severity="minor", exact=True)
def repeat(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Says the last word twice."""
    if output.words:
        last = output.words[-1]
        yield last.end, last.end, f"{output.gap}{last.text}"


@perturbation(
    "stutter", phenomenon="words said five times", severity="minor", exact=True, default=False
)
def stutter(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Says the last word five times."""
    if output.words:
        last = output.words[-1]
        yield last.end, last.end, f"{output.gap}{last.text}" * 4


# Letters, capitals and punctuation: where the script of the texts has them. Names in Latin letters
# beside another script are not misspelt for it.

#: scripts whose words have no letters to lose or exchange
_NO_LETTERS = frozenset(("HAN", "KANA", "HANGUL", "TIBETAN"))
#: those with capitals
_CASED = frozenset(("LATIN", "GREEK", "CYRILLIC", "ARMENIAN"))
#: marks that stand behind a word
_MARKS = {
    **dict.fromkeys(("HAN", "KANA"), ("、", "；", "：", "・")),
    "ARABIC": ("،", "؛", ":", " -"),
}


@perturbation("typo", phenomenon="misspelt words", severity="minor", exact=True)
def typo(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Exchanges two letters within a longer word."""
    for word in output.words:
        letters = _letters(pool, word.text)
        places = [n for n in range(1, len(letters) - 2) if letters[n] != letters[n + 1]]
        if places:
            at = places[int(rng.integers(len(places)))]
            place = word.start + len("".join(letters[:at]))
            first, second = letters[at : at + 2]
            yield place, place + len(first + second), second + first


@perturbation("letter", phenomenon="missing letters", severity="minor", exact=True)
def letter(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Leaves a letter within a longer word out."""
    for word in output.words:
        letters = _letters(pool, word.text)
        if len(letters) >= _LONG:
            at = int(rng.integers(1, len(letters) - 1))
            place = word.start + len("".join(letters[:at]))
            yield place, place + len(letters[at]), ""


def _letters(pool: OtherOutputs, word: str) -> list[str]:
    """The letters of a word, each with its marks; none where nobody would misspell it so."""
    import regex

    if pool.script in _NO_LETTERS or not pool.is_in_script(word):
        return []
    letters: list[str] = regex.findall(r"\X", word)
    return letters if all(letter[0].isalpha() for letter in letters) else []


@perturbation("lower", phenomenon="missing capitals", severity="minor", exact=True)
def lower(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Writes the whole text in lower case."""
    if pool.script in _CASED:
        yield 0, len(output.text), output.text.lower()


@perturbation("first lower", phenomenon="lower-cased beginnings", severity="minor", exact=True)
def first_lower(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Writes the first letter in lower case."""
    first = next((n for n, character in enumerate(output.text) if character.isalpha()), None)
    if first is not None and pool.is_in_script(output.text[first]) and pool.script in _CASED:
        yield first, first + 1, output.text[first].lower()


_FINAL = re.compile(rf"[{FINAL_MARKS}]+(?=[\s\"'»”’)\]]*$)")


@perturbation("no stop", phenomenon="missing final punctuation", severity="minor", exact=True)
def no_stop(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Leaves the punctuation at the end out, but for quotation marks."""
    match = _FINAL.search(output.text)
    if match:
        yield (*match.span(), "")


@perturbation("punctuation", phenomenon="stray punctuation", severity="minor", exact=True)
def punctuation(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Puts a comma, semicolon, colon or dash behind a word."""
    marks = _MARKS.get(pool.script, (",", ";", ":", " -"))
    for word, following in pairwise(output.words):
        if not output.text[word.end : following.start].strip():
            yield word.end, word.end, marks[int(rng.integers(len(marks)))]


@perturbation("spaces", phenomenon="spaces before punctuation", severity="minor", exact=True)
def spaces(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Site]:
    """Puts a space before the marks of punctuation that the outputs write without one."""
    close = [place for gap, place in mark_places(output.text) if not gap]
    changes = [(place, place, " ") for place in close if output.text[place] in pool.close_marks]
    if changes:
        yield changes


@perturbation(
    "tokenised",
    phenomenon="spaces between all tokens",
    severity="minor",
    needs=("tokens",),
    exact=True,
    default=False,
)
def tokenised(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Site]:
    """Puts spaces between all tokens of the tagger ("don't.": "do n't .")."""
    starts = [token.start for before, token in pairwise(output.tokens) if before.end == token.start]
    if starts:
        yield [(start, start, " ") for start in starts]
