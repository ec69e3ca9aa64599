from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.data.formats.published_sets import (
    GAP_TAGS,
    MLQE,
    OUTPUT_TAGS,
    OUTPUTS,
    POST_EDITS,
    RATED,
    SOURCE_TAGS,
    SOURCES,
    eval4nlp_files,
    fill,
    mlqe_files,
    mlqe_table,
    table,
)
from tests.told import notes

from gnomon import TestSet
from gnomon.core.errors import (
    DataError,
    FormatError,
    LengthMismatchError,
    UnknownNameError,
    UsageError,
)
from gnomon.data.formats import language_pairs
from gnomon.metrics.error_marks import people_marks

if TYPE_CHECKING:
    from pathlib import Path


def words(testset: TestSet, side: str, category: str = "word") -> list[tuple[int, str]]:
    """The texts of the marked errors with their segments."""
    texts = testset.systems["mt"] if side == "candidate" else testset.sources or ()
    return [
        (e.segment, texts[e.segment][e.start : e.end])
        for e in testset.errors
        if (e.side, e.category) == (side, category)
    ]


def test_the_table_of_mlqe_pe_is_told_by_its_header(tmp_path: Path) -> None:
    fill(tmp_path, {"dev.eten.df.short.tsv": mlqe_table()})
    testset = TestSet.read(tmp_path / "dev.eten.df.short.tsv")
    assert (testset.language_pair, testset.sources) == ("et-en", tuple(SOURCES))
    assert dict(testset.systems) == {"mt": tuple(OUTPUTS)}
    assert not testset.references
    assert testset.human_kinds("segment") == ("da-raw", "da-z")
    assert testset.human_scores("da-raw").tolist() == [[80.5, 40.0, 91.0]]
    assert testset.human_scores("da-z").tolist() == [[0.5, -1.25, 1.0]]


def test_a_folder_with_one_set_stands_for_it(tmp_path: Path) -> None:
    fill(tmp_path / "et-en-dev", {"dev.eten.df.short.tsv": mlqe_table()})
    assert TestSet.read(tmp_path / "et-en-dev").segments == 3
    assert language_pairs(tmp_path / "et-en-dev") == ("et-en",)


def test_the_files_of_mlqe_pe_give_post_edits_hter_and_words(tmp_path: Path) -> None:
    fill(tmp_path / "et-en-dev", mlqe_files())
    testset = TestSet.read(tmp_path / "et-en-dev")
    assert (testset.name, testset.language_pair) == ("et-en.dev", "et-en")
    assert testset.references["pe"] == tuple(POST_EDITS)
    assert testset.human_scores("hter").tolist() == [[-0.4, -0.2, 0.0]]
    assert words(testset, "candidate") == [(0, "sleeps"), (1, "eats")]
    assert words(testset, "source") == [(1, "joob")]
    gaps = [e for e in testset.errors if e.category == "gap"]
    assert [(e.segment, e.start, e.end) for e in gaps] == [(0, 8, 8), (2, 10, 10)]
    assert {e.kind for e in testset.errors} == {"word-tags"}


def test_direct_assessments_beside_the_files_are_read_with_them(tmp_path: Path) -> None:
    fill(tmp_path, mlqe_files() | {"dev.eten.df.short.tsv": mlqe_table()})
    testset = TestSet.read(tmp_path)
    assert testset.human_kinds("segment") == ("hter", "da-raw", "da-z")
    assert testset.human_scores("da-z").tolist() == [[0.5, -1.25, 1.0]]
    fill(tmp_path, {"dev.src": ["another", *SOURCES[1:]], "dev.source_tags": ["OK", *["OK"] * 2]})
    with pytest.raises(FormatError, match=r"short\.tsv:2: the original is 'Koer"):
        TestSet.read(tmp_path)


def test_the_files_of_eval4nlp_are_read_from_the_folder_or_any_of_them(tmp_path: Path) -> None:
    fill(tmp_path / "et-en-test21", eval4nlp_files())
    for place in ("", "test.da", "test.src"):
        testset = TestSet.read(tmp_path / "et-en-test21" / place)
        assert testset.language_pair == "et-en"
        assert testset.human_scores("da").tolist() == [[77.5, 41.0, 95.0]]
        assert words(testset, "candidate") == [(0, "sleeps"), (1, "eats")]
        assert words(testset, "source") == [(1, "joob")]


def test_several_splits_in_a_folder_must_be_named(tmp_path: Path) -> None:
    fill(tmp_path, eval4nlp_files("dev") | eval4nlp_files("train"))
    with pytest.raises(UsageError, match=r"holds 2 test sets; .*dev\.src \(eval4nlp21\), "):
        TestSet.read(tmp_path)
    assert TestSet.read(tmp_path / "train.mt").name == "train"


def test_the_files_of_wmt_2022_tag_the_tokenised_text(tmp_path: Path) -> None:
    raw = ["It's wet.", "Dogs bark."]
    fill(
        tmp_path,
        {
            "test.2022.src": ["Je mokro.", "Psi štěkají."],
            "test.2022.src_tok": ["Je mokro .", "Psi štěkají ."],
            "test.2022.mt": raw,
            "test.2022.mt_tok": ["It 's wet . <EOS>", "Dogs bark . <EOS>"],
            "test.2022.cs-en.tags": ["OK OK BAD OK OK", "OK OK OK BAD"],
            "test.2022.cs-en.da_score": ["0.25", "-1e-1"],
        },
    )
    testset = TestSet.read(tmp_path)
    assert (testset.language_pair, testset.systems["mt"]) == ("cs-en", tuple(raw))
    assert testset.human_scores("da-z").tolist() == [[0.25, -0.1]]
    assert words(testset, "candidate") == [(0, "wet")]
    assert [(e.start, e.end) for e in testset.errors if e.category == "gap"] == [(10, 10)]


def test_mqm_scores_of_wmt_2022_have_names_of_their_own(tmp_path: Path) -> None:
    texts = {"test.2022.src": SOURCES, "test.2022.mt": OUTPUTS}
    scores = {
        "test.2022.en-de.mqm_score.mqm": ["-1", "0", "-5.1"],
        "test.2022.en-de.mqm_z_score": ["0.1", "0.9", "-2"],
    }
    testset = TestSet.read(fill(tmp_path, texts | scores))
    assert testset.human_scores("mqm").tolist() == [[-1.0, 0.0, -5.1]]
    assert testset.human_scores("mqm-z").tolist() == [[0.1, 0.9, -2.0]]


def rated(number: int, system: str, segment: int, text: str, score: float) -> str:
    shared = f'talk-1,{segment + 1},{segment},"{SOURCES[segment]}, eks"'
    return f'{number},{system},{shared},"{text}",a reference,90.0,{score},{score / 2}'


def test_rated_rows_of_wmt_2022_are_a_set_of_several_systems(tmp_path: Path) -> None:
    rows = [
        rated(0, "alpha", 0, "Good, dog", -1.0),
        rated(1, "beta", 0, "Bad dog", -5.0),
        rated(2, "alpha", 1, "A cat", 0.0),
        rated(3, "beta", 1, "Cats", -2.0),
    ]
    fill(tmp_path, {"en-de-mqm.2021-ted.csv": [RATED, *rows]})
    testset = TestSet.read(tmp_path / "en-de-mqm.2021-ted.csv", language_pair="en-de")
    assert testset.systems["alpha"][0] == "Good, dog"
    assert testset.human_scores("mqm").tolist() == [[-1.0, 0.0], [-5.0, -2.0]]
    assert testset.human_scores("mqm-z").tolist() == [[-0.5, 0.0], [-2.5, -1.0]]
    fill(tmp_path, {"en-de-mqm.2021-ted.csv": [RATED, *rows[:3]]})
    with pytest.raises(DataError, match="'beta' has 1 of 2 segments; segment 1 is missing"):
        TestSet.read(tmp_path / "en-de-mqm.2021-ted.csv")
    fill(tmp_path, {"en-de-mqm.2021-ted.csv": [RATED, *rows[:3], rows[1]]})
    with pytest.raises(FormatError, match=r"ted\.csv:5: a second row for segment 0 of beta"):
        TestSet.read(tmp_path / "en-de-mqm.2021-ted.csv")


def shared_mlqe() -> dict[str, list[str]]:
    head = ["seg", "src", "hyp", "da_mean", "z_mean", "model_score", "pe", "hter"]
    rows = [
        [str(i), s, t, "70.5", "0.5", "-0.4", p, "0.25"]
        for i, (s, t, p) in enumerate(zip(SOURCES, OUTPUTS, POST_EDITS, strict=True))
    ]
    tags = ["OK OK OK", "OK BAD OK OK", "OK OK"]
    return {
        "et-en.dev.tsv": table(head, *rows),
        "et-en.dev.tags.tsv": table(
            ["src_tok", "mt_tok", "src_tags", "mt_and_gap_tags"],
            *map(list, zip(SOURCES, OUTPUTS, tags, GAP_TAGS, strict=True)),
        ),
    }


def test_one_table_of_mlqe_pe_takes_the_tags_that_lie_beside_it(tmp_path: Path) -> None:
    fill(tmp_path, shared_mlqe())
    testset = TestSet.read(tmp_path / "et-en.dev.tsv")
    assert testset.human_kinds("segment") == ("da-raw", "da-z", "hter")
    assert testset.human_scores("hter").tolist() == [[-0.25] * 3]
    assert words(testset, "candidate") == [(0, "sleeps"), (1, "eats")]
    assert TestSet.read(tmp_path / "et-en").errors == testset.errors
    alone = TestSet.read(tmp_path / "et-en.dev.tags.tsv")
    assert (alone.errors, alone.human) == (testset.errors, ())
    (tmp_path / "et-en.dev.tags.tsv").unlink()
    assert not TestSet.read(tmp_path / "et-en.dev.tsv").errors


def test_one_table_of_eval4nlp_holds_everything(tmp_path: Path) -> None:
    rows = zip(SOURCES, OUTPUTS, ["77.5", "", "3"], SOURCE_TAGS, OUTPUT_TAGS, strict=True)
    head = ["src", "hyp", "da", "src_tags", "hyp_tags"]
    fill(tmp_path, {"et-en.test.tsv": table(head, *map(list, rows))})
    testset = TestSet.read(tmp_path / "et-en.test.tsv")
    np.testing.assert_array_equal(testset.human_scores("da"), [[77.5, np.nan, 3.0]])
    assert words(testset, "candidate") == [(0, "sleeps"), (1, "eats")]


def test_what_is_read_is_written_and_read_unchanged(tmp_path: Path) -> None:
    testset = TestSet.read(fill(tmp_path / "set" / "et-en-dev", mlqe_files()))
    testset.write(tmp_path / "own")
    again = TestSet.read(tmp_path / "own")
    assert (again.human, again.sources) == (testset.human, testset.sources)
    key = [(e.side, e.segment, e.start, e.category) for e in testset.errors]
    assert sorted((e.side, e.segment, e.start, e.category) for e in again.errors) == sorted(key)


def test_compressed_files_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    data = "\r\n".join(mlqe_table()) + "\r\n"
    (tmp_path / "dev.eten.df.short.tsv.gz").write_bytes(gzip.compress(data.encode()))
    testset = TestSet.read(tmp_path / "dev.eten.df.short.tsv.gz")
    assert testset.human_scores("da-z").tolist() == [[0.5, -1.25, 1.0]]


def test_another_pair_is_refused_and_a_single_language_will_do(tmp_path: Path) -> None:
    fill(tmp_path, {"dev.eten.df.short.tsv": mlqe_table()})
    file = tmp_path / "dev.eten.df.short.tsv"
    assert TestSet.read(file, language_pair="en").language_pair == "et-en"
    with pytest.raises(UnknownNameError, match="de-en"):
        TestSet.read(file, language_pair="de-en")
    fill(tmp_path, {"mine.tsv": mlqe_table()})
    assert TestSet.read(tmp_path / "mine.tsv", language_pair="de-en").language_pair == "de-en"


DAMAGED = [
    ("test.da", ["77.5", "many", "95"], r"test\.da:2: \.da is 'many'; a number"),
    ("test.tgt-tags", ["0 0 1 0", "0 0 1 0", "0 0 0"], r"test\.tgt-tags:2: .* 4 tags for 5"),
    ("test.src-tags", ["0 0 0", "0 1 0 0", "0 2"], r"test\.src-tags:3: the tag '2' is unknown"),
]


@pytest.mark.parametrize(("name", "lines", "problem"), DAMAGED)
def test_a_damaged_line_of_a_file_is_named(
    tmp_path: Path, name: str, lines: list[str], problem: str
) -> None:
    fill(tmp_path, eval4nlp_files() | {name: lines})
    with pytest.raises(FormatError, match=problem):
        TestSet.read(tmp_path)


@pytest.mark.parametrize("name", ["test.mt", "test.da", "test.tgt-tags"])
def test_files_of_unequal_length_are_named_with_their_counts(tmp_path: Path, name: str) -> None:
    fill(tmp_path, eval4nlp_files() | {name: eval4nlp_files()[name][:2]})
    with pytest.raises(LengthMismatchError, match=rf"test\.src has 3 lines, .*{name} has 2"):
        TestSet.read(tmp_path)


def test_a_damaged_table_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "dev.eten.df.short.tsv"
    fill(tmp_path, {file.name: mlqe_table(("80.5", "forty", "91.0"))})
    with pytest.raises(FormatError, match=r"short\.tsv:3: mean is 'forty'; a number is expected"):
        TestSet.read(file)
    rows = [line.split("\t") for line in mlqe_table()]
    without = [row[:6] + row[7:] for row in rows]
    fill(tmp_path, {file.name: table(*without)})
    with pytest.raises(FormatError, match=r"short\.tsv:1: there is no column 'z_mean'"):
        TestSet.read(file)
    fill(tmp_path, {file.name: [*mlqe_table()[:2], "1\tonly"]})
    with pytest.raises(FormatError, match=r"short\.tsv:3: 2 tab-separated fields"):
        TestSet.read(file)
    fill(tmp_path, {file.name: table(MLQE)})
    with pytest.raises(FormatError, match="has no rows below its header"):
        TestSet.read(file)


def test_damaged_tags_beside_a_table_are_named(tmp_path: Path) -> None:
    files = shared_mlqe()
    tags = files["et-en.dev.tags.tsv"]
    fill(tmp_path, files | {"et-en.dev.tags.tsv": tags[:-1]})
    with pytest.raises(LengthMismatchError, match=r"has 3 rows, .*tags\.tsv has 2"):
        TestSet.read(tmp_path / "et-en.dev.tsv")
    fill(tmp_path, files | {"et-en.dev.tags.tsv": [tags[0], tags[2], tags[1], tags[3]]})
    with pytest.raises(FormatError, match=r"tags\.tsv:2: the tagged tokens .* are not the text"):
        TestSet.read(tmp_path / "et-en.dev.tsv")
    fill(tmp_path, files | {"et-en.dev.tags.tsv": [*tags[:3], tags[3] + " OK"]})
    with pytest.raises(FormatError, match=r"tags\.tsv:4: mt_and_gap_tags has 8 tags for 3 tokens"):
        TestSet.read(tmp_path / "et-en.dev.tsv")


def test_a_file_of_no_known_format_is_answered_with_those_there_are(tmp_path: Path) -> None:
    fill(tmp_path, {"mine.tsv": ["a\tb", "1\t2"]})
    with pytest.raises(FormatError, match=r"no known format .*mlqe-pe.*first line is 'a.tb'"):
        TestSet.read(tmp_path / "mine.tsv")
    (tmp_path / "latin.txt").write_bytes("Müll\n".encode("latin-1"))
    with pytest.raises(FormatError, match="is not UTF-8"):
        TestSet.read(tmp_path / "latin.txt")


def test_segments_without_a_score_or_a_source_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files = eval4nlp_files() | {"test.da": ["77.5", "", "95"], "test.src": ["a b c", "", "d e"]}
    files["test.src-tags"] = ["0 0 0", "", "0 0"]
    with caplog.at_level("INFO", "gnomon.formats"):
        TestSet.read(fill(tmp_path / "et-en", files))
    assert "da: of 3 segments, every system has the same 2" in caplog.text
    assert "1 empty source segment(s), the first in line 2" in caplog.text


def test_a_table_of_rated_rows_without_rows_is_refused(tmp_path: Path) -> None:
    fill(tmp_path, {"en-de.csv": [RATED]})
    with pytest.raises(FormatError, match="has no rows below its header"):
        TestSet.read(tmp_path / "en-de.csv")


def test_all_outputs_with_tags_were_looked_at_also_where_no_word_is_wrong(tmp_path: Path) -> None:
    rows = ["src\thyp\tda\tsrc_tags\thyp_tags", "s\ta dog\t0.5\t0\t0 0", "t\tcats\t0.1\t0\t0"]
    file = tmp_path / "et-en.test.tsv"
    file.write_text("\n".join(rows) + "\n")
    clean = TestSet.read(file)
    assert (clean.errors, len(clean.looked_at)) == ((), 2)
    marks = people_marks(clean)
    assert (int(marks.judged.sum()), notes(marks.notices)) == (2, ())
    file.write_text("\n".join([*rows[:2], rows[2][:-1] + "1"]) + "\n")
    tagged = TestSet.read(file)
    assert [error.segment for error in tagged.errors] == [1]
    tagged.write(tmp_path / "set")
    assert set(TestSet.read(tmp_path / "set").looked_at) == set(tagged.looked_at)
