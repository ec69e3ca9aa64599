"""Newly matched and still missing n-grams."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnomon
from gnomon.cli import main
from gnomon.core.errors import DataError, LengthMismatchError
from gnomon.core.testset import Paraphrase, TestSet
from gnomon.paraphrase import coverage

_TEXT = st.lists(st.sampled_from("abc"), min_size=1, max_size=6).map(" ".join)


def test_ngrams_are_matched_before_now_or_not() -> None:
    ts = TestSet.from_lists({"x": ["a b c"], "y": ["a b d"]}, ["a c"])
    found = coverage(ts, ts.with_paraphrases([Paraphrase(1, "a b", "p")]))
    assert [tuple(row.values()) for row in found] == [
        (1, 6, 3, 3 / 6, 2, 5 / 6),
        (2, 4, 0, 0, 2, 2 / 4),
        (3, 2, 0, 0, 0, 0),
        (4, 0, 0, None, 0, None),
    ]
    new = [(row["ngram"], row["count"], row["systems"]) for row in found.table("new").rows]
    assert new == [("b", 2, 2), ("a b", 2, 2)]
    assert [row["ngram"] for row in found.table("missing").rows] == [
        "d",
        "b c",
        "b d",
        "a b c",
        "a b d",
    ]


@given(st.lists(_TEXT, min_size=2, max_size=2), _TEXT, _TEXT)
def test_counts_are_those_of_bleu(outputs: list[str], reference: str, other: str) -> None:
    ts = TestSet.from_lists({"x": outputs[:1], "y": outputs[1:]}, [reference])
    wide = ts.with_paraphrases([Paraphrase(1, other)])
    for testset, columns in ((ts, ["matched"]), (wide, ["matched", "new"])):
        counts = gnomon.score(testset, "bleu").statistics
        assert counts is not None
        matches = counts.sum(axis=(0, 1))
        found = [sum(row[column] for column in columns) for row in coverage(ts, wide)]
        assert found == matches[2:6].tolist()


def test_paraphrases_of_one_system_match_its_output_alone() -> None:
    ts = TestSet.from_lists({"x": ["b"], "y": ["b"]}, ["a"])
    found = coverage(ts, ts.with_paraphrases([Paraphrase(1, "b", system="x")]))
    assert (found.rows[0]["new"], found.table("missing").rows[0]["count"]) == (1, 1)


def test_other_outputs_are_refused() -> None:
    ts = TestSet.from_lists({"x": ["b"]}, ["a"])
    with pytest.raises(LengthMismatchError):
        coverage(ts, TestSet.from_lists({"x": ["c"]}, ["a"]))
    with pytest.raises(DataError, match="outputs"):
        coverage(TestSet.from_lists({}, ["a"]), ts)


def test_without_paraphrases_the_references_alone_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (("ref.txt", "a"), ("sys.txt", "b"), ("ref.p1.txt", "b")):
        (tmp_path / name).write_text(text + "\n", encoding="utf-8")
    base = ["paraphrase", "coverage", str(tmp_path / "ref.txt"), "-i", str(tmp_path / "sys.txt")]
    for more, new, lacking in (
        ([], None, ["b"]),
        (["--paraphrases", str(tmp_path / "ref.p1.txt")], 1, []),
    ):
        assert main([*base, *more, "-f", "json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["rows"][0]["new"] == new
        assert ("new" in told["tables"]) is bool(more)
        assert [row["ngram"] for row in told["tables"]["missing per segment"]] == lacking
        assert main([*base, *more]) == 0
        assert ("araphrases" in capsys.readouterr().out) is bool(more)
