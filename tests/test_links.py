"""Links of Markdown files beside the documentation, which Sphinx does not check, lead somewhere."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[1]
_FILES = [
    *_ROOT.glob("*.md"),
    *(_ROOT / "benchmarks").glob("*.md"),
    *(_ROOT / "docs").glob("*/*.md"),
    *(_ROOT / "papers").rglob("*.md"),
]
_CODE = re.compile(r"```.*?```", re.DOTALL)
_LINK = re.compile(r"\]\(([^()\s#]*)(?:#([\w-]+))?\)")
_ON_GITHUB = "../../actions/"


def _anchors(page: Path) -> set[str]:
    """Anchors of the headings of a page, as GitHub makes them."""
    text = _CODE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading) for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", _FILES, ids=lambda page: page.relative_to(_ROOT).as_posix())
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", _CODE.sub("", page.read_text(encoding="utf-8")))
    wrong = []
    for goal, anchor in _LINK.findall(text):
        if ":" in goal or goal.startswith(_ON_GITHUB):
            continue
        path = Path(os.path.normpath(page.parent / goal)) if goal else page
        if not path.exists() or (anchor and anchor not in _anchors(path)):
            wrong.append(f"{goal}#{anchor}")
    assert wrong == []
