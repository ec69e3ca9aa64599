"""Conversion: what is found in a place, where it goes, and what is refused."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path

import pytest
from tests.data.formats.published_sets import eval4nlp_files, fill, mlqe_table
from tests.data.formats.wmt_files import OUTPUT, REFERENCE, sgml_files, small_set, to_xml
from tests.data.official.official_sets import tgz, tgz_of

import gnomon as gn
from gnomon import official
from gnomon.core.errors import (
    DataError,
    FormatError,
    MissingFileError,
    OutputError,
    UnknownNameError,
    UsageError,
)
from gnomon.data.formats import write_test_set

MQM = (
    "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    "alpha\tnews.1\t1\t1\tr1\tDer Hund schläft.\tThe <v>dog</v> sleeps.\tAccuracy\tMajor\n"
)


def xml_file(folder: Path, name: str = "mini.de-en.xml", text: str | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text or to_xml(small_set()), encoding="utf-8")
    return folder / name


def test_one_set_becomes_the_folder_that_was_named(tmp_path: Path) -> None:
    file = xml_file(tmp_path)
    [found] = official.convert([file], tmp_path / "sets" / "mini")
    assert found == official.WrittenSet(
        name="minitest2021",
        path=tmp_path / "sets" / "mini",
        language_pair="de-en",
        segments=4,
        references=("A",),
        systems=("alpha", "beta"),
    )
    assert found.next == f"gnomon score -t {found.path} -m bleu chrf"
    testset = gn.TestSet.read(found.path)
    assert testset.systems == small_set().systems
    assert testset.name == "minitest2021"
    origin = json.loads((found.path / "origin.json").read_text())
    assert origin["source"] == [str(file)]
    with pytest.raises(OutputError, match="is not empty"):
        official.convert([file], tmp_path / "sets" / "mini")


def test_several_sets_get_a_folder_each(tmp_path: Path) -> None:
    xml_file(tmp_path / "in", "a.xml")
    french = replace(small_set(), language_pair="fr-en")
    xml_file(tmp_path / "in", "b.xml", to_xml(french))
    fill(tmp_path / "in" / "et-en-test", eval4nlp_files())
    found = official.convert([tmp_path / "in"], tmp_path / "out")
    assert sorted(str(one.path.relative_to(tmp_path / "out")) for one in found) == [
        "et-en.test/et-en",
        "minitest2021/de-en",
        "minitest2021/fr-en",
    ]
    [one] = official.convert([tmp_path / "in"], tmp_path / "one", language_pair="fr-en")
    assert one.path == tmp_path / "one"
    with pytest.raises(UnknownNameError, match="there are: de-en, fr-en, et-en"):
        official.convert([tmp_path / "in"], tmp_path / "two", language_pair="cs-en")


def test_two_sets_of_one_name_do_not_overwrite_each_other(tmp_path: Path) -> None:
    xml_file(tmp_path / "in", "a.xml")
    xml_file(tmp_path / "in", "b.xml")
    found = official.convert([tmp_path / "in"], tmp_path / "out")
    names = {str(one.path.relative_to(tmp_path / "out")) for one in found}
    assert names == {"minitest2021/de-en", "minitest2021-2/de-en"}


def test_a_name_from_a_file_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    evil = replace(small_set(), name="../../evil")
    xml_file(tmp_path / "in", "a.xml", to_xml(evil))
    xml_file(tmp_path / "in", "b.xml")
    official.convert([tmp_path / "in"], tmp_path / "deep" / "er" / "out")
    assert {p.name for p in tmp_path.iterdir()} == {"in", "deep"}
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["er"]
    system = replace(small_set(), systems={"../evil": OUTPUT})
    file = xml_file(tmp_path / "in", "c.xml", to_xml(system))
    with pytest.raises(DataError, match=r"'../evil' cannot be a file name"):
        official.convert([file], tmp_path / "c")


def test_an_archive_is_searched_and_its_copy_removed(tmp_path: Path) -> None:
    xml_file(tmp_path / "in" / "deep", "a.xml")
    fill(tmp_path / "in", {"dev.eten.df.short.tsv": mlqe_table()})
    archive = tmp_path / "all.tgz"
    archive.write_bytes(tgz_of(tmp_path / "in", "top"))
    found = official.convert([archive], tmp_path / "out")
    assert {one.name for one in found} == {"dev.eten.df.short", "minitest2021"}
    assert {p.name for p in tmp_path.iterdir()} == {"in", "all.tgz", "out"}
    origins = [json.loads((one.path / "origin.json").read_text()) for one in found]
    assert {one["format"] for one in origins} == {"wmt-xml", "mlqe-pe"}
    archive.write_bytes(tgz({"notes.txt": b"x\n"}))
    with pytest.raises(DataError, match="holds no test set of a known format"):
        official.convert([archive], tmp_path / "other")
    assert {p.name for p in tmp_path.iterdir()} == {"in", "all.tgz", "out"}


def test_a_set_without_a_folder_of_its_own_is_called_as_its_archive(tmp_path: Path) -> None:
    write_test_set(small_set(), tmp_path / "in", layout="mt-metrics-eval")
    archive = tmp_path / "flat-1.0.tar.gz"
    archive.write_bytes(
        tgz(
            {
                f.relative_to(tmp_path / "in").as_posix(): f.read_bytes()
                for f in sorted((tmp_path / "in").rglob("*"))
                if f.is_file()
            }
        )
    )
    [found] = official.convert([archive], tmp_path / "out")
    assert found.name == "flat-1.0"
    assert gn.TestSet.read(found.path).name == "flat-1.0"
    assert json.loads((found.path / "origin.json").read_text())["set"] == "flat-1.0"


def test_files_that_are_named_together_are_one_set(tmp_path: Path) -> None:
    plain = replace(small_set(), systems={"alpha": OUTPUT})
    files = sgml_files(plain, tmp_path)
    [found] = official.convert(files, tmp_path / "sgml")
    assert found.systems == ("alpha",)
    [found] = official.convert(files[:2], tmp_path / "two")
    assert found.systems == ()
    assert found.next == f"gnomon score -t {found.path} -i OUTPUT.txt -m bleu chrf"
    mine = xml_file(tmp_path, "mine.xml", to_xml(replace(plain, systems={"m": OUTPUT}), only=["m"]))
    [found] = official.convert([xml_file(tmp_path), mine], tmp_path / "xml")
    assert found.systems == ("alpha", "beta", "m")


def test_systems_references_outputs_and_judgements_are_chosen_and_added(tmp_path: Path) -> None:
    two = replace(small_set(), references={"A": REFERENCE, "B": OUTPUT})
    file = xml_file(tmp_path, text=to_xml(two))
    (tmp_path / "mine.txt").write_text("a\nb\nc\nd\n")
    (tmp_path / "mqm.tsv").write_text(MQM)
    [found] = official.convert(
        [file],
        tmp_path / "out",
        systems=["alpha"],
        references=["B"],
        outputs=[tmp_path / "mine.txt"],
        human=[tmp_path / "mqm.tsv"],
        compress=True,
    )
    assert (found.systems, found.references, found.human) == (("alpha", "mine"), ("B",), ("mqm",))
    testset = gn.TestSet.read(found.path)
    assert testset.human_scores("mqm")[0, 0] == -5.0
    assert (tmp_path / "out" / "src.txt.gz").is_file()
    (tmp_path / "alpha.txt").write_text("a\nb\nc\nd\n")
    with pytest.raises(DataError, match="there is a system 'alpha' already"):
        official.convert([file], tmp_path / "x", outputs=[tmp_path / "alpha.txt"])


def test_an_mqm_file_alone_becomes_a_set(tmp_path: Path) -> None:
    file = tmp_path / "mqm_x_deen.tsv"
    file.write_text(MQM)
    [found] = official.convert([file], tmp_path / "out", references=["alpha"])
    assert (found.references, found.human, found.language_pair) == (("alpha",), ("mqm",), "de-en")


def test_a_set_without_a_pair_takes_the_one_that_is_given(tmp_path: Path) -> None:
    fill(tmp_path / "in", eval4nlp_files())
    [found] = official.convert([tmp_path / "in"], tmp_path / "out", language_pair="et-en")
    assert found.language_pair == "et-en"
    assert found.next == f"gnomon info -t {found.path}"


def test_sets_that_do_not_say_their_pair_are_not_taken_for_another(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    xml_file(tmp_path / "in", "a.xml")
    write_test_set(replace(small_set(), language_pair=None), tmp_path / "in" / "summaries")
    with caplog.at_level(logging.INFO):
        [found] = official.convert([tmp_path / "in"], tmp_path / "out", language_pair="de-en")
    assert found.name == "minitest2021"
    assert "1 sets do not say their language pair and are left out" in caplog.text
    alone = [tmp_path / "in" / "summaries"]
    [found] = official.convert(alone, tmp_path / "alone", language_pair="de-en")
    assert found.language_pair == "de-en"


def test_another_layout_can_be_written(tmp_path: Path) -> None:
    write_test_set(small_set(), tmp_path / "own")
    [found] = official.convert([tmp_path / "own"], tmp_path / "out", layout="mt-metrics-eval")
    assert (found.path / "references" / "de-en.A.txt").is_file()
    assert gn.TestSet.read(found.path).segments == 4


def test_one_bad_set_among_several_does_not_keep_the_others_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    xml_file(tmp_path / "in", "a.xml")
    xml_file(tmp_path / "in", "b.xml", to_xml(small_set()).replace("</p>", "</q>"))
    with (
        caplog.at_level(logging.WARNING),
        pytest.raises(DataError, match=r"1 of 2 sets could not be converted, .*b\.xml:8: is not"),
    ):
        official.convert([tmp_path / "in"], tmp_path / "out")
    assert gn.TestSet.read(tmp_path / "out" / "minitest2021" / "de-en").segments == 4


def test_what_cannot_be_converted_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="name a file, a folder or an archive"):
        official.convert([], tmp_path / "out")
    with pytest.raises(MissingFileError):
        official.convert([tmp_path / "nothing"], tmp_path / "out")
    with pytest.raises(UnknownNameError, match="there are: wmt-xml, wmt-sgml, wmt-mqm"):
        official.convert([tmp_path], tmp_path / "out", format="xml")
    pickled = tmp_path / "x.pkl"
    pickled.write_bytes(b"\x80\x04\x95" + b"x" * 50)
    with pytest.raises(FormatError, match="is a Python pickle"):
        official.convert([pickled], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_format_can_be_named_where_the_file_does_not_tell(tmp_path: Path) -> None:
    text = "<!--" + "x" * 200_000 + "-->\n"
    head, rest = to_xml(small_set()).split("\n", 1)
    file = xml_file(tmp_path, "odd.data", f"{head}\n{text}{rest}")
    with pytest.raises(FormatError, match="is of no known format"):
        official.convert([file], tmp_path / "out")
    [found] = official.convert([file], tmp_path / "out", format="wmt-xml")
    assert found.segments == 4
