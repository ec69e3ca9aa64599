"""A method: how often systems say the same words twice in a row, as models do that got stuck."""

from __future__ import annotations

from gnomon.core.findings import Bars, Finding
from gnomon.core.options import Positive
from gnomon.core.records import SYSTEM, Record, column, table
from gnomon.core.registry import method
from gnomon.core.testset import TestSet

__all__ = ["Repetition", "repeats", "repetitions"]


class Repetition(Record):
    """What a system repeats."""

    system: str = SYSTEM
    length: int = column("Length", help="words of the sequence that is said twice")
    segments: int = column("Segments", better="lower", help="segments that hold a repetition")
    share: float = column("Share", kind="share", better="lower", help="of all segments")
    reference: float | None = column("Reference", kind="share", help="the same of the reference")


@method(
    "repetitions",
    purpose="find words that systems say twice in a row",
    tables={"": "repetitions"},
    by_system=True,
)
def repetitions(testset: TestSet, *, longest: Positive = 3) -> Finding:
    """How many segments of each system hold one to a few words twice in a row, length by length.

    Args:
        testset: the outputs of one or more systems.
        longest: length of the longest sequence of words that is looked for.
    """
    own = next(iter(testset.references.values()), None)
    rows = []
    for name, texts in testset.systems.items():
        for length in range(1, longest + 1):
            found = sum(repeats(text, length) for text in texts)
            rows.append(
                Repetition(
                    system=name,
                    length=length,
                    segments=found,
                    share=found / testset.segments,
                    reference=sum(repeats(t, length) for t in own) / len(own) if own else None,
                )
            )
    made = table("repetitions", "Repetitions by system", Repetition, rows)
    view = Bars("repetitions", made.title, "length", "system", ("share",))
    return Finding("repetitions", "Words said twice in a row", (made,), {}, views=(view,))


def repeats(text: str, length: int) -> bool:
    """Whether a text holds a sequence of so many words twice in a row."""
    words = text.split()
    return any(
        words[start : start + length] == words[start + length : start + 2 * length]
        for start in range(len(words) - 2 * length + 1)
    )
