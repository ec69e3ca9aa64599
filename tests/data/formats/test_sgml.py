"""SGML of NIST and WMT: read as it comes, which is seldom well-formed."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data.formats.wmt_files import OUTPUT, REFERENCE, SOURCES, sgml_files, small_set, to_sgml

import gnomon as gn
from gnomon.core.errors import DataError, FormatError
from gnomon.data.formats import read_sgml, sets_in

PLAIN = replace(small_set(), systems={"alpha": OUTPUT})


def written(folder: Path, text: str, name: str = "x.sgm") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_the_files_of_a_set_are_put_together(tmp_path: Path) -> None:
    found = read_sgml(sgml_files(PLAIN, tmp_path))
    assert (found.name, found.language_pair) == ("minitest2021", "de-en")
    assert found.sources == tuple(SOURCES)
    assert dict(found.references) == {"A": tuple(REFERENCE)}
    assert dict(found.systems) == {"alpha": tuple(OUTPUT)}
    assert found.documents == small_set().documents
    assert found.domains == ("news",) * 4
    assert found.labels["origlang"] == ("de",) * 4


def test_one_file_of_a_folder_leads_to_the_whole_set(tmp_path: Path) -> None:
    files = sgml_files(PLAIN, tmp_path)
    sgml_files(replace(PLAIN, language_pair="fr-en"), tmp_path)
    assert gn.TestSet.read(files[0]).systems == read_sgml(files).systems
    assert {(one.format, one.language_pair) for one in sets_in(tmp_path)} == {
        ("wmt-sgml", "de-en"),
        ("wmt-sgml", "fr-en"),
    }
    assert gn.TestSet.read(tmp_path, language_pair="de-en").references == PLAIN.references


def test_the_pair_is_told_by_the_ends_of_names(tmp_path: Path) -> None:
    source = to_sgml(PLAIN, "srcset", SOURCES).replace('srclang="de"', 'srclang="any"')
    first = written(tmp_path, source, "newstest2013-src.de.sgm")
    reference = to_sgml(PLAIN, "refset", REFERENCE).replace('srclang="de"', 'srclang="any"')
    second = written(tmp_path, reference, "newstest2013-ref.en.sgm")
    assert read_sgml([first, second]).language_pair == "de-en"
    assert read_sgml([first]).language_pair is None
    assert read_sgml([first], language_pair="de-en").language_pair == "de-en"


def test_second_references_get_letters(tmp_path: Path) -> None:
    two = replace(PLAIN, references={"A": REFERENCE, "B": OUTPUT})
    found = read_sgml(sgml_files(two, tmp_path))
    assert dict(found.references) == {"A": tuple(REFERENCE), "B": tuple(OUTPUT)}


def test_several_translators_in_one_file_are_told_apart(tmp_path: Path) -> None:
    first = to_sgml(PLAIN, "refset", REFERENCE, sysid="ahd")
    second = to_sgml(PLAIN, "refset", OUTPUT, sysid="ahe")
    both = first.replace("</refset>\n", "") + second.partition("\n")[2]
    source = written(tmp_path, to_sgml(PLAIN, "srcset", SOURCES), "src.sgm")
    found = read_sgml([source, written(tmp_path, both, "ref.sgm")])
    assert dict(found.references) == {"ahd": tuple(REFERENCE), "ahe": tuple(OUTPUT)}


def test_without_sources_a_reference_gives_the_order(tmp_path: Path) -> None:
    _, reference, output = sgml_files(PLAIN, tmp_path)
    found = read_sgml([output, reference])
    assert found.sources is None
    assert found.systems["alpha"] == tuple(OUTPUT)


def test_tags_in_upper_case_loose_attributes_and_headlines_are_read(tmp_path: Path) -> None:
    text = """<REFSET setid="t" srclang="any" trglang='en'>
<DOC docid=one sysid="ref" genre=web>
<hl>
<SEG id=1> A   B </SEG>
</hl>
<P><seg ID="2">C</seg></P>
</DOC>
</REFSET>
"""
    found = read_sgml([written(tmp_path, text, "t-deen-ref.en.sgm")])
    assert found.references["A"] == ("A   B", "C")
    assert (found.domains, found.language_pair) == (("web", "web"), "de-en")


def test_bare_ampersands_and_unknown_tags_are_text(tmp_path: Path) -> None:
    text = to_sgml(PLAIN, "refset", REFERENCE).replace("Milk &amp; bread", "AT&T R&D; <i>x</i> 1<2")
    found = read_sgml([written(tmp_path, text)])
    assert found.references["A"][1] == "AT&T R&D; <i>x</i> 1<2"


@pytest.mark.parametrize(
    ("written_as", "text"),
    [
        ("&amp;quot;", "&quot;"),
        ("&lt;b&gt; &apos;&quot;", "<b> '\""),
        ("&#8211;&#x2013;", "\u2013\u2013"),
        ("&eacute;&nosuch;&amp", "é&nosuch;&amp"),
        ("&#0;&#xD800;&#x110000;", "&#0;&#xD800;&#x110000;"),
    ],
)
def test_entities_are_resolved_once(tmp_path: Path, written_as: str, text: str) -> None:
    file = written(tmp_path, to_sgml(PLAIN, "refset", ["MARK"] * 4).replace("MARK", written_as))
    assert read_sgml([file]).references["A"][0] == text
    assert read_sgml([file], keep=["entities"]).references["A"][0] == written_as


def test_a_segment_without_its_end_ends_at_the_next_tag(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = to_sgml(PLAIN, "refset", REFERENCE).replace("It is raining.</seg>", "It is raining.")
    with caplog.at_level(logging.WARNING):
        found = read_sgml([written(tmp_path, text)])
    assert found.references["A"] == tuple(REFERENCE)
    assert "1 segments lack </seg>, the first in line 10" in caplog.text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("bread</seg>", "bread</seg></seg>", r"x\.sgm:5: </seg> without a <seg> before it"),
        ("is raining.", "<p>is raining.", r"x\.sgm:10: </seg> without a <seg>"),
        (' docid="news.2"', "", r"x\.sgm:8: a <doc> has no docid"),
        ('<seg id="2">Milk', '<seg id="1">Milk', r"x\.sgm:5: a second reference for segment 1"),
        ("</seg>\n</p>\n</doc>\n</refset>\n", "", r"x\.sgm:11: the last <seg> is not closed"),
        ("</doc>", "</doc><seg>late</seg>", r"x\.sgm:7: a <seg> stands outside of any <doc>"),
        ("<refset ", "<rafset ", r"x\.sgm:2: a <doc> stands outside of <srcset>"),
        ("<refset", '<!ENTITY x SYSTEM "file:///etc/passwd"><refset', r"defines entities"),
    ],
)
def test_damage_is_named_with_file_and_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    text = to_sgml(PLAIN, "refset", REFERENCE)
    assert old in text
    with pytest.raises(FormatError, match=message):
        read_sgml([written(tmp_path, text.replace(old, new, 1))])


_TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)


@given(st.lists(_TEXTS, min_size=1, max_size=5))
def test_any_text_that_a_line_can_hold_comes_back(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    clean = [text.strip(" ") for text in texts]
    testset = gn.TestSet("t", {"A": clean}, {}, None, "de-en")
    file = written(tmp_path_factory.mktemp("any"), to_sgml(testset, "refset", clean))
    assert read_sgml([file]).references["A"] == tuple(clean)


@given(st.text(st.sampled_from('<>/&;=" segdoctrfp\n'), max_size=200))
def test_no_soup_of_tags_is_read_wrongly_without_a_word(
    tmp_path_factory: pytest.TempPathFactory, soup: str
) -> None:
    testset = gn.TestSet("t", {"A": ["before", "SOUP", "after"]}, {}, None, "de-en")
    text = to_sgml(testset, "refset", ["before", "SOUP", "after"]).replace("SOUP", soup)
    file = written(tmp_path_factory.mktemp("soup"), text)
    try:
        found = read_sgml([file])
    except FormatError as error:
        assert error.line is not None  # noqa: PT017  # either outcome is right
        return
    assert found.segments >= 3
    assert found.references["A"][0] == "before"


def test_a_tag_of_a_megabyte_takes_no_longer_than_it_must(tmp_path: Path) -> None:
    soup = "a" * (1 << 20)
    text = to_sgml(PLAIN, "refset", REFERENCE).replace("<doc ", f"<doc {soup} ", 1)
    assert read_sgml([written(tmp_path, text)]).references["A"] == tuple(REFERENCE)


def test_files_that_are_not_of_one_set_are_refused(tmp_path: Path) -> None:
    source = written(tmp_path, to_sgml(PLAIN, "srcset", SOURCES), "src.sgm")
    other = replace(PLAIN, documents=["other.9"] * 4)
    stranger = written(tmp_path, to_sgml(other, "refset", REFERENCE), "ref.sgm")
    with pytest.raises(FormatError, match=r"ref\.sgm:4: .* document 'other.9', which the source"):
        read_sgml([source, stranger])
    output = written(tmp_path, to_sgml(PLAIN, "tstset", OUTPUT, sysid="s"), "tst.sgm")
    with pytest.raises(DataError, match="holds neither sources nor references"):
        read_sgml([output])


def test_the_xml_form_of_nist_is_read_and_its_type_never_fetched(tmp_path: Path) -> None:
    head = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<!DOCTYPE mteval SYSTEM "ftp://jaguar.ncsl.nist.gov/mt/resources/mteval-xml-v1.3.dtd">\n'
        "<mteval>\n"
    )
    text = head + to_sgml(PLAIN, "refset", REFERENCE) + "</mteval>\n"
    file = written(tmp_path, text.replace("refset setid", 'refset refid="first" setid'), "r.xml")
    assert sets_in(file)[0].format == "wmt-sgml"
    assert gn.TestSet.read(file).references["A"] == tuple(REFERENCE)


def test_a_file_of_another_encoding_is_refused_with_the_remedy(tmp_path: Path) -> None:
    file = tmp_path / "x.sgm"
    file.write_bytes(to_sgml(PLAIN, "srcset", SOURCES).encode("latin-1"))
    with pytest.raises(FormatError, match=r"x\.sgm:4: is not UTF-8.*iconv"):
        read_sgml([file])


def test_an_empty_reference_is_a_reference(tmp_path: Path) -> None:
    source = written(tmp_path, to_sgml(PLAIN, "srcset", SOURCES), "src.sgm")
    text = to_sgml(PLAIN, "refset", ["", *REFERENCE[1:]])
    found = read_sgml([source, written(tmp_path, text, "ref.sgm")])
    assert found.references["A"] == ("", *REFERENCE[1:])
