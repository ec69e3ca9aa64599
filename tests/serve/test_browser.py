"""Comparing in a real browser: no barrier, by keyboard alone, without script, from elsewhere."""

from __future__ import annotations

import threading
import time
from itertools import cycle
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn
from tests.report.conftest import axe, barriers, browser  # noqa: F401  # fixtures
from tests.serve.conftest import TEXTS, comparison_of, rest

from gnomon.serve import Settings, make_app
from gnomon.serve.server import listen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from starlette.applications import Starlette

pytestmark = [pytest.mark.browser, pytest.mark.slow]

#: kind of page -> what it must say, and its address
PAGES = {
    "first": ("Earlier comparisons", "/"),
    "files": ("It rained all day.", "/drafts/{draft}"),
    "files with problems": ("different numbers of lines", "/drafts/{wrong}"),
    "add": ("The new one needs", "/studies/{study}/add"),
    "delete": ("cannot be undone", "/studies/{study}/delete"),
    "share": ("Active links", "/studies/{study}/share"),
    "done": ("The same as a command", "/studies/{study}"),
    "stopped": ("Try again", "/studies/{stopped}"),
    "failed": ("there is not enough memory", "/studies/{failed}"),
    "waiting": ("Stop", "/studies/{waiting}/state"),
    "people": ("People with access", "/people"),
    "nothing": ("nothing here", "/nothing"),
    "no way in": ("does not open gnomon", "/enter?token=x"),
    "methods": ("For researchers", "/studies/{study}/methods"),
    "form of a method": ("Patterns of your own", "/studies/{study}/methods/muler"),
}
#: half the kinds of pages once, every other one narrow and dark; `make verify` tries all
LOOKS = [(width, scheme) for width in (1280, 390) for scheme in ("light", "dark")]
CASES = [
    pytest.param(kind, *look, marks=() if look == usual else pytest.mark.verify)
    for kind, usual in zip(PAGES, cycle([(1280, "light"), None, (390, "dark"), None]), strict=False)
    for look in LOOKS
]


class Served:
    """A server that compares, and what is on it."""

    def __init__(self, app: Starlette, address: str) -> None:
        self.app, self.address = app, address
        self.ids: dict[str, str] = {}

    @property
    def way_in(self) -> str:
        """The address that lets the owner in."""
        return f"{self.address}/enter?token={self.app.state.access.launch_token()}"


def _fill(app: Starlette, ids: dict[str, str]) -> None:
    workspace, queue = app.state.workspace, app.state.queue
    wrong = {
        "reference.txt": b"A cat.\nIt rained.\nNobody came.\n",
        "one.txt": "A café.\nRain.\n".encode("utf-16"),
        "<b>two</b>.txt": b"A cat.\nA line too many.\nIt rained.\nNobody came.\n",
        "source.txt": b"Un gato.\nLlueve.\n",
    }
    for name, texts in (("draft", TEXTS), ("wrong", wrong)):
        draft, uploads = workspace.new_draft("owner")
        for number, text in enumerate(texts.values()):
            content = text if isinstance(text, bytes) else text.encode()
            (uploads / str(number)).write_bytes(content)
        workspace.name_files(draft, list(texts))
        queue.inspect(draft)
        ids[name] = draft
    for name in ("study", "stopped", "failed", "waiting"):
        ids[name] = comparison_of(app, "owner", title=name).id
    rest(workspace, ids["stopped"], "cancelled")
    rest(workspace, ids["failed"], "failed", "there is not enough memory")
    rest(workspace, ids["waiting"], "running")
    queue.again(ids["study"])
    while workspace.study(ids["study"]).job.active:
        time.sleep(0.05)
    app.state.access.add_link(ids["study"], note="Bea")
    app.state.access.add_token("Ana", "reader")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    listening = listen("127.0.0.1", 0, exactly=True)
    host = f"127.0.0.1:{listening.getsockname()[1]}"
    folder: Path = tmp_path_factory.mktemp("served") / "comparisons"
    settings = Settings(
        folder=folder,
        address=f"http://{host}",
        hosts=frozenset({host}),
    )
    app = make_app(settings)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, ws="none"))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    made = Served(app, f"http://{host}")
    _fill(app, made.ids)
    yield made
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def looks(browser: Any, served: Served) -> Iterator[Any]:  # noqa: F811  # a fixture
    """Pages of a browser that is let in, one for each look."""
    contexts: dict[tuple[Any, ...], Any] = {}

    def page(width: int = 1280, scheme: str = "light", *, script: bool = True) -> Any:
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
    said, path = PAGES[kind]
    page.goto(served.address + path.format(**served.ids))
    assert said in page.content()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert barriers(page, axe) == []
    page.evaluate("document.documentElement.style.fontSize = '200%'")  # text twice as large
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("document.documentElement.style.fontSize = ''")
    page.set_viewport_size({"width": 390, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()
    assert [text for text in problems if "Failed to load resource" not in text] == []


def test_a_form_in_error_has_no_barrier_and_says_where(
    looks: Any,
    served: Served,
    axe: str,  # noqa: F811  # a fixture
) -> None:
    page = looks(390, "dark")
    page.goto(f"{served.address}/drafts/{served.ids['draft']}")
    page.get_by_label("Name, one.txt").fill("")
    page.get_by_label("BLEU").uncheck()
    page.get_by_label("chrF").uncheck()
    page.get_by_role("button", name="Compare").click()
    page.wait_for_load_state()
    name = page.get_by_label("Name, one.txt")
    assert name.get_attribute("aria-invalid") == "true"
    error = page.locator(f"#{name.get_attribute('aria-describedby')}")
    assert error.inner_text() == "Give it a name."
    assert page.title().startswith("Error: ")
    assert barriers(page, axe) == []
    page.close()


def _tab_to(page: Any, name: str) -> None:
    """Press Tab until something of this name has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        said = page.evaluate(
            "(document.activeElement.innerText || document.activeElement.id || '').trim()"
        )
        if said == name:
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", f"nothing shows that {name} has the focus"
            return
    raise AssertionError(f"no way by Tab to {name}")


def test_from_files_to_a_verdict_by_keyboard_alone_and_live(
    looks: Any, served: Served, tmp_path: Path
) -> None:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text * 30)
    page = looks()
    page.goto(served.address)
    with page.expect_file_chooser() as chooser:  # listens before the key: it is not told in order
        _tab_to(page, "files")
        page.keyboard.press("Enter")
    chooser.value.set_files([tmp_path / name for name in TEXTS])
    _tab_to(page, "Continue")
    page.keyboard.press("Enter")
    page.wait_for_url("**/drafts/*")
    _tab_to(page, "Compare")
    page.keyboard.press("Enter")
    page.wait_for_url("**/studies/*")
    page.evaluate("window.here = 1")
    page.locator(".verdict li").first.wait_for()
    assert page.evaluate("window.here") == 1  # it came without a reload
    assert "one" in page.locator(".verdict").first.inner_text()
    served.app.state.queue.cancel(page.url.rpartition("/")[2])  # the taggers of MuLER take long
    page.locator("[data-live]").wait_for(state="detached")
    page.close()


def test_pasted_texts_are_compared_without_script(looks: Any, served: Served) -> None:
    page = looks(390, "light", script=False)
    page.goto(served.address)
    page.get_by_text("Or paste texts").click()
    for label, text in zip(("Reference:", "First", "Second"), TEXTS.values(), strict=True):
        page.get_by_label(label).fill(text * 30)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url("**/studies/*")
    study = page.url.rpartition("/")[2]
    while served.app.state.workspace.study(study).job.steps[0].state != "done":
        time.sleep(0.05)
    served.app.state.queue.cancel(study)
    page.reload()
    assert page.locator(".verdict li").count() > 0
    page.close()


def test_a_method_is_run_by_its_form_without_script(looks: Any, served: Served) -> None:
    address = f"{served.address}/studies/{served.ids['study']}"
    page = looks(390, "light", script=False)
    page.goto(address)
    page.get_by_role("link", name="More analyses").first.click()
    page.get_by_role("link", name="Scores").click()
    page.get_by_label("Measured by").fill("ter\nblue")
    page.get_by_role("button", name="Run it").click()
    page.wait_for_load_state()
    field = page.get_by_label("Measured by")
    assert field.get_attribute("aria-invalid") == "true"
    assert "did you mean 'bleu'" in page.locator("#option-metrics-error").inner_text()
    assert field.input_value() == "ter\nblue"
    field.fill("ter")
    page.get_by_role("button", name="Run it").click()
    page.wait_for_url(address)
    while served.app.state.workspace.study(served.ids["study"]).job.active:
        time.sleep(0.05)
    page.reload()
    assert "TER" in page.locator("main").inner_text()
    page.close()


def test_the_problems_of_a_form_have_the_focus_and_no_barrier(
    looks: Any,
    served: Served,
    axe: str,  # noqa: F811  # a fixture
) -> None:
    page = looks(390, "dark")
    page.goto(f"{served.address}/studies/{served.ids['study']}/methods/muler")
    page.get_by_label("Program that tells kinds of words apart").fill("spacy:/tmp/model")
    page.get_by_role("button", name="Run it").click()
    page.locator("#problems").wait_for()
    assert page.evaluate("document.activeElement.id") == "problems"
    assert page.title().startswith("Error: ")
    assert barriers(page, axe) == []
    page.locator("#problems a").click()
    assert (
        page.get_by_label("Program that tells kinds of words apart").input_value()
        == "spacy:/tmp/model"
    )
    page.close()


def test_what_is_too_large_is_said_before_it_is_sent(looks: Any, served: Served) -> None:
    page = looks()
    page.goto(served.address)
    page.evaluate("document.querySelector('[data-files]').dataset.maxFile = '10'")
    big = {"name": "big.txt", "mimeType": "text/plain", "buffer": b"x" * 100}
    page.locator("#files").set_input_files(big)
    assert "big.txt has" in page.locator("#files-error").inner_text()
    page.get_by_role("button", name="Continue").click()
    assert page.url.rstrip("/") == served.address
    page.close()


def test_links_open_from_mail_and_the_way_in_leaves_no_trace(
    browser: Any,  # noqa: F811  # a fixture
    served: Served,
) -> None:
    study = served.ids["study"]
    _, secret = served.app.state.access.add_link(study)
    context = browser.new_context()
    page = context.new_page()
    asked: list[Any] = []
    page.on("request", lambda request: asked.append(request))  # noqa: PLW0108  # playwright marks it
    page.goto(f"data:text/html,<a href='{served.address}/s/{secret}'>look</a>")
    page.get_by_text("look").click()
    page.wait_for_url(f"**/studies/{study}")
    assert "The same as a command" in page.content()
    assert page.locator("form").count() == 0  # nothing to change
    page.goto(served.address)
    assert "not signed in" in page.content()

    token_address = served.way_in
    token = token_address.rpartition("=")[2]
    page.goto(f"data:text/html,<a href='{token_address}'>enter</a>")
    page.get_by_text("enter").click()
    page.get_by_text("Come in as you?").wait_for()  # who made the link may have chosen
    assert page.url == f"{served.address}/enter"
    page.get_by_role("button", name="Come in").click()
    page.get_by_text("Earlier comparisons").wait_for()
    assert page.url == f"{served.address}/"
    page.get_by_role("link", name="People").click()
    page.wait_for_url("**/people")
    assert not any(token in (request.headers.get("referer") or "") for request in asked)
    page.go_back()
    assert token not in page.url
    context.close()


def test_a_form_of_another_site_changes_nothing(looks: Any, served: Served) -> None:
    page = looks()
    study = served.ids["stopped"]
    page.goto(
        f"data:text/html,<form method=post action='{served.address}/studies/{study}/delete'>"
        "<button>win</button></form>"
    )
    page.get_by_text("win").click()
    page.get_by_text("was stopped").wait_for()
    assert served.app.state.workspace.study(study).id == study
    page.close()
