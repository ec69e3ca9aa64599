"""Scripts of difficulty: ranks within all systems, and the authors' circular curve."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from tests.methods.difficulty.sets import contest

import gnomon as gn
from gnomon import stats

_SCRIPTS = Path(__file__).resolve().parents[2] / "papers" / "difficulty"


def printed(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """The rows that a script prints of ROUGE-1 on ten systems, s0 the best."""
    contest().write(folder)
    runpy.run_path(str(_SCRIPTS / name))["main"]([str(folder), "rouge1"])
    return [line.split("\t") for line in capsys.readouterr().out.splitlines()[1:]]


def test_ranks_are_those_of_people_and_of_both_scores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = printed("ranks.py", tmp_path / "de-en", capsys)
    assert [row[:2] for row in rows[:10]] == [[f"s{k}", str(k + 1)] for k in range(10)]
    own = {row["system"]: row for row in gn.difficulty.score(contest(), "rouge1").rows}
    for system, human, base, base_off, weighted, off in rows[:10]:
        assert (int(base), int(weighted)) == (own[system]["base_rank"], own[system]["rank"])
        assert (int(base_off), int(off)) == (int(human) - int(base), int(human) - int(weighted))
    assert [row[0].split(":")[0] for row in rows[10:]] == [
        "sum of differences, base",
        "sum of differences, weighted",
    ]


def test_the_circular_curve_binds_to_the_best_k_systems(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = printed("circular_curve.py", tmp_path / "de-en", capsys)
    assert [int(k) for k, _ in rows] == list(range(3, 11))
    for k, r in ((int(k), float(r)) for k, r in rows[:3]):
        best = contest().select(systems=[f"s{i}" for i in range(k)])
        scores = gn.score(best, "difficulty(rouge1)").system
        assert r == pytest.approx(stats.pearson(-np.arange(float(k)), scores), abs=1e-4)
