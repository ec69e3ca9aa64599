"""Names of judges in sentences."""

from __future__ import annotations


def judge_title(title: str) -> str:
    """Title of a judge in sentences, or of a metric that was probed like one."""
    return f"the {title}" if title.startswith("judge") else title
