"""What candidate and reference share under each type of ROUGE."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon.metrics._lcs import lcs_length, lcs_positions, places
from gnomon.metrics._pairs import Kernel

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["KERNELS"]


class _Lines(NamedTuple):
    """A text's sentences and the places of its tokens, for longest common subsequences."""

    sentences: list[list[int]]
    places: dict[int, int]
    size: int


def _ngrams(n: int) -> Kernel[Counter[tuple[int, ...]]]:
    def prepare(ids: list[int], _: int | None) -> Counter[tuple[int, ...]]:
        return Counter(zip(*(ids[i:] for i in range(n)), strict=False))

    def count(a: Counter[tuple[int, ...]], b: Counter[tuple[int, ...]]) -> int:
        return sum(min(times, b[ngram]) for ngram, times in a.items() if ngram in b)

    return Kernel(prepare, Counter.total, count)


def _prepare_lines(ids: list[int], line_break: int | None) -> _Lines:
    sentences: list[list[int]] = [[]]
    for token in ids:
        if token == line_break:
            sentences.append([])
        else:
            sentences[-1].append(token)
    filled = [sentence for sentence in sentences if sentence]
    only = places(filled[0]) if len(filled) == 1 else {}
    return _Lines(filled, only, sum(map(len, filled)))


def _count_lines(candidate: _Lines, reference: _Lines) -> int:
    if not candidate.size or not reference.size:
        return 0
    if len(candidate.sentences) == len(reference.sentences) == 1:
        return lcs_length(reference.sentences[0], candidate.places, candidate.size)
    return _union_hits(candidate.sentences, reference.sentences)


def _union_hits(candidate: list[list[int]], reference: list[list[int]]) -> int:
    """Tokens of the reference's union LCS (Lin 2004, section 3.2), none counted twice."""
    left = _multiset(candidate)
    hits = 0
    for sentence in reference:
        union = {place for own in candidate for place in lcs_positions(sentence, own)}
        for place in sorted(union):
            if left[sentence[place]] > 0:
                left[sentence[place]] -= 1
                hits += 1
    return hits


def _multiset(sentences: Iterable[list[int]]) -> Counter[int]:
    return Counter(token for sentence in sentences for token in sentence)


_LCS = Kernel(_prepare_lines, lambda lines: lines.size, _count_lines)
KERNELS: dict[str, Kernel[Any]] = {
    "rouge1": _ngrams(1),
    "rouge2": _ngrams(2),
    "rougeL": _LCS,
    "rougeLsum": _LCS,
}
