"""Outputs with more or fewer lines than the reference, aligned with its segments.

Each aligner takes one document, or a file without documents, as sequences of texts, and returns an
:class:`~gnomon.core.alignments.Alignment`:

- ``lines.align_lines(output, references)``: both sides have lines, and most of them fit;
- ``boundaries.align_boundaries(output, references)``: the output's lines are no segments.

``aligning`` reads outputs, chooses the aligner, and refuses what is in doubt.

Everything public is listed in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import lazy_exports

if TYPE_CHECKING:
    from gnomon.alignment.operations import align as align

__getattr__, __dir__, __all__ = lazy_exports(__name__)
