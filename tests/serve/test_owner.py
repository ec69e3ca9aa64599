"""The owner alone takes files of named folders and installs; nothing else is reached."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient
from tests.metrics.learned.conftest import oracles  # noqa: F401  # a fixture
from tests.metrics.learned.test_download_to_verdict import fetched
from tests.serve.comparisons import wait_for
from tests.serve.conftest import ADDRESS, FROM_HERE, running

from gnomon import TestSet, example
from gnomon.core.errors import UsageError
from gnomon.serve import Settings, _owner, make_app
from gnomon.serve._comparison import write_record
from gnomon.serve._owner import arguments_of, install, installation, listed, place
from gnomon.serve._problems import NotFound, WebProblem
from gnomon.serve._settings import ServerLimits, read_config

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Path]:
    """A folder that may be chosen from, and a secret beside it."""
    top = tmp_path / "srv"
    (top / "news").mkdir(parents=True)
    for name in ("ref.A.txt", "src.txt"):
        (top / "news" / name).write_bytes((example.path() / name).read_bytes())
    (top / ".hidden").write_text("x")
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    (top / "news" / "away.txt").symlink_to(secret)
    (top / "out").symlink_to(tmp_path)
    (top / "circle").symlink_to("circle")
    os.mkfifo(top / "pipe")
    return {"srv": top}


@pytest.fixture
def owned(settings: Settings, folders: dict[str, Path]) -> Iterator[Callable[..., TestClient]]:
    """Browsers at a server whose owner named the folder: the owner's, or an author's."""
    app = make_app(replace(settings, folders=folders, limits=ServerLimits(file=200_000)))

    def client(role: str = "owner") -> TestClient:
        made = TestClient(
            app, base_url=ADDRESS, headers={"accept": "text/html"}, follow_redirects=False
        )
        access = app.state.access
        token = access.launch_token() if role == "owner" else access.add_token("Ana", role)[1]
        assert made.get("/enter", params={"token": token}).status_code == 303
        made.headers.update(FROM_HERE)
        return made

    with TestClient(app, base_url=ADDRESS):  # it starts and stops, once
        yield client


def test_a_folder_shows_its_files_and_no_way_out(folders: dict[str, Path]) -> None:
    here = listed(folders, "srv", "")
    assert ([e.name for e in here.folders], [e.name for e in here.files]) == (["news"], [])
    news = listed(folders, "srv", "news")
    assert [entry.name for entry in news.files] == ["ref.A.txt", "src.txt"]
    assert news.parent == ""


@pytest.mark.parametrize(
    "path",
    ["..", "circle", "../secret.txt", "news/../../secret.txt", "news/away.txt", "out",
     "out/secret.txt", "/etc/passwd", "./news", ".hidden", "news\0", "nothing", "news\\..\\x"],
)  # fmt: skip
def test_no_path_leads_elsewhere(folders: dict[str, Path], path: str) -> None:
    with pytest.raises(NotFound):
        place(folders, "srv", path)
    with pytest.raises(NotFound):
        place(folders, "other", "news")


def test_files_become_a_draft_as_if_they_had_been_sent(owned: Callable[..., TestClient]) -> None:
    client = owned()
    page = client.get("/folders", params={"folder": "srv", "path": "news"}).text
    assert "ref.A.txt" in page
    assert "away.txt" not in page
    form: Any = {"folder": "srv", "path": "news", "file": ["ref.A.txt", "src.txt"]}
    answer = client.post("/folders", data=form)
    assert answer.status_code == 303
    draft = client.get(answer.headers["location"])
    assert draft.status_code == 200
    assert "ref.A.txt" in draft.text


@pytest.mark.parametrize("file", ["../../secret.txt", "away.txt", "nothing.txt"])
def test_no_other_file_is_taken(owned: Callable[..., TestClient], file: str) -> None:
    form = {"folder": "srv", "path": "news", "file": file}
    assert owned().post("/folders", data=form).status_code == 404


def test_limits_hold_for_these_files_too(
    owned: Callable[..., TestClient], folders: dict[str, Path]
) -> None:
    (folders["srv"] / "news" / "large.txt").write_bytes(b"x\n" * 200_000)
    form = {"folder": "srv", "path": "news", "file": "large.txt"}
    assert owned().post("/folders", data=form).status_code == 413


@pytest.mark.parametrize("path", ["/folders", "/install"])
def test_nothing_of_it_is_there_for_others(owned: Callable[..., TestClient], path: str) -> None:
    author = owned("author")
    assert author.get(path).status_code == 404
    assert author.post(path, data={"kind": "language", "name": "de"}).status_code == 404
    assert path not in author.get("/").text
    assert owned().get(path).status_code == 200


def test_folders_are_read_from_the_settings(tmp_path: Path, folders: dict[str, Path]) -> None:
    file = tmp_path / "serve.toml"
    file.write_text('[serve]\nfolders = { "WMT" = "srv" }\n')
    assert read_config(file, Settings()).folders == {"WMT": folders["srv"].resolve()}
    (tmp_path / "circle").symlink_to("circle")
    for text in (
        'folders = { "WMT" = "nothing" }',
        'folders = { "WMT" = "circle" }',
        'folders = { "WMT" = "a\\u0000" }',
        "folders = 3",
        f"folders = {'[' * 100_000}",
    ):
        file.write_text(f"[serve]\n{text}\n")
        with pytest.raises(UsageError):
            read_config(file, Settings())


# What is installed.


@pytest.mark.parametrize(
    ("kind", "name"),
    [("language", "xx"), ("language", "--help"), ("model", "/etc/passwd"), ("model", "../x"),
     ("model", "a/b/c"), ("model", "-x"), ("model", "a b"), ("model", "http://x/y"), ("", ""),
     ("prompts", "x"), ("baseline", "x"), ("model", ""), ("model", "./x")],
)  # fmt: skip
def test_what_is_no_tagger_and_no_model_is_refused(kind: str, name: str) -> None:
    with pytest.raises(WebProblem):
        arguments_of(kind, name)


def test_what_can_be_installed_is_a_command() -> None:
    assert arguments_of("language", "de") == ["de"]
    assert arguments_of("model", "Unbabel/wmt22-comet-da") == ["model", "Unbabel/wmt22-comet-da"]
    assert arguments_of("bertscore", "") == ["bertscore", "-l", "en"]


def _waited(folder: Path) -> None:
    process = _owner._work.processes[folder]
    process.wait()


def test_an_installation_keeps_its_log_and_how_it_ended(tmp_path: Path) -> None:
    installed = [code for code, state in _owner.languages().items() if state]
    assert installation(tmp_path).state == "none"
    for language, state in ((installed[0] if installed else "", "done"), ("xx", "failed")):
        if language:
            assert install(tmp_path, [language]).state == "running"
            _waited(tmp_path)
            done = installation(tmp_path)
            assert (done.state, done.what) == (state, language)
            assert done.log


def test_an_installation_that_was_cut_off_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeping = subprocess.Popen(["sleep", "100"])
    monkeypatch.setitem(_owner._work.processes, tmp_path, sleeping)
    write_record(tmp_path / "install.json", _owner.Installation("de", "running"))
    assert installation(tmp_path).state == "running"
    assert install(tmp_path, ["fr"]).state == "running"  # one at a time
    sleeping.kill()
    sleeping.wait()
    assert installation(tmp_path).state == "failed"


def _installed(browser: TestClient, name: str) -> str:
    """The page that says how an installation went."""
    assert browser.post("/install", data={"kind": "model", "name": name}).status_code == 303
    wait_for(lambda: browser.get("/install.json").json()["build"]["state"] != "running", seconds=90)
    return browser.get("/install").text


def test_a_hub_that_cannot_be_reached_is_said_in_a_sentence(
    owned: Callable[..., TestClient], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("huggingface_hub", reason="needs pip install 'gnomon[models]'")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.delenv("GNOMON_ALLOW_DOWNLOADS", raising=False)
    page = _installed(owned(), "Unbabel/wmt22-comet-da")
    assert "is not on this machine, and the hub could not be reached. Without a connection" in page
    assert "Traceback" not in page


@pytest.mark.verify
def test_a_model_of_the_hub_is_installed_and_then_compares(
    oracles: Path,  # noqa: F811  # a fixture
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, hub = "Unbabel/wmt22-comet-da", tmp_path / "hub"
    for repository, folder, files in (
        (name, "sparsemax", ["hparams.yaml", "checkpoints/model.ckpt"]),
        ("encoder", "encoder", ["config.json", "tokenizer.json"]),
    ):
        fetched(hub, repository, oracles / "regression" / folder, files)
    for variable, value in (
        ("HF_HUB_CACHE", hub), ("HF_HUB_OFFLINE", 1), ("XDG_DATA_HOME", tmp_path / "data"),
        ("GNOMON_CACHE", tmp_path / "cache"),
    ):  # fmt: skip
        monkeypatch.setenv(variable, str(value))
    app = make_app(Settings(folder=tmp_path / "served", metrics={"COMET": f"comet('{name}')"}))
    with running(app) as browser:
        assert f"Installed:</strong> model {name}" in _installed(browser, name)
        testset = TestSet.read(example.path()).select(segments=range(10))
        assert testset.sources
        sides = [testset.sources, *testset.references.values(), *testset.systems.values()]
        names = ("source.txt", "reference.txt", "one.txt", "two.txt")
        texts = {n: "".join(f"{x}\n" for x in side) for n, side in zip(names, sides, strict=False)}
        files = [("files", file) for file in texts.items()]
        draft = browser.post("/inspect", files=files).headers["location"].rpartition("/")[2]
        roles = ("source", "reference", "output", "output")
        fields = {"draft": draft, "metric": [f"comet('{name}')"]}
        for n, role in enumerate(roles):
            fields |= {f"role-{n}": role, f"title-{n}": f"t{n}", f"encoding-{n}": "utf-8"}
        answer = browser.post("/studies", data=fields)
        assert answer.status_code == 303, answer.text
        address = answer.headers["location"]
        wait_for(
            lambda: not browser.get(f"{address}/state.json").json()["job"]["active"], seconds=90
        )
        assert "COMET" in browser.get(address).text
