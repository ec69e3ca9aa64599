"""Diversity of the words in several wordings of a sentence (DS_x of Bawden et al., 2020)."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from gnomon.core.errors import UnknownNameError, UsageError
from gnomon.metrics.means import mean
from gnomon.metrics.tokenise import text_tokeniser, tokenise

if TYPE_CHECKING:
    from collections.abc import Sequence

LEXICAL = ("lexical", "lexical-tokens")
_NO_SENTENCE = "sentences must be texts, or lists of texts (one list per sentence); got {!r:.60}"


def lexical_values(
    groups: Sequence[Sequence[str | None]],
    variant: str = "lexical",
    *,
    tokenizer: str | None = None,
) -> list[float | None]:
    """DS_x of each sentence; ``None`` where it has fewer than two paraphrases."""
    if variant not in LEXICAL:
        raise UnknownNameError("variant of lexical diversity", variant, LEXICAL)
    for group in groups:
        if isinstance(group, str) or not all(t is None or isinstance(t, str) for t in group):
            raise UsageError(_NO_SENTENCE.format(group))
    texts = list(dict.fromkeys(t for group in groups for t in group if t is not None))
    table = tokenise(texts, text_tokeniser(texts, tokenizer))
    rows = [table.ids[a:b].tolist() for a, b in zip(table.offsets, table.offsets[1:], strict=False)]
    words = {text: frozenset(row) for text, row in zip(texts, rows, strict=True)}
    lengths = {
        text: len(row) if variant == "lexical-tokens" else len(words[text])
        for text, row in zip(texts, rows, strict=True)
    }

    def measure_distance(a: str, b: str) -> float:
        both = lengths[a] + lengths[b]
        return 1 - 2 * len(words[a] & words[b]) / both if both else 0.0

    sets = [[text for text in group if text is not None] for group in groups]
    return [mean([measure_distance(a, b) for a, b in combinations(texts, 2)]) for texts in sets]
