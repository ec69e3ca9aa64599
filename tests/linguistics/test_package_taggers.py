"""Taggers that packages bring, and the tables that map their tags."""

from __future__ import annotations

import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gnomon.core.errors import MissingDependencyError, UnknownNameError
from gnomon.linguistics import (
    annotate,
    find_tagger,
    select_features,
    setup_plan,
    standard_tagger,
)
from gnomon.linguistics.feature_names import UPOS
from gnomon.linguistics.package_taggers import (
    TABLES,
    PackageTagger,
    Piece,
    forget_versions,
    map_tags,
    package_versions,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
#: texts on which places go wrong, if they do anywhere
HOSTILE = (
    *(
        "",
        " \n\u3000",
        "a\0b",
        "x\ud800y",
        "👨‍👩‍👧👍🏽 ok 🏳️‍🌈",
        "がか\u3099き",
        "ｶﾞﾊﾟ ＡＢ１２．５",
        "\u0301x\u200d",
    ),
    *("\ufeff日本\r\n한글\x85\u2028각", "\x1f\x01", "ﷺ" * 2000, "가1.5" * 2000, "日本語 " * 2000),
)


def _read_tagged(file: Path) -> Iterator[tuple[str, list[tuple[int, int, str]]]]:
    """Texts of words that are parted by blanks, and by + where the text has none."""
    for line in file.read_text("utf-8").splitlines():
        text, words = "", []
        for place, chunk in enumerate(() if line.startswith("#") else line.split(" ")):
            text += " " * (place > 0)
            for word, _, upos in (one.rpartition("/") for one in chunk.split("+")):
                words.append((len(text), len(text) + len(word), upos))
                text += word
        if words:
            yield text, words


def _installed(name: str) -> PackageTagger:
    if not package_versions(name):
        pytest.skip(f"{', '.join(TABLES[name]['packages'])} are not installed")
    return PackageTagger(name)


@pytest.mark.parametrize("name", TABLES)
def test_nine_words_in_ten_have_their_part_of_speech(name: str) -> None:
    tagger = _installed(name)
    texts = list(_read_tagged(HERE / "tagged" / f"{TABLES[name]['language']}.txt"))
    assert len(texts) >= 50
    right = []
    answers = tagger.annotate([text for text, _ in texts], ["pos"])
    for (_, words), answer in zip(texts, answers, strict=True):
        upos = {place: mark.label for mark in answer["pos"] for place in range(*mark[:2])}
        right += [{upos.get(place) for place in range(s, e)} == {tag} for s, e, tag in words]
    assert {tag for _, words in texts for *_, tag in words} <= {*UPOS}
    assert sum(right) / len(right) > (0.94 if "install" in TABLES[name] else 0.9)


@pytest.mark.parametrize("name", TABLES)
def test_words_stand_where_they_are_said_to(name: str) -> None:
    tagger = _installed(name)
    for text, marks in zip(HOSTILE, tagger.annotate(HOSTILE, ["pos", "lemma"]), strict=True):
        places = [mark[:2] for mark in marks["pos"]]
        assert places == [mark[:2] for mark in marks["lemma"]]
        assert all(text[start:end] == text[start:end].strip() for start, end in places)
        bounds = [place for places in places for place in places]
        assert bounds == sorted(bounds)
        marked = {place for start, end in places for place in range(start, end)}
        assert not {text[i] for i in {*range(len(text))} - marked if text[i].isalnum()}


@pytest.mark.parametrize("name", ["sudachi:ja", "mecab:ko"])
def test_threads_tag_at_once(name: str) -> None:
    tagger, texts = (
        _installed(name),
        ["日本語を勉強しています。" * 20, "한국어를 공부했습니다. " * 20],
    )
    alone = tagger.annotate(texts, ["pos"])
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(3) as pool:
            found = list(pool.map(lambda _: tagger.annotate(texts, ["pos"]), range(6)))
    finally:
        sys.setswitchinterval(before)
    assert found == [alone] * 6


@pytest.mark.parametrize("name", TABLES)
def test_base_forms_are_those_of_dictionaries(name: str) -> None:
    text, bases = {
        "de": ("Er ging zum 4,5-fachen.", ["er", "gehen", "zu", "4,5-fach", "."]),
        "ru": ("Мы шли домой.", ["мы", "идти", "домой", "."]),
        "ja": ("走った", ["走る", "た"]),
        "ko": (
            "공부했습니다. 아름다운 집을 읽었다",
            ["공부하다", ".", "아름답다", "집", "을", "읽다"],
        ),
    }[TABLES[name]["language"]]
    (marks,) = _installed(name).annotate([text], ["lemma"])
    assert [mark.label for mark in marks["lemma"]] == bases


def test_tables_hold_parts_of_speech_and_what_extras_install() -> None:
    file = HERE.parents[1] / "pyproject.toml"
    extras = tomllib.loads(file.read_text("utf-8"))["project"]["optional-dependencies"]
    for table in TABLES.values():
        given = {*table["tags"].values(), *(rule.get("upos", "X") for rule in table["rules"])}
        assert given <= {*UPOS, "X"}
        assert {*table.get("install", ())} <= {*extras[table["extra"]]}


def test_words_are_told_by_tags_and_neighbours_and_joined() -> None:
    text = "공부했다 👍🏽 2.5"
    pieces = [
        *(Piece(0, 2, "NNG", "공부"), Piece(2, 3, "XSV+EP", "하다"), Piece(3, 4, "EF")),
        *(Piece(5, 6, "SY", "👍"), Piece(6, 7, "SY", "🏽")),
        *(Piece(8, 9, "SN", "2"), Piece(9, 10, "SY", "."), Piece(10, 11, "SN", "5")),
    ]
    told = [(text[w.start : w.end], w.tag, w.base) for w in map_tags("mecab:ko", text, pieces)]
    assert told == [
        ("공부했다", "VERB", "공부하다"),
        ("👍🏽", "SYM", "👍🏽"),
        ("2.5", "NUM", "2.5"),
    ]
    text = "Seit er für 5 € kam, был этот мост"
    words = [
        *(Piece(0, 4, "APPR", "seit"), Piece(5, 7, "PPER", "er"), Piece(8, 11, "APPR", "für")),
        *(Piece(12, 13, "CARD", "5"), Piece(14, 15, "XY", "€"), Piece(16, 19, "VV(FIN)", "kommen")),
        Piece(19, 20, "$,", ","),
    ]
    assert [word.tag for word in map_tags("hanta:de", text, words)] == [
        *("SCONJ", "PRON", "ADP", "NUM", "SYM", "VERB", "PUNCT"),
    ]
    words = [
        Piece(21, 24, "VERB,impf,intr,masc,sing,past,indc", "быть"),
        Piece(25, 29, "ADJF,Subx,Apro,Anph,masc,sing,nomn", "этот"),
        Piece(30, 34, "NOUN,inan,masc,sing,nomn", "мост"),
    ]
    assert [word.tag for word in map_tags("pymorphy:ru", text, words)] == ["AUX", "DET", "NOUN"]
    beside = [Piece(0, 2, "名詞-普通名詞-サ変可能", "勉強"), Piece(2, 3, "動詞-非自立可能", "する")]
    assert [word.tag for word in map_tags("sudachi:ja", "勉強し", beside)] == ["VERB", "AUX"]


def test_the_better_one_of_the_installed_taggers_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnomon.linguistics.annotators.installed", lambda: ())
    for name in ("sudachi:ja", "mecab:ja"):
        _installed(name)
        assert standard_tagger("en-ja").name == name
        assert setup_plan("ja").text == f"ja: {name} is installed"
        assert select_features(language="ja") == ["pos:*"]
        with pytest.raises(MissingDependencyError, match=r"entities.*ja_core_news_sm"):
            annotate(["走る"], ["ent:*"], language="ja")
        monkeypatch.setitem(TABLES, name, {**TABLES[name], "packages": ["no-such-package"]})
        forget_versions()
    assert setup_plan("ja").commands[0][-1] == TABLES["mecab:ja"]["install"][0]
    monkeypatch.undo()
    forget_versions()


def test_a_tagger_whose_package_is_missing_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(TABLES, "none:ja", {**TABLES["mecab:ja"], "packages": ["no-such-package"]})
    with pytest.raises(MissingDependencyError, match=r"pip install 'gnomon\[ja\]'"):
        find_tagger("none:ja")


def test_an_unknown_table_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="sudachi:ja"):
        PackageTagger("sudachi:jp")
