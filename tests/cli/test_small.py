"""The small commands: what they print for people and for programs."""

from __future__ import annotations

import json

import pytest

from gnomon.cli import selftest


@pytest.mark.parametrize(
    "arguments",
    [["selftest"], ["cache"], ["cache", "clear"], ["setup", "de"], ["info"], ["list", "metrics"]],
)
def test_every_command_prints_one_json_object(gnomon, es_en, arguments: list[str]) -> None:
    data = ["-t", es_en] if arguments == ["info"] else []
    found = gnomon(*arguments, *data, "-f", "json").json()
    assert list(found) == ["gnomon", "command", "rows", "signatures"]
    assert found["command"] == arguments[0]
    assert found["rows"]


def test_the_selftest_passes_here_and_fails_where_a_number_differs(gnomon, monkeypatch) -> None:
    assert gnomon("selftest").code == 0
    wrong = selftest.Check("a number", found=1.0, expected=2.0)
    monkeypatch.setattr(selftest, "checks", lambda: iter([wrong]))
    answer = gnomon("selftest", "-f", "json")
    assert answer.code == 1
    assert answer.json()["rows"][0]["correct"] is False


def test_setup_names_the_commands_and_installs_nothing_unasked(gnomon) -> None:
    answer = gnomon("setup", "de", stdin=b"")
    assert answer.code == 0
    assert "de_core_news_sm" in answer.out
    assert "--yes" in answer.out


@pytest.mark.parametrize("kind", ["metrics", "features", "taggers", "languages", "formats"])
def test_names_that_can_be_given_are_listed(gnomon, kind: str) -> None:
    answer = gnomon("list", kind)
    assert answer.code == 0
    some = {"metrics": "chrf", "features": "pos:NOUN", "taggers": "spacy", "formats": "plain text"}
    assert some.get(kind, "Icelandic") in answer.out


def test_a_language_is_listed_with_what_it_can_do(gnomon) -> None:
    rows = json.loads(gnomon("list", "languages", "-f", "json").out)["rows"]
    by_code = {row["code"]: row for row in rows}
    assert by_code["sw"]["parts of speech"] == ""
    assert by_code["hi"]["parts of speech"] == "gnomon setup hi"
    assert by_code["th"]["counted in"] == "characters"
    assert by_code["nl"]["parts of speech"] in {"gnomon setup nl", "spacy:nl_core_news_sm"}


def test_a_language_without_a_tagger_is_told_what_takes_its_place(gnomon, tmp_path) -> None:
    refused = gnomon("setup", "th", "-q")
    assert "there is no tagger for Thai ('th'); words are grouped by their form" in refused.err
    files = [tmp_path / "ref.txt", tmp_path / "out.txt"]
    for file in files:
        file.write_text("สวัสดี\n" * 3, encoding="utf-8")
    answer = gnomon("muler", files[0], "-i", files[1], "-l", "th", "-q")
    assert "no tagger of Thai is installed; parts of speech can be read from" in answer.out
    assert "gnomon setup" not in answer.out
    assert "12 characters" in gnomon("info", files[0], "-i", files[1], "-q").out
