"""Notes on the units of XLIFF files: where they stand, and that nothing else changes."""

from __future__ import annotations

import re

import pytest

from gnomon.cli import main
from gnomon.core.errors import FormatError
from gnomon.data.formats import read_plain, write_unit_notes

_FIRST = """<?xml version="1.0" encoding="{encoding}"?>\r
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2" xmlns:sdl="http://sdl.com/x">
 <file original="a" source-language="en" target-language="de" datatype="x"><body>
  <trans-unit id="1"><source>Hello <g id="7">w&#xF6;rld</g></source>
    <target state="a>b">Hallö <g id='7'>Welt</g></target>
    <sdl:seg-defs/></trans-unit>
  <trans-unit id="2">
    <source>Two. Three.</source><seg-source><mrk mtype="seg" mid="1">Two.</mrk> <mrk mtype="seg"\
 mid="2">Three.</mrk></seg-source>
    <target><mrk mtype="seg" mid="1">Zwei.</mrk> <mrk mtype="seg" mid="2"></mrk></target>
    <note>old</note></trans-unit>
  <trans-unit id="3"><source>Empty {{name}}</source><target/></trans-unit>
  <trans-unit id="3"><source>No &amp; <![CDATA[x<y]]></source></trans-unit>
  <trans-unit id="4" translate="no"><source>Keep</source></trans-unit>
 </body></file></xliff>
"""
_SECOND = """<x:xliff version="2.0" srcLang="en" trgLang="de" xmlns:x="urn:x"><x:file id="f">
  <x:unit id="1">
    <x:segment><x:source>Hello</x:source><x:target>Hallo</x:target></x:segment></x:unit>
  <x:unit id="2"><x:notes><x:note>old</x:note></x:notes><x:segment id="s1"><x:source>A</x:source>\
<x:target>B</x:target></x:segment><x:segment id="s2"><x:source>C</x:source></x:segment></x:unit>
</x:file></x:xliff>"""
_NOTE = re.compile(r"(?:\r?\n[ \t]*)?<note from=.*?</note>")


def annotated(folder, data, notes):
    (folder / "before.xlf").write_bytes(data)
    write_unit_notes(folder / "before.xlf", folder / "after.xlf", notes)
    return (folder / "after.xlf").read_bytes()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_only_notes_are_added_in_any_encoding(encoding, tmp_path):
    data = _FIRST.format(encoding=encoding.replace("-sig", "")).encode(encoding)
    notes = {"1": ["a <b>\x01 €"], "2/2": ["empty"], "3": ["e"], "3#2": ["n1", "n2"]}
    text = annotated(tmp_path, data, notes).decode(encoding)
    assert _NOTE.sub("", text).encode(encoding) == data
    assert len(_NOTE.findall(text)) == 5
    files = [tmp_path / "before.xlf", tmp_path / "after.xlf"]
    testset = read_plain(references=files[:1], systems=files)
    assert testset.systems["before"] == testset.systems["after"] == testset.references["before"]


def test_notes_stand_where_the_schema_has_them(tmp_path):
    data = _FIRST.format(encoding="utf-8").encode()
    text = annotated(tmp_path, data, {"1": ["x & y"], "2/2": ["z"], "3": ["e"]}).decode()
    made = '<note from="gnomon" annotates="target">'
    assert f"</g></target>\n    {made}x &amp; y</note>\n    <sdl:" in text
    assert f"</target>\n    {made}segment 2: z</note>\n    <note>old" in text
    assert f"<target/>{made}e</note></trans-unit>" in text
    text = annotated(tmp_path, _SECOND.encode(), {"1": ["x"], "2/s2": ["y"]}).decode()
    made = '<x:note category="gnomon" appliesTo="target">'
    assert f'id="1">\n    <x:notes>{made}x</x:note></x:notes>\n    <x:segment>' in text
    assert f"old</x:note>{made}segment s2: y</x:note></x:notes><x:segment" in text


@pytest.mark.parametrize("data", [b"<tmx/>", b'<?xml version="1.0" encoding="utf-8"?><a>\xff</a>'])
def test_what_is_no_xliff_is_refused(data, tmp_path):
    with pytest.raises(FormatError):
        annotated(tmp_path, data, {})


def test_faults_come_back_as_notes_in_the_file_of_the_outputs(tmp_path, capsys):
    data = _FIRST.format(encoding="utf-8").encode()
    (tmp_path / "a.xlf").write_bytes(data)
    (tmp_path / "b.xlf").write_bytes(data.replace(b"<target/>", b"<target>Leer</target>"))
    one, other = str(tmp_path / "a.xlf"), str(tmp_path / "b.xlf")
    target = tmp_path / "noted.xlf"
    assert main(["check", "-i", one, "--notes", str(target), "-q"]) == 0
    text = target.read_bytes().decode()
    assert '<target/><note from="gnomon" annotates="target">empty</note>' in text
    assert _NOTE.sub("", text).encode() == data
    each = str(tmp_path / "{system}.noted.xlf")
    assert main(["check", "-i", one, other, "--notes", each, "-q"]) == 0
    assert "placeholder: {name} (in the source)</note>" in (tmp_path / "b.noted.xlf").read_text(
        "utf-8"
    )
    capsys.readouterr()
    assert main(["check", "-i", one, other, "--notes", str(target), "-q"]) == 2
    assert "write {system} into the name" in capsys.readouterr().err
    lines = tmp_path / "c.txt"
    lines.write_text("a\nb\n")
    asked = ["check", str(lines), "-i", str(lines), "--notes", str(target), "-q"]
    assert main(asked) == 2
    assert "none was read; give the outputs as XLIFF" in capsys.readouterr().err
