"""A server without a network: its application, and people who ask it."""

from __future__ import annotations

import asyncio
import shutil
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from starlette.testclient import TestClient

from gnomon import example, study
from gnomon.serve import Settings, make_app
from gnomon.serve.comparison import ComparisonChoices, FileChoice, StepChoice
from gnomon.serve.jobs import Queue
from gnomon.serve.server import listen, server_of
from gnomon.serve.store_pages import stored_study
from gnomon.serve.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from starlette.applications import Starlette

    from gnomon.serve.job_table import JobState
    from gnomon.serve.workspace import Comparison

ADDRESS = "http://127.0.0.1:8765"
#: what a browser says of a form of the page itself
FROM_HERE = {"origin": ADDRESS, "sec-fetch-site": "same-origin"}
REFERENCE = "A cat sat on the mat.\nIt rained all day.\nNobody came.\n"
TEXTS = {
    "reference.txt": REFERENCE,
    "one.txt": "A cat sat on a mat.\nIt rained all day.\nNo one came.\n",
    "two.txt": "The cat is on mat.\nAll day rain.\nCame nobody.\n",
}


def browser_of(app: Starlette, token: str | None = None) -> TestClient:
    """A browser: of nobody, or of somebody with a token."""
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


def comparison_of(app: Starlette, owner: str, title: str = "Quillmark") -> Comparison:
    """A comparison of three segments that nothing runs."""
    workspace = app.state.workspace
    draft, uploads = workspace.new_draft(owner)
    for number, text in enumerate(TEXTS.values()):
        (uploads / str(number)).write_text(text)
    workspace.name_files(draft, list(TEXTS))
    roles = ["reference", "output", "output"]
    files = [
        FileChoice(file=n, name=name, role=role, title=name.removesuffix(".txt"))
        for n, (name, role) in enumerate(zip(TEXTS, roles, strict=True))
    ]
    steps = [StepChoice(method="compare")]
    choices = ComparisonChoices(files=files, title=title, language_pair="en", steps=steps)
    return workspace.create(draft, choices)


def rest(workspace: Workspace, id: str, state: JobState, said: str = "") -> None:  # noqa: A002
    """Have all methods of a comparison be in this state."""
    for place, step in enumerate(workspace.study(id).job.steps):
        step.state, step.said = state, said
        workspace.jobs.change(id, place, step)


def at_once(app: Starlette, browser: TestClient, *asked: tuple[str, str, dict[str, Any]]) -> Any:
    """Answers to requests of a browser, all sent at once, in their order."""

    async def ask() -> Any:
        transport = httpx.ASGITransport(app)
        said: dict[str, Any] = {"headers": browser.headers, "cookies": browser.cookies.jar}
        async with httpx.AsyncClient(transport=transport, base_url=ADDRESS, **said) as same:
            sent = (same.request(method, path, **more) for method, path, more in asked)
            return await asyncio.gather(*sent)

    return asyncio.run(ask())


@contextmanager
def running(app: Starlette) -> Iterator[TestClient]:
    """The owner's browser while the server runs comparisons."""
    with TestClient(app):  # begins and ends what runs
        yield browser_of(app, app.state.access.launch_token())


@contextmanager
def serving(
    folder: Path, *, certificate: tuple[Path, Path] | None = None, public: str = ""
) -> Iterator[Starlette]:
    """A server at an address of its own, as the command starts it, for programs that need one.

    Args:
        folder: of its comparisons.
        certificate: files of a certificate and its key.
        public: where others reach it, if a proxy is in front; its own port is ``state.port``.
    """
    socket = listen("127.0.0.1", 0, exactly=True)
    port = socket.getsockname()[1]
    address = public or f"http{'s' if certificate else ''}://127.0.0.1:{port}"
    host = address.partition("//")[2]
    app = make_app(Settings(folder=folder, address=address, hosts=frozenset({host})))
    app.state.port = port
    server = server_of(app, certificate=certificate)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]})
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    yield app
    server.should_exit = True
    thread.join()
    socket.close()


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
    """Makes browsers: of nobody, or of somebody with a token."""
    return lambda token=None: browser_of(app, token)


@pytest.fixture
def owner(app: Starlette) -> TestClient:
    """The browser of who started the server."""
    return browser_of(app, app.state.access.launch_token())


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "served")


@pytest.fixture(scope="module")
def queue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Queue]:
    """A queue that runs, for all tests of a file."""
    queue = Queue(Workspace(tmp_path_factory.mktemp("served")))
    queue.start()
    yield queue
    queue.stop()


# A study that is only shown.


_STUDY = """
name = "shown"
metrics = ["bleu", "chrf"]
[[testsets]]
path = "{path}"
systems = ["apertium-direct", "apertium-french", "apertium-catalan"]
first = 60
[methods.score]
[methods.compare]
resamples = 100
[methods.muler]
metrics = ["bleu"]
together = true
resamples = 100
features = ["re:*"]
pattern = {{ the = '\\bthe\\b', of = '\\bof\\b' }}
"""


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of a study of the example, run once for all tests; nobody changes it."""
    folder = tmp_path_factory.mktemp("shown")
    texts = shutil.copytree(example.path(), folder / "es-en")
    file = folder / "study.toml"
    file.write_text(_STUDY.format(path=texts), encoding="utf-8")
    plan = study.plan(study.read_study(file))
    assert not study.run(plan, study.open_engine("here")).failed
    return plan.study.store


@pytest.fixture
def stored(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that store, of this test alone; what servers keep of it is this test's, too."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("GNOMON_CACHE", str(finished.parent / "cache"))
    return shutil.copytree(finished, tmp_path / "shown.store")


@dataclass(frozen=True)
class StudyClient:
    """A browser at the pages of one study."""

    client: TestClient
    base: str

    def get(self, address: str, **more: Any) -> Any:
        """A page of the study."""
        return self.client.get(self.base + address, **more)

    def post(self, address: str, **more: Any) -> Any:
        """A form of the study."""
        return self.client.post(self.base + address, **more)


@pytest.fixture
def shows(stored: Path) -> Iterator[Callable[[], StudyClient]]:
    """The browser of who started a server that shows the store; addresses are below the study."""
    study_id = stored_study(stored).id
    apps: list[Starlette] = []

    def started() -> StudyClient:
        app = make_app(Settings(stores=(stored,)))
        apps.append(app)
        client = browser_of(app, app.state.access.launch_token())
        return StudyClient(client, f"/studies/{study_id}")

    yield started
    for app in apps:
        app.state.background.stop()
