"""Figures of a study under different kinds of mask: pages and queries say that they differ."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from gnomon import example, study
from gnomon.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_STUDY = """
name = "masks"
[[testsets]]
path = "{path}"
first = 12
systems = ["apertium-*"]
[[methods.muler.score]]
metrics = ["bleu"]
{first}
[[methods.muler.score]]
metrics = ["chrf"]
{second}
"""
_WORDS = "features = ['re:the']\npattern = {the = 'the'}\nresamples = 0\ntogether = true"


@pytest.fixture
def stored(
    tmp_path: Path, finished: Callable[[Path], study.Store]
) -> Callable[[str, str], study.Store]:
    """A study of two metrics, each with a kind of mask of its own."""

    def made(first: str, second: str) -> study.Store:
        file = tmp_path / "study.toml"
        steps = {"first": first, "second": second}
        options = {name: f"{_WORDS}\nmasking = '{masking}'" for name, masking in steps.items()}
        file.write_text(_STUDY.format(path=example.path(), **options), encoding="utf-8")
        return finished(file)

    return made


def test_pages_and_queries_say_that_masks_of_steps_differ(
    stored: Callable[[str, str], study.Store],
    capsys: pytest.CaptureFixture[str],
) -> None:
    store = stored("tokens", "substitute")
    said = [one for page in study.pages(store, texts=False).verdicts for one in page.verdict]
    (caution,) = (one for one in said if one.claim == "study.masks")
    assert "BLEU: masks on the metric's own tokens; chrF: other words in the texts" in caution.text
    (notice,) = store.query("select metric, muler from muler").notices
    assert "bleu: masks on the metric's own tokens; chrf: other words in the texts" in notice
    assert store.query("select metric, mean from muler_features").notices == (notice,)
    assert not store.query("select metric, masks, muler from muler").notices
    assert not store.query("select * from tasks").notices
    asked = "select distinct metric, masks from muler order by all"
    assert store.query(asked).rows == (("bleu", "tokens"), ("chrf", "substitute"))
    sql = "select metric, muler from muler"
    assert main(["query", str(store.path), sql, "-f", "json"]) == 0
    rows, said_aside = capsys.readouterr()
    assert json.loads(rows)
    assert "masks differ between metrics" in said_aside


def test_nothing_is_said_of_masks_that_are_of_one_kind(
    stored: Callable[[str, str], study.Store],
) -> None:
    store = stored("substitute", "substitute")
    said = [one for page in study.pages(store, texts=False).verdicts for one in page.verdict]
    assert said
    assert all(one.claim != "study.masks" for one in said)
    assert not store.query("select metric, muler from muler").notices
