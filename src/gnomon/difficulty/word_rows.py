"""Rows of hard words and of systems on them, and hard segments to read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.findings import Exhibit, ExhibitText, Highlight
from gnomon.core.records import METRIC, SYSTEM, Record, column

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.testset import TestSet
    from gnomon.difficulty.word_matches import ReferenceWords

_HARDEST = 0.9  # quantile above which words are among the hardest tenth


# Rows


class WordRow(Record):
    """A distinct word of the references."""

    metric: str = METRIC
    word: str = column("Word", help="a run of letters and digits, or a single sign")
    difficulty: float = column("Difficulty", digits=3, help="1 less the mean similarity")
    count: int = column("Count", help="how often it occurs in the references")
    segments: int = column("Segments", help="in how many segments it occurs")
    similarity: float = column("Similarity", digits=3, help="of the best match, mean over systems")
    exact: float = column(
        "Same", kind="share", help="share of outputs whose best match is the same"
    )


class WordsOfSystemRow(Record):
    """Shares of the hardest tenth of the words, and of the others, that a system has."""

    metric: str = METRIC
    system: str = SYSTEM
    hard: float | None = column(
        "Hard words", digits=3, better="higher", help="similarity, hardest tenth"
    )
    hard_exact: float | None = column(
        "Same", kind="share", digits=3, better="higher", help="of the hard words"
    )
    other: float | None = column("Other words", digits=3, better="higher", help="similarity")
    other_exact: float | None = column(
        "Same", kind="share", digits=3, better="higher", help="of the other words"
    )
    hard_words: int = column("n, hard", help="number of hard words")
    other_words: int = column("n, other", help="number of other words")


def hard(words: ReferenceWords) -> tuple[NDArray[np.bool_], float]:
    """The hardest tenth of the words (bool [W]; ties with its easiest word included), its edge."""
    difficulties = words.difficulty[words.is_compared]
    if not len(difficulties):
        return np.zeros(len(words.words), dtype=np.bool_), math.inf
    edge = float(np.quantile(difficulties, _HARDEST, method="higher"))
    return (words.difficulty >= edge) & words.is_compared, edge


def type_rows(words: ReferenceWords, least: int) -> Iterator[WordRow]:
    """Distinct words with their mean difficulty, hardest first."""
    similarity, exact = _average_systems(words)
    members = _members(words.words.text, words.is_compared)
    rows: list[WordRow] = []
    for text, at in members.items():
        if len(at) < least:
            continue
        rows.append(
            WordRow(
                metric=words.metric,
                word=text,
                difficulty=float(words.difficulty[at].mean()),
                count=len(at),
                segments=len(np.unique(words.segment[at])),
                similarity=float(similarity[at].mean()),
                exact=float(exact[at].mean()),
            )
        )
    return iter(sorted(rows, key=lambda row: (-row.difficulty, row.word)))


def system_rows(words: ReferenceWords, systems: Sequence[str]) -> Iterator[WordsOfSystemRow]:
    """Who has the hardest tenth of the words, best first."""
    hardest, _ = hard(words)
    rows = [
        WordsOfSystemRow(metric=words.metric, system=name, **_system_fields(words, k, hardest))
        for k, name in enumerate(systems)
    ]
    return iter(sorted(rows, key=lambda row: (row.hard is None, -(row.hard or 0.0), row.system)))


def reference_name(testset: TestSet, segment: int, text: str) -> str:
    """Name of a text that outputs are compared with."""
    for name, texts in testset.references.items():
        if texts[segment] == text:
            return name
    for system, references in testset.system_references.items():
        for name, texts in references.items():
            if texts[segment] == text:
                return f"{name} of {system}"
    return "source"


def _average_systems(words: ReferenceWords) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean similarity and share of exact matches over the systems of each word, float64 [W]."""
    count = np.maximum(words.compared.sum(axis=0), 1)
    similarity = np.where(words.compared, words.best, 0.0).sum(axis=0) / count
    return similarity, words.exact.sum(axis=0) / count


def _system_fields(words: ReferenceWords, k: int, hardest: NDArray[np.bool_]) -> dict[str, Any]:
    compared = words.compared[k]
    parts = {"hard": compared & hardest, "other": compared & ~hardest}
    values: dict[str, Any] = {}
    for name, members in parts.items():
        has_some = bool(members.any())
        values[name] = float(words.best[k, members].mean()) if has_some else None
        values[f"{name}_exact"] = float(words.exact[k, members].mean()) if has_some else None
        values[f"{name}_words"] = int(members.sum())
    return values


def _members(
    keys: NDArray[np.object_] | NDArray[np.int64], compared: NDArray[np.bool_]
) -> dict[str, NDArray[np.int64]]:
    """Key -> its words, in order of appearance; words without a key (None) are left out."""
    members: dict[str, list[int]] = {}
    for word in np.flatnonzero(compared).tolist():
        if keys[word] is not None:
            members.setdefault(keys[word], []).append(word)
    return {key: np.array(at, dtype=np.int64) for key, at in members.items()}


# Hard segments to read: hard words marked in the references, outputs side by side


def exhibits(words: ReferenceWords, testset: TestSet, most: int) -> tuple[Exhibit, ...]:
    """The hardest segments as exhibits."""
    hardest, _ = hard(words)
    difficulty = {
        int(segment): float(words.difficulty[at].mean())
        for segment, at in _members(words.segment, words.is_compared).items()
    }
    order = sorted(difficulty, key=lambda segment: (-difficulty[segment], segment))
    return tuple(
        _exhibit(words, testset, segment, difficulty[segment], hardest) for segment in order[:most]
    )


def _exhibit(
    words: ReferenceWords,
    testset: TestSet,
    segment: int,
    difficulty: float,
    hardest: NDArray[np.bool_],
) -> Exhibit:
    source = [] if testset.sources is None else [testset.sources[segment]]
    texts = [ExhibitText("source", "", text) for text in source]
    texts += _references(words, testset, segment, hardest)
    texts += _candidates(words, testset, segment, hardest)
    return Exhibit(
        group="hard words",
        kind="hardest segments",
        segment=segment + 1,
        texts=tuple(texts),
        document=None if testset.documents is None else testset.documents[segment],
        domain=None if testset.domains is None else testset.domains[segment],
        weight=difficulty,
        caption=f"mean difficulty {difficulty:.3f}; marked: words of the hardest tenth",
    )


def _references(
    words: ReferenceWords, testset: TestSet, segment: int, hardest: NDArray[np.bool_]
) -> Iterator[ExhibitText]:
    for group in np.unique(words.words.group[words.segment == segment]).tolist():
        members = np.flatnonzero(words.words.group == group)
        text = words.places.text[group]
        marks = tuple(
            Highlight(
                int(words.words.start[word]),
                int(words.words.end[word]),
                f"difficulty {words.difficulty[word]:.3f}{_list_missing(words, testset, word)}",
            )
            for word in members[hardest[members]].tolist()
        )
        values = {"difficulty": float(words.difficulty[members].mean())}
        name = reference_name(testset, segment, text)
        yield ExhibitText("reference", name, text, marks, values)


def _list_missing(words: ReferenceWords, testset: TestSet, word: int) -> str:
    """The systems whose best match of a word is another one, for a mark."""
    other = words.compared[:, word] & ~words.exact[:, word]
    systems = [name for name, missed in zip(testset.systems, other.tolist(), strict=True) if missed]
    return f"; missed by {', '.join(systems)}" if systems else ""


def _candidates(
    words: ReferenceWords, testset: TestSet, segment: int, hardest: NDArray[np.bool_]
) -> Iterator[ExhibitText]:
    in_segment = words.segment == segment
    for k, (name, texts) in enumerate(testset.systems.items()):
        compared = in_segment & words.compared[k]
        values = {
            "similarity": _mean(words.best[k, compared]),
            "of hard words": _mean(words.best[k, compared & hardest]),
        }
        yield ExhibitText("candidate", name, texts[segment], (), values)


def _mean(values: NDArray[np.float64]) -> float | None:
    return float(values.mean()) if len(values) else None
