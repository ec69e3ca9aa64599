"""Joining of pieces of an output to the text of one segment."""

from __future__ import annotations

import re
from functools import reduce
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["join_pieces"]

#: letters and signs of Chinese and Japanese, between which stands no space
_UNSPACED = re.compile("[\u2e80-\u312f\u3190-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]")


def join_pieces(pieces: Iterable[str]) -> str:
    """One text of pieces: a space stands between them, but none between Chinese or Japanese.

    >>> join_pieces(["One.", "Two."])
    'One. Two.'
    >>> join_pieces(["一。", "二。"])
    '一。二。'
    """
    return reduce(_join, filter(None, (piece.strip() for piece in pieces)), "")


def _join(left: str, right: str) -> str:
    if not left:
        return right
    unspaced = _UNSPACED.match(left[-1]) and _UNSPACED.match(right[0])
    return left + ("" if unspaced else " ") + right
