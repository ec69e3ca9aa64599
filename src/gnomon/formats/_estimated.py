"""Sets for quality estimation: one system, its sources, and what people said of its outputs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from gnomon.formats._files import LOGGER
from gnomon.formats._folders import is_pair
from gnomon.formats._judged import between, say_coverage
from gnomon.formats._lines import report_empty
from gnomon.human import HumanScores
from gnomon.testset import TestSet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from gnomon.human import ErrorSpan

SYSTEM = "mt"
POST_EDIT = "pe"
_GLUED = re.compile(r"([a-z]{2})([a-z]{2})\.df\.short", re.DOTALL)
_HEADED = re.compile(r"([a-z]{2}-[a-z]{2})(?:-(?:train|dev|test).*)?", re.DOTALL)


def pair_of(path: Path) -> str | None:
    """The language pair that a file's name tells, or that of its folder.

    >>> from pathlib import Path
    >>> pair_of(Path("data/dev.eten.df.short.tsv")), pair_of(Path("et-en-dev/dev.src"))
    ('et-en', 'et-en')
    """
    glued = _GLUED.search(path.name)
    if glued:
        return f"{glued[1]}-{glued[2]}"
    for name in (path.name, path.absolute().parent.name):
        headed = (_HEADED.fullmatch(word) for word in name.split("."))
        pairs = [found[1] for found in headed if found and is_pair(found[1])]
        if pairs:
            return pairs[0]
    return None


def estimated_set(
    where: str,
    *,
    name: str,
    language_pair: str | None,
    sources: Sequence[str],
    outputs: Sequence[str],
    scores: Mapping[str, Sequence[float]],
    references: Mapping[str, Sequence[str]],
    errors: Sequence[ErrorSpan] = (),
) -> TestSet:
    """Put a set of one system together.

    Args:
        where: the file or folder.
        name: what to call the set.
        language_pair: "et-en", if known.
        sources: one text per segment.
        outputs: those of the system.
        scores: kind -> one score per segment, NaN where missing; higher is better.
        references: post-edits, by name.
        errors: what people marked.
    """
    report_empty(where, "source", sources)
    report_empty(where, "candidate", outputs)
    _report_missing(where, scores)
    for texts in references.values():
        report_empty(where, "reference", texts)
    human = tuple(_scored(kind, values) for kind, values in scores.items())
    say_coverage(where, human)
    return TestSet(
        name=name,
        references=references,
        systems={SYSTEM: outputs},
        sources=sources,
        language_pair=language_pair,
        human=human,
        errors=tuple(errors),
        path=where,
    )


def _report_missing(where: str, scores: Mapping[str, Sequence[float]]) -> None:
    """Say which kinds of scores are not there for all segments."""
    for kind, values in scores.items():
        missing = [i for i, value in enumerate(values, start=1) if np.isnan(value)]
        if missing:
            LOGGER.info(
                "%s: %d of %d segments have no score of %s, the first is segment %d",
                where,
                len(missing),
                len(values),
                kind,
                missing[0],
            )


def _scored(kind: str, values: Sequence[float]) -> HumanScores:
    return HumanScores(kind, "segment", (SYSTEM,), np.array([values], dtype=np.float64))


def gain(cost: float, path: str, line: int) -> float:
    """A score of which higher is better, from one of which lower is (HTER).

    HTER, edits per word, exceeds 1 where an output is longer than its post-edit; an output of a
    thousand words too many is damage.

    Raises:
        FormatError: it is negative or over 1000.
    """
    return 0.0 - between(0.0, cost, 1000.0, "hter", path, line)
