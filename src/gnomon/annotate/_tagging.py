"""Tagging distinct texts once, in batches that are kept as soon as they are done."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.annotate._facts import Facts, pack, unpack


@dataclass(frozen=True)
class Tags:
    facts: tuple[Facts, ...]
    tagged: int
    cached: int


def tag(texts, layers, annotator, *, cache=None, progress=None, processes=1) -> Tags:
    out = {layer: [] for layer in layers}
    for i in range(0, len(texts), 256):
        for marks in annotator.annotate(texts[i : i + 256], layers):
            for layer in layers:
                out[layer].append(pack(marks[layer]))
        if progress:
            progress(min(i + 256, len(texts)), len(texts), "tagging")
    return Tags(tuple(unpack(layer, out[layer]) for layer in layers), len(texts), 0)
