"""Pages of a study in a real browser: no barrier, nothing sideways, all of it without script."""

from __future__ import annotations

import re
import shutil
import threading
import time
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn
from tests.report.conftest import axe, barriers, browser  # noqa: F401  # fixtures

from gnomon.serve import Settings, make_app
from gnomon.serve.index import make
from gnomon.serve.notes import add_note
from gnomon.serve.server import listen
from gnomon.serve.store_pages import stored_study
from gnomon.studies import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@dataclass(frozen=True)
class Served:
    """A server, its way in, and the studies that it shows by what is special about them."""

    address: str
    way_in: str
    studies: dict[str, str]

    def page(self, kind: str) -> str:
        """The address of a kind of page."""
        study, _, path = PAGES[kind]
        return f"{self.address}/studies/{self.studies[study]}{path}"


#: kind of page -> study, what it must say, and its address below the study
PAGES = {
    "result": ("done", "is the best of", ""),
    "result of a study that stopped": ("stopped", "Not finished", ""),
    "result before anything was found": ("empty", "Nothing was found yet", ""),
    "segments": ("done", "Write a note", "/segments?feature=re:the&sort=worst"),
    "segments of a system": ("done", "2 more systems", "/segments?system=apertium-french&page=2"),
    "segments that none fits": ("done", "No segment fits", "/segments?q=zzzz"),
    "segments without texts": ("gone", "not where they were", "/segments"),
    "segments, asked wrongly": ("done", "a length is a number", "/segments?length=x"),
    "tables": ("done", "Download", "/tables"),
    "tables before anything was found": ("empty", "no tables yet", "/tables"),
    "segments with notes": ("done", "too literal", "/segments?noted=1"),
    "report": ("done", "Make it", "/made/report"),
    "nothing": ("done", "nothing of that name", "/download/tables/nope.csv"),
    "damage": ("damaged", "cannot be read", ""),
}  # fmt: skip
#: half the kinds of pages once, every other one narrow and dark; `make verify` tries all
LOOKS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]
CASES = [
    pytest.param(kind, *look, marks=() if look == usual else pytest.mark.verify)
    for kind, usual in zip(PAGES, cycle([(1280, "light"), None, (390, "dark"), None]), strict=False)
    for look in LOOKS
]


@pytest.fixture(scope="module")
def served(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server of studies that are done, stopped, empty, damaged, and without their texts."""
    folder = tmp_path_factory.mktemp("served")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        stores = {name: shutil.copytree(finished, folder / f"{name}.store") for name in
                  ("done", "stopped", "empty", "damaged", "gone")}  # fmt: skip
        for name, lines in (("stopped", 3), ("empty", 0)):
            manifest = stores[name] / "manifest.jsonl"
            kept = manifest.read_text().splitlines(keepends=True)[:lines]
            manifest.write_text("".join(kept))
        studies = {name: stored_study(store) for name, store in stores.items()}
        with pytest.MonkeyPatch.context() as moved:
            moved.setattr("gnomon.studies.sources.read_set", _gone)
            make(Store(stores["gone"]), studies["gone"].folder / "index")
        make(Store(stores["done"]), studies["done"].folder / "index")
        testset = Store(stores["done"]).sets()[0].name
        text = "too literal: <b>\u202eevil</b>"
        add_note(studies["done"].folder, testset, 1, text, by="owner", author="Ana")
        listening = listen("127.0.0.1", 0, exactly=True)
        host = f"127.0.0.1:{listening.getsockname()[1]}"
        app = make_app(
            Settings(
                stores=tuple(stores.values()), address=f"http://{host}", hosts=frozenset({host})
            )
        )
        with (stores["damaged"] / "plan.json").open("r+b") as file:
            file.write(b"#")
        config = uvicorn.Config(app, log_config=None, access_log=False, ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        token = app.state.access.launch_token()
        yield Served(
            f"http://{host}",
            f"http://{host}/enter?token={token}",
            {name: study.id for name, study in studies.items()},
        )
        server.should_exit = True
        thread.join()


def _gone(*_: object, **__: object) -> None:
    raise FileNotFoundError


@pytest.fixture(scope="module")
def looks(browser: Any, served: Served) -> Iterator[Any]:  # noqa: F811  # a fixture
    """Pages of a browser that is let in, one for each look."""
    contexts: dict[tuple[Any, ...], Any] = {}

    def page(width: int, scheme: str, *, script: bool = True) -> Any:
        look = (width, scheme, script)
        if look not in contexts:
            made = browser.new_context(
                viewport={"width": width, "height": 900},
                color_scheme=scheme,
                java_script_enabled=script,
            )
            made.new_page().goto(served.way_in)
            contexts[look] = made
        return contexts[look].new_page()

    yield page
    for made in contexts.values():
        made.close()


@pytest.mark.parametrize(("kind", "width", "scheme"), CASES)
def test_a_page_has_no_barrier(
    looks: Any,
    served: Served,
    axe: str,  # noqa: F811  # a fixture
    kind: str,
    width: int,
    scheme: str,
) -> None:
    page = looks(width, scheme)
    problems: list[str] = []
    page.on("console", lambda said: problems.append(said.text))
    page.on("request", lambda r: problems.append(r.url) if served.address not in r.url else None)
    page.goto(served.page(kind))
    assert PAGES[kind][1] in page.content()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert barriers(page, axe) == []
    page.evaluate("document.documentElement.style.fontSize = '200%'")  # text twice as large
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("document.documentElement.style.fontSize = ''")
    page.set_viewport_size({"width": 390, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()
    # pages that say what is wrong are themselves in error for the browser
    assert [text for text in problems if "Failed to load resource" not in text] == []


def test_kinds_of_words_lead_to_the_segments_without_script(looks: Any, served: Served) -> None:
    page = looks(1280, "light", script=False)
    page.goto(served.page("result"))
    page.get_by_role("link", name="re:the").click()
    page.wait_for_load_state()
    assert "feature=re%3Athe" in page.url
    assert page.locator("article.exhibit mark").count() > 0
    page.get_by_label("With the words").fill("the")
    page.get_by_role("button", name="Show").click()
    page.wait_for_load_state()
    assert "q=the" in page.url
    assert "feature=re%3Athe" in page.url
    page.close()


def test_the_answer_stands_beside_its_charts_and_above_them_where_there_is_no_room(
    looks: Any, served: Served
) -> None:
    page = looks(1280, "light")
    page.goto(served.page("result"))
    page.locator("[data-chart] svg").first.wait_for()
    answer = page.locator(".verdict").first.bounding_box()
    chart = page.locator("[data-chart]").first.bounding_box()
    assert answer["x"] + answer["width"] <= chart["x"]
    assert chart["y"] < 900
    assert "apertium-direct" in page.locator("[data-chart]").first.inner_text()
    page.set_viewport_size({"width": 390, "height": 900})
    chart = page.locator("[data-chart]").first.bounding_box()
    assert chart["y"] > page.locator(".verdict").first.bounding_box()["y"]
    page.close()


def test_charts_are_read_by_keyboard_and_saved(looks: Any, served: Served) -> None:
    page = looks(1280, "light")
    page.goto(served.page("result"))
    chart = page.locator("[data-chart]").first
    chart.locator("[role=graphics-symbol][tabindex='0']").focus()
    first = chart.locator(".card").inner_text()
    page.keyboard.press("ArrowDown")
    second = chart.locator(".card").inner_text()
    assert first
    assert second
    assert first != second
    with page.expect_download() as saved:
        chart.get_by_role("button", name="Save as SVG").click()
    assert saved.value.suggested_filename == "gnomon-compare-1.svg"
    chart.get_by_label("Metric").select_option(label="chrF")
    assert page.get_by_role("heading", name="chrF of each system").is_visible()
    words = page.locator("[data-chart^=gnomon-muler]").first
    words.locator("[role=graphics-symbol][tabindex='0']").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/segments\?.*feature=re%3A.*system=apertium"))
    assert page.locator("article.exhibit mark").count() > 0
    page.close()


def test_a_note_is_written_by_keyboard_alone_without_script(looks: Any, served: Served) -> None:
    page = looks(390, "light", script=False)
    page.goto(served.page("segments that none fits").partition("?")[0] + "?segment=5")
    page.locator("details.write summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("a word is missing")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**#segment-5")
    assert page.locator(".said .text").inner_text() == "a word is missing"
    page.close()


def test_a_study_that_goes_on_shows_what_it_found(looks: Any, served: Served, finished: Path,
                                                  tmp_path_factory: pytest.TempPathFactory
                                                  ) -> None:  # fmt: skip
    page = looks(1280, "dark")
    page.goto(served.page("result of a study that stopped"))
    assert "Not finished" in page.content()
    store = tmp_path_factory.getbasetemp()
    (stopped,) = [path for path in store.rglob("stopped.store") if path.is_dir()]
    shutil.copy(finished / "manifest.jsonl", stopped / "manifest.jsonl")
    page.locator("#job progress").wait_for(state="hidden")
    assert "Not finished" not in page.content()
    page.close()


def test_the_full_report_is_a_file_that_opens_without_the_server(
    looks: Any, served: Served, tmp_path: Path
) -> None:
    page = looks(1280, "light")
    problems: list[str] = []
    page.on("console", lambda said: problems.append(said.text))
    page.goto(served.page("report"))
    page.get_by_role("button", name="Make it").click()
    link = page.get_by_role("link", name="Save the report")
    link.wait_for(state="visible")
    with page.expect_download() as saved:
        link.click()
    saved.value.save_as(tmp_path / saved.value.suggested_filename)
    (file,) = tmp_path.glob("*.html")
    page.goto(f"file://{file}#/segments")
    page.wait_for_selector("html[data-ready]")
    page.locator("article.exhibit").first.wait_for(state="visible")
    assert problems == []
    page.close()
