"""How different the words of paraphrases are."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from gnomon.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["LEXICAL", "lexical_diversity", "lexical_values", "mean"]

LEXICAL = ("lexical", "lexical-tokens")
_NO_SENTENCE = "sentences must be texts, or lists of texts (one list per sentence); got {!r:.60}"


def lexical_diversity(
    sentences: Sequence[Sequence[str | None]] | Sequence[str],
    variant: str = "lexical",
    *,
    tokenizer: str = "13a",
) -> float | None:
    """How different the words of paraphrases are, DS_x (Bawden et al., 2020).

    The mean over sentences of the mean over unordered pairs of 1 - (common distinct words) / (mean
    length). By default lengths count distinct words, so that this is Dice's coefficient and equal
    texts do not differ; with ``lexical-tokens`` they count all words, as the authors do, and equal
    texts with a repeated word do differ. Two empty texts do not differ.

    Args:
        sentences: the paraphrases of one sentence, or one list of paraphrases for each sentence;
            ``None`` is a missing one.
        variant: "lexical" or "lexical-tokens".
        tokenizer: a tokeniser of BLEU; case counts.

    Returns:
        0 (equal) to 1 (no word in common); ``None`` where no sentence has two paraphrases.

    Raises:
        UnknownNameError: there is no such variant or tokeniser.
        UsageError: the sentences are neither texts nor lists of texts.

    >>> lexical_diversity(["the cat sat here", "the cat lay here"])
    0.25
    """
    groups = [sentences] if all(isinstance(s, str) for s in sentences) else sentences
    return mean(lexical_values(groups, variant, tokenizer=tokenizer))  # type: ignore[arg-type]  # lexical_values refuses what is no group


def lexical_values(
    groups: Sequence[Sequence[str | None]], variant: str = "lexical", *, tokenizer: str = "13a"
) -> list[float | None]:
    """DS_x of each sentence; ``None`` where it has fewer than two paraphrases."""
    from gnomon.metrics.tokenise import tokenise

    if variant not in LEXICAL:
        raise UnknownNameError("variant of lexical diversity", variant, LEXICAL)
    for group in groups:
        if isinstance(group, str) or not all(t is None or isinstance(t, str) for t in group):
            raise UsageError(_NO_SENTENCE.format(group))
    texts = list(dict.fromkeys(t for group in groups for t in group if t is not None))
    table = tokenise(texts, tokenizer)
    rows = [table.ids[a:b].tolist() for a, b in zip(table.offsets, table.offsets[1:], strict=False)]
    words = {text: frozenset(row) for text, row in zip(texts, rows, strict=True)}
    lengths = {
        text: len(row) if variant == "lexical-tokens" else len(words[text])
        for text, row in zip(texts, rows, strict=True)
    }

    def apart(a: str, b: str) -> float:
        both = lengths[a] + lengths[b]
        return 1 - 2 * len(words[a] & words[b]) / both if both else 0.0

    return [_over_pairs([t for t in group if t is not None], apart) for group in groups]


def mean(values: Sequence[float | None]) -> float | None:
    """The mean of the defined values; ``None`` without any."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _over_pairs(texts: Sequence[str], apart: Callable[[str, str], float]) -> float | None:
    return mean([apart(a, b) for a, b in combinations(texts, 2)])
