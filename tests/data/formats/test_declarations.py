"""A format that is declared in fifteen lines of TOML is read like gnomon's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.data.formats.judged_sets import judged_set
from tests.data.formats.published_sets import fill

from gnomon.core.errors import DataError, FormatError, LengthMismatchError
from gnomon.data.formats import JudgedFile, JudgementOptions, SetFormat, declare_format
from gnomon.data.formats.rows import head_of

if TYPE_CHECKING:
    from gnomon.core.testset import TestSet

RATED = """
title = "Rated outputs"
language-pair = "de-en"

[[table]]
known-by = ["source", "output"]
source = "source"
output = "output"
tags = [{ side = "candidate", tags = "words" }]
[table.scores]
quality = { kind = "quality", low = 1, high = 5, lower-is-better = true }

[[files]]
source = ".source"
output = ".output"
scores = { ".quality" = "da" }
tags = [{ side = "candidate", tags = ".words" }]
optional = [".quality"]
"""
HEAD = "source\toutput\tquality\twords"


def _declared(folder: Path, text: str = RATED) -> SetFormat:
    (folder / "rated.toml").write_text(text, encoding="utf-8")
    form = declare_format(folder / "rated.toml")
    assert isinstance(form, SetFormat)
    return form


def _read(form: SetFormat, file: Path) -> TestSet:
    assert form.of_file is not None
    found = form.of_file(head_of(file))
    assert found is not None
    return found.read()


def test_a_table_is_read_as_its_declaration_says(tmp_path: Path) -> None:
    form = _declared(tmp_path)
    fill(tmp_path, {"x.tsv": [HEAD, "ein Hund\ta dog\t2\tOK BAD", "zwei\ttwo\t\tOK"]})
    testset = _read(form, tmp_path / "x.tsv")
    assert (form.name, form.suffixes) == ("rated", (".tsv",))
    assert (testset.name, testset.language_pair) == ("x", "de-en")
    assert testset.sources == ("ein Hund", "zwei")
    assert testset.human_scores("quality")[0, 0] == -2.0
    assert [(e.segment, e.start, e.end) for e in testset.errors] == [(0, 2, 5)]
    assert len(testset.looked_at) == 2


def test_the_declaration_of_the_page_is_read(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs/extend/format.md").read_text(encoding="utf-8")
    form = _declared(tmp_path, page.split("```toml\n")[1].partition("```")[0])
    fill(tmp_path, {"x.tsv": [HEAD, "ein Hund\ta dog\t2\tOK BAD"]})
    assert _read(form, tmp_path / "x.tsv").human_scores("quality").tolist() == [[2.0]]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("ein\ta\t6\tOK", r"x\.tsv:2: the quality score is 6; from 1 to 5 is expected"),
        ("ein\ta\tgood\tOK", r"x\.tsv:2: quality is 'good'; a number is expected"),
        ("ein\ta\t3\tOK OK", r"x\.tsv:2: words has 2 tags for 1 tokens"),
        ("ein\ta\t3\tGOOD", r"x\.tsv:2: the tag 'GOOD' is unknown"),
        ("ein\ta", r"x\.tsv:2: 2 tab-separated fields; the header has 4"),
    ],
)
def test_a_row_that_is_not_as_declared_is_refused_by_its_line(
    tmp_path: Path, line: str, problem: str
) -> None:
    form = _declared(tmp_path)
    fill(tmp_path, {"x.tsv": [HEAD, line]})
    with pytest.raises(FormatError, match=problem):
        _read(form, tmp_path / "x.tsv")


def test_a_column_that_is_declared_must_be_there(tmp_path: Path) -> None:
    form = _declared(tmp_path)
    fill(tmp_path, {"x.tsv": ["source\toutput\twords", "ein\ta\tOK"]})
    with pytest.raises(FormatError, match=r"x\.tsv:1: there is no column 'quality'"):
        _read(form, tmp_path / "x.tsv")


def test_parallel_files_are_read_by_their_endings(tmp_path: Path) -> None:
    form = _declared(tmp_path)
    files = {"dev.source": ["ein Hund", "zwei"], "dev.output": ["a dog", "two"]}
    fill(tmp_path, files | {"dev.words": ["OK BAD", "OK"]})
    testset = _read(form, tmp_path / "dev.source")
    assert (testset.human, testset.systems["mt"]) == ((), ("a dog", "two"))
    assert [(e.segment, e.start) for e in testset.errors] == [(0, 2)]
    fill(tmp_path, {"dev.quality": ["50", "90"]})
    assert _read(form, tmp_path / "dev.words").human_scores("da").tolist() == [[50.0, 90.0]]
    fill(tmp_path, {"dev.quality": ["50", "900"]})
    with pytest.raises(FormatError, match=r"dev\.quality:2: the da score is 900"):
        _read(form, tmp_path / "dev.source")
    fill(tmp_path, {"dev.quality": ["50"]})
    with pytest.raises(LengthMismatchError, match=r"dev\.source has 2 lines, .*quality has 1"):
        _read(form, tmp_path / "dev.source")


def test_other_files_are_none_of_a_declared_format(tmp_path: Path) -> None:
    form = _declared(tmp_path)
    fill(tmp_path, {"x.tsv": ["a\tb", "1\t2"], "y.source": ["no output beside it"]})
    assert form.of_file is not None
    assert form.in_folder is not None
    assert form.of_file(head_of(tmp_path / "x.tsv")) is None
    assert not form.in_folder(tmp_path)


def test_judgements_are_declared_alike(tmp_path: Path) -> None:
    text = """
    title = "Marks"
    kind = "marks"
    first-segment = 1
    [[table]]
    fields = "commas"
    known-by = ["who", "no", "mark"]
    system = "who"
    segment = "no"
    scores = { mark = "KIND" }
    """
    (tmp_path / "marks.toml").write_text(text, encoding="utf-8")
    form = declare_format(tmp_path / "marks.toml")
    fill(tmp_path, {"m.csv": ["who,no,mark", "alpha,1,5", "beta,3,2.5"]})
    file = tmp_path / "m.csv"
    [scores] = form.read(
        JudgedFile(file, judged_set(), JudgementOptions("marks", first_segment=1))
    ).scores
    assert (scores.kind, scores.level, scores.systems) == ("marks", "segment", ("alpha", "beta"))
    assert (scores.values[0, 0], scores.values[1, 2]) == (5.0, 2.5)
    fill(tmp_path, {"m.csv": ["who,no,mark", "alpha,1,5", "alpha,1,4"]})
    with pytest.raises(FormatError, match=r"m\.csv:3: a second score .* line 2 has the first"):
        form.read(JudgedFile(file, judged_set(), JudgementOptions("marks", first_segment=1)))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("output =", "outputs =", "unknown field `outputs`"),
        ('title = "Rated outputs"', "", "missing required field `title`"),
        ('side = "candidate"', 'side = "both"', "Invalid enum value 'both'"),
        ("low = 1", 'low = "1"', "Expected `float | null`, got `str`"),
        ("[[table]]", "[[table", "Expected"),
    ],
)
def test_what_is_wrong_in_a_declaration_is_named(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    with pytest.raises(DataError, match=r"rated\.toml: is no declaration of a format: ") as told:
        _declared(tmp_path, RATED.replace(old, new, 1))
    assert problem in str(told.value)
