"""Writing pairs of a better and a worse output; they are read as ``declared/darr.toml`` says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.data.formats._layout import write_ranking
from gnomon.data.formats._mt_metrics_eval import require_pair
from gnomon.data.formats._registry import JudgementFormat
from gnomon.data.formats._rows import write_tsv

if TYPE_CHECKING:
    from os import PathLike

    from gnomon.core.testset import TestSet


def write_darr(path: str | PathLike[str], testset: TestSet, kind: str | None, _level: str) -> None:
    """Write a ranking as ``seg better worse``."""
    write_ranking(Path(path), testset.ranking(kind))


def write_wmt_darr(
    path: str | PathLike[str], testset: TestSet, kind: str | None, _level: str
) -> None:
    """Write a ranking as WMT's ``LP DATA SID BETTER WORSE``."""
    ranking, pair = testset.ranking(kind), require_pair(testset)
    rows = [
        [pair, testset.name, str(segment + 1), better, worse]
        for segment, better, worse in ranking.rows
    ]
    write_tsv(path, ["LP", "DATA", "SID", "BETTER", "WORSE"], rows)


FORMATS = (
    JudgementFormat(
        name="wmt-darr",
        title="pairs as WMT writes them (read as darr): LP DATA SID BETTER WORSE",
        write=write_wmt_darr,
    ),
)
