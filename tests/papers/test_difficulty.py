"""Scripts of difficulty: ranks within all systems, the authors' circular curve, and words."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from tests.methods.difficulty.sets import contest

import gnomon as gn
from gnomon import difficulty, stats
from gnomon.metrics import bind

_SCRIPTS = Path(__file__).resolve().parents[2] / "papers" / "difficulty"


def printed(
    name: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    before: tuple[str, ...] = (),
    after: tuple[str, ...] = (),
) -> list[list[str]]:
    """The rows that a script prints of ROUGE-1 on ten systems, s0 the best."""
    contest().write(folder)
    runpy.run_path(str(_SCRIPTS / name))["main"]([*before, str(folder), "rouge1", *after])
    return [line.split("\t") for line in capsys.readouterr().out.rstrip("\n").split("\n")[1:]]


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


def test_words_of_a_segment_are_marked_where_another_word_matches_best(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = printed("words.py", tmp_path / "de-en", capsys, ("table-3",), ("--segment", "2"))
    reference = next(iter(contest().references.values()))[1] or ""
    assert [row[0] for row in rows] == [word for word in reference.split() if word != "."]
    for _, hard, *cells in rows:
        had = [cell == "1.000" for cell in cells]
        assert float(hard) == pytest.approx(1 - np.mean(had), abs=1e-3)
        assert all(cell in ("1.000", "[0.000]") for cell in cells)


def test_words_are_easier_for_the_best_systems(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "figure.svg"
    rows = printed("words.py", tmp_path / "de-en", capsys, ("figure-3",), ("-o", str(picture)))
    shares = np.array(rows, dtype=np.float64)
    assert shares[:, 1:].sum(axis=0) == pytest.approx(1, abs=1e-3)
    everyone, best = shares[:, 0] @ shares[:, 1:]
    assert everyone > best
    bound = bind(contest(), "difficulty(rouge1)")[1]
    words = difficulty.reference_words(bound, contest().batch())  # type: ignore[arg-type]  # so it is
    easy = np.mean(words.difficulty < 0.05)
    assert shares[0, 1] == pytest.approx(easy, abs=1e-4)
    assert picture.stat().st_size > 0
