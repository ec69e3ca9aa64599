"""What sentences about judges share: their names in them."""

from __future__ import annotations


def judge_title(title: str) -> str:
    """What sentences call a judge, or a metric that was probed like one."""
    return f"the {title}" if title.startswith("judge") else title
