"""Errors and harmless changes of English texts."""

from __future__ import annotations
