"""What sets of summaries have in common: a segment is an article, which all systems summarised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.errors import DataError
from gnomon.formats._lines import report_empty

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def require_all(where: str, grid: Mapping[str, Mapping[str, object]]) -> None:
    """Check that every system has a summary of every article.

    Raises:
        DataError: one has not, or there is no summary at all.
    """
    every = list(dict.fromkeys(article for rows in grid.values() for article in rows))
    for system, rows in grid.items():
        missing = [article for article in every if article not in rows]
        if missing:
            raise DataError(
                f"{where}: system {system!r} has summaries of {len(rows)} of {len(every)} articles;"
                f" {missing[0]!r} is missing; every system needs all"
            )
    if not every:
        raise DataError(f"{where} holds no summary")


def say_empty(where: str, texts: Mapping[str, Sequence[str]]) -> None:
    """Say which outputs are empty."""
    for name, one in texts.items():
        report_empty(f"{where}, {name}", "candidate", one)
