"""The client of chat servers: whatever a server does, nothing is asked twice, nothing invented."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.metrics.judges.chat_server import Chat, serving

from gnomon.core.cache import Cache, default_path
from gnomon.core.errors import OutputError, ScoringError, ServerFailedError, UsageError
from gnomon.judges import (
    ChatClient,
    ChatQuestion,
    ChatServer,
    Endpoint,
    answers_folder,
    network_allowed,
)

_SCHEMA = json.dumps({"type": "object", "properties": {"score": {"type": "number"}}})


def question(text: str, repetition: int = 0) -> ChatQuestion:
    return ChatQuestion("a judge", text, _SCHEMA, temperature=0.0, seed=7, repetition=repetition)


def client(url: str, *, model: str = "m", **more: object) -> ChatClient:
    options = {"timeout": 5.0, "pause": 0.001, **more}
    return ChatClient(ChatServer(Endpoint(url), model, **options), question(""))  # type: ignore[arg-type]  # by name


def echo(body: dict) -> str:
    return f"said of {body['messages'][-1]['content']}"


def started(url: str, asked: str, **more: object) -> subprocess.Popen[bytes]:
    """Another process that asks a server."""
    options = "".join(f", {name}={value!r}" for name, value in more.items())
    program = (
        # shells let what they start in the background ignore it
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from tests.metrics.judges.test_client import client, question\n"
        f"client({url!r}{options}).ask([question(text) for text in {asked}])\n"
    )
    root = Path(__file__).resolve().parents[3]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *sys.path])}
    return subprocess.Popen([sys.executable, "-c", program], cwd=root, env=environment)


def test_answers_stand_in_the_order_of_questions_and_equal_ones_are_asked_once(chat: Chat) -> None:
    chat.reply = echo
    asked = [question(f"text {n % 7}") for n in range(40)]
    asker = client(chat.url)
    assert asker.count_unanswered(asked) == 7
    assert [one.text for one in asker.ask(asked)] == [f"said of text {n % 7}" for n in range(40)]
    assert (chat.answered, chat.most, asker.counts["asked"]) == (7, 1, 7)
    assert asker.identity() == ("fake-1", "fp_1", True)


def test_another_client_asks_nothing_that_was_answered(chat: Chat) -> None:
    asked = [question(f"text {n}") for n in range(5)]
    client(chat.url).ask(asked)
    requests = len(chat.bodies)
    again = client(chat.url)
    again.ask(asked)
    assert again.identity().model == "fake-1"
    assert (len(chat.bodies), again.counts["kept"]) == (requests, 5)


def test_emptying_the_cache_leaves_answers_which_cost_money(chat: Chat) -> None:
    client(chat.url).ask([question("a")])
    Cache(default_path()).clear()
    assert client(chat.url).count_unanswered([question("a")]) == 0
    assert default_path() in answers_folder().parents


def test_repetitions_and_parameters_are_questions_of_their_own(chat: Chat) -> None:
    asker = client(chat.url)
    asker.ask([question("a", repetition) for repetition in range(3)])
    asker.ask([ChatQuestion("a judge", "a", _SCHEMA, temperature=0.5)])
    sent = [one for one in chat.bodies if one["messages"][-1]["content"] == "a"]
    assert sorted(one["seed"] for one in sent if "seed" in one) == [7, 8, 9]
    assert len(sent) == 4


@pytest.mark.parametrize(
    "fault", [429, 500, 502, 503, "cut", "html", "drop", "broken", "error", "both"]
)
def test_a_server_that_fails_now_and_then_is_asked_again(chat: Chat, fault: int | str) -> None:
    chat.reply = echo
    chat.problems = [500, "drop"] if fault == "both" else [fault, fault]
    asked = [question(f"text {n}") for n in range(12)]
    asker = client(chat.url)
    assert [one.text for one in asker.ask(asked)] == [f"said of text {n}" for n in range(12)]
    assert (chat.answered, chat.most) == (12, 1)
    assert asker.counts["sent"] == 12 + 1 + 2


def test_a_slow_answer_is_given_up_and_asked_again(chat: Chat) -> None:
    chat.reply = echo
    client(chat.url).identity()
    chat.problems = ["slow"]
    found = client(chat.url, timeout=0.3).ask([question("a")])
    assert (found[0].text, chat.most) == ("said of a", 1)


@pytest.mark.parametrize("fault", ["headers", "early", "body"])
def test_a_server_that_sends_a_little_now_and_then_is_given_up(chat: Chat, fault: str) -> None:
    chat.reply = echo
    client(chat.url).identity()
    chat.problems = [fault]  # of httpx's limits none ends this: each is of a single read
    found = client(chat.url, timeout=0.3).ask([question("a")])
    assert (found[0].text, chat.most) == ("said of a", 1)
    chat.problems = [fault, fault]
    with pytest.raises(ServerFailedError, match=r"no whole answer within 0\.3 seconds, 2 times"):
        client(chat.url, timeout=0.3, tries=2).ask([question("b")])


def test_answers_are_in_one_file_when_they_have_come(chat: Chat) -> None:
    chat.reply = echo
    asker = client(chat.url)
    asker.ask([question("a")])
    assert [file.name for file in answers_folder().iterdir()] == ["gnomon-entries-1.sqlite3"]
    assert asker.count_unanswered([question("a")]) == 0


def test_a_damaged_page_costs_the_answers_of_that_page_alone(
    chat: Chat, caplog: pytest.LogCaptureFixture
) -> None:
    chat.reply = lambda body: echo(body) + " x" * 1000
    asked = [question(f"text {n}") for n in range(60)]
    client(chat.url).ask(asked)
    file = answers_folder() / "gnomon-entries-1.sqlite3"
    data = bytearray(file.read_bytes())
    data[:4096] = bytes(4096)  # SQLite takes it for no database
    file.write_bytes(data)
    assert client(chat.url).count_unanswered(asked) == 0
    assert "begun with the 61 entries of it that are whole" in caplog.text
    assert (file.parent / "gnomon-damaged-1.sqlite3").read_bytes() == bytes(data)


@pytest.mark.parametrize("kind", ["file", "full"])
def test_a_folder_that_takes_no_answers_is_told_with_what_to_do(
    chat: Chat, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GNOMON_ANSWERS", str(tmp_path / "answers"))
    asker = client(chat.url)
    if kind == "file":
        (tmp_path / "answers").write_text("x")
    else:
        connection = asker._store._connection()
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        monkeypatch.setattr(asker._store, "close", lambda: None)  # keeps the limit
        chat.reply = lambda _: "x" * 100_000
    with pytest.raises(OutputError, match=r"GNOMON_ANSWERS=FOLDER") as caught:
        asker.ask([question("a")])
    assert str(tmp_path / "answers") in str(caught.value)
    assert "cache clear" not in str(caught.value)
    assert "--no-cache" not in str(caught.value)


def test_a_server_says_how_long_it_wants_to_be_left_alone(chat: Chat) -> None:
    chat.problems, chat.headers = [429], {"Retry-After": "0.2"}
    begun = time.monotonic()
    client(chat.url, pause=50.0).ask([question("a")])  # its own pause would take a minute
    assert 0.2 <= time.monotonic() - begun < 25
    chat.problems, chat.headers = [429], {"retry-after-ms": "150", "Retry-After": "300"}
    begun = time.monotonic()
    client(chat.url, pause=50.0).ask([question("c")])
    assert 0.15 <= time.monotonic() - begun < 25
    chat.problems, chat.headers = [503], {"Retry-After": "86400"}
    with pytest.raises(ServerFailedError, match="asks to wait for 86,400 seconds"):
        client(chat.url).ask([question("b")])


def test_a_server_that_answers_few_at_a_time_is_not_given_up(chat: Chat) -> None:
    chat.reply, chat.apart, chat.headers = echo, 0.05, {"Retry-After": "0.01"}
    asked = [question(f"text {n}") for n in range(16)]
    asker = client(chat.url, tries=12)
    assert [one.text for one in asker.ask(asked)] == [f"said of text {n}" for n in range(16)]
    assert (chat.answered, chat.most) == (16, 1)
    assert asker.counts["busy"] > 0
    assert asker.counts["sent"] == 17 + asker.counts["busy"]


def test_a_server_that_dies_in_the_middle_leaves_what_it_said(chat: Chat) -> None:
    chat.dies_after = 9  # with the first question of all
    asked = [question(f"text {n}") for n in range(30)]
    with pytest.raises(ServerFailedError, match=r"8 of 30 answers came and are kept"):
        client(chat.url, tries=2, concurrency=1).ask(asked)
    assert chat.answered == 8
    chat.dies_after, chat.reply = None, echo
    again = client(chat.url)
    texts = [one.text for one in again.ask(asked)]
    assert (chat.answered, chat.most, again.counts["asked"]) == (30, 1, 22)
    assert sum(text.startswith("said of") for text in texts) == 22  # the first 8 are as they were


def test_a_killed_run_asks_nothing_twice(chat: Chat) -> None:
    # the child is killed while answers come; whatever was answered in full is on disk by then, but
    # for the answers that were on their way
    child = started(chat.url, "[f'text {n}' for n in range(400)]", concurrency=2)
    while chat.answered < 20 and child.poll() is None:
        time.sleep(0.005)
    child.send_signal(signal.SIGKILL)
    child.wait()
    before = chat.answered
    assert before >= 20
    asker = client(chat.url)
    asker.ask([question(f"text {n}") for n in range(400)])
    twice = sum(count > 1 for count in chat.given.values())
    assert asker.counts["kept"] + asker.counts["asked"] == 400
    assert twice <= 2  # at most what was on its way when the process died
    assert asker.counts["kept"] >= before - 2


@pytest.mark.verify
def test_an_interrupted_run_keeps_what_is_on_its_way_and_asks_nothing_twice(chat: Chat) -> None:
    # slowly from the twentieth on: however busy the machine, some are left when the signal comes
    chat.reply = lambda body: time.sleep(0.2 if chat.answered >= 20 else 0.01) or echo(body)
    texts = [f"text {n}" for n in range(300)]
    child = started(chat.url, "[f'text {n}' for n in range(300)]", concurrency=3)
    while chat.answered < 20 and child.poll() is None:
        time.sleep(0.005)
    child.send_signal(signal.SIGINT)
    assert child.wait(60) != 0
    before = chat.answered
    assert 20 <= before < 300
    chat.reply = echo
    asker = client(chat.url)
    found = asker.ask([question(text) for text in texts])
    assert [one.text for one in found] == [f"said of {text}" for text in texts]
    assert (asker.counts["kept"], asker.counts["asked"]) == (before, 300 - before)
    assert (chat.answered, chat.most) == (300, 1)  # also those that were on their way


@pytest.mark.verify
def test_processes_that_share_answers_on_disk_do_not_disturb_each_other(chat: Chat) -> None:
    chat.reply = echo
    several = [started(chat.url, "[f'text {n}' for n in range(60)]") for _ in range(3)]
    for one in several:
        assert one.wait(120) == 0
    assert chat.most <= 3  # each asks what no other had been answered by then
    given = chat.answered
    asker = client(chat.url)
    found = asker.ask([question(f"text {n}") for n in range(60)])
    assert [one.text for one in found] == [f"said of text {n}" for n in range(60)]
    assert (asker.counts["kept"], chat.answered) == (60, given)


@pytest.mark.parametrize(
    "text",
    [
        "\U0001f415 \u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u200f\x00\x1b[31m",
        "\ud83d alone",
        "\u00e9" * 400_000,
    ],
    ids=["scripts", "half a character", "long"],
)
def test_answers_of_any_letters_and_length_are_kept_as_they_came(chat: Chat, text: str) -> None:
    chat.reply = lambda _: text
    assert client(chat.url).ask([question("a")])[0].text == text
    assert client(chat.url).ask([question("a")])[0].text == text
    assert chat.answered == 1


def test_a_reply_without_end_is_no_answer(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    client(chat.url).identity()
    monkeypatch.setattr("gnomon.judges.client._LONGEST_REPLY", 1000)
    chat.reply = lambda _: "x" * 5000
    with pytest.raises(ServerFailedError, match="more than 1,000 bytes"):
        client(chat.url, tries=2).ask([question("a")])
    assert client(chat.url).count_unanswered([question("a")]) == 1


def test_what_is_refused_is_kept_as_refused_and_what_is_cut_says_so(chat: Chat) -> None:
    chat.reply = lambda body: None if "bad" in body["messages"][-1]["content"] else "fine"
    chat.finish = "length"
    bad, good = client(chat.url).ask([question("bad"), question("good")])
    assert (bad.refused, bad.text, good.refused, good.finish) == (True, "", False, "length")
    before = len(chat.bodies)
    assert client(chat.url).ask([question("bad")])[0].refused
    assert len(chat.bodies) == before
    chat.problems, chat.error = [400], {"error": {"code": "content_filter", "message": "no"}}
    assert client(chat.url).ask([question("filtered")])[0].refused


def test_a_question_that_the_server_cannot_take_is_answered_by_nothing(chat: Chat) -> None:
    asker = client(chat.url)
    asker.identity()
    chat.problems, chat.error = [400], {"error": {"message": "maximum context length is 9"}}
    found = asker.ask([question("long")])[0]
    assert (found.text, found.refused) == ("", False)
    assert "maximum context length" in found.rejected
    assert (
        client(chat.url).count_unanswered([question("long")]) == 1
    )  # nothing was said: it is not kept


def test_a_server_without_schemas_is_asked_without(chat: Chat) -> None:
    chat.structured = False
    asker = client(chat.url)
    asker.ask([question("a"), question("b")])
    assert asker.identity().structured is False
    assert sum("response_format" in one for one in chat.bodies) == 1
    assert client(chat.url).identity().structured is False


@pytest.mark.parametrize(
    ("fault", "error", "match"),
    [
        (
            404,
            {"error": {"message": "no model m"}},
            r"no model m.*have a model 'm'",
        ),
        (404, {"error": {"message": "no model guided-7b"}}, "no model guided-7b"),
        (400, {"error": {"message": "model guided-7b is unknown"}}, "guided-7b is unknown"),
        (301, {}, "status 301"),
        (400, {"error": {"message": "unknown field seed"}}, r"seed=7: status 400.*seed=None"),
        (429, {"error": {"code": "insufficient_quota"}}, "answers no more"),
    ],
)
def test_what_no_further_try_would_mend_is_told_at_once(
    chat: Chat, fault: int, error: dict, match: str
) -> None:
    chat.problems, chat.error = [fault] * 9, error
    model = "guided-7b" if "guided" in str(error) else "m"
    with pytest.raises((UsageError, ScoringError), match=match):
        client(chat.url, model=model).ask([question("a")])
    assert len(chat.bodies) == 1


def test_nobody_at_the_address_is_told_soon() -> None:
    with serving(Chat()) as gone:
        url = gone.url
    with pytest.raises(ServerFailedError, match="is the server running"):
        client(url).ask([question("a")])


def test_more_than_allowed_is_refused_before_the_first_question(chat: Chat) -> None:
    asker = client(chat.url, max_calls=3)
    with pytest.raises(UsageError, match=r"4 answers of 'm'.*more than the 3 that are allowed"):
        asker.ask([question(f"text {n}") for n in range(4)])
    assert chat.bodies == []
    asker.ask([question("text 1"), question("text 2")])
    asker.ask([question("text 1"), question("text 2")])  # known: costs nothing
    with pytest.raises(UsageError, match="beside the 2 that were asked for before"):
        asker.ask([question("text 3"), question("text 4")])


def test_texts_leave_this_machine_only_where_that_is_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    far = Endpoint("https://judge.invalid/v1")
    with pytest.raises(UsageError, match=r"sent to judge\.invalid.*network_allowed"):
        far.check_consent()
    with network_allowed():
        far.check_consent()
        monkeypatch.setenv("GNOMON_JUDGE_KEY", "sk-secret")
        with pytest.raises(UsageError, match="unencrypted") as told:
            Endpoint("http://judge.invalid/v1").check_consent()
    assert "sk-secret" not in str(told.value)
    for near in ("http://localhost:1/v1", "http://127.0.0.9/v1", "http://[::1]:8/v1"):
        Endpoint(near).check_consent()
    for other in ("http://localhost.evil.org/v1", "http://10.0.0.1/v1", "http://127.0.0.1.a/"):
        assert not Endpoint(other).local


@pytest.mark.parametrize(
    "url",
    ["", "localhost:8000", "ftp://a/v1", "http://me:sk-secret@a/v1", "http://a/v1?key=sk-secret"],
)
def test_an_address_that_is_none_or_holds_secrets_is_refused_unseen(url: str) -> None:
    with pytest.raises(UsageError) as told:
        Endpoint(url)
    assert "sk-secret" not in str(told.value)


def test_the_key_goes_to_its_server_and_nowhere_else(
    chat: Chat, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    monkeypatch.setenv("GNOMON_JUDGE_KEY", "sk-of-anybody")
    monkeypatch.setenv("GNOMON_JUDGE_KEY_127_0_0_1", "sk-secret-1234")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    chat.key = "sk-secret-1234"
    chat.reply = lambda _: "the key is sk-secret-1234"
    asker = client(chat.url)
    found = asker.ask([question("a")])[0]
    assert found.text == "the key is (key)"
    assert set(chat.keys) == {"Bearer sk-secret-1234"}
    chat.key = "another"  # the server now refuses, and repeats the key in its message
    with pytest.raises(UsageError, match="GNOMON_JUDGE_KEY_127_0_0_1") as told:
        asker.ask([question("b")])
    held = b"".join(one.read_bytes() for one in default_path().rglob("*") if one.is_file())
    for place in (str(told.value), caplog.text, repr(asker), repr(vars(asker)), repr(found)):
        assert "sk-" not in place
    assert b"sk-" not in held
    assert b"sk-" not in pickle.dumps(asker.server)
    assert b"(key)" in held  # the answer itself is there
    monkeypatch.setenv("GNOMON_JUDGE_KEY_127_0_0_1", "sk-with a space")
    with pytest.raises(UsageError, match="signs that no key holds") as told:
        asker.ask([question("c")])
    assert "sk-" not in str(told.value)


def test_a_reply_of_any_shape_is_no_answer_until_it_is_one(chat: Chat) -> None:
    chat.problems = ["html", "cut", "html", "cut", "html", "cut"]
    with pytest.raises(ServerFailedError, match="no whole chat completion"):
        client(chat.url).ask([question("a")])
    assert chat.answered == 0


def test_a_key_that_json_writes_in_another_way_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = Endpoint("http://127.0.0.1:1/v1")
    monkeypatch.setenv("GNOMON_JUDGE_KEY", "sk-abc/def+12345")
    said = endpoint.hide_key('{"error": {"message": "bad key sk-abc\\/def+12345"}}')
    assert "def+12345" not in said
    monkeypatch.setenv("GNOMON_JUDGE_KEY", "none")
    assert endpoint.hide_key('{"severity": "none"}') == '{"severity": "none"}'


def test_earlier_turns_are_sent_before_the_question_and_are_a_part_of_it(chat: Chat) -> None:
    chat.reply = echo
    asker = client(chat.url)
    turns = (("what is this?", "a shot"), ("and this?", "another"))
    asked = replace(question("now"), turns=turns)
    assert [answer.text for answer in asker.ask([asked, question("now")])] == ["said of now"] * 2
    roles = ["system", *["user", "assistant"] * 2, "user"]
    texts = ["a judge", "what is this?", "a shot", "and this?", "another", "now"]
    expected = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=True)]
    assert expected in [body["messages"] for body in chat.bodies]
    assert (chat.answered, chat.most) == (2, 1)
    assert len(chat.bodies[0]["messages"]) == 1  # who answers is asked without them
    client(chat.url).ask([asked])
    assert chat.answered == 2
