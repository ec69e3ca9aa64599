"""Errors and harmless changes of German texts."""

from __future__ import annotations
