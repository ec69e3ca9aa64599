"""A user's function as a sentence scorer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gnomon.annotate.scorers._protocol import SentenceScores
from gnomon.errors import ScoringError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gnomon.annotate.scorers._sentences import Sentences

__all__ = ["FunctionScorer"]


@dataclass(frozen=True)
class FunctionScorer:
    """A function from a sentence to a number.

    Attributes:
        name: what is measured.
        function: returns a finite number, or ``None`` for a sentence to leave out.
    """

    name: str
    function: Callable[[str], float | None]

    @property
    def source(self) -> str:
        """``module:function``."""
        module = getattr(self.function, "__module__", None) or "?"
        return f"{module}:{getattr(self.function, '__qualname__', type(self.function).__name__)}"

    @property
    def signature(self) -> str:
        """``NAME=python('module:function')``; what the function does is not known."""
        return f"{self.name}=python('{self.source}')"

    def score(self, sentences: Sentences) -> SentenceScores:
        """The function's value for each sentence.

        Raises:
            ScoringError: the function fails, or returns what is not a finite number or ``None``.
        """
        values = [self._value(text) for text in sentences.texts]
        return SentenceScores(np.array(values, dtype=np.float64))

    def _value(self, text: str) -> float:
        try:
            value = self.function(text)
            number = math.nan if value is None else float(value)
        except Exception as error:
            raise ScoringError(
                f"scorer {self.name!r} failed on {text[:80]!r}: {type(error).__name__}: {error}"
            ) from error
        if value is not None and not math.isfinite(number):
            raise ScoringError(
                f"scorer {self.name!r} returned {value!r} for {text[:80]!r}; a finite number is"
                " needed, or None for a sentence to leave out"
            )
        return number
