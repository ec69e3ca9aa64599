"""Sentence scorers, the discrepancy breakdown and gender words on the command line."""

from __future__ import annotations

import json

import pytest

LEXICON = "word\tliveliness\ncat\t3\ndog\t5\nsat\t1\nbark\t5\n"


@pytest.fixture
def lexicon(files):
    path = files / "lively.tsv"
    path.write_text(LEXICON, encoding="utf-8")
    return path


def _data(files) -> list[object]:
    return [files / "ref.txt", "-i", files / "a.txt", files / "b.txt"]


def test_sentences_prints_a_listing_per_scorer_and_the_same_rows_as_json_and_tsv(
    gnomon, files, lexicon
) -> None:
    common = ["muler", *_data(files), "--scorers", f"lively={lexicon}", "-q"]
    text = gnomon(*common)
    assert text.code == 0
    assert "lively of references and candidates" in text.out
    found = gnomon(*common, "-f", "json").json()
    assert found["command"] == "muler"
    row = next(row for row in found["rows"] if row["system"] == "b")
    # references: cat and sat, 2; dog ("barked" is bark), 5; candidates: cat, 3; dogs bark, 5
    assert (row["scorer"], row["n"]) == ("lively", 2)
    assert row["signed"] == pytest.approx((2 - 3 + 5 - 5) / 2)
    assert gnomon(*common, "-f", "tsv").out.split("\n")[0].split("\t")[:2] == [
        "scorer",
        "system",
    ]


def test_score_adds_scorers_to_its_page_and_json(gnomon, files, lexicon) -> None:
    page = files / "page.html"
    common = [
        "muler", *_data(files), "--features", "re:word", "--pattern", "word=[a-z]+",
        "--scorers", f"lively={lexicon}", "-q",
    ]  # fmt: skip
    found = gnomon(*common, "-f", "json", "--html", page).json()
    assert [row["system"] for row in found["tables"]["scorers"]] == ["a", "b"]
    assert {row["feature"] for row in found["rows"]} == {"re:word"}
    assert "how far systems lie from their references" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("scorer", "code", "said"),
    [
        ("valence", 2, "valence=FILE"),
        ("mood", 2, "sentiment"),
        ("valence=none.tsv", 1, "none.tsv"),
        ("size=python('builtins:len')", 2, "--allow-code"),
    ],
)
def test_what_cannot_be_scored_is_refused_before_any_work(
    gnomon, files, scorer: str, code: int, said: str
) -> None:
    answer = gnomon("muler", *_data(files), "-m", "none", "--scorers", scorer)
    assert answer.code == code
    assert said in answer.err
    assert not answer.out


def test_a_malformed_lexicon_is_named_with_its_line(gnomon, files, lexicon) -> None:
    lexicon.write_text(LEXICON + "cow\tmuch\n", encoding="utf-8")
    answer = gnomon("muler", *_data(files), "-m", "none", "--scorers", f"x={lexicon}")
    assert answer.code == 1
    assert "lively.tsv:6: the value of 'cow' is 'much'; a number is expected" in answer.err


def test_discrepancy_prints_shares_and_writes_a_page(gnomon, files) -> None:
    page = files / "page.html"
    common = [
        "muler", *_data(files), "-m", "none", "--features", "lex:animal", "--lexicon",
        f"animal={files / 'animals.txt'}", "-q",
    ]  # fmt: skip
    (files / "animals.txt").write_text("cat\ndog\n", encoding="utf-8")
    answer = gnomon(*common, "--html", page)
    assert answer.code == 0
    assert "Discrepancy of a" in answer.out
    assert page.stat().st_size > 10_000
    rows = json.loads(gnomon(*common, "-f", "json").out)["rows"]
    shares = {row["system"]: (row["hit"], row["miss"]) for row in rows}
    assert shares["a"] == (pytest.approx(2 / 3), 0)
    assert shares["b"] == (pytest.approx(1 / 3), pytest.approx(1 / 3))  # "dogs" is no entry


def test_gender_words_need_no_file(gnomon, files) -> None:
    (files / "he.txt").write_text("he sat\n", encoding="utf-8")
    (files / "she.txt").write_text("she sat\n", encoding="utf-8")
    common = ["muler", files / "he.txt", "-i", files / "she.txt", "-q", "-f", "json"]
    (row, *_) = gnomon(*common, "--features", "lex:gender").json()["rows"]
    assert (row["segments"], row["muler"]) == (1, 1)
    assert "lex:gender" in gnomon(*common, "--features", "lex:sex").err
    assert "lex:gender" in gnomon("list", "features").out


def test_scorers_are_listed(gnomon) -> None:
    assert "sentiment=FILE" in gnomon("list", "scorers").out
