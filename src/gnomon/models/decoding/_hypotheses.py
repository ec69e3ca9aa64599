"""What a decoder proposes."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Hypothesis"]


@dataclass(frozen=True)
class Hypothesis:
    """A target that a model proposes for a text.

    Attributes:
        text: in words; "" where the model ended at once.
        pieces: its pieces, prefix included, ``</s>`` left out.
        log_probability: natural logarithm of the model's probability of these pieces and ``</s>``
            after them, prefix included.
        score: log_probability / length ** length_penalty, where length counts ``</s>``.
        met: of each constraint that was asked for, whether the pieces hold it; () without any.
    """

    text: str
    pieces: tuple[int, ...]
    log_probability: float
    score: float
    met: tuple[bool, ...] = ()
