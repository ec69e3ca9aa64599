from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.data.formats.judged_sets import judged_set, written

from gnomon.core.errors import DataError, FormatError, UnknownNameError
from gnomon.core.human import Ranking
from gnomon.data.formats import read_human

if TYPE_CHECKING:
    from pathlib import Path

ROWS = ((0, "alpha", "beta"), (2, "beta", "alpha"))


@pytest.mark.parametrize(
    "lines",
    [
        ("seg\tbetter\tworse", "1\talpha\tbeta", "3\tbeta\talpha"),
        (
            "LP DATA SID BETTER WORSE",
            "de-en n 1 alpha beta",
            "cs-en n 9 x y",
            "de-en n 3 beta alpha",
        ),
        # WMT 2018's header lacks a name
        ("LP SID BETTER WORSE", "de-en n 1 alpha beta", "de-en n 3 beta alpha"),
        # WMT 2020 has the difference of the scores behind
        ("LP DATA SID BETTER WORSE DIFF", "de-en n 1 alpha beta 30", "de-en n 3 beta alpha 99"),
    ],
)
def test_pairs_are_read_in_every_published_form(tmp_path: Path, lines: tuple[str, ...]) -> None:
    testset = judged_set().with_human(written(tmp_path, "DArr-seglevel.csv", *lines))
    assert testset.ranking() == Ranking("darr", ROWS)


def test_rankings_are_indices_into_the_systems_that_one_asks_for(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        "d.tsv",
        "seg\tbetter\tworse",
        "1\talpha\tbeta",
        "3\tgamma\talpha",
        "3\tbeta\talpha",
    )
    ranking = judged_set().with_human(file).ranking("darr")
    pairs = ranking.pairs(["beta", "alpha"])
    assert pairs.segment.tolist() == [0, 2]
    assert pairs.better.tolist() == [1, 0]
    assert pairs.worse.tolist() == [0, 1]
    assert pairs.left_out == 1
    assert ranking.systems == ("alpha", "beta", "gamma")
    assert ranking.pairs([]).segment.shape == (0,)


def test_repeated_and_contradictory_pairs_count_and_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    lines = ("1\talpha\tbeta", "1\talpha\tbeta", "1\tbeta\talpha", "2\talpha\tbeta")
    file = written(tmp_path, "d.tsv", "seg\tbetter\tworse", *lines)
    assert len(read_human(file, judged_set()).rankings[0].rows) == 4
    assert "1 judgements are repetitions and 3 contradict one another" in caplog.text


# the header that Appraise wrote for WMT 2013 to 2016
RR = (
    "srclang,trglang,srcIndex,documentId,segmentId,judgeId,system1Number,system1Id,system2Number,"
    "system2Id,system3Number,system3Id,system1rank,system2rank,system3rank"
)


def test_ranks_become_all_pairs_of_unequal_rank(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    file = written(
        tmp_path,
        "wmt.csv",
        RR,
        "deu,eng,2,doc,2,judge1,1,newstest2014.alpha.de-en,2,beta,3,gamma,2,1,2",
        "deu,eng,3,doc,3,judge2,1,alpha,2,beta,3,gamma,1,-1,5",
        "cze,eng,3,doc,3,judge2,1,delta,2,beta,3,gamma,1,-1,5",
    )
    [ranking] = read_human(file, judged_set()).rankings
    assert set(ranking.rows) == {
        (1, "beta", "alpha"),
        (1, "beta", "gamma"),
        (2, "alpha", "gamma"),
    }
    assert ranking.raters == ("judge1", "judge1", "judge2")
    assert "1 pairs were ranked alike" in caplog.text


def test_ranks_of_two_systems_are_read_too(tmp_path: Path) -> None:
    header = (
        "srclang,trglang,srcIndex,segmentId,judgeID,system1Id,system1rank,system2Id,system2rank,"
        "rankingID"
    )
    file = written(tmp_path, "wmt16.csv", header, "ger,eng,1,1,j,alpha,5,beta,3,1")
    assert judged_set().with_human(file).ranking("rr").rows == ((0, "beta", "alpha"),)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (("seg\tbetter\tworse", "4\talpha\tbeta"), r"d\.csv:2: segment is '4'.*from 1 to 3"),
        (("LP DATA SID BETTER WORSE", "de-en n 1 alpha"), r"d\.csv:2: 4 fields; 5 are expected"),
        (
            (RR, "deu,eng,2,doc,2,j,1,alpha,2,beta,3,gamma,first,1,2"),
            r"d\.csv:2: system1rank is 'first'",
        ),
    ],
)
def test_damaged_rankings_are_refused_with_file_and_line(
    tmp_path: Path, lines: tuple[str, ...], problem: str
) -> None:
    with pytest.raises(FormatError, match=problem):
        read_human(written(tmp_path, "d.csv", *lines), judged_set())


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    raters = ("r1", "r2")
    testset = judged_set(rankings=(Ranking("darr", ROWS, raters),))
    testset.write(tmp_path / "set")
    assert type(testset).read(tmp_path / "set").rankings == testset.rankings


def test_rankings_are_asked_for_by_kind() -> None:
    with pytest.raises(DataError, match=r"has no rankings; attach .*TestSet\.with_human"):
        judged_set().ranking()
    testset = judged_set(rankings=(Ranking("a", ROWS), Ranking("b", ())))
    with pytest.raises(DataError, match="several kinds of rankings; name one: a, b"):
        testset.ranking()
    with pytest.raises(UnknownNameError, match="unknown kind of rankings 'c'"):
        testset.ranking("c")
    with pytest.raises(DataError, match="2 judgements, but 1 raters"):
        Ranking("a", ROWS, ("r",))
