r"""Score files: what a metric said, for other tools and for later.

======================  ========================================================  =========
format                  one record                                                undefined
======================  ========================================================  =========
``tsv``                 header; ``system, segment, metric, score``                empty
``jsonl``               an object with the same keys                              ``null``
``wmt``                 ``METRIC LP TESTSET SYSTEM [SEGMENT] SCORE``              ``None``
``mt-metrics-eval``     ``SYSTEM SCORE`` in blocks per system                     ``None``
======================  ========================================================  =========

Fields stand between tabs; numbers are unrounded. A name that holds a tab or a line end is refused.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.doors import checked
from gnomon.errors import LengthMismatchError, UnknownNameError, UsageError
from gnomon.formats._files import explain_failure
from gnomon.formats._lines import write_lines
from gnomon.formats._mt_metrics_eval import UNKNOWN
from gnomon.formats._mt_metrics_eval_write import check_word, require_pair, score_lines
from gnomon.formats._records import form_of
from gnomon.formats._tsv import check_cell, print_number, write_tsv

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.scores import Scores
    from gnomon.testset import TestSet

FORMATS = ("tsv", "jsonl", "wmt", "mt-metrics-eval")
SUFFIXES = {
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".wmt": "wmt",
    ".score": "mt-metrics-eval",
}


@checked
def write_segment_scores(
    path: str | PathLike[str],
    scores: Sequence[Scores],
    testset: TestSet,
    *,
    format: str | None = None,  # noqa: A002  # the word that users know from every command
) -> None:
    """Write the segment scores of some metrics.

    Args:
        path: a file; in mt-metrics-eval's format a ``.score`` file for one metric, or else the
            top directory, in which ``metric-scores/LP/METRIC-REF.seg.score`` are made.
        scores: one per metric.
        testset: the test set that was scored; its name and language pair appear in some formats.
        format: "tsv", "jsonl", "wmt" or "mt-metrics-eval"; by default, the suffix tells
            (``.tsv``, ``.jsonl``, ``.wmt``, ``.score``; a directory is mt-metrics-eval's).

    Raises:
        OutputError: the file cannot be written.
        UnknownNameError: the format or the suffix is unknown.
        UsageError: the format needs a language pair, or one metric only.
        LengthMismatchError: the scores are of another number of segments.
        DataError: a name cannot be held by the format.
    """
    for one in scores:
        if one.segments.shape != (len(one.systems), testset.segments):
            raise LengthMismatchError(
                f"segment scores of {one.metric} have shape {one.segments.shape}; expected"
                f" {(len(one.systems), testset.segments)}: systems x segments of the test set"
            )
    _write(Path(path), scores, testset, format, level="seg")


@checked
def write_system_scores(
    path: str | PathLike[str],
    scores: Sequence[Scores],
    testset: TestSet,
    *,
    format: str | None = None,  # noqa: A002  # the word that users know from every command
) -> None:
    """Write the system scores of some metrics; like :func:`write_segment_scores`.

    TSV and JSONL have ``system, metric, score, signature``; files of mt-metrics-eval are called
    ``METRIC-REF.sys.score``.
    """
    _write(Path(path), scores, testset, format, level="sys")


def _write(
    path: Path, scores: Sequence[Scores], testset: TestSet, form: str | None, *, level: str
) -> None:
    if form is None:
        form = "mt-metrics-eval" if path.is_dir() else form_of(path, SUFFIXES, "score file suffix")
    if form not in FORMATS:
        raise UnknownNameError("score file format", form, FORMATS)
    if form == "mt-metrics-eval":
        _write_blocks(path, scores, testset, level)
    elif form == "wmt":
        write_lines(path, _wmt_lines(scores, testset, level))
    else:
        _write_records(path, scores, form, level)


def _write_records(path: Path, scores: Sequence[Scores], form: str, level: str) -> None:
    if level == "seg":
        columns = ["system", "segment", "metric", "score"]
        rows = [[row[c] for c in columns] for one in scores for row in one.segment_rows()]
    else:
        columns = ["system", "metric", "score", "signature"]
        rows = [[row[c] for c in columns] for one in scores for row in one.rows()]
    if form == "tsv":
        write_tsv(path, columns, [[_cell(value) for value in row] for row in rows])
    else:
        write_lines(path, [json.dumps(dict(zip(columns, row, strict=True))) for row in rows])


def _cell(value: object) -> str:
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else str(value)


def _wmt_lines(scores: Sequence[Scores], testset: TestSet, level: str) -> Iterator[str]:
    pair = require_pair(testset)
    for one in scores:
        for system, values in zip(one.systems, _values(one, level), strict=True):
            head = [one.metric, pair, testset.name, system]
            for field in head:
                check_cell(field, "a field of a WMT score line")
            for number, value in enumerate(values, start=1):
                middle = [str(number)] if level == "seg" else []
                yield "\t".join([*head, *middle, print_number(value, UNKNOWN)])


def _values(scores: Scores, level: str) -> NDArray[np.float64]:
    return scores.segments if level == "seg" else scores.system.reshape(-1, 1)


def _write_blocks(path: Path, scores: Sequence[Scores], testset: TestSet, level: str) -> None:
    if path.name.removesuffix(".gz").endswith(".score"):
        if len(scores) != 1:
            raise UsageError(
                f"a .score file holds one metric, there are {len(scores)}; name a directory, and"
                " one file is made for each"
            )
        write_lines(path, _block_lines(scores[0], testset, level))
        return
    folder = path / "metric-scores" / require_pair(testset)
    judges = ".".join(testset.references) or "src"
    for one in scores:
        check_word("metric", one.metric)
        check_word("reference", judges)
    with explain_failure(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for one in scores:
        file = folder / f"{one.metric}-{judges}.{level}.score"
        write_lines(file, _block_lines(one, testset, level))


def _block_lines(scores: Scores, testset: TestSet, level: str) -> Iterable[str]:
    """A block per system; references do not judge themselves."""
    rows = [
        (system, values)
        for system, values in zip(scores.systems, _values(scores, level), strict=True)
        if system not in testset.references
    ]
    return score_lines([system for system, _ in rows], [values for _, values in rows])
