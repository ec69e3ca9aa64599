"""What an error costs under MQM."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from gnomon.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

MQM_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "major": 5.0,
        "minor": 1.0,
        "minor/fluency/punctuation": 0.1,
        "minor/linguistic conventions/punctuation": 0.1,
        "*/non-translation": 25.0,
        "neutral": 0.0,
        "no-error": 0.0,
    }
)
"""Freitag et al. (2021), section 3.2: ``SEVERITY[/CATEGORY[/SUBCATEGORY]]`` -> penalty."""


_MOST = 1e6  # so that sums are numbers


class Weights:
    """Penalties by severity and category, upper and lower case alike."""

    def __init__(self, changes: Mapping[str, float] | None = None) -> None:
        """Change some of the usual weights.

        Args:
            changes: ``SEVERITY``, ``SEVERITY/CATEGORY`` or ``SEVERITY/CATEGORY/SUBCATEGORY`` (``*``
                is any severity) -> penalty, 0 or more.

        Raises:
            UsageError: a penalty is negative, or over a million.
        """
        for name, weight in (changes or {}).items():
            if not 0 <= weight <= _MOST:
                raise UsageError(
                    f"the MQM weight of {name!r} is {weight!r}; a penalty from 0 to {_MOST:g} is"
                    " expected"
                )
        self._known: dict[tuple[str, str], float] = {}
        self._table = {_norm(n): float(w) for n, w in {**MQM_WEIGHTS, **(changes or {})}.items()}

    def of(self, severity: str, category: str) -> float:
        """The penalty of an error; the most specific weight counts, then the severity's own.

        Raises:
            DataError: there is no weight for this severity.
        """
        key = (severity, category)
        if key not in self._known:
            self._known[key] = self._find(severity, category)
        return self._known[key]

    def _find(self, severity: str, category: str) -> float:
        parts = _norm(category).split("/") if category else []
        for length in range(len(parts), -1, -1):
            for level in (_norm(severity), "*"):
                found = self._table.get("/".join([level, *parts[:length]]))
                if found is not None:
                    return found
        raise DataError(
            f"there is no MQM weight for the severity {severity!r} (category {category!r}); there"
            f" are: {', '.join(self._table)}; pass weights={{{severity.lower()!r}: PENALTY}}"
        )


def is_error(severity: str, category: str) -> bool:
    """Whether a row marks an error at all, rather than says that there is none."""
    return "no-error" not in (_norm(severity), _norm(category))


def _norm(name: str) -> str:
    parts = (part.strip().rstrip("!") for part in name.lower().split("/"))
    return "/".join(parts).replace("no error", "no-error")
