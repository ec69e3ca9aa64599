"""SummEval's annotated summaries (Fabbri et al. 2021).

``model_annotations.aligned.jsonl`` has an object per summary; a segment is one article::

    {"id": ..., "decoded": ..., "model_id": "M0", "references": [11 texts], "filepath": ...,
     "expert_annotations": [{"coherence": 4, "consistency": 5, "fluency": 5, "relevance": 4}, ...],
     "turker_annotations": [...]}                                       ["text": the article]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.formats._files import LOGGER, plain_name
from gnomon.formats._judged import between
from gnomon.formats._lines import read_lines
from gnomon.formats._records import Record, finite, parse_object
from gnomon.formats._summaries import require_all, say_empty
from gnomon.human import HumanScores
from gnomon.testset import TestSet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
_GROUPS = {"": "expert_annotations", "crowd-": "turker_annotations"}

Grid = dict[str, dict[str, Record]]


def read_summeval(path: Path) -> TestSet:
    """Read SummEval's annotations.

    The kinds of human scores are the four dimensions: ``coherence`` is the mean over the experts,
    ``crowd-coherence`` that over the crowd. The first reference is the article's ``original``, the
    others are ``crowd-1``, ``crowd-2``, ...

    Raises:
        FormatError: a line is no JSON object, lacks a key, or a summary occurs twice.
        DataError: a system lacks an article.
    """
    lines = enumerate(read_lines(path), start=1)
    records = [parse_object(str(path), number, line) for number, line in lines if line.strip()]
    grid = _grid(records)
    require_all(str(path), grid)
    first = list(next(iter(grid.values())).values())
    articles = list(next(iter(grid.values())))
    texts = {name: [r.text("decoded") for r in rows.values()] for name, rows in grid.items()}
    say_empty(str(path), texts)
    with_article = any("text" in record.values for record in first)
    return TestSet(
        name=plain_name(path).partition(".")[0],
        references=_references(first, records),
        systems=texts,
        sources=[record.text("text") for record in first] if with_article else None,
        language_pair="en",
        documents=articles,
        human=tuple(_dimensions(grid)),
        path=str(path),
    )


def _grid(records: Sequence[Record]) -> Grid:
    """System -> article -> record, articles in the order of their first occurrence."""
    order = list(dict.fromkeys(record.name("id") for record in records))
    found: Grid = {}
    for record in records:
        rows = found.setdefault(record.name("model_id"), {})
        article = record.name("id")
        if article in rows:
            raise record.error(
                f"a second summary of {article!r} by {record.name('model_id')}; line"
                f" {rows[article].line} has the first"
            )
        rows[article] = record
    return {
        system: {article: rows[article] for article in order if article in rows}
        for system, rows in found.items()
    }


def _references(
    articles: Sequence[Record], records: Sequence[Record]
) -> dict[str, list[str | None]]:
    lists = {record.name("id"): _list_of(record) for record in articles}
    other = [r for r in records if _list_of(r) != lists[r.name("id")]]
    if other:
        LOGGER.warning(
            "%s: %d summaries come with other references than the article's first summary, whose"
            " references are taken; the first is in line %d",
            other[0].path,
            len(other),
            other[0].line,
        )
    width = max(map(len, lists.values()))
    names = ["original", *(f"crowd-{i}" for i in range(1, width))]
    return {
        name: [texts[i] if i < len(texts) else None for texts in lists.values()]
        for i, name in enumerate(names)
    }


def _list_of(record: Record) -> list[str]:
    texts = record.texts("references")
    if not isinstance(texts, list) or not texts:
        raise record.error("references must be a list of at least one text")
    return texts


def _dimensions(grid: Grid) -> list[HumanScores]:
    systems = tuple(grid)
    found = []
    for prefix, group in _GROUPS.items():
        for dimension in DIMENSIONS:
            rows = [[_mean(r, group, dimension) for r in rows.values()] for rows in grid.values()]
            values = np.array(rows, dtype=np.float64)
            if np.isfinite(values).any():
                found.append(HumanScores(f"{prefix}{dimension}", "segment", systems, values))
    return found


def _mean(record: Record, group: str, dimension: str) -> float:
    given = record.value(group)
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise record.error(f"{group} must be a list of objects with {', '.join(DIMENSIONS)}")
    for one in given:
        if dimension not in one:
            raise record.error(f"an object in {group} lacks the key {dimension!r}")
    what = f"{dimension} in {group}"
    marks = [finite(record, what, one[dimension]) for one in given]
    for mark in marks:
        between(1.0, mark, 5.0, what, record.path, record.line)
    return sum(marks) / len(marks) if marks else float("nan")
