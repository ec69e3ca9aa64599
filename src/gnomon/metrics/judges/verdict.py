"""What sentences about judges share: their names in them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.core.findings import Level, Statement
    from gnomon.core.verdicts import Claim

ALPHA = 0.05


def judge_title(title: str) -> str:
    """What sentences call a judge, or a metric that was probed like one."""
    return f"the {title}" if title.startswith("judge") else title


def statement(
    claim: Claim,
    rows: Mapping[str, Sequence[int]],
    level: Level | None = None,
    **parts: object,
) -> Statement:
    """The sentence, which may begin with the name of a judge."""
    sentence = claim.said(rows, level=level, **parts)
    return replace(sentence, text=sentence.text[0].upper() + sentence.text[1:])


def or_nan(value: float | None) -> float:
    """A figure; NaN where it is undefined."""
    return math.nan if value is None else value
