"""Sets of sacreBLEU's registry: fetched safely, and left where sacreBLEU finds them."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import sacrebleu.dataset
from tests.data.formats.wmt_files import OUTPUT, REFERENCE, SOURCES, small_set, to_xml
from tests.data.official.official_sets import register, sgml_archive, tgz, xml_archive

import gnomon as gn
from gnomon import official
from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.data.formats import read_sacrebleu_set


def test_a_set_is_fetched_and_sacrebleu_finds_it_from_then_on(
    site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = sgml_archive()
    site.files["/test.tgz"] = data
    url = f"{site.url}/test.tgz"
    dataset = register(monkeypatch, tmp_path / "sb", "mini", [url], [data], xml=False)
    [found] = official.fetch("mini", folder=tmp_path / "home")
    assert found.path == tmp_path / "home" / "mini" / "de-en"
    assert found.next == f"gnomon score -t {found.path} -i OUTPUT.txt -m bleu chrf"
    testset = gn.TestSet.read(found.path)
    assert testset.sources == tuple(text.replace("&", "&amp;") for text in SOURCES)
    assert testset.documents == small_set().documents
    assert (testset.domains, set(testset.labels["origlang"])) == (("news",) * 4, {"de"})
    site.files.clear()
    assert list(dataset.source("de-en")) == list(testset.sources)
    again = read_sacrebleu_set("mini", language_pair="de-en")
    assert again.references == testset.references
    assert len(site.asked) == 1


def test_a_zip_archive_of_the_registry_is_unpacked(
    site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(stream, "w") as packed,
        tarfile.open(fileobj=io.BytesIO(sgml_archive())) as tar,
    ):
        for member in tar:
            packed.writestr(member.name, tar.extractfile(member).read())  # type: ignore[union-attr]  # files
    site.files["/test.zip"] = stream.getvalue()
    urls = [f"{site.url}/test.zip"]
    register(monkeypatch, tmp_path / "sb", "mini", urls, [stream.getvalue()], xml=False)
    [found] = official.fetch("mini", folder=tmp_path / "home")
    assert (found.segments, found.references) == (4, ("A",))


def test_outputs_and_all_references_come_and_the_usual_one_is_named(
    site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two = replace(small_set(), references={"B": OUTPUT, "A": REFERENCE})
    data = xml_archive(to_xml(two))
    site.files["/x.tar.gz"] = data
    register(monkeypatch, tmp_path / "sb", "mini/x", [f"{site.url}/x.tar.gz"], [data], xml=True)
    [found] = official.fetch("mini/x", folder=tmp_path / "home")
    testset = gn.TestSet.read(found.path)
    assert list(testset.references) == ["A", "B"]
    assert dict(testset.systems) == {"alpha": tuple(OUTPUT), "beta": tuple(REFERENCE)}
    assert found.usual == ("A",)
    assert found.next.endswith("mini/x/de-en --references A -m bleu chrf")
    [again] = official.fetch("mini/x", folder=tmp_path / "home")
    assert again == replace(found, new=False)
    named = read_sacrebleu_set("mini/x", language_pair="de-en")
    assert dict(named.references) == {"A": tuple(REFERENCE)}


def test_without_a_connection_the_archive_is_taken_from_a_file_or_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = sgml_archive()
    url = "https://data.invalid/test.tgz"
    for name, given in (("one", "test.tgz"), ("two", "."), ("three", "raw")):
        register(monkeypatch, tmp_path / name, name, [url], [data], xml=False)
        folder = tmp_path / f"given-{name}"
        (folder / "raw").mkdir(parents=True)
        file = folder / ("test.tgz" if name != "three" else "raw/three.test.tgz")
        file.write_bytes(data)
        [found] = official.fetch(
            name,
            folder=tmp_path / "home",
            given=folder if given in (".", "raw") else file,
        )
        assert gn.TestSet.read(found.path).references["A"][0] == REFERENCE[0]


def test_an_archive_that_is_not_the_registrys_is_refused(
    site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{site.url}/test.tgz"
    site.files["/test.tgz"] = tgz({"test/evil": b"x"})
    register(monkeypatch, tmp_path / "sb", "mini", [url], [sgml_archive()], xml=False)
    with pytest.raises(DataError, match=r"refuses what it downloaded of mini; delete .*raw"):
        official.fetch("mini", folder=tmp_path / "home")
    file = tmp_path / "test.tgz"
    file.write_bytes(site.files["/test.tgz"])
    with pytest.raises(DataError, match=r"has the md5 .* is expected"):
        official.fetch("mini", folder=tmp_path / "home", given=file)
    assert not list((tmp_path / "sb").rglob("evil"))
    file.write_bytes(sgml_archive())
    assert official.fetch("mini", folder=tmp_path / "home", given=file)[0].segments == 4


def test_an_archive_that_lacks_a_file_is_said(
    site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tgz({"test/other": b"x"})
    site.files["/test.tgz"] = data
    url = f"{site.url}/test.tgz"
    register(monkeypatch, tmp_path / "sb", "mini", [url], [data], xml=False)
    with pytest.raises(DataError, match=r"mini-deen-src\.de\.sgm.* files are in .*raw"):
        official.fetch("mini", folder=tmp_path / "home")


def test_what_sacrebleu_cannot_read_is_told_with_a_way_out(
    site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gap = to_xml(small_set()).replace('        <seg id="1">It rains.</seg>\n', "")
    data = xml_archive(gap)
    site.files["/x.tgz"] = data
    register(monkeypatch, tmp_path / "sb", "mini", [f"{site.url}/x.tgz"], [data], xml=True)
    with pytest.raises(
        DataError, match=r"cannot read its own files .*'gnomon data convert'.* files are in .*raw"
    ):
        official.fetch("mini", folder=tmp_path / "home")


def test_a_system_without_some_documents_is_left_out(
    site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    text = to_xml(small_set())
    at = text.rindex('    <hyp lang="en" system="alpha">')
    text = text[:at] + text[text.index("</hyp>", at) + len("</hyp>\n") :]
    data = xml_archive(text)
    site.files["/x.tgz"] = data
    register(monkeypatch, tmp_path / "sb", "mini", [f"{site.url}/x.tgz"], [data], xml=True)
    [found] = official.fetch("mini", folder=tmp_path / "home")
    assert found.systems == ("beta",)
    assert "alpha has 2 lines for 4 segments; this system is left out" in caplog.text


def test_what_an_interrupted_sacrebleu_left_is_told_with_the_remedy(
    site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = xml_archive()
    site.files["/x.tgz"] = data
    register(monkeypatch, tmp_path / "sb", "mini", [f"{site.url}/x.tgz"], [data], xml=True)
    (tmp_path / "sb" / "mini").mkdir(parents=True)
    (tmp_path / "sb" / "mini" / "mini.de-en.ref-A").write_text("half\n")
    with pytest.raises(DataError, match=r"ref-A has 1 lines, .*src has 4; .* delete both and try"):
        official.fetch("mini", folder=tmp_path / "home")


def test_wrong_pairs_and_lone_files_for_several_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = sgml_archive()
    urls = ["https://data.invalid/a.tgz", "https://data.invalid/b.tgz"]
    register(monkeypatch, tmp_path / "sb", "mini", urls, [data, data], xml=False)
    with pytest.raises(UnknownNameError, match=r"language pair of mini .*there are: de-en"):
        official.fetch("mini", language_pairs=["de-fr"], folder=tmp_path / "home")
    file = tmp_path / "a.tgz"
    file.write_bytes(data)
    with pytest.raises(UsageError, match=r"several files \(a\.tgz, b\.tgz\); give their folder"):
        official.fetch("mini", folder=tmp_path / "home", given=file)
    with pytest.raises(UsageError, match="leave sha256 out"):
        official.fetch("mini", folder=tmp_path / "home", given=tmp_path, sha256="f" * 64)
    (tmp_path / "b.tgz").write_bytes(data)
    [found] = official.fetch("mini", folder=tmp_path / "home", given=tmp_path)
    origin = json.loads((found.path / "origin.json").read_text())
    assert list(origin["archives"]) == urls


def test_every_set_is_listed_with_its_pairs(tmp_path: Path) -> None:
    found = {one.name: one for one in official.available(tmp_path)}
    assert set(sacrebleu.dataset.DATASETS) < set(found)
    assert "de-en" in found["wmt19"].language_pairs
    assert found["wmt22"].outputs
    assert not found["wmt19"].outputs
    assert found["mt-metrics-eval/wmt22"].publisher == "mt-metrics-eval"
    assert not any(one.here for one in found.values())
