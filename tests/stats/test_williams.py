"""Williams's test."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats as scipy_stats

from gnomon.core.errors import LengthMismatchError, UnknownNameError
from gnomon.stats import pearson, williams, williams_from_correlations
from gnomon.stats.student import upper_tail

NAN = float("nan")
PAIRS = ("de-en", "fi-en", "gu-en", "kk-en", "lt-en", "ru-en", "zh-en")


@pytest.mark.parametrize("df", [1, 2, 3, 8, 30, 1000, 60000])
@pytest.mark.parametrize("t", [-40.0, -2.5, -1e-9, 0.0, 0.3, 1.0, 2.0, 6.0, 40.0, math.inf])
def test_student_tails_equal_scipy(t: float, df: int) -> None:
    assert upper_tail(t, df) == pytest.approx(scipy_stats.t.sf(t, df), rel=1e-8, abs=1e-300)


def system_scores(path: Path) -> dict[tuple[str, str], float]:
    """``metric lp testset system score`` lines, separated by white space."""
    rows = [line.split() for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    return {(row[1], row[3]): float(row[-1]) for row in rows}


def human_scores(folder: Path, pair: str) -> dict[str, float]:
    with (folder / "human-scores" / f"{pair}.da-z.sys.tsv").open(encoding="utf-8") as file:
        return {row["system"]: float(row["z"]) for row in csv.DictReader(file, delimiter="\t")}


@pytest.mark.parametrize(
    ("table", "baseline"),
    [
        ("wmt19_syslevel_pearson_bleu.tsv", "sacreBLEU-syslevel.tsv"),
        ("wmt19_deen500_syslevel_pearson_bleu.tsv", "sacreBLEU-syslevel.500.tsv"),
    ],
)
def test_published_correlations_p_values_and_marks(shared: Path, table: str, baseline: str) -> None:
    published = shared / "data/paraphrases/wmt19-de-en-500/published"
    base = system_scores(published / baseline)
    with (shared / "oracles/paraphrase" / table).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    compared = 0
    for row in rows[1:]:
        scores = system_scores(published / row["file"])
        for pair in (pair for pair in PAIRS if row.get(f"{pair}.r")):
            human = human_scores(published, pair)
            systems = [name for lp, name in scores if lp == pair]
            sides = [
                [human.get(name, NAN) for name in systems],
                [scores[pair, name] for name in systems],
                [base[pair, name] for name in systems],
            ]
            result = williams(*sides)
            assert result.n == int(row[f"{pair}.n"])
            assert result.r_first == pytest.approx(float(row[f"{pair}.r"]), abs=1e-6)
            above = result.r_first > result.r_second
            # one gu-en system has no human score; the table's p-values let it into the
            # correlation of the metrics with each other (ours do not), with equal decisions
            theirs = williams_from_correlations(
                result.r_first, result.r_second, pearson(sides[1], sides[2]), result.n
            )
            assert pair == "gu-en" or theirs == result
            assert (theirs.p if above else 1) == pytest.approx(
                float(row[f"{pair}.williams_p"]), rel=1e-4
            )
            marks = sum(result.p < alpha for alpha in (0.05, 0.01, 0.001)) if above else 0
            assert "*" * marks == row[f"{pair}.sig"]
            compared += 1
    assert compared >= 10


def test_alternatives_mirror_each_other() -> None:
    generator = np.random.default_rng(0)
    human, a, b = generator.normal(size=(3, 12))
    greater, less = williams(human, a, b), williams(human, a, b, alternative="less")
    assert greater.p + less.p == pytest.approx(1)
    assert williams(human, b, a).p == pytest.approx(less.p)
    assert williams(human, a, b, alternative="two-sided").p == pytest.approx(
        2 * min(greater.p, less.p)
    )


def test_the_test_keeps_its_level_when_metrics_are_equally_good() -> None:
    generator = np.random.default_rng(1)
    rejected = 0
    for _ in range(400):
        human = generator.normal(size=15)
        a, b = human + generator.normal(size=(2, 15))
        rejected += williams(human, a, b).p <= 0.05
    assert 8 <= rejected <= 34  # 20 expected; mean plus or minus three deviations


def test_cells_without_all_three_scores_are_left_out() -> None:
    human = [1, 2, 3, 4, 5, NAN, 7, 8]
    a, b = [1, 3, 2, 4, 6, 5, 7, NAN], [2, 1, 3, NAN, 4, 5, 6, 8]
    kept = [0, 1, 2, 4, 6]
    whole = williams(human, a, b)
    assert whole == williams(*[[side[i] for i in kept] for side in (human, a, b)])
    assert whole.n == 5


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_three_points_say_nothing(n: int) -> None:
    assert math.isnan(williams(range(n), range(n), range(n)[::-1]).p)


def test_constant_scores_are_undefined() -> None:
    assert math.isnan(williams(range(6), [1] * 6, range(6)).p)


def test_a_metric_does_not_beat_itself_on_another_scale() -> None:
    human, a = [1, 2, 3, 4, 5], [1, 3, 2, 5, 4]
    same = williams(human, a, [10 * x + 1 for x in a])
    assert (same.t, same.p) == (0, pytest.approx(0.5))


def test_a_perfect_metric_beats_another() -> None:
    assert williams_from_correlations(1.0, 0.2, 0.2, 10).p < 1e-3


def test_unfit_arguments_are_refused() -> None:
    with pytest.raises(LengthMismatchError, match="three paired arrays"):
        williams([1, 2], [1, 2], [1])
    with pytest.raises(UnknownNameError, match="two-sided"):
        williams([1], [1], [1], alternative="better")
