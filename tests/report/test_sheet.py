"""The form in a real browser: filled in, saved, read back; hostile text, both widths, keyboard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.findings import Exhibit, ExhibitText, Highlight
from gnomon.human.sheets import Key, KeyRow, read_answers
from gnomon.report.sheet import render_form

HOSTILE = "</script><script>window.broken=1</script><img src=x onerror=alert(1)>\u202e\u2028&amp;"


def _items(count: int = 5) -> dict[str, Exhibit]:
    def exhibit(n: int) -> Exhibit:
        texts = (
            ExhibitText("source", "", f"Quelle {n}"),
            ExhibitText("reference", "A", f"🙂 reference {n}", (Highlight(2, 11),)),
            ExhibitText("candidate", "A", HOSTILE if n == 2 else f"output A {n}"),
            ExhibitText("candidate", "B", "" if n == 3 else f"output B {n}"),
        )
        return Exhibit("pos:NOUN" if n % 2 else HOSTILE, "A or B", 0, texts)

    return {f"gtest-{n:03d}": exhibit(n) for n in range(1, count + 1)}


KEY = Key("gtest", {name: KeyRow(name, "", 1, "x", "y", "") for name in _items()}, "outputs", "")


def _form(**options: Any) -> str:
    return render_form(_items(), study="gtest", question="Which?", **options)


def test_the_page_holds_its_texts_once_and_as_data() -> None:
    page = _form(title=HOSTILE)
    assert page.count("<script") == 2
    assert "\u2028" not in page
    assert "window.broken=1</script>" not in page


def test_the_policy_allows_the_pages_own_script_and_style_alone() -> None:
    (policy,) = re.findall('Content-Security-Policy" content="([^"]*)"', _form())
    assert policy.startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert "unsafe" not in policy


WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
in_browser = [pytest.mark.browser, pytest.mark.slow]


class Visit:
    """One person's browser with the form open, and everything it should not have done."""

    def __init__(self, browser: Any, path: Path, size: dict[str, int]) -> None:
        self.path = path
        self.problems: list[str] = []
        self.context = browser.new_context(viewport=size, accept_downloads=True, offline=True)
        self.open()

    def open(self) -> None:
        self.page = self.context.new_page()
        self.page.on("console", lambda m: self.problems.append(f"console: {m.text}"))
        self.page.on("pageerror", lambda e: self.problems.append(f"error: {e}"))
        self.page.on("dialog", lambda d: (self.problems.append("dialog"), d.dismiss()))
        self.page.on("request", self._request)
        self.page.goto(self.path.as_uri())
        self.page.wait_for_selector("html[data-ready]")

    def _request(self, request: Any) -> None:
        if not request.url.startswith(("file:", "blob:")):
            self.problems.append(f"request: {request.url}")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def saved(self, kind: str, folder: Path) -> Path:
        with self.page.expect_download() as download:
            self.page.get_by_role("button", name=f"({kind})").click()
        path = folder / download.value.suggested_filename
        download.value.save_as(path)
        return path

    @property
    def total(self) -> str:
        return self.page.locator("output.count").inner_text()


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Any]:
    opened: list[Visit] = []

    def start(size: dict[str, int] | None = None) -> Visit:
        path = tmp_path / "form.html"
        if not path.exists():
            page = render_form(_items(), study="gtest", question="Which output is better?")
            path.write_text(page, encoding="utf-8")
        opened.append(Visit(browser, path, size or WIDE))
        return opened[-1]

    yield start
    for one in opened:
        one.context.close()


class TestInBrowser:
    pytestmark = in_browser

    def test_a_form_filled_in_by_mouse_is_saved_and_read_back(
        self, visit: Any, tmp_path: Path
    ) -> None:
        seen = visit()
        page = seen.page
        page.get_by_label("Your name").fill("Änna =B")
        page.get_by_label("A is better").check()
        page.get_by_role("button", name="Next →").click()
        page.get_by_label("B is better").check()
        page.get_by_label("Comment").fill('=1+1 "x"\ttab\nline')
        page.get_by_role("button", name="Next open item").click()
        page.get_by_label("Tie").check()
        assert seen.total == "3 of 5 answered"
        path = seen.saved("TSV", tmp_path)
        assert path.name == "answers-gtest-A-nna-B.tsv"
        found = read_answers([path], KEY)
        assert [one.answer for one in found] == ["A", "B", "tie", "", ""]
        assert {one.annotator for one in found} == {"Änna =B"}
        assert found[1].comment == '=1+1 "x"\ttab\nline'
        assert seen.problems == []

    def test_it_can_be_filled_in_by_keyboard_alone(self, visit: Any, tmp_path: Path) -> None:
        seen = visit()
        seen.press("a", "n", "b", "n", "t", "n", "a", "a", "p", "p", "p", "b", "o", "o")
        # item 1: A then, at the end, B; item 4: A taken back
        found = read_answers([seen.saved("TSV", tmp_path)], KEY)
        assert [one.answer for one in found] == ["B", "B", "tie", "", ""]
        assert "Item 5 of 5" in seen.page.locator("section.item h2").inner_text()
        assert seen.problems == []

    def test_single_outputs_are_scored_by_numbers(self, visit: Any, tmp_path: Path) -> None:
        items = {
            name: replace(shown, group="", texts=shown.texts[:3])
            for name, shown in _items(3).items()
        }
        page = render_form(items, study="gtest", question="How good?")
        (tmp_path / "form.html").write_text(page, encoding="utf-8")
        seen = visit()
        score = seen.page.get_by_label("Score, from 0")
        score.fill("75")
        score.press("Enter")
        seen.page.get_by_label("Score, from 0").fill("101")
        assert "from 0 to 100" in seen.page.locator("p.status").inner_text()
        seen.page.get_by_label("Score, from 0").fill("0,5")
        assert seen.total == "2 of 3 answered"
        key = Key(
            "gtest", {name: KeyRow(name, "", 1, "x", "", "") for name in items}, "outputs", ""
        )
        found = read_answers([seen.saved("TSV", tmp_path)], key)
        assert [one.answer for one in found] == ["75.0", "0.5", ""]
        assert seen.problems == []

    def test_keys_write_while_one_writes(self, visit: Any) -> None:
        seen = visit()
        seen.page.get_by_label("Comment").click()
        seen.page.keyboard.type("a bat")
        assert seen.page.get_by_label("Comment").input_value() == "a bat"
        assert seen.total == "0 of 5 answered"

    def test_answers_outlive_a_closed_page_until_they_are_saved(self, visit: Any) -> None:
        seen = visit()
        seen.page.get_by_label("Your name").fill("Ben")
        seen.press("Tab")
        seen.page.locator("section.item").focus()
        seen.press("a", "n", "t")
        seen.page.close()
        seen.open()
        assert seen.total == "2 of 5 answered"
        assert "Item 2 of 5" in seen.page.locator("section.item h2").inner_text()
        assert seen.page.get_by_label("Your name").input_value() == "Ben"
        assert "not yet saved" in seen.page.locator(".status").inner_text()
        assert seen.problems == []

    def test_work_goes_on_elsewhere_with_a_saved_file(self, visit: Any, tmp_path: Path) -> None:
        first = visit()
        first.press("a", "n", "b")
        path = first.saved("JSON", tmp_path)
        second = visit()
        assert second.total == "0 of 5 answered"
        second.page.get_by_label("Go on with a saved JSON file").set_input_files(path)
        second.page.locator("output.count", has_text="2 of 5").wait_for()
        other = tmp_path / "other.json"
        other.write_text('{"study": "another", "answers": []}', encoding="utf-8")
        second.page.get_by_label("Go on with a saved JSON file").set_input_files(other)
        second.page.wait_for_selector(".status.warn")
        assert second.total == "2 of 5 answered"
        assert second.problems == []

    def test_where_the_browser_keeps_nothing_it_warns_before_work_is_lost(self, visit: Any) -> None:
        seen = visit()
        seen.page.close()
        seen.context.add_init_script(
            "Object.defineProperty(window, 'localStorage', {get() { throw new Error('no'); }})"
        )
        seen.open()
        assert "keeps no answers" in seen.page.locator(".status.warn").inner_text()
        seen.page.locator("section.item").click()
        seen.press("a")
        assert seen.total == "1 of 5 answered"
        with seen.page.expect_event("dialog") as dialog:
            seen.page.close(run_before_unload=True)
        assert dialog.value.type == "beforeunload"
        assert seen.total == "1 of 5 answered"  # who stays goes on

    @pytest.mark.parametrize("size", [WIDE, NARROW], ids=["desktop", "phone"])
    def test_hostile_text_stays_text_and_nothing_scrolls_sideways(
        self, visit: Any, size: dict[str, int]
    ) -> None:
        seen = visit(size)
        seen.press("n")
        page = seen.page
        assert page.evaluate("window.broken") is None
        assert "<img src=x" in page.locator(".two .side").first.inner_text()
        assert page.locator(".two .ctl", has_text="RLO").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        seen.press("n")
        assert "(empty)" in page.locator(".two .side").nth(1).inner_text()
        assert seen.problems == []

    def test_marks_stand_on_their_words_also_after_emoji(self, visit: Any) -> None:
        seen = visit()
        assert seen.page.locator("mark").all_inner_texts() == ["reference"]

    def test_every_control_has_a_name(self, visit: Any) -> None:
        page = visit().page
        unnamed = page.evaluate(
            "[...document.querySelectorAll('input, textarea, button, progress')].filter((node) =>"
            " !(node.labels && node.labels.length) && !node.getAttribute('aria-label')"
            " && !node.textContent.trim()).map((node) => node.outerHTML)"
        )
        assert unnamed == []
