"""The real sets for quality estimation, as far as they are at hand: every file is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gnomon import TestSet
from gnomon.data.formats import language_pairs, read_lines
from gnomon.data.formats.rows import read_tsv

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon.core.spans import ErrorSpan

MLQE = ["et-en.dev", "et-en.test20", "ro-en.dev", "ro-en.test20"]


def overlapping(errors: list[ErrorSpan], tokens: list[str], text: str) -> list[str]:
    """The tags that spans give to tokens, found one after the other in the text."""
    tags, at = [], 0
    for token in tokens:
        start = text.index(token, at)
        at = start + len(token)
        hit = any(e.start < at and e.end > start for e in errors)
        tags.append("BAD" if hit else "OK")
    return tags


@pytest.mark.parametrize("name", MLQE)
def test_a_table_of_mlqe_pe_holds_scores_post_edits_and_the_words_that_were_tagged(
    shared: Path, name: str
) -> None:
    folder = shared / "data/mlqe-pe"
    testset = TestSet.read(folder / f"{name}.tsv")
    assert (testset.segments, testset.language_pair) == (1000, name[:5])
    assert testset.human_kinds("segment") == ("da-raw", "da-z", "hter")
    assert list(testset.references) == ["pe"]
    for kind in testset.human_kinds("segment"):
        assert np.isfinite(testset.human_scores(kind)).all()
    assert testset.human_scores("hter").max() == 0.0
    tags = list(read_tsv(folder / f"{name}.tags.tsv"))
    for side, texts, tokens, column in (
        ("candidate", testset.systems["mt"], "mt_tok", "mt_and_gap_tags"),
        ("source", testset.sources or (), "src_tok", "src_tags"),
    ):
        words: dict[int, list[ErrorSpan]] = {}
        for error in testset.errors:
            if (error.side, error.category) == (side, "word"):
                words.setdefault(error.segment, []).append(error)
        for segment, row in enumerate(tags):
            given = row[column].split()
            given = given[1::2] if side == "candidate" else given
            mine = overlapping(words.get(segment, []), row[tokens].split(), texts[segment])
            assert mine == given
    gaps = sum(row["mt_and_gap_tags"].split()[::2].count("BAD") for row in tags)
    assert sum(error.category == "gap" for error in testset.errors) == gaps
    assert len(TestSet.read(folder / f"{name}.tags.tsv").errors) == len(testset.errors)


@pytest.mark.parametrize("pair", ["et-en", "ro-en"])
def test_eval4nlp_marks_words_on_both_sides(shared: Path, pair: str) -> None:
    file = shared / f"data/eval4nlp21/{pair}.test.tsv"
    testset = TestSet.read(file)
    assert (testset.segments, testset.language_pair) == (1000, pair)
    assert np.isfinite(testset.human_scores("da")).all()
    rows = [line.split("\t") for line in read_lines(file)[1:]]
    for side, column in (("source", 3), ("candidate", 4)):
        marked = sum(row[column].split().count("1") for row in rows)
        assert sum(error.side == side for error in testset.errors) == marked
    texts = testset.systems["mt"]
    for error in testset.errors:
        text = texts[error.segment] if error.side == "candidate" else rows[error.segment][0]
        assert text[error.start : error.end] in text.split()


def test_wmt_2022_has_standardised_scores(shared: Path) -> None:
    testset = TestSet.read(shared / "data/wmt22-qe/en-cs.da.tsv")
    assert (testset.segments, testset.language_pair) == (1000, "en-cs")
    assert np.isfinite(testset.human_scores("da-z")).all()


def test_folders_of_tables_are_told_by_their_pairs(shared: Path) -> None:
    assert language_pairs(shared / "data/eval4nlp21") == ("et-en", "ro-en")
    testset = TestSet.read(shared / "data/eval4nlp21/ro-en")
    assert testset.name == "ro-en.test"
