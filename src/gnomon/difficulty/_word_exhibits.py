"""Hard segments to read: hard words marked in the references, outputs side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.difficulty._word_rows import reference_name
from gnomon.findings import Exhibit, ExhibitText, Highlight

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.difficulty._observed import Observed
    from gnomon.difficulty._word_rows import Row
    from gnomon.testset import TestSet

__all__ = ["exhibits"]


def exhibits(
    found: Observed, testset: TestSet, rows: Sequence[Row], hardest: NDArray[np.bool_]
) -> tuple[Exhibit, ...]:
    """Some segments as exhibits.

    Args:
        found: the words.
        testset: for sources, documents and domains.
        rows: the segments, as rows of the table "segments".
        hardest: bool [W], the words to mark.
    """
    return tuple(_exhibit(found, testset, row, hardest) for row in rows)


def _exhibit(found: Observed, testset: TestSet, row: Row, hardest: NDArray[np.bool_]) -> Exhibit:
    segment = int(row["segment"] or 0) - 1
    difficulty = float(row["difficulty"] or 0)
    source = [] if testset.sources is None else [testset.sources[segment]]
    texts = [ExhibitText("source", "", text) for text in source]
    texts += _references(found, testset, segment, hardest)
    texts += _candidates(found, testset, segment, hardest)
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
    found: Observed, testset: TestSet, segment: int, hardest: NDArray[np.bool_]
) -> Iterator[ExhibitText]:
    for group in np.unique(found.words.group[found.segment == segment]).tolist():
        own = np.flatnonzero(found.words.group == group)
        text = found.places.text[group]
        marks = tuple(
            Highlight(
                int(found.words.start[word]),
                int(found.words.end[word]),
                f"difficulty {found.difficulty[word]:.3f}",
            )
            for word in own[hardest[own]].tolist()
        )
        values = {"difficulty": float(found.difficulty[own].mean())}
        name = reference_name(testset, segment, text)
        yield ExhibitText("reference", name, text, marks, values)


def _candidates(
    found: Observed, testset: TestSet, segment: int, hardest: NDArray[np.bool_]
) -> Iterator[ExhibitText]:
    own = found.segment == segment
    for k, (name, texts) in enumerate(testset.systems.items()):
        known = own & found.compared[k]
        values = {
            "similarity": _mean(found.best[k, known]),
            "of hard words": _mean(found.best[k, known & hardest]),
        }
        yield ExhibitText("candidate", name, texts[segment], (), values)


def _mean(values: NDArray[np.float64]) -> float | None:
    return float(values.mean()) if len(values) else None
