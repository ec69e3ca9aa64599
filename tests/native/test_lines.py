"""The reference that each output fits, beside sums over sets of terms."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.native.lines import places

_TEXTS = st.lists(st.lists(st.integers(0, 7), max_size=6), max_size=6)
_LIKE, _TIMES, _MOST = 0.3, 3.0, 3


def _expected(references: list[list[int]], output: list[int], own: int) -> int:
    lines = {t: [n for n, text in enumerate(references) if t in text] for t in range(8)}
    weight = {
        t: log((len(references) + 1) / len(those))
        for t, those in lines.items()
        if 0 < len(those) <= _MOST
    }
    likeness = {}
    for n, text in enumerate(references):
        both = set(text) & set(output) & weight.keys()
        if both and (len(both) > 1 or n == own):
            either = (set(text) | set(output)) & weight.keys()
            likeness[n] = sum(weight[t] for t in both) / sum(weight[t] for t in either)
    best = max(likeness, key=lambda n: round(likeness[n], 9), default=-1)
    home = likeness.get(own, 0.0)
    if best >= 0 and likeness[best] >= _LIKE and likeness[best] > _TIMES * home:
        return best
    return own if home >= _LIKE / _TIMES else -1


@given(_TEXTS.filter(bool), _TEXTS, st.randoms(use_true_random=False))
def test_places_are_those_of_sets_of_terms(
    references: list[list[int]], outputs: list[list[int]], draw: object
) -> None:
    rows = [draw.randrange(len(references)) for _ in outputs]  # type: ignore[attr-defined]
    texts = [*references, *outputs]
    offsets = [sum(map(len, texts[:n])) for n in range(len(texts) + 1)]
    ids = [term for text in texts for term in text]
    found = places(offsets, ids, 8, len(references), rows, _MOST, _LIKE, _TIMES)
    expected = [_expected(references, *pair) for pair in zip(outputs, rows, strict=True)]
    assert found.tolist() == expected


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="ids"):
        places([0, 1], [8], 8, 1, [], 3, 0.3, 3.0)
    with pytest.raises(ValueError, match="rows"):
        places([0, 1, 2], [1, 1], 8, 1, [1], 3, 0.3, 3.0)
    with pytest.raises(ValueError, match="2 references of 1 texts"):
        places([0, 1], [1], 8, 2, [], 3, 0.3, 3.0)
