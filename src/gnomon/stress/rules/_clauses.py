"""Clauses of English sentences: their verb, its finite word and its subject, by trees."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from gnomon.stress.rules._lists import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.linguistics import Token
    from gnomon.stress.outputs import Output

_SUBJECTS = frozenset(("nsubj", "nsubjpass", "expl"))
_AUXILIARIES = frozenset(("aux", "auxpass"))
_PLURAL_PRONOUNS = frozenset(("we", "they", "you", "these", "those", "both", "many", "few"))
_SINGULAR_PRONOUNS = words(
    "he she it this someone somebody everyone everybody nobody nothing something",
)
_RELATIVE = frozenset(("who", "which", "that"))
#: nouns before a verb in the singular or the plural alike
_EITHER = words("number majority lot half percent rest group team police all")


class Clause(NamedTuple):
    """A clause with a finite verb, by positions of tokens."""

    verb: int  # the main verb, or "be" where that is none
    finite: int  # the word that has tense: an auxiliary or the verb itself
    subject: int | None  # head of the subject before the finite word
    inverted: bool  # a subject stands behind the finite word


def clauses(output: Output) -> Iterator[Clause]:
    """The clauses that have a finite verb, in the order of their verbs."""
    tokens = output.tokens
    for verb, token in enumerate(tokens):
        if token.pos not in ("VERB", "AUX") or token.relation in _AUXILIARIES:
            continue
        children = output.children[verb]
        helpers = [n for n in children if tokens[n].relation in _AUXILIARIES]
        finite = helpers[0] if helpers else verb
        if "VerbForm=Fin" not in tokens[finite].morph:
            continue
        subjects = [n for n in children if tokens[n].relation in _SUBJECTS]
        before = [n for n in subjects if n < finite]
        yield Clause(verb, finite, before[-1] if before else None, len(before) < len(subjects))


def subtree(output: Output, top: int) -> list[int]:
    """A token and all that depend on it, in the order of the text."""
    positions = [top]
    for position in positions:
        positions += output.children[position]
        if len(positions) > len(output.tokens):  # heads of users' labels may go in circles
            return [top]
    return sorted(positions)


def span(output: Output, positions: list[int]) -> tuple[int, int]:
    """The characters from the first of some tokens to the last."""
    return output.tokens[positions[0]].start, output.tokens[positions[-1]].end


def is_plural(output: Output, subject: int) -> bool | None:
    """True if a verb agrees with a subject in the plural; None: that is not clear."""
    token = output.tokens[subject]
    word = token.text.casefold()
    if word in _RELATIVE and token.pos == "PRON":
        verb = output.tokens[token.head]
        return is_plural(output, verb.head) if verb.relation == "relcl" else None
    if word in _PLURAL_PRONOUNS:
        return True
    if word in _SINGULAR_PRONOUNS:
        return False
    relations = {output.tokens[n].relation for n in output.children[subject]}
    if token.pos not in ("NOUN", "PROPN") or word in _EITHER or "nummod" in relations:
        return None
    if "cc" in relations or "conj" in relations:
        return True
    return "Number=Plur" in token.morph


def has_word(output: Output, positions: list[int], words: frozenset[str]) -> bool:
    """True if one of some tokens is one of some words."""
    return any(output.tokens[n].text.casefold() in words for n in positions)


def text_at(output: Output, position: int) -> str:
    """The word at a position, case-folded; "" outside the text."""
    tokens = output.tokens
    return tokens[position].text.casefold() if 0 <= position < len(tokens) else ""


def is_past(token: Token) -> bool:
    """True if a finite verb is in the past."""
    return "Tense=Past" in token.morph


def match_capital(token: Token, new: str) -> str:
    """A pronoun with the capital that the one before it has, as behind a colon."""
    return new.capitalize() if token.text.istitle() and token.text != "I" else new


@functools.cache
def inflect(lemma: str, form: str) -> str:
    """A form of an English word by lemminflect ("VBD", "VBG", "VBZ", "NNS"); "" if it has none."""
    from lemminflect import getInflection

    return next(iter(getInflection(lemma, tag=form)), "")


_SILENT = ("hour", "honest", "honour", "honor", "heir")
_SPOKEN = ("uni", "use", "usual", "euro", "one", "once", "ubiq", "utility")


def begins_with_vowel(word: str) -> bool:
    """True if "an" stands before a word."""
    folded = word.casefold()
    if folded.startswith(("unin", "unim")):
        return True
    return folded.startswith(_SILENT) or (
        folded[:1] in tuple("aeiou") and not folded.startswith(_SPOKEN)
    )


def replace_with_article(output: Output, position: int, new: str) -> list[tuple[int, int, str]]:
    """The change of a word to another, and that of "a" or "an" before it where needed."""
    token = output.tokens[position]
    change = (token.start, token.end, new)
    if text_at(output, position - 1) not in ("a", "an") or not position:
        return [change]
    article = output.tokens[position - 1]
    wanted = "an" if begins_with_vowel(new) else "a"
    if article.text.casefold() == wanted:
        return [change]
    return [(article.start, article.end, wanted), change]
