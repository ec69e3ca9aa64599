"""Texts as tokens, with parts of speech, lemmas and the heads that they depend on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from gnomon.linguistics.dependencies import crossing, reach
from gnomon.linguistics.facts import Mark

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gnomon.linguistics.facts import LayerFacts

#: the layers that sentences are made of, as far as an annotator has them
SENTENCE_LAYERS = ("pos", "dep", "head", "lemma", "ent", "token")
#: signs that libraries end at, or refuse
_UNREADABLE = re.compile("[\0\ud800-\udfff]")
_FACT = "\t"  # parts what is said of a word; a lemma, which may hold it, stands last


class Token(NamedTuple):
    """A word or mark of punctuation, and what a tagger says of it.

    Attributes:
        start: its first code point in the text.
        end: the code point after it.
        text: its characters; those of a multiword token for each of its words (CoNLL-U).
        pos: universal part of speech; "" where there is none.
        morph: morphological facts, ``{"Number=Plur"}``.
        lemma: its base form; "" where there is none.
        relation: its dependency relation; "" where there is none.
        head: position of its head among the tokens of the text, its own for a root.
    """

    start: int
    end: int
    text: str
    pos: str
    morph: frozenset[str]
    lemma: str
    relation: str
    head: int


@dataclass(frozen=True)
class Sentence:
    """A text and its tokens.

    Attributes:
        text: the text.
        tokens: its tokens in their order; none for white space.
        entities: named entities, labelled by what they name (``PERSON``).
    """

    text: str
    tokens: tuple[Token, ...]
    entities: tuple[Mark, ...]


def sentences(texts: Sequence[str], facts: Mapping[str, LayerFacts]) -> Iterator[Sentence]:
    """The texts as tokens, made of what several layers say of the same words.

    Layer ``token`` says all of each word, and several of its words may stand in one place.
    """
    by_layer = {layer: layer_facts.marks() for layer, layer_facts in facts.items()}
    none: list[list[Mark]] = [[] for _ in texts]
    entities = by_layer.get("ent", none)
    layers = [by_layer.get(layer, none) for layer in SENTENCE_LAYERS[:4]]
    for number, text in enumerate(texts):
        if "token" in by_layer:
            words = by_layer["token"][number]
        else:
            labels = [{mark[:2]: mark.label for mark in layer[number]} for layer in layers]
            words = [
                Mark(*place, _FACT.join(some.get(place, "") for some in labels))
                for place in sorted(set().union(*labels))
            ]
        tokens = tuple(_token(text, position, word) for position, word in enumerate(words))
        yield Sentence(text, tokens, tuple(entities[number]))


def make_readable(text: str) -> str:
    """The text, as long, with blanks for what libraries cannot read."""
    return _UNREADABLE.sub(" ", text)


class TaggedWord(NamedTuple):
    """What a tagger says of a word; several words may stand in one place.

    Attributes:
        start: its first code point in the text.
        end: the code point after it.
        pos: part of speech and morphology, as in layer ``pos``.
        lemma: its base form.
        relation: its dependency relation.
        head: position of its head among the words, its own for a root.
    """

    start: int
    end: int
    pos: str
    lemma: str
    relation: str
    head: int


def marks_of_words(words: Sequence[TaggedWord]) -> dict[str, list[Mark]]:
    """The marks of words in layers ``pos``, ``dep`` and ``token``."""
    heads = [word.head for word in words]
    rows = [*zip(words, reach(heads), crossing(heads), strict=True)]
    return {
        "pos": _distinct((word, word.pos) for word, _, _ in rows),
        "dep": _distinct(
            (word, f"{word.relation}|{reached}{'|crossing' * crossed}")
            for word, reached, crossed in rows
            if word.relation or reached
        ),
        "token": [
            Mark(
                *word[:2],
                _FACT.join((word.pos, word.relation, str(word.head - place), word.lemma)),
            )
            for place, word in enumerate(words)
        ],
    }


def _distinct(labelled: Iterable[tuple[TaggedWord, str]]) -> list[Mark]:
    marks = (Mark(*word[:2], label) for word, label in labelled if label)
    return list(dict.fromkeys(marks))


def _token(text: str, position: int, word: Mark) -> Token:
    """A token of a mark of layer ``token``."""
    start, end, label = word
    pos, morph, lemma, relation, distance = _facts_of_label(label)
    return Token(start, end, text[start:end], pos, morph, lemma, relation, position + distance)


@lru_cache(maxsize=65536)
def _facts_of_label(label: str) -> tuple[str, frozenset[str], str, str, int]:
    word_class, relation, distance, lemma = label.split(_FACT, 3)
    pos, *morph = word_class.split("|")
    return pos, frozenset(morph), lemma, relation.partition("|")[0], int(distance or 0)
