"""Connections: with a certificate, through a proxy, and in silence."""

from __future__ import annotations

import re
import shutil
import socket
import ssl
import subprocess
import threading
from contextlib import ExitStack
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.serve.conftest import TEXTS, comparison_of, serving

from gnomon.core.errors import UsageError
from gnomon.serve import Settings, make_app
from gnomon.serve.server import server_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from starlette.applications import Starlette

PUBLIC = "https://compare.example"
FROM_PUBLIC = {"origin": PUBLIC, "sec-fetch-site": "same-origin"}


# A certificate of its own.


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    if shutil.which("openssl") is None:
        pytest.skip("the program openssl, which makes the certificate, is not installed")
    folder = tmp_path_factory.mktemp("certificate")
    files = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
         "-out", files[0], "-keyout", files[1]],
        check=True, capture_output=True,
    )  # fmt: skip
    return files


@pytest.fixture(scope="module")
def encrypted(
    certificate: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Starlette]:
    with serving(tmp_path_factory.mktemp("encrypted"), certificate=certificate) as app:
        yield app


def test_with_a_certificate_the_way_in_and_forms_are_encrypted(
    encrypted: Starlette, certificate: tuple[Path, Path]
) -> None:
    address = encrypted.state.settings.address
    trusted = ssl.create_default_context(cafile=certificate[0])
    with httpx.Client(base_url=address, verify=trusted, trust_env=False) as browser:
        entered = browser.get("/enter", params={"token": encrypted.state.access.launch_token()})
        cookie = entered.headers["set-cookie"]
        assert re.match(r"__Host-gnomon=", cookie)
        assert {"Secure", "HttpOnly", "Path=/"} <= set(re.split("; ", cookie))
        first = browser.get(entered.headers["location"])
        assert first.status_code == 200
        assert "max-age" in first.headers["strict-transport-security"]
        form = {"name": "Ana", "role": "reader"}
        same = {"origin": address, "sec-fetch-site": "same-origin"}
        people = browser.post("/people", data=form, headers=same)
        assert f"{address}/enter?token=" in people.text
        plain = same | {"origin": address.replace("https", "http")}
        assert browser.post("/people", data=form, headers=plain).status_code == 403


@pytest.mark.parametrize(
    "said", [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\0\1\2\3 nothing\r\n\r\n"]
)
def test_what_is_not_encrypted_is_hung_up(encrypted: Starlette, said: bytes) -> None:
    with socket.create_connection(("127.0.0.1", encrypted.state.port), timeout=30) as connection:
        connection.sendall(said)
        while received := connection.recv(1000):
            assert b"HTTP/1.1" not in received


def test_a_certificate_that_is_none_is_refused_in_a_sentence(tmp_path: Path) -> None:
    files = tmp_path / "certificate.pem", tmp_path / "key.pem"
    app = make_app(Settings())
    with pytest.raises(UsageError, match="the certificate cannot be used: No such file"):
        server_of(app, certificate=files)
    for file in files:
        file.write_text("nothing")
    with pytest.raises(UsageError, match="name two PEM files that belong together"):
        server_of(app, certificate=files)


# A proxy in front, which has the certificate.


class _Proxy(BaseHTTPRequestHandler):
    """Passes requests on, as nginx does with the settings of the how-to."""

    protocol_version = "HTTP/1.1"
    upstream = 0

    def do_GET(self) -> None:
        length = int(self.headers.get("content-length", 0))
        upstream = HTTPConnection("127.0.0.1", self.upstream)
        upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in ("connection", "accept-encoding"):
                upstream.putheader(name, value)
        upstream.endheaders(self.rfile.read(length))
        answer = upstream.getresponse()
        content = answer.read()
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "content-length", "connection"):
                self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        upstream.close()

    do_POST = do_GET  # noqa: N815  # as the library calls it

    def log_message(self, *_said: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Starlette, int]]:
    """A server that others reach as PUBLIC, and the port of the proxy in front of it."""
    with serving(tmp_path_factory.mktemp("behind"), public=PUBLIC) as app:
        handler = type("Proxy", (_Proxy,), {"upstream": app.state.port})
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as proxy:
            thread = threading.Thread(target=proxy.serve_forever)
            thread.start()
            yield app, proxy.server_address[1]
            proxy.shutdown()
            thread.join()


class _Browser:
    """Opens PUBLIC through the proxy, and keeps secure cookies as a browser does there."""

    def __init__(self, port: int, token: str | None = None) -> None:
        self.port = port
        self.cookies: dict[str, str] = {}  # path -> name and value
        if token:
            entered = self.ask("GET", f"/enter?token={token}")
            assert (entered.status_code, entered.headers["location"]) == (303, "/")

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Ask for a page; redirects are not followed."""
        headers = {"host": "compare.example", "accept": "text/html"} | more.pop("headers", {})
        headers["cookie"] = "; ".join(c for at, c in self.cookies.items() if path.startswith(at))
        url = f"http://127.0.0.1:{self.port}{path}"
        answer = httpx.request(method, url, headers=headers, trust_env=False, timeout=60, **more)
        for cookie in answer.headers.get_list("set-cookie"):
            assert "Secure" in cookie
            self.cookies[re.search(r"(?i)path=([^;]+)", cookie)[1]] = cookie.partition(";")[0]  # type: ignore[index]
        return answer


def test_behind_a_proxy_everything_happens_at_the_public_address(
    behind: tuple[Starlette, int],
) -> None:
    app, port = behind
    owner = _Browser(port, app.state.access.launch_token())
    assert owner.ask("GET", "/").status_code == 200
    files = [("files", (name, text)) for name, text in TEXTS.items()]
    sent = owner.ask("POST", "/inspect", files=files, headers=FROM_PUBLIC)
    assert re.fullmatch(r"/drafts/[0-9a-f]{32}", sent.headers["location"])
    assert "one.txt" in owner.ask("GET", sent.headers["location"]).text
    study = comparison_of(app, "owner")
    shared = owner.ask(
        "POST", f"/studies/{study.id}/share", data={"texts": "on"}, headers=FROM_PUBLIC
    )
    link = re.search(rf"{re.escape(PUBLIC)}(/s/[\w-]+)", shared.text)
    assert link
    reader = _Browser(port)
    followed = reader.ask("GET", link[1])
    assert followed.headers["location"] == f"/studies/{study.id}"
    assert reader.ask("GET", f"/studies/{study.id}/state").status_code == 200
    assert reader.ask("GET", "/").status_code == 401


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({}, 200),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "http://compare.example"}, 403),
        ({"origin": "null"}, 403),
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1"}, 421),
        ({"host": "evil.example", "x-forwarded-host": "compare.example"}, 421),
        ({"x-forwarded-host": "evil.example", "x-forwarded-proto": "http"}, 200),
        ({"forwarded": "host=evil.example;proto=http", "x-forwarded-for": "127.0.0.1"}, 200),
        ({"origin": "https://evil.example", "x-forwarded-host": "evil.example"}, 403),
    ],
)
def test_no_header_that_a_user_sends_makes_another_address_of_it(
    behind: tuple[Starlette, int], said: dict[str, str], status: int
) -> None:
    app, port = behind
    owner = _Browser(port, app.state.access.launch_token())
    form = {"name": f"Ana {said}"[:90], "role": "reader"}
    answer = owner.ask("POST", "/people", data=form, headers=FROM_PUBLIC | said)
    assert answer.status_code == status
    assert "evil.example/" not in answer.text
    if status == 200:
        assert f"{PUBLIC}/enter?token=" in answer.text


def test_whoever_says_to_come_from_this_machine_is_nobody(behind: tuple[Starlette, int]) -> None:
    _, port = behind
    stranger = _Browser(port)
    said = {
        "x-forwarded-for": "127.0.0.1",
        "x-real-ip": "127.0.0.1",
        "x-forwarded-user": "owner",
    }
    assert stranger.ask("GET", "/", headers=said).status_code == 401


# Connections that say nothing take no place of others.


def test_two_hundred_connections_that_say_nothing_disturb_nobody(tmp_path: Path) -> None:
    with serving(tmp_path / "plain") as app, ExitStack() as stack:
        for _ in range(200):
            connection = socket.create_connection(("127.0.0.1", app.state.port), timeout=60)
            stack.enter_context(connection)
        answer = httpx.get(f"{app.state.settings.address}/healthz", trust_env=False)
        assert answer.status_code == 200
