from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data.formats.judged_sets import judged_set, written

from gnomon.core.errors import DataError, FormatError, GnomonError, UnknownNameError, UsageError
from gnomon.data.formats import read_human
from gnomon.data.formats.direct_assessment import standardised

if TYPE_CHECKING:
    from pathlib import Path

# the headers as in WMT 2021's humaneval/newstest2021-toen; rows stand between tabs and spaces there
HITS = "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time"


def hit(
    worker: str, system: str, kind: str, segment: object, score: float, pair: str = "de\ten"
) -> str:
    return f'H\t{worker}\t{pair} ad NA\t"{system}" 100 {kind}\t{segment}\t{score}\t0 '


RAW = (
    hit("w1", "alpha", "SYSTEM", 1, 80),
    hit("w1", "alpha", "REPEAT", 1, 90),
    hit("w1", "beta", "SYSTEM", 1, 40),
    hit("w1", "beta", "BAD_REF", 1, 10),
    hit("w2", "alpha", "SYSTEM", 1, 55),
    hit("w2", "beta", "SYSTEM", 3, 45),
)


def test_a_segments_score_is_the_mean_of_all_its_judgements(tmp_path: Path) -> None:
    testset = judged_set().with_human(written(tmp_path, "ad-good-raw.csv", HITS, *RAW))
    np.testing.assert_allclose(
        testset.human_scores("da-raw"), [[75, np.nan, np.nan], [40, np.nan, 45]]
    )
    assert testset.human_raters("da-raw") == ("w1", "w2")
    assert testset.human_scores("da-raw", rater="w1")[0, 0] == 85


def test_raw_scores_are_standardised_per_rater_over_all_that_the_rater_judged(
    tmp_path: Path,
) -> None:
    testset = judged_set().with_human(written(tmp_path, "ad-good-raw.csv", HITS, *RAW))
    one, two = [80.0, 90.0, 40.0, 10.0], [55.0, 45.0]

    def z(score: float, scores: list[float]) -> float:
        return (score - statistics.mean(scores)) / statistics.stdev(scores)

    expected = (z(80, one) + z(90, one) + z(55, two)) / 3
    np.testing.assert_allclose(testset.human_scores("da-z")[0, 0], expected)
    np.testing.assert_allclose(testset.human_scores("da-z")[1, 2], z(45, two))


def test_the_published_standardisation_is_met() -> None:
    # WMT 2021 de-en: rater M0427 has mean 85.98876 and sd 19.21481 (ad-deen-trk-mean-sd.txt), and
    # 98 points became .625103240677373 (ad-deen-good-stnd-redup.csv)
    assert pytest.approx(0.625103240677373, abs=2e-7) == (98 - 85.98876) / 19.21481
    values = np.array([10.0, 20.0, 60.0])
    np.testing.assert_allclose(standardised(values), (values - 30) / np.sqrt(700))


@given(st.lists(st.integers(0, 100), min_size=2).filter(lambda v: len(set(v)) > 1))
def test_standardised_scores_have_mean_0_and_deviation_1(values: list[int]) -> None:
    z = standardised(np.array(values, dtype=np.float64))
    assert np.mean(z) == pytest.approx(0, abs=1e-9)
    assert np.std(z, ddof=1) == pytest.approx(1)


def test_a_rater_without_spread_has_no_z_scores(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = (*RAW, hit("lazy", "beta", "SYSTEM", 2, 50), hit("lazy", "beta", "SYSTEM", 2, 50))
    testset = judged_set().with_human(written(tmp_path, "ad-good-raw.csv", HITS, *rows))
    assert np.isnan(testset.human_scores("da-z")[1, 1])
    assert testset.human_scores("da-raw")[1, 1] == 50
    assert "1 rater(s) gave one score only or always the same" in caplog.text


def test_a_file_that_is_standardised_already_stays_as_it_is(tmp_path: Path) -> None:
    rows = (hit("w1", "alpha", "SYSTEM", 1, -0.5), hit("w1", "beta", "SYSTEM", 1, 0.5))
    testset = judged_set().with_human(written(tmp_path, "ad-deen-good-stnd.csv", HITS, *rows))
    assert testset.human_kinds() == ("da-z",)
    np.testing.assert_array_equal(testset.human_scores()[:, 0], [-0.5, 0.5])


def test_rows_of_other_language_pairs_are_left_out(tmp_path: Path) -> None:
    rows = (*RAW, hit("w9", "gamma", "SYSTEM", 1, 5, pair="de\tfr"))
    found = read_human(written(tmp_path, "raw.csv", HITS, *rows), judged_set())
    assert found == read_human(written(tmp_path, "own.csv", HITS, *RAW), judged_set())
    with pytest.raises(UnknownNameError, match=r"unknown language pair of .*'cs-en'"):
        read_human(tmp_path / "raw.csv", judged_set(), language_pair="cs-en")
    with pytest.raises(DataError, match="holds several language pairs: de-en, de-fr"):
        read_human(tmp_path / "raw.csv", judged_set(language_pair=None))


def test_segment_means_are_read_in_both_published_forms(tmp_path: Path) -> None:
    new = written(
        tmp_path,
        "ad-seg-scores-de-en.csv",
        "SYS SID RAW.SCR Z.SCR N ",
        "alpha 1 95 1.25 4 ",
        "beta 3 88.5 -0.5 2 ",
    )
    header = "SRC TRG HIT N.raw N.z SID SYS RAW.SCR Z.SCR"
    old = written(
        tmp_path,
        "DA-seglevel.csv",
        header,
        "de en h 4 4 1 newstest2016.alpha.de-en 95 1.25",
        header,
        "de en h 4 4 3 beta 88.5 -0.5",
        "cs en h 4 4 3 gamma 8 -2",
    )
    for file in (new, old):
        testset = judged_set().with_human(file)
        np.testing.assert_array_equal(
            testset.human_scores("da-z"), [[1.25, np.nan, np.nan], [np.nan, np.nan, -0.5]]
        )
        assert testset.human_scores("da-raw")[1, 2] == 88.5


def test_a_name_of_two_systems_with_one_output_scores_both(tmp_path: Path) -> None:
    file = written(tmp_path, "s.csv", "SYS SID RAW.SCR Z.SCR N", "beta+alpha 2 70 0.5 1")
    np.testing.assert_array_equal(judged_set().with_human(file).human_scores("da-z")[:, 1], 0.5)


def test_system_means_are_read_in_both_published_forms(tmp_path: Path) -> None:
    ranking = written(
        tmp_path, "ad-sys-ranking-de-en-z.csv", "71.9 0.126 944 1266 beta ", "70 0.1 9 9 alpha "
    )
    testset = judged_set().with_human(ranking)
    np.testing.assert_array_equal(testset.human_scores("da-z", "system"), [0.1, 0.126])
    np.testing.assert_array_equal(testset.human_scores("da-raw", "system"), [70, 71.9])
    means = written(
        tmp_path, "DA-syslevel.csv", "LP HUMAN SYSTEM", "de-en 0.126 beta", "cs-en 1 gamma"
    )
    found = judged_set().with_human(means).human_scores("da-z", "system")
    np.testing.assert_array_equal(found, [np.nan, 0.126])


def test_a_plain_table_is_told_by_its_columns(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        "da.csv",
        "Annotator,System,Segment,Raw",
        "a,alpha,1,10",
        "a,alpha,2,30",
        "b,alpha,1,50",
        "b,beta,1,70",
    )
    testset = judged_set().with_human(file)
    np.testing.assert_array_equal(testset.human_scores("da-raw")[0], [30, 30, np.nan])
    half = np.sqrt(0.5)
    np.testing.assert_allclose(testset.human_scores("da-z")[0], [-half, half, np.nan])
    np.testing.assert_allclose(testset.human_scores("da-z")[1, 0], half)


def test_published_means_of_mqm_are_a_table_too(tmp_path: Path) -> None:
    # the header of google/wmt-mqm-human-evaluation's mqm_*.avg_seg_scores.tsv
    file = written(
        tmp_path,
        "mqm_newstest2021_ende.avg_seg_scores.tsv",
        "system mqm_avg_score seg_id",
        "alpha\t-5.000000 1",
        "alpha\tNone 2",
    )
    testset = judged_set().with_human(file)
    np.testing.assert_array_equal(testset.human_scores("mqm")[0], [-5, np.nan, np.nan])


def test_a_missing_score_of_a_table_is_missing(tmp_path: Path) -> None:
    file = written(tmp_path, "k.seg.tsv", "system\tseg\tscore", "alpha\t1\t", "beta\t2\tnan")
    testset = judged_set().with_human(file)
    assert testset.human_kinds() == ("k",)
    assert np.isnan(testset.human_scores("k")).all()


@pytest.mark.parametrize(
    ("name", "lines", "problem"),
    [
        (
            "a.csv",
            (HITS, RAW[0].replace("SYSTEM", "SYS")),
            r"a\.csv:2: type is 'SYS'; one of SYSTEM",
        ),
        ("a.csv", (HITS, RAW[0].replace("80", "high")), r"a\.csv:2: score is 'high'; a number"),
        (
            "a.csv",
            (HITS, RAW[0].replace("\t1\t80", "\tde-en-0.1_1\t80")),
            r"segment is 'de-en-0\.1_1'",
        ),
        ("a.csv", (HITS, RAW[0].replace("\t1\t80", "\t4\t80")), "from 1 to 3 is expected"),
        ("a.csv", (HITS, "H w1 de en"), r"a\.csv:2: 4 fields; 12 are expected"),
        (
            "t.tsv",
            ("system\tseg\tz", "alpha\t1\t1", "alpha\t1\t2"),
            r"t\.tsv:3: a second .* line 2",
        ),
        ("t.tsv", ("system\tz", "alpha\t1", "alpha\t1"), r"t\.tsv:3: a second score"),
        ("t.tsv", ("system\tseg\ta\tb", "alpha\t1\tx\ty"), r"t\.tsv:1: .*which column holds the"),
        ("t.csv", ("system,seg,z", 'alpha,1,"2'), r"t\.csv:2: is not a row of a comma-separated"),
        ("t.csv", ("system,seg,z", f"alpha,{'9' * 5000},1"), r"t\.csv:2: segment is '9999"),
        ("t.csv", ("system,seg,z", "alpha,1"), r"t\.csv:2: 2 fields; 3 are expected"),
        ("s.csv", ("SYS SID RAW.SCR Z.SCR N", "alpha 1 9 1 1", "alpha 1 9 1 1"), "a second score"),
        ("x.tsv", ("what is this",), "is of no known format of human judgements.*esa: .*mqm: "),
        ("x.tsv", ("",), "is of no known format"),
    ],
)
def test_damaged_files_are_refused_with_file_and_line(
    tmp_path: Path, name: str, lines: tuple[str, ...], problem: str
) -> None:
    with pytest.raises(FormatError, match=problem):
        read_human(written(tmp_path, name, *lines), judged_set())


def test_wrong_requests_say_what_is_allowed(tmp_path: Path) -> None:
    file = written(tmp_path, "t.tsv", "system\tseg\tz", "alpha\t1\t1")
    with pytest.raises(UnknownNameError, match=r"unknown format .*'tabel'; did you mean 'table'"):
        read_human(file, judged_set(), format="tabel")
    with pytest.raises(UsageError, match="weights does not belong to the format table"):
        read_human(file, judged_set(), weights={"major": 1})
    with pytest.raises(UsageError, match="first_segment is 2; 0, 1 or None"):
        read_human(file, judged_set(), first_segment=2)
    with pytest.raises(UnknownNameError, match=r"system \(in rename\) 'gamma'"):
        read_human(file, judged_set(), rename={"x": "gamma"})
    with pytest.raises(GnomonError, match="there is no file"):
        read_human(tmp_path / "none.tsv", judged_set())


# Appraise's export: user, system, item, type, languages, score[, document, whole][, spans], times
def exported(user: str, system: str, item: int, kind: str, score: int, document: str) -> str:
    return f"{user},{system},{item},{kind},deu,eng,{score},{document},False,1.5,2.5"


APPRAISE = (
    exported("u1", "alpha", 1, "TGT", 60, "d1"),
    exported("u1", "alpha", 2, "TGT", 80, "d1"),
    exported("u1", "alpha", 2, "BAD", 5, "d1#bad"),
    exported("u2", "beta", 3, "TGT", 30, "d2"),
    exported("u2", "beta", 1, "TGT", 50, "d1"),
    "u2,beta,3,TGT,deu,eng,44,d2,True,1.5,2.5",
    "u2,tutorial,100001,TGT,deu,eng,0,deen-tutorial1,False,1.5,2.5",
)


def test_exports_of_appraise_are_read(tmp_path: Path) -> None:
    file = written(tmp_path, "wmt.scores.csv", *APPRAISE)
    testset = judged_set(documents=["d1", "d1", "d2"]).with_human(file)
    np.testing.assert_array_equal(
        testset.human_scores("da-raw"), [[60, 80, np.nan], [50, np.nan, 30]]
    )
    assert testset.human_scores("da-z")[0, 1] == pytest.approx(np.sqrt(0.5))


def test_numbers_that_could_count_from_0_or_1_are_refused(tmp_path: Path) -> None:
    file = written(tmp_path, "wmt.scores.csv", *APPRAISE)
    with pytest.raises(UsageError, match="first_segment=0 or 1"):
        read_human(file, judged_set())
    assert read_human(file, judged_set(), first_segment=1).scores
    short = written(tmp_path, "old.csv", "u,alpha,0,TGT,deu,eng,50,1.5,2.5")
    assert read_human(short, judged_set(), first_segment=0).scores[0].values[0, 0] == 50


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("u1,alpha,1,TGT,deu,eng,60", "7 comma-separated fields; 9, 11, 12 are expected"),
        (APPRAISE[0].replace("TGT", "OUT"), "type is 'OUT'"),
        (APPRAISE[0].replace(",60,", ",good,"), "score is 'good'"),
    ],
)
def test_damaged_exports_are_refused_with_file_and_line(
    tmp_path: Path, line: str, problem: str
) -> None:
    file = written(tmp_path, "wmt.scores.csv", APPRAISE[1], line)
    with pytest.raises(FormatError, match=rf"wmt\.scores\.csv:2: .*{problem}"):
        read_human(file, judged_set(), first_segment=1)
