"""A tagger without a model, which counts what it is asked."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from gnomon.linguistics import Mark

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LABELS = {"pos": ("NOUN|Number=Sing", "PROPN"), "ent": ("", "NAME"), "mood": ("low", "high")}


@dataclass
class Toy:
    """Calls capitalised words proper nouns and names, others nouns."""

    name: str = "toy:1"
    signature: str = "toy:1/0"
    calls: list[tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=list)

    @property
    def layers(self) -> Mapping[str, tuple[str, ...]]:
        return {"pos": ("pos", "morph"), "ent": ("ent",), "mood": ("mood",)}

    def inventory(self, kind: str) -> Sequence[str]:
        known = {"pos": ("pos:NOUN", "pos:PROPN", "pos:SYM"), "ent": ("ent:NAME", "ent:PLACE")}
        return known.get(kind, ())

    def annotate(self, texts: Sequence[str], layers: Sequence[str]) -> list[dict[str, list[Mark]]]:
        self.calls.append((tuple(texts), tuple(layers)))
        return [{layer: self._marks(text, layer) for layer in layers} for text in texts]

    def _marks(self, text: str, layer: str) -> list[Mark]:
        found = []
        for match in re.finditer(r"\w+", text):
            big = match[0][0].isupper()
            name = LABELS[layer][big]
            if name:
                found.append(Mark(match.start(), match.end(), name))
        return found

    def texts(self) -> list[str]:
        return [text for texts, _ in self.calls for text in texts]


@pytest.fixture
def toy() -> Toy:
    return Toy()
