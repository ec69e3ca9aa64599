"""Judged summaries: SummEval's annotations, RealSumm's scores.

``summeval``: ``model_annotations.aligned.jsonl``, an object per summary (Fabbri et al. 2021)::

    {"id": ..., "decoded": ..., "model_id": "M0", "references": [11 texts], "filepath": ...,
     "expert_annotations": [{"coherence": 4, "consistency": 5, "fluency": 5, "relevance": 4}, ...],
     "turker_annotations": [...]}                                       ["text": the article]

``realsumm``: one JSON object, as in the pickles of RealSumm (Bhandari et al. 2020) or BARTScore::

    {"0": {"doc_id": 0, "ref_summ": ..., "system_summaries": {"bart_out.txt":
        {"system_summary": ..., "scores": {"litepyramid_recall": 0.5, ...}}, ...}}, ...}
    {"0": {"src": ..., "ref_summ": ..., "sys_summs": {"bart_out.txt": {"sys_summ": ..., "scores":
        {...}}}}}

A segment is one article.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from gnomon.errors import DataError, FormatError
from gnomon.formats._files import LOGGER, plain_name
from gnomon.formats._lines import read_lines, report_empty
from gnomon.formats._records import Record, finite, parse_object
from gnomon.human import HumanScores
from gnomon.testset import TestSet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
_GROUPS = {"": "expert_annotations", "crowd-": "turker_annotations"}
_HUMAN = "litepyramid_recall"
_KIND = "litepyramid"
_SYSTEMS = ("system_summaries", "sys_summs")
_SUMMARIES = ("system_summary", "sys_summ")

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
    _complete(str(path), grid)
    first = list(next(iter(grid.values())).values())
    articles = list(next(iter(grid.values())))
    texts = {name: [r.text("decoded") for r in rows.values()] for name, rows in grid.items()}
    report_all(str(path), texts)
    with_article = all("text" in record.values for record in first)
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


def _complete(where: str, grid: Mapping[str, Mapping[str, object]]) -> None:
    every = list(dict.fromkeys(article for rows in grid.values() for article in rows))
    for system, rows in grid.items():
        missing = [article for article in every if article not in rows]
        if missing:
            raise DataError(
                f"{where}: system {system!r} has summaries of {len(rows)} of {len(every)} articles;"
                f" {missing[0]!r} is missing; every system needs all"
            )
    if not every:
        raise DataError(f"{where} holds no summary")


def report_all(where: str, texts: Mapping[str, Sequence[str]]) -> None:
    """Say which outputs are empty."""
    for name, one in texts.items():
        report_empty(f"{where}, {name}", "candidate", one)


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
    marks = [finite(record, f"{dimension} in {group}", one[dimension]) for one in given]
    return sum(marks) / len(marks) if marks else float("nan")


def read_realsumm(path: Path) -> TestSet:
    """Read RealSumm's scores as JSON; the kind of human scores is ``litepyramid``.

    Raises:
        FormatError: it is no JSON, or an article lacks what it should have.
        DataError: a system lacks an article.
    """
    documents = _documents(path)
    grid: dict[str, dict[str, tuple[str, float]]] = {}
    for name, document in documents.items():
        for system, (text, score) in _summaries(path, name, document).items():
            grid.setdefault(system, {})[name] = (text, score)
    _complete(str(path), grid)
    systems = tuple(grid)
    texts = {s: [text for text, _ in rows.values()] for s, rows in grid.items()}
    report_all(str(path), texts)
    sources = [document.get("src") for document in documents.values()]
    values = np.array([[score for _, score in rows.values()] for rows in grid.values()])
    return TestSet(
        name=plain_name(path).removesuffix(".json"),
        references=_summary_references(path, documents),
        systems=texts,
        sources=[str(s) for s in sources] if all(isinstance(s, str) for s in sources) else None,
        language_pair="en",
        documents=list(documents),
        human=(HumanScores(_KIND, "segment", systems, values.astype(np.float64)),),
        path=str(path),
    )


def _documents(path: Path) -> dict[str, dict[str, object]]:
    try:
        data = json.loads("\n".join(read_lines(path)))
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        raise FormatError(f"is not JSON ({error})", path=path, line=line) from error
    if not isinstance(data, dict) or not data:
        raise FormatError("one JSON object is expected, with an object per article", path=path)
    for name, document in data.items():
        if not isinstance(document, dict):
            raise FormatError(f"the article {name!r} is no JSON object", path=path)
    return data


def _summaries(
    path: Path, name: str, document: Mapping[str, object]
) -> dict[str, tuple[str, float]]:
    given = next((document[key] for key in _SYSTEMS if key in document), None)
    if not isinstance(given, dict):
        raise FormatError(
            f"the article {name!r} lacks an object {' or '.join(_SYSTEMS)}", path=path
        )
    return {
        str(system).removesuffix(".txt"): _summary(path, f"{system!r} of article {name!r}", one)
        for system, one in given.items()
    }


def _summary(path: Path, place: str, one: object) -> tuple[str, float]:
    found = one if isinstance(one, dict) else {}
    text = next((found[key] for key in _SUMMARIES if key in found), None)
    scores = found.get("scores")
    if not isinstance(text, str) or not isinstance(scores, dict):
        raise FormatError(
            f"the summary by {place} lacks a text {' or '.join(_SUMMARIES)}, or an object scores",
            path=path,
        )
    if _HUMAN not in scores:
        raise FormatError(f"the scores of the summary by {place} lack {_HUMAN}", path=path)
    value = scores[_HUMAN]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e300:
        raise FormatError(f"{_HUMAN} of {place} is {value!r}; a number is expected", path=path)
    return _clean(text), float(value)


def _clean(text: str) -> str:
    """A summary without the marks around its sentences, its white space collapsed."""
    return " ".join(text.replace("<t>", " ").replace("</t>", " ").split())


def _summary_references(
    path: Path, documents: Mapping[str, Mapping[str, object]]
) -> dict[str, list[str | None]]:
    lists = []
    for name, document in documents.items():
        given = document.get("ref_summ", document.get("ref_summs"))
        texts = [given] if isinstance(given, str) else given
        if not isinstance(texts, list) or not texts or not all(isinstance(t, str) for t in texts):
            raise FormatError(f"the article {name!r} lacks a text ref_summ", path=path)
        lists.append([_clean(text) for text in texts])
    width = max(map(len, lists))
    names = ["A"] if width == 1 else [str(i + 1) for i in range(width)]
    return {
        name: [texts[i] if i < len(texts) else None for texts in lists]
        for i, name in enumerate(names)
    }
