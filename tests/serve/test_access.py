"""Tokens, sessions and links: who is let in, until when, and what is kept of their secrets."""

from __future__ import annotations

import datetime as dt
import stat

import pytest

from gnomon.core.errors import DataError
from gnomon.serve.access import Access


@pytest.fixture
def access(tmp_path):
    return Access(tmp_path)


def test_a_token_lets_its_person_in_until_it_is_taken_back(access):
    made, token = access.add_token("Ana", "author")
    session = access.session_for(token)
    assert access.user_of_session(session).name == "Ana"
    assert access.user_of_token(token).role == "author"
    assert access.revoke_token(made.id)
    assert access.user_of_session(session) is None
    assert access.user_of_token(token) is None
    assert access.session_for(token) is None


def test_nothing_that_opens_the_server_is_kept(access, tmp_path):
    secrets = [access.launch_token(), access.add_token("Ana", "author")[1]]
    secrets.append(access.add_link("f" * 32)[1])
    session = access.session_for(secrets[1])
    text = (tmp_path / "access.json").read_text()
    assert not any(secret in text for secret in [*secrets, session])
    assert stat.S_IMODE((tmp_path / "access.json").stat().st_mode) == 0o600


def test_a_forged_or_changed_cookie_names_nobody(access):
    session = access.session_for(access.launch_token())
    said, _, signature = session.partition(".")
    for forged in ("", ".", said, f"{said}.", f"{said}.{signature[:-1]}0", f"x{said}.{signature}"):
        if forged != session:
            assert access.user_of_session(forged) is None
    assert Access().user_of_session(session) is None


def test_a_session_outlives_the_server_and_its_token_does_not(access, tmp_path):
    token = access.launch_token()
    session = access.session_for(token)
    again = Access(tmp_path)
    again.launch_token()
    assert again.user_of_session(session).role == "owner"
    assert again.session_for(token) is None


def test_a_code_for_the_browser_opens_once(access):
    code = access.create_code()
    assert access.session_for(code) is not None
    assert access.session_for(code) is None


def test_a_link_ends_after_its_last_day_and_when_it_is_taken_back(access):
    today = dt.datetime.now(dt.UTC).date()
    study = "a" * 32
    _, over = access.add_link(study, until=today - dt.timedelta(days=1))
    last, secret = access.add_link(study, until=today)
    assert access.link(over) is None
    assert access.link(secret) == last
    session = access.session_of_link(last)
    assert access.user_of_session(session).link == last
    assert not access.revoke_link("b" * 32, last.id)
    assert access.revoke_link(study, last.id)
    assert access.user_of_session(session) is None
    assert access.link(secret) is None


def test_another_process_sees_what_one_changes(access, tmp_path):
    other = Access(tmp_path)
    made, token = access.add_token("Ana", "reader")
    assert other.user_of_token(token).name == "Ana"
    other.revoke_token(made.id)
    assert access.user_of_token(token) is None


def test_what_cannot_be_written_down_lets_nobody_in(access, monkeypatch):
    monkeypatch.setattr("gnomon.serve.access.write_record", None)
    with pytest.raises(TypeError):
        access.add_token("Ana", "reader")
    assert access.tokens() == []


def test_of_a_deleted_comparison_no_link_stays(access):
    study = "a" * 32
    _, secret = access.add_link(study)
    access.set_open(study, open=True)
    access.forget(study)
    assert access.link(secret) is None
    assert not access.is_open(study)


@pytest.mark.parametrize("text", ["{", '{"more": ' + "[" * 100_000])
def test_a_damaged_file_lets_nobody_in(access, tmp_path, text):
    session = access.session_for(access.launch_token())
    (tmp_path / "access.json").write_text(text)
    with pytest.raises(DataError, match="damaged"):
        access.user_of_session(session)
