"""The facts of a whole list of texts, kept as one entry: a test set is looked up at once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from gnomon.annotate._facts import FORMAT, Facts
from gnomon.cache import key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.cache import Cache

__all__ = ["keep", "recall"]

#: shorter lists are looked up text by text
_MANY = 1000


def recall(
    cache: Cache | None, signature: str, layers: Sequence[str], texts: Sequence[str]
) -> dict[str, Facts]:
    """The facts of those layers that were kept for exactly these texts in this order."""
    if cache is None or len(texts) < _MANY:
        return {}
    names = _names(signature, layers, texts)
    found = cache.get_many(list(names.values()))
    return {layer: _read(layer, found[name]) for layer, name in names.items() if name in found}


def keep(
    cache: Cache | None, signature: str, facts: Mapping[str, Facts], texts: Sequence[str]
) -> None:
    """Keep the facts of some layers of these texts.

    Raises:
        OutputError: the cache cannot be written.
    """
    if cache is None or len(texts) < _MANY or not facts:
        return
    names = _names(signature, list(facts), texts)
    cache.put_many({names[layer]: _written(part) for layer, part in facts.items()})


def _names(signature: str, layers: Sequence[str], texts: Sequence[str]) -> dict[str, bytes]:
    all_texts = key(*texts).hex()
    return {layer: key(FORMAT, signature, layer, "whole", all_texts) for layer in layers}


def _written(facts: Facts) -> bytes:
    labels = json.dumps(facts.labels).encode("ascii")
    counts = np.bincount(facts.text, minlength=facts.texts)
    sizes = np.array([len(labels), facts.texts, len(facts.text)], dtype="<i4")
    columns = (counts, facts.start, facts.end, facts.label)
    return b"".join([sizes.tobytes(), labels, *(c.astype("<i4").tobytes() for c in columns)])


def _read(layer: str, entry: bytes) -> Facts:
    labels, texts, rows = np.frombuffer(entry, dtype="<i4", count=3).tolist()
    at = 12 + labels

    def column(count: int) -> NDArray[np.int32]:
        nonlocal at
        found = np.frombuffer(entry, dtype="<i4", count=count, offset=at).astype(np.int32)
        at += 4 * count
        return found

    counts, start, end, label = (column(count) for count in (texts, rows, rows, rows))
    return Facts(
        layer=layer,
        texts=texts,
        text=np.repeat(np.arange(texts, dtype=np.int32), counts),
        start=start,
        end=end,
        label=label,
        labels=tuple(json.loads(entry[12 : 12 + labels])),
    )
