"""What must never happen, each with its test."""

from __future__ import annotations

import logging

import pytest
from tests.serve.conftest import FROM_HERE

from gnomon.cli import main


def test_the_server_cannot_be_reached_from_outside_by_default(capsys, tmp_path):
    assert main(["serve", str(tmp_path), "--host", "0.0.0.0", "--no-browser"]) == 2  # noqa: S104
    assert "in the clear" in capsys.readouterr().err


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:80", "evil:8765", ""])
def test_a_name_that_was_bound_to_this_machine_reaches_nothing(owner, host):
    for path in ("/", "/healthz", "/static/serve.css", "/nothing"):
        assert owner.get(path, headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "said",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "https://127.0.0.1:8765"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
    ],
)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_another_site_changes_nothing(owner, said, method):
    answer = owner.request(method, "/", headers=FROM_HERE | said)
    assert answer.status_code == 403
    assert "was stopped" in answer.text


def test_the_cookie_is_of_this_site_alone_and_no_script_reads_it(visitor, app):
    answer = visitor().get("/enter", params={"token": app.state.access.launch_token()})
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


def test_a_token_is_in_no_history_log_or_referer(visitor, app, caplog):
    token = app.state.access.launch_token()
    with caplog.at_level(logging.DEBUG):
        answer = visitor().get("/enter", params={"token": token})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    assert token not in answer.text
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "no-store"
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("gnomon")]
    assert ours == ["GET /enter 303"]


def test_a_page_opened_from_another_site_is_asked_again_by_this_one(owner, visitor):
    from_mail = {"sec-fetch-site": "cross-site"}
    again = visitor().get("/", headers=from_mail)
    assert 'http-equiv="refresh"' in again.text
    assert visitor().get("/", headers={"sec-fetch-site": "same-origin"}).status_code == 401


def test_no_answer_names_a_version_or_may_be_framed_or_sniffed(owner, visitor):
    for answer in (
        owner.get("/"),
        owner.get("/nothing"),
        visitor().get("/"),
        owner.get("/healthz"),
    ):
        assert "server" not in answer.headers
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_cookie_without_a_word_on_its_page_changes_nothing(owner):
    quiet = {"origin": "", "sec-fetch-site": ""}
    assert owner.post("/", headers=quiet).status_code in (403, 405)


def test_static_files_are_those_that_are_named(owner):
    assert owner.get("/static/serve.css").headers["content-type"].startswith("text/css")
    for name in ("nothing.css", "..%2f..%2f_app.py", "%2e%2e/_app.py", "../_app.py"):
        assert owner.get(f"/static/{name}").status_code == 404
