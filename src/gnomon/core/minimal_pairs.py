"""Minimal pairs: two texts that differ in one way, of which one is known to be better."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

__all__ = ["KINDS", "Pair", "PairKind"]

#: what the worse text of a pair is: wrong; worded otherwise and no worse; wrong, beside a better
#: text that is right and worded otherwise; no translation at all
PairKind: TypeAlias = Literal["error", "harmless", "crossed", "sanity"]
KINDS: tuple[PairKind, ...] = get_args(PairKind)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A good text and one that differs from it in one way.

    Attributes:
        good: the better text.
        bad: the worse one; of a harmless pair, the one that was reworded.
        phenomenon: in what they differ ("number replaced").
        references: what both are compared with, in any order; none where there are none.
        source: what was translated; None where it is not known.
        kind: whether the bad text is wrong, reworded, wrong beside a good text that is reworded, or
            no translation at all.
        severity: of the error, as its set labels it; empty where it does not.
        language_pair: as "de-en"; None where it is not known.
        origin: names the sentence that the pair was made of: pairs of one sentence share it. Empty:
            the good text stands for it.
        document: of the sentence; empty where it is not known.
    """

    good: str
    bad: str
    phenomenon: str
    references: tuple[str, ...] = field(default=())
    source: str | None = None
    kind: PairKind = "error"
    severity: str = ""
    language_pair: str | None = None
    origin: str = ""
    document: str = ""
