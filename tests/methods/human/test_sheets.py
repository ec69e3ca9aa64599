"""Sheets to fill in: cells, files, errors, and what the answers come to."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from tests.truth.worlds_human_sheet import answered, preferring

import gnomon as gn
from gnomon.core.errors import DataError, FormatError, GnomonError
from gnomon.core.findings import Exhibit, ExhibitText, Finding, Highlight
from gnomon.data.formats import escape_cell, unescape_cell
from gnomon.human.answers import majority
from gnomon.human.sheets import (
    Key,
    KeyRow,
    Sheet,
    key_text,
    read_answers,
    read_key,
    sheet_text,
    sheet_workbook,
)


def _row(number: int, feature: str, a: str, better: str = "x") -> KeyRow:
    b = "y" if a == "x" else "x"
    return KeyRow(f"gtest-{number:03d}", feature, number, a, b, better)


KEY = Key(
    "gtest",
    {
        row.item: row
        for row in (_row(1, "pos:NOUN", "x"), _row(2, "pos:NOUN", "y"), _row(3, "ent:GPE", "y"),
                    _row(4, "ent:GPE", "x"))
    },
    "muler",
    "bleu|refs:1",
)  # fmt: skip
HOSTILE = ("=1+1", "+1", "-1", "@SUM(A1)", '"quoted" first', "'tis", "a\tb", "c\\td", "\x1b[1m", "")


def _sheet() -> Sheet:
    def exhibit(at: int) -> Exhibit:
        marks = (Highlight(0, 1),) if at == 0 else ()
        texts = (
            ExhibitText("source", "", HOSTILE[at]),
            ExhibitText("reference", "A", HOSTILE[at + 1], marks),
            ExhibitText("candidate", "A", HOSTILE[at + 2]),
            ExhibitText("candidate", "B", HOSTILE[at + 3]),
        )
        return Exhibit("pos:NOUN", "A or B", 0, texts)

    return Sheet("gtest", {row: exhibit(n) for n, row in enumerate(KEY.rows)}, "Which?")


@given(st.text() | st.sampled_from(HOSTILE))
def test_cells_are_read_as_they_were_written_and_run_as_nothing(text: str) -> None:
    cell = escape_cell(text)
    assert unescape_cell(cell) == text
    assert not cell.startswith(tuple('=+-@＝＋－＠"\t\r\n'))
    assert not set(cell) & set("\t\n\r\0")
    cell.encode()


@given(st.text(alphabet=st.characters(blacklist_categories=["Cs"])))
def test_a_spreadsheet_may_quote_every_cell(text: str) -> None:
    quoted = '"' + escape_cell(text).replace('"', '""') + '"'
    assert unescape_cell(quoted) == text


def test_a_sheet_is_a_plain_table_for_any_spreadsheet(tmp_path: Path) -> None:
    (tmp_path / "s.tsv").write_text(sheet_text(_sheet()), encoding="utf-8")
    with (tmp_path / "s.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))  # quotation marks have their meaning here
    assert list(rows[0]) == [
        "item", "feature", "source", "reference A", "A", "B", "answer", "comment",
    ]  # fmt: skip
    assert [row["item"] for row in rows] == list(KEY.rows)
    assert rows[0]["source"] == "'=1+1"
    assert rows[0]["reference A"] == "⟦+⟧1"
    assert [unescape_cell(rows[3][name]) for name in "AB"] == list(HOSTILE[5:7])


def test_a_sheet_is_a_workbook_that_offers_the_answers_and_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "anna.xlsx"
    path.write_bytes(sheet_workbook(_sheet(), scalar=False))
    book = openpyxl.load_workbook(path)
    sheet = book.worksheets[0]
    assert [sheet["C2"].data_type, sheet["C2"].value] == ["s", "'=1+1"]
    (choice,) = sheet.data_validations.dataValidation
    assert (choice.formula1, str(choice.sqref)) == ('"A,B,tie"', "G2:G5")
    sheet["G2"], sheet["G4"], sheet["H4"] = "b", "Tie", "two\nlines"
    book.save(path)
    found = read_answers([path], KEY)
    assert [(one.annotator, one.answer, one.comment) for one in found] == [
        ("anna", "B", ""), ("anna", "", ""), ("anna", "tie", "two\nlines"), ("anna", "", ""),
    ]  # fmt: skip


def test_scores_are_read_from_the_numbers_of_a_workbook(tmp_path: Path) -> None:
    rows = {name: replace(row, b="", expected="") for name, row in KEY.rows.items()}
    path = tmp_path / "ben.xlsx"
    path.write_bytes(sheet_workbook(_sheet(), scalar=True))
    book = openpyxl.load_workbook(path)
    sheet = book.worksheets[0]
    assert sheet.data_validations.dataValidation[0].type == "decimal"
    sheet["G2"], sheet["G3"] = 85, 12.5
    book.save(path)
    found = read_answers([path], replace(KEY, rows=rows))
    assert [one.answer for one in found] == ["85.0", "12.5", "", ""]


def test_a_key_is_read_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "key.tsv").write_text(key_text(KEY), encoding="utf-8")
    assert read_key(tmp_path / "key.tsv") == KEY


def _read(*paths: Path) -> Finding:
    file = paths[0].with_name("key of the test.tsv")
    file.write_text(key_text(KEY), encoding="utf-8")
    return gn.human.sheet(read=paths, key=file)


def _filled(path: Path, answers: str, header: str = "item\tanswer\tcomment") -> Path:
    path.write_text(f"{header}\n{answers}", encoding="utf-8")
    return path


def test_answers_are_read_from_filled_sheets_whatever_their_case_and_line_ends(
    tmp_path: Path,
) -> None:
    (tmp_path / "s.tsv").write_text(sheet_text(_sheet()), encoding="utf-8")
    text = (tmp_path / "s.tsv").read_text(encoding="utf-8").split("\n")
    for line, answer in ((1, "a"), (2, " B "), (3, '"tie"')):
        cells = text[line].split("\t")
        cells[6] = answer
        text[line] = "\t".join(cells)
    (tmp_path / "anna.tsv").write_bytes(("\ufeff" + "\r\n".join(text) + "\t\t\r\n").encode())
    found = read_answers([tmp_path / "anna.tsv"], KEY)
    assert [(one.annotator, one.answer) for one in found] == [
        ("anna", "A"), ("anna", "B"), ("anna", "tie"), ("anna", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("item\tanswer\ngtest-001\tC\n", ":2:", "allowed are A, B, tie"),
        ("item\tanswer\ngtest-001\tA\n\t\n\tB\n", ":4:", "no item"),
        ("item\tanswer\ngtest-001\tA\ngtest-001\tB\n", ":3:", "answered before by 'f', in"),
        ("item,answer\ngtest-001,A\n", ":1:", "it has: 'item,answer'"),
        ("item\tanswer\ngtest-001\tA\tmore\n", ":2:", "3 cells"),
        ("", ":1:", "it has: nothing"),
        ('{"answers": []}', ":", "save the answers as TSV"),
    ],
)  # fmt: skip
def test_faults_are_named_with_file_and_line(
    tmp_path: Path, text: str, place: str, said: str
) -> None:
    (tmp_path / "f.tsv").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        read_answers([tmp_path / "f.tsv"], KEY)
    assert f"f.tsv{place}" in str(caught.value)
    assert said in str(caught.value)


@given(
    st.text()
    | st.lists(st.sampled_from(["item", "answer", "A", "{", '"', "\t", "\n"])).map("".join)
)
def test_no_file_brings_the_reader_down(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "f.tsv"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    for read in (lambda: read_answers([path], KEY), lambda: read_key(path)):
        try:
            read()
        except GnomonError:
            continue


def test_an_item_of_another_study_is_refused(tmp_path: Path) -> None:
    path = _filled(tmp_path / "f.tsv", "gtest-001\tA\t\ngother-001\tB\t\n")
    with pytest.raises(FormatError, match=r"f.tsv:3: item 'gother-001' .* study 'gtest'"):
        _read(path)


def test_an_empty_sheet_is_no_answer(tmp_path: Path) -> None:
    path = _filled(tmp_path / "f.tsv", "gtest-001\t\t\n")
    with pytest.raises(DataError, match=r"no item is answered in .*f\.tsv"):
        _read(path)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("\tx\ty\t", "\tz\ty\t", "'expected' one of them or nothing"),
        ("\tx\ty\t", "\ty\ty\t", "'a' and 'b' must be two systems"),
        ("\t1\tx", "\tmuch\tx", "segment is 'much'; give the key as gnomon wrote it"),
        ("gtest-002", "gtest-001", "occurs twice in the key"),
        ("expected", "better", "must name the column 'expected'"),
    ],
)
def test_a_damaged_key_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    (tmp_path / "key.tsv").write_text(key_text(KEY), encoding="utf-8")
    text = (tmp_path / "key.tsv").read_text(encoding="utf-8")
    (tmp_path / "key.tsv").write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(FormatError, match=said):
        read_key(tmp_path / "key.tsv")


def _judged(tmp_path: Path, **sheets: str) -> dict[tuple[str, str], dict[str, object]]:
    paths = []
    for name, answers in sheets.items():
        words = ({"=": "tie", ".": ""}.get(answer, answer) for answer in answers)
        lines = [f"gtest-{n:03d}\t{word}\t\n" for n, word in enumerate(words, start=1)]
        paths.append(_filled(tmp_path / f"{name}.tsv", "".join(lines)))
    found = _read(*paths)
    return {(row["annotator"], row["feature"]): dict(row) for row in found}


def test_answers_are_counted_for_the_system_that_muler_calls_better(tmp_path: Path) -> None:
    # x is better in all four; it is A in items 1 and 4
    rows = _judged(tmp_path, anna="AA=.")
    whole = rows["anna", "all"]
    counts = ("items", "open", "preferred", "other_preferred", "ties")
    assert [whole[name] for name in counts] == [4, 1, 1, 1, 1]
    assert whole["share"] == 0.5
    assert whole["p"] == 1.0
    assert rows["anna", "ent:GPE"]["share"] is None
    assert rows["anna", "ent:GPE"]["p"] is None


def test_the_published_table_comes_out_of_its_counts(tmp_path: Path) -> None:
    # Karidi et al., table 10: 94 of 103 decided answers
    rows = [_row(n, "pos:NOUN", "x" if n % 2 else "y") for n in range(1, 121)]
    key = Key("gtest", {row.item: row for row in rows}, "muler", "bleu")
    lines = []
    for n, row in enumerate(rows):
        good, bad = ("A", "B") if row.a == "x" else ("B", "A")
        lines.append(f"{row.item}\t{good if n < 94 else bad if n < 103 else 'tie'}\t\n")
    anna = _filled(tmp_path / "anna.tsv", "".join(lines))
    (tmp_path / "key.tsv").write_text(key_text(key), encoding="utf-8")
    found = gn.human.sheet(read=[anna], key=tmp_path / "key.tsv")
    whole = found.rows[0]
    assert whole["share"] == pytest.approx(0.913, abs=5e-4)
    assert whole["p"] == pytest.approx(binomtest(94, 103).pvalue, rel=1e-9)
    assert whole["ties"] == 17
    first, second = found.verdict
    assert str(first).startswith("People prefer systems of lower MuLER to systems of higher MuLER")
    assert second.level == "finding"


def test_several_annotators_are_joined_by_majority_and_compared(tmp_path: Path) -> None:
    rows = _judged(tmp_path, anna="ABBA", ben="ABAA", eve="AA=.")
    assert list(dict.fromkeys(name for name, _ in rows)) == ["majority", "anna", "ben", "eve"]
    assert rows["majority", "all"]["preferred"] == 3
    assert rows["majority", "all"]["ties"] == 1  # item 3: one for each side, and a tie
    assert rows["anna", "all"]["preferred"] == 4


def test_one_annotator_may_fill_two_files(tmp_path: Path) -> None:
    header = "annotator\titem\tanswer"
    paths = [
        _filled(tmp_path / "1.tsv", "Anna\tgtest-001\tA\n", header),
        _filled(tmp_path / "2.tsv", "Anna\tgtest-002\tB\n", header),
    ]
    (whole, *_) = _read(*paths).rows
    assert (whole["annotator"], whole["preferred"], whole["open"]) == ("Anna", 2, 2)


def test_answers_are_listed_with_names_and_comments(tmp_path: Path) -> None:
    path = _filled(tmp_path / "anna.tsv", "gtest-002\tA\tworse verb\ngtest-003\t\t\n")
    found = _read(path)
    (row,) = found.table("answers").rows
    assert (row["preferred"], row["expected"]) == ("y", "x")
    assert (row["segment"], row["comment"]) == (2, "worse verb")


_given = st.dictionaries(st.sampled_from("12345"), st.sampled_from(["A", "B", "tie"]), min_size=1)


@given(st.dictionaries(st.sampled_from("xyz"), _given, min_size=1))
def test_majority_of_one_is_that_one_and_order_does_not_matter(
    given_answers: dict[str, dict[str, str]],
) -> None:
    assert majority(dict(reversed(given_answers.items()))) == majority(given_answers)
    for answers in given_answers.values():
        assert majority({"only": answers}) == answers


@pytest.mark.parametrize(
    ("agree", "level", "first"),
    [(70, "finding", "lower"), (55, "undecided", "lower"), (30, "finding", "higher")],
)
def test_people_agree_disagree_or_leave_it_open(agree: int, level: str, first: str) -> None:
    whole, found = preferring(agree).verdict
    assert whole.level == found.level == level
    assert f"prefer systems of {first} MuLER to systems of" in str(found)
    assert "on nouns" in str(found)
    assert "of 100 decided items" in str(found)


def test_two_outputs_under_several_features_are_one_item() -> None:
    features = ("pos:NOUN", "pos:VERB", "pos:ADJ")
    rows = [KeyRow(f"s-{n}{f}", f, n, "x", "y", "x") for n in range(1, 13) for f in features]
    found = answered(rows, ["B" if row.segment > 10 else "A" for row in rows])
    (every, *_) = found.rows
    assert (every["feature"], every["items"], every["open"]) == ("all", 12, 0)
    assert (every["preferred"], every["other_preferred"]) == (10, 2)
    assert every["p"] == pytest.approx(binomtest(10, 12).pvalue)
    assert [one.code for one in found.verdict] == ["data.few"]
