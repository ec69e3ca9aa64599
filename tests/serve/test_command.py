"""``gnomon serve`` in a shell: where it listens, whom it lets in, and what it refuses."""

from __future__ import annotations

import re
import socket
import stat
import sys

import pytest

from gnomon.cli import main
from gnomon.cli import serve as command
from gnomon.serve import server as _server


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Calls the command with a server that answers nobody; the application that it would serve."""
    apps = []

    def serve(app, listening, *, ready, **_more):
        apps.append(app)
        ready()
        listening.close()

    monkeypatch.setattr(_server, "run_server", serve)
    monkeypatch.setattr(command, "_default_folder", lambda: tmp_path / "own" / "serve")

    def call(*argv):
        code = main(["serve", "--no-browser", *map(str, argv)])
        return code, apps[-1] if apps else None

    yield call
    for app in apps:
        if app.state.workspace is not None:
            app.state.workspace.release()


def test_it_prints_a_way_in_that_opens(started, tmp_path, capsys):
    code, app = started(tmp_path / "here", "--port", 0)
    assert code == 0
    said = capsys.readouterr().out
    port = re.search(r"http://127\.0\.0\.1:(\d+)/enter", said)[1]
    assert app.state.settings.hosts == {f"{h}:{port}" for h in ("127.0.0.1", "localhost", "[::1]")}
    assert app.state.access.session_for(re.search(r"token=(\S+)", said)[1])
    assert f"Comparisons are kept in {tmp_path / 'here'}" in said
    assert stat.S_IMODE((tmp_path / "here").stat().st_mode) == 0o700


def test_a_folder_may_be_named_relatively(started, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, app = started("here", "--port", 0)
    monkeypatch.chdir("/")
    _, uploads = app.state.workspace.new_draft("owner")
    assert uploads.is_relative_to(tmp_path / "here")


def test_a_port_that_is_taken_is_said_with_another_one(started, tmp_path, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _ = started(tmp_path / "here", "--port", port)
    assert code == 2
    said = capsys.readouterr().err
    assert f"port {port} of 127.0.0.1 is taken" in said
    assert "gnomon serve --port 0" in said


def test_of_the_usual_port_the_next_free_one_is_taken():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with _server.listen("127.0.0.1", port, exactly=False) as other:
            assert other.getsockname()[1] != port


def test_a_second_server_of_a_folder_is_refused_in_a_sentence(started, tmp_path, capsys):
    started(tmp_path / "here", "--port", 0)
    code, _ = started(tmp_path / "here", "--port", 0)
    assert code == 2
    assert "another gnomon serve runs on the folder" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_said(started, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    code, _ = started(tmp_path / "file" / "here")
    assert code == 1
    assert "name a folder that you may write to" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--host", "0.0.0.0"], "in the clear"),  # noqa: S104  # that it is refused
        (["--host", "0.0.0.0", "--behind-proxy", "http://a.example"], "in the clear"),  # noqa: S104  # likewise
        (["--certificate", "a.pem"], "go together"),
        (["--behind-proxy", "compare.example.org"], "is not the address of a server"),
        (["--behind-proxy", "https://example.org/gnomon"], "without a path"),
        (["--host", "192.0.2.1", "--behind-proxy", "https://a.example"], "cannot listen at"),
        (["a", "b"], "in one folder"),
        (["--behind-proxy", "https://[compare"], "is not the address of a server"),
        (["--port", "99999"], "from 1 to 65535, or 0"),
        (["--port", "65536"], "from 1 to 65535, or 0"),
        (["--port", "-1"], "from 1 to 65535, or 0"),
        (["--config", "none.toml"], "does not exist"),
    ],
)
def test_what_cannot_be_is_refused_with_a_way_on(
    started, capsys, monkeypatch, tmp_path, argv, said
):
    monkeypatch.chdir(tmp_path)
    code, app = started("--port", 0, *argv)
    assert code in (1, 2)
    assert app is None
    assert said in capsys.readouterr().err


def test_behind_a_proxy_it_is_known_by_that_name_alone(started, tmp_path, capsys):
    _, app = started(tmp_path / "here", "--port", 0, "--behind-proxy", "https://Compare.example/")
    settings = app.state.settings
    assert (settings.address, settings.secure) == ("https://compare.example", True)
    assert settings.hosts == {"compare.example"}
    assert "https://compare.example/enter?token=" in capsys.readouterr().out


def test_a_file_sets_limits_and_allows_metrics(started, tmp_path, capsys):
    file = tmp_path / "serve.toml"
    file.write_text('[serve]\nworkers = 3\nlimits = {file = 7}\nmetrics = {Mine = "ter(x=1)"}\n')
    _, app = started(tmp_path / "here", "--port", 0, "--config", file)
    settings = app.state.settings
    assert settings.workers == 3
    assert settings.limits.file == 7_000_000
    assert settings.metrics == {"Mine": "ter(x=1)"}
    file.write_text("[serve]\nlimits = {fiel = 7}\n")
    code, _ = started(tmp_path / "there", "--config", file)
    assert code == 2
    said = capsys.readouterr().err
    assert "'fiel'" in said
    assert "upload" in said


def test_a_browser_without_a_window_is_not_opened(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert _server.open_browser("http://127.0.0.1:1/") is False


def test_a_browser_is_given_a_code_that_opens_once_and_not_the_token(
    started, monkeypatch, tmp_path, capsys
):
    urls = []
    monkeypatch.setattr(_server, "open_browser", lambda url: urls.append(url) or True)
    monkeypatch.setattr(sys, "argv", ["gnomon"])
    code = main(["serve", str(tmp_path / "here"), "--port", "0"])
    assert code == 0
    said = capsys.readouterr().out
    assert "in your browser" in said
    assert urls[0] not in said
