"""Outputs that are much shorter or longer than other translations of the same source."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.linguistics.faults.kinds import Hit, fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gnomon.linguistics.faults.texts import Texts

_SHORT, _LONG = 0.5, 2.0
_OTHERS = 3
_MADS = 5.0
_FEWEST = 20  # segments, whose lengths say what is usual
_SIGNS, _MORE_SIGNS = 15, 25  # characters by which a text is shorter, or longer, at least


@fault("too-short", group="shape", cheap=True)
def too_short(texts: Texts) -> Iterator[Hit]:
    """Less than half as long as other outputs, or the source's length, let expect."""
    yield from _hits(texts, short=True)


@fault("too-long", group="shape", cheap=True)
def too_long(texts: Texts) -> Iterator[Hit]:
    """More than twice as long as other outputs, or the source's length, let expect."""
    yield from _hits(texts, short=False)


def _hits(texts: Texts, *, short: bool) -> Iterator[Hit]:
    lengths = texts.lengths
    for row, column in enumerate(texts.columns):
        own, usual = lengths[row], _usual(texts, row)
        if short:
            hit = (own > 0) & (own < _SHORT * usual) & (usual - own >= _SIGNS)
        else:
            more = _SIGNS if texts.unspaced else _MORE_SIGNS
            hit = (own > _LONG * usual) & (own - usual >= more)
        for segment in np.flatnonzero(hit).tolist():
            yield Hit(column, segment, params={"usual": float(usual[segment])})


def _usual(texts: Texts, row: int) -> NDArray[np.float64]:
    """Usual length of each text of a column; NaN where nothing tells it."""
    others = np.delete(texts.lengths, row, axis=0)
    others[others == 0] = np.nan
    if len(others) >= _OTHERS:
        usual = np.full(texts.segments, np.nan)
        some = np.isfinite(others).any(axis=0)
        usual[some] = np.nanmedian(others[:, some], axis=0)
        return usual
    nothing = np.full(texts.segments, np.nan)
    if texts.sources is None or texts.segments < _FEWEST:
        return nothing
    own = texts.lengths[row]
    source = np.array([len(text) for text in texts.sources], dtype=np.float64)
    both = (own > 0) & (source > 0)
    if both.sum() < _FEWEST:
        return nothing
    x, y = np.log(source[both]), np.log(own[both])
    slope = np.clip(np.cov(x, y)[0, 1] / max(float(x.var(ddof=1)), 1e-9), 0.5, 1.2)
    level = np.median(y - slope * x)
    away = 1.4826 * np.median(np.abs(y - slope * x - level))
    usual = np.full(texts.segments, np.nan)
    usual[both] = np.exp(slope * x + level)
    far = np.zeros(texts.segments, dtype=bool)
    far[both] = np.abs(y - np.log(usual[both])) > _MADS * away
    usual[~far] = np.nan
    return usual
