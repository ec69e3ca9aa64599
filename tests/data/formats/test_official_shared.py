"""Real sets through WMT's XML and SGML and back, beside sacreBLEU's own readers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sacrebleu.dataset.fake_sgml import FakeSGMLDataset
from sacrebleu.dataset.wmt_xml import WMTXMLDataset
from tests.data.formats.wmt_files import sgml_files, to_xml

import gnomon as gn
from gnomon.data.formats import read_lines


def cut(testset: gn.TestSet, segments: int) -> gn.TestSet:
    """The first segments, as two documents of half the size, with three systems."""
    some = testset.select(segments=range(segments), systems=list(testset.systems)[:3])
    half = segments // 2
    names = ["one"] * half + ["two"] * (segments - half)
    return replace(some, documents=names, human=(), rankings=(), errors=())


def test_xml_of_wmt21_is_read_as_it_was_written_and_as_sacrebleu_reads_it(
    shared: Path, tmp_path: Path
) -> None:
    testset = cut(gn.TestSet.read(shared / "data" / "wmt21" / "en-de"), 600)
    file = tmp_path / "newstest2021.en-de.all.xml"
    file.write_text(to_xml(testset), encoding="utf-8")
    found = gn.TestSet.read(file)
    assert found.references == testset.references
    assert found.systems == testset.systems
    assert found.sources == testset.sources
    with file.open(encoding="utf-8") as stream:
        theirs = WMTXMLDataset._unwrap_wmt21_or_later(stream)
    for name in ("A", "C", "D"):
        assert list(found.references[name]) == theirs[f"ref:{name}"]
    for name in testset.systems:
        assert list(found.systems[name]) == theirs[name]


@pytest.mark.parametrize("pair", ["de-en", "cs-en"])
def test_sgml_of_wmt18_is_read_as_it_was_written_and_as_sacrebleu_reads_it(
    shared: Path, tmp_path: Path, pair: str
) -> None:
    testset = cut(gn.TestSet.read(shared / "data" / "wmt18" / pair), 600)
    files = sgml_files(testset, tmp_path)
    found = gn.TestSet.read(files[0])
    assert (found.language_pair, found.documents) == (pair, testset.documents)
    assert [list(t) for t in found.references.values()] == [
        [" ".join(str(text).split("\t")).strip(" ") for text in texts]
        for texts in testset.references.values()
    ]
    assert set(found.systems) == set(testset.systems)
    for file, texts in zip(files, [found.sources, found.references["A"]], strict=False):
        plain = tmp_path / "theirs.txt"
        FakeSGMLDataset("x")._convert_format(str(file), str(plain))
        # sacreBLEU leaves entities as they are and collapses all white space
        theirs = [line.replace("&lt;", "<").replace("&gt;", ">") for line in read_lines(plain)]
        theirs = [line.replace("&amp;", "&") for line in theirs]
        assert [" ".join(str(text).split()) for text in texts or ()] == theirs
