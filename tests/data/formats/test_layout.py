from __future__ import annotations

import gzip
import json
import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gnomon import TestSet
from gnomon.core.errors import (
    DataError,
    FormatError,
    GnomonError,
    LengthMismatchError,
    MissingFileError,
    UnknownNameError,
    UsageError,
)
from gnomon.core.testset import SystemInfo
from gnomon.data.formats import language_pairs, output_files, write_test_set

FILES = {
    "src.txt": "eins\nzwei\ndrei\n",
    "ref.A.txt": "one\ntwo\nthree\n",
    "systems/s1.txt": "one\ntwo\n3\n",
    "systems/s2.txt": "1\n2\n3\n",
}


def build(folder: Path) -> Path:
    for name, text in FILES.items():
        add(folder, name, text)
    return folder


def add(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return build(tmp_path / "news" / "de-en")


def test_a_directory_is_read_by_the_names_of_its_files(folder: Path) -> None:
    testset = TestSet.read(folder)
    assert (testset.name, testset.language_pair) == ("news", "de-en")
    assert testset.sources == ("eins", "zwei", "drei")
    assert dict(testset.references) == {"A": ("one", "two", "three")}
    assert dict(testset.systems) == {"s1": ("one", "two", "3"), "s2": ("1", "2", "3")}
    assert testset.path == str(folder)


def test_a_directory_that_is_no_pair_gives_its_own_name(tmp_path: Path) -> None:
    testset = TestSet.read(build(tmp_path / "my-set"), language_pair="en")
    assert (testset.name, testset.language_pair) == ("my-set", "en")


def test_compressed_files_are_read_alike(folder: Path) -> None:
    plain = TestSet.read(folder)
    for file in list(folder.rglob("*.txt")):
        Path(f"{file}.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    assert TestSet.read(folder) == plain


def test_a_file_and_its_compressed_twin_are_refused(folder: Path) -> None:
    (folder / "systems/s1.txt.gz").write_bytes(gzip.compress(b"x\n"))
    with pytest.raises(DataError, match=r"two files are called 's1'"):
        TestSet.read(folder)
    (folder / "systems/s1.txt.gz").unlink()
    (folder / "src.txt.gz").write_bytes(gzip.compress(b"x\n"))
    with pytest.raises(FormatError, match=r"src\.txt\.gz lies beside it"):
        TestSet.read(folder)


def test_names_come_in_natural_order(folder: Path) -> None:
    for name in ("s10", "s9"):
        add(folder, f"systems/{name}.txt", "a\nb\nc\n")
        add(folder, f"ref.{name}.txt", "a\nb\nc\n")
    testset = TestSet.read(folder)
    assert list(testset.systems) == ["s1", "s2", "s9", "s10"]
    assert list(testset.references) == ["A", "s9", "s10"]


def test_other_files_are_left_alone(folder: Path) -> None:
    for name in ("README.md", "systems/.s3.txt.swp", "systems/notes", "human/README"):
        add(folder, name, "hello")
    assert list(TestSet.read(folder).systems) == ["s1", "s2"]


def test_chosen_systems_and_references_come_in_the_order_wanted(folder: Path) -> None:
    add(folder, "ref.B.txt", "a\nb\nc\n")
    (folder / "systems/s1.txt").write_bytes(b"\xff")  # what is not chosen is not read
    testset = TestSet.read(folder, systems=["s2"], references=["B", "A"])
    assert list(testset.systems) == ["s2"]
    assert list(testset.references) == ["B", "A"]


def test_an_unknown_system_or_reference_is_answered_with_those_there(folder: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown system 's3'.*s1, s2"):
        TestSet.read(folder, systems=["s3"])
    with pytest.raises(UnknownNameError, match="unknown reference 'B'"):
        TestSet.read(folder, references=["B"])


def test_a_directory_without_references_and_sources_is_refused(folder: Path) -> None:
    (folder / "src.txt").unlink()
    (folder / "ref.A.txt").unlink()
    with pytest.raises(DataError, match=r"neither references nor sources; .*ref\.NAME\.txt"):
        TestSet.read(folder)


def test_an_empty_directory_is_refused_with_what_is_expected(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"ref\.NAME\.txt.*references/LP\.NAME\.txt"):
        TestSet.read(tmp_path)


def test_sources_alone_make_a_test_set(folder: Path) -> None:
    (folder / "ref.A.txt").unlink()
    assert not TestSet.read(folder).references


def test_a_missing_directory_is_answered_with_the_nearest_name(folder: Path) -> None:
    with pytest.raises(MissingFileError, match=r"did you mean .*de-en"):
        TestSet.read(folder.parent / "de-e")
    with pytest.raises(FormatError, match="The directory of a test set is named as a whole"):
        TestSet.read(folder / "src.txt")


def test_unequal_counts_name_both_files(folder: Path) -> None:
    add(folder, "systems/s2.txt", "1\n2\n")
    with pytest.raises(LengthMismatchError, match=r"ref\.A\.txt has 3 lines, .*s2\.txt has 2"):
        TestSet.read(folder)


def test_a_folder_of_pairs_is_read_by_its_pair(folder: Path) -> None:
    top = folder.parent
    assert TestSet.read(top).language_pair == "de-en"
    build(top / "fr-en")
    assert language_pairs(top) == ("de-en", "fr-en")
    assert TestSet.read(top, language_pair="fr-en").language_pair == "fr-en"
    with pytest.raises(UsageError, match="several language pairs: de-en, fr-en"):
        TestSet.read(top)
    with pytest.raises(UsageError, match="several language pairs"):
        TestSet.read(top, language_pair="en")
    with pytest.raises(UnknownNameError, match="unknown language pair"):
        TestSet.read(top, language_pair="ru-en")


def test_a_pair_that_contradicts_the_directory_is_refused(folder: Path) -> None:
    assert TestSet.read(folder, language_pair="en").language_pair == "de-en"
    with pytest.raises(UsageError, match="is a test set for de-en; fr-en was asked for"):
        TestSet.read(folder, language_pair="fr-en")


def test_systems_tsv_tells_order_and_what_is_known(folder: Path) -> None:
    add(
        folder,
        "systems.tsv",
        "system\tyear\tarchitecture\tconstrained\thuman\tteam\n"
        "s2\t2019\ttransformer\tyes\tno\tX\n"
        "s1\t\t\t\tTRUE\t\n"
        "gone\t\t\t\t\t\n",
    )
    testset = TestSet.read(folder)
    assert list(testset.systems) == ["s2", "s1"]
    assert testset.info == {
        "s2": SystemInfo(2019, "transformer", constrained=True, extra={"team": "X"}),
        "s1": SystemInfo(human=True),
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("name\ns1\n", "no column 'system'; the header has: name"),
        ("system\ts\ts\n", "column 's' occurs twice"),
        ("system\ns1\ns1\n", r"systems\.tsv:3: system 's1' is listed twice"),
        ("system\tyear\ns1\tlast\n", r"systems\.tsv:2: year is 'last'"),
        ("system\thuman\ns1\tmaybe\n", r"systems\.tsv:2: human is 'maybe'; yes or no"),
        ("system\tyear\ns1\n", r"systems\.tsv:2: 1 tab-separated fields; the header has 2"),
        ("", r"systems\.tsv: is empty; a header"),
    ],
)
def test_a_wrong_systems_tsv_is_refused(folder: Path, text: str, problem: str) -> None:
    add(folder, "systems.tsv", text)
    with pytest.raises(FormatError, match=problem):
        TestSet.read(folder)


def test_documents_tsv_tells_documents_domains_and_labels(folder: Path) -> None:
    add(folder, "documents.tsv", 'domain\tdocument\torigin\nnews\td"1\tde\nnews\td"1\ten\n\t\t\n')
    testset = TestSet.read(folder)
    assert testset.documents == ('d"1', 'd"1', "")
    assert testset.domains == ("news", "news", "")
    assert dict(testset.labels) == {"origin": ("de", "en", "")}


def test_documents_tsv_needs_one_row_per_segment(folder: Path) -> None:
    add(folder, "documents.tsv", "document\na\nb\n")
    with pytest.raises(FormatError, match="has 2 rows below its header; the test set has 3"):
        TestSet.read(folder)


def test_human_scores_are_read_by_level(folder: Path) -> None:
    add(folder, "documents.tsv", "document\tdomain\nd1\tnews\nd1\tnews\nd2\ttalk\n")
    add(folder, "human/da-z.sys.tsv", "system\tz\ns2\t0.5\ns1\t-1\n")
    add(folder, "human/da-z.seg.tsv", "system\tseg\tz\ns1\t3\t0.25\ns1\t1\t\ns2\t2\tNone\n")
    add(folder, "human/mqm.doc.tsv", "system\tdoc\tmqm\ns1\td2\t-1\ns1\td1\t-2\n")
    add(folder, "human/mqm.domain.tsv", "system\tdomain\tmqm\ns1\tnews\t-1\n")
    found = {f"{h.kind}.{h.level}": h for h in TestSet.read(folder).human}
    nan = np.nan
    assert found["da-z.system"].systems == ("s2", "s1")
    np.testing.assert_array_equal(found["da-z.system"].values, [[0.5], [-1.0]])
    np.testing.assert_array_equal(found["da-z.segment"].values, [[nan, nan, 0.25], [nan, nan, nan]])
    assert found["mqm.document"].items == ("d2", "d1")
    np.testing.assert_array_equal(found["mqm.document"].values, [[-1.0, -2.0]])
    assert found["mqm.domain"].items == ("news",)


def test_raters_are_told_apart(folder: Path) -> None:
    add(folder, "human/da.seg.tsv", "system\tseg\trater\tz\ns1\t1\tann\t1\ns1\t1\tbob\t2\n")
    human = TestSet.read(folder).human
    assert [(h.rater, h.values[0, 0]) for h in human] == [("ann", 1.0), ("bob", 2.0)]


def test_rankings_are_read(folder: Path) -> None:
    add(folder, "human/darr.seg.tsv", "seg\tbetter\tworse\n3\ts1\ts2\n1\ts2\ts1\n1\ts2\ts1\n")
    [ranking] = TestSet.read(folder).rankings
    assert ranking.kind == "darr"
    assert ranking.rows == ((2, "s1", "s2"), (0, "s2", "s1"), (0, "s2", "s1"))


def test_error_spans_are_read(folder: Path) -> None:
    add(
        folder,
        "human/mqm.spans.tsv",
        "system\tseg\tside\tstart\tend\tcategory\tseverity\trater\n"
        "s1\t2\tcandidate\t0\t3\tStyle\tminor\tr1\ns2\t1\tsource\t4\t4\tOmission\tmajor\t\n",
    )
    first, second = TestSet.read(folder).errors
    assert (first.system, first.segment, first.start, first.end) == ("s1", 1, 0, 3)
    assert (first.rater, second.rater, second.side) == ("r1", None, "source")


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("da.sys", "system\tz\ns3\t1\n", r"da\.sys\.tsv:2: unknown system 's3'.*systems\.tsv"),
        ("da.seg", "system\tseg\tz\ns1\t4\t1\n", r"seg\.tsv:2: segment is '4'; .* from 1 to 3"),
        ("da.seg", "system\tseg\tz\ns1\t0\t1\n", "segment is '0'"),
        ("da.seg", "system\tseg\tz\ns1\t1\tgood\n", "z is 'good'; a number is expected"),
        ("da.seg", "system\tseg\tz\ns1\t1\tinf\n", "z is 'inf'"),
        ("da.seg", "system\tseg\tz\ns1\t1\t1_0\n", "z is '1_0'"),
        ("da.seg", "system\tseg\tz\ns1\t1\t1\ns1\t1\t2\n", r":3: a second score .* line 2"),
        ("da.sys", "system\tz\ns1\t1\ns1\t1\n", ":3: a second score"),
        ("da.seg", "system\tz\ns1\t1\n", "no column 'seg'"),
        ("da.doc", "system\tdocument\tz\ns1\td\t1\n", "rename 'document' to 'doc'"),
        ("da.doc", "system\tz\ns1\t1\n", "scores of segments stand in KIND.seg.tsv"),
        ("da.sys", "system\na\n", "a column of scores is expected"),
        ("da.sys", "system\tz\traw\ns1\tx\ty\n", "there are: system, z, raw"),
        ("darr.seg", "seg\tbetter\tworse\n1\ts1\ts9\n", "unknown system 's9'"),
        ("darr.seg", "seg\tbetter\tworse\n9\ts1\ts2\n", "segment is '9'"),
        ("da.word", "system\tz\n", "the level 'word' in its name is unknown"),
        (
            "e.spans",
            "system\tseg\tside\tstart\tend\tcategory\tseverity\ns1\t1\tcandidate\t2\t4\tA\tB\n",
            r"spans\.tsv:2: end is '4'; .* from 2 to 3",
        ),
        (
            "e.spans",
            "system\tseg\tside\tstart\tend\tcategory\tseverity\ns1\t1\thyp\t2\t3\tA\tB\n",
            "side is 'hyp'; candidate or source",
        ),
    ],
)
def test_wrong_human_files_are_refused_with_file_and_line(
    folder: Path, name: str, text: str, problem: str
) -> None:
    add(folder, f"human/{name}.tsv", text)
    with pytest.raises(FormatError, match=problem):
        TestSet.read(folder)


def test_systems_without_a_text_may_be_judged_if_they_are_listed(folder: Path) -> None:
    add(folder, "human/da.sys.tsv", "system\tz\nhuman-B\t1\n")
    with pytest.raises(FormatError, match="unknown system 'human-B'"):
        TestSet.read(folder)
    add(folder, "systems.tsv", "system\nhuman-B\n")
    assert TestSet.read(folder).human[0].systems == ("human-B",)


def test_scores_of_unlisted_documents_are_warned_of(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    add(folder, "documents.tsv", "document\nd1\nd1\nd1\n")
    add(folder, "human/mqm.doc.tsv", "system\tdoc\tmqm\ns1\td7\t-1\n")
    TestSet.read(folder)
    assert "that documents.tsv does not list, the first is 'd7'" in caplog.text


def test_a_segment_may_lack_a_reference(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    add(folder, "ref.B.txt", "\nb\n\n")
    add(folder, "ref.B.missing.tsv", "seg\n1\n3\n")
    assert TestSet.read(folder).references["B"] == (None, "b", None)
    assert not [r for r in caplog.records if r.levelno >= logging.WARNING]


def test_a_missing_reference_that_has_a_text_is_refused(folder: Path) -> None:
    add(folder, "ref.A.missing.tsv", "seg\n2\n")
    with pytest.raises(FormatError, match=r"missing\.tsv:2: segment 2 is said to be missing"):
        TestSet.read(folder)


def test_references_of_one_system_lie_in_a_folder_of_its_own(folder: Path) -> None:
    add(folder, "system-references/s1/ref.P.txt", "x\ny\nz\n")
    assert TestSet.read(folder).system_references == {"s1": {"P": ("x", "y", "z")}}
    add(folder, "system-references/s1/ref.P.txt", "x\ny\n")
    with pytest.raises(LengthMismatchError, match=r"3 lines, .*ref\.P\.txt has 2"):
        TestSet.read(folder)


def test_testset_json_tells_name_pair_and_order_of_references(folder: Path) -> None:
    add(folder, "ref.B.txt", "a\nb\nc\n")
    add(
        folder,
        "testset.json",
        '{"name": "N", "language_pair": "xx-yy", "references": ["B", "A"]}',
    )
    testset = TestSet.read(folder)
    assert (testset.name, testset.language_pair) == ("N", "xx-yy")
    assert list(testset.references) == ["B", "A"]


def test_names_in_testset_json_are_those_of_files_and_no_others_are_read(folder: Path) -> None:
    names = {"ref.A.txt": "../a/b", "systems/s2.txt": "Système\t2"}
    about = {"name": "N", "language_pair": None, "names": names}
    add(folder, "testset.json", json.dumps(about))
    add(folder, "systems.tsv", "system\tyear\nSystème\\t2\t2024\n")
    testset = TestSet.read(folder)
    assert list(testset.references) == ["../a/b"]
    assert testset.systems == {"Système\t2": ("1", "2", "3")}
    assert output_files(folder) == {"Système\t2": folder / "systems/s2.txt"}


def test_numbered_files_hold_texts_of_any_names(folder: Path, tmp_path: Path) -> None:
    testset = TestSet.read(folder)
    odd = replace(
        testset,
        references={"..": [None, "two", "three"], "a/b": testset.references["A"]},
        systems={"/etc/passwd": testset.systems["s1"], "a/b": testset.systems["s2"]},
        system_references={"a/b": {"A": ["one", "two", None]}},
    )
    write_test_set(odd, tmp_path / "new", numbered=True)
    files = {
        file.relative_to(tmp_path / "new").as_posix() for file in tmp_path.rglob("new/**/*.txt")
    }
    assert files == {
        "src.txt", "ref.1.txt", "ref.2.txt", "systems/3.txt", "systems/2.txt",
        "system-references/2/ref.A.txt",
    }  # fmt: skip
    again = TestSet.read(tmp_path / "new")
    assert replace(again, path=odd.path) == odd
    with pytest.raises(UsageError, match="numbered"):
        write_test_set(odd, tmp_path / "other", layout="mt-metrics-eval", numbered=True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"name": "x"}',
        '{"name": 1, "language_pair": null}',
        "[" * 100000,
        '{"name": "x", "language_pair": "de-en", "references": "A"}',
        '{"name": "x", "language_pair": null, "names": []}',
        '{"name": "x", "language_pair": null, "names": {"ref.A.txt": ""}}',
        '{"name": "x", "language_pair": null, "names": {"systems/../../etc/x.txt": "a"}}',
        '{"name": "x", "language_pair": null, "names": {"/etc/passwd": "a"}}',
        (
            '{"name": "x", "language_pair": null,'
            ' "names": {"systems/s1.txt": "a", "systems/s2.txt": "a"}}'
        ),
        "null",
    ],
)
def test_a_wrong_testset_json_is_refused(folder: Path, text: str) -> None:
    add(folder, "testset.json", text)
    with pytest.raises(GnomonError, match=r"testset\.json"):
        TestSet.read(folder)


def test_segments_without_a_document_or_a_source_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "src.txt").write_text("eins\n\n")
    (tmp_path / "ref.A.txt").write_text("one\ntwo\n")
    (tmp_path / "documents.tsv").write_text("document\tdomain\n\tnews\nd\tnews\n")
    with caplog.at_level("INFO", "gnomon.formats"):
        TestSet.read(tmp_path)
    assert "documents.tsv: 1 segment(s) without a document, the first in line 2" in caplog.text
    assert "src.txt: 1 empty source segment(s), the first in line 2" in caplog.text
