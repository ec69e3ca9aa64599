"""Trees of texts from any tagger that gives heads."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from gnomon.core.errors import UnknownNameError, UsageError
from gnomon.linguistics import Mark, parse
from gnomon.linguistics import annotators as _annotators

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.linguistics.conftest import Toy


def test_a_name_that_is_no_parser_is_refused() -> None:
    with pytest.raises(UnknownNameError):
        parse(["x"], tagger="corenlp:en")
    with pytest.raises(UsageError, match="engine:model"):
        parse(["x"], tagger="stanza:")


@dataclass
class _Chain:
    """A tagger that hangs each word on the one before it."""

    model: str
    name: str = "chain:1"
    signature: str = "chain:1/0"
    layers: dict[str, tuple[str, ...]] = field(
        default_factory=lambda: {"pos": ("pos",), "head": ()}
    )

    def inventory(self, kind: str) -> Sequence[str]:
        return (f"{kind}:N",)

    def annotate(self, texts: Sequence[str], layers: Sequence[str]) -> list[dict[str, list[Mark]]]:
        labels = {"pos": ("N", "N"), "head": ("0", "-1")}
        return [
            {
                layer: [
                    Mark(word.start(), word.end(), labels[layer][word.start() > 0])
                    for word in re.finditer(r"\w+", text)
                ]
                for layer in layers
            }
            for text in texts
        ]


def test_any_tagger_that_gives_heads_makes_trees(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_annotators, "_registered", {"chain": _Chain, "toy": lambda _: toy})
    done: list[tuple[str, int, int]] = []
    (tree,) = parse(["a b c"], tagger="chain:1", progress=lambda *step: done.append(step))
    assert str(tree) == "(S (NP (N a) (NP (N b) (N c))))"
    assert done == [("parsing", 0, 1), ("parsing", 1, 1)]
    with pytest.raises(UsageError, match="toy:1 does not give"):
        parse(["a b"], tagger="toy:1")
