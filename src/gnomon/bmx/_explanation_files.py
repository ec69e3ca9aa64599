"""Explanations from a file: flat records of words, with the score of their segment."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.bmx._experiments import Experiment, Explained
from gnomon.errors import FormatError
from gnomon.formats import read_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from gnomon.testset import TestSet

    Cells = dict[tuple[str, int], list[float]]

__all__ = ["read_explanations"]

_log = logging.getLogger(__name__)

_MOST = 1e300  # so that sums are numbers
_NEEDED = ("system", "segment", "side", "importance", "score")


def read_explanations(
    path: str | Path, testset: TestSet, *, human: str | None = None, explainer: str | None = None
) -> Explained:
    """Explanations of a JSONL file beside the human scores of a test set.

    Every line is an object with ``system``, ``segment`` (from 1), ``side``, ``importance`` and
    ``score``, as ``gnomon bmx explain`` writes them; ``metric``, ``explainer`` and
    ``higher_is_better`` (false for error rates, whose scores are negated) may be among them. An
    importance or a score of null is undefined.

    Args:
        path: the file.
        testset: who was judged, and how.
        human: kind of the human scores; may be left out where there is one.
        explainer: its name, if the file does not tell.

    Raises:
        MissingFileError: there is no such file.
        FormatError: a line is no such object, speaks of a system or segment that is not there, or
            of a second metric or explainer, or repeats a word (by ``position``, if that is told).
        DataError: the test set has no human segment scores, or several kinds and none was named.
    """
    cells: Cells = {}
    scores: dict[tuple[str, int], float] = {}
    sides: set[str] = set()
    told: dict[str, str] = {}
    words: dict[tuple[object, ...], int] = {}
    for line, row in _rows(path):
        key = _cell(row, testset, path, line)
        cells.setdefault(key, []).append(_number(row, "importance", path, line))
        score = _number(row, "score", path, line) * (1 if row.get("higher_is_better", True) else -1)
        if not _same(scores.setdefault(key, score), score):
            raise FormatError(
                f"system {key[0]!r} has two scores for segment {key[1]}; all words of a segment"
                " repeat its one score",
                path=path,
                line=line,
            )
        sides.add(str(row["side"]))
        _once(row, told, words, path, line)
    if not cells:
        raise FormatError("holds no explanations", path=path)
    _report_gaps(words, path)
    name = Experiment(
        testset.name,
        explainer or told.get("explainer", Path(path).stem),
        told.get("metric", "metric"),
        testset.language_pair or "",
        "both" if len(sides) > 1 else next(iter(sides), "both"),
    )
    return _joined(name, cells, scores, testset, human)


def _once(
    row: Mapping[str, Any],
    told: dict[str, str],
    words: dict[tuple[object, ...], int],
    path: str | Path,
    line: int,
) -> None:
    """Refuse what tells of two explanations in one file: they are read one by one."""
    for name in ("metric", "explainer"):
        if name in row and told.setdefault(name, str(row[name])) != str(row[name]):
            raise FormatError(
                f"the {name} is {row[name]!r}, and {told[name]!r} before; a file holds the"
                " explanations of one metric by one explainer: give several files",
                path=path,
                line=line,
            )
    if "position" not in row:
        return
    word = tuple(str(row[name]) for name in ("system", "segment", "side", "position"))
    first = words.setdefault(word, line)
    if first != line:
        raise FormatError(
            f"word {row['position']} of the {row['side']} of system {row['system']!r}, segment"
            f" {row['segment']}, stands in line {first}, too; give each once",
            path=path,
            line=line,
        )


def _report_gaps(words: Iterable[tuple[object, ...]], path: str | Path) -> None:
    """Say where words of a text seem to be missing: their positions are not a whole range."""
    places: dict[tuple[object, ...], list[int]] = {}
    for *text, position in words:
        if not str(position).isdecimal():
            return
        places.setdefault(tuple(text), []).append(int(str(position)))
    gaps = [text for text, found in places.items() if max(found) - min(found) >= len(found)]
    if gaps:
        system, segment, side = gaps[0]
        _log.warning(
            "%s: words are missing between others in %d texts; the first is the %s of system %r,"
            " segment %s",
            path,
            len(gaps),
            side,
            system,
            segment,
        )


def _joined(
    name: Experiment,
    cells: Cells,
    scores: Mapping[tuple[str, int], float],
    testset: TestSet,
    human: str | None,
) -> Explained:
    judged = dict(zip(testset.systems, testset.human_scores(human, "segment"), strict=True))
    values = [value for some in cells.values() for value in some]
    offsets = np.concatenate([[0], np.cumsum([len(some) for some in cells.values()])])
    people = [float(judged[system][segment - 1]) for system, segment in cells]
    return Explained(
        name,
        _array([scores[key] for key in cells]),
        _array(values),
        offsets.astype(np.int64),
        _array(people),
    )


def _rows(path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(read_lines(path), start=1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"not a JSON object: {error}", path=path, line=number) from error
        missing = [key for key in _NEEDED if not isinstance(row, dict) or key not in row]
        if missing:
            raise FormatError(
                f"the record lacks {', '.join(missing)}; it needs {', '.join(_NEEDED)}",
                path=path,
                line=number,
            )
        yield number, row


def _cell(row: Mapping[str, Any], testset: TestSet, path: str | Path, line: int) -> tuple[str, int]:
    system, segment = row["system"], row["segment"]
    if not isinstance(system, str) or system not in testset.systems:
        raise FormatError(
            f"unknown system {system!r}; the test set has {', '.join(testset.systems)}",
            path=path,
            line=line,
        )
    whole = isinstance(segment, int) and not isinstance(segment, bool)
    if not whole or not 1 <= segment <= testset.segments:
        raise FormatError(
            f"segment {segment!r} is none of 1 to {testset.segments}", path=path, line=line
        )
    return str(system), int(segment)


def _number(row: Mapping[str, Any], key: str, path: str | Path, line: int) -> float:
    value = row[key]
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FormatError(f"{key} is a number or null; got {value!r}", path=path, line=line)
    if not abs(value) < _MOST:
        raise FormatError(
            f"{key} is {value!r:.40}; a finite number is expected, or null", path=path, line=line
        )
    return float(value)


def _same(a: float, b: float) -> bool:
    return a == b or (np.isnan(a) and np.isnan(b))


def _array(values: list[float]) -> NDArray[np.float64]:
    return np.array(values, dtype=np.float64)
