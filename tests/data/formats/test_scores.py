from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon import TestSet
from gnomon.core.errors import (
    DataError,
    FormatError,
    LengthMismatchError,
    OutputError,
    UnknownNameError,
    UsageError,
)
from gnomon.core.scores import Scores
from gnomon.core.signature import Signature
from gnomon.data.formats import read_scores, write_segment_scores

if TYPE_CHECKING:
    from pathlib import Path

NAN = float("nan")
THIRD = 1 / 3


def scored(systems: list[str], **parts: object) -> TestSet:
    texts = ["x", "x"]
    fixed = {"language_pair": "de-en", "references": {"A": texts}, "name": "news"}
    return TestSet(systems=dict.fromkeys(systems, texts), **(fixed | parts))  # type: ignore[arg-type]  # parts vary by test


def scores_of(metric: str, segments: dict[str, list[float]]) -> Scores:
    matrix = np.array(list(segments.values()), dtype=np.float64)
    return Scores(
        metric,
        tuple(segments),
        matrix[:, 0],
        matrix,
        higher_is_better=True,
        signature=Signature("m"),
    )


SET = scored(["s1", "s2"])
BLEU = scores_of("bleu", {"s1": [THIRD, 2.0], "s2": [NAN, 1e-20]})
CHRF = scores_of("chrf(word_order=2)", {"s1": [50.0, 60.0], "s2": [0.1, 0.2]})


def test_tsv_has_a_header_and_unrounded_numbers(tmp_path: Path) -> None:
    write_segment_scores(tmp_path / "s.tsv", [BLEU, CHRF], SET)
    lines = (tmp_path / "s.tsv").read_text().split("\n")
    assert lines[0] == "system\tsegment\tmetric\tscore"
    assert lines[1:5] == [
        "s1\t1\tbleu\t0.3333333333333333",
        "s1\t2\tbleu\t2.0",
        "s2\t1\tbleu\t",
        "s2\t2\tbleu\t1e-20",
    ]
    assert lines[5] == "s1\t1\tchrf(word_order=2)\t50.0"
    assert lines[9:] == [""]


def test_jsonl_has_the_same_fields(tmp_path: Path) -> None:
    write_segment_scores(tmp_path / "s.jsonl", [BLEU], SET)
    rows = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    assert rows[0] == {"system": "s1", "segment": 1, "metric": "bleu", "score": THIRD}
    assert rows[2]["score"] is None


def test_a_score_file_has_a_block_per_system(tmp_path: Path) -> None:
    write_segment_scores(tmp_path / "bleu-A.seg.score", [BLEU], SET)
    assert (tmp_path / "bleu-A.seg.score").read_text() == (
        "s1\t0.3333333333333333\ns1\t2.0\ns2\tNone\ns2\t1e-20\n"
    )


def test_a_directory_gets_one_score_file_per_metric(tmp_path: Path) -> None:
    write_segment_scores(tmp_path, [BLEU, CHRF], SET)
    folder = tmp_path / "metric-scores" / "de-en"
    assert {file.name for file in folder.iterdir()} == {
        "bleu-A.seg.score",
        "chrf(word_order=2)-A.seg.score",
    }


def test_references_are_named_in_the_file_and_do_not_judge_themselves(tmp_path: Path) -> None:
    texts = ["x", "x"]
    several = scored(["s1", "s2"], references={"s2": texts, "B": texts})
    write_segment_scores(tmp_path, [BLEU], several)
    file = tmp_path / "metric-scores/de-en/bleu-s2.B.seg.score"
    assert "s2\t" not in file.read_text()
    alone = scored(["s1", "s2"], references={}, sources=texts)
    write_segment_scores(tmp_path, [BLEU], alone)
    assert (tmp_path / "metric-scores/de-en/bleu-src.seg.score").exists()


def test_compressed_files_are_written_and_read(tmp_path: Path) -> None:
    write_segment_scores(tmp_path / "s.tsv.gz", [BLEU], SET)
    assert gzip.decompress((tmp_path / "s.tsv.gz").read_bytes()).startswith(b"system\t")
    assert read_scores(tmp_path / "s.tsv.gz")["bleu"]["s1", 2] == 2.0


name = st.from_regex(r"[A-Za-zé][A-Za-z0-9()=_.]{0,6}", fullmatch=True)
value = st.floats(allow_infinity=False)


@given(
    st.sampled_from(["s.tsv", "s.csv", "s.jsonl", "m-A.seg.score"]),
    st.dictionaries(name, st.tuples(value, value), min_size=1, max_size=3),
)
def test_segment_scores_that_are_written_are_read_again(
    tmp_path_factory: pytest.TempPathFactory, file: str, segments: dict[str, tuple[float, float]]
) -> None:
    path = tmp_path_factory.mktemp("scores") / file
    segments = {f"sys-{system}": values for system, values in segments.items()}
    scores = scores_of("m", {system: list(values) for system, values in segments.items()})
    write_segment_scores(path, [scores], scored(list(segments)))
    again = read_scores(path)
    expected = {(s, i + 1): v for s, values in segments.items() for i, v in enumerate(values)}
    assert list(again) == ["m"]
    assert again["m"].keys() == expected.keys()
    for place, score in expected.items():
        np.testing.assert_equal(again["m"][place], score)


@pytest.mark.parametrize(
    ("file", "lines"),
    [
        ("s.tsv", ("system\tmetric\tscore", "s1\tbleu\t0.5", "s2\tbleu\t")),
        ("s.jsonl", ('{"system": "s1", "metric": "bleu", "score": 0.5}',
                     '{"system": "s2", "metric": "bleu", "score": null}')),
        ("s.wmt", ("bleu de-en news s1 0.5", "bleu de-en news s2 None")),
        ("bleu-A.sys.score", ("s1\t0.5", "s2\tNone")),
    ],
)  # fmt: skip
def test_system_scores_are_read(tmp_path: Path, file: str, lines: tuple[str, str]) -> None:
    (tmp_path / file).write_text("\n".join([*lines, ""]))
    scores = read_scores(tmp_path / file)["bleu"]
    assert scores["s1", None] == 0.5
    assert np.isnan(scores["s2", None])


def test_a_name_with_a_tab_or_line_end_is_refused(tmp_path: Path) -> None:
    for bad in ("a\tb", "a\nb"):
        scores = scores_of("m", {bad: [1.0, 2.0]})
        with pytest.raises(DataError, match=r"tab in a cell|no line feed"):
            write_segment_scores(tmp_path / "x", [scores], SET, format="tsv")
    assert not list(tmp_path.iterdir())


def test_a_name_with_white_space_cannot_stand_in_a_score_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the system name 'a b'"):
        write_segment_scores(tmp_path / "m.seg.score", [scores_of("m", {"a b": [1.0, 2.0]})], SET)
    slash = scores_of("a/b", {"s": [1.0, 2.0]})
    with pytest.raises(DataError, match="the metric name 'a/b'"):
        write_segment_scores(tmp_path, [slash], SET)
    assert not list(tmp_path.iterdir())


def test_an_unknown_format_or_suffix_lists_those_that_exist(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"'\.xls'.*\.tsv, \.csv, .*\.score"):
        write_segment_scores(tmp_path / "s.xls", [BLEU], SET)
    with pytest.raises(UnknownNameError, match="tsv, csv, jsonl, mt-metrics-eval"):
        write_segment_scores(tmp_path / "s.xls", [BLEU], SET, format="xls")
    with pytest.raises(UnknownNameError, match="tsv, csv, json, parquet, jsonl, wmt"):
        read_scores(tmp_path / "s.xls", format="xls")


def test_a_score_file_holds_one_metric(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds one metric, there are 2; name a directory"):
        write_segment_scores(tmp_path / "s.seg.score", [BLEU, CHRF], SET)


def test_a_directory_of_score_files_needs_a_language_pair(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="language pair"):
        write_segment_scores(tmp_path, [BLEU], scored(["s1"], language_pair=None))


def test_scores_of_another_test_set_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LengthMismatchError, match=r"shape \(2, 2\); expected \(2, 3\)"):
        write_segment_scores(
            tmp_path / "s.tsv", [BLEU], TestSet("t", {"A": ["x"] * 3}, {"s1": ["x"] * 3})
        )


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "metric-scores").write_text("x")
    with pytest.raises(OutputError, match="cannot write"):
        write_segment_scores(tmp_path, [BLEU], SET)


def test_columns_may_be_named_and_the_metric_may_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "comet.tsv"
    path.write_text("system\tseg\tcomet\ns1\t2\t0.5\n")
    assert read_scores(path, column="comet") == {"": {("s1", 2): 0.5}}


def test_an_empty_segment_in_a_wmt_line_means_the_system(tmp_path: Path) -> None:
    (tmp_path / "x.wmt").write_text("BLEU\tde-en\tnews\ts 1\t\t10\n")
    assert read_scores(tmp_path / "x.wmt") == {"BLEU": {("s 1", None): 10.0}}


def test_wmt_lines_of_several_pairs_need_a_choice(tmp_path: Path) -> None:
    path = tmp_path / "x.wmt"
    path.write_text("BLEU de-en newstest2019 s1 10\nBLEU  fi-en\tnewstest2019 s1 20\n")
    with pytest.raises(DataError, match="several language pairs, name one: de-en, fi-en"):
        read_scores(path)
    assert read_scores(path, language_pair="fi-en") == {"BLEU": {("s1", None): 20.0}}
    with pytest.raises(UnknownNameError, match="unknown language pair"):
        read_scores(path, language_pair="de-de")
    with pytest.raises(UnknownNameError, match="unknown test set"):
        read_scores(path, language_pair="fi-en", test_set="x")


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("a.tsv", "system\tscore\ns\t1\ns\t2\n", r"a\.tsv:3: a second score of s"),
        ("a.tsv", "system\tscore\ns\tgood\n", "score is 'good'"),
        ("a.tsv", "system\tsegment\tscore\ns\t0\t1\n", "segment is '0'"),
        ("a.jsonl", '{"system": "s", "score": true}\n', "score is True"),
        ("a.jsonl", '{"system": "s"}\n', "unknown column or key 'score'"),
        ("a.wmt", "BLEU de-en s1 1\n", "4 fields; METRIC LP TESTSET"),
        (
            "a.wmt",
            "m de-en t s 1 1\nm de-en t s 1 2\n",
            r"a\.wmt:2: a second score of s, segment 1",
        ),
        (
            "a.wmt",
            "m de-en t s 1 1\nm de-en t s 1\n",
            r"a\.wmt:2: the score of a system, where line",
        ),
        ("a.wmt", "m\tde-en\tt\ts\t1\t1\nm\tde-en\tt\ts\t\t1\n", "2: the score of a system"),
        ("a.wmt", "m\tde-en\tt\ts\t1\t1\nm\tde-en\tt\ts\t2\t\n", "2: an empty field"),
        ("a.wmt", "m de-en t s 1 1\n\n", r"a\.wmt:2: 0 fields"),
        ("a.wmt", "m de-en t s 1" + 20 * "0" + " 1\n", "a whole number from 1 is expected"),
        ("a.tsv", "system\tscore\n\t1\n", r"a\.tsv:2: a score of no system"),
        ("bleu-A.seg.score", "s\t1\ns\t\n", r"seg\.score:2: an empty field; SYSTEM SCORE"),
        ("bleu-A.seg.score", "s\t1\ns\n", r"seg\.score:2: 1 fields; SYSTEM SCORE"),
        ("bleu-A.seg.score", "", "holds no scores"),
        ("bleu-A.sys.score", "", "holds no scores"),
        ("a.wmt", "", "holds no scores"),
        ("a.jsonl", "", "holds no scores"),
        ("a.tsv", "", "is empty; a header row is expected"),
        ("a.tsv", "system\tscore\n", "holds no scores"),
        ("bleu.score", "s 1\n", "does not tell the metric and the level"),
        ("bleu-A.sys.score", "s 1\ns 2\n", "has 2 scores; 1 is expected"),
    ],
)
def test_wrong_score_files_are_refused(tmp_path: Path, file: str, text: str, problem: str) -> None:
    (tmp_path / file).write_text(text)
    with pytest.raises(FormatError, match=problem):
        read_scores(tmp_path / file)
