"""SummEval's and RealSumm's annotated summaries: a segment is an article, which all summarised.

SummEval (Fabbri et al. 2021), ``model_annotations.aligned.jsonl``: an object per summary::

    {"id": ..., "decoded": ..., "model_id": "M0", "references": [11 texts], "filepath": ...,
     "expert_annotations": [{"coherence": 4, "consistency": 5, "fluency": 5, "relevance": 4}, ...],
     "turker_annotations": [...]}                                       ["text": the article]

RealSumm (Bhandari et al. 2020), as JSON. The structure is that of the publishers'
pickles, RealSumm's own or BARTScore's::

    {"0": {"doc_id": 0, "ref_summ": ..., "system_summaries": {"bart_out.txt":
        {"system_summary": ..., "scores": {"litepyramid_recall": 0.5, ...}}, ...}}, ...}
    {"0": {"src": ..., "ref_summ": ..., "sys_summs": {"bart_out.txt": {"sys_summ": ..., "scores":
        {...}}}}}
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.errors import DataError, FormatError
from gnomon.core.human import HumanScores
from gnomon.core.testset import TestSet
from gnomon.data.formats._files import LOGGER, plain_name
from gnomon.data.formats._judgements import between
from gnomon.data.formats._lines import read_lines, report_empty
from gnomon.data.formats._records import parse_object
from gnomon.data.formats._registry import FoundSet, SetFormat
from gnomon.data.formats._rows import FileRecord

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from gnomon.data.formats._rows import FileHead


def require_all(where: str, grid: Mapping[str, Mapping[str, object]]) -> None:
    """Check that every system has a summary of every article."""
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


def say_empty(where: str, texts: Mapping[str, Sequence[str]]) -> None:
    """Say which outputs are empty."""
    for name, outputs in texts.items():
        report_empty(f"{where}, {name}", "candidate", outputs)


# SummEval's annotated summaries (Fabbri et al. 2021).


DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
_GROUPS = {"": "expert_annotations", "crowd-": "turker_annotations"}

Grid = dict[str, dict[str, FileRecord]]


def read_summeval(path: Path) -> TestSet:
    """Read SummEval's annotations.

    The kinds of human scores are the four dimensions: ``coherence`` is the mean over the experts,
    ``crowd-coherence`` that over the crowd. The first reference is the article's ``original``, the
    others are ``crowd-1``, ``crowd-2``, ...
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


def _grid(records: Sequence[FileRecord]) -> Grid:
    """System -> article -> record, articles in the order of their first occurrence."""
    order = list(dict.fromkeys(record.name("id") for record in records))
    grid: Grid = {}
    for record in records:
        rows = grid.setdefault(record.name("model_id"), {})
        article = record.name("id")
        if article in rows:
            raise record.error(
                f"a second summary of {article!r} by {record.name('model_id')}; line"
                f" {rows[article].line} has the first"
            )
        rows[article] = record
    return {
        system: {article: rows[article] for article in order if article in rows}
        for system, rows in grid.items()
    }


def _references(
    articles: Sequence[FileRecord], records: Sequence[FileRecord]
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


def _list_of(record: FileRecord) -> list[str]:
    texts = record.texts("references")
    if not isinstance(texts, list) or not texts:
        raise record.error("references must be a list of at least one text")
    return texts


def _dimensions(grid: Grid) -> list[HumanScores]:
    systems = tuple(grid)
    scores = []
    for prefix, group in _GROUPS.items():
        for dimension in DIMENSIONS:
            rows = [[_mean(r, group, dimension) for r in rows.values()] for rows in grid.values()]
            values = np.array(rows, dtype=np.float64)
            if np.isfinite(values).any():
                scores.append(HumanScores(f"{prefix}{dimension}", "segment", systems, values))
    return scores


def _mean(record: FileRecord, group: str, dimension: str) -> float:
    given = record.value(group)
    if not isinstance(given, list) or not all(isinstance(judgement, dict) for judgement in given):
        raise record.error(f"{group} must be a list of objects with {', '.join(DIMENSIONS)}")
    for judgement in given:
        if dimension not in judgement:
            raise record.error(f"an object in {group} lacks the key {dimension!r}")
    what = f"{dimension} in {group}"
    marks = [record.finite(what, judgement[dimension]) for judgement in given]
    for mark in marks:
        between(1.0, mark, 5.0, what, record)
    return sum(marks) / len(marks) if marks else float("nan")


# RealSumm's scored summaries (Bhandari et al. 2020), as JSON.


_HUMAN = "litepyramid_recall"
_KIND = "litepyramid"
_SYSTEMS = ("system_summaries", "sys_summs")
_SUMMARIES = ("system_summary", "sys_summ")


def read_realsumm(path: Path) -> TestSet:
    """Read RealSumm's scores as JSON; the kind of human scores is ``litepyramid``."""
    documents = _documents(path)
    grid: dict[str, dict[str, tuple[str, float]]] = {}
    for name, document in documents.items():
        for system, (text, score) in _summaries(path, name, document).items():
            grid.setdefault(system, {})[name] = (text, score)
    require_all(str(path), grid)
    systems = tuple(grid)
    texts = {s: [text for text, _ in rows.values()] for s, rows in grid.items()}
    say_empty(str(path), texts)
    values = np.array([[score for _, score in rows.values()] for rows in grid.values()])
    return TestSet(
        name=plain_name(path).removesuffix(".json"),
        references=_summary_references(path, documents),
        systems=texts,
        sources=_articles(path, documents),
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


def _articles(path: Path, documents: Mapping[str, Mapping[str, object]]) -> list[str] | None:
    """The texts of the articles; none if no article has its text."""
    if not any("src" in document for document in documents.values()):
        return None
    articles = []
    for name, document in documents.items():
        text = document.get("src")
        if not isinstance(text, str):
            raise FormatError(f"the article {name!r} lacks a text src, others have it", path=path)
        articles.append(_unicode(path, f"src of article {name!r}", text))
    return articles


def _unicode(path: Path, where: str, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise FormatError(
            f"{where} holds a lone surrogate at character {error.start}, which is not Unicode;"
            " escape such characters as pairs",
            path=path,
        ) from error
    return text


def _summaries(
    path: Path, name: str, document: Mapping[str, object]
) -> dict[str, tuple[str, float]]:
    given = next((document[key] for key in _SYSTEMS if key in document), None)
    if not isinstance(given, dict):
        raise FormatError(
            f"the article {name!r} lacks an object {' or '.join(_SYSTEMS)}", path=path
        )
    summaries: dict[str, tuple[str, float]] = {}
    for system, value in given.items():
        short = str(system).removesuffix(".txt")
        if short in summaries:
            raise FormatError(
                f"the article {name!r} has two summaries of system {short!r}: {short!r} and"
                f" {short + '.txt'!r}; name one of them otherwise",
                path=path,
            )
        summaries[short] = _summary(path, f"{system!r} of article {name!r}", value)
    return summaries


def _summary(path: Path, where: str, one: object) -> tuple[str, float]:
    values = one if isinstance(one, dict) else {}
    text = next((values[key] for key in _SUMMARIES if key in values), None)
    scores = values.get("scores")
    if not isinstance(text, str) or not isinstance(scores, dict):
        raise FormatError(
            f"the summary by {where} lacks a text {' or '.join(_SUMMARIES)}, or an object scores",
            path=path,
        )
    if _HUMAN not in scores:
        raise FormatError(f"the scores of the summary by {where} lack {_HUMAN}", path=path)
    value = scores[_HUMAN]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise FormatError(
            f"{_HUMAN} of {where} is {value!r:.40}; a number from 0 to 1 is expected", path=path
        )
    return _clean(_unicode(path, f"the summary by {where}", text)), float(value)


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
        lists.append([_clean(_unicode(path, f"ref_summ of {name!r}", t)) for t in texts])
    width = max(map(len, lists))
    names = ["A"] if width == 1 else [str(i + 1) for i in range(width)]
    return {
        name: [texts[i] if i < len(texts) else None for texts in lists]
        for i, name in enumerate(names)
    }


_PICKLE = (
    "is a Python pickle; reading one can run any code, so gnomon does not. Where you trust it,"
    ' write it as JSON: python -c "import json, pickle, sys;'
    " json.dump(pickle.load(open(sys.argv[1], 'rb')), open(sys.argv[2], 'w'), default=float)\""
    " FILE.pkl FILE.json"
)


def _summeval_set(head: FileHead) -> FoundSet | None:
    named = ('"expert_annotations"', '"model_id"')
    if not head.first_line.startswith("{") or any(key not in head.first_line for key in named):
        return None
    return FoundSet(head.path, partial(read_summeval, head.path), "en")


def _realsumm_set(head: FileHead) -> FoundSet | None:
    if head.is_pickle:
        raise FormatError(_PICKLE, path=head.path)
    if not head.first_line.startswith("{") or '"ref_summ' not in head.text:
        return None
    return FoundSet(head.path, partial(read_realsumm, head.path), "en")


FORMATS = (
    SetFormat(
        name="summeval",
        title="SummEval, JSONL: id decoded model_id references expert_annotations"
        " turker_annotations",
        of_file=_summeval_set,
        suffixes=(".jsonl",),
    ),
    SetFormat(
        name="realsumm",
        title="RealSumm's scores, JSON: ref_summ system_summaries scores litepyramid_recall",
        of_file=_realsumm_set,
        suffixes=(".json",),
        after=("mlqe-pe", "eval4nlp21", "wmt22-qe", "summeval"),
    ),
)
