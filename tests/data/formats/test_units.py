"""Files of translation units: XLIFF, TMX, PO, subtitles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import gnomon as gn
from gnomon.core.errors import DataError, FormatError, LengthMismatchError

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon.core.testset import TestSet

_ONE = """\
<?xml version="1.0" encoding="{encoding}"?>
<xliff version="1.2"><file original="a" source-language="en-US" target-language="hi">
<header><note>not a unit</note></header><body>{units}</body></file></xliff>
"""
_REFERENCE = """
<trans-unit id="1"><source>The <g id="1">house</g> burns<x id="2"/>.</source>
  <target>घर <g id="1">जल</g> रहा है<x id="2"/>।</target>
  <alt-trans><source>A house</source><target>मकान</target></alt-trans></trans-unit>
<trans-unit id="2"><source>Go &amp; see.</source><target>जाओ और
  देखो।</target></trans-unit>
<trans-unit id="3"><source>Later.</source><target/></trans-unit>
<trans-unit id="4" translate="no"><source>ID-7</source><target>ID-7</target></trans-unit>
"""
_SYSTEM = """
<trans-unit id="3"><source>Later.</source><target>बाद में।</target></trans-unit>
<trans-unit id="2"><source>Go &amp; see.</source></trans-unit>
<trans-unit id="1"><source>The house burns.</source><target>घर जलता है।</target></trans-unit>
"""


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def _xliff(units: str) -> str:
    return _ONE.format(encoding="UTF-8", units=units)


def _read(folder: Path, reference: str, *systems: str, source: str | None = None) -> TestSet:
    return gn.TestSet.from_files(
        references=[folder / reference],
        systems=[folder / name for name in systems],
        source=None if source is None else folder / source,
    )


def test_units_are_joined_by_their_ids(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    _write(tmp_path, {"ref.xlf": _xliff(_REFERENCE), "sys.mxliff": _xliff(_SYSTEM)})
    testset = _read(tmp_path, "ref.xlf", "sys.mxliff")
    assert testset.sources == ("The house burns.", "Go & see.")
    assert testset.references == {"ref": ("घर जल रहा है।", "जाओ और देखो।")}
    assert testset.systems == {"sys": ("घर जलता है।", "")}
    assert testset.language_pair == "en-hi"
    assert "1 of 3 units have no reference translation and are left out" in caplog.text


def test_a_file_of_lines_stands_beside_units(tmp_path: Path) -> None:
    files = {"ref.xlf": _xliff(_REFERENCE), "sys.txt": "a\nb\nc\n", "src.txt": "x\ny\nz\n"}
    _write(tmp_path, files)
    testset = _read(tmp_path, "ref.xlf", "sys.txt", source="src.txt")
    assert (testset.systems, testset.sources) == ({"sys": ("a", "b")}, ("x", "y"))
    _write(tmp_path, {"sys.txt": "a\nb\n"})
    with pytest.raises(LengthMismatchError, match=r"ref\.xlf has 3 units, .*sys\.txt has 2 lines"):
        _read(tmp_path, "ref.xlf", "sys.txt")


def test_marked_segments_are_units_of_their_own(tmp_path: Path) -> None:
    mark = '<mrk mtype="seg" mid="{}">{}</mrk>'
    both = mark.format(7, "One.") + " " + mark.format(8, "<g id='9'>Two.</g>")
    unit = (
        f'<trans-unit id="a"><source>One.</source><seg-source><g id="1">{both}</g></seg-source>'
        f"<target>{mark.format(8, 'दो।')} {mark.format(7, 'एक।')}</target></trans-unit>"
    )
    _write(tmp_path, {"ref.sdlxliff": _xliff(unit)})
    testset = _read(tmp_path, "ref.sdlxliff")
    assert testset.sources == ("One.", "Two.")
    assert testset.references == {"ref": ("एक।", "दो।")}


def test_the_second_version_has_segments_in_units(tmp_path: Path) -> None:
    text = """<xliff version="2.1" srcLang="ja" trgLang="zh-Hans" xmlns:m="urn:m">
    <file id="f"><group id="g"><unit id="1"><m:matches><m:match><source>他</source></m:match>
    </m:matches><segment id="s1"><source>猫<pc id="1">は</pc></source><target>猫</target></segment>
    <ignorable><source> </source></ignorable>
    <segment><source>犬<ph id="2"/></source><target>狗</target></segment></unit></group>
    <unit id="2" translate="no"><segment><source>x</source></segment></unit></file></xliff>"""
    _write(tmp_path, {"ref.xliff": text})
    testset = _read(tmp_path, "ref.xliff")
    assert (testset.sources, testset.references["ref"]) == (("猫は", "犬"), ("猫", "狗"))
    assert testset.language_pair == "ja-zh"


def test_a_memory_is_joined_by_sources_where_it_has_no_ids(tmp_path: Path) -> None:
    def memory(*pairs: tuple[str, str]) -> str:
        units = "".join(
            f'<tu><tuv xml:lang="ar"><seg>{target}</seg></tuv>'
            f'<tuv xml:lang="EN"><seg>{source}</seg></tuv></tu>'
            for source, target in pairs
        )
        return (
            '<!DOCTYPE tmx SYSTEM "tmx14.dtd"><tmx version="1.4"><header srclang="en"/>'
            f"<body>{units}</body></tmx>"
        )

    reference = memory(("Yes", "نعم"), ("No", "لا"), ("Yes", "أجل"))
    _write(
        tmp_path,
        {"ref.tmx": reference, "sys.tmx": memory(("No", "كلا"), ("Yes", "نعم"), ("Yes", "بلى"))},
    )
    testset = _read(tmp_path, "ref.tmx", "sys.tmx")
    assert testset.sources == ("Yes", "No", "Yes")
    assert testset.references == {"ref": ("نعم", "لا", "أجل")}
    assert testset.systems == {"sys": ("نعم", "كلا", "بلى")}
    assert testset.language_pair == "en-ar"


def test_entries_in_use_are_read_of_gettext_s_files(tmp_path: Path) -> None:
    text = """\
msgid ""
msgstr ""
"Language: cs\\n"

# a comment
#: a.c:1
msgid "Say \\"hi\\"\\n"
msgstr "Řekni \\"ahoj\\""
#, c-format, fuzzy
msgid "Save"
msgstr "Uložit"

msgctxt "menu"
msgid "Quit"
msgstr ""
"Kon"
"ec"
msgid "%d day"
msgid_plural "%d days"
msgstr[0] "%d den"
msgstr[1] "%d dny"

#~ msgid "Old"
#~ msgstr "Staré"
"""
    _write(tmp_path, {"ref.po": text})
    testset = _read(tmp_path, "ref.po")
    assert testset.sources == ('Say "hi"', "Quit", "%d day", "%d days")
    assert testset.references["ref"] == ('Řekni "ahoj"', "Konec", "%d den", "%d dny")
    assert testset.language_pair == "en-cs"
    _write(tmp_path, {"ref.po": 'msgid "a"\nmsgstr b\n'})
    with pytest.raises(FormatError, match=r"ref\.po:2: is no line of a PO file"):
        _read(tmp_path, "ref.po")


def test_cues_of_subtitles_are_segments(tmp_path: Path) -> None:
    _write(
        tmp_path,
        {
            "ref.srt": "1\r\n00:00:01,000 --> 00:00:02,000\r\n<i>Guten</i>\r\nTag\r\n\r\n"
            "2\r\n00:00:03,000 --> 00:00:04,000\r\n{\\an8}Ja\r\n",
            "sys.vtt": "WEBVTT\n\nNOTE nothing\n\n00:01.000 --> 00:02.500 align:start\nHallo\n\n"
            "x\n00:03.000 --> 00:04.000\n<v Ann>Nein</v>\n",
        },
    )
    testset = _read(tmp_path, "ref.srt", "sys.vtt")
    assert testset.references == {"ref": ("Guten Tag", "Ja")}
    assert (testset.systems, testset.sources) == ({"sys": ("Hallo", "Nein")}, None)


def test_cues_without_empty_lines_between_them_are_cues(tmp_path: Path) -> None:
    time = "00:00:0{},000 --> 00:00:0{},500"
    text = f"\ufeff1\n{time.format(1, 1)}\nI <3 you > me\n2\n{time.format(2, 2)}\n1984\n"
    vtt = f"WEBVTT\n\n{time.format(1, 1)}\nA &amp; B\n\n{time.format(2, 2)}\n<00:01.0>c\n"
    _write(tmp_path, {"ref.srt": text, "sys.vtt": vtt.replace(",", ".")})
    testset = _read(tmp_path, "ref.srt", "sys.vtt")
    assert testset.references == {"ref": ("I <3 you > me", "1984")}
    assert testset.systems == {"sys": ("A & B", "c")}


def test_the_source_of_a_memory_is_of_one_language(tmp_path: Path) -> None:
    unit = '<tu><tuv xml:lang="{}"><seg>{}</seg></tuv><tuv xml:lang="{}"><seg>{}</seg></tuv></tu>'
    units = unit.format("en-GB", "a", "de", "A") + unit.format("de", "B", "en-GB", "b")
    for stated in ("en", "*all*"):
        _write(tmp_path, {"r.tmx": f'<tmx><header srclang="{stated}"/><body>{units}</body></tmx>'})
        testset = _read(tmp_path, "r.tmx")
        assert (testset.sources, testset.references["r"]) == (("a", "b"), ("A", "B"))
        assert testset.language_pair == "en-de"


def test_what_is_not_yet_translated_or_kept_in_a_group_is_no_translation(tmp_path: Path) -> None:
    unit = '<trans-unit id="{}"><source>Oslo</source><target state="{}">{}</target></trans-unit>'
    kept = f'<group translate="no">{unit.format(4, "final", "x")}</group>'
    units = unit.format(1, "needs-translation", "Oslo") + unit.format(2, "translated", "Oslo")
    marked = '<mrk mtype="seg" mid="1">Oslo</mrk>'
    divided = f"<seg-source>{marked}</seg-source><target"
    units += unit.format(5, "new", marked).replace("<target", divided)
    _write(tmp_path, {"ref.xlf": _xliff(units + unit.format(3, "new", "ओस्लो") + kept)})
    assert _read(tmp_path, "ref.xlf").references["ref"] == ("Oslo", "ओस्लो")


def test_what_a_translator_deleted_under_tracking_is_no_text(tmp_path: Path) -> None:
    change = '<mrk mtype="x-sdl-{}">{}</mrk>'
    text = f"a {change.format('deleted', 'old')}{change.format('added', 'new')} b"
    unit = f'<trans-unit id="1"><source>q</source><target>{text}</target></trans-unit>'
    _write(tmp_path, {"ref.sdlxliff": _xliff(unit)})
    assert _read(tmp_path, "ref.sdlxliff").references["ref"] == ("a new b",)


def test_markup_is_known_by_its_beginning_and_in_any_encoding(tmp_path: Path) -> None:
    _write(tmp_path, {"ref.txt": _xliff(_REFERENCE), "sys.xml": _xliff(_REFERENCE)})
    assert _read(tmp_path, "ref.txt", "sys.xml").segments == 2
    wide = _ONE.format(encoding="UTF-16", units=_REFERENCE).encode("utf-16")
    (tmp_path / "wide.xlf").write_bytes(wide)
    assert _read(tmp_path, "wide.xlf").references["wide"] == ("घर जल रहा है।", "जाओ और देखो।")


_UNIT = '<trans-unit id="{}"><source>{}</source><target>t</target></trans-unit>'


def test_units_that_are_not_the_same_are_refused(tmp_path: Path) -> None:
    _write(tmp_path, {"ref.xlf": _xliff(_UNIT.format(1, "a") + _UNIT.format(2, "b"))})
    _write(tmp_path, {"less.xlf": _xliff(_UNIT.format(1, "a"))})
    with pytest.raises(DataError, match=r"lacks 1 of the 2 units of .*, the first is '2'"):
        _read(tmp_path, "ref.xlf", "less.xlf")
    _write(tmp_path, {"other.xlf": _xliff(_UNIT.format(1, "c") + _UNIT.format(2, "d"))})
    with pytest.raises(DataError, match=r"other sources than .* in 2 of 2 units"):
        _read(tmp_path, "ref.xlf", "other.xlf")


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.xlf", "<xliff><file>", r"a\.xlf:1: is not well-formed XML"),
        ("a.xlf", "<html/>", r"begins as <html>, not as <xliff>"),
        ("a.xlf", "<xliff version='1.2'/>", "holds no unit to be translated; it was read as xliff"),
        ("a.xlf", "<a>" * 120 + "</a>" * 120, "stand more than 100 deep"),
        ("a.tmx", '<!DOCTYPE t [<!ENTITY e "e">]><tmx>&e;</tmx>', "declares a document type"),
        ("a.tmx", '<!DOCTYPE t SYSTEM "/etc/passwd"><tmx>&e;</tmx>', "names the entity &e;"),
        ("a.srt", "no cue\n", "holds no unit to be translated; it was read as subtitles"),
    ],
)
def test_files_that_are_not_what_they_are_called_are_refused(
    tmp_path: Path, name: str, text: str, problem: str
) -> None:
    _write(tmp_path, {name: text})
    with pytest.raises(FormatError, match=problem):
        _read(tmp_path, name)


@pytest.mark.parametrize(
    ("name", "text", "source", "target"),
    [
        (
            "a.xlf",
            _ONE.format(
                encoding="utf-8",
                units='<trans-unit id="1"><source>A <g id="1">b<x id="2"/></g></source><target>'
                '<bpt id="3" rid="7">&lt;b></bpt>C<ept id="4" rid="7"/></target></trans-unit>',
            ),
            "⟦1⟧⟦2⟧⟦/1⟧",
            "⟦7⟧⟦/7⟧",
        ),
        (
            "a.xlf",
            (
                '<xliff version="2.0"><file id="f"><unit id="u"><segment><source><pc id="1">A</pc>'
                '<cp hex="0007"/></source><target><sc id="2"/>B<ec startRef="2"/><ph id="3"/>'
                "</target></segment></unit></file></xliff>"
            ),
            "⟦1⟧⟦/1⟧",
            "⟦2⟧⟦/2⟧⟦3⟧",
        ),
        (
            "a.tmx",
            (
                '<tmx><header srclang="en"/><body><tu><tuv lang="en"><seg>A <ph x="1"/></seg></tuv>'
                '<tuv lang="de"><seg><bpt i="1" x="4"/>B<ept i="1"/></seg></tuv></tu></body></tmx>'
            ),
            "⟦1⟧",
            "⟦1⟧⟦/1⟧",
        ),
    ],
)
def test_codes_stand_beside_texts_and_are_checked(
    tmp_path: Path, name: str, text: str, source: str, target: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "lines.txt").write_text("B\n", encoding="utf-8")
    testset = gn.TestSet.from_files(
        references=[], systems=[tmp_path / name, tmp_path / "lines.txt"], source=tmp_path / name
    )
    assert testset.codes == {
        "sources": {"": (source,)},
        "references": {},
        "systems": {"a": (target,)},
    }
    assert "⟦" not in testset.systems["a"][0]
    assert testset.select(segments=[0]).codes == testset.codes
    hits = gn.check(testset, kinds=["placeholder"]).table("hits").rows
    assert [row["system"] for row in hits] == ["a"]


def test_a_folder_of_units_is_a_test_set(tmp_path: Path) -> None:
    for name, units in (("ref", _REFERENCE), ("good", _REFERENCE), ("poor", _SYSTEM)):
        text = _ONE.format(encoding="utf-8", units=units)
        (tmp_path / f"{name}.xlf").write_text(text, encoding="utf-8")
    testset = gn.TestSet.read(tmp_path)
    assert (list(testset.references), list(testset.systems)) == (["ref"], ["good", "poor"])
    assert testset.language_pair == "en-hi"
