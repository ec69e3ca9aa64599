"""Glossaries in tables and TBX, and files that are refused."""

from __future__ import annotations

import pytest

from gnomon.check.glossary import Term, read_glossary
from gnomon.core.errors import FormatError

TBX = """<?xml version="1.0"?>
<!DOCTYPE martif SYSTEM "TBXBasiccoreStructV02.dtd">
<martif type="TBX-Basic" xml:lang="en"><text><body>
<termEntry id="1">
  <langSet xml:lang="en-US"><tig><term>hard  disk</term></tig></langSet>
  <langSet xml:lang="de"><tig><term>Festplatte</term></tig>
    <tig><term>Harddisk</term>
      <termNote type="administrativeStatus">deprecatedTerm-admn-sts</termNote></tig></langSet>
</termEntry>
</body></text></martif>
"""
TBX_2019 = """<tbx type="TBX-Core" xml:lang="en"><text><body><conceptEntry id="1">
<langSec xml:lang="de"><termSec><term>Maus</term></termSec></langSec>
<langSec xml:lang="en"><termSec><term>mouse</term></termSec></langSec>
<langSec xml:lang="fr"><termSec><term>souris</term></termSec></langSec>
</conceptEntry></body></text></tbx>
"""


def written(folder, name, text):
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_a_table_has_alternatives_forbidden_words_and_segments(tmp_path):
    path = written(
        tmp_path,
        "terms.csv",
        "source;target;forbidden;segment\nmouse;Maus|Computermaus;;\nmouse;;Mause;\n"
        ";;Handy;\nPython;Python;;2\n",
    )
    assert read_glossary(path).terms == (
        Term("mouse", ("Maus", "Computermaus"), ("Mause",)),
        Term("", (), ("Handy",)),
        Term("Python", ("Python",), (), 1),
    )


def test_columns_may_be_codes_of_languages(tmp_path):
    path = written(tmp_path, "terms.tsv", "de\ten\nMaus\tmouse\n")
    assert read_glossary(path, "en-de").terms == (Term("mouse", ("Maus",)),)


@pytest.mark.parametrize(
    ("text", "term"),
    [
        (TBX, Term("hard disk", ("Festplatte",), ("Harddisk",))),
        (TBX_2019, Term("mouse", ("Maus",))),
    ],
)
def test_tbx_of_both_forms_is_read(tmp_path, text, term):
    assert read_glossary(written(tmp_path, "terms.tbx", text), "en-de").terms == (term,)


@pytest.mark.parametrize(
    ("name", "text", "line", "says"),
    [
        ("a.csv", "source,note\nmouse,small\n", 1, "no columns 'source' and 'target'"),
        ("a.csv", "source,target\nmouse,\n", 2, "no translation"),
        ("a.csv", "source,target\n,Maus\n", 2, "no source"),
        ("a.csv", "source,target\nmouse,*\n", 2, "star alone"),
        ("a.csv", f"source,target\nmouse,{'M' * 1001}\n", 2, "over 1,000 characters"),
        ("a.csv", "source,target,segment\nmouse,Maus,0\n", 2, "segment"),
        ("a.csv", "source,target\n", None, "no term"),
        ("a.tbx", "<tbx><text>\n<term></text>", 2, "not well-formed"),
        ("a.tbx", '<!DOCTYPE a [<!ENTITY b "ha">]>\n<tbx/>', 1, "entities"),
        ("a.tbx", '<!DOCTYPE a SYSTEM "a.dtd">\n<tbx>&b;</tbx>', 2, "entities"),
        ("a.tbx", TBX.replace('"de"', '"fr"'), None, "no term of en and de"),
    ],
)
def test_odd_and_hostile_files_are_refused_with_their_line(tmp_path, name, text, line, says):
    with pytest.raises(FormatError, match=says) as raised:
        read_glossary(written(tmp_path, name, text), "en-de")
    assert raised.value.line == line


@pytest.mark.parametrize("pair", [None, "de"])
def test_tbx_needs_the_language_pair(tmp_path, pair):
    with pytest.raises(FormatError, match="give the language pair"):
        read_glossary(written(tmp_path, "terms.tbx", TBX), pair)


def test_terms_with_marks_inside_are_read_whole_and_rows_without_text_left_out(tmp_path):
    marked = TBX.replace("hard  disk", "hard <hi>disk</hi> drive")
    terms = read_glossary(written(tmp_path, "terms.tbx", marked), "en-de").terms
    assert [term.source for term in terms] == ["hard disk drive"]
    table = written(tmp_path, "terms.csv", "source,target\nmouse,Maus\n,\n")
    assert read_glossary(table).terms == (Term("mouse", ("Maus",)),)
