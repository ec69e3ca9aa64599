"""Errors of English texts in forms and sentences: tense, number, case, lost subjects, spelling."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gnomon.core.data_files import data_beside
from gnomon.stress.perturbations import perturbation
from gnomon.stress.rules._clauses import (
    clauses,
    inflect,
    is_past,
    is_plural,
    match_capital,
    span,
    subtree,
    text_at,
)
from gnomon.stress.rules._lists import families, pairs, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from gnomon.stress.outputs import OtherOutputs, Output
    from gnomon.stress.perturbations import Change, Site
    from gnomon.stress.rules._clauses import Clause

_LISTS = data_beside(__file__)


# Forms of verbs and nouns.

_NOW = pairs("was is, were are", both=False)
_THEN = pairs("is was, are were, am was, has had, have had, does did, do did", both=False)


@perturbation(
    "tense",
    phenomenon="wrong tenses",
    severity="major",
    languages="en",
    needs=("tokens", "inflections"),
)
def tense(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Puts a verb of the past, present or future into another of these."""
    tokens = output.tokens
    for clause in clauses(output):
        finite = tokens[clause.finite]
        if not output.is_whole(finite.start, finite.end) or clause.subject is None:
            continue
        if finite.text.casefold() == "will" and clause.verb == clause.finite + 1:
            new, end = _past(output, clause), tokens[clause.verb].end
        else:
            # reports are told in the past and present alike, and the present may mean the future
            reports = finite.pos == "VERB" and finite.lemma in _REPORTING
            likely = 1.0 if reports else _FUTURE * is_past(finite)
            future = _future(output, clause) if rng.random() < likely else ""
            new, end = future or _other_tense(output, clause), finite.end
        if new and new != finite.text.casefold():
            yield finite.start, end, new


_FUTURE = 0.8  # share of verbs in the past that are put into the future


def _future(output: Output, clause: Clause) -> str:
    """A finite verb in the future; "" for auxiliaries that have none."""
    finite = output.tokens[clause.finite]
    following = text_at(output, clause.finite + 1)
    if finite.lemma == "be" and finite.text.isalpha():
        return "will be" if following not in ("not", "n't", "n’t", "going", "to") else ""
    if finite.pos == "AUX" or not finite.lemma.islower():
        return ""
    return f"will {finite.lemma}"


def _other_tense(output: Output, clause: Clause) -> str:
    """A finite verb of the past in the present, or of the present in the past."""
    finite = output.tokens[clause.finite]
    word = finite.text.casefold()
    if finite.pos == "AUX" or word in _NOW or word in _THEN:
        return _other_auxiliary(output, clause)
    return _present(output, clause) if is_past(finite) else inflect(finite.lemma, "VBD")


def _other_auxiliary(output: Output, clause: Clause) -> str:
    word = output.tokens[clause.finite].text.casefold()
    conditional = any(text_at(output, n) in ("if", "though") for n in output.children[clause.verb])
    if word in _NOW and not conditional:
        return _NOW[word]
    if word in ("had", "did") and clause.subject is not None:
        plural = is_plural(output, clause.subject)
        first = text_at(output, clause.subject) == "i"
        base = {"had": ("has", "have"), "did": ("does", "do")}[word]
        return "" if plural is None and not first else base[bool(plural or first)]
    return _THEN.get(word, "")


def _past(output: Output, clause: Clause) -> str:
    """The past of the infinitive behind "will"."""
    verb = output.tokens[clause.verb]
    if verb.lemma != "be":
        return inflect(verb.lemma, "VBD")
    plural = None if clause.subject is None else is_plural(output, clause.subject)
    return "" if plural is None else ("were" if plural else "was")


def _present(output: Output, clause: Clause) -> str:
    """The present of a verb, as its subject has it; "" where that is not clear."""
    lemma = output.tokens[clause.finite].lemma
    subject = text_at(output, clause.subject) if clause.subject is not None else ""
    plural = None if clause.subject is None else is_plural(output, clause.subject)
    if subject == "i" or plural:
        return lemma
    return "" if plural is None else inflect(lemma, "VBZ")


@perturbation(
    "aspect",
    phenomenon="wrong aspects",
    severity="major",
    languages="en",
    needs=("tokens", "inflections"),
)
def aspect(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Makes a verb progressive that cannot be so ("knows": "is knowing", "won": "was winning")."""
    tokens = output.tokens
    for clause in clauses(output):
        finite, verb = tokens[clause.finite], tokens[clause.verb]
        if clause.subject is None or not output.is_whole(finite.start, verb.end):
            continue
        simple = finite is verb and verb.pos == "VERB"
        obliged = verb.lemma == "have" and text_at(output, clause.verb + 1) == "to"
        done = is_past(verb) and verb.lemma in _ENDING
        if simple and not obliged and (done or verb.lemma in _STATES):
            be = _be(output, clause)
            progressive = inflect(verb.lemma, "VBG")
            if be and progressive:
                yield verb.start, verb.end, f"{be} {progressive}"


#: verbs of reports, which are told in several tenses; and "be"
_REPORTING = words("say tell add note report explain be")
#: verbs of states, which have no progressive
_STATES = words(*_LISTS["states"])
#: verbs of what ends at once, which the progressive of the past leaves open
_ENDING = words(*_LISTS["ending"])


def _be(output: Output, clause: Clause) -> str:
    """The form of "be" that a finite verb and its subject take."""
    if clause.subject is None:
        return ""
    past = is_past(output.tokens[clause.finite])
    if text_at(output, clause.subject) == "i":
        return "was" if past else "am"
    plural = is_plural(output, clause.subject)
    return "" if plural is None else [["is", "are"], ["was", "were"]][past][plural]


#: nouns that have no plural, or no singular, or another sense there
_ONE_NUMBER = words(*_LISTS["one_number"])
_UNCOUNTED = re.compile(r"(?:ing|ness|ism|ics|ment|ity|ance|ence|ship|hood|dom|th|ure|age|cy|ial)$")
_DEFINITE = words("the his her its their our my your")


@perturbation(
    "plural",
    phenomenon="nouns in the wrong number",
    severity="major",
    languages="en",
    features=("ent:*",),
    needs=("tokens", "inflections"),
)
def plural_nouns(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Makes a noun in the singular plural, or in the plural singular."""
    for position, token in enumerate(output.tokens):
        word = token.text
        if token.pos != "NOUN" or not output.common[position] or not word.islower():
            continue
        if word in _ONE_NUMBER or token.lemma in _ONE_NUMBER or token.relation == "compound":
            continue
        new = ""
        if "Number=Plur" in token.morph:
            new = token.lemma
        elif not _UNCOUNTED.search(word):
            determiners = {
                text_at(output, n)
                for n in output.children[position]
                if output.tokens[n].relation in ("det", "poss")
            }
            new = inflect(token.lemma, "NNS") if determiners & _DEFINITE else ""
        if new and new != word and new.isalpha():
            yield token.start, token.end, new


_SUBJECT_FORM = pairs("me I, him he, us we, them they", both=False)
_OBJECT_FORM = pairs("I me, he him, she her, we us, they them", both=False)


@perturbation(
    "pronoun case",
    phenomenon="pronouns in the wrong case",
    severity="minor",
    languages="en",
    needs=("tokens",),
)
def pronoun_case(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Makes "him" of the subject "he", "they" of the object "them" or "their"."""
    for token in output.tokens:
        word = token.text if token.text == "I" else token.text.casefold()
        if token.pos != "PRON" or not output.is_whole(token.start, token.end):
            continue
        if token.relation in ("nsubj", "nsubjpass") and word in _OBJECT_FORM:
            yield token.start, token.end, match_capital(token, _OBJECT_FORM[word])
        elif token.relation in ("dobj", "pobj", "dative"):
            new = "she" if word == "her" else _SUBJECT_FORM.get(word, "")
            if new:
                yield token.start, token.end, new
        elif token.relation == "poss" and word in _POSSESSIVES:
            yield token.start, token.end, match_capital(token, _POSSESSIVES[word])


_POSSESSIVES = pairs("their them, his him, her she, its it, our us, my me, your you", both=False)


# Sentences.

_LONGEST_PHRASE, _LONGEST_SUBJECT = 8, 4  # words


@perturbation(
    "question",
    phenomenon="statements turned into questions",
    severity="major",
    languages="en",
    needs=("tokens",),
    exact=True,
)
def question(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Site]:
    """Makes a statement a question ("They left.": "Did they leave?")."""
    tokens = output.tokens
    text = output.text
    if not text.endswith(".") or text.count(".") > len(re.findall(r"\.(?=\S)", text)) + 1:
        return
    if re.search(r"[?!:;\"“”]", text) or sum(t.relation == "ROOT" for t in tokens) != 1:
        return
    for clause in clauses(output):
        if tokens[clause.verb].relation != "ROOT" or clause.subject is None or clause.inverted:
            continue
        finite = tokens[clause.finite]
        negated = text_at(output, clause.finite + 1) in ("n't", "n’t")
        if negated or finite.text.startswith(("'", "’")) or clause.finite == 0:
            return
        first = subtree(output, clause.subject)[0]
        marked = any(tokens[n].relation == "mark" for n in output.children[clause.verb])
        if marked or (first and tokens[first - 1].pos == "CCONJ"):
            return  # the tagger takes a subordinate clause, or half of the subject
        start = tokens[first].start
        if finite.pos == "AUX":
            front, rest = finite.text, ""
        else:
            front = "did" if is_past(finite) else "does" if "Person=3" in finite.morph else "do"
            rest = finite.lemma
        yield _move_word(output, start, front, (finite.start, finite.end, rest))


def _move_word(output: Output, start: int, front: str, finite: Change) -> list[Change]:
    """The changes that put a word before the subject, and a question mark at the end."""
    text = output.text
    first = next(token for token in output.tokens if token.start == start)
    stays = first.pos == "PROPN" or first.text == "I" or first.text[1:] != first.text[1:].lower()
    begins = not any(map(str.isalnum, text[:start]))
    word = first.text if stays or not begins else first.text.lower()
    at, end, rest = finite
    if not rest and text[at - 1 : at] == " ":  # the word leaves, with the space before it
        at -= 1
    opening = front.capitalize() if begins else front
    return [
        (start, start + len(first.text), f"{opening} {word}"),
        (at, end, rest),
        (len(text) - 1, len(text), "?"),
    ]


@perturbation(
    "no subject",
    phenomenon="deleted subjects",
    severity="critical",
    languages="en",
    needs=("tokens",),
)
def no_subject(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Leaves a subject out, with all that belongs to it."""
    for clause in clauses(output):
        if clause.subject is None or text_at(output, clause.subject) in _LINKS:
            continue
        positions = subtree(output, clause.subject)
        gapless = len(positions) == positions[-1] - positions[0] + 1
        if not gapless or len(positions) > _LONGEST_SUBJECT or positions[-1] >= clause.finite:
            continue
        if text_at(output, positions[0] - 1) in ("and", "but", "or"):
            continue  # the subject before it may stand for both
        start, end = span(output, positions)
        quoted = output.text[start - 1 : start] in ('"', "“") or "“" in output.text[start:end]
        if output.is_whole(start, end) and output.text[end : end + 1] == " " and not quoted:
            yield start, end, ""


_LINKS = words("who which that what whoever whatever there")


@perturbation(
    "no phrase",
    phenomenon="deleted prepositional phrases",
    severity="major",
    languages="en",
    needs=("tokens",),
)
def no_phrase(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Leaves a preposition out with all that depends on it."""
    tokens = output.tokens
    for position, token in enumerate(tokens):
        if token.relation not in ("prep", "agent") or token.pos != "ADP":
            continue
        positions = subtree(output, position)
        gapless = len(positions) == positions[-1] - positions[0] + 1
        inner = 1 < len(positions) <= min(_LONGEST_PHRASE, len(tokens) // 2)
        if not gapless or not inner or positions[0] != position:
            continue
        if text_at(output, position - 1) in _TIED or tokens[positions[-1]].pos == "PUNCT":
            continue
        start, end = span(output, positions)
        before, after = output.text[:start].rstrip(), output.text[end : end + 1]
        if after == "," and (not before or before.endswith(",")):
            end += 1
        if output.is_whole(start, end):
            yield start, end, ""


#: words of which a prepositional phrase is a part ("according to", "one of", "because of")
_TIED = words("according due such because out instead one some most many all each rather")


_ARTICLES = pairs("a an")
_PREPOSITIONS = pairs(
    "in at, on at, at of, for at, with of, from with, by of, to of, into of, under of, of than",
    both=False,
)


@perturbation(
    "function word",
    phenomenon="wrong function words",
    severity="minor",
    languages="en",
    needs=("tokens",),
)
def function_word(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Puts a wrong preposition there, or "a" in the place of "an"."""
    for position, token in enumerate(output.tokens):
        word = token.text.casefold()
        if not output.is_whole(token.start, token.end):
            continue
        if word in _ARTICLES and token.pos == "DET" and token.text.islower():
            yield token.start, token.end, _ARTICLES[word]
        elif word in _PREPOSITIONS and token.relation in ("prep", "agent"):
            governed = [n for n in output.children[position] if output.tokens[n].relation == "pobj"]
            # before other words than names, days and years both are right
            sure = _PREPOSITIONS[word] != "at" or any(
                n == position + 1 and output.tokens[n].pos in ("PROPN", "NUM", "PRON")
                for n in governed
            )
            if token.pos == "ADP" and governed and sure:
                yield token.start, token.end, _PREPOSITIONS[word]


# Words.

#: as people write them, and as they should
_MISSPELT = {
    right: wrong
    for wrong, right in pairs(
        *_LISTS["misspelt"],
        both=False,
    ).items()
}
_LETTERS = re.compile(r"(?<![\w'’-])[A-Za-z]{3,}(?![\w'’-])")


@perturbation(
    "misspelling",
    phenomenon="common misspellings",
    severity="minor",
    languages="en",
    exact=True,
)
def misspelling(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Spells a word as many people do by mistake (receive: recieve)."""
    for match in _LETTERS.finditer(output.text):
        wrong = _MISSPELT.get(match[0]) or _MISSPELT.get(match[0].lower())
        if wrong is not None and (match[0].islower() or match[0].istitle()):
            yield (*match.span(), wrong.capitalize() if match[0].istitle() else wrong)


_FAMILIES = families(*_LISTS["families"])


@perturbation(
    "word class",
    phenomenon="words in the wrong part of speech",
    severity="minor",
    languages="en",
    features=("ent:*",),
    needs=("tokens",),
)
def word_class(output: Output, pool: OtherOutputs, rng: np.random.Generator) -> Iterator[Change]:
    """Puts a word of the same family in another part of speech there (nation: national)."""
    for position, token in enumerate(output.tokens):
        if token.pos not in ("ADJ", "ADV", "NOUN", "VERB") or not output.common[position]:
            continue
        word = token.text.casefold()
        # before a noun another noun is right, too ("music background")
        before_noun = token.pos == "ADJ" and token.head == position + 1
        family = () if before_noun else _FAMILIES.get(word, ())
        related = tuple(dict.fromkeys((*family, *_adverb(token.pos, word))))
        if related:
            yield token.start, token.end, related[int(rng.integers(len(related)))]


_NO_ADVERB = words(
    "other such many same next good several much few more most less least whole fast"
)


def _adverb(pos: str, word: str) -> tuple[str, ...]:
    """The adverb of an adjective, or the adjective of an adverb, if their endings are regular."""
    if not word.isalpha() or word in _NO_ADVERB:
        return ()
    if pos == "ADJ" and len(word) > _SHORT and not word.endswith(("y", "le", "ll", "er", "est")):
        return (f"{word}ally" if word.endswith("ic") else f"{word}ly",)
    if pos == "ADV" and word.endswith("ly") and len(word) > _SHORT + 2:
        return (word.removesuffix("ally" if word.endswith("ically") else "ly"),)
    return ()


_SHORT = 3  # letters
