"""Human scores beyond their scale, and human scores that are given twice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.data.formats.judged_sets import SOURCES, SYSTEMS, judged_set, written
from tests.data.formats.published_sets import (
    eval4nlp_files,
    fill,
    mlqe_files,
    mlqe_table,
    realsumm_object,
    summeval_lines,
)
from tests.data.formats.test_human_damaged import WHOLE
from tests.data.formats.test_quality_estimation import RATED, rated

from gnomon import TestSet
from gnomon.core.errors import DataError, FormatError, UsageError
from gnomon.core.human import HumanScores, Ranking
from gnomon.data.formats import read_human

if TYPE_CHECKING:
    from pathlib import Path

HITS = "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time"


def hit(score: object, worker: str = "w", segment: int = 1) -> str:
    return f"h {worker} de en ad 1 alpha 1 SYSTEM {segment} {score} 1"


def damaged(form: str, old: str, new: str) -> tuple[str, str]:
    """A file of a format by name, with one score replaced."""
    name, text = WHOLE[form]
    assert old in text
    return name, text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        (
            "esa.seg.tsv",
            "system\tseg\tesa\nalpha\t1\t1e20\n",
            r"tsv:2: the esa score is 1e\+20; from 0",
        ),
        ("esa.sys.tsv", "system\tesa\nalpha\t-1\n", r"tsv:2: the esa score is -1; from 0 to 100"),
        ("t.tsv", "system\tseg\tsqm\nalpha\t1\t101\n", "from 0 to 100 is expected"),
        ("mqm.seg.tsv", "system\tseg\tmqm\nalpha\t1\t-1e20\n", "from -10000 to 10000"),
        ("da-z.seg.tsv", "system\tseg\tz\nalpha\t1\t1e20\n", r"from -1e\+06 to 1e\+06"),
        ("t.tsv", "system\tseg\trater\traw\nalpha\t1\tr\t100.5\n", "the da-raw score is 100.5"),
        ("h.csv", f"{HITS}\n{hit(50)}\n{hit(1e20)}\n", r"csv:3: the da-raw score is 1e\+20"),
        (
            "h.csv",
            f"{HITS}\n{hit(50)}\n{hit(-72)}\n",
            r"csv:3: score is -72, and in line 2 it is 50",
        ),
        (*damaged("wmt-da-seg", "50", "500"), r"s\.csv:2: the da-raw score is 500"),
        (*damaged("wmt-da-sys", "71.9", "719"), r"y\.csv:1: the da-raw score is 719"),
        (*damaged("appraise", ",50,", ",500,"), r"a\.csv:1: the esa score is 500"),
        (
            *damaged("pearmut", '"score": 1', '"score": 1e20'),
            r"p\.jsonl:1: the esa score is 1e\+20",
        ),
        (*damaged("esa", '"esa_score": 1', '"esa_score": -1'), r"e\.jsonl:1: the esa score is -1"),
        (*damaged("wmt-humeval", '"human1": 1', '"human1": 100.1'), "the esa score is 100.1"),
        (
            "de-en.esa.seg.score",
            "alpha 1\nalpha 1e20\nalpha 3\n",
            r"score:2: the esa score is 1e\+20",
        ),
        (*damaged("ratings", '"score": null', '"score": 1e20'), r"rating:1: the .*score is 1e\+20"),
    ],
)
def test_a_human_score_beyond_its_scale_is_refused_by_its_line(
    tmp_path: Path, name: str, text: str, problem: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    testset = judged_set(documents=["d", "e", "e"])
    with pytest.raises(FormatError, match=problem):
        read_human(tmp_path / name, testset)


def test_another_scale_needs_another_kind(tmp_path: Path) -> None:
    file = written(tmp_path, "esa.seg.tsv", "system\tseg\tesa", "alpha\t1\t-2.5")
    found = read_human(file, judged_set(), kind="ours")
    assert found.scores[0].system_scores("alpha")[0] == -2.5


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        (
            {"dev.eten.df.short.tsv": mlqe_table(("80", "1e20", "9"))},
            r"tsv:3: the da-raw score is 1e",
        ),
        (
            mlqe_files() | {"dev.hter": ["0.4", "1e20", "0"]},
            r"hter:2: the hter score is 1e\+20; from 0 to",
        ),
        (
            mlqe_files() | {"dev.hter": ["0.4", "-0.2", "0"]},
            r"hter:2: the hter score is -0.2; from 0 to 1000",
        ),
        (eval4nlp_files() | {"test.da": ["77.5", "41.0", "1e20"]}, r"da:3: the da score is 1e\+20"),
        (
            {"en-de.csv": [RATED, rated(0, "a", 0, "x", -1e20)]},
            r"csv:2: the mqm score is -1e\+20; from -10000 to",
        ),
        (
            {"a.jsonl": [summeval_lines()[0].replace(": 4,", ": 6,", 1), *summeval_lines()[1:]]},
            r"jsonl:1: the coherence in expert_annotations is 6; from 1 to 5",
        ),
        (
            {"abs.json": [json.dumps(realsumm_object()).replace("1.0}", "1e20}")]},
            "litepyramid score is 1e.20; from 0 to 1",
        ),
    ],
)
def test_a_score_of_a_published_set_beyond_its_scale_is_refused(
    tmp_path: Path, files: dict[str, list[str]], problem: str
) -> None:
    with pytest.raises(FormatError, match=problem):
        TestSet.read(fill(tmp_path, files))


def test_hter_may_exceed_one(tmp_path: Path) -> None:
    ts = TestSet.read(fill(tmp_path, mlqe_files() | {"dev.hter": ["3.5", "0.2", "0"]}))
    assert ts.human_scores("hter")[0].tolist() == [-3.5, -0.2, 0.0]


@pytest.mark.parametrize(("kind", "value"), [("esa", 1e20), ("da-z", np.inf), ("mqm", -1e5)])
def test_a_test_set_takes_no_scores_beyond_their_scale(kind: str, value: float) -> None:
    scores = HumanScores(kind, "segment", ("alpha",), np.array([[1.0, value, np.nan]]))
    with pytest.raises(DataError, match=rf"human scores '{kind}' at segment level hold"):
        judged_set(human=(scores,))


def test_a_test_set_takes_no_system_twice_and_no_ranking_of_other_segments() -> None:
    twice = HumanScores("da-z", "system", ("alpha", "alpha"), np.zeros((2, 1)))
    with pytest.raises(DataError, match="name a system twice"):
        judged_set(human=(twice,))
    with pytest.raises(DataError, match="is of segment 3; there are 3, counted from 0"):
        judged_set(rankings=(Ranking("darr", ((3, "alpha", "beta"),)),))


def test_rows_with_one_number_are_refused(tmp_path: Path) -> None:
    rows = mlqe_table()
    rows[3] = rows[3].replace("2\t", "0\t", 1)
    with pytest.raises(FormatError, match=r"short\.tsv:4: a second score .* line 2 has the first"):
        TestSet.read(fill(tmp_path, {"dev.eten.df.short.tsv": rows}))


def test_a_second_annotation_by_nobody_in_particular_is_refused(tmp_path: Path) -> None:
    one = {"system": "alpha", "tgt": SYSTEMS["alpha"][0], "src": SOURCES[0], "line_id": 0}
    lines = [json.dumps({**one, "esa_score": n, "esa_spans": []}) for n in (1, 2)]
    with pytest.raises(FormatError, match=r"e\.jsonl:2: a second annotation of segment 1 of alpha"):
        read_human(written(tmp_path, "e.jsonl", *lines), judged_set())


def test_penalties_are_finite(tmp_path: Path) -> None:
    name, text = WHOLE["mqm"]
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"a penalty from 0 to 1e\+06 is expected"):
        read_human(tmp_path / name, judged_set(), weights={"minor": 1e300})


def test_unequal_judgements_are_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "gnomon.formats")
    rows = ("alpha\t1\t5", "alpha\t2\t5", "beta\t1\t7")
    read_human(written(tmp_path, "k.seg.tsv", "system\tseg\tk", *rows), judged_set())
    assert "k.seg.tsv: k: of 3 segments, beta has 1, the most is 2; means over" in caplog.text


def test_a_misspelt_column_of_rankings_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    darr = written(tmp_path, "d.tsv", "seg\tbetter\tworse\tratter", "1\talpha\tbeta\tr")
    assert read_human(darr, judged_set()).rankings[0].raters == ()
    assert "columns that are not read: ratter; those that are read: seg, better" in caplog.text
    rows = ("seg\tbeter\tworse", "1\talpha\tbeta")
    judged_set().write(tmp_path / "set")
    fill(tmp_path / "set", {"human/darr.seg.tsv": list(rows)})
    with pytest.raises(FormatError, match=r"darr\.seg\.tsv:1: there is no column 'better'"):
        TestSet.read(tmp_path / "set")
    head = "srclang,trglang,srcIndex,judgeId,system1Id,system1rank,system2Id,system2rnk"
    with pytest.raises(FormatError, match=r"r\.csv:1: there is no column 'system2rank'"):
        read_human(written(tmp_path, "r.csv", head, "deu,eng,1,j,alpha,1,beta,2"), judged_set())
