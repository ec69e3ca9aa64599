"""WMT's XML: what is read, what is left out, and what is refused."""

from __future__ import annotations

import gzip
import logging
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data.formats.wmt_files import OUTPUT, REFERENCE, SOURCES, small_set, to_xml

import gnomon as gn
from gnomon.core.errors import DataError, FormatError, UnknownNameError, UsageError
from gnomon.data.formats import read_wmt_xml, sets_in


def written(folder: Path, text: str, name: str = "minitest2021.de-en.all.xml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_sources_references_outputs_and_documents_are_read(tmp_path: Path) -> None:
    found = gn.TestSet.read(written(tmp_path, to_xml(small_set())))
    assert (found.name, found.language_pair) == ("minitest2021", "de-en")
    assert found.sources == tuple(SOURCES)
    assert dict(found.references) == {"A": tuple(REFERENCE)}
    assert dict(found.systems) == {"alpha": tuple(OUTPUT), "beta": tuple(REFERENCE)}
    assert found.documents == small_set().documents
    assert found.domains == ("news",) * 4
    assert set(found.labels["origlang"]) == {"de"}


def test_a_compressed_file_is_read_alike(tmp_path: Path) -> None:
    plain = written(tmp_path, to_xml(small_set()))
    packed = tmp_path / "packed.de-en.xml.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert gn.TestSet.read(packed).systems == gn.TestSet.read(plain).systems


def test_several_translators_are_several_references_and_may_lack_segments(tmp_path: Path) -> None:
    second = [None, "Bread & milk", None, "Fine."]
    testset = replace(small_set(), references={"A": REFERENCE, "B": second})
    found = gn.TestSet.read(written(tmp_path, to_xml(testset)))
    assert found.references["B"] == (None, "Bread & milk", None, "Fine.")


def test_a_reference_without_a_translator_is_called_a(tmp_path: Path) -> None:
    text = to_xml(small_set()).replace(' translator="A"', "")
    assert list(gn.TestSet.read(written(tmp_path, text)).references) == ["A"]


def test_a_system_that_is_a_reference_is_known_to_be_human(tmp_path: Path) -> None:
    testset = replace(small_set(), systems={"A": REFERENCE, "alpha": OUTPUT})
    found = gn.TestSet.read(written(tmp_path, to_xml(testset)))
    assert found.info["A"].human
    assert "alpha" not in found.info


def test_segments_without_a_reference_are_left_out_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    testset = replace(small_set(), references={"A": [REFERENCE[0], None, *REFERENCE[2:]]})
    file = written(tmp_path, to_xml(testset))
    with caplog.at_level(logging.INFO):
        found = read_wmt_xml([file])
    assert found.sources == (SOURCES[0], *SOURCES[2:])
    assert found.systems["alpha"] == (OUTPUT[0], *OUTPUT[2:])
    assert "1 segments have no reference" in caplog.text
    kept = read_wmt_xml([file], keep=["unreferenced"])
    assert kept.references["A"] == (REFERENCE[0], None, *REFERENCE[2:])


def test_documents_of_test_suites_are_left_out_unless_wanted(tmp_path: Path) -> None:
    text = to_xml(small_set()).replace('id="news.2"', 'id="news.2" testsuite="hard"')
    file = written(tmp_path, text)
    assert read_wmt_xml([file]).segments == 2
    assert read_wmt_xml([file], keep=["test-suites"]).segments == 4
    with pytest.raises(UnknownNameError, match="did you mean 'test-suites'"):
        read_wmt_xml([file], keep=["testsuites"])


def test_a_collection_becomes_a_label(tmp_path: Path) -> None:
    text = to_xml(small_set())
    text = text.replace("  <doc", '  <collection id="general">\n  <doc', 1)
    text = text.replace("</dataset>", "</collection></dataset>")
    found = gn.TestSet.read(written(tmp_path, text))
    assert set(found.labels["collection"]) == {"general"}


def test_a_repeated_document_keeps_its_segments_apart(tmp_path: Path) -> None:
    text = to_xml(small_set()).replace('id="news.2"', 'id="news.1"')
    found = gn.TestSet.read(written(tmp_path, text))
    assert found.sources == tuple(SOURCES)
    assert found.documents == ("news.1", "news.1", "news.1#2", "news.1#2")


def test_line_ends_and_tabs_inside_a_segment_become_a_space(tmp_path: Path) -> None:
    text = to_xml(small_set()).replace("Es regnet.", "\n   Es\tregnet.\n  ")
    assert gn.TestSet.read(written(tmp_path, text)).sources[2] == "Es regnet."


def test_submitted_outputs_join_the_set_that_they_are_of(tmp_path: Path) -> None:
    whole = replace(small_set(), systems={"alpha": OUTPUT})
    mine = replace(small_set(), systems={"mine": OUTPUT[::-1]})
    first = written(tmp_path, to_xml(whole))
    second = written(tmp_path, to_xml(mine, only=["mine"]), "mine.xml")
    found = read_wmt_xml([first, second])
    assert list(found.systems) == ["alpha", "mine"]
    other = replace(mine, sources=["Die Katze.", *SOURCES[1:]])
    third = written(tmp_path, to_xml(other, only=["mine"]), "other.xml")
    with pytest.raises(FormatError, match=r"other\.xml:6: the source of segment 1 .* is not that"):
        read_wmt_xml([first, third])


@pytest.mark.parametrize(
    "declaration",
    [
        '<!DOCTYPE dataset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE dataset [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE dataset [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd"> %p;]>',
        '<!DOCTYPE dataset SYSTEM "http://127.0.0.1:9/x.dtd">',
    ],
    ids=["billion laughs", "external entity", "parameter entity", "external type"],
)
def test_a_document_type_is_refused_before_it_is_used(tmp_path: Path, declaration: str) -> None:
    head, rest = to_xml(small_set()).split("\n", 1)
    text = f"{head}\n{declaration}\n{rest}".replace("Es regnet.", "&b;&x;")
    with pytest.raises(FormatError, match=r"xml:2: declares a document type .* take the decl"):
        read_wmt_xml([written(tmp_path, text)])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</p>", "</q>", r"xml:8: is not well-formed XML \(mismatched tag, column 9\)"),
        ("Milch &amp; Brot", "Milch & Brot", r"xml:7: is not well-formed XML"),
        ("Es regnet.", "&x;", r"is not well-formed XML \(undefined entity"),
        (' id="news.1"', "", r"xml:3: a <doc> has no id"),
        ('<seg id="2">Milch', "<seg>Milch", r"xml:7: a <seg> has no id"),
        ('<seg id="2">Milch', '<seg id="1">Milch', r"xml:7: a second source for segment 1 .* 6"),
        (' system="alpha"', "", r"a <hyp> does not name its system"),
        ('<seg id="2">Milk &amp; bread', '<seg id="7">x', r"segment 7 of .*'news.1', which the so"),
        ("<doc", "<dox", r"stands outside of any <doc>|mismatched"),
        ("</dataset>", "", r"no element found"),
    ],
)
def test_damage_is_named_with_file_and_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    text = to_xml(small_set())
    assert old in text
    file = written(tmp_path, text.replace(old, new, 1))
    with pytest.raises(FormatError, match=message) as caught:
        read_wmt_xml([file])
    assert str(file) in str(caught.value)


def test_a_system_that_lacks_segments_is_refused_emptied_or_dropped(tmp_path: Path) -> None:
    text = to_xml(small_set()).replace('        <seg id="1">It rains.</seg>\n', "")
    file = written(tmp_path, text)
    with pytest.raises(
        DataError, match=r"'alpha' lacks 1 of 4 segments, .* 1 of document 'news.2'"
    ):
        read_wmt_xml([file])
    assert read_wmt_xml([file], incomplete="empty").systems["alpha"][2] == ""
    assert list(read_wmt_xml([file], incomplete="drop").systems) == ["beta"]


def test_a_language_pair_is_told_by_the_file_and_checked(tmp_path: Path) -> None:
    file = written(tmp_path, to_xml(small_set()), "unnamed.xml")
    assert sets_in(file)[0].language_pair == "de-en"
    with pytest.raises(UnknownNameError, match="there are: de-en"):
        read_wmt_xml([file], language_pair="de-fr")
    both = to_xml(small_set()).replace(
        '<hyp lang="en" system="beta"', '<hyp lang="fr" system="beta"'
    )
    file = written(tmp_path, both, "both.xml")
    with pytest.raises(UsageError, match="several language pairs: de-en, de-fr"):
        read_wmt_xml([file])
    assert list(read_wmt_xml([file], language_pair="de-en").systems) == ["alpha"]


_TEXTS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=20
)


@given(st.lists(_TEXTS, min_size=1, max_size=5))
def test_any_text_that_a_line_can_hold_comes_back(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    clean = [text.strip(" ") or "x" for text in texts]
    testset = gn.TestSet("t", {"A": clean}, {"s": clean}, clean, "de-en")
    file = written(tmp_path_factory.mktemp("any"), to_xml(testset))
    found = read_wmt_xml([file])
    assert found.sources == tuple(clean)
    assert found.systems["s"] == tuple(clean)


@pytest.mark.parametrize("encoding", ["utf-inf", "shift_jis"])
def test_an_encoding_that_cannot_be_read_is_told(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "mini.de-en.all.xml"
    file.write_text(to_xml(small_set()).replace("utf-8", encoding), encoding="utf-8")
    with pytest.raises(FormatError, match=r"xml:1: declares an encoding that cannot be read"):
        read_wmt_xml([file])
