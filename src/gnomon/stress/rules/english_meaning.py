"""Errors of English texts that change their meaning: negation, modality, opposites, gender."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from gnomon.core.data_files import data_beside
from gnomon.stress.perturbations import perturbation
from gnomon.stress.rules._clauses import (
    clauses,
    has_word,
    is_past,
    match_capital,
    replace_with_article,
    subtree,
    text_at,
)
from gnomon.stress.rules._lists import pairs, regular_verbs, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np

    from gnomon.stress.outputs import OtherOutputs, Output
    from gnomon.stress.perturbations import Change, Site
    from gnomon.stress.rules._clauses import Clause

_LISTS = data_beside(__file__)


# Negation and modality.

#: words that go with a negation: without it they cannot stay
_WITH_NEGATION = words(
    "any anymore anyone anybody anything anywhere either yet until unless longer nor",
    "neither but ever rather",
)
_NEGATIVE = words(
    "not n't n’t no never nothing nobody none neither nor without hardly barely scarcely",
    "rarely seldom only few little cannot",
)
#: behind "not", or before it, where it belongs to a phrase
_AFTER_NOT = words("only just merely simply necessarily least to so all every too")
_BEFORE_NOT = words("if or why whether than but and , certainly")
#: adverbs between which and a verb a negation would be odd
_LIGHT = words(*_LISTS["light"])
_NEGATABLE = words("am is are was were has have had do does did can could will would should must")
_NOT = ("not", "n't", "n’t")
#: before "n't", where the word is not whole without it
_CUT = {"ca": "can", "wo": "will", "sha": "shall"}


@perturbation(
    "negation",
    phenomenon="wrong negation",
    severity="critical",
    languages="en",
    features=("ent:*",),
    needs=("tokens",),
    exact=True,
)
def negation(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Site]:
    """Leaves a negation out, or denies what is said."""
    yield from _drop_negations(output)
    for clause in clauses(output):
        yield from _negate(output, clause)


def _drop_negations(output: Output) -> Iterator[Site]:
    """Negations that can be left out."""
    for position, token in enumerate(output.tokens):
        word = token.text.casefold()
        following = text_at(output, position + 1)
        if word in _NOT:
            if _is_free_negation(output, position):
                yield drop_negation(output, position)
        elif word == "no" and following == "longer":
            yield token.start, output.tokens[position + 1].end, "still"
        elif word == "no" and token.relation == "det":
            noun = output.tokens[token.head]
            fits = noun.pos == "NOUN" and following not in ("more", "matter", "doubt", "less")
            if fits and output.is_whole(token.start, token.end):
                yield token.start, token.end, "Some" if token.text[0] == "N" else "some"


def _is_free_negation(output: Output, position: int) -> bool:
    token = output.tokens[position]
    following, before = text_at(output, position + 1), text_at(output, position - 1)
    if following in _AFTER_NOT - {"to"} or not following.isalpha() or before in _BEFORE_NOT:
        return False
    if following == "to" and before not in ("decided", "asked", "told", "urged", "chose"):
        return False
    after = [n for n in subtree(output, token.head) if n > position]
    whole = output.is_whole(token.start, token.end) or token.text.casefold() != "not"
    return whole and before not in ("ai", "") and not has_word(output, after, _WITH_NEGATION)


def drop_negation(output: Output, position: int) -> list[Change]:
    """The changes that leave "not" or "n't" out ("won't go": "will go", "is not old": "is old")."""
    token = output.tokens[position]
    before = output.tokens[position - 1]
    whole = _CUT.get(before.text.casefold())
    changes: list[Change] = []
    if whole is not None and token.start == before.end:
        whole = whole.capitalize() if before.text[0].isupper() else whole
        changes.append((before.start, before.end, whole))
    start = token.start - 1 if output.text[token.start - 1 : token.start] == " " else token.start
    return [*changes, (start, token.end, "")]


def _negate(output: Output, clause: Clause) -> Iterator[Change]:
    """A clause, if it is no question and has no negation, with one."""
    tokens = output.tokens
    finite = tokens[clause.finite]
    if clause.subject is None or clause.inverted or not output.common[clause.finite]:
        return
    scope = [n for n in subtree(output, clause.verb) if n >= clause.subject]
    if has_word(output, scope, _NEGATIVE) or text_at(output, clause.finite + 1) in _LIGHT:
        return
    if has_word(output, [clause.subject], _NEGATIVE | {"both", "all", "most"}):
        return
    word = finite.text.casefold()
    if finite.pos == "AUX":
        # "may not" can mean the same as "may"
        if word in _NEGATABLE or word in ("'s", "’s", "'re", "’re", "'ve", "’ve", "'ll", "’ll"):
            yield finite.end, finite.end, " not"
        return
    shares = any(
        tokens[n].relation == "conj" and tokens[n].pos in ("VERB", "AUX")
        for n in output.children[clause.verb]
    )
    adverb = text_at(output, clause.finite - 1)
    if shares or tokens[clause.finite - 1].pos == "ADV" or adverb in _LIGHT:
        return
    if finite.lemma.isalpha() and finite.lemma.islower():
        yield finite.start, finite.end, f"{_do(output, clause)} not {finite.lemma}"


def _do(output: Output, clause: Clause) -> str:
    """The form of "do" that a finite verb takes."""
    finite = output.tokens[clause.finite]
    if is_past(finite):
        return "did"
    return "does" if "Person=3" in finite.morph else "do"


_MODALS = pairs(
    "must may, might must, can must, should may, will may, shall may", both=False
) | pairs("may must", both=False)


@perturbation(
    "modality",
    phenomenon="wrong modal verbs",
    severity="major",
    languages="en",
    features=("ent:*",),
    needs=("tokens",),
)
def modality(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Makes what must be possible, and what may be necessary."""
    for position, token in enumerate(output.tokens):
        new = _MODALS.get(token.text.casefold())
        if new is None or token.relation != "aux" or not output.common[position]:
            continue
        alone = not output.text[token.end : token.end + 1].isalpha()  # "cannot"
        verb = output.tokens[token.head]
        following = text_at(output, position + 1)
        fits = alone and token.head > position and verb.pos in ("VERB", "AUX")
        if fits and following not in ("well", "have", "as", "n't", "n’t", "only"):
            yield token.start, token.end, new


# Opposites.

_Words = dict[str, dict[str, str]]


def _opposites(name: str) -> _Words:
    """Opposites by part of speech, of verbs with their forms."""
    return {
        pos: regular_verbs(*lists.get("verbs", ()))
        | regular_verbs(*lists.get("verbs_one_way", ()), both=False)
        | pairs(*lists.get("pairs", ()))
        | pairs(*lists.get("pairs_one_way", ()), both=False)
        for pos, lists in _LISTS[name].items()
    }


_OPPOSITES = _opposites("opposites")

#: words of which some forms are opposites only of nouns like these
_HIGH_NOUNS = words("school schools court street tech sea seas season")
#: words that stand before an opposite where it is part of a phrase
_PHRASES_BEFORE = words("once no any not never at as more far ever hardly")
_BEFORE_RELATION = words("shortly soon day year look looked looking named as the from one time")
_RELATIONS = words("amod acomp attr conj ROOT oprd")


@perturbation(
    "polarity",
    phenomenon="reversed comparisons and directions",
    severity="critical",
    languages="en",
    features=("ent:*",),
    needs=("tokens",),
)
def polarity(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Site]:
    """Puts the opposite of a word of quantity, time or direction (more: less, before: after)."""
    yield from _replace_opposites(output, _OPPOSITES)


def _replace_opposites(output: Output, words: Mapping[str, Mapping[str, str]]) -> Iterator[Site]:
    for position, token in enumerate(output.tokens):
        word = token.text.casefold()
        new = words.get(token.pos, {}).get(word)
        if new is None or not output.common[position]:
            continue
        new = _fitting(output, position, word, new)
        if new:
            yield replace_with_article(output, position, new)


def _fitting(output: Output, position: int, word: str, new: str) -> str:
    """The opposite that fits what a word stands with; "" where none is safe."""
    token = output.tokens[position]
    before, following = text_at(output, position - 1), text_at(output, position + 1)
    if following in ("and", "or", "/") and token.relation not in ("ROOT", "prep"):
        return ""  # "more or less", "sooner and later"
    if word in ("more", "less", "most", "least"):
        safe = _is_comparison(output, position)
    elif word in ("before", "after", "above", "below", "inside", "outside"):
        safe = _is_relation(output, position)
    elif word in ("always", "never"):
        safe = following not in ("before", "again") and before not in ("as", "almost")
    elif token.pos == "ADJ":
        safe = _is_free_adjective(output, position)
    elif token.pos == "ADV":
        safe = before not in ("at", "as", "no", "any") and following not in ("as", "on")
    elif token.pos == "VERB":
        safe = following not in ("up", "out", "to", "in", "into", "over", "back")
    else:
        safe = token.relation != "compound"
    return new if safe else ""


def _is_comparison(output: Output, position: int) -> bool:
    """True if "more" or "less" grades a word behind it, or stands before "than"."""
    token = output.tokens[position]
    head = output.tokens[token.head]
    before, following = text_at(output, position - 1), text_at(output, position + 1)
    graded = head.pos in ("ADJ", "ADV") and token.head > position and following != "likely"
    return (graded or following == "than") and before not in _PHRASES_BEFORE


def _is_relation(output: Output, position: int) -> bool:
    """True if "before", "above" and the like stand before a noun or a clause."""
    relation = output.tokens[position].relation
    before, following = text_at(output, position - 1), text_at(output, position + 1)
    if before in _BEFORE_RELATION or following in ("all", "that"):
        return False
    return relation == "mark" or (relation == "prep" and bool(output.children[position]))


def _is_free_adjective(output: Output, position: int) -> bool:
    """True if an adjective is compared with nothing, and part of no phrase."""
    token = output.tokens[position]
    word, before = token.text.casefold(), text_at(output, position - 1)
    if before in ("as", "how") or text_at(output, position + 1) in ("as", "of"):
        return False
    if output.tokens[token.head].text.casefold() in _HIGH_NOUNS:
        return False
    if word in ("many", "few") and before in ("too", "so", "at", "no", "a", "the"):
        return False
    only = ("amod",) if word in ("many", "few", "first", "last") else _RELATIONS
    return token.relation in only


_ANTONYMS = _opposites("antonyms")
_ALL_OPPOSITES: _Words = {
    pos: {**_ANTONYMS.get(pos, {}), **_OPPOSITES.get(pos, {})}
    for pos in {**_OPPOSITES, **_ANTONYMS}
}


@perturbation(
    "antonym",
    phenomenon="antonyms",
    severity="critical",
    languages="en",
    features=("ent:*",),
    needs=("tokens",),
    default=False,
)
def antonym(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Site]:
    """Puts the opposite of a noun, verb, adjective or adverb of a list (accept: reject)."""
    yield from _replace_opposites(output, _ALL_OPPOSITES)


# Gender.

_GENDER = pairs("he she, himself herself") | {"him": "her", "his": "her", "hers": "his"}


_MALE = words("he him his himself")
_NOUNS = {"male": words(*_LISTS["male"]), "female": words(*_LISTS["female"])}


@perturbation(
    "gender",
    phenomenon="pronouns of the wrong gender",
    severity="critical",
    languages="en",
    features=("ent:*",),
    needs=("tokens",),
)
def gender(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Makes "he" of "she", "her" of "his", and the other way round, where a noun or name says it.

    A noun says it that is a man's or a woman's (mother, Mr.), and a person's first and last name.
    """
    named = _has_full_name(output)
    texts = {token.text.casefold().rstrip(".") for token in output.tokens}
    for token in output.tokens:
        word = token.text.casefold()
        if not named and texts.isdisjoint(_NOUNS["male" if word in _MALE else "female"]):
            continue
        if token.pos not in ("PRON", "DET") or not output.is_whole(token.start, token.end):
            continue
        if word == "her":
            new = "his" if token.relation == "poss" else "him"
            yield token.start, token.end, match_capital(token, new)
        elif word in _GENDER and not (word == "his" and token.relation != "poss"):
            yield token.start, token.end, match_capital(token, _GENDER[word])


def _has_full_name(output: Output) -> bool:
    """True if a person's name has several words: a last name alone tells no gender."""
    persons = [*output.marked.get("ent:PERSON", ()), *output.marked.get("ent:PER", ())]
    return any(
        start <= one.start and two.end <= end
        for one, two in pairwise(output.tokens)
        if one.pos == two.pos == "PROPN"
        for start, end in persons
    )


def negations(output: Output) -> Iterator[tuple[int, int]]:
    """Positions of an auxiliary and the negation behind it, which may be left out."""
    for position, (before, token) in enumerate(pairwise(output.tokens), 1):
        negative = token.text.casefold() in _NOT and before.pos == "AUX"
        if negative and _is_free_negation(output, position):
            yield position - 1, position
