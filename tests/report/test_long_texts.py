"""Long texts and many systems: folded until asked for, and stored once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.findings import Column, Exhibit, ExhibitText, Finding, Highlight, Table
from gnomon.report import to_html, write_html

LONG = "A sentence of a long document. " * 100


def _finding(systems: int = 12, exhibits: int = 3) -> Finding:
    marks = tuple(Highlight(i, i + 1, "pos:NOUN") for i in range(0, 60, 2))
    texts = (
        ExhibitText("source", "", LONG),
        ExhibitText("reference", "A", "A short reference.", marks[:3]),
        *(ExhibitText("candidate", f"system-{n}", LONG[: 100 + 300 * (n % 3)], marks, {"base": n})
          for n in range(systems)),
    )  # fmt: skip
    table = Table("t", "T", (Column("system", "System"),), ({"system": "system-0"},))
    shown = tuple(
        Exhibit("pos:NOUN", f"kind {n}", 1, texts, systems=("system-7",)) for n in range(exhibits)
    )
    return Finding("m", "M", (table,), {}, exhibits=shown)


def _data(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_what_recurs_in_exhibits_is_stored_once() -> None:
    data = _data(to_html(_finding(exhibits=3)))
    assert data["strings"].count(LONG) == 1
    assert len(data["marks"]) == 3  # none, those of the reference, those of the outputs
    assert len(data["sides"]) == 2 + 12
    assert data["names"] == [[], ["base"]]


def test_another_exhibit_of_the_same_texts_costs_little() -> None:
    sizes = [len(to_html(_finding(exhibits=n))) for n in (1, 2, 3)]
    assert sizes[2] - sizes[1] < 40 * 14


@pytest.fixture(scope="module")
def page(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    file = tmp_path_factory.mktemp("long") / "long.html"
    write_html(file, _finding())
    made = browser.new_page(viewport={"width": 1280, "height": 900})
    made.goto(Path(file).as_uri())
    made.wait_for_selector("html[data-ready]")
    yield made
    made.close()


@pytest.mark.browser
@pytest.mark.slow
class TestInBrowser:
    def test_a_long_text_shows_its_first_lines_and_the_rest_on_request(self, page: Any) -> None:
        source = page.locator("article .source").first
        text, button = source.locator(".text"), source.get_by_role("button")
        folded = text.bounding_box()["height"]
        assert folded < 120
        assert button.inner_text() == "Show all 3,100 characters"
        button.click()
        assert text.bounding_box()["height"] > 4 * folded
        assert button.get_attribute("aria-expanded") == "true"
        button.click()
        assert text.bounding_box()["height"] == folded

    def test_a_short_text_is_not_folded(self, page: Any) -> None:
        assert page.locator("article .reference button").count() == 0

    def test_of_many_outputs_the_leaders_come_first_and_the_rest_on_request(
        self, page: Any
    ) -> None:
        card = page.locator("article").last
        names = card.locator(".candidate h5")
        assert names.count() == 6
        assert names.first.inner_text() == "system-7"
        card.get_by_role("button", name="Show all 12 outputs").click()
        assert names.count() == 12
        assert sorted(names.all_inner_texts()) == sorted(f"system-{n}" for n in range(12))
