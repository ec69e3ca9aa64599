from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.data.formats.judged_sets import SYSTEMS, judged_set, written

from gnomon import TestSet
from gnomon.core.errors import FormatError
from gnomon.core.spans import ErrorSpan
from gnomon.data.formats import read_human

if TYPE_CHECKING:
    from pathlib import Path


def error(start: int, end: int, score: float | None, **more: object) -> dict[str, object]:
    fixed: dict[str, object] = {"category": "Style/Awkward", "severity": "minor"}
    rest: dict[str, object] = {"score": score, "is_source_error": False}
    return {"start": start, "end": end} | fixed | rest | more


def rating(system: str, rater: str | None, *errors: dict[str, object]) -> str:
    return f"{system}\t{json.dumps({'errors': errors})}" + (f"\t{rater}" if rater else "")


LINES = (
    rating("alpha", "rater1", error(4, 7, 5.0, severity="major"), error(8, 14, 0.1)),
    "alpha\tNone",
    rating("alpha", "rater2"),
    "beta\tNone",
    rating("beta", "rater1", error(0, 3, None, is_source_error=True)),
    "beta\tNone",
)
NAME = "de-en.mqm.merged.seg.rating"


def test_a_rating_file_gives_scores_and_half_open_spans(tmp_path: Path) -> None:
    testset = judged_set().with_human(written(tmp_path, NAME, *LINES))
    assert testset.human_kinds() == ("mqm.merged",)
    np.testing.assert_allclose(testset.human_scores(), [[-5.1, np.nan, 0], [np.nan, -1, np.nan]])
    first, second, third = testset.errors
    assert SYSTEMS["alpha"][0][first.start : first.end] == "dog"
    assert (second.rater, second.score, second.kind) == ("rater1", 0.1, "mqm.merged")
    assert (third.side, third.system, third.segment, third.score) == ("source", "beta", 1, 1.0)


def test_a_rating_file_in_a_directory_of_mt_metrics_eval_is_read_and_written(
    tmp_path: Path,
) -> None:
    testset = judged_set().with_human(written(tmp_path, NAME, *LINES))
    testset.write(tmp_path / "set", layout="mt-metrics-eval")
    again = TestSet.read(tmp_path / "set/de-en")
    assert again.errors == testset.errors
    np.testing.assert_array_equal(again.human_scores(), testset.human_scores())
    # of a test set with fewer systems, the ratings of the others have no text, as their scores
    one = TestSet.read(tmp_path / "set/de-en", systems=["beta"])
    assert {e.system for e in one.errors} == {"alpha", "beta"}


def test_scores_of_a_score_file_are_not_doubled_by_ratings(tmp_path: Path) -> None:
    scored = judged_set().with_human(written(tmp_path, NAME, *LINES), kind="mqm")
    scored.write(tmp_path / "set", layout="mt-metrics-eval")
    file = tmp_path / "set/human-scores/de-en.mqm.seg.rating"
    file.rename(file.with_name(NAME))
    again = TestSet.read(tmp_path / "set/de-en")
    assert again.human_kinds() == ("mqm",)
    assert {e.kind for e in again.errors} == {"mqm.merged"}


def test_errors_of_two_raters_in_one_output_are_left_out_and_that_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    errors = tuple(ErrorSpan("alpha", 0, "candidate", 0, 3, "", "", r, "mqm") for r in ("a", "b"))
    testset = judged_set(errors=errors)
    testset.write(tmp_path / "set", layout="mt-metrics-eval")
    assert "the errors of the kind mqm are left out: segment 1 of alpha" in caplog.text


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("alpha", r":1: 1 tab-separated fields; SYSTEM, JSON \(or None\)"),
        ("alpha\t{", ":1: is not a JSON object"),
        ("alpha\t{}", ":1: unknown column or key 'errors'"),
        ('alpha\t{"errors": 1}', ":1: errors must be a list"),
        (
            rating("alpha", "r", error(4, 99, 1.0)),
            ":1: an error spans start 4 to end 99; .* <= 15",
        ),
        (rating("alpha", "r", error(4, 2, 1.0)), ":1: an error spans start 4 to end 2"),
        (rating("alpha", "r", error(0, 1, None, severity="odd")), ":1: there is no MQM weight"),
        (rating("alpha", "r", error(0, 1, 1.0) | {"score": "x"}), ":1: the penalty of an error is"),
    ],
)
def test_damaged_ratings_are_refused_with_file_and_line(
    tmp_path: Path, line: str, problem: str
) -> None:
    file = written(tmp_path, NAME, line, "alpha\tNone", "alpha\tNone")
    with pytest.raises(FormatError, match=rf"rating{problem}"):
        read_human(file, judged_set())


def test_a_missing_segment_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, NAME, *LINES[:5])
    with pytest.raises(FormatError, match="'beta' has 2 lines; 3 are expected, one per segment"):
        read_human(file, judged_set())
