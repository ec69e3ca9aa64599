"""Pictures in README and docs show what the text beside them says."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from tests.test_pages_run import _blocks_of, _commands

_ROOT = Path(__file__).resolve().parents[1]
_IMAGES = _ROOT / "docs" / "images"
_RECORD = json.loads((_IMAGES / "pictures.json").read_text(encoding="utf-8"))
_PAGES = [
    _ROOT / "README.md",
    *(page for page in (_ROOT / "docs").rglob("*.md") if "_build" not in page.parts),
]
_IMAGE = re.compile(r"images/([\w-]+)\.png")
#: sections of pages that show a picture of a command's page
_SECTIONS = [
    pytest.param(section, name, id=f"{page.stem}-{name}")
    for page in _PAGES
    for section in re.split(r"^#+ ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for name in dict.fromkeys(_IMAGE.findall(section))
    if name in _RECORD
]


def test_every_picture_is_there_and_shown() -> None:
    there = {path.stem for path in _IMAGES.glob("*.png")}
    shown = {name for page in _PAGES for name in _IMAGE.findall(page.read_text(encoding="utf-8"))}
    assert shown == there
    assert set(_RECORD) <= there


def _answers(section: str, command: str) -> list[str]:
    """What the text shows of the answer of a command, between its dots."""
    for block in _blocks_of(section):
        for written, shown in _commands(block.text) if block.kind == "console" else ():
            words = shlex.split(written.replace("\\\n", " "))
            if words[: len(shlex.split(command))] == shlex.split(command):
                return [" ".join(part.split()) for part in shown.split("...") if part.strip()]
    pytest.fail(f"the text does not show the command of its picture: {command}")


@pytest.mark.parametrize(("section", "name"), _SECTIONS)
def test_a_picture_says_what_the_text_beside_it_says(section: str, name: str) -> None:
    answers = _answers(section, _RECORD[name]["command"])
    sentences = " ".join(_RECORD[name]["sentences"])
    assert answers, "the text shows nothing of the answer"
    assert [answer for answer in answers if answer not in sentences] == [], "make pictures"
