"""What all formats share: telling them apart, score files, what is said of systems and segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.data.formats.judged_sets import judged_set, written

from gnomon import TestSet
from gnomon.core.errors import DataError, FormatError, UnknownNameError, UsageError
from gnomon.core.human import HumanScores
from gnomon.data.formats import JudgementFormat, formats_of, read_human, write_human

if TYPE_CHECKING:
    from pathlib import Path

SCORES = ("alpha\t-1.0", "alpha\tNone", "alpha\t-3.0", "gamma\t-2.0", "gamma\t0.0", "gamma\tNone")


def test_a_score_file_of_mt_metrics_eval_is_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    file = written(tmp_path, "de-en.mqm.seg.score", *SCORES)
    testset = judged_set().with_human(file)
    np.testing.assert_array_equal(
        testset.human_scores("mqm"), [[-1, np.nan, -3], [np.nan, np.nan, np.nan]]
    )
    np.testing.assert_array_equal(testset.human_scores("mqm", "system"), [-2, np.nan])
    assert testset.human_scores("mqm", "system", systems=["gamma"]).tolist() == [-1]
    assert "without a text in the test set, kept: gamma" in caplog.text
    assert "no judgement of: beta" in caplog.text


@pytest.mark.parametrize("level", ["system", "segment", "document", "domain"])
@pytest.mark.parametrize("name", ["k.LEVEL.tsv", "de-en.k.LEVEL.score"])
def test_scores_of_every_level_are_written_and_read_again(
    tmp_path: Path, level: str, name: str
) -> None:
    short = {"system": "sys", "segment": "seg", "document": "doc", "domain": "domain"}[level]
    items = {"document": ("d1", "d2"), "domain": ("news", "talk")}.get(level, ())
    width = {"system": 1, "segment": 3}.get(level, 2)
    values = np.arange(2.0 * width).reshape(2, width)
    values[0, width - 1] = np.nan
    scores = HumanScores("k", level, ("alpha", "beta"), values, items)
    parts = {"documents": ["d1", "d1", "d2"], "domains": ["news", "news", "talk"]}
    file = tmp_path / name.replace("LEVEL", short)
    write_human(file, judged_set(**parts, human=(scores,)), level=level)
    assert judged_set(**parts).with_human(file).human == (scores,)


def test_raters_are_written_and_read_again(tmp_path: Path) -> None:
    values = np.array([[1.0, np.nan, 3.0]])
    raters = tuple(
        HumanScores("k", "segment", ("alpha",), values + i, rater=f"r{i}") for i in (0, 1)
    )
    testset = judged_set(human=raters)
    write_human(tmp_path / "k.seg.tsv", testset)
    again = judged_set().with_human(tmp_path / "k.seg.tsv")
    assert again.human_raters("k") == ("r0", "r1")
    np.testing.assert_array_equal(again.human_scores("k")[0], [1.5, np.nan, 3.5])
    np.testing.assert_array_equal(again.human_scores("k", rater="r1")[0], [2, np.nan, 4])
    write_human(tmp_path / "x-y.k.seg.score", testset)
    mean = judged_set().with_human(tmp_path / "x-y.k.seg.score")
    np.testing.assert_array_equal(mean.human_scores("k"), again.human_scores("k"))


def test_raters_of_whole_systems_are_kept_apart_and_averaged(tmp_path: Path) -> None:
    rows = ("system\trater\tz", "alpha\tr1\t1", "alpha\tr2\t3", "beta\tr1\t5")
    testset = judged_set().with_human(written(tmp_path, "k.tsv", *rows))
    np.testing.assert_array_equal(testset.human_scores("da-z", "system"), [2, 5])
    np.testing.assert_array_equal(testset.human_scores("da-z", "system", rater="r2"), [3, np.nan])


def test_two_columns_of_one_kind_are_refused(tmp_path: Path) -> None:
    file = written(tmp_path, "k.tsv", "system\tseg\tmqm\tmqm_avg_score", "alpha\t1\t-1\t-2")
    with pytest.raises(FormatError, match="several columns hold scores of the kind 'mqm'"):
        judged_set().with_human(file)


def test_a_file_of_spans_of_our_own_is_read(tmp_path: Path) -> None:
    header = "system\tseg\tside\tstart\tend\tcategory\tseverity\tscore"
    file = written(tmp_path, "mqm.spans.tsv", header, "alpha\t1\tcandidate\t4\t7\tA\tminor\t1.0")
    [error] = read_human(file, judged_set()).errors
    assert (error.kind, error.start, error.end, error.score) == ("mqm", 4, 7, 1.0)


def test_judgements_of_one_kind_are_attached_once(tmp_path: Path) -> None:
    file = written(tmp_path, "de-en.mqm.seg.score", *SCORES)
    testset = judged_set().with_human(file)
    with pytest.raises(DataError, match=r"has 'mqm' scores at segment level already; .*kind="):
        testset.with_human(file)
    both = testset.with_human(read_human(file, testset, kind="mqm-2"))
    assert both.human_kinds() == ("mqm", "mqm-2")
    with pytest.raises(DataError, match="name one: mqm, mqm-2"):
        both.human_scores()
    with pytest.raises(UsageError, match="options are for a file"):
        testset.with_human(read_human(file, testset), kind="x")
    darr = written(tmp_path, "d.tsv", "seg\tbetter\tworse", "1\talpha\tbeta")
    with pytest.raises(DataError, match="rankings of the kind 'darr' already"):
        testset.with_human(darr).with_human(darr)


def test_a_format_can_be_named_where_the_file_does_not_tell(tmp_path: Path) -> None:
    file = written(tmp_path, "scores.txt", "model z", "alpha 1")
    found = read_human(file, judged_set(), format="table", kind="da")
    assert [(s.kind, s.level) for s in found.scores] == [("da-z", "system")]
    assert {"mqm", "table", "esa", "pearmut", "darr", "rr", "ratings"} <= {
        form.name for form in formats_of(JudgementFormat)
    }


def test_penalties_in_place_of_scores_are_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    read_human(written(tmp_path, "mqm.sys.tsv", "system\tmqm", "alpha\t1.5"), judged_set())
    assert "scores 'mqm' at system level are all positive and look like penalties" in caplog.text
    caplog.clear()
    read_human(written(tmp_path, "mqm.sys.tsv", "system\tmqm", "alpha\t-1.5"), judged_set())
    assert not caplog.text


def test_standard_input_is_refused() -> None:
    with pytest.raises(UsageError, match="not read from standard input"):
        read_human("-", judged_set())


@pytest.mark.parametrize(
    ("name", "lines", "problem"),
    [
        ("de-en.mqm.seg.score", SCORES[:2], "'alpha' has 2 scores; 3 are expected"),
        ("de-en.mqm.seg.score", ("alpha 1 2",), r"score:1: 3 fields; SYSTEM SCORE is expected"),
        ("de-en.mqm.seg.score", ("alpha x",) * 3, r"score:1: score is 'x'"),
        ("de-en.mqm.word.score", SCORES, "the name does not tell the level"),
        ("mqm.doc.score", SCORES, "is of documents, but the test set has none"),
    ],
)
def test_damaged_score_files_are_refused(
    tmp_path: Path, name: str, lines: tuple[str, ...], problem: str
) -> None:
    with pytest.raises(FormatError, match=problem):
        read_human(written(tmp_path, name, *lines), judged_set())


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    testset = judged_set(human=(HumanScores("k", "segment", ("alpha",), np.ones((1, 3))),))
    with pytest.raises(UnknownNameError, match="unknown format to write human judgements in 'rr'"):
        write_human(tmp_path / "x.csv", testset, format="rr")
    with pytest.raises(UnknownNameError, match=r"unknown suffix .*'\.xml'"):
        write_human(tmp_path / "x.xml", testset)
    with pytest.raises(UnknownNameError, match="unknown kind of human segment scores 'j'"):
        write_human(tmp_path / "x.tsv", testset, "j")
    with pytest.raises(DataError, match="has no human system scores"):
        write_human(tmp_path / "x.tsv", testset, level="system")


def test_shared_judgements_are_read_file_by_file_as_by_directory(shared: Path) -> None:
    for name in ("wmt17/cs-en", "wmt19/kk-en", "wmt21/en-de"):
        folder = shared / "data" / name
        whole = TestSet.read(folder)
        bare = TestSet(whole.name, whole.references, whole.systems, whole.sources)
        for file in sorted((folder / "human").iterdir()):
            bare = bare.with_human(file)
        assert bare.rankings == whole.rankings
        assert bare.human_kinds() == whole.human_kinds()
        for human in whole.human:
            np.testing.assert_array_equal(
                bare.human_scores(human.kind, human.level),
                whole.human_scores(human.kind, human.level),
            )


def test_shared_system_scores_are_the_means_of_the_segment_scores(shared: Path) -> None:
    testset = TestSet.read(shared / "data/wmt21/en-de")
    given = testset.human_scores("mqm", "system")
    derived = TestSet(
        testset.name,
        testset.references,
        testset.systems,
        human=tuple(h for h in testset.human if h.level == "segment"),
    ).human_scores("mqm", "system")
    np.testing.assert_allclose(derived, given, atol=1e-6)  # the file has six decimals
    assert np.isfinite(given).sum() == 8


def test_shared_rankings_contradict_one_another_as_described(
    shared: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    testset = TestSet.read(shared / "data/wmt19/kk-en")
    read_human(shared / "data/wmt19/kk-en/human/darr.seg.tsv", testset)
    # the README of the shared data: 4 contradictory and 3 repeated rows
    assert "3 judgements are repetitions and 4 contradict one another" in caplog.text
    pairs = testset.ranking().pairs(list(testset.systems))
    assert (len(pairs.segment), pairs.left_out) == (9728, 0)
