"""What files are, before anything is made of them."""

from __future__ import annotations

import gzip
import json
import os
import zipfile
from typing import TYPE_CHECKING

import msgspec
import openpyxl
import pytest
from tests.data.formats.wmt_files import small_set, to_xml
from tests.serve.comparisons import BETTER, REFERENCE, WORSE, choices, upload

from gnomon import TestSet, example
from gnomon.serve.comparison import ComparisonChoices, ComparisonRecord, FileChoice
from gnomon.serve.encodings import certain_encoding, proposals
from gnomon.serve.inspect import Inspection, inspect
from gnomon.serve.job_files import inspect_draft, make_texts
from gnomon.serve.language import guess_language

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon.serve.jobs import Queue
    from gnomon.serve.workspace import Workspace


def look(folder: Path, files: dict[str, bytes | list[str]], **encodings: str) -> Inspection:
    folder.mkdir(exist_ok=True)
    given = {}
    for number, (name, content) in enumerate(files.items()):
        data = (
            content if isinstance(content, bytes) else "".join(f"{c}\n" for c in content).encode()
        )
        (folder / str(number)).write_bytes(data)
        given[number] = (name, folder / str(number))
    confirmed = {list(files).index(name): encoding for name, encoding in encodings.items()}
    inspection = inspect(given, confirmed)
    return msgspec.json.decode(msgspec.json.encode(inspection), type=Inspection)  # as it travels


_SENTENCES = {
    "de": "Die Größe der Äpfel überrascht den Käufer; für Jürgen wäre das nicht auf der Straße.",
    "ru": "Мы вчера не были в городе, но это не важно для него и не на что смотреть, как он.",
    "pl": "Zażółć gęślą jaźń, że to jest wszystko, co nie mógł zrobić, i wciąż są źli na to się.",
    "zh": "我们昨天没有去城里,但是这并不重要。今天天气很好,大家都很高兴地说了很多的话。",
    "ja": "私たちは昨日、町へ行きませんでした。しかし、それは重要ではありません。",
    "ko": "우리는 어제 도시에 가지 않았다. 그러나 그것은 중요하지 않다.",
    "kk": "Біз кеше қалаға барған жоқпыз, бірақ бұл маңызды емес, өйткені оның ұлы үйде болған.",
    "fa": "ما دیروز به شهر نرفتیم، اما این چیز مهمی نیست و پدرم گفت که باید برگردیم.",
    "el": "Δεν πήγαμε χθες στην πόλη, αλλά αυτό δεν είναι σημαντικό.",
}


@pytest.mark.parametrize(
    ("language", "encoding", "first"),
    [
        ("de", "cp1252", "cp1252"),
        ("de", "utf-16", "utf-16"),
        ("de", "utf-16-le", "utf-16-le"),
        ("de", "utf-16-be", "utf-16-be"),
        ("de", "utf-32", "utf-32"),
        ("ru", "cp1251", "cp1251"),
        ("ru", "koi8-r", "koi8-r"),
        ("ru", "utf-16-be", "utf-16-be"),
        ("pl", "cp1250", "cp1250"),
        ("pl", "iso8859-2", "iso8859-2"),
        ("zh", "gb18030", "gb18030"),
        ("zh", "utf-16-le", "utf-16-le"),
        ("ja", "shift_jis", "shift_jis"),
        ("ja", "euc-jp", "euc-jp"),
        ("ko", "euc-kr", "euc-kr"),
        ("el", "cp1253", "cp1253"),
    ],
)
def test_other_encodings_are_proposed_with_their_first_lines_and_never_taken_silently(
    tmp_path: Path, language: str, encoding: str, first: str
) -> None:
    sentence = _SENTENCES[language]
    data = (f"{sentence}\n" * 12).encode(encoding)
    files = {"ref.txt": data, "a.txt": BETTER[:12]}
    inspection = look(tmp_path, files)
    file = inspection.files[0]
    assert (file.encoding, file.segments) == (None, None)
    assert not inspection.ready
    (problem,) = file.problems
    assert problem.stops
    assert problem.text.startswith("ref.txt is not in UTF-8. It looks like ")
    remedy = problem.remedies[0]
    assert (remedy.id, remedy.encoding) == ("encoding", first)
    assert remedy.lines == [sentence] * 3
    again = look(tmp_path / "again", files, **{"ref.txt": first})
    assert (again.files[0].encoding, again.files[0].segments) == (first, 12)
    assert again.files[0].first == [sentence] * 3
    assert again.files[0].problems == []


def test_utf_8_is_taken_with_and_without_a_mark(tmp_path: Path) -> None:
    text = "Größe\r\nÄpfel"
    with_mark, without = look(
        tmp_path, {"a.txt": text.encode("utf-8-sig"), "b.txt": text.encode()}
    ).files
    assert (with_mark.encoding, without.encoding) == ("utf-8-sig", "utf-8")
    assert with_mark.first == without.first == ["Größe", "Äpfel"]
    assert certain_encoding(text.encode("cp1252")) is None


def test_a_wrong_encoding_that_was_confirmed_is_refused(tmp_path: Path) -> None:
    data = "我们昨天没有去城里\n".encode("gb18030")
    (file,) = look(tmp_path, {"a.txt": data}, **{"a.txt": "utf-8"}).files
    assert (file.kind, file.segments) == ("unreadable", None)
    assert file.problems[0].text == "a.txt:1: cannot be read as utf-8."


def _docx(folder: Path) -> bytes:
    with zipfile.ZipFile(folder / "x.zip", "w") as archive:
        archive.writestr("[Content_Types].xml", "<a/>")
        archive.writestr("word/document.xml", "<a/>")
    return (folder / "x.zip").read_bytes()


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.txt", b"", "a.txt is empty."),
        ("a.docx", None, "a.docx is a Word file. Save it as plain text, one segment per line, and"),
        ("a.txt", None, "a.txt is a Word file. Save it as plain text"),
        (
            "a.zip",
            b"PK\x03\x04xx",
            "a.zip is a ZIP archive, which is not opened here. Open it on your machine, take",
        ),
        ("a.ods", b"PK\x03\x04xx", "a.ods is a spreadsheet. Save it as XLSX or CSV"),
        ("a.xlsx", b"PK\x03\x04xx", "a.xlsx"),
        ("a.pdf", b"%PDF-1.4\n\0", "a.pdf is a PDF file. Save its text as plain text"),
        ("a.doc", b"\xd0\xcf\x11\xe0\0\0", "a.doc is a Word file. Save it as plain text"),
        ("a.txt", bytes(range(256)) * 9, "a.txt is no text. Choose a file of plain text."),
        ("a.txt.gz", b"\x1f\x8b\x08\0", "a.txt.gz is compressed by gzip. Unpack it"),
        ("a.txt", b"\n \n\n", "All lines of a.txt are empty."),
        ("a.xml", b"<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><x>&e;</x>", "a.xml"),
    ],
)
def test_what_is_no_text_is_refused_in_a_sentence(
    tmp_path: Path, name: str, data: bytes | None, said: str
) -> None:
    (file,) = look(tmp_path / "files", {name: _docx(tmp_path) if data is None else data}).files
    assert file.problems[0].text.startswith(said)
    assert file.problems[0].stops
    assert "root:" not in str(file)
    assert str(tmp_path) not in str(file)


def _zip(folder: Path, files: dict[str, bytes]) -> bytes:
    with zipfile.ZipFile(folder / "all.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return (folder / "all.zip").read_bytes()


def _sent(workspace: Workspace, name: str, data: bytes) -> tuple[str, Inspection]:
    """A draft of one file, and what a look at it found."""
    draft, uploads = workspace.new_draft("ann")
    (uploads / "0").write_bytes(data)
    workspace.name_files(draft, [name])
    assert inspect_draft(workspace.draft_folder(draft), 4, 2_000_000, 3_000_000) == 0
    found = workspace.inspection(draft)
    assert found is not None
    return draft, found


def test_a_gzipped_file_is_unpacked_and_its_size_counted(workspace: Workspace) -> None:
    _, found = _sent(workspace, "a.txt.gz", gzip.compress(_as_text(BETTER)))
    assert [(f.file, f.name, f.segments) for f in found.files] == [(1, "a.txt", len(BETTER))]
    _, found = _sent(workspace, "b.txt.gz", gzip.compress(bytes(1_900_000)))
    assert found.files[0].problems[0].text.startswith("b.txt.gz holds more, unpacked, than")


def test_n_best_lists_and_logs_without_references_are_outputs(
    workspace: Workspace, tmp_path: Path
) -> None:
    nbest = "".join(f"{n} ||| {text} ||| -1\n{n} ||| x\n" for n, text in enumerate(BETTER))
    batch = [
        json.dumps({"custom_id": str(n), "response": {"body": {"output": [
            {"type": "message", "content": [{"text": text}]}
        ]}}}) for n, text in enumerate(WORSE)
    ][::-1]  # fmt: skip
    files = {"ref.txt": REFERENCE, "nbest.txt": nbest.encode(), "batch.jsonl": batch}
    seen = look(tmp_path / "seen", files)
    assert [(f.kind, f.role, f.segments) for f in seen.files] == [
        ("text", "reference", len(REFERENCE)), ("text", "output", len(BETTER)),
        ("outputs", "output", len(WORSE)),
    ]  # fmt: skip
    assert seen.ready
    (file,) = look(
        tmp_path / "table", {"a.csv": ["A cat.,Un gat.", "Two.,Dos.", "Six.,Sis."]}
    ).files
    assert "the first line of a.csv holds texts ('A cat.')" in file.problems[0].text
    draft, found = _sent(workspace, "all.zip", _zip(tmp_path, {
        name: data if isinstance(data, bytes) else _as_text(data) for name, data in files.items()
    }))  # fmt: skip
    chosen = [
        FileChoice(file=f.file, name=f.name, role=f.role, title=f.title, kind=f.kind)  # type: ignore[arg-type]  # of these
        for f in found.files
    ]
    made = texts_of(workspace, draft, ComparisonChoices(files=chosen))
    assert made.systems == {"nbest": tuple(BETTER), "batch.jsonl": tuple(WORSE)}


def test_the_files_of_an_archive_take_its_place(workspace: Workspace, tmp_path: Path) -> None:
    files = {
        "set/": b"",
        "set/ref.txt": _as_text(REFERENCE),
        "../../systems/a.txt": _as_text(BETTER),
        "/etc/b.txt": _as_text(WORSE),
        "__MACOSX/set/._ref.txt": b"x",
        "set/.DS_Store": b"x",
    }
    draft, found = _sent(workspace, "all.zip", _zip(tmp_path, files))
    assert [(f.file, f.name, f.role) for f in found.files] == [
        (1, "ref.txt", "reference"), (2, "a.txt", "output"), (3, "b.txt", "output"),
    ]  # fmt: skip
    there = workspace.draft_folder(draft) / "uploads"
    assert sorted(file.name for file in there.iterdir()) == ["1", "2", "3"]
    assert inspect_draft(workspace.draft_folder(draft), 4, 2_000_000, 3_000_000) == 0
    assert workspace.inspection(draft) == found  # nothing is unpacked twice
    chosen = [
        FileChoice(file=f.file, name=f.name, role=f.role, title=f.title)  # type: ignore[arg-type]  # of these
        for f in found.files
    ]
    made = texts_of(workspace, draft, ComparisonChoices(files=chosen))
    assert made.systems == {"a": tuple(BETTER), "b": tuple(WORSE)}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({f"{n}.txt": b"a\n" for n in range(5)}, "all.zip holds more than 4 files."),
        ({"a.txt": bytes(1_900_000)}, "all.zip holds more, unpacked, than this server takes."),
        ({"a.txt": bytes(range(256)) * 9000}, "all.zip holds more, unpacked, than this"),
        ({f"{n}.txt": os.urandom(1_600_000) for n in range(2)}, "all.zip holds more, unpacked"),
        ({"folder/": b""}, "all.zip holds no files."),
        ({"in.zip": b"PK\x03\x04xx"}, "in.zip is a ZIP archive, which is not opened here."),
        ({}, "all.zip"),
    ],
)
def test_an_archive_of_too_much_is_refused_in_a_sentence(
    workspace: Workspace, tmp_path: Path, files: dict[str, bytes], said: str
) -> None:
    data = _zip(tmp_path, files) if files else b"PK\x03\x04" + bytes(99)
    draft, found = _sent(workspace, "all.zip", data)
    (file,) = found.files
    assert file.problems[0].text.startswith(said)
    assert file.problems[0].stops
    left = (workspace.draft_folder(draft) / "uploads").iterdir()
    assert sum(each.stat().st_size for each in left) < 3_000_000 + len(data)


@pytest.mark.parametrize(
    ("method", "place", "bytes_"),
    [
        (zipfile.ZIP_LZMA, 45, b"\xff" * 9),  # of the compressed file
        (zipfile.ZIP_BZIP2, 45, b"\xff" * 9),
        (zipfile.ZIP_DEFLATED, 7, b"\x08"),  # says that the name is UTF-8
    ],
)
def test_a_damaged_archive_is_refused_in_a_sentence(
    workspace: Workspace, tmp_path: Path, method: int, place: int, bytes_: bytes
) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w", method) as archive:
        archive.writestr("a.txt", "A cat sat on the mat.\n" * 99)
    data = bytearray((tmp_path / "all.zip").read_bytes())
    data[place : place + len(bytes_)] = bytes_
    if place == 7:  # so does the list at the end
        data[data.index(b"PK\x01\x02") + 9] = 8
        data = data.replace(b"a.txt", b"\xff.txt")
    _, found = _sent(workspace, "all.zip", bytes(data))
    (file,) = found.files
    assert file.problems[0].text == (
        "all.zip cannot be unpacked here: it is damaged, or has a password."
    )


def _as_text(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def test_long_lines_are_said_and_shown_in_part(tmp_path: Path) -> None:
    (file,) = look(tmp_path, {"a.txt": ["short", "long " * 10_000]}).files
    assert len(file.first[1]) < 500
    (problem,) = file.problems
    assert (problem.line, problem.stops) == (2, False)
    assert problem.text.startswith("Line 2 of a.txt has 50,000 characters")


def test_a_table_of_very_many_columns_is_read_as_lines(tmp_path: Path) -> None:
    (file,) = look(tmp_path, {"a.tsv": ["\t".join("ab" * 100_000)] * 3}).files
    assert (file.kind, file.segments) == ("text", 3)


@pytest.fixture(scope="module")
def real() -> TestSet:
    return TestSet.read(example.path())


def test_roles_are_told_by_names(tmp_path: Path, real: TestSet) -> None:
    files = {
        "src.es.txt": list(real.sources or ()),
        "newstest-ref.txt": [text or "" for text in real.references["A"]],
        **{f"{name}.txt": list(lines) for name, lines in list(real.systems.items())[:2]},
    }
    inspection = look(tmp_path, files)
    assert [file.role for file in inspection.files] == ["source", "reference", "output", "output"]
    assert inspection.files[0].why == "its name says source"
    assert inspection.language_pair == "es-en"
    assert inspection.segments == real.segments
    assert inspection.ready, inspection


def test_roles_are_told_by_what_files_hold(tmp_path: Path, real: TestSet) -> None:
    one, two, *_ = real.systems.values()
    files = {
        "1.txt": list(one),
        "2.txt": [text or "" for text in real.references["A"]],
        "3.txt": list(two),
        "4.txt": list(real.sources or ()),
    }
    inspection = look(tmp_path, files)
    assert [file.role for file in inspection.files] == ["output", "reference", "output", "source"]
    assert inspection.files[3].why == "it alone is in another language"


@pytest.mark.parametrize(("line", "shift"), [(12, 1), (20, -1)])
def test_a_file_that_is_shifted_is_said_before_anything_runs(
    tmp_path: Path, real: TestSet, line: int, shift: int
) -> None:
    reference = [text or "" for text in real.references["A"]] * 2
    output = [text.replace(" the ", " a ") for text in reference]
    shifted = (
        [*output[:line], *output[line + 1 :], output[-1]]
        if shift > 0
        else [*output[:line], "", *output[line:-1]]
    )
    inspection = look(tmp_path, {"ref.txt": reference[:60], "b.txt": shifted[:60]})
    (drift,) = inspection.drifts
    assert (drift.file, drift.beside, drift.shift) == (1, 0, shift)
    assert abs(drift.line - line) <= 2
    assert "b.txt is off by 1 line" in drift.text
    assert not inspection.ready
    assert drift.lines
    assert drift.others


def test_different_counts_are_said_with_the_place_where_files_drift_apart(
    tmp_path: Path, real: TestSet
) -> None:
    reference = [text or "" for text in real.references["A"]]
    output = [text.replace(" the ", " a ") for text in reference]
    files = {"ref.txt": reference, "src.txt": [*output[:15], *output[16:]], "b.txt": output}
    inspection = look(tmp_path, files)
    assert inspection.counts_differ
    assert inspection.segments == 0
    (drift,) = inspection.drifts
    assert (drift.file, drift.shift) == (1, 1)
    assert 14 <= drift.line <= 17


def test_outputs_with_other_lines_are_said_to_be_aligned(tmp_path: Path, real: TestSet) -> None:
    reference = [text or "" for text in real.references["A"]]
    files = {"ref.txt": reference, "a.txt": [*reference[:15], *reference[16:]], "b.txt": reference}
    inspection = look(tmp_path, files)
    assert (inspection.counts_differ, inspection.segments) == (False, len(reference))
    assert not inspection.drifts
    (problem,) = inspection.files[1].problems
    assert "lines are aligned when you compare" in problem.text
    assert not problem.stops


def test_files_that_go_together_have_no_drift(tmp_path: Path, real: TestSet) -> None:
    reference = [text or "" for text in real.references["A"]]
    files = {"ref.txt": reference, **{f"{k}.txt": list(v) for k, v in real.systems.items()}}
    inspection = look(tmp_path, files)
    assert (inspection.drifts, inspection.notes) == ([], [])
    assert look(tmp_path, {"ref.txt": REFERENCE, "a.txt": BETTER, "b.txt": WORSE}).ready


def test_texts_that_look_wrong_are_said(tmp_path: Path, real: TestSet) -> None:
    source = list(real.sources or ())
    files = {
        "ref.txt": [text or "" for text in real.references["A"]],
        "src.txt": source,
        "a.txt": source,
    }
    assert any("of 209 segments untranslated" in note for note in look(tmp_path, files).notes)


@pytest.mark.parametrize("language", ["de", "ru", "zh", "ja", "ko", "kk", "fa", "el"])
def test_languages_are_guessed(language: str) -> None:
    assert guess_language([_SENTENCES[language]] * 2) == language


def test_no_language_is_guessed_of_numbers_or_nothing() -> None:
    assert guess_language(["1 2 3", "4"]) is None
    assert guess_language([]) is None
    assert proposals(b"") == []


def test_a_published_file_is_a_test_set_of_its_own(queue: Queue) -> None:
    xml = to_xml(small_set())
    draft = upload(queue.workspace, {"newstest2021.de-en.all.xml": xml.splitlines()})
    inspection = queue.inspect(draft)
    (file,) = inspection.files
    assert (file.kind, file.role) == ("set", "set"), file
    assert len(file.systems) > 1
    wanted = choices("compare")
    wanted.files = [FileChoice(file=0, name=file.name, role="set", kind=file.kind)]
    assert list(texts_of(queue.workspace, draft, wanted).systems) == file.systems


def texts_of(workspace: Workspace, draft: str, wanted: ComparisonChoices) -> TestSet:
    """What a comparison of a draft would read."""
    about = ComparisonRecord(owner="ann", made="", choices=wanted)
    folder = workspace.draft_folder(draft)
    assert make_texts(folder, about) is None
    return TestSet.read(folder / "texts")


_SOURCES = [f"Satz {n}" for n in range(30)]


@pytest.mark.parametrize("suffix", ["tsv", "csv", "jsonl", "xlsx"])
def test_a_table_of_texts_is_a_test_set_of_its_own(queue: Queue, suffix: str) -> None:
    names = ("id", "source", "reference", "mt one", "mt two")
    texts = zip(map(str, range(30)), _SOURCES, REFERENCE, BETTER, WORSE, strict=True)
    rows = [dict(zip(names, row, strict=True)) for row in texts]
    cells = [list(rows[0]), *(list(row.values()) for row in rows)]
    between = {"tsv": "\t", "csv": ","}.get(suffix)
    lines = [between.join(row) for row in cells] if between else [
        msgspec.json.encode(row).decode() for row in rows
    ]  # fmt: skip
    draft = upload(queue.workspace, {f"texts.{suffix}": lines})
    if suffix == "xlsx":
        book = openpyxl.Workbook()
        for row in cells:
            book.active.append(row)
        book.save(queue.workspace.draft_folder(draft) / "uploads" / "0")
    (file,) = queue.inspect(draft).files
    assert (file.kind, file.segments, file.systems) == ("set", 30, ["mt one", "mt two"])
    wanted = choices("compare")
    wanted.files = [FileChoice(file=0, name=file.name, role="set", kind=file.kind)]
    assert texts_of(queue.workspace, draft, wanted).sources == tuple(_SOURCES)


def test_an_encoding_that_is_confirmed_is_that_of_the_comparison(queue: Queue) -> None:
    draft = upload(queue.workspace, {"ref.txt": REFERENCE, "a.txt": BETTER, "b.txt": WORSE})
    odd = [line.replace("cat", "Kätzchen") for line in BETTER]
    file = queue.workspace.draft_folder(draft) / "uploads" / "1"
    file.write_bytes("".join(f"{line}\n" for line in odd).encode("utf-16"))
    assert not queue.inspect(draft).ready
    assert queue.inspect(draft, {1: "utf-16"}).ready
    assert queue.inspect(draft).files[1].encoding == "utf-16"  # it is remembered
    wanted = choices("compare")
    wanted.files[1].encoding = "utf-16"
    assert list(texts_of(queue.workspace, draft, wanted).systems["a"]) == odd


def to_xliff(sources: list[str], targets: list[str], order: list[int]) -> bytes:
    units = "".join(
        f'<trans-unit id="{n}"><source><g id="1">{sources[n]}</g></source>'
        f"<target>{targets[n]}</target></trans-unit>"
        for n in order
    )
    return (
        '<xliff version="1.2"><file source-language="de" target-language="en"><body>'
        f"{units}</body></file></xliff>"
    ).encode()


def test_translation_units_are_joined_by_their_ids(queue: Queue) -> None:
    order = list(range(30))
    files = {
        "ref.xlf": to_xliff(_SOURCES, REFERENCE, order),
        "a.txt": to_xliff([*_SOURCES, "x"], [*BETTER, "y"], [30, *order[::-1]]),  # called otherwise
        "b.txt": "".join(f"{line}\n" for line in WORSE).encode(),
    }
    draft, uploads = queue.workspace.new_draft("ann")
    for number, content in enumerate(files.values()):
        (uploads / str(number)).write_bytes(content)
    queue.workspace.name_files(draft, list(files))
    seen = queue.inspect(draft)
    assert [file.kind for file in seen.files] == ["xliff", "xliff", "text"]
    assert [file.segments for file in seen.files] == [30, 31, 30]
    assert (seen.segments, seen.counts_differ) == (30, False)
    assert not seen.drifts
    assert seen.files[0].first == REFERENCE[:3]
    chosen = [
        FileChoice(file=n, name=file.name, role=role, title=file.title, kind=file.kind)
        for n, (file, role) in enumerate(
            zip(seen.files, ("reference", "output", "output"), strict=True)
        )
    ]
    made = texts_of(queue.workspace, draft, ComparisonChoices(files=chosen))
    assert made.systems == {"a": tuple(BETTER), "b": tuple(WORSE)}
    assert made.references == {"ref": tuple(REFERENCE)}
    assert made.sources == tuple(_SOURCES)
    assert made.language_pair == "de-en"
    assert made.codes["sources"][""][0] == "⟦1⟧⟦/1⟧"
    assert list(made.codes["systems"]) == ["a"]


def test_units_that_cannot_be_read_are_refused_in_a_sentence(tmp_path: Path) -> None:
    (file,) = look(tmp_path / "x", {"a.xlf": b"<xliff><file>"}).files
    assert file.kind == "unreadable"
    assert "a.xlf:1: " in file.problems[0].text
    assert str(tmp_path) not in file.problems[0].text


def test_logs_of_evaluations_are_compared_with_each_other(queue: Queue) -> None:
    draft, uploads = queue.workspace.new_draft("ann")
    for number, outputs in enumerate((BETTER, WORSE)):
        rows = [
            json.dumps({"doc_id": n, "target": target, "resps": [[output]], "acc": n % 2})
            for n, (target, output) in enumerate(zip(REFERENCE, outputs, strict=True))
        ]
        (uploads / str(number)).write_text("\n".join(rows[:: 1 - 2 * number]), encoding="utf-8")
    queue.workspace.name_files(draft, ["samples_a.jsonl", "samples_b.jsonl"])
    seen = queue.inspect(draft)
    assert [(file.kind, file.role, file.segments) for file in seen.files] == [
        ("log", "set", len(REFERENCE))
    ] * 2
    assert [file.scores for file in seen.files] == [["scores(metric='acc')"]] * 2
    chosen = [
        FileChoice(file=n, name=file.name, role="set", title=file.title, kind=file.kind)
        for n, file in enumerate(seen.files)
    ]
    made = texts_of(queue.workspace, draft, ComparisonChoices(files=chosen))
    assert list(made.logged["acc"]) == ["samples_a", "samples_b"]
    assert made.systems == {"samples_a": tuple(BETTER), "samples_b": tuple(WORSE)}
    assert next(iter(made.references.values())) == tuple(REFERENCE)
