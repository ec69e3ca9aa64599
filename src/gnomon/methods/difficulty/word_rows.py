"""What there is to say of hard words: types, distributions, systems, segments, strips."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.findings import Exhibit, ExhibitText, Highlight
from gnomon.core.records import METRIC, SEGMENT, SYSTEM, Record, column
from gnomon.methods.difficulty.best_systems import ranks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.testset import TestSet
    from gnomon.methods.difficulty.reference_words import ReferenceWords

_BINS = 20
_HARDEST = 0.9  # quantile above which words are among the hardest tenth


# Rows


_DIFFICULTY = column("Difficulty", digits=3, help="1 less the mean similarity")
_SIMILARITY = column("Similarity", digits=3, help="of the best match, mean over systems")
_EXACT = column("Same", kind="share", help="share of outputs whose best match is the same")
_COUNT = column("Count", help="how often it occurs in the references")
_WORD = column("Word", help="a run of letters and digits, or a single sign")
_CLASS = column("Class", help="part of speech, where a tagger is named")
_WORDS = column("Words", help="words of the references")
_SEGMENTS = column("Segments", help="in how many segments it occurs")
_DOCUMENT = column("Document", help="name of the document")
_REFERENCE = column("Reference", help="name of the reference")


class WordRow(Record):
    """A distinct word of the references."""

    metric: str = METRIC
    word: str = _WORD
    word_class: str | None = _CLASS
    difficulty: float = _DIFFICULTY
    count: int = _COUNT
    segments: int = _SEGMENTS
    similarity: float = _SIMILARITY
    exact: float = _EXACT
    pieces: float = column("Pieces", digits=1, help="that the model sees it in, mean")


class WordClassRow(Record):
    """A word class."""

    metric: str = METRIC
    word_class: str = _CLASS
    difficulty: float = _DIFFICULTY
    count: int = _COUNT
    similarity: float = _SIMILARITY
    exact: float = _EXACT


class StripRow(Record):
    """A word of a segment in the output of a system (table 3)."""

    metric: str = METRIC
    segment: int = SEGMENT
    reference: str = _REFERENCE
    token: str = column("Word", help="the word after its number in the reference")
    word: str = _WORD
    difficulty: float = column("Difficulty", help="1 less the mean similarity over the pool")
    system: str = SYSTEM
    similarity: float = column("Similarity", better="higher", help="of its best match")
    other: bool = column("another word", help="the best match is not the same word")


class WordsOfSystemRow(Record):
    """How well a system has the hardest tenth of the words, and the others."""

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
    rank: int | None = column("Rank, hard", help="by the similarity of hard words")
    other_rank: int | None = column("Rank, other", help="by the similarity of other words")
    hard_words: int = column("n, hard", help="number of hard words")
    other_words: int = column("n, other", help="number of other words")


class DistributionRow(Record):
    """How many words are how hard for a pool of systems (figure 3)."""

    metric: str = METRIC
    pool: str = column("Pool", help="the systems that say how hard words are")
    bin: str = column("Difficulty", help="from the first value to the second")
    low: float = column("From", help="least difficulty")
    high: float = column("To", help="largest difficulty")
    words: int = _WORDS
    share: float = column("Share", kind="share", digits=3, help="of all words")


class HardSegmentRow(Record):
    """How hard a segment is, and its hardest word."""

    metric: str = METRIC
    segment: int = SEGMENT
    document: str | None = _DOCUMENT
    words: int = _WORDS
    difficulty: float = _DIFFICULTY
    hardest: str = column("Hardest word", help="the first one among equals")
    hardest_difficulty: float = column("Its difficulty", digits=3, help="of the hardest word")


class HardDocumentRow(Record):
    """How hard a document is."""

    metric: str = METRIC
    document: str = _DOCUMENT
    segments: int = column("Segments", help="of the document")
    words: int = _WORDS
    difficulty: float = _DIFFICULTY


class OccurrenceRow(Record):
    """A word of a reference."""

    metric: str = METRIC
    segment: int = SEGMENT
    reference: str = _REFERENCE
    position: int = column("Position", help="of the word in the reference, from 1")
    word: str = _WORD
    difficulty: float = _DIFFICULTY
    similarity: float = _SIMILARITY
    exact: float = _EXACT


def hard(words: ReferenceWords) -> tuple[NDArray[np.bool_], float]:
    """The hardest tenth of the words (bool [W]; ties with its easiest word included), its edge."""
    difficulties = words.difficulty[words.known]
    if not len(difficulties):
        return np.zeros(len(words.words), dtype=np.bool_), math.inf
    edge = float(np.quantile(difficulties, _HARDEST, method="higher"))
    return (words.difficulty >= edge) & words.known, edge


def type_rows(
    words: ReferenceWords, least: int, classes: NDArray[np.object_] | None
) -> Iterator[WordRow]:
    """Distinct words with their mean difficulty, hardest first."""
    similarity, exact = _over_systems(words)
    members = _members(words.words.text, words.known)
    rows: list[WordRow] = []
    for text, at in members.items():
        if len(at) < least:
            continue
        rows.append(
            WordRow(
                metric=words.metric,
                word=text,
                word_class=None if classes is None else _most(classes[at]),
                difficulty=float(words.difficulty[at].mean()),
                count=len(at),
                segments=len(np.unique(words.segment[at])),
                similarity=float(similarity[at].mean()),
                exact=float(exact[at].mean()),
                pieces=float(words.words.pieces[at].mean()),
            )
        )
    return iter(sorted(rows, key=lambda row: (-row.difficulty, row.word)))


def class_rows(words: ReferenceWords, classes: NDArray[np.object_]) -> Iterator[WordClassRow]:
    """Word classes with their mean difficulty, hardest first."""
    similarity, exact = _over_systems(words)
    members = _members(classes, words.known)
    rows: list[WordClassRow] = [
        WordClassRow(
            metric=words.metric,
            word_class=name,
            difficulty=float(words.difficulty[at].mean()),
            count=len(at),
            similarity=float(similarity[at].mean()),
            exact=float(exact[at].mean()),
        )
        for name, at in members.items()
    ]
    return iter(sorted(rows, key=lambda row: (-row.difficulty, row.word_class)))


def distribution_rows(
    words: ReferenceWords, pools: Mapping[str, Sequence[int] | None]
) -> Iterator[DistributionRow]:
    """How many words are how hard, for several pools of systems (None: the metric's; figure 3)."""
    compared = words.known
    values = {
        name: (words.difficulty if systems is None else words.by(systems))[compared]
        for name, systems in pools.items()
    }
    if not compared.any():
        return
    edges = _edges(np.concatenate(list(values.values())))
    for name, some in values.items():
        counts = np.histogram(some, edges)[0]
        for low, high, count in zip(edges[:-1], edges[1:], counts.tolist(), strict=True):
            yield DistributionRow(
                metric=words.metric,
                pool=name,
                bin=f"{round(low, 6):g} to {round(high, 6):g}",
                low=float(low),
                high=float(high),
                words=count,
                share=count / len(some),
            )


def system_rows(words: ReferenceWords, systems: Sequence[str]) -> Iterator[WordsOfSystemRow]:
    """Who has the hardest tenth of the words, best first."""
    hardest, _ = hard(words)
    values = [_of_system(words, k, hardest) for k in range(len(systems))]
    by_hard, by_all = (
        ranks(np.array([math.nan if v[key] is None else v[key] for v in values], dtype=np.float64))
        for key in ("hard", "other")
    )
    rows = [
        WordsOfSystemRow(
            metric=words.metric,
            system=name,
            rank=by_hard[k],
            other_rank=by_all[k],
            **values_of_system,
        )
        for k, (name, values_of_system) in enumerate(zip(systems, values, strict=True))
    ]
    return iter(sorted(rows, key=lambda row: (row.rank is None, row.rank or 0, row.system)))


def segment_rows(words: ReferenceWords, testset: TestSet) -> Iterator[HardSegmentRow]:
    """Mean difficulty of every segment, and its hardest word; hardest segment first."""
    members = _members(words.segment, words.known)
    rows: list[HardSegmentRow] = []
    for segment, at in members.items():
        most = at[int(words.difficulty[at].argmax())]
        rows.append(
            HardSegmentRow(
                metric=words.metric,
                segment=int(segment) + 1,
                document=None if testset.documents is None else testset.documents[int(segment)],
                words=len(at),
                difficulty=float(words.difficulty[at].mean()),
                hardest=str(words.words.text[most]),
                hardest_difficulty=float(words.difficulty[most]),
            )
        )
    return iter(sorted(rows, key=lambda row: (-row.difficulty, row.segment)))


def document_rows(words: ReferenceWords, testset: TestSet) -> Iterator[HardDocumentRow]:
    """Mean difficulty of the words of every document, hardest first."""
    if testset.documents is None:
        return
    names = np.array(testset.documents, dtype=object)[words.segment]
    members = _members(names, words.known)
    for name, at in sorted(members.items(), key=lambda item: -words.difficulty[item[1]].mean()):
        yield HardDocumentRow(
            metric=words.metric,
            document=name,
            segments=len(np.unique(words.segment[at])),
            words=len(at),
            difficulty=float(words.difficulty[at].mean()),
        )


def strip_rows(
    words: ReferenceWords, segments: Sequence[int], testset: TestSet, names: Sequence[str]
) -> Iterator[StripRow]:
    """The words of some segments, one row for each word and system (table 3)."""
    for segment in segments:
        groups = np.unique(words.words.group[words.segment == segment - 1])
        for group in groups.tolist():
            at = np.flatnonzero(words.words.group == group)
            reference = reference_name(testset, segment - 1, words.places.text[group])
            for position, word in enumerate(at.tolist(), start=1):
                for k, system in enumerate(names):
                    if words.compared[k, word]:
                        yield StripRow(
                            metric=words.metric,
                            segment=segment,
                            reference=reference,
                            token=f"{position:02d} {words.words.text[word]}",
                            word=str(words.words.text[word]),
                            difficulty=float(words.difficulty[word]),
                            system=system,
                            similarity=float(words.best[k, word]),
                            other=not words.exact[k, word],
                        )


def occurrence_rows(words: ReferenceWords, testset: TestSet) -> Iterator[OccurrenceRow]:
    """Every word of every reference, in order."""
    similarity, exact = _over_systems(words)
    at: dict[int, int] = {}  # words of a reference need not be adjacent
    names: dict[int, str] = {}
    for word, group in enumerate(words.words.group.tolist()):
        at[group] = at.get(group, 0) + 1
        segment = int(words.segment[word])
        if group not in names:
            names[group] = reference_name(testset, segment, words.places.text[group])
        if words.known[word]:
            yield OccurrenceRow(
                metric=words.metric,
                segment=segment + 1,
                reference=names[group],
                position=at[group],
                word=str(words.words.text[word]),
                difficulty=float(words.difficulty[word]),
                similarity=float(similarity[word]),
                exact=float(exact[word]),
            )


def reference_name(testset: TestSet, segment: int, text: str) -> str:
    """What a text that outputs are compared with is called."""
    for name, texts in testset.references.items():
        if texts[segment] == text:
            return name
    for system, references in testset.system_references.items():
        for name, texts in references.items():
            if texts[segment] == text:
                return f"{name} of {system}"
    return "source"


def _over_systems(words: ReferenceWords) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean similarity and share of exact matches over the systems of each word, float64 [W]."""
    count = np.maximum(words.compared.sum(axis=0), 1)
    similarity = np.where(words.compared, words.best, 0.0).sum(axis=0) / count
    return similarity, words.exact.sum(axis=0) / count


def _of_system(words: ReferenceWords, k: int, hardest: NDArray[np.bool_]) -> dict[str, Any]:
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


def _most(classes: NDArray[np.object_]) -> str | None:
    """The most frequent class, the first by name among equals."""
    classified = [name for name in classes.tolist() if name is not None]
    return min(classified, key=lambda name: (-classified.count(name), name), default=None)


def _edges(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Edges of about 20 bins of a round width that hold all values."""
    low, high = float(min(values.min(), 0.0)), float(values.max())
    spread = max(high - low, 1e-6)
    steps = [m * 10.0**e for e in range(-4, 2) for m in (1, 2, 5)]
    width = next((step for step in steps if spread / step <= _BINS), steps[-1])
    first, last = math.floor(low / width + 1e-9), math.ceil(high / width - 1e-9)
    edges = np.arange(first, max(last, first + 1) + 1, dtype=np.float64) * width
    return np.concatenate([edges[:1], edges[1:-1], [max(edges[-1], high)]])


# Hard segments to read: hard words marked in the references, outputs side by side


def exhibits(
    words: ReferenceWords,
    testset: TestSet,
    rows: Sequence[HardSegmentRow],
    hardest: NDArray[np.bool_],
) -> tuple[Exhibit, ...]:
    """Some segments as exhibits."""
    return tuple(_exhibit(words, testset, row, hardest) for row in rows)


def _exhibit(
    words: ReferenceWords, testset: TestSet, row: HardSegmentRow, hardest: NDArray[np.bool_]
) -> Exhibit:
    segment = row.segment - 1
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
        weight=row.difficulty,
        caption=f"mean difficulty {row.difficulty:.3f}; marked: words of the hardest tenth",
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
                f"difficulty {words.difficulty[word]:.3f}",
            )
            for word in members[hardest[members]].tolist()
        )
        values = {"difficulty": float(words.difficulty[members].mean())}
        name = reference_name(testset, segment, text)
        yield ExhibitText("reference", name, text, marks, values)


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
