"""Files of drawn segments: read as they were written, and refused with the line that is wrong."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from tests.data.formats.judged_sets import judged_set, written

from gnomon.core.errors import DataError, FormatError, UsageError
from gnomon.data.formats import Sample, SampledSegment, read_sample, write_sample

HEADER = "segment\tdocument\tinclusion\tstratum\tanalysis\trater"
SAMPLE = Sample(
    (
        SampledSegment(0, "d", 1 / 3, "news", 2, ("rater1",)),
        SampledSegment(1, "e", 0.1 + 0.2, "talk", 1, ("rater2", "rater1")),
        SampledSegment(2, "e", 1.0, "talk", 1, ("rater2", "rater1")),
    )
)


def test_what_is_written_is_read_again_to_the_last_digit(tmp_path: Path) -> None:
    write_sample(tmp_path / "sample.tsv", SAMPLE)
    testset = judged_set(documents=["d", "e", "e"])
    assert read_sample(tmp_path / "sample.tsv") == SAMPLE
    assert read_sample(tmp_path / "sample.tsv", testset) == SAMPLE


def test_two_columns_are_enough_and_the_test_set_tells_the_documents(tmp_path: Path) -> None:
    file = written(tmp_path, "s.tsv", "inclusion\tsegment", ".5\t3", "0.25\t1")
    assert read_sample(file) == Sample((SampledSegment(0, "", 0.25), SampledSegment(2, "", 0.5)))
    testset = judged_set(documents=["d", "e", "e"])
    assert [row.document for row in read_sample(file, testset).rows] == ["d", "e"]


def test_an_earlier_look_holds_its_share_of_the_documents() -> None:
    rows = [SampledSegment(n, f"d{n // 2}", 0.8, analysis=1 + n // 4) for n in range(8)]
    first = Sample(tuple(rows)).after(1)
    assert [row.segment for row in first.rows] == [0, 1, 2, 3]
    assert {row.inclusion for row in first.rows} == {0.4}
    assert Sample(tuple(rows)).after(2).rows == tuple(rows)
    with pytest.raises(
        UsageError, match="analysis 3 is not planned; the sample has analyses 1 to 2"
    ):
        Sample(tuple(rows)).after(3)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["1\td\t.5\t\t1\tr", "1\td\t.5\t\t1\tr"], "s.tsv:3: segment 1 stands in line 2, too"),
        (["0\td\t.5\t\t1\tr"], "s.tsv:2: segment is '0'; a whole number from 1 to 3 is expected"),
        (["4\te\t.5\t\t1\tr"], "s.tsv:2: segment is '4'; a whole number from 1 to 3 is expected"),
        (["x\te\t.5\t\t1\tr"], "s.tsv:2: segment is 'x'"),
        (["1\td\t0\t\t1\tr"], "s.tsv:2: inclusion is '0'; a probability above 0"),
        (["1\td\t1.01\t\t1\tr"], "s.tsv:2: inclusion is '1.01'; a probability above 0"),
        (["1\td\t\t\t1\tr"], "s.tsv:2: inclusion is ''; a probability above 0"),
        (["1\td\tmuch\t\t1\tr"], "s.tsv:2: inclusion is 'much'; a number is expected"),
        (["1\te\t.5\t\t1\tr"], "s.tsv:2: segment 1 is of the document 'd' in the test set"),
        (["2\te\t.5\t\t1\t", "3\te\t.5\t\t2\t"], "s.tsv:3: document 'e' is in analysis 2 here and"),
        (["1\td\t.5\t\t0\tr"], "s.tsv:2: analysis is '0'; a whole number from 1 is expected"),
        (["1\td\t.5\t\t2\tr"], "s.tsv:2: analysis 1 has no segment"),
        (["1\td\t.5\t\t1"], "s.tsv:2: 5 tab-separated fields; the header has 6"),
        ([], "s.tsv:1: has a header and no segment"),
    ],
)
def test_a_wrong_row_is_refused_with_its_line(rows: list[str], said: str, tmp_path: Path) -> None:
    file = written(tmp_path, "s.tsv", HEADER, *rows)
    with pytest.raises(FormatError) as refused:
        read_sample(file, judged_set(documents=["d", "e", "e"]))
    assert said in str(refused.value)


def test_a_column_that_must_be_there_is_named(tmp_path: Path) -> None:
    file = written(tmp_path, "s.tsv", "segment\tinclusion probability", "1\t.5")
    with pytest.raises(FormatError, match=r"s\.tsv:1: there is no column 'inclusion'"):
        read_sample(file)


def test_columns_that_nothing_reads_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = written(tmp_path, "s.tsv", "segment\tinclusion\tstrata", "1\t.5\tx")
    with caplog.at_level(logging.WARNING):
        read_sample(file)
    assert "columns that are not read: strata" in caplog.text


def test_a_document_whose_name_a_table_cannot_hold_is_refused(tmp_path: Path) -> None:
    sample = Sample((SampledSegment(0, "a\tb", 0.5),))
    with pytest.raises(DataError, match="cannot hold a tab"):
        write_sample(tmp_path / "s.tsv", sample)
    assert not (tmp_path / "s.tsv").exists()
