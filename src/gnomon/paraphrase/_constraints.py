"""Which n-grams do many systems agree on that the reference lacks?"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.errors import DataError, UsageError
from gnomon.paraphrase._grams import Gram, Words, check_longest, contains, grams, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.testset import TestSet

__all__ = ["Constraint", "constraints"]


@dataclass(frozen=True)
class Constraint:
    """An n-gram that a paraphrase of a segment's reference should hold.

    Attributes:
        segment: 1-based segment.
        tokens: the n-gram.
        text: its characters, as they stand in an output (or in the file of variants).
        systems: how many systems have it.
        share: their share among all systems; ``None`` for variants.
        replaces: the part of the reference that it is a variant of, where that is known.
    """

    segment: int
    tokens: Gram
    text: str
    systems: int = 0
    share: float | None = None
    replaces: str | None = None


def constraints(
    testset: TestSet,
    *,
    systems: Sequence[str] | None = None,
    share: float = 0.75,
    longest: int = 4,
    most: int | None = None,
    tokenizer: str = "13a",
) -> tuple[Constraint, ...]:
    """The n-grams that many systems have and no reference has (Bawden et al., 2020, section 3.4).

    Of 1 to ``longest`` tokens, found in at least ``share`` of the systems and absent from all
    references of the segment; the longest first (then those of more systems), and none that is
    part of one kept before.

    Args:
        testset: references and outputs.
        systems: whose n-grams count; by default those of all.
        share: of the systems, in (0, 1].
        longest: most tokens of an n-gram.
        most: how many are kept per segment, the first ones; all by default.
        tokenizer: a tokeniser of BLEU; case counts.

    Returns:
        Constraints by segment, in the order in which they were kept.

    Raises:
        DataError: there are no systems.
        UsageError: the share or a number is out of its range.
        UnknownNameError: there is no such system or tokeniser.
    """
    check_longest(longest)
    if not 0 < share <= 1:
        raise UsageError(f"the share of systems is in (0, 1]; got {share}")
    if most is not None and most < 1:
        raise UsageError(f"at least 1 constraint per segment must be allowed; got {most}")
    chosen = testset if systems is None else testset.select(systems=systems)
    if not chosen.systems:
        raise DataError("constraints come from the outputs of systems, and the test set has none")
    known = [text for texts in chosen.references.values() for text in texts if text is not None]
    known += [text for texts in chosen.systems.values() for text in texts]
    words = words_of(known, tokenizer)
    least = math.ceil(share * len(chosen.systems) - 1e-9)
    found: list[Constraint] = []
    for i in range(chosen.segments):
        outputs = [texts[i] for texts in chosen.systems.values()]
        references = [texts[i] for texts in chosen.references.values()]
        absent = {
            gram for text in references if text for gram in grams(words[text].tokens, longest)
        }
        kept = _kept([words[text] for text in outputs], absent, least, longest)
        for gram, count in kept[:most]:
            text = _surface(gram, outputs, words)
            found.append(Constraint(i + 1, gram, text, count, count / len(outputs)))
    return tuple(found)


def _kept(
    outputs: Sequence[Words], absent: set[Gram], least: int, longest: int
) -> list[tuple[Gram, int]]:
    counts: Counter[Gram] = Counter()
    for words in outputs:
        counts.update(list(grams(words.tokens, longest)))  # each once per output
    common = [(g, c) for g, c in counts.items() if c >= least and g not in absent]
    common.sort(key=lambda pair: (-len(pair[0]), -pair[1]))
    kept: list[tuple[Gram, int]] = []
    for gram, count in common:
        if not any(contains(other, gram) for other, _ in kept):
            kept.append((gram, count))
    return kept


def _surface(gram: Gram, outputs: Sequence[str], words: dict[str, Words]) -> str:
    size = len(gram)
    for text in outputs:
        tokens = words[text].tokens
        for place in range(len(tokens) - size + 1):
            if tokens[place : place + size] == gram:
                return words[text].surface(text, place, size)
    return " ".join(gram)
