"""Lexicons in their publishers' formats; the entries are invented."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from gnomon.core.errors import FormatError, MissingFileError
from gnomon.linguistics.scorers import LexiconScorer, PlainReader, Sentences, scorer
from gnomon.linguistics.scorers.ratings import read_ratings

WKWSCI = "term,POS,sentiment\ngreat,adj,3\nmean,verb,0\nmean,adj,-2\nfall apart,verb,-2\n"
BRYSBAERT = (
    "Word\tBigram\tConc.M\tConc.SD\tUnknown\tTotal\tPercent_known\tSUBTLEX\tDom_Pos\n"
    "cat\t0\t4.9\t0.3\t0\t30\t1\t3383\tNoun\n"
    "hope\t0\t1.2\t0.5\t0\t30\t1\t0\t0\n"
    "hot dog\t1\t4.8\t0.5\t0\t30\t1\t0\t0\n"
    "hot\t0\t4.0\t0.5\t0\t30\t1\t0\t0\n"
)
VAD = "Word\tValence\tArousal\tDominance\ncat\t0.7\t0.3\t0.4\nwar\t0.1\t0.9\t0.6\n"


def _file(folder: Path, text: str, name: str = "lexicon.tsv", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def _score(path: Path, name: str, text: str) -> float:
    return float(LexiconScorer.read(name, path).score(Sentences((text,)))[0])


def test_brysbaert_with_entries_of_two_words_the_longest_first(tmp_path: Path) -> None:
    path = _file(tmp_path, BRYSBAERT)
    assert _score(path, "concreteness", "Cats hoped") == pytest.approx((4.9 + 1.2) / 2)
    assert _score(path, "concreteness", "two hot dogs") == pytest.approx(4.8)
    assert _score(path, "concreteness", "Hot, dog") == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("name", "value"), [("valence", 0.1), ("arousal", 0.9), ("dominance", 0.6)]
)
@pytest.mark.parametrize("edition", ["headed", "lower", "term", "headerless", "bom", "crlf", "gz"])
def test_every_edition_of_nrc_vad_reads_alike(
    tmp_path: Path, edition: str, name: str, value: float
) -> None:
    text = {
        "lower": VAD.lower(),
        "term": VAD.lower().replace("word", "term"),
        "headerless": VAD.partition("\n")[2],
        "bom": "\ufeff" + VAD,
        "crlf": VAD.replace("\n", "\r\n"),
    }.get(edition, VAD)
    path = _file(tmp_path, text)
    if edition == "gz":
        path = tmp_path / "vad.tsv.gz"
        path.write_bytes(gzip.compress(text.encode()))
    assert _score(path, name, "The WARS") == pytest.approx(value)


def test_one_dimension_in_a_file_of_two_columns(tmp_path: Path) -> None:
    assert _score(_file(tmp_path, "cat\t0.7\n"), "valence", "cat") == pytest.approx(0.7)
    headed = _file(tmp_path, "word\tformality\nsir\t5\nhi\t1\n")
    assert _score(headed, "formality", "Hi sir") == pytest.approx(3)


def test_wkwsci_takes_the_part_of_speech_where_a_tagger_tells_it(tmp_path: Path) -> None:
    path = _file(tmp_path, WKWSCI, "wkwsci.csv")
    ratings = read_ratings(path, "sentiment")
    assert ratings.values[("mean",)] == {"": -1, "VERB": 0, "ADJ": -2}
    assert _score(path, "sentiment", "a mean man") == pytest.approx(-1)
    assert _score(path, "sentiment", "It fell apart") == pytest.approx(-2)


def test_quoted_terms_of_a_csv_may_hold_commas(tmp_path: Path) -> None:
    path = _file(tmp_path, 'term,POS,sentiment\n"up, up",adv,2\n', "w.csv")
    assert _score(path, "sentiment", "up, up and away") == pytest.approx(2)


def test_lines_that_come_to_one_term_count_with_their_mean(tmp_path: Path) -> None:
    path = _file(tmp_path, "China\t1\nchina\t3\n")
    assert _score(path, "x", "CHINA") == pytest.approx(2)


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        (VAD + "dog\t0.5\n", "valence", r"lexicon\.tsv:4: 2 fields; the first line has 4"),
        (VAD + "dog\thigh\t1\t1\n", "valence", r":4: the value of 'dog' is 'high'; a number"),
        (VAD + "dog\tnan\t1\t1\n", "valence", r":4: the value of 'dog' is 'nan'"),
        (VAD, "concreteness", r":1: has no column for 'concreteness'.*valence, arousal, dom"),
        (BRYSBAERT, "valence", r":1: has no column for 'valence'.*it can score concreteness"),
        ("cat\t1\t2\t3\n", "sentiment", "NRC-VAD.*cannot score 'sentiment'"),
        ("a\tb\tc\td\te\n", "x", r":1: begins with 'a | b.*lexicon is a WKWSCI"),
        ("one word per line\n", "x", r":1: begins with .*Brysbaert"),
        ("", "x", "is empty"),
        ("Word\tValence\tArousal\tDominance\n", "valence", "holds a header and no entry"),
        ('term,POS,sentiment\n"open,adj,1\n', "sentiment", r":2: .*csv"),
    ],
)
def test_a_malformed_file_is_refused_with_file_and_line(
    tmp_path: Path, text: str, name: str, said: str
) -> None:
    with pytest.raises(FormatError, match=said):
        read_ratings(_file(tmp_path, text), name)


def test_latin_1_is_refused_with_line_and_remedy(tmp_path: Path) -> None:
    path = _file(tmp_path, "cat\t1\ncaf\u00e9\t2\n", encoding="latin-1")
    with pytest.raises(FormatError, match=r"lexicon\.tsv:2: is not UTF-8.*iconv -f"):
        scorer(f"x={path}")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"none\.tsv"):
        scorer(f"valence={tmp_path / 'none.tsv'}")


def test_the_signature_holds_the_content_not_the_name(tmp_path: Path) -> None:
    one, two, three = (
        read_ratings(_file(tmp_path, text, name), "valence").hash
        for text, name in ((VAD, "x"), (VAD.replace("0.7", "0.8"), "x"), (VAD.lower(), "y"))
    )
    assert one == three != two


def test_words_of_other_languages_match_as_they_stand(tmp_path: Path) -> None:
    ratings = read_ratings(_file(tmp_path, "\u00fcbel\t-2\n"), "x")
    found = LexiconScorer("x", "f", ratings).score(
        Sentences(("U\u0308BEL und gut",), PlainReader("de"))
    )
    assert found[0] == pytest.approx(-2)


def test_a_first_line_that_only_seems_to_be_a_header_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("DEBUG", "gnomon"):
        read_ratings(_file(tmp_path, "word\tvalue\ncat\t1\n"), "NAME")
        assert not caplog.records
        read_ratings(_file(tmp_path, "dog\t0x10\ncat\t1\n"), "NAME")
    assert "line 1, 'dog\\t0x10', is taken for a header" in caplog.text
