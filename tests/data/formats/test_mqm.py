from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.data.formats.judged_sets import judged_set, written

from gnomon.core.errors import DataError, FormatError, UsageError
from gnomon.data.formats import read_human

if TYPE_CHECKING:
    from pathlib import Path

HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
DOG, CAT, RAIN = "Der Hund schläft.", "Die Katze trinkt Milch.", "Es regnet."


def row(
    system: str, segment: int, rater: str, source: str, target: str, error: str, severity: str
) -> str:
    return "\t".join([system, "d", "1", str(segment), rater, source, target, error, severity])


ROWS = (
    row("alpha", 1, "r1", DOG, "The <v>dog</v> sleeps.", "Accuracy/Mistranslation", "Major"),
    row("alpha", 1, "r1", DOG, "The dog sleeps<v>.</v>", "Fluency/Punctuation", "Minor"),
    row("alpha", 1, "r2", DOG, "The dog sleeps.", "No-error", "No-error"),
    row("alpha", 3, "r2", "Es <v>regnet</v>.", "It rains.", "Accuracy/Omission", "minor"),
    row("beta", 1, "r1", DOG, "<v>A dog 🐕 is asleep.</v>", "Non-translation!", "Major"),
    row("beta", 2, "r1", CAT, "The cat drinks milk.", "Style/Awkward", "Neutral"),
)


def test_a_segment_costs_what_its_errors_weigh_and_raters_are_averaged(tmp_path: Path) -> None:
    file = written(tmp_path, "mqm.tsv", HEADER, *ROWS)
    testset = judged_set().with_human(file)
    np.testing.assert_allclose(
        testset.human_scores("mqm"),
        [[-5.1 / 2, np.nan, -1.0], [-25.0, 0.0, np.nan]],
    )
    np.testing.assert_allclose(testset.human_scores("mqm", rater="r1")[0], [-5.1, np.nan, np.nan])
    assert testset.human_raters("mqm") == ("r1", "r2")
    np.testing.assert_allclose(testset.human_scores("mqm", "system"), [(-5.1 / 2 - 1) / 2, -12.5])


def test_errors_are_half_open_spans_of_the_clean_text(tmp_path: Path) -> None:
    file = written(tmp_path, "mqm.tsv", HEADER, *ROWS)
    testset = judged_set()
    errors = read_human(file, testset).errors
    texts = [
        (testset.systems[e.system] if e.side == "candidate" else testset.sources or ())[e.segment]
        for e in errors
    ]
    marked = [text[e.start : e.end] for e, text in zip(errors, texts, strict=True)]
    assert marked == ["dog", ".", "regnet", "A dog 🐕 is asleep.", ""]
    assert [e.side for e in errors] == ["candidate"] * 2 + ["source"] + ["candidate"] * 2
    assert [e.score for e in errors] == [5.0, 0.1, 1.0, 25.0, 0.0]
    assert {e.kind for e in errors} == {"mqm"}


def test_weights_can_be_changed(tmp_path: Path) -> None:
    file = written(tmp_path, "mqm.tsv", HEADER, *ROWS)
    weights = {"Major": 10, "minor/Fluency": 2, "minor/fluency/punctuation": 0.5}
    scores = judged_set().with_human(file, weights=weights).human_scores("mqm", rater="r1")
    assert scores[0, 0] == -10.5
    with pytest.raises(UsageError, match="MQM weight of 'minor' is -1"):
        read_human(file, judged_set(), weights={"minor": -1})


def test_the_columns_of_the_viewer_are_read_alike(tmp_path: Path) -> None:
    header = HEADER.replace("doc_id\tseg_id", "doc_seg_id\tglobal_seg_id") + "\tmetadata"
    lines = [line + "\t{}" for line in ROWS]
    found = read_human(written(tmp_path, "viewer.tsv", header, *lines), judged_set())
    assert found == read_human(written(tmp_path, "mqm.tsv", HEADER, *ROWS), judged_set())


def test_fields_that_a_spreadsheet_quoted_are_told_by_the_text(tmp_path: Path) -> None:
    target = '"The cat ""<v>drinks</v>"" milk."'
    line = row("alpha", 2, "r1", CAT, target, "Style/Awkward", "Minor")
    file = written(tmp_path, "mqm.tsv", HEADER, line)
    [error] = read_human(file, judged_set()).errors
    assert (error.start, error.end) == (9, 15)


def test_a_number_that_is_not_the_test_sets_gives_way_to_the_text(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    line = row("alpha", 7, "r1", RAIN, "It <v>rains</v>.", "Style/Awkward", "Minor")
    file = written(tmp_path, "mqm.tsv", HEADER, line)
    testset = judged_set().with_human(file)
    assert testset.human_scores("mqm")[0, 2] == -1
    assert "1 segment numbers are not the test set's; placed by their texts" in caplog.text


def test_an_error_in_another_text_counts_but_has_no_place(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    line = row("alpha", 3, "r1", RAIN, "It <v>pours</v>.", "Style/Awkward", "Minor")
    spaces = row("alpha", 1, "r1", DOG, "The <v>dog</v>  sleeps .", "Style/Awkward", "Minor")
    testset = judged_set().with_human(written(tmp_path, "mqm.tsv", HEADER, line, spaces))
    assert testset.human_scores("mqm")[0, 2] == -1
    assert [(e.start, e.end) for e in testset.errors] == [(9, 9), (4, 7)]
    assert "1 errors are marked in a text that is not the test set's" in caplog.text


def test_planted_errors_are_left_out(tmp_path: Path) -> None:
    planted = row("alpha", 3, "r1", RAIN, "It rains.", "Found", "HOTW-test")
    found = read_human(written(tmp_path, "mqm.tsv", HEADER, *ROWS, planted), judged_set())
    assert found == read_human(written(tmp_path, "mqm.tsv", HEADER, *ROWS), judged_set())


def test_judged_systems_without_a_text_are_kept_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    human = row("ref-B", 1, "r1", DOG, "<v>Sleeping</v> dog.", "Style/Awkward", "Minor")
    file = written(tmp_path, "mqm.tsv", HEADER, *ROWS, human)
    testset = judged_set().with_human(file)
    assert "1 judged system(s) without a text in the test set, kept: ref-B" in caplog.text
    assert testset.human_scores("mqm").shape == (2, 3)
    assert testset.human_scores("mqm", systems=["ref-B"])[0, 0] == -1


def test_systems_may_be_called_otherwise(tmp_path: Path) -> None:
    file = written(tmp_path, "mqm.tsv", HEADER, *(r.replace("alpha", "Nemo") for r in ROWS))
    found = read_human(file, judged_set(), rename={"Nemo": "alpha"})
    assert found == read_human(written(tmp_path, "same.tsv", HEADER, *ROWS), judged_set())


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (row("alpha", 1, "r", DOG, "The dog sleeps.", "A", "Fatal"), "no MQM weight .*'Fatal'"),
        (row("alpha", 1, "r", "Nichts.", "Nothing.", "A", "Major"), "of no segment"),
        (
            row("alpha", 1, "r", DOG, "The dog sleeps.", "A", "Major").replace("\t1\tr", "\tx\tr"),
            "seg_id is 'x'",
        ),
        ("alpha\td", "2 tab-separated fields; the header has 9"),
    ],
)
def test_a_file_of_which_half_is_damaged_is_refused_with_file_and_line(
    tmp_path: Path, line: str, problem: str
) -> None:
    file = written(tmp_path, "mqm.tsv", HEADER, ROWS[0], line)
    with pytest.raises(FormatError, match=rf"mqm\.tsv:3: .*{problem}"):
        read_human(file, judged_set())


@pytest.mark.parametrize(
    "odd",
    [
        row("alpha", 1, "r", "Nichts.", "Nothing.", "A", "Major"),
        row("alpha", 1, "r", DOG, "The dog sleeps.", "A", "Major").replace("\t1\tr", "\tx\tr"),
        "alpha\td",
        "",
    ],
)
def test_an_odd_row_is_left_out_and_said(
    tmp_path: Path, odd: str, caplog: pytest.LogCaptureFixture
) -> None:
    found = read_human(written(tmp_path, "odd.tsv", HEADER, ROWS[0], odd, *ROWS[1:]), judged_set())
    assert "1 odd rows are left out; the first: " in caplog.text
    assert "odd.tsv:3: " in caplog.text
    assert found == read_human(written(tmp_path, "mqm.tsv", HEADER, *ROWS), judged_set())


def test_a_severity_without_a_penalty_is_refused_in_any_row(tmp_path: Path) -> None:
    line = row("alpha", 1, "r", DOG, "The dog sleeps.", "A", "Fatal")
    with pytest.raises(FormatError, match=r"mqm\.tsv:8: .*no MQM weight"):
        read_human(written(tmp_path, "mqm.tsv", HEADER, *ROWS, line), judged_set())


@pytest.mark.parametrize("target", ["The <v>dog sleeps.", "The dog</v> sleeps.", "The <v>d<v>og"])
def test_an_error_whose_marks_do_not_pair_up_counts_and_has_no_place(
    tmp_path: Path, target: str, caplog: pytest.LogCaptureFixture
) -> None:
    line = row("alpha", 1, "r1", DOG, target, "Accuracy", "Major")
    testset = judged_set().with_human(written(tmp_path, "mqm.tsv", HEADER, line))
    assert testset.human_scores("mqm")[0, 0] == -5
    assert [error.start == error.end for error in testset.errors] == [True]
    assert "1 errors have marks that do not pair up" in caplog.text
    assert "the first is in line 2" in caplog.text


def test_a_file_of_other_systems_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, "mqm.tsv", HEADER, ROWS[0].replace("alpha", "alpah"))
    with pytest.raises(DataError, match=r"none of its systems .*did you mean 'alpha'.*rename="):
        read_human(file, judged_set())


@pytest.mark.parametrize("comment", [(), ("comment",)])
def test_the_published_files_of_2021_are_told_by_their_header(
    tmp_path: Path, comment: tuple[str, ...]
) -> None:
    # google/wmt-mqm-human-evaluation: newstest2021 as it is, TED with a comment
    lines = ["\t".join([line, *comment]) for line in (HEADER, *ROWS)]
    file = written(tmp_path, "mqm_newstest2021_ende.tsv", *lines)
    testset = judged_set().with_human(file)
    assert testset.human_kinds() == ("mqm",)
    assert len(testset.errors) == len(ROWS) - 1
