"""Texts as tokens, with parts of speech, lemmas and the heads that they depend on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from gnomon.linguistics._facts import Mark

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.linguistics._facts import LayerFacts

#: the layers that tokens are made of
TOKEN_LAYERS = ("pos", "dep", "head", "lemma")
#: those and the one of entities
SENTENCE_LAYERS = (*TOKEN_LAYERS, "ent")


class Token(NamedTuple):
    """A word or mark of punctuation, and what a tagger says of it.

    Attributes:
        start: its first code point in the text.
        end: the code point after it.
        text: its characters.
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
    """The texts as tokens, made of what layers say of the same characters."""
    by_layer = {layer: _marks(layer_facts) for layer, layer_facts in facts.items()}
    for number, text in enumerate(texts):
        labels = [
            {(start, end): label for start, end, label in by_layer[layer][number]}
            if layer in by_layer
            else {}
            for layer in TOKEN_LAYERS
        ]
        tokens = tuple(_tokens(text, *labels))
        yield Sentence(text, tokens, tuple(by_layer["ent"][number]) if "ent" in by_layer else ())


def _marks(facts: LayerFacts) -> list[list[Mark]]:
    marks: list[list[Mark]] = [[] for _ in range(facts.texts)]
    columns = (facts.text.tolist(), facts.start.tolist(), facts.end.tolist(), facts.label.tolist())
    for text, start, end, label in zip(*columns, strict=True):
        marks[text].append(Mark(start, end, facts.labels[label]))
    return marks


_Labels = dict[tuple[int, int], str]


def _tokens(
    text: str, pos: _Labels, relations: _Labels, heads: _Labels, lemmas: _Labels
) -> Iterator[Token]:
    places = sorted({*pos, *relations, *heads, *lemmas})
    for number, (start, end) in enumerate(places):
        tag, *morph = pos.get((start, end), "").split("|")
        yield Token(
            start,
            end,
            text[start:end],
            tag,
            frozenset(morph),
            lemmas.get((start, end), ""),
            relations.get((start, end), "").partition("|")[0],
            number + int(heads.get((start, end), "0")),
        )
