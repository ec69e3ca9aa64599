"""RealSumm's scored summaries (Bhandari et al. 2020), as JSON.

The structure is that of the publishers' pickles, RealSumm's own or BARTScore's; a segment is one
article::

    {"0": {"doc_id": 0, "ref_summ": ..., "system_summaries": {"bart_out.txt":
        {"system_summary": ..., "scores": {"litepyramid_recall": 0.5, ...}}, ...}}, ...}
    {"0": {"src": ..., "ref_summ": ..., "sys_summs": {"bart_out.txt": {"sys_summ": ..., "scores":
        {...}}}}}
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from gnomon.errors import FormatError
from gnomon.formats._files import plain_name
from gnomon.formats._lines import read_lines
from gnomon.formats._summaries import require_all, say_empty
from gnomon.human import HumanScores
from gnomon.testset import TestSet

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_HUMAN = "litepyramid_recall"
_KIND = "litepyramid"
_SYSTEMS = ("system_summaries", "sys_summs")
_SUMMARIES = ("system_summary", "sys_summ")


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
    found = []
    for name, document in documents.items():
        text = document.get("src")
        if not isinstance(text, str):
            raise FormatError(f"the article {name!r} lacks a text src, others have it", path=path)
        found.append(_unicode(path, f"src of article {name!r}", text))
    return found


def _unicode(path: Path, place: str, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise FormatError(
            f"{place} holds a lone surrogate at character {error.start}, which is not Unicode;"
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
    found: dict[str, tuple[str, float]] = {}
    for system, one in given.items():
        short = str(system).removesuffix(".txt")
        if short in found:
            raise FormatError(
                f"the article {name!r} has two summaries of system {short!r}: {short!r} and"
                f" {short + '.txt'!r}; name one of them otherwise",
                path=path,
            )
        found[short] = _summary(path, f"{system!r} of article {name!r}", one)
    return found


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
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise FormatError(
            f"{_HUMAN} of {place} is {value!r:.40}; a number from 0 to 1 is expected", path=path
        )
    return _clean(_unicode(path, f"the summary by {place}", text)), float(value)


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
