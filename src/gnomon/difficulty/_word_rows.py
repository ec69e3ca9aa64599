"""What there is to say of hard words: types, distributions, systems, segments, strips."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gnomon.difficulty._agreement import ranks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.difficulty._observed import Observed
    from gnomon.findings import Cell
    from gnomon.testset import TestSet

    Row = Mapping[str, Cell]

__all__ = [
    "class_rows",
    "distribution_rows",
    "document_rows",
    "hard",
    "occurrence_rows",
    "reference_name",
    "segment_rows",
    "strip_rows",
    "system_rows",
    "type_rows",
]

_BINS = 20
_HARDEST = 0.9  # quantile above which words are among the hardest tenth


def hard(found: Observed) -> tuple[NDArray[np.bool_], float]:
    """The hardest tenth of the words (bool [W]; ties with its easiest word included), its edge."""
    known = found.difficulty[found.known]
    if not len(known):
        return np.zeros(len(found.words), dtype=np.bool_), math.inf
    edge = float(np.quantile(known, _HARDEST, method="higher"))
    return (found.difficulty >= edge) & found.known, edge


def type_rows(found: Observed, least: int, classes: NDArray[np.object_] | None) -> Iterator[Row]:
    """Distinct words with their mean difficulty, hardest first.

    Args:
        found: the words.
        least: how often a word must occur.
        classes: object [W], the word class of each, if known.
    """
    similarity, exact = _over_systems(found)
    members = _members(found.words.text, found.known)
    rows: list[Row] = []
    for text, at in members.items():
        if len(at) < least:
            continue
        rows.append(
            {
                "word": text,
                "class": None if classes is None else _most(classes[at]),
                "difficulty": float(found.difficulty[at].mean()),
                "count": len(at),
                "segments": len(np.unique(found.segment[at])),
                "similarity": float(similarity[at].mean()),
                "exact": float(exact[at].mean()),
                "pieces": float(found.words.pieces[at].mean()),
            }
        )
    return iter(sorted(rows, key=_hardest_first("word")))


def class_rows(found: Observed, classes: NDArray[np.object_]) -> Iterator[Row]:
    """Word classes with their mean difficulty, hardest first."""
    similarity, exact = _over_systems(found)
    members = _members(classes, found.known)
    rows: list[Row] = [
        {
            "class": name,
            "difficulty": float(found.difficulty[at].mean()),
            "count": len(at),
            "similarity": float(similarity[at].mean()),
            "exact": float(exact[at].mean()),
        }
        for name, at in members.items()
    ]
    return iter(sorted(rows, key=_hardest_first("class")))


def distribution_rows(found: Observed, pools: Mapping[str, Sequence[int] | None]) -> Iterator[Row]:
    """How many words are how hard, for several pools (figure 3).

    Args:
        found: the words.
        pools: name -> systems; None: the pool of the metric.
    """
    known = found.known
    values = {
        name: (found.difficulty if systems is None else found.by(systems))[known]
        for name, systems in pools.items()
    }
    if not known.any():
        return
    edges = _edges(np.concatenate(list(values.values())))
    for name, some in values.items():
        counts = np.histogram(some, edges)[0]
        for low, high, count in zip(edges[:-1], edges[1:], counts.tolist(), strict=True):
            yield {
                "pool": name,
                "bin": f"{round(low, 6):g} to {round(high, 6):g}",
                "low": float(low),
                "high": float(high),
                "words": count,
                "share": count / len(some),
            }


def system_rows(found: Observed, systems: Sequence[str]) -> Iterator[Row]:
    """Who has the hardest tenth of the words, best first."""
    hardest, _ = hard(found)
    values = [_of_system(found, k, hardest) for k in range(len(systems))]
    by_hard, by_all = (
        ranks(np.array([math.nan if v[key] is None else v[key] for v in values], dtype=np.float64))
        for key in ("hard", "other")
    )
    rows: list[Row] = [
        {"system": name, **own, "rank": by_hard[k], "other_rank": by_all[k]}
        for k, (name, own) in enumerate(zip(systems, values, strict=True))
    ]
    return iter(
        sorted(rows, key=lambda row: (row["rank"] is None, row["rank"] or 0, row["system"]))
    )


def segment_rows(found: Observed, testset: TestSet) -> Iterator[Row]:
    """Mean difficulty of every segment, and its hardest word; hardest segment first."""
    members = _members(found.segment, found.known)
    rows: list[Row] = []
    for segment, at in members.items():
        most = at[int(found.difficulty[at].argmax())]
        rows.append(
            {
                "segment": int(segment) + 1,
                "document": None if testset.documents is None else testset.documents[int(segment)],
                "words": len(at),
                "difficulty": float(found.difficulty[at].mean()),
                "hardest": str(found.words.text[most]),
                "hardest_difficulty": float(found.difficulty[most]),
            }
        )
    return iter(sorted(rows, key=_hardest_first("segment")))


def document_rows(found: Observed, testset: TestSet) -> Iterator[Row]:
    """Mean difficulty of the words of every document, hardest first."""
    if testset.documents is None:
        return
    names = np.array(testset.documents, dtype=object)[found.segment]
    members = _members(names, found.known)
    for name, at in sorted(members.items(), key=lambda item: -found.difficulty[item[1]].mean()):
        yield {
            "document": name,
            "segments": len(np.unique(found.segment[at])),
            "words": len(at),
            "difficulty": float(found.difficulty[at].mean()),
        }


def strip_rows(
    found: Observed, segments: Sequence[int], testset: TestSet, names: Sequence[str]
) -> Iterator[Row]:
    """The words of some segments, one row for each word and system (table 3).

    Args:
        found: the words.
        segments: from 1.
        testset: for the names of references.
        names: of the systems.
    """
    for segment in segments:
        groups = np.unique(found.words.group[found.segment == segment - 1])
        for group in groups.tolist():
            at = np.flatnonzero(found.words.group == group)
            reference = reference_name(testset, segment - 1, found.places.text[group])
            for place, word in enumerate(at.tolist(), start=1):
                for k, system in enumerate(names):
                    if found.compared[k, word]:
                        yield {
                            "segment": segment,
                            "reference": reference,
                            "token": f"{place:02d} {found.words.text[word]}",
                            "word": str(found.words.text[word]),
                            "difficulty": float(found.difficulty[word]),
                            "system": system,
                            "similarity": float(found.best[k, word]),
                            "other": not found.exact[k, word],
                        }


def occurrence_rows(found: Observed, testset: TestSet) -> Iterator[Row]:
    """Every word of every reference, in order.

    Args:
        found: the words.
        testset: for the names of references.
    """
    similarity, exact = _over_systems(found)
    at: dict[int, int] = {}  # words of a reference need not stand together
    names: dict[int, str] = {}
    for word, group in enumerate(found.words.group.tolist()):
        at[group] = at.get(group, 0) + 1
        segment = int(found.segment[word])
        if group not in names:
            names[group] = reference_name(testset, segment, found.places.text[group])
        if found.known[word]:
            yield {
                "segment": segment + 1,
                "reference": names[group],
                "position": at[group],
                "word": str(found.words.text[word]),
                "difficulty": float(found.difficulty[word]),
                "similarity": float(similarity[word]),
                "exact": float(exact[word]),
            }


def reference_name(testset: TestSet, segment: int, text: str) -> str:
    """What a text that outputs are compared with is called."""
    for name, texts in testset.references.items():
        if texts[segment] == text:
            return name
    for system, own in testset.system_references.items():
        for name, texts in own.items():
            if texts[segment] == text:
                return f"{name} of {system}"
    return "source"


def _over_systems(found: Observed) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean similarity and share of exact matches over the systems of each word, float64 [W]."""
    count = np.maximum(found.compared.sum(axis=0), 1)
    similarity = np.where(found.compared, found.best, 0.0).sum(axis=0) / count
    return similarity, found.exact.sum(axis=0) / count


def _of_system(found: Observed, k: int, hardest: NDArray[np.bool_]) -> dict[str, float | None]:
    known = found.compared[k]
    parts = {"hard": known & hardest, "other": known & ~hardest}
    values: dict[str, float | None] = {}
    for name, part in parts.items():
        there = bool(part.any())
        values[name] = float(found.best[k, part].mean()) if there else None
        values[f"{name}_exact"] = float(found.exact[k, part].mean()) if there else None
        values[f"{name}_words"] = int(part.sum())
    return values


def _members(
    keys: NDArray[np.object_] | NDArray[np.int64], known: NDArray[np.bool_]
) -> dict[str, NDArray[np.int64]]:
    """Key -> its words, in order of appearance; words without a key (None) are left out."""
    found: dict[str, list[int]] = {}
    for word in np.flatnonzero(known).tolist():
        if keys[word] is not None:
            found.setdefault(keys[word], []).append(word)
    return {key: np.array(at, dtype=np.int64) for key, at in found.items()}


def _hardest_first(name: str) -> Callable[[Row], tuple[float, Cell]]:
    """Orders rows by difficulty, then by another column."""
    return lambda row: (-float(row["difficulty"] or 0), row[name])


def _most(classes: NDArray[np.object_]) -> str | None:
    """The most frequent class, the first by name among equals."""
    known = [name for name in classes.tolist() if name is not None]
    return min(known, key=lambda name: (-known.count(name), name), default=None)


def _edges(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Edges of about 20 bins of a round width that hold all values."""
    low, high = float(min(values.min(), 0.0)), float(values.max())
    spread = max(high - low, 1e-6)
    steps = [m * 10.0**e for e in range(-4, 2) for m in (1, 2, 5)]
    width = next((step for step in steps if spread / step <= _BINS), steps[-1])
    first, last = math.floor(low / width + 1e-9), math.ceil(high / width - 1e-9)
    edges = np.arange(first, max(last, first + 1) + 1, dtype=np.float64) * width
    return np.concatenate([edges[:1], edges[1:-1], [max(edges[-1], high)]])
