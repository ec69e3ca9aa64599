"""Score files as other tools write them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from gnomon.data.formats import write_segment_scores

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon import TestSet
    from gnomon.core.scores import Scores

SEGMENT_SCORES = ("s.tsv", "s.jsonl", "s.wmt", "M-A.seg.score")
SYSTEM_SCORES = ("t.tsv", "t.jsonl", "t.wmt", "M-A.sys.score")


def write_score_file(path: Path, scores: Scores, testset: TestSet) -> None:
    """Write a file with one of these names."""
    if path.name in SYSTEM_SCORES or path.suffix == ".wmt":
        path.write_text("".join(f"{line}\n" for line in _lines(path, scores, testset)))
    else:
        write_segment_scores(path, [scores], testset)


def _lines(path: Path, scores: Scores, testset: TestSet) -> list[str]:
    if path.name == "s.wmt":
        return [
            f"{scores.metric}\t{testset.language_pair}\t{testset.name}\t{system}\t{i}\t{value!r}"
            for system, row in zip(scores.systems, scores.segments.tolist(), strict=True)
            for i, value in enumerate(row, start=1)
        ]
    values = dict(zip(scores.systems, scores.system.tolist(), strict=True))
    if path.suffix == ".tsv":
        rows = [f"{name}\t{scores.metric}\t{value!r}" for name, value in values.items()]
        return ["system\tmetric\tscore", *rows]
    if path.suffix == ".jsonl":
        return [
            json.dumps({"system": name, "metric": scores.metric, "score": value})
            for name, value in values.items()
        ]
    start = f"{scores.metric}\t{testset.language_pair}\t{testset.name}\t"
    head = start if path.suffix == ".wmt" else ""
    return [f"{head}{name}\t{value!r}" for name, value in values.items()]
