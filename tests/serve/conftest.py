"""A server without a network: its application, and people who ask it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from gnomon.serve import Settings, make_app
from gnomon.serve._jobs import Queue
from gnomon.serve._workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from starlette.applications import Starlette

ADDRESS = "http://127.0.0.1:8765"
#: what a browser says of a form of the page itself
FROM_HERE = {"origin": ADDRESS, "sec-fetch-site": "same-origin"}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    folder = tmp_path / "comparisons"
    folder.mkdir()
    return Settings(folder=folder)


@pytest.fixture
def app(settings: Settings) -> Starlette:
    return make_app(settings)


@pytest.fixture
def visitor(app: Starlette) -> Callable[..., TestClient]:
    """A browser: of nobody, or of somebody with a token."""

    def browser(token: str | None = None) -> TestClient:
        client = TestClient(
            app,
            base_url=ADDRESS,
            headers={"accept": "text/html"},
            follow_redirects=False,
            raise_server_exceptions=False,
        )
        if token is not None:
            assert client.get("/enter", params={"token": token}).status_code == 303
            client.headers.update(FROM_HERE)
        return client

    return browser


@pytest.fixture
def owner(app: Starlette, visitor: Callable[..., TestClient]) -> TestClient:
    """The browser of who started the server."""
    return visitor(app.state.access.launch_token())


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "served")


@pytest.fixture
def queue(workspace: Workspace) -> Iterator[Queue]:
    """A queue that runs."""
    queue = Queue(workspace)
    queue.start()
    yield queue
    queue.stop()
