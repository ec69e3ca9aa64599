"""What sentences about judges share: their names in them."""

from __future__ import annotations

import math

ALPHA = 0.05


def judge_title(title: str) -> str:
    """What sentences call a judge, or a metric that was probed like one."""
    return f"the {title}" if title.startswith("judge") else title


def or_nan(value: float | None) -> float:
    """A figure; NaN where it is undefined."""
    return math.nan if value is None else value
