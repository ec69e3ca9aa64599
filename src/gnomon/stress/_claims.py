"""The kinds of sentences that minimal pairs may say."""

from __future__ import annotations

_INTERVALS = "Wilson's intervals of the shares of pairs, which hold for all rows together"
