"""Made-up studies of several kinds, written once; and a page that notes what it should not do."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType


def _module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_made", Path(__file__).with_name("made.py"))
    if spec is None or spec.loader is None:
        raise ImportError("made.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["site_made"] = module  # dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def made() -> ModuleType:
    """How to make studies up."""
    return _module()


class Visit:
    """A page, and everything it did that it should not have done."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.address = address
        self.problems: list[str] = []
        page.on("console", lambda m: self.problems.append(f"console: {m.text}"))
        page.on("pageerror", lambda e: self.problems.append(f"error: {e}"))
        page.on("dialog", lambda d: (self.problems.append("dialog"), d.dismiss()))
        page.on("request", self._request)

    def _request(self, request: Any) -> None:
        if not request.url.startswith(("file:", "blob:")):
            self.problems.append(f"request: {request.url}")

    def go(self, route: str) -> Any:
        """Show a page of the site; its faults count too."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.address}#/{route}")
        self.page.wait_for_selector("html[data-ready]")
        fault = self.page.evaluate("document.documentElement.dataset.fault || ''")
        if fault:
            self.problems.append(fault)
        return self.page


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Visit]]:
    opened: list[Any] = []

    def start(place: Path, *, width: int = 1280, **options: Any) -> Visit:
        page = browser.new_page(viewport={"width": width, "height": 900}, **options)
        opened.append(page)
        return Visit(page, (place / "index.html" if place.is_dir() else place).as_uri())

    yield start
    for page in opened:
        page.close()
