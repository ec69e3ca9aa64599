"""The items of a sheet, and what their key says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.findings import Exhibit
from gnomon.muler._segment_texts import SegmentTexts
from gnomon.muler._sheet import KeyRow
from gnomon.signature import content_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.muler._pairs_contrasts import Contrast
    from gnomon.muler._pairs_draw import Draw
    from gnomon.muler._setup import Setup

__all__ = ["exhibit", "key_row", "study_name"]


def exhibit(setup: Setup, one: Contrast, drawn: Draw, *, highlight: bool) -> Exhibit:
    """Source, references and the two outputs of a drawn segment, without names of systems."""
    segment = int(one.segments[drawn.place])
    sides = (one.worse, one.better) if drawn.swapped else (one.better, one.worse)
    spans = setup.spans if highlight else None
    texts = SegmentTexts(setup.testset, setup.batch, spans, one.feature)
    outputs = (
        texts.candidate(segment, system, {}, name) for name, system in zip("AB", sides, strict=True)
    )
    return Exhibit(one.feature, "A or B", segment=0, texts=(*texts.given(segment), *outputs))


def key_row(
    setup: Setup, item: str, one: Contrast, drawn: Draw, scores: NDArray[np.float64]
) -> KeyRow:
    """Which system is which in an item, and what MuLER says of them."""
    names = setup.batch.systems
    order = (1, 0) if drawn.swapped else (0, 1)
    systems = [(one.better, one.worse)[k] for k in order]
    muler = [one.figures[k].muler or 0.0 for k in order]
    costs = [float(one.costs[k, drawn.place]) for k in order]
    a, b = (names[k] for k in systems)
    return KeyRow(
        item=item,
        feature=one.feature,
        segment=int(one.segments[drawn.place]) + 1,
        a=a,
        b=b,
        better=names[one.better],
        cheaper=a if costs[0] < costs[1] else b,
        muler_a=muler[0],
        muler_b=muler[1],
        cost_a=costs[0],
        cost_b=costs[1],
        score_a=float(scores[systems[0]]),
        score_b=float(scores[systems[1]]),
    )


def study_name(exhibits: Sequence[Exhibit]) -> str:
    """A name that tells one sheet from another, and nothing else."""
    parts = [part for one in exhibits for part in (one.group, *(text.text for text in one.texts))]
    return f"g{content_hash(*parts)[:6]}"
