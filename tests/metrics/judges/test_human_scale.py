"""Judges carried over to people's scale: figures by hand, what is saved, what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.metrics.judges.test_metric import numbers, sets, spec
from tests.told import notes

import gnomon as gn
from gnomon.cli import main
from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.core.human import HumanScores
from gnomon.judges import predict_left_out

if TYPE_CHECKING:
    from pathlib import Path

    from tests.metrics.judges.chat_server import Chat


def judged_set(judge: list[int], people: list[float], kind: str = "esa") -> gn.TestSet:
    """One system whose outputs say what the judge will; and people's scores."""
    ts = sets(a=[f"text {n}" for n in judge])
    return replace(ts, human=(HumanScores(kind, "segment", ("a",), np.array([people])),))


def test_figures_are_those_of_a_fit_without_the_output(chat: Chat) -> None:
    chat.reply = numbers
    draw = np.random.default_rng(3)
    judge = draw.integers(10, 90, 40)
    people = np.clip(20 + 0.7 * judge + draw.normal(0, 5, 40), 0, 100)
    found = gn.judges.calibrate(judged_set(judge.tolist(), people.tolist()), spec(chat))
    (row,) = found.rows
    slope, at_0 = np.polyfit(judge, people, 1)
    assert (row["slope"], row["intercept"]) == (pytest.approx(slope), pytest.approx(at_0))
    assert row["r"] == pytest.approx(np.corrcoef(judge, people)[0, 1])
    assert row["raw"] == pytest.approx(np.abs(people - judge).mean())
    near, mean = [], []
    for n in range(40):
        x, y = np.delete(judge, n), np.delete(people, n)
        near.append(abs(np.polyval(np.polyfit(x, y, 1), judge[n]) - people[n]))
        mean.append(abs(y.mean() - people[n]))
    assert row["calibrated"] == pytest.approx(np.mean(near))
    assert row["by_mean"] == pytest.approx(np.mean(mean))
    assert row["gain"] == pytest.approx(np.mean(mean) - np.mean(near))
    assert row["low"] < row["gain"] < row["high"]
    assert found.verdict[0].level == "finding"
    assert "is nearer to people (esa) than their mean, by " in str(found.verdict[0])
    points = found.table("points").rows
    assert [point["judge"] for point in points] == judge.tolist()
    assert (chat.answered, chat.most) == (40, 1)


@pytest.mark.parametrize("draws", [40, pytest.param(400, marks=pytest.mark.verify)])
def test_a_judge_that_says_nothing_is_seldom_called_nearer(draws: int) -> None:
    from gnomon.stats.student import mean_test

    called = 0
    for seed in range(draws):
        x, y = np.random.default_rng(seed).normal(50, 20, (2, 50))
        others = (y.sum() - y) / 49
        gains = np.abs(y - others) - np.abs(y - predict_left_out(x, y))
        called += mean_test(gains.tolist())[2] <= 0.05 and gains.mean() > 0
    assert called <= 0.05 * draws


def test_the_outputs_that_were_drawn_calibrate_the_judge_elsewhere(
    chat: Chat, tmp_path: Path
) -> None:
    chat.reply = numbers
    ts = judged_set([10, 20, 30, 40, 50, 60], [25, 45, 65, 85, 100, 100])
    file = tmp_path / "people.tsv"
    found = gn.judges.calibrate(ts, spec(chat), items=4, seed=2, save=file)
    asked = chat.answered
    assert (found.rows[0]["outputs"], asked) == (4, 4)
    judge = spec(chat, calibration=str(file))
    scores = gn.score(sets(s=["text 0", "text 1"]), judge).segments[0]
    row = found.rows[0]
    assert scores.tolist() == pytest.approx([row["intercept"], row["intercept"] + row["slope"]])
    assert chat.answered == asked + 2  # the outputs of the file were asked about before


def test_a_rubric_that_counts_faults_is_turned(chat: Chat, tmp_path: Path) -> None:
    rubric = tmp_path / "faults.toml"
    rubric.write_text(
        'answer = "score"\nhigher_is_better = false\nquestion = "Count faults:\\n{candidate}"\n'
    )
    chat.reply = numbers
    ts = judged_set([10, 20, 30, 40], [90, 80, 70, 60])
    file = tmp_path / "people.tsv"
    (row,) = gn.judges.calibrate(ts, spec(chat, str(rubric)), save=file).rows
    assert (row["intercept"], row["slope"]) == (pytest.approx(100), pytest.approx(-1))
    scores = gn.score(sets(s=["text 25"]), spec(chat, str(rubric), calibration=str(file)))
    assert scores.higher_is_better
    assert scores.segments.tolist() == [[pytest.approx(75)]]


def test_a_judge_that_contradicts_people_is_said_not_to_fit(chat: Chat) -> None:
    chat.reply = numbers
    found = gn.judges.calibrate(judged_set([10, 20, 30, 40], [90, 80, 70, 60]), spec(chat))
    (row,) = found.rows
    assert (row["slope"], row["calibrated"], row["gain"]) == (None, None, None)
    assert found.verdict[0].level == "caution"
    assert "fall as people's rise" in notes(found.notices)[0]


def test_what_cannot_be_calibrated_is_refused(chat: Chat, tmp_path: Path) -> None:
    ts = judged_set([10, 20, 30], [1, 2, 3])
    file = tmp_path / "people.tsv"
    gn.judges.calibrate(replace(ts), spec(chat), save=file)
    with pytest.raises(UsageError, match="has no calibration yet"):
        gn.judges.calibrate(ts, spec(chat, calibration=str(file)))
    with pytest.raises(UsageError, match="'chrf' is no judge"):
        gn.judges.calibrate(ts, "chrf")
    with pytest.raises(UnknownNameError, match="mqm"):
        gn.judges.calibrate(ts, spec(chat), human="mqm")
    with pytest.raises(DataError, match="people scored no segment"):
        gn.judges.calibrate(replace(ts, human=()), spec(chat))
    with pytest.raises(DataError, match="people scored 2 outputs"):
        gn.judges.calibrate(judged_set([1, 2], [1, 2]), spec(chat))
    with pytest.raises(UsageError, match="one judge and one kind"):
        gn.judges.calibrate(ts, [spec(chat), spec(chat, "gemba-sqm")], save=file)
    tab = replace(ts, sources=["a\tb", "c", "d"])
    with pytest.raises(DataError, match="a tab or a line end"):
        gn.judges.calibrate(tab, spec(chat), save=file)


def test_the_command_calibrates_and_saves(
    chat: Chat, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chat.reply = numbers
    judged_set([10, 20, 30, 40], [12, 18, 33, 41]).write(tmp_path / "set")
    given = ["-t", str(tmp_path / "set"), "-m", spec(chat), "--save", str(tmp_path / "p.tsv")]
    assert main(["judges", "calibrate", *given]) == 0
    assert "Judges' scores on people's scale" in capsys.readouterr().out
    assert (tmp_path / "p.tsv").read_text().startswith("candidate\tsource\tscore\n")


def test_people_who_calibrated_a_judge_do_not_judge_it(chat: Chat, tmp_path: Path) -> None:
    chat.reply = numbers
    ts = judged_set([10, 20, 30, 40, 50, 60], [25, 45, 65, 85, 100, 100])
    file = tmp_path / "people.tsv"
    gn.judges.calibrate(ts, spec(chat), items=4, save=file)
    judge = spec(chat, calibration=str(file))
    assert gn.score(ts, judge).informed_by == ("esa",)
    assert gn.score(sets(s=["another 7"]), judge).informed_by == ()
    assert gn.score(ts, spec(chat)).informed_by == ()
