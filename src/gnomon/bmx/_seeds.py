"""Random draws that depend on texts and a seed alone."""

from __future__ import annotations

import hashlib

import numpy as np

__all__ = ["generator"]


def generator(seed: int, *texts: str) -> np.random.Generator:
    """A generator for some texts: equal texts get equal draws, wherever they stand."""
    digest = hashlib.blake2b(digest_size=16)
    for text in (str(seed), *texts):
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return np.random.default_rng(int.from_bytes(digest.digest(), "little"))
