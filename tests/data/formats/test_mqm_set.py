"""A test set from an MQM file alone."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path

import pytest

import gnomon as gn
from gnomon.core.errors import DataError, FormatError, UnknownNameError
from gnomon.data.formats import read_mqm_set, sets_in

HEADER = ["system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity"]
DOG, RAIN = "Der Hund schläft.", "Es regnet."


def row(
    system: str, doc: str, number: int, rater: str, source: str, target: str, *error: str
) -> str:
    return "\t".join([system, doc, "1", str(number), rater, source, target, *error])


CLEAN = ("No-error", "No-error")
MAJOR = ("Accuracy/Mistranslation", "Major")
ROWS = (
    row("alpha", "d2", 9, "r1", RAIN, "It <v>snows</v>.", *MAJOR),
    row("alpha", "d1", 3, "r1", DOG, "The dog sleeps.", *CLEAN),
    row("alpha", "d1", 3, "r2", DOG, "The dog <v>sleeps</v>.", "Style/Awkward", "Minor"),
    row("alpha", "d2", 10, "r1", RAIN, "It rains.", *CLEAN),
    row("ref", "d1", 3, "r1", DOG, "The dog is asleep.", *CLEAN),
    row("ref", "d2", 9, "r1", RAIN, "It is raining.", *CLEAN),
    row("ref", "d2", 10, "r1", RAIN, "It is raining again.", *CLEAN),
)


def written(folder: Path, rows: tuple[str, ...] = ROWS, name: str = "mqm_mini_deen.tsv") -> Path:
    file = folder / name
    file.write_text("\n".join(["\t".join(HEADER), *rows, ""]), encoding="utf-8")
    return file


def test_texts_come_from_the_rows_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    found = gn.TestSet.read(written(tmp_path))
    assert (found.name, found.language_pair) == ("mqm_mini_deen", "de-en")
    assert found.sources == (DOG, RAIN, RAIN)
    assert found.systems["alpha"] == ("The dog sleeps.", "It snows.", "It rains.")
    assert found.documents == ("d1", "d2", "d2")
    assert found.references == {}
    assert found.info["ref"].human


def test_scores_and_errors_find_their_segment_though_sources_repeat(tmp_path: Path) -> None:
    found = gn.TestSet.read(written(tmp_path))
    # alpha: the mean of 0 and -1 over two raters; -5 for a major error; clean
    assert found.human_scores("mqm").tolist() == [[-0.5, -5.0, 0.0], [0.0, 0.0, 0.0]]
    places = [
        (e.system, e.segment, found.systems[e.system][e.segment][e.start : e.end])
        for e in found.errors
    ]
    assert places == [("alpha", 1, "snows"), ("alpha", 0, "sleeps")]


def test_human_translations_become_references_when_named(tmp_path: Path) -> None:
    found = read_mqm_set(written(tmp_path), references=["ref"])
    assert found.references["ref"] == (
        "The dog is asleep.",
        "It is raining.",
        "It is raining again.",
    )
    assert list(found.systems) == ["alpha", "ref"]
    with pytest.raises(UnknownNameError, match="there are: alpha, ref"):
        read_mqm_set(written(tmp_path), references=["ref-A"])


def test_a_reference_that_was_not_rated_throughout_has_gaps_and_is_no_system(
    tmp_path: Path,
) -> None:
    found = read_mqm_set(written(tmp_path, ROWS[:-1]), references=["ref"])
    assert found.references["ref"] == ("The dog is asleep.", "It is raining.", None)
    assert list(found.systems) == ["alpha"]


def test_a_system_that_was_not_rated_throughout_is_refused_or_dropped(tmp_path: Path) -> None:
    file = written(tmp_path, ROWS[:-1])
    with pytest.raises(DataError, match=r"'ref' lacks 1 of 3 segments, .* segment 10 of .*'d2'"):
        read_mqm_set(file)
    assert list(read_mqm_set(file, incomplete="drop").systems) == ["alpha"]
    assert read_mqm_set(file, incomplete="empty").systems["ref"][2] == ""


def test_numbers_that_begin_anew_in_each_document_keep_the_order_of_the_file(
    tmp_path: Path,
) -> None:
    rows = (
        row("alpha", "d2", 1, "r1", RAIN, "It rains.", *CLEAN),
        row("alpha", "d1", 1, "r1", DOG, "The dog sleeps.", *MAJOR),
    )
    found = read_mqm_set(written(tmp_path, rows))
    assert found.sources == (RAIN, DOG)
    assert found.human_scores("mqm").tolist() == [[0.0, -5.0]]


def test_fields_that_a_spreadsheet_quoted_are_read_as_they_were_meant(tmp_path: Path) -> None:
    rows = (
        row("alpha", "d1", 1, "r1", DOG, '"He said ""<v>no</v>""."', *MAJOR),
        row("alpha", "d1", 2, "r1", RAIN, '"Quoted as a whole"', *CLEAN),
    )
    found = read_mqm_set(written(tmp_path, rows))
    assert found.systems["alpha"] == ('He said "no".', '"Quoted as a whole"')
    error = found.errors[0]
    assert found.systems["alpha"][0][error.start : error.end] == "no"


#: as google's wmt-mqm-human-evaluation has them: quotation marks are the texts' own
BARE = (
    (
        '"Kommst du?", fragte sie.',
        '"Are you coming?" <v>asked</v> she.',
        '"Will you come", she said.',
    ),
    ('Er sagte "nein".', 'He said <v>"no"</v>.', 'He said "no".'),
    ('"Nie wieder"', '<v>"Never again</v>"', '"Never again"'),
    ('Ende "offen', '"Open <v>end', 'End "open'),
    (DOG, "The dog sleeps.", "The dog sleeps."),
)
COLUMNS = [*HEADER[:2], "docSegId", "globalSegId", *HEADER[4:]]


def bare_rows() -> list[str]:
    lines = ["\t".join(COLUMNS)]
    for number, (source, alpha, beta) in enumerate(BARE, start=1):
        for system, target in (("alpha", alpha), ("beta", beta)):
            error = MAJOR if "<v>" in target else CLEAN
            lines.append(row(system, "d1", number, "r1", source, target, *error))
    return lines


def test_quotation_marks_that_are_the_texts_own_are_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "mqm_bare_deen.tsv"
    file.write_text("\n".join([*bare_rows(), ""]), encoding="utf-8")
    found = gn.TestSet.read(file)
    assert found.sources == tuple(source for source, _, _ in BARE)
    assert found.systems["alpha"] == tuple(
        alpha.replace("<v>", "").replace("</v>", "") for _, alpha, _ in BARE
    )
    assert found.systems["beta"] == tuple(beta for _, _, beta in BARE)
    marked = [found.systems["alpha"][e.segment][e.start : e.end] for e in found.errors]
    assert marked == ["asked", '"no"', '"Never again', ""]
    assert found.human_scores("mqm").tolist() == [[-5.0, -5.0, -5.0, -5.0, 0.0], [0.0] * 5]
    assert "1 errors have marks that do not pair up" in caplog.text
    again = replace(found, human=(), errors=(), looked_at=()).with_human(file)
    assert again.errors == found.errors


def test_the_segment_of_an_odd_row_is_left_out_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = bare_rows()
    lines[3] = lines[3].rpartition("\t")[0]  # alpha's second segment
    file = tmp_path / "mqm_odd_deen.tsv"
    file.write_text("\n".join([*lines, ""]), encoding="utf-8")
    found = gn.TestSet.read(file)
    assert found.sources == tuple(source for source, _, _ in (BARE[0], *BARE[2:]))
    assert found.human_scores("mqm").tolist() == [[-5.0, -5.0, -5.0, 0.0], [0.0] * 4]
    assert "1 odd rows are left out; the first: " in caplog.text
    assert "mqm_odd_deen.tsv:4: 8 tab-separated fields" in caplog.text
    assert "1 segments are left out, as odd rows hold an output of theirs" in caplog.text


def test_a_row_with_another_text_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = (*ROWS, row("alpha", "d1", 3, "r3", DOG, "A dog sleeps.", *CLEAN))
    with caplog.at_level(logging.WARNING):
        found = read_mqm_set(written(tmp_path, rows))
    assert found.systems["alpha"][0] == "The dog sleeps."
    assert "1 rows have another text than an earlier row" in caplog.text
    assert "the first is line 9" in caplog.text


def test_planted_errors_are_no_text_and_no_judgement(tmp_path: Path) -> None:
    rows = (*ROWS, row("alpha", "d9", 77, "r1", "x", "<v>y</v>", "HOTW", "HOTW-test"))
    assert gn.TestSet.read(written(tmp_path, rows)).segments == 3


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (row("alpha", "d1", 3, "r1", DOG, "x", "Style", "Awful"), r"tsv:2: there is no MQM weight"),
        ("\t".join(["alpha", "d1", "1", "x", "r", DOG, "x", *CLEAN]), r"tsv:2: seg_id is 'x'"),
        ("alpha\td1", r"tsv:2: 2 tab-separated fields"),
    ],
)
def test_damage_of_half_a_file_is_named_with_file_and_line(
    tmp_path: Path, bad: str, message: str
) -> None:
    with pytest.raises(FormatError, match=message):
        read_mqm_set(written(tmp_path, (bad,)))
    with pytest.raises(FormatError, match="has no rated segments"):
        read_mqm_set(written(tmp_path, ()))


def test_a_folder_of_mqm_files_is_searched_for_them(tmp_path: Path) -> None:
    (tmp_path / "ende").mkdir()
    written(tmp_path / "ende")
    [found] = sets_in(tmp_path)
    assert (found.format, found.language_pair) == ("wmt-mqm", "de-en")


def _judged(system: str, number: int, source: str, target: str, *errors: tuple[int, int, str]):
    found = [
        {
            "term": term,
            "startIndex": start,
            "endIndex": end,
            "error_category": "Linguistic_conventions",
            "error_subcategory": "Punctuation",
            "severity": "Critical" if term == "bites" else "Minor",
        }
        for start, end, term in errors
    ]
    about = {"MT_Engine": system, "DOC_ID": "d1", "SEG_ID": str(number), "Annotator_ID": "r1"}
    locales = {"source_locale": "dede", "target_locale": "enus"}
    texts = {"source": source, "target": target, "source_errors": [], "target_errors": found}
    return about | locales | texts


def test_json_of_bio_mqm_is_a_set_of_the_segments_that_hold_their_own_text(tmp_path: Path) -> None:
    folder = tmp_path / "de2en"
    folder.mkdir()
    own = [_judged("alpha", 1, DOG, "The dog bites.", (8, 12, "bites"), (13, 13, ".")),
           _judged("alpha", 2, RAIN, "It rains.", (0, 1, "Snow")),
           _judged("alpha", 3, "Ja.", "Yes.")]  # fmt: skip
    texts = [(DOG, "The dog sleeps."), (RAIN, "Rain."), (DOG, "The dog sleeps.")]
    human = [_judged("reference", n, *pair) for n, pair in enumerate(texts, start=1)]
    (folder / "alpha.json").write_text(json.dumps(own[::-1], indent=1))
    (folder / "reference.json").write_text(json.dumps(human))
    found = gn.TestSet.read(folder)
    assert (found.name, found.language_pair) == ("de2en", "de-en")
    assert found.references == {"reference": ("The dog sleeps.", "Rain.")}
    assert found.human_scores("mqm").tolist() == [[-5.1, -0.1], [0.0, 0.0]]
    places = [found.systems[e.system][e.segment][e.start : e.end] for e in found.errors]
    assert places == ["bites", ".", ""]  # the last one's word is not in the text
    bare = replace(found, human=(), errors=(), looked_at=())
    again = bare.with_human(folder / "alpha.json", weights={"critical": 10})
    assert again.human_scores("mqm")[0].tolist() == [-10.1, -0.1]
