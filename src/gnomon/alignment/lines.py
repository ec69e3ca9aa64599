"""Lists of lines: a line of the output is a segment, or few are joined, cut, left out or added."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.core.alignments import Alignment

__all__ = ["align_lines"]


def align_lines(output: Sequence[str], references: Sequence[str]) -> Alignment:
    """Align the lines of an output with reference segments."""
    raise NotImplementedError
